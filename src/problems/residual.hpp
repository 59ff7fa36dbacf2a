// The residual of a step problem with the memory it works in, for those who ask for it in every step.
#pragma once

#include <vector>

#include "math/node_inverse.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

// Memory of residual(). But for `contact` it says nothing from one call to the next.
struct ResidualWork {
    NodeInverse inverse;
    RowVec balance, balance_velocity, w, u;
    std::vector<double> diagonal;  // of H A_nn^-1 H', per row
    std::vector<double> joint_diagonal;
    std::vector<double> contact;   // [m/s] of each contact, after the call
};

Residual residual(const StepProblem& problem, const StepSolution& solution, ResidualWork& work);
// The same of another point of the problem that `work` was used for last: what does not depend on the point is not computed again.
Residual residual_again(const StepProblem& problem, const StepSolution& solution, ResidualWork& work);

}  // namespace stickslip
