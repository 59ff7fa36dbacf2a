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

}  // namespace stickslip
