#include "solvers/auto.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"
#include "solvers/local/one_node.hpp"

namespace stickslip {

namespace {

// Of the aim. Stiction is promised to rounding, not to the tolerance: a shortcut that is less exact than this is not taken.
constexpr double exact_share = 1e-3;

// Of the aim. What rests is not solved for again, so that nothing may be left that could add up.
constexpr double rest_share = 1e-5;
// Of the largest w_k |p_k|: the rounding that loads leave in velocities, which is all that is left at the foot of a high wall. A wall of
// fifteen rows that crept by it would need years for a micrometre.
constexpr double load_rounding = 128 * 1.1e-16;

// Multiplications that the last sweeps over a stored problem may cost, some seconds.
constexpr double last_work = 9e9;

// Contacts up to which rungs aim at what the arithmetic allows, as far as that is cheap; in larger islands it would cost more than it shows.
constexpr int exact_island = 100;
// Contacts above which a crossing of the path costs a dozen iterations of ADMM and more.
constexpr int large_island = 500;
// Fewer factorisations than this do not bring a path to its end.
constexpr double path_factorisations = 100;
// Contacts up to which a few sweeps cost less than a factorisation.
constexpr int small_island = 12;

// A softened problem, exactly solved, is better than a point of a smaller residual that obeys no law: up to this factor.
constexpr double soft_allowance = 3;

// Contacts above which no compliance was ever found in what softening may cost.
constexpr int soft_island = 1000;

// Of max_work: what softening may cost on top.
constexpr double soft_work_share = 0.2;

// Of the residual of a step that is not certified: what it may grow by for the sake of momentum. Energy that nobody can account for
// ends a run, speeds at which contacts close do not.
constexpr double momentum_allowance = 10;

// Of the sweeps that are left when a budget is used up, and the visits of contacts that they may cost, some milliseconds.
constexpr int reserved_sweeps = 15, least_reserved_sweeps = 3, reserved_visits = 8000;
constexpr int patient_sweeps = 500;

constexpr int small_warm_rounds = 15, warm_rounds = 6, cold_rounds = 6, spread_rounds = 15;
// Rounds in a row without fewer changes than ever: boxes and rocks then circle mostly. Of 12 500 calls on five heaps 150 would have found the
// modes after all, and a fifth of all factorisations is saved.
constexpr int idle_rounds = 4;

// Of the speed at the contacts: nearer than this to the solution most modes are right.
constexpr double polish_below = 1e-2;

// The first is the surer one, the second the faster near the end: where it is tried the first has mostly come close.
constexpr PathNewtonOptions along_path{.full_steps = 100, .extra_looks = 5}, stiffer_path{.first_eps = 1e-5, .max_idle = 300, .extra_looks = 5};
// In small islands heavy bodies on light ones are the difficulty, which eps makes worse.
constexpr PathNewtonOptions short_path{.first_eps = 1e-7, .max_factorisations = 20, .max_idle = 20};
constexpr PathNewtonOptions stiffest_path{.first_eps = 1e-7, .max_idle = 60, .extra_looks = 5};
constexpr AdmmOptions first_admm{}, short_admm{.polish_far = false}, longer_admm{.least_fall = 0.9, .max_idle = 2};
constexpr AcceleratedGradientOptions first_gradient{}, patient_gradient{.max_idle = 100};
constexpr AdmmOptions patient_admm{.max_blocks = 60, .least_fall = 0.99, .max_idle = 10};

struct Cones {
    bool discs = false, polygons = false;  // those of more than two corners
};

Cones cones_of(const StepProblem& problem) {
    Cones cones;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (problem.contacts.jacobian.dim(i) < 3 || !(problem.contacts.friction[i] > 0)) continue;
        cones.discs = cones.discs || problem.contacts.facets[i] == 0;
        cones.polygons = cones.polygons || problem.contacts.facets[i] > 2;
    }
    return cones;
}

bool has_polygon(const DelassusProblem& problem) {
    for (int i = 0; i < problem.contacts(); ++i)
        if (problem.W.nodes.dof(i) == 3 && problem.friction[i] > 0 && problem.facets[i] > 2) return true;
    return false;
}

// What StepSystem::cost() is at least: that of a matrix without fill.
double least_cost(const StepProblem& problem) {
    const Nodes& nodes = problem.nodes();
    double numbers = 0;
    for (int n = 0; n < nodes.size(); ++n) numbers += nodes.dof(n) * nodes.dof(n);
    const BlockRows& H = problem.contacts.jacobian;
    std::pair<int, int> last{-1, -1};  // contacts of the same bodies mostly follow each other
    for (int i = 0; i < H.groups(); ++i) {
        const auto blocks = H.blocks_of(i);
        if (blocks.size() < 2 || last == std::pair{blocks[0].node, blocks[1].node}) continue;
        last = {blocks[0].node, blocks[1].node};
        numbers += 2 * nodes.dof(last.first) * nodes.dof(last.second);
    }
    return 22 * numbers;
}

// Of a contact that does not open.
ContactMode closed_mode(int dim, const double* u, double still) {
    const double slip = dim == 1 ? 0.0 : dim == 2 ? std::abs(u[1]) : std::hypot(u[1], u[2]);
    return slip > still ? ContactMode::slip : ContactMode::stick;
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
    if (!(options.max_work > 0)) throw Error("max_work of auto must be positive");
    aim_ = goal_ = options.tol;
    modes_.meter = &meter_;
    nsgs_.meter = &meter_;
    newton_.meter = &meter_;
}

void AutoSolver::set_tolerance(double tol, double aim) {
    options_.tol = tol;
    aim_ = aim;
    set_goal(tol);
}

void AutoSolver::set_goal(double goal) {
    goal_ = goal;
    for (Solver* solver : std::initializer_list<Solver*>{&nsgs_, &newton_, &lemke_, &interior_}) solver->set_tolerance(goal, goal);
}

template <class Attempt>
bool AutoSolver::attempt(Climb& climb, Attempt&& run) {
    SolveReport& report = climb.report;
    if (meter_.used_up()) return false;
    copy_solution(climb.best, x_);
    SolveReport local;
    run(x_, local);
    report.iterations += local.iterations;
    report.factorisations += local.factorisations;
    const double now = local.residual.max(), best = report.residual.max();
    if (now < best || std::isnan(best)) {
        report.residual = local.residual;
        report.solver = local.solver;
        copy_solution(x_, climb.best);
    }
    return report.residual.max() <= goal_;
}

bool AutoSolver::admm(Climb& climb, const AdmmOptions& options) {
    return attempt(climb, [&](StepSolution& x, SolveReport& local) {
        local.residual = climb.report.residual;
        local.solver = "admm";
        admm_.improve(climb.problem, weights_, options, goal_, meter_, tries_, x, local);
        if (local.residual.max() <= (options.polish_far ? polish_below * weights_.speed() : goal_)) tries_.polish(climb.problem, goal_, x, local);
    });
}

bool AutoSolver::gradient(Climb& climb, const AcceleratedGradientOptions& options) {
    return attempt(climb, [&](StepSolution& x, SolveReport& local) {
        local.residual = climb.report.residual;
        local.solver = "accelerated-gradient";
        if (gradient_.improve(climb.problem, weights_, options, goal_, meter_, x, local)) tries_.polish(climb.problem, goal_, x, local);
    });
}

bool AutoSolver::path(Climb& climb, const StepSolution& start, PathNewtonOptions options) {
    if (climb.problem.contacts.size() > exact_island) options.extra_looks = 0;
    return attempt(climb, [&](StepSolution& x, SolveReport& local) {
        copy_solution(start, x);
        local.residual = residual(climb.problem, x, residual_work_);
        local.solver = "path-newton";
        path_.improve(climb.problem, weights_, options, goal_, meter_, tries_, x, local);
        tries_.polish(climb.problem, goal_, x, local);
    });
}

bool AutoSolver::sweeps(Climb& climb, int count) {
    return attempt(climb, [&](StepSolution& x, SolveReport& local) { nsgs_.sweep(climb.problem, x, count, local); });
}

// A few sweeps that no budget takes away: an island that comes after it is used up would else not feel its contacts at all. They go on
// from what a rung has found; where none was begun, from the guess, which corrected modes alone may have left for worse.
void AutoSolver::last_sweeps(Climb& climb) {
    const int contacts = climb.problem.contacts.size();
    const int count = std::clamp(reserved_visits / std::max(contacts, 1), least_reserved_sweeps, reserved_sweeps);
    copy_solution(rung_named(climb.report.solver) == Rung::mode_solve ? guess_ : climb.best, x_);
    nsgs_.meter = nullptr;
    nsgs_.options.polish = false;
    nsgs_.looks = NsgsSolver::Looks::at_end;
    SolveReport local;
    nsgs_.sweep(climb.problem, x_, count, local);
    nsgs_.looks = NsgsSolver::Looks::in_between;
    nsgs_.options.polish = true;
    nsgs_.meter = &meter_;
    climb.report.iterations += local.iterations;
    if (!(local.residual.max() < climb.report.residual.max())) return;
    climb.report.residual = local.residual;
    climb.report.solver = local.solver;
    copy_solution(x_, climb.best);
}

// What is left of a solve when not even a factorisation without fill could end in time: looking for its pattern takes longer than sweeps.
SolveReport AutoSolver::swept(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    if (!solution.warm) reset_solution(solution);
    report.residual.dynamics = infinity;
    Climb climb{problem, solution, report};
    last_sweeps(climb);
    solution.warm = true;
    report.status = report.residual.max() <= options_.tol ? Status::ok : Status::not_converged;
    if (report.status != Status::ok) report.reason = "the time was used up before a matrix could be factored";
    return report;
}

bool AutoSolver::inner(Climb& climb) {
    return attempt(climb, [&](StepSolution& x, SolveReport& local) {
        x.warm = false;
        interior_.options.max_work = std::min(options_.max_work, 1e-9 * meter_.left() * modes_.cost());
        local = interior_.solve(climb.problem, x);
        local.factorisations = local.iterations;
        meter_.add(local.iterations);
    });
}

bool AutoSolver::pivots(Climb& climb) {
    return attempt(climb, [&](StepSolution& x, SolveReport& local) {
        x.warm = false;
        local = lemke_.solve(climb.problem, x);
        tries_.polish(climb.problem, goal_, x, local);
    });
}

bool AutoSolver::rounds(Climb& climb) {
    return attempt(climb, [&](StepSolution& x, SolveReport& local) {
        newton_.rounds(climb.problem, x, local);
    });
}

// v = A^-1 (r + G' lambda + H' p), so that momentum and the energy ledger close to rounding whatever the tolerance left in
// the contacts; kept when the residual as a whole does not suffer, or not much where the step is not certified anyway.
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
    const double allowed = res.max() <= options_.tol ? std::max(res.max(), 0.5 * options_.tol) : momentum_allowance * res.max();
    if (!(restored.max() <= allowed)) return;
    res = restored;
    solution.v = x_.v;
}

