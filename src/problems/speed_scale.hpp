// The speeds of a step problem, in proportion to which its residual is judged.
#pragma once

#include "stickslip/problem.hpp"

namespace stickslip {

// [m/s] The largest of
//   rms over contacts of |H v + c|     what the contacts have to stop: g h in a stack at rest, the speed of a hit
//   gained                             the speed that forces give in the step: bodies that fall alike have none against each other
//   1e-3 max(|v|, |b|)                 what is left of large velocities when contacts and joints move along with them
// with v_k = r_k / A_kk, the free velocities up to the couplings inside a body; a scale needs no better. `speed` is scratch.
double speed_scale(const StepProblem& problem, VecX& velocity, RowVec& speed);

// [m/s] rms over contacts of |w p|, what these impulses change at their own contacts, with w_k = sum over j of H_kj^2 / A_jj.
double load_speed(const StepProblem& problem, const RowVec& p);

// [m/s] The scale by which the answer to a problem is judged: `speed`, or the load of the guess where that is larger, since a residual is
// a difference of terms of its size; at most `most_load` times `speed`. The guess is that of the last step, so that no answer loosens what it
// is judged by itself, and impulses that run off do not loosen it more than that.
inline constexpr double most_load = 10;
double judged_speed(const StepProblem& problem, const StepSolution& guess, double speed);

}  // namespace stickslip
