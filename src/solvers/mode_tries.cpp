#include "solvers/mode_tries.hpp"

#include <algorithm>

#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

// All of them are made: near the solution changes rise once more before they vanish. With 15, ten boxes took half as long again.
constexpr int rounds = 10;
constexpr double fall = 0.2;  // of the residual from one try to the next

}  // namespace

void ModeTries::start(double below) {
    next_ = below;
    ended_ = tried_ = infinity;
}

bool ModeTries::found(const StepProblem& problem, double tol, StepSolution& x, SolveReport& report) {
    const double now = report.residual.max();
    if (!(now <= next_) || now <= tol) return false;
    next_ = fall * now;
    copy_solution(x, x_);
    residual_ = report.residual;
    modes_.max_rounds = rounds;
    modes_.max_idle = rounds;
    modes_.improve(problem, x_, tol, residual_);
    report.factorisations += modes_.factorisations();
    tried_ = now;
    if (!(residual_.max() <= tol)) return false;
    take(x, report);
    return true;
}

void ModeTries::take(StepSolution& x, SolveReport& report) {
    report.residual = residual_;
    ended_ = residual_.max();
    copy_solution(x_, x);
}

void ModeTries::polish(const StepProblem& problem, double tol, StepSolution& x, SolveReport& report) {
    if (report.residual.max() == ended_) return;
    if (report.residual.max() == tried_) return take(x, report);
    next_ = std::min(next_, fall * report.residual.max());
    modes_.max_rounds = rounds;
    modes_.max_idle = rounds;
    modes_.improve(problem, x, tol, report.residual);
    report.factorisations += modes_.factorisations();
    ended_ = report.residual.max();
}

}  // namespace stickslip
