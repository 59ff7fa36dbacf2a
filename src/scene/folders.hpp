// Where the shipped scenes lie.
#pragma once

#include <string>
#include <vector>

namespace stickslip {

// Existing folders in the order in which `scene:NAME` searches them: those of the environment variable
// STICKSLIP_SCENES (separated by colons), then ../share/stickslip/scenes (installation, build tree), ../scenes and
// ../../scenes beside the folder of the running program.
std::vector<std::string> scene_folders();

}  // namespace stickslip
