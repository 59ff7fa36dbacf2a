#include "solvers/judged_solver.hpp"

#include <cmath>

#include "problems/speed_scale.hpp"
#include "stickslip/contradiction.hpp"

namespace stickslip {

namespace {

constexpr double stricter = 0.25;  // of the tolerance, for a second try
// The same for stored local problems: what is judged and what solvers look at differ by little there, and where sweeps creep a quarter is
// never reached.
constexpr double local_stricter[] = {0.8, stricter};
// Of a tolerance in proportion to the speeds alone: what solvers try to reach. If larger, stiction is no longer exact; if smaller, they work at rounding.
constexpr double aim_share = 1e-6;

}  // namespace

void JudgedSolver::judge(const Certificate& certificate, double tol, SolveReport& report) const {
    report.residual = certificate.residual;
    report.rounding = certificate.rounding;
    report.tol = tol;
    if (certificate.bound() <= tol) {
        report.status = Status::ok;
        report.reason = "";
    } else if (report.status == Status::ok) {
        report.status = std::isnan(certificate.residual.max()) ? Status::diverged : Status::not_converged;
        report.reason =
            certificate.residual.max() <= tol
                ? "impulses are so large that rounding may hide more than the tolerance; masses, compliances or "
                  "velocities differ too much for the arithmetic, or rows contradict each other"
                : "the residual is above the tolerance when every law is tested by itself";
    }
}

SolveReport JudgedSolver::solve(const StepProblem& problem, StepSolution& solution) {
    const double speed = in_proportion_ ? speed_scale(problem, velocity_, speed_) : 0;
    const double tol = in_proportion_ ? default_share * judged_speed(problem, solution, speed) : tol_;
    const double aim = in_proportion_ ? aim_share * default_share * speed : tol;
    inner_->set_tolerance(tol, aim);
    SolveReport report = inner_->solve(problem, solution);
    const bool claimed = report.status == Status::ok;
    const bool late = deadline_ < infinity && processor_time() >= deadline_;
    if (late && !claimed && report.residual.max() > tol) {  // looked at more closely it would be no better, and that takes as long as a sweep
        report.tol = tol;
        if (report.status == Status::infeasible) report.status = Status::not_converged;  // believed only after a search
        return report;
    }
    const Certificate first = certify(problem, solution, tol, work_);
    judge(first, tol, report);
    if (report.status == Status::infeasible && !find_contradiction(problem)) report.status = Status::not_converged;
    if (!claimed || late || report.status == Status::ok) return report;
    first_ = solution;
    // Impulses that rounding drowns may come from the guess: rows that push against each other keep what they were given.
    solution.warm = first.residual.max() > tol;
    inner_->set_tolerance(stricter * tol, stricter * aim);
    SolveReport again = inner_->solve(problem, solution);
    again.iterations += report.iterations;
    again.factorisations += report.factorisations;
    judge(certify(problem, solution, tol, work_), tol, again);
    if (again.status == Status::ok) return again;
    solution = first_;
    report.iterations = again.iterations;
    report.factorisations = again.factorisations;
    return report;
}

SolveReport JudgedSolver::solve_local(const DelassusProblem& problem, DelassusSolution& solution) {
    inner_->set_tolerance(tol_, tol_);
    SolveReport report = inner_->solve_local(problem, solution);
    if (solution.p.size() != problem.q.size()) return report;  // a solver that takes no such problems
    const bool claimed = report.status == Status::ok;
    const Certificate first = certify(problem, solution.p, tol_);
    judge(first, tol_, report);
    if (!claimed || report.status == Status::ok) return report;
    first_local_ = solution;
    const bool from_there = first.residual.max() > tol_;
    for (const double share : local_stricter) {
        if (!from_there && share != stricter) continue;  // each try starts from nothing: one will do
        solution.warm = from_there;
        inner_->set_tolerance(share * tol_, share * tol_);
        SolveReport again = inner_->solve_local(problem, solution);
        again.iterations += report.iterations;
        judge(certify(problem, solution.p, tol_), tol_, again);
        if (again.status == Status::ok) return again;
        report.iterations = again.iterations;
    }
    solution = first_local_;
    return report;
}

}  // namespace stickslip
