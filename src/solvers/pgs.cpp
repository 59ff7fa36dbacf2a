#include "solvers/pgs.hpp"

#include <algorithm>
#include <cmath>

#include "math/dense_lu.hpp"
#include "problems/cones.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

// Proximal part of a contact's own block, relative to its trace: contacts that joints hold in a direction stay solvable.
constexpr double block_eps = 1e-12;

constexpr double half_root = 0.70710678118654752440;  // cos 45 degrees

int friction_tangents(const StepProblem& problem, int i) {
    const int dim = problem.contacts.jacobian.dim(i);
    if (dim == 1 || problem.contacts.friction[i] <= 0) return 0;
    return dim == 2 || problem.contacts.facets[i] == 2 ? 1 : 2;
}

// p_T shortened to the border of its section; its direction stays.
void shorten(int tangents, int facets, double reach, double* p) {
    if (tangents == 1) {
        p[1] = std::clamp(p[1], -reach, reach);
        return;
    }
    double size = 0;
    if (is_disc(facets)) {
        size = std::hypot(p[1], p[2]);
    } else {
        const Polygon& section = polygon(facets);
        for (const Vec2& o : section.outward) size = std::max(size, (o[0] * p[1] + o[1] * p[2]) / section.apothem);
    }
    if (size <= reach) return;
    p[1] *= reach / size;
    p[2] *= reach / size;
}

ContactMode mode_of(int tangents, int dim, int facets, double reach, const double* p) {
    if (!(p[0] > 0)) return ContactMode::open;
    if (tangents == 0) return dim == 1 ? ContactMode::stick : ContactMode::slip;
    double test[3] = {p[0], p[1], tangents == 2 ? p[2] : 0.0};
    shorten(tangents, facets, reach * (1 - 1e-12), test);
    return test[1] != p[1] || (tangents == 2 && test[2] != p[2]) ? ContactMode::slip : ContactMode::stick;
}

}  // namespace

PgsSolver::PgsSolver(const PgsOptions& options) : options_(options) {
    if (!(options_.relaxation > 0 && options_.relaxation < 2)) throw Error("relaxation of pgs must lie in (0, 2)");
    if (!(options_.tol > 0)) throw Error("tol of pgs must be positive");
    if (options_.check_every < 1 || options_.max_sweeps < 0) throw Error("sweep counts of pgs must be positive");
}

bool PgsSolver::keep_history(std::vector<SweepRecord>* history) {
    history_ = history;
    return true;
}

bool PgsSolver::holds(const StepProblem& problem, int i) const {
    return options_.variant.index != all_separate || friction_tangents(problem, i) < 2 ||
           problem.contacts.facets[i] == 4;
}

// v = A^-1 (r + G' lambda + H' p) afresh: the running sums of the sweeps drift.
void PgsSolver::refresh_velocity(const StepProblem& problem) {
    impulse_ = problem.r;
    problem.joints.jacobian.add_transpose_product(problem.nodes(), x_.lambda, impulse_);
    problem.contacts.jacobian.add_transpose_product(problem.nodes(), x_.p, impulse_);
    inverse_.apply(impulse_, x_.v);
}

void PgsSolver::sweep_joints(const StepProblem& problem) {
    const BlockRows& G = problem.joints.jacobian;
    for (int g = 0; g < G.groups(); ++g) {
        const int first = G.row[g], dim = G.dim(g);
        for (int k = 0; k < dim; ++k) {
            const double W = joint_rows_.W(g)[k * (dim + 1)];
            if (!(W > 0)) continue;
            const int j = first + k;
            double w = problem.T[j] * x_.lambda[j] - problem.b[j];
            for (const BlockRows::Block& b : G.blocks_of(g)) {
                const int d = problem.nodes().dof(b.node);
                const double* row = G.values.data() + b.offset + k * d;
                const double* v = x_.v.data() + problem.nodes().start[b.node];
                for (int l = 0; l < d; ++l) w += row[l] * v[l];
            }
            const double before = x_.lambda[j];
            x_.lambda[j] = std::clamp(before - options_.relaxation * w / W, problem.lower[j], problem.upper[j]);
            joint_rows_.push_row(g, k, x_.lambda[j] - before, x_.v.data());
        }
    }
}

