#include "solvers/auto.hpp"

#include <cmath>

#include "problems/cones.hpp"
#include "solvers/local/one_node.hpp"

namespace stickslip {

namespace {

// Stiction is promised to rounding, not to the tolerance: a shortcut that is less exact than this is not taken.
constexpr double exact_share = 1e-3;

bool is_disc(const ContactRows& contacts, int i) {
    return contacts.jacobian.dim(i) == 3 && contacts.friction[i] > 0 && contacts.facets[i] == 0;
}

// Complementarity variables of the polyhedral problem, discs counted with `facets` facets.
int lcp_size(const StepProblem& problem, int facets) {
    int size = 0;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const int dim = problem.contacts.jacobian.dim(i);
        if (dim == 1 || problem.contacts.friction[i] <= 0)
            size += 1;
        else
            size += 2 + (dim == 2 ? 2 : is_disc(problem.contacts, i) ? facets : problem.contacts.facets[i]);
    }
    for (int j = 0; j < problem.joints.size(); ++j)
        size += (problem.lower[j] > -infinity) + (problem.upper[j] < infinity);
    return size;
}

bool has_disc(const StepProblem& problem) {
    for (int i = 0; i < problem.contacts.size(); ++i)
        if (is_disc(problem.contacts, i)) return true;
    return false;
}

NsgsOptions sweeping(const AutoOptions& options) {
    NsgsOptions result;
    result.tol = options.tol;
    result.max_sweeps = options.max_sweeps;
    return result;
}

ConeNewtonOptions newton(const AutoOptions& options) {
    ConeNewtonOptions result;
    result.tol = options.tol;
    result.max_rounds = options.newton_rounds;
    return result;
}

LemkeOptions pivoting(const AutoOptions& options) {
    LemkeOptions result;
    result.tol = options.tol;
    return result;
}

}  // namespace

AutoSolver::AutoSolver(AutoOptions options)
    : options_(options), nsgs_(sweeping(options)), newton_(newton(options)), lemke_(pivoting(options)) {
    if (options_.guess_facets < 4 || options_.guess_facets % 2 != 0)
        throw Error("guess_facets of auto must be an even number, at least 4");
}

template <class Stage>
bool AutoSolver::stage(StepSolution& solution, SolveReport& report, Stage&& run) {
    copy_solution(solution, x_);
    SolveReport local;
    run(x_, local);
    report.iterations += local.iterations;
    const double now = local.residual.max(), best = report.residual.max();
    if (now < best || std::isnan(best)) {
        report.residual = local.residual;
        report.solver = local.solver;
        copy_solution(x_, solution);
    }
    return report.residual.max() <= options_.tol;
}

// Leaves in x_ the modes and impulses of the same problem with polygons for discs: a guess, never an answer.
void AutoSolver::modes_from_polygons(const StepProblem& problem, SolveReport& report) {
    polygons_ = problem;
    for (int i = 0; i < problem.contacts.size(); ++i)
        if (is_disc(problem.contacts, i)) polygons_.contacts.facets[i] = options_.guess_facets;
    x_.warm = false;
    report.iterations += lemke_.solve(polygons_, x_).iterations;
}

SolveReport AutoSolver::solve(const StepProblem& problem, StepSolution& solution) {
    solution.size_to(problem);
    SolveReport report;
    if (solve_one_node(problem, solution, exact_share * options_.tol, report.residual)) {
        report.solver = "one-node";
        return report;
    }

    // The modes of the last step, or a guess; most steps end here.
    const bool warm = solution.warm;
    if (!warm) modes_.guess(problem, solution);
    report.solver = "mode-solve";
    modes_.max_rounds = warm ? 15 : 6;
    bool done = modes_.improve(problem, solution, options_.tol, report.residual);
    report.iterations = modes_.iterations();

    const bool discs = has_disc(problem);
    const int size = lcp_size(problem, options_.guess_facets);
    const auto pivots = [&](StepSolution& x, SolveReport& local) {
        x.warm = false;
        local = lemke_.solve(problem, x);
    };
    const auto sweeps = [&](int count) {
        return [&, count](StepSolution& x, SolveReport& local) { nsgs_.sweep(problem, x, count, local); };
    };
    const auto rounds = [&](StepSolution& x, SolveReport& local) { newton_.rounds(problem, x, local); };

    if (!done && !discs && size <= options_.lemke_first) done = stage(solution, report, pivots);
    if (!done) done = stage(solution, report, sweeps(options_.quick_sweeps));
    if (!done) done = stage(solution, report, rounds);
    if (!done && !discs && size > options_.lemke_first && size <= options_.lemke_last)
        done = stage(solution, report, pivots);
    if (!done) done = stage(solution, report, sweeps(options_.max_sweeps));
    if (!done && discs && size <= options_.lemke_last) {
        done = stage(solution, report, [&](StepSolution& x, SolveReport& local) {
            modes_from_polygons(problem, local);
            local.solver = "mode-solve";
            if (!modes_.improve(problem, x, options_.tol, local.residual))
                nsgs_.sweep(problem, x, options_.max_sweeps, local);
        });
    }
    solution.warm = true;
    report.status = done ? Status::ok : std::isnan(report.residual.max()) ? Status::diverged : Status::not_converged;
    if (!done)
        report.reason =
            "no solver reached the tolerance; contacts or limits may contradict each other, try a smaller step "
            "or a compliance";
    return report;
}

}  // namespace stickslip
