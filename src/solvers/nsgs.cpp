#include "solvers/nsgs.hpp"

#include <algorithm>
#include <cmath>

#include "math/dense_lu.hpp"
#include "problems/cones.hpp"
#include "solvers/local/contact_solve.hpp"
#include "solvers/local/seen_velocity.hpp"

namespace stickslip {

namespace {

// Proximal term of a joint's own block, relative to its trace: redundant rows inside one joint stay solvable.
// Larger slows the joint's convergence, smaller amplifies rounding along its redundant combinations.
constexpr double joint_eps = 1e-9;

constexpr double exact_share = 1e-3;  // of the tolerance: what counts as exact
constexpr int extra_looks = 3;

// Changes of velocity below this share of the tolerance are no movement: contacts that show nothing else are left out.
constexpr double still_share = 1e-3;

constexpr int local_look = 10;     // sweeps between two looks at the error of a local problem
constexpr int foresee_after = 30;  // before, the rate of convergence says little

}  // namespace

void copy_solution(const StepSolution& source, StepSolution& target) {
    target.v = source.v;
    target.lambda = source.lambda;
    target.p = source.p;
    target.modes.assign(source.modes.begin(), source.modes.end());
    target.warm = source.warm;
}

void reset_solution(StepSolution& solution) {
    solution.v.setZero();
    solution.lambda.setZero();
    solution.p.setZero();
    for (ContactMode& mode : solution.modes) mode = ContactMode::open;
}

NsgsSolver::NsgsSolver(NsgsOptions options_) : options(options_) {
    if (!(options.relaxation > 0 && options.relaxation < 2)) throw Error("relaxation of nsgs must lie in (0, 2)");
    if (!(options.tol > 0)) throw Error("tol of nsgs must be positive");
    if (options.check_every < 1 || options.max_sweeps < 0) throw Error("sweep counts of nsgs must be positive");
}

void NsgsSolver::factor_joint_groups(const StepProblem& problem) {
    const BlockRows& G = problem.joints.jacobian;
    joint_lu_.clear();
    joint_lu_first_.clear();
    joint_direct_.clear();
    joint_pivot_.resize(static_cast<std::size_t>(G.rows()));
    for (int g = 0; g < G.groups(); ++g) {
        const int dim = G.dim(g);
        joint_lu_first_.push_back(static_cast<int>(joint_lu_.size()));
        const double* W = joint_rows_.W(g);
        joint_lu_.insert(joint_lu_.end(), W, W + dim * dim);
        double* lu = joint_lu_.data() + joint_lu_first_.back();
        const double extra = joint_eps * joint_rows_.trace(g, dim);
        for (int k = 0; k < dim; ++k) lu[k * (dim + 1)] += extra;
        bool direct = dim > 1 && factor_dense(lu, joint_pivot_.data() + G.row[g], dim);
        for (int j = G.row[g]; j < G.row[g + 1]; ++j)
            direct = direct && problem.lower[j] == -infinity && problem.upper[j] == infinity;
        joint_direct_.push_back(direct);
    }
}

// v = A^-1 (r + G' lambda + H' p) afresh: the running sums of the sweeps drift.
void NsgsSolver::refresh_velocity(const StepProblem& problem, StepSolution& x) {
    impulse_ = problem.r;
    problem.joints.jacobian.add_transpose_product(problem.nodes(), x.lambda, impulse_);
    problem.contacts.jacobian.add_transpose_product(problem.nodes(), x.p, impulse_);
    inverse_.apply(impulse_, x.v);
}

void NsgsSolver::sweep_joints(const StepProblem& problem, StepSolution& x) {
    const BlockRows& G = problem.joints.jacobian;
    const Nodes& nodes = problem.nodes();
    for (int g = 0; g < G.groups(); ++g) {
        const int first = G.row[g], dim = G.dim(g);
        const auto velocity = [&](int k) {
            double w = problem.T[first + k] * x.lambda[first + k] - problem.b[first + k];
            for (const BlockRows::Block& b : G.blocks_of(g)) {
                const int d = nodes.dof(b.node);
                const double* j = G.values.data() + b.offset + k * d;
                const double* v = x.v.data() + nodes.start[b.node];
                for (int i = 0; i < d; ++i) w += j[i] * v[i];
            }
            return w;
        };
        if (joint_direct_[g] && dim <= 16) {
            double change[16];
            for (int k = 0; k < dim; ++k) change[k] = -velocity(k);
            solve_dense(joint_lu_.data() + joint_lu_first_[g], joint_pivot_.data() + first, change, dim);
            for (int k = 0; k < dim; ++k) x.lambda[first + k] += change[k];
            joint_rows_.push(g, change, x.v.data());
            continue;
        }
        for (int k = 0; k < dim; ++k) {
            const double W = joint_rows_.W(g)[k * (dim + 1)];
            if (!(W > 0)) continue;
            const double before = x.lambda[first + k];
            const double after =
                std::clamp(before - velocity(k) / W, problem.lower[first + k], problem.upper[first + k]);
            x.lambda[first + k] = after;
            joint_rows_.push_row(g, k, after - before, x.v.data());
        }
    }
}

int NsgsSolver::sweep_contacts(const StepProblem& problem, bool all, StepSolution& x) {
    const BlockRows& H = problem.contacts.jacobian;
    const double still = still_share * options.tol;
    int changed = 0;
    order_.sweep(all, [&](int i) {
        const int first = H.row[i], dim = H.dim(i);
        const double* W = contact_rows_.W(i);
        double* p = x.p.data() + first;
        double q[3] = {0, 0, 0}, next[3] = {0, 0, 0}, change[3] = {0, 0, 0};
        seen_velocity(problem, i, W, x.v.data(), p, q);
        std::copy_n(p, dim, next);
        const double mu = problem.contacts.friction[i];
        const int facets = problem.contacts.facets[i];
        const ContactMode mode = solve_contact(dim, mu, facets, W, q, next);
        if (options.relaxation != 1) {
            for (int r = 0; r < dim; ++r) next[r] = p[r] + options.relaxation * (next[r] - p[r]);
            project_cone(dim, mu, facets, next);
        }
        double moved = 0;
        for (int r = 0; r < dim; ++r) {
            change[r] = next[r] - p[r];
            moved = std::max(moved, std::abs(change[r]) * W[r * (dim + 1)]);
            p[r] = next[r];
        }
        if (moved != 0) contact_rows_.push(i, change, x.v.data());
        changed += mode != x.modes[i];
        x.modes[i] = mode;
        return moved > still;
    });
    return changed;
}

void NsgsSolver::sweep(const StepProblem& problem, StepSolution& solution, int sweeps, SolveReport& report) {
    if (!inverse_.factor(problem.A)) {
        report = {.status = Status::diverged,
                  .residual = residual(problem, solution, residual_work_),
                  .solver = "nsgs",
                  .reason = "the matrix A is singular"};
        return;
    }
    joint_rows_.prepare(problem.joints.jacobian, problem.T, problem.nodes(), inverse_);
    contact_rows_.prepare(problem.contacts.jacobian, problem.S, problem.nodes(), inverse_);
    factor_joint_groups(problem);
    order_.start(problem.contacts.size(), options.shuffle);
    impulse_.resize(problem.nodes().nv());
    copy_solution(solution, x_);
    if (!x_.lambda.allFinite() || !x_.p.allFinite()) {
        x_.lambda.setZero();
        x_.p.setZero();
    }
    refresh_velocity(problem, x_);

    report.status = Status::not_converged;
    report.residual = looks == Looks::in_between ? residual(problem, solution, residual_work_) : Residual{.dynamics = infinity};
    double best = report.residual.max();
    if (std::isnan(best)) best = infinity;
    int settled = 0, extra = 0, next_look = 1, next_polish = 3;  // polish when modes are settled, ever more rarely
    for (int sweep = 1; sweep <= sweeps; ++sweep) {
        sweep_joints(problem, x_);
        settled = sweep_contacts(problem, !options.freeze || sweep >= next_look, x_) == 0 ? settled + 1 : 0;
        ++report.iterations;
        if (meter) meter->add_work(contact_work * problem.contacts.size());
        const bool last = sweep == sweeps || (meter && meter->used_up());
        if ((sweep < next_look || looks != Looks::in_between) && !last) continue;
        next_look = sweep + (sweep < 3 ? 1 : options.check_every);

        refresh_velocity(problem, x_);
        if (looks == Looks::never) {
            copy_solution(x_, solution);
            break;
        }
        const Residual now = residual(problem, x_, residual_work_);
        if (std::isnan(now.max())) {
            if (report.status != Status::ok) report.status = Status::diverged;
            break;
        }
        if (now.max() < best) {
            best = now.max();
            report.residual = now;
            copy_solution(x_, solution);
        }
        const bool done = best <= options.tol;
        if (options.polish && (done || last || (settled >= 2 && sweep >= next_polish))) {
            copy_solution(x_, trial_);
            Residual polished;
            modes_.improve(problem, trial_, options.tol, polished);
            if (polished.max() < best) {
                best = polished.max();
                report.residual = polished;
                copy_solution(trial_, solution);
            }
            next_polish = 2 * sweep;
        }
        // Below the tolerance a few more looks may still let the mode solve make stiction exact.
        if (best <= options.tol) {
            report.status = Status::ok;
            if (!options.polish || best <= exact_share * options.tol || ++extra > extra_looks) break;
        }
        if (last) break;
    }
    solution.warm = true;
    report.solver = "nsgs";
    report.reason = report.status == Status::ok ? ""
                    : report.status == Status::diverged
                        ? "the sweeps left the range of numbers"
                        : "sweeps used up; try solver auto, or lemke with a polygon cone";
}

SolveReport NsgsSolver::solve(const StepProblem& problem, StepSolution& solution) {
    solution.size_to(problem);
    if (!solution.warm) reset_solution(solution);
    SolveReport report;
    report.solver = "nsgs";
    if (options.polish && (solution.warm || problem.contacts.size() == 0)) {
        if (modes_.improve(problem, solution, options.tol, report.residual)) {
            solution.warm = true;
            return report;
        }
    }
    sweep(problem, solution, options.max_sweeps, report);
    return report;
}

void NsgsSolver::sweep_local(const DelassusProblem& problem, DelassusSolution& solution, int sweeps, bool foresee,
                             SolveReport& report) {
    local_.prepare(problem, options.shuffle);
    local_x_.p = solution.p;
    local_x_.modes.assign(solution.modes.begin(), solution.modes.end());
    const double still = still_share * options.tol * problem.q.norm();
    double best = relative_error(problem, solution.p), last = best;
    if (std::isnan(best)) {
        local_x_.p.setZero();
        best = last = infinity;
    }
    for (int sweep = 1; sweep <= sweeps; ++sweep) {
        const bool look = sweep <= 2 || sweep % local_look == 0 || sweep == sweeps;
        local_.sweep(problem, options.relaxation, still, look || !options.freeze, local_x_);
        ++report.iterations;
        if (!look) continue;
        const double now = relative_error(problem, local_x_.p);
        if (std::isnan(now)) break;
        if (now < best) {
            best = now;
            solution.p = local_x_.p;
            solution.modes.assign(local_x_.modes.begin(), local_x_.modes.end());
        }
        if (best <= options.tol) break;
        if (foresee && sweep >= foresee_after) {
            const double digits = std::log(last / now) / local_look;  // per sweep
            if (!(digits > 0) || std::log(now / options.tol) / digits > sweeps - sweep) break;
        }
        last = now;
    }
    solution.warm = true;
    report.solver = "nsgs";
    report.residual.contacts = best;
    report.status = best <= options.tol ? Status::ok : Status::not_converged;
    report.reason = report.status == Status::ok ? "" : "sweeps used up; try interior-point or auto";
}

SolveReport NsgsSolver::solve_local(const DelassusProblem& problem, DelassusSolution& solution) {
    solution.size_to(problem);
    if (!solution.warm) solution.p.setZero();
    SolveReport report;
    sweep_local(problem, solution, options.max_sweeps, false, report);
    return report;
}

}  // namespace stickslip
