#include "solvers/soft_contacts.hpp"

#include <algorithm>

#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

constexpr double softest = 1e-1, stiffest = 1e-6, stiffer = 0.2;
constexpr PathNewtonOptions along_path{.max_factorisations = 100};

}  // namespace

double SoftContacts::solve(const StepProblem& problem, const RowWeights& weights, PathNewton& path, ModeTries& tries, double tol,
                           WorkMeter& meter, const StepSolution& start, StepSolution& x, SolveReport& report) {
    const BlockRows& H = problem.contacts.jacobian;
    soft_ = problem;
    copy_solution(start, trial_);
    double solved = 0;
    for (double s = softest; s > stiffest; s *= stiffer) {
        for (int i = 0; i < H.groups(); ++i)
            for (int k = H.row[i]; k < H.row[i + 1]; ++k) soft_.S[k] = problem.S[k] + s * weights.contact()[i];
        if (meter.used_up() || !soft_weights_.prepare(soft_)) break;
        SolveReport own;
        own.residual = residual(soft_, trial_, residual_work_);
        copy_solution(trial_, polished_);
        tries.start(0);
        path.improve(soft_, soft_weights_, along_path, tol, meter, tries, polished_, own);
        tries.polish(soft_, tol, polished_, own);
        report.factorisations += own.factorisations;
        report.iterations += own.iterations;
        if (!(own.residual.max() <= tol)) break;
        copy_solution(polished_, trial_);
        copy_solution(polished_, x);
        solved = s;
    }
    if (solved == 0) return 0;
    report.residual = residual(problem, x, residual_work_);
    return solved * *std::max_element(weights.contact().begin(), weights.contact().end());
}

}  // namespace stickslip
