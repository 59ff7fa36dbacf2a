// A verdict as lines of text, as records keep it:
//
//   status doubtful
//   reason momentum 0.46 0.01 the angular momentum of ...     kind, value, limit, sentence
//   remark reactions of ...
//
// Numbers are the shortest decimals that read back to the same bits.
#pragma once

#include <string>
#include <vector>

#include "stickslip/simulation.hpp"

namespace stickslip {

std::string verdict_text(const Verdict& verdict, std::size_t room);  // whole lines, as many as `room` bytes hold
bool read_verdict(const std::vector<std::string>& lines, Verdict& verdict);  // false: not such a text
// What a record without that text tells: the reasons, which stand among the warnings, and how the run ended.
Verdict verdict_of_warnings(const RunSummary& summary);

}  // namespace stickslip