// Where the rigid problem is not solved: contacts that give way, if that leaves no larger error than the best point has.
void AutoSolver::soften(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    if (budget_.limited() || problem.contacts.size() == 0 || problem.contacts.size() > soft_island || !weights_.prepare(problem)) return;
    meter_.start(budget_);
    meter_.limit(modes_.cost(), 1e9 * soft_work_share * options_.max_work);
    SolveReport soft;
    const double compliance =
        soft_.solve(problem, weights_, path_, tries_, options_.tol, meter_, solution, x_, soft);
    report.factorisations += soft.factorisations;
    report.iterations += soft.iterations;
    if (compliance == 0 || !(soft.residual.max() <= soft_allowance * report.residual.max())) return;
    copy_solution(x_, solution);
    report.residual = soft.residual;
    report.compliance = compliance;
    report.solver = "compliance";
}

// Contacts of one pair of shapes that are closed and of which one slides, and that were not so in the guess.
bool AutoSolver::shares_are_open(const StepProblem& problem, const StepSolution& solution) const {
    const ContactRows& contacts = problem.contacts;
    if (contacts.size() > exact_island || solution.modes == guess_.modes) return false;
    for (int i = 1; i < contacts.size(); ++i) {
        if (contacts.id[i].a != contacts.id[i - 1].a || contacts.id[i].b != contacts.id[i - 1].b) continue;
        if (solution.modes[i] == ContactMode::slip || solution.modes[i - 1] == ContactMode::slip) return true;
    }
    return false;
}

