#include "solvers/mode_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "problems/cones.hpp"

namespace stickslip {

namespace {

// Regularisation relative to the Delassus diagonal. Larger: more refinements until stiction is exact. Smaller:
// the stiff part of K drowns the mass matrix (1e-16 / eps digits are left in the free directions).
constexpr double relative_eps = 1e-8;

// Signs within this relative distance of zero are rounding; without it modes flip for ever at exact borders.
constexpr double sign_slack = 1e-12;

// Contacts from which threads share the products of a solve, and bodies of one part of them: some tens of microseconds.
constexpr int shared_contacts = 500, bodies_of_part = 100;

constexpr int max_refinements = 12;  // linear solves with unchanged modes
constexpr int max_projections = 40;  // of one repair; a feasible p is found in 2 to 20 or hardly ever

// Contacts above which rounds that do not settle are given up: each costs a factorisation that other rungs make better use of. Where one
// contact in 20 still changes and the changes do not fall by 0.3 in a round, 6 of 2670 calls on hit walls found the modes after all, none
// of 768 on spheres; three quarters of all factorisations are saved there. In smaller islands rounds find them often, and cost little.
constexpr int many_contacts = 100;
constexpr double many_changes = 0.05, least_fall = 0.7;

bool unsettled(int contacts, int changes, int fewest) {
    return contacts > many_contacts && changes > many_changes * contacts && changes > least_fall * fewest;
}

int friction_tangents(const StepProblem& problem, int i) {
    const int dim = problem.contacts.jacobian.dim(i);
    if (dim == 1 || problem.contacts.friction[i] <= 0) return 0;
    return dim == 2 || problem.contacts.facets[i] == 2 ? 1 : 2;
}

}  // namespace

// The largest of the velocities at hand, the free ones r/A_kk and the targets.
double ModeSolver::velocity_scale(const StepProblem& problem) const {
    double scale = system_.free_speed();
    for (int k = 0; k < x_.v.size(); ++k) scale = std::max(scale, std::abs(x_.v[k]));
    for (int i = 0; i < problem.c.size(); ++i) scale = std::max(scale, std::abs(problem.c[i]));
    for (int i = 0; i < problem.b.size(); ++i) scale = std::max(scale, std::abs(problem.b[i]));
    return scale;
}

void ModeSolver::start(const StepProblem& problem, const StepSolution& solution) {
    const int nc = problem.contacts.size(), m = problem.joints.size(), rows = problem.contacts.jacobian.rows();
    system_.analyse(problem);
    if (nc >= shared_contacts) columns_.list(problem.contacts.jacobian, problem.nodes().size());
    x_.v = solution.v;
    x_.lambda = solution.lambda;
    x_.p = solution.p;
    x_.modes.assign(solution.modes.begin(), solution.modes.end());
    f_.resize(problem.nodes().nv());
    for (RowVec* v : {&joint_q_, &w_, &dw_}) v->resize(m);
    for (RowVec* v : {&contact_q_, &u_, &du_, &before_}) v->resize(rows);
    joint_B_.assign(static_cast<std::size_t>(m), 0.0);
    contact_B_.assign(static_cast<std::size_t>(nc * StepSystem::block), 0.0);
    factored_ = false;

    row_state_.resize(static_cast<std::size_t>(m));
    for (int j = 0; j < m; ++j) {
        row_state_[j] = x_.lambda[j] <= problem.lower[j] ? -1 : x_.lambda[j] >= problem.upper[j] ? 1 : 0;
    }
    contacts_.resize(static_cast<std::size_t>(nc));
    for (int i = 0; i < nc; ++i) {
        Contact& contact = contacts_[i];
        contact.tangents = static_cast<std::uint8_t>(friction_tangents(problem, i));
        contact.law = x_.modes[i] == ContactMode::open ? Law::open : Law::stick;
        if (x_.modes[i] != ContactMode::slip || contact.tangents == 0) continue;
        // The direction of sliding from the old impulse, its magnitude made consistent by the first solve.
        const double* p = x_.p.data() + problem.contacts.jacobian.row[i];
        if (contact.tangents == 1) {
            contact.law = Law::slide;
            contact.direction = Vec2(p[1] < 0 ? -1 : 1, 0);
            continue;
        }
        const double size = std::hypot(p[1], p[2]);
        if (size == 0) continue;
        const Vec2 d = Vec2(p[1], p[2]) / size;
        contact.direction = d;
        contact.law = Law::slide;
        if (is_disc(problem.contacts.facets[i])) continue;
        const Polygon& section = polygon(problem.contacts.facets[i]);
        int facet = 0;
        for (int j = 1; j < section.facets; ++j)
            if (section.outward[j].dot(d) > section.outward[facet].dot(d)) facet = j;
        // Clearly between the two corners of a facet, or at one of them.
        const Vec2 o = section.outward[facet];
        const double along = o[0] * p[2] - o[1] * p[1];
        const bool between = std::abs(along) < (1 - 1e-6) * problem.contacts.friction[i] * p[0] * section.half_edge;
        contact.law = between ? Law::edge : Law::corner;
        contact.face = between || along < 0 ? facet : (facet + 1) % section.facets;
    }
    if (forget_impulses) x_.p.setZero();
}

void ModeSolver::evaluate(const StepProblem& problem) {
    problem.joints.jacobian.product(problem.nodes(), x_.v, w_);
    for (int j = 0; j < w_.size(); ++j) w_[j] += problem.T[j] * x_.lambda[j] - problem.b[j];
    problem.contacts.jacobian.product(problem.nodes(), x_.v, u_);
    for (int i = 0; i < u_.size(); ++i) u_[i] += problem.S[i] * x_.p[i] + problem.c[i];
}

bool ModeSolver::linearise(const StepProblem& problem) {
    for (int j = 0; j < w_.size(); ++j) {
        if (row_state_[j] == 0) {
            const double inverse = 1 / (problem.T[j] + relative_eps * system_.joint_scale()[j]);
            joint_B_[j] = inverse;
            joint_q_[j] = -inverse * w_[j];
        } else {
            joint_B_[j] = 0;
            joint_q_[j] = (row_state_[j] < 0 ? problem.lower[j] : problem.upper[j]) - x_.lambda[j];
        }
    }
    const BlockRows& H = problem.contacts.jacobian;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const Contact& contact = contacts_[i];
        const int first = H.row[i], dim = H.dim(i);
        const double* S = problem.S.data() + first;
        const double* u = u_.data() + first;
        const double* p = x_.p.data() + first;
        double* B = contact_B_.data() + StepSystem::block * i;
        double* q = contact_q_.data() + first;
        for (int k = 0; k < dim * dim; ++k) B[k] = 0;
        for (int k = 0; k < dim; ++k) q[k] = -p[k];  // open, and rows on which no force acts
        if (contact.law == Law::open) continue;

        const double weight = system_.contact_scale()[i], eps = relative_eps * weight;
        const double mu = problem.contacts.friction[i];
        const double B_N = 1 / (S[0] + eps);
        B[0] = B_N;
        q[0] = -B_N * u[0];
        if (contact.law == Law::stick) {
            for (int k = 1; k <= contact.tangents; ++k) {
                const double B_T = 1 / (S[k] + eps);
                B[k + k * dim] = B_T;
                q[k] = -B_T * u[k];
            }
        } else if (contact.tangents == 1) {
            const double d = mu * contact.direction[0];
            B[1] = d * B_N;
            q[1] = d * (p[0] + q[0]) - p[1];
        } else {
            // dp_T = (target along o) + (law along e); o is the direction of p_T (or the facet's normal).
            Vec2 o = contact.direction, e;
            const Vec2 p_T(p[1], p[2]), u_T(u[1], u[2]);
            double factor = mu, q_e = 0, B_e = 0;
            const double S_T = std::max(S[1], S[2]);
            if (contact.law == Law::slide) {
                // p_T = mu p_N z/|z|, z = p_T - rho u_T [Alart-Curnier]: with beta = mu p_N/|z|, across o
                // (1 - beta + beta rho S) dp = -p - beta rho H dv.
                const double rho = 1 / weight;
                const Vec2 z = p_T - rho * u_T;
                const double size = z.norm();
                if (size > 0) o = z / size;
                e = Vec2(-o[1], o[0]);
                const double beta = size > 0 ? std::clamp(mu * p[0] / size, 0.0, 1 - relative_eps) : 0.0;
                const double inverse = 1 / (1 - beta + beta * rho * S_T);
                q_e = -inverse * p_T.dot(e);
                B_e = inverse * beta * rho;
            } else if (contact.law == Law::corner) {
                o = polygon(problem.contacts.facets[i]).corner[contact.face];
                e = Vec2(-o[1], o[0]);
                q_e = -p_T.dot(e);
            } else {
                const Polygon& section = polygon(problem.contacts.facets[i]);
                o = section.outward[contact.face];
                e = Vec2(-o[1], o[0]);
                factor = mu * section.apothem;
                B_e = 1 / (S_T + eps);
                q_e = -B_e * u_T.dot(e);
            }
            const double q_o = factor * (p[0] + q[0]) - p_T.dot(o);
            for (int k = 0; k < 2; ++k) {
                q[1 + k] = q_o * o[k] + q_e * e[k];
                B[1 + k] = factor * o[k] * B_N;
                for (int l = 0; l < 2; ++l) B[1 + k + (1 + l) * 3] = B_e * e[k] * e[l];
            }
        }
    }
    return joint_B_ != factored_joint_B_ || contact_B_ != factored_contact_B_;
}

