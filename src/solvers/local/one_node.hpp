// The smallest steps without any of the machinery: one node of at most 6 velocities, no joints, at most one contact.
//
//   W = H A^-1 H' + S,  q = H A^-1 r + c,  p from the local contact solve,  v = A^-1 (r + H' p), refined once
//
// A ball on the floor spends its life here. The residual is the one of residual(), written out for this size.
#pragma once

#include "stickslip/problem.hpp"

namespace stickslip {

// False when the problem has another shape, or when the result is worse than tol (singular W, say).
bool solve_one_node(const StepProblem& problem, StepSolution& solution, double tol, Residual& res);

}  // namespace stickslip