// Redundant contacts can share a load in many ways, and where they slide the moment of their friction, and with it the motion, goes
// with the shares: a box that slides between two fingers would turn or not by what the solver happened to come from. Of all answers
// the smallest impulses are taken, those nearest to none: loads are spread over all contacts that are closed.
void AutoSolver::spread(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    if (!shares_are_open(problem, solution)) return;
    const BlockRows& H = problem.contacts.jacobian;
    copy_solution(solution, x_);
    speed_.resize(H.rows());
    H.product(problem.nodes(), solution.v, speed_);
    const double still = exact_share * options_.tol;
    for (int i = 0; i < H.groups(); ++i) {
        double* const u = speed_.data() + H.row[i];
        for (int k = 0; k < H.dim(i); ++k) u[k] += problem.S[H.row[i] + k] * solution.p[H.row[i] + k] + problem.c[H.row[i] + k];
        if (x_.modes[i] == ContactMode::open && u[0] <= still) x_.modes[i] = closed_mode(H.dim(i), u, still);
        // The direction of sliding is read from the impulse.
        if (x_.modes[i] == ContactMode::slip && solution.p[H.row[i]] == 0)
            for (int k = 1; k < H.dim(i); ++k) x_.p[H.row[i] + k] = -u[k];
    }
    modes_.max_rounds = spread_rounds;
    modes_.max_idle = idle_rounds;
    Residual res = report.residual;
    modes_.forget_impulses = true;
    modes_.improve(problem, x_, exact_share * aim_, res);
    modes_.forget_impulses = false;
    report.factorisations += modes_.factorisations();
    if (!(res.max() <= std::max(report.residual.max(), exact_share * aim_))) return;
    report.residual = res;
    copy_solution(x_, solution);
}

