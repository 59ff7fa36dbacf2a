// The mode solve tried on the way of another method: at its best points, the more rarely the less it has brought. Where the modes of a point are
// nearly right a few factorisations end the step exactly, long before the method itself gets there; where they are not, two or three tell.
#pragma once

#include "solvers/mode_solve.hpp"

namespace stickslip {

class ModeTries {
public:
    explicit ModeTries(ModeSolver& modes) : modes_(modes) {}
    ModeTries(const ModeTries&) = delete;
    // A new problem. Above a residual of `below` nothing is tried.
    void start(double below);
    // At `x`, whose residual is report.residual: true when the modes are found and the residual is at most tol. Else `x` stays.
    bool found(const StepProblem& problem, double tol, StepSolution& x, SolveReport& report);
    // The last word on a point, whatever its residual: `x` may become better without being solved.
    void polish(const StepProblem& problem, double tol, StepSolution& x, SolveReport& report);

private:
    void take(StepSolution& x, SolveReport& report);

    ModeSolver& modes_;
    double next_ = 0;   // residual at which the next try is worth its price
    double ended_ = 0;  // residual that the last polish ended with: it would end there again
    double tried_ = 0;  // residual of the point that was tried last, and what came of it
    StepSolution x_;
    Residual residual_;
};

}  // namespace stickslip