// u_i = H_i v + S_i p_i + c_i
void PgsSolver::velocity(const StepProblem& problem, int i, double* u) const {
    const BlockRows& H = problem.contacts.jacobian;
    const int first = H.row[i], dim = H.dim(i);
    for (int r = 0; r < dim; ++r) u[r] = problem.c[first + r] + problem.S[first + r] * x_.p[first + r];
    for (const BlockRows::Block& b : H.blocks_of(i)) {
        const int d = problem.nodes().dof(b.node);
        const double* row = H.values.data() + b.offset;
        const double* v = x_.v.data() + problem.nodes().start[b.node];
        for (int r = 0; r < dim; ++r, row += d)
            for (int k = 0; k < d; ++k) u[r] += row[k] * v[k];
    }
}

void PgsSolver::move(int i, int first, int dim, const double* next) {
    double change[3] = {0, 0, 0};
    bool moved = false;
    for (int r = 0; r < dim; ++r) {
        change[r] = next[r] - x_.p[first + r];
        moved = moved || change[r] != 0;
        x_.p[first + r] = next[r];
    }
    if (moved) contact_rows_.push(i, change, x_.v.data());
}

// p_N, then one tangent after the other along the axes of the box.
void PgsSolver::separate(const StepProblem& problem, int i) {
    const int first = problem.contacts.jacobian.row[i], dim = problem.contacts.jacobian.dim(i);
    const int tangents = friction_tangents(problem, i);
    const double* W = contact_rows_.W(i);
    const double* p = x_.p.data() + first;
    double u[3], next[3] = {0, 0, 0};
    velocity(problem, i, u);
    for (int r = 0; r < dim; ++r) next[r] = p[r];
    next[0] = W[0] > 0 ? std::max(0.0, p[0] - options_.relaxation * u[0] / W[0]) : p[0];
    move(i, first, dim, next);
    const double mu = problem.contacts.friction[i];
    const bool square = tangents == 2;  // polygon 4
    const double bound = (square ? mu * half_root : mu) * next[0];
    for (int k = 0; k < tangents; ++k) {
        const double e[2] = {square ? half_root : 1.0, square ? (k == 0 ? half_root : -half_root) : 0.0};
        double along_u = 0, along_p = 0, along_W = 0;
        velocity(problem, i, u);
        for (int a = 0; a < tangents; ++a) {
            along_u += e[a] * u[1 + a];
            along_p += e[a] * p[1 + a];
            for (int b = 0; b < tangents; ++b) along_W += e[a] * W[1 + a + (1 + b) * dim] * e[b];
        }
        const double target =
            std::clamp(along_W > 0 ? along_p - options_.relaxation * along_u / along_W : along_p, -bound, bound);
        for (int r = 0; r < dim; ++r) next[r] = p[r];
        for (int a = 0; a < tangents; ++a) next[1 + a] += (target - along_p) * e[a];
        move(i, first, dim, next);
    }
}

// All components as sticking; opened or shortened when that leaves the cone.
void PgsSolver::project(const StepProblem& problem, int i) {
    const int first = problem.contacts.jacobian.row[i], dim = problem.contacts.jacobian.dim(i);
    const int size = 1 + friction_tangents(problem, i);
    const double* W = contact_rows_.W(i);
    double u[3], next[3] = {0, 0, 0}, block[9];
    int pivot[3];
    velocity(problem, i, u);
    const double extra = block_eps * contact_rows_.trace(i, dim);
    for (int c = 0; c < size; ++c)
        for (int r = 0; r < size; ++r) block[r + c * size] = W[r + c * dim] + (r == c ? extra : 0.0);
    if (!factor_sized<0>(block, pivot, size)) return;  // nothing moves this contact
    solve_sized<0>(block, pivot, u, size);
    for (int r = 0; r < size; ++r) next[r] = x_.p[first + r] - options_.relaxation * u[r];
    if (!(next[0] > 0)) {
        for (double& x : next) x = 0;
    } else if (size > 1) {
        shorten(size - 1, problem.contacts.facets[i], problem.contacts.friction[i] * next[0], next);
    }
    move(i, first, dim, next);
}

