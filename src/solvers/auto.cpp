#include "solvers/auto.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"
#include "solvers/local/one_node.hpp"

namespace stickslip {

namespace {

// Stiction is promised to rounding, not to the tolerance: a shortcut that is less exact than this is not taken.
constexpr double exact_share = 1e-3;

// Multiplications that the last sweeps over a stored problem may cost, some seconds.
constexpr double last_work = 9e9;

// [m/s] An LCP that is left with more ended at its limit of pivots or on a ray.
constexpr double given_up = 1e-3;

constexpr int max_pivots = 15000;  // of one LCP; hit walls of 150 contacts have needed 6000

// Complementarity variables up to which a dozen LCPs cost less than thousands of sweeps.
constexpr int small_lcp = 400;

bool has_disc(const ContactRows& contacts, int i) {
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
            size += 2 + (dim == 2 ? 2 : has_disc(problem.contacts, i) ? facets : problem.contacts.facets[i]);
    }
    for (int j = 0; j < problem.joints.size(); ++j)
        size += (problem.lower[j] > -infinity) + (problem.upper[j] < infinity);
    return size;
}

bool has_disc(const StepProblem& problem) {
    for (int i = 0; i < problem.contacts.size(); ++i)
        if (has_disc(problem.contacts, i)) return true;
    return false;
}

bool has_polygon(const StepProblem& problem) {
    const ContactRows& contacts = problem.contacts;
    for (int i = 0; i < contacts.size(); ++i)
        if (contacts.jacobian.dim(i) == 3 && contacts.friction[i] > 0 && contacts.facets[i] > 2) return true;
    return false;
}

bool has_polygon(const DelassusProblem& problem) {
    for (int i = 0; i < problem.contacts(); ++i)
        if (problem.W.nodes.dof(i) == 3 && problem.friction[i] > 0 && problem.facets[i] > 2) return true;
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
    result.max_pivots = max_pivots;
    return result;
}

InteriorPointOptions inside(const AutoOptions& options) {
    InteriorPointOptions result;
    result.tol = options.tol;
    return result;
}

}  // namespace

AutoSolver::AutoSolver(AutoOptions options)
    : options_(options),
      nsgs_(sweeping(options)),
      newton_(newton(options)),
      lemke_(pivoting(options)),
      interior_(inside(options)) {
    if (options_.guess_facets < 4 || options_.guess_facets % 2 != 0)
        throw Error("guess_facets of auto must be an even number, at least 4");
}

template <class Attempt>
bool AutoSolver::attempt(StepSolution& solution, SolveReport& report, Attempt&& run) {
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

// Polygons for discs, each turned by its own angle: the tangential rows of contact i become
// t1' = cos a t1 + sin a t2, t2' = -sin a t1 + cos a t2.
void AutoSolver::make_polygons(const StepProblem& problem) {
    polygons_ = problem;
    const BlockRows& H = problem.contacts.jacobian;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (!has_disc(problem.contacts, i)) continue;
        polygons_.contacts.facets[i] = options_.guess_facets;
        const double c = std::cos(turn_[i]), s = std::sin(turn_[i]);
        const auto turn = [&](double& first, double& second) {
            const double x = first, y = second;
            first = c * x + s * y;
            second = -s * x + c * y;
        };
        for (const BlockRows::Block& b : H.blocks_of(i)) {
            auto block = polygons_.contacts.jacobian.values_of(i, b, problem.nodes());
            for (int k = 0; k < problem.nodes().dof(b.node); ++k) turn(block(1, k), block(2, k));
        }
        turn(polygons_.c[H.row[i] + 1], polygons_.c[H.row[i] + 2]);
    }
}