// Bodies that nothing touches.
bool AutoSolver::free(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    if (problem.joints.size() > 0 || problem.contacts.size() > 0) return false;
    report.solver = "free";
    inverse_.factor(problem.A);
    inverse_.apply(problem.r, solution.v);
    load_ = problem.r;
    problem.A.add_product(-1, solution.v, load_);
    step_.resize(load_.size());
    inverse_.apply(load_, step_);
    solution.v += step_;
    report.residual = residual(problem, solution, residual_work_);
    solution.warm = true;
    report.status = report.residual.max() <= options_.tol ? Status::ok : Status::not_converged;
    if (report.status != Status::ok) report.reason = "the matrix A is nearly singular";
    return true;
}

// Nothing moves, and the impulses of the last step are those of this one: the guess is the solution, to rounding.
bool AutoSolver::rests(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    if (!solution.warm) return false;
    const double fastest = solution.v.size() > 0 ? solution.v.cwiseAbs().maxCoeff() : 0.0;
    if (!(fastest <= aim_)) return false;
    report.residual = residual(problem, solution, residual_work_);
    report.solver = "rest";
    double load = 0;  // [m/s]
    for (int k = 0; k < solution.p.size(); ++k)
        load = std::max(load, residual_work_.diagonal[k] * std::abs(solution.p[k]));
    const double still = std::max(rest_share * aim_, load_rounding * load);
    return fastest <= still && report.residual.max() <= still;
}

