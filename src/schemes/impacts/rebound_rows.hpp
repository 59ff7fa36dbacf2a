// Friction under a normal impulse that is given, such as the one a contact returns in Poisson's decompression.
#pragma once

#include "schemes/parts/parts.hpp"

namespace stickslip {

// Gives every contact of s.problem with given[i] > 0 and tangents a twin right behind it (same id, no normal row).
void add_twins(const std::vector<double>& given, Step& s);
// S and c of the twins, to be called once the problem is sized: their normal impulse is then given[i] exactly. `softness`
// [m/s per N s] is S of their normal row, of the size of one over a mass.
void fill_twins(const std::vector<double>& given, double softness, Step& s);
// True for the rows that add_twins put behind contact `at - 1`.
bool is_twin(const ContactRows& contacts, int at);
// Takes the twins out again; their friction and given[i] are added to the impulses of the contacts in s.solution.
void fold_twins(const std::vector<double>& given, Step& s);

}  // namespace stickslip