// p_N alone, then the tangents together.
void PgsSolver::tangents(const StepProblem& problem, int i) {
    const int first = problem.contacts.jacobian.row[i], dim = problem.contacts.jacobian.dim(i);
    const int count = friction_tangents(problem, i);
    const double* W = contact_rows_.W(i);
    double u[3], next[3] = {0, 0, 0}, block[4];
    int pivot[2];
    velocity(problem, i, u);
    for (int r = 0; r < dim; ++r) next[r] = x_.p[first + r];
    next[0] = W[0] > 0 ? std::max(0.0, next[0] - options_.relaxation * u[0] / W[0]) : next[0];
    move(i, first, dim, next);
    if (count == 0) return;
    velocity(problem, i, u);
    const double extra = block_eps * contact_rows_.trace(i, dim);
    for (int c = 0; c < count; ++c)
        for (int r = 0; r < count; ++r) block[r + c * count] = W[1 + r + (1 + c) * dim] + (r == c ? extra : 0.0);
    if (factor_sized<0>(block, pivot, count)) {
        solve_sized<0>(block, pivot, u + 1, count);
        for (int r = 0; r < count; ++r) next[1 + r] -= options_.relaxation * u[1 + r];
    }
    shorten(count, problem.contacts.facets[i], problem.contacts.friction[i] * next[0], next);
    move(i, first, dim, next);
}

int PgsSolver::sweep_contacts(const StepProblem& problem) {
    int changed = 0;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (options_.variant.index == all_separate)
            separate(problem, i);
        else if (options_.variant.index == block_projection)
            project(problem, i);
        else
            tangents(problem, i);
        const double* p = x_.p.data() + problem.contacts.jacobian.row[i];
        const ContactMode mode = mode_of(friction_tangents(problem, i), problem.contacts.jacobian.dim(i),
                                         problem.contacts.facets[i], problem.contacts.friction[i] * p[0], p);
        changed += mode != x_.modes[i];
        x_.modes[i] = mode;
    }
    return changed;
}

SolveReport PgsSolver::solve(const StepProblem& problem, StepSolution& solution) {
    solution.size_to(problem);
    if (!solution.warm) reset_solution(solution);
    SolveReport report;
    report.solver = "pgs";
    if (history_) history_->clear();
    const auto refuse = [&](Status status, const char* reason) {
        report.status = status;
        report.residual = residual(problem, solution, residual_work_);
        report.reason = reason;
        return report;
    };
    for (int i = 0; i < problem.contacts.size(); ++i)
        if (!holds(problem, i))
            return refuse(Status::infeasible,
                          "variant all-separate of pgs holds boxes only: set contacts.cone: {polygon: 4}, or use "
                          "variant block-tangents");
    if (!inverse_.factor(problem.A)) return refuse(Status::diverged, "the matrix A is singular");

    joint_rows_.prepare(problem.joints.jacobian, problem.T, problem.nodes(), inverse_);
    contact_rows_.prepare(problem.contacts.jacobian, problem.S, problem.nodes(), inverse_);
    impulse_.resize(problem.nodes().nv());
    copy_solution(solution, x_);
    if (!x_.lambda.allFinite() || !x_.p.allFinite()) {
        x_.lambda.setZero();
        x_.p.setZero();
    }
    for (int j = 0; j < x_.lambda.size(); ++j)
        x_.lambda[j] = std::clamp(x_.lambda[j], problem.lower[j], problem.upper[j]);
    refresh_velocity(problem);

    report.status = Status::not_converged;
    report.residual = residual(problem, solution, residual_work_);
    double best = report.residual.max();
    if (std::isnan(best)) best = infinity;
    const auto take = [&](const StepSolution& x, const Residual& res) {
        if (!(res.max() < best)) return;
        best = res.max();
        report.residual = res;
        copy_solution(x, solution);
    };
    for (int sweep = 1; sweep <= options_.max_sweeps && best > options_.tol; ++sweep) {
        sweep_joints(problem);
        const int changed = sweep_contacts(problem);
        ++report.iterations;
        if (!history_ && sweep % options_.check_every != 0 && sweep != 1 && sweep < options_.max_sweeps) continue;
        refresh_velocity(problem);
        const Residual now = residual(problem, x_, residual_work_);
        if (history_) history_->push_back({sweep, now.max(), changed});
        if (std::isnan(now.max())) {
            report.status = Status::diverged;
            break;
        }
        take(x_, now);
    }
    if (options_.polish && report.status != Status::diverged && best > 1e-3 * options_.tol) {
        copy_solution(x_, trial_);
        Residual polished;
        modes_.improve(problem, trial_, options_.tol, polished);
        take(trial_, polished);
    }
    if (best <= options_.tol) report.status = Status::ok;
    solution.warm = true;
    report.reason = report.status == Status::ok         ? ""
                    : report.status == Status::diverged ? "the sweeps left the range of numbers"
                                                        : "sweeps stalled above the tolerance; use auto, or lemke "
                                                          "with a polygon cone";
    return report;
}

}  // namespace stickslip