// From here on the tolerance will do. True: the best point is within it.
bool AutoSolver::good_enough(Climb& climb) {
    set_goal(options_.tol);
    return climb.report.residual.max() <= goal_;
}

bool AutoSolver::climb(Climb& climb) {
    const int contacts = climb.problem.contacts.size();
    tries_.start(0);
    set_goal(contacts <= exact_island ? aim_ : options_.tol);
    if (contacts <= small_island && sweeps(climb, options_.quick_sweeps)) return true;
    const Cones cones = cones_of(climb.problem);
    if (contacts <= exact_island && cones.polygons && !cones.discs && pivots(climb)) return true;
    if (meter_.used_up(modes_.cost()) || !weights_.prepare(climb.problem)) return false;
    meter_.add(weights_.factorisations());
    tries_.start(polish_below * weights_.speed());
    const bool loose = contacts > large_island && gradient_.suits(climb.problem);
    // Where few factorisations are affordable, iterations without them are the better use of the work.
    const bool patient = meter_.left() < path_factorisations && !budget_.limited();
    if (loose && (admm(climb, short_admm) || gradient(climb, patient ? patient_gradient : first_gradient) || patient || meter_.used_up()))
        return good_enough(climb);
    if (patient) return admm(climb, patient_admm);
    if ((!loose && admm(climb, contacts <= large_island ? first_admm : longer_admm)) ||
        (contacts <= exact_island && path(climb, climb.best, short_path)) || good_enough(climb) ||
        (contacts <= exact_island && path(climb, climb.best, stiffest_path)) || path(climb, climb.best, along_path) ||
        path(climb, climb.best, stiffer_path))
        return true;
    if (good_enough(climb)) return true;
    return budget_.limited() ? sweeps(climb, options_.quick_sweeps) : patience(climb);
}

// What is left when a step is neither easy nor ends along the path: other points to start from, and other methods.
bool AutoSolver::patience(Climb& climb) {
    return admm(climb, patient_admm) || path(climb, climb.best, along_path) || path(climb, guess_, along_path) ||
           (!cones_of(climb.problem).polygons && inner(climb)) || sweeps(climb, patient_sweeps) ||
           path(climb, climb.best, along_path) || rounds(climb) || sweeps(climb, options_.max_sweeps);
}

SolveReport AutoSolver::solve(const StepProblem& problem, StepSolution& solution) {
    solution.size_to(problem);
    meter_.start(budget_);
    SolveReport report;
    if (free(problem, solution, report) || rests(problem, solution, report)) return report;
    if (solve_one_node(problem, solution, exact_share * aim_, report.residual)) {
        report.solver = "one-node";
        return report;
    }

    if (budget_.deadline < infinity && meter_.used_up(least_cost(problem))) return swept(problem, solution, report);

    // The modes of the last step, or a guess; most steps end here.
    const bool warm = solution.warm;
    if (!warm) modes_.guess(problem, solution);
    report.solver = "mode-solve";
    const bool small = problem.contacts.size() <= exact_island;
    modes_.max_idle = idle_rounds;
    modes_.max_rounds = !warm ? cold_rounds : small ? small_warm_rounds : warm_rounds;
    copy_solution(solution, guess_);
    bool done = modes_.improve(problem, solution, aim_, report.residual);
    report.iterations = modes_.iterations();
    report.factorisations = modes_.factorisations();
    if (!done) {
        meter_.limit(modes_.cost(), 1e9 * options_.max_work);
        Climb climb{problem, solution, report};
        done = this->climb(climb);
        restore_momentum(problem, solution, report.residual);
        if (!done && budget_.limited()) last_sweeps(climb);
        done = report.residual.max() <= options_.tol;
    }
    if (done) spread(problem, solution, report);
    solution.warm = true;
    report.status = done ? Status::ok : std::isnan(report.residual.max()) ? Status::diverged : Status::not_converged;
    if (!done) {
        soften(problem, solution, report);
        report.reason =
            "no solver reached the tolerance; contacts or limits may contradict each other, try a smaller step "
            "or a compliance";
    }
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
