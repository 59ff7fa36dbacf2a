// Friction under a normal impulse that is given, such as the one a contact returns in Poisson's decompression.
#pragma once

#include "schemes/parts/parts.hpp"

namespace stickslip {

// Gives every contact of s.problem with given[i] > 0 and tangents a twin right behind it (same id, no normal row); `plain` is
// left with the contacts as they were.
void add_twins(const std::vector<double>& given, ContactRows& plain, Step& s);
// S and c of the twins, to be called once the problem is sized: their normal impulse is then given[i] exactly. `softness`
// [m/s per N s] is S of their normal row, of the size of one over a mass.
void fill_twins(const std::vector<double>& given, double softness, Step& s);
// True for the rows that add_twins put behind contact `at - 1`.
bool is_twin(const ContactRows& contacts, int at);
// Takes the twins out again: problem, guess and solution are then those of the contacts alone, with the friction of the twins
// on the right-hand side; `friction` is left with it, per contact row.
void fold_twins(RowVec& friction, Step& s);

}  // namespace stickslip
