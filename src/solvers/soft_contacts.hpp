// The last rung of the ladder: contacts that give way. With a compliance s w_i on every row of contact i (w_i of row_weights.hpp)
//
//   u = H v + (S + s w) p + c
//
// the problem is well conditioned, and Newton's method solves it exactly where the rigid one defeats everything: jammed spheres from
// s = 1e-2, walls just hit from 1e-4. From the softest on, s is lowered while the problem can be solved. What comes out obeys every
// law with contacts that approach at s w p; as a damper between the bodies that is 1/(s w h) [N s/m] over a step of length h.
#pragma once

#include "problems/residual.hpp"
#include "solvers/mode_solve.hpp"
#include "solvers/row_weights.hpp"
#include "solvers/path_newton.hpp"

namespace stickslip {

class SoftContacts {
public:
    // From `start`. Leaves the stiffest problem that was solved in x, with its residual in the problem as given, and returns the
    // largest compliance added [m/s per N s]; 0 when none was solved.
    double solve(const StepProblem& problem, const RowWeights& weights, PathNewton& path, ModeTries& tries, double tol,
                 WorkMeter& meter, const StepSolution& start, StepSolution& x, SolveReport& report);

private:
    StepProblem soft_;
    RowWeights soft_weights_;
    StepSolution trial_, polished_;
    ResidualWork residual_work_;
};

}  // namespace stickslip
