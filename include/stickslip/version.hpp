// Which stickslip this is, for `--version` and for records. Made from the build alone: works without git, and the
// same sources give the same words.
#pragma once

#include <string>

namespace stickslip {

const char* version();  // "0.1.0"

// "0.1.0, g++ 12.2.0, -march=x86-64-v3": what must be equal for two runs to give the same bits.
std::string version_details();

}  // namespace stickslip
