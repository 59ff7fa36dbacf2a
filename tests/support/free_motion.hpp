// Where solvers start from nothing: no impulses, the velocities without contact.
#pragma once

#include "solvers/row_weights.hpp"

namespace stickslip::testing {

// `weights` are made for `problem`; their A must not be singular.
inline StepSolution free_motion(const StepProblem& problem, RowWeights& weights) {
    StepSolution x;
    if (!weights.prepare(problem)) throw Error("A is singular");
    x.size_to(problem);
    weights.velocity(problem, x.lambda, x.p, x.v);
    return x;
}

}  // namespace stickslip::testing