// f += H' p. Of many contacts body by body, shared out among threads.
void ModeSolver::add_impulses(const StepProblem& problem) {
    const BlockRows& H = problem.contacts.jacobian;
    if (H.groups() < shared_contacts) return H.add_transpose_product(problem.nodes(), x_.p, f_);
    each_in_parallel(problem.nodes().size(), bodies_of_part,
                     [&](int n) { columns_.add_transpose_product(H, problem.nodes(), n, x_.p.data(), f_.data()); });
}

double ModeSolver::correct(const StepProblem& problem) {
    // f = r + G' (lambda + q_j) + H' (p + q) - A v, then dv, and the impulses from dv.
    f_ = problem.r;
    problem.A.add_product(-1, x_.v, f_);
    x_.lambda += joint_q_;
    x_.p += contact_q_;
    problem.joints.jacobian.add_transpose_product(problem.nodes(), x_.lambda, f_);
    add_impulses(problem);
    system_.solve(f_);
    ++iterations_;

    problem.joints.jacobian.product(problem.nodes(), f_, dw_);
    for (int j = 0; j < dw_.size(); ++j) x_.lambda[j] -= joint_B_[j] * dw_[j];
    const BlockRows& H = problem.contacts.jacobian;
    H.product(problem.nodes(), f_, du_);
    impulse_ = 0;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const int first = H.row[i], dim = H.dim(i);
        const double* B = contact_B_.data() + StepSystem::block * i;
        for (int r = 0; r < dim; ++r)
            for (int s = 0; s < dim; ++s) x_.p[first + r] -= B[r + s * dim] * du_[first + s];
        impulse_ = std::max(impulse_, std::abs(x_.p[first]));
    }
    double step = 0;
    for (int k = 0; k < f_.size(); ++k) {
        x_.v[k] += f_[k];
        step = std::max(step, std::abs(f_[k]));
    }
    return std::isfinite(step) ? step : infinity;
}