// Pivots where all else stalls: the discs become polygons, and round by round each polygon is turned so that a corner
// lies where friction pointed in the last solution. At a slipping contact that corner is the friction of the disc itself,
// inside a polygon sticking is sticking: a fixed point solves the problem with discs, and near one the mode solver ends
// the search. Every round is a solvable LCP. The answer is judged against the discs.
void AutoSolver::turn_polygons(const StepProblem& problem, StepSolution& x, SolveReport& report) {
    constexpr int rounds = 16;   // the angles settle in 3 to 8
    constexpr int undamped = 4;  // then half of the turn is taken: pairs of contacts may swap for ever
    constexpr double full = 2 * 3.14159265358979323846;
    const BlockRows& H = problem.contacts.jacobian;
    report.solver = "lemke";
    report.residual = residual(problem, x, residual_work_);
    turn_.assign(static_cast<std::size_t>(problem.contacts.size()), 0.0);
    copy_solution(x, turned_);
    SolveReport pivots;
    for (int round = 0; round < rounds; ++round) {
        // Where friction points: against the slip, or where there is none, along its own impulse.
        slip_.resize(H.rows());
        H.product(problem.nodes(), turned_.v, slip_);
        for (int i = 0; i < problem.contacts.size(); ++i) {
            if (!has_disc(problem.contacts, i)) continue;
            const int t = H.row[i] + 1;
            const Vec2 u(slip_[t] + problem.c[t] + problem.S[t] * turned_.p[t],
                         slip_[t + 1] + problem.c[t + 1] + problem.S[t + 1] * turned_.p[t + 1]);
            const Vec2 p(turned_.p[t], turned_.p[t + 1]);
            double to = turn_[i];
            if (u.norm() > options_.tol)
                to = std::atan2(-u[1], -u[0]);
            else if (p.norm() > 0)
                to = std::atan2(p[1], p[0]);
            turn_[i] += (round < undamped ? 1.0 : 0.5) * std::remainder(to - turn_[i], full);
        }
        // Cold: the last basis finds another solution of the LCP, and circles. Pivots that do not end from one set of
        // corners mostly do from another.
        for (int attempt = 0; attempt < 3; ++attempt) {
            if (attempt > 0)
                for (double& turn : turn_) turn += full / (4 * options_.guess_facets);
            make_polygons(problem);
            turned_.warm = false;
            pivots = lemke_.solve(polygons_, turned_);
            report.iterations += pivots.iterations;
            if (pivots.residual.max() < given_up) break;
        }
        if (!(pivots.residual.max() < given_up)) return;
        for (int i = 0; i < problem.contacts.size(); ++i) {
            if (!has_disc(problem.contacts, i)) continue;
            const int t = H.row[i] + 1;
            const double c = std::cos(turn_[i]), s = std::sin(turn_[i]), p1 = turned_.p[t], p2 = turned_.p[t + 1];
            turned_.p[t] = c * p1 - s * p2;
            turned_.p[t + 1] = s * p1 + c * p2;
        }
        copy_solution(turned_, polished_);
        Residual now;
        modes_.improve(problem, polished_, options_.tol, now);
        if (now.max() < report.residual.max() || std::isnan(report.residual.max())) {
            report.residual = now;
            copy_solution(polished_, x);
        }
        if (report.residual.max() <= options_.tol) return;
    }
}

