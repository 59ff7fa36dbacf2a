#include "solvers/judged_solver.hpp"

#include <cmath>

#include "stickslip/contradiction.hpp"

namespace stickslip {

void JudgedSolver::judge(const Certificate& certificate, SolveReport& report) const {
    report.residual = certificate.residual;
    report.rounding = certificate.rounding;
    if (certificate.bound() <= tol_) {
        report.status = Status::ok;
        report.reason = "";
    } else if (report.status == Status::ok) {
        report.status = std::isnan(certificate.residual.max()) ? Status::diverged : Status::not_converged;
        report.reason =
            certificate.residual.max() <= tol_
                ? "impulses are so large that rounding may hide more than the tolerance; masses, compliances or "
                  "velocities differ too much for the arithmetic, or rows contradict each other"
                : "the residual is above the tolerance when every law is tested by itself";
    }
}

SolveReport JudgedSolver::solve(const StepProblem& problem, StepSolution& solution) {
    SolveReport report = inner_->solve(problem, solution);
    const bool claimed = report.status == Status::ok;
    const Certificate first = certify(problem, solution, tol_, work_);
    judge(first, report);
    if (report.status == Status::infeasible && !find_contradiction(problem)) report.status = Status::not_converged;
    if (!claimed || report.status == Status::ok) return report;
    first_ = solution;
    // Impulses that rounding drowns may come from the guess: rows that push against each other keep what they were given.
    solution.warm = first.residual.max() > tol_;
    SolveReport again = stricter_->solve(problem, solution);
    again.iterations += report.iterations;
    judge(certify(problem, solution, tol_, work_), again);
    if (again.status == Status::ok) return again;
    solution = first_;
    report.iterations = again.iterations;
    return report;
}

SolveReport JudgedSolver::solve_local(const DelassusProblem& problem, DelassusSolution& solution) {
    SolveReport report = inner_->solve_local(problem, solution);
    if (solution.p.size() != problem.q.size()) return report;  // a solver that takes no such problems
    const bool claimed = report.status == Status::ok;
    const Certificate first = certify(problem, solution.p, tol_);
    judge(first, report);
    if (!claimed || report.status == Status::ok) return report;
    first_local_ = solution;
    solution.warm = first.residual.max() > tol_;
    SolveReport again = stricter_->solve_local(problem, solution);
    again.iterations += report.iterations;
    judge(certify(problem, solution.p, tol_), again);
    if (again.status == Status::ok) return again;
    solution = first_local_;
    report.iterations = again.iterations;
    return report;
}

}  // namespace stickslip