bool ModeSolver::classify(const StepProblem& problem, int i, double slack_share, Contact& contact) const {
    const int first = problem.contacts.jacobian.row[i];
    const double* u = u_.data() + first;
    const double* p = x_.p.data() + first;
    const double rho = 1 / system_.contact_scale()[i];
    const double noise = slack_share * (impulse_ + rho * scale_);
    const double z_N = p[0] - rho * u[0];
    const Law before = contact.law;
    if (before == Law::open ? z_N <= noise : z_N < -noise) {
        contact.law = Law::open;
        return before != Law::open;
    }
    if (contact.tangents == 0) {
        contact.law = Law::stick;
        return before != Law::stick;
    }
    const double reach = problem.contacts.friction[i] * std::max(z_N, 0.0);
    const double slack = (before == Law::stick ? 1 : -1) * (noise + slack_share * reach);
    if (contact.tangents == 1) {
        const double z = p[1] - rho * u[1];
        if (std::abs(z) <= reach + slack) {
            contact.law = Law::stick;
            return before != Law::stick;
        }
        const double side = z < 0 ? -1 : 1;
        const bool same = before == Law::slide && contact.direction[0] == side;
        contact.law = Law::slide;
        contact.direction = Vec2(side, 0);
        return !same;
    }
    const Vec2 z(p[1] - rho * u[1], p[2] - rho * u[2]);
    if (is_disc(problem.contacts.facets[i])) {
        const double size = z.norm();
        if (size <= reach + slack) {
            contact.law = Law::stick;
            return before != Law::stick;
        }
        contact.law = Law::slide;
        contact.direction = z / size;
        return before != Law::slide;
    }
    // Nearest point of the scaled polygon: inside, on an edge, or a corner.
    const Polygon& section = polygon(problem.contacts.facets[i]);
    int facet = 0;
    for (int j = 1; j < section.facets; ++j)
        if (section.outward[j].dot(z) > section.outward[facet].dot(z)) facet = j;
    if (section.outward[facet].dot(z) <= reach * section.apothem + slack) {
        contact.law = Law::stick;
        return before != Law::stick;
    }
    const Vec2 o = section.outward[facet];
    const double along = o[0] * z[1] - o[1] * z[0], half = reach * section.half_edge;
    const int face_before = contact.face;
    // A corner keeps its place while z is between the normals of its two edges, up to rounding.
    const double hold = noise + slack_share * reach;
    if (std::abs(along) <= half - (before == Law::corner ? hold : -hold)) {
        contact.law = Law::edge;
        contact.face = facet;
    } else {
        contact.law = Law::corner;
        contact.face = along > 0 ? (facet + 1) % section.facets : facet;
    }
    return before != contact.law || face_before != contact.face;
}