// v = A^-1 (r + G' lambda + H' p), so that momentum and the energy ledger close to rounding whatever the tolerance left in
// the contacts; kept when the residual as a whole does not suffer.
void AutoSolver::restore_momentum(const StepProblem& problem, StepSolution& solution, Residual& res) {
    copy_solution(solution, x_);
    inverse_.factor(problem.A);
    for (int round = 0; round < 2; ++round) {  // the second is the refinement
        load_ = problem.r;
        problem.A.add_product(-1, x_.v, load_);
        problem.joints.jacobian.add_transpose_product(problem.nodes(), x_.lambda, load_);
        problem.contacts.jacobian.add_transpose_product(problem.nodes(), x_.p, load_);
        step_.resize(load_.size());
        inverse_.apply(load_, step_);
        x_.v += step_;
    }
    const Residual restored = residual(problem, x_, residual_work_);
    if (!(restored.max() <= std::max(res.max(), 0.5 * options_.tol))) return;
    res = restored;
    solution.v = x_.v;
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

    const bool escalated = !done;
    const bool discs = has_disc(problem), polygons = has_polygon(problem);
    const int size = lcp_size(problem, options_.guess_facets);
    const auto pivots = [&](StepSolution& x, SolveReport& local) {
        x.warm = false;
        local = lemke_.solve(problem, x);
    };
    const auto sweeps = [&](int count) {
        return [&, count](StepSolution& x, SolveReport& local) { nsgs_.sweep(problem, x, count, local); };
    };
    const auto rounds = [&](StepSolution& x, SolveReport& local) { newton_.rounds(problem, x, local); };
    const auto inner = [&](StepSolution& x, SolveReport& local) {
        x.warm = false;
        local = interior_.solve(problem, x);
    };

    if (!done && !discs && size <= options_.lemke_first) done = attempt(solution, report, pivots);
    if (!done) done = attempt(solution, report, sweeps(options_.quick_sweeps));
    if (!done && !discs && size > options_.lemke_first && size <= options_.lemke_last)
        done = attempt(solution, report, pivots);
    const auto turned = [&](StepSolution& x, SolveReport& local) { turn_polygons(problem, x, local); };
    if (!done && discs && !polygons && size > small_lcp) done = attempt(solution, report, inner);
    if (!done && discs && size <= small_lcp) done = attempt(solution, report, turned);
    if (!done) done = attempt(solution, report, rounds);
    if (!done && discs && !polygons && size <= small_lcp) done = attempt(solution, report, inner);
    if (!done) done = attempt(solution, report, sweeps(options_.max_sweeps));
    if (!done && discs && size > small_lcp && size <= options_.lemke_last) done = attempt(solution, report, turned);
    if (escalated) restore_momentum(problem, solution, report.residual);
    solution.warm = true;
    report.status = done ? Status::ok : std::isnan(report.residual.max()) ? Status::diverged : Status::not_converged;
    if (!done)
        report.reason =
            "no solver reached the tolerance; contacts or limits may contradict each other, try a smaller step "
            "or a compliance";
    return report;
}

SolveReport AutoSolver::solve_local(const DelassusProblem& problem, DelassusSolution& solution) {
    solution.size_to(problem);
    if (!solution.warm) solution.p.setZero();
    SolveReport report;
    report.solver = "auto";
    report.residual.contacts = relative_error(problem, solution.p);
    const auto offer = [&](const SolveReport& local) {
        report.iterations += local.iterations;
        const bool better = local.residual.contacts < report.residual.contacts || std::isnan(report.residual.contacts);
        if (!better) return;
        report.solver = local.solver;
        report.residual.contacts = local.residual.contacts;
        solution.p = local_.p;
        solution.modes.assign(local_.modes.begin(), local_.modes.end());
    };
    const auto done = [&] { return report.residual.contacts <= options_.tol; };
    const auto sweeps = [&](int count, bool foresee) {
        local_ = solution;
        SolveReport local;
        nsgs_.sweep_local(problem, local_, count, foresee, local);
        offer(local);
    };
    const bool polygons = has_polygon(problem);
    if (!done()) sweeps(options_.local_sweeps, !polygons);
    if (!done() && !polygons) offer(interior_.solve_local(problem, local_));
    if (!done()) sweeps(std::max(options_.max_sweeps, static_cast<int>(last_work / nsgs_.local_work())), false);
    solution.warm = true;
    report.status = done()                                 ? Status::ok
                    : std::isnan(report.residual.contacts) ? Status::diverged
                                                           : Status::not_converged;
    if (!done()) report.reason = "no solver reached the tolerance; the best point found is returned";
    return report;
}

}  // namespace stickslip