int ModeSolver::update_laws(const StepProblem& problem) {
    int changes = 0;
    for (int i = 0; i < problem.contacts.size(); ++i) changes += classify(problem, i, sign_slack, contacts_[i]);
    return changes;
}

int ModeSolver::update_rows(const StepProblem& problem) {
    int changes = 0;
    for (int j = 0; j < w_.size(); ++j) {
        const double lower = problem.lower[j], upper = problem.upper[j];
        if (lower == -infinity && upper == infinity) continue;
        const double rho = 1 / system_.joint_scale()[j], z = x_.lambda[j] - rho * w_[j];
        const double noise = sign_slack * (std::abs(x_.lambda[j]) + rho * scale_);
        signed char state = row_state_[j];
        if (lower == upper)
            state = -1;
        else if (z < lower - noise)
            state = -1;
        else if (z > upper + noise)
            state = 1;
        else if (z > lower + noise && z < upper - noise)
            state = 0;
        changes += state != row_state_[j];
        row_state_[j] = state;
    }
    return changes;
}

bool ModeSolver::inside(const StepProblem& problem, double slack_share) const {
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (contacts_[i].law == Law::open) continue;
        Contact contact = contacts_[i];
        if (classify(problem, i, slack_share, contact)) return false;
    }
    return true;
}

// The velocities are right but p is outside the cone: project p onto the cones, somewhat too far, and let the
// linear solve bring it back onto the affine set of p that give the same velocities. Ends inside the cones when the
// two sets meet with some room; ends at once when p is unique (the correction then undoes the projection).
bool ModeSolver::repair(const StepProblem& problem) {
    constexpr double overshoot = 1.6;  // 1 only reaches the border in the limit, 2 may circle
    kept_p_ = x_.p;
    kept_lambda_ = x_.lambda;
    kept_v_ = x_.v;
    const BlockRows& H = problem.contacts.jacobian;
    for (int k = 0; k < max_projections; ++k) {
        before_ = x_.p;
        double outside = 0;
        for (int i = 0; i < problem.contacts.size(); ++i) {
            if (contacts_[i].law == Law::open) continue;
            double* p = x_.p.data() + H.row[i];
            double nearest[3] = {0, 0, 0};
            for (int r = 0; r < H.dim(i); ++r) nearest[r] = p[r];
            project_cone(H.dim(i), problem.contacts.friction[i], problem.contacts.facets[i], nearest);
            for (int r = 0; r < H.dim(i); ++r) {
                outside = std::max(outside, std::abs(nearest[r] - p[r]));
                p[r] += overshoot * (nearest[r] - p[r]);
            }
        }
        evaluate(problem);
        linearise(problem);  // the laws have not changed: q only, the factors stay
        correct(problem);
        evaluate(problem);
        if (inside(problem, 0)) return true;
        double moved = 0;
        for (int r = 0; r < x_.p.size(); ++r) moved = std::max(moved, std::abs(x_.p[r] - before_[r]));
        if (!(moved > 1e-3 * outside)) break;
    }
    if (inside(problem, sign_slack)) return true;
    x_.p = kept_p_;
    x_.lambda = kept_lambda_;
    x_.v = kept_v_;
    evaluate(problem);
    return false;
}

// What the laws say exactly is made exact: no force in open contacts, friction on the border of its cone.
void ModeSolver::finish(const StepProblem& problem) {
    const BlockRows& H = problem.contacts.jacobian;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const int dim = H.dim(i);
        double* p = x_.p.data() + H.row[i];
        const Contact& contact = contacts_[i];
        x_.modes[i] = contact.law == Law::open                                          ? ContactMode::open
                      : contact.law == Law::stick && (contact.tangents > 0 || dim == 1) ? ContactMode::stick
                                                                                        : ContactMode::slip;
        project_cone(dim, problem.contacts.friction[i], problem.contacts.facets[i], p);
    }
    for (int j = 0; j < x_.lambda.size(); ++j)
        x_.lambda[j] = std::clamp(x_.lambda[j], problem.lower[j], problem.upper[j]);
}

void ModeSolver::guess(const StepProblem& problem, StepSolution& solution) {
    solution.lambda.setZero();
    solution.p.setZero();
    inverse_.factor(problem.A);
    inverse_.apply(problem.r, solution.v);
    const double rounding = solution.v.size() > 0 ? 1e-12 * solution.v.cwiseAbs().maxCoeff() : 0.0;
    const BlockRows& H = problem.contacts.jacobian;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        double u_N = problem.c[H.row[i]];
        for (const BlockRows::Block& b : H.blocks_of(i))
            for (int k = 0; k < problem.nodes().dof(b.node); ++k)
                u_N += H.values[b.offset + k] * solution.v[problem.nodes().start[b.node] + k];
        solution.modes[i] = u_N <= rounding ? ContactMode::stick : ContactMode::open;
    }
}

bool ModeSolver::improve(const StepProblem& problem, StepSolution& solution, double tol, Residual& res) {
    iterations_ = factorisations_ = 0;
    start(problem, solution);
    evaluate(problem);
    int rounds = 0, idle = 0, settled = 0, repairs = 0, fewest = std::numeric_limits<int>::max();
    double last_step = infinity;
    bool usable = true;
    while (true) {
        if (linearise(problem) || !factored_) {
            if (meter && meter->used_up(cost())) {
                usable = factored_;
                break;
            }
            if (!system_.factor(problem, joint_B_, contact_B_)) {
                usable = false;
                break;
            }
            factored_ = true;
            ++factorisations_;
            if (meter) meter->add(1);
            factored_joint_B_.assign(joint_B_.begin(), joint_B_.end());
            factored_contact_B_.assign(contact_B_.begin(), contact_B_.end());
        }
        const double step = correct(problem);
        if (step == infinity) {
            usable = false;
            break;
        }
        evaluate(problem);
        scale_ = velocity_scale(problem);

        // A p outside the cone need not mean a wrong mode when the closed contacts are redundant.
        const bool exact = step <= 1e-6 * scale_ || settled > 0;
        if (exact && repairs < 2 && !inside(problem, sign_slack)) {
            ++repairs;
            if (repair(problem)) {
                ++settled;
                last_step = infinity;
                continue;
            }
        }
        const int changes = update_laws(problem) + update_rows(problem);
        if (changes > 0) {
            idle = changes < fewest ? 0 : idle + 1;
            if (++rounds > max_rounds || unsettled(problem.contacts.size(), changes, fewest) || (idle >= max_idle && changes > 1)) break;
            fewest = std::min(fewest, changes);
            settled = 0;
            last_step = infinity;
            continue;
        }
        ++settled;
        if (settled >= 2 && (step <= 1e-16 * scale_ || (settled > 3 && step > 0.25 * last_step))) break;
        if (settled >= max_refinements) break;
        last_step = step;
    }
    if (usable) {
        finish(problem);
        x_.warm = true;
        res = residual(problem, x_, residual_work_);
    }
    // What came in needs judging only when it could be the better one; far below tol both are exact.
    if (!usable || (!forget_impulses && !(res.max() <= 1e-3 * tol))) {
        const Residual came_in =
            usable ? residual_again(problem, solution, residual_work_) : residual(problem, solution, residual_work_);
        if (!usable || (!(res.max() < came_in.max()) && !std::isnan(came_in.max()))) {
            res = came_in;
            return res.max() <= tol;
        }
    }
    solution.v = x_.v;
    solution.lambda = x_.lambda;
    solution.p = x_.p;
    solution.modes.assign(x_.modes.begin(), x_.modes.end());
    solution.warm = true;
    return res.max() <= tol;
}

}  // namespace stickslip
