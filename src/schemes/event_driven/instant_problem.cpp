#include "schemes/event_driven/instant_problem.hpp"

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "problems/contact_ids.hpp"

namespace stickslip {

namespace {

constexpr double surely_slipping = 1e3;  // [m/s] more than tau times any acceleration

}  // namespace

bool gives_way(const JointRows& joints, int row) {
    const auto i = static_cast<std::size_t>(row);
    if (joints.kind[i] == RowKind::compliant || joints.kind[i] == RowKind::holonomic) return false;
    return joints.force_lower[i] > -infinity || joints.force_upper[i] < infinity;
}

void InstantProblem::fill(const System& system, double t, const VecX& q, const VecX& v,
                          const std::vector<Candidate>& candidates, const std::vector<signed char>& bound, Step& s) {
    constexpr double tau = instant_span;
    const Nodes& nodes = system.nodes();
    StepProblem& problem = s.problem;
    JointRows& joints = problem.joints;
    system.rows(t, q, *s.finder, joints, contacts_);
    system.curvature(t, q, v, *s.finder, joints, contacts_);
    Hv_.resize(contacts_.jacobian.rows());
    contacts_.jacobian.product(nodes, v, Hv_);

    // The contacts: those of the candidates, sliding ones in the frame of their slip.
    ContactRows& to = problem.contacts;
    to.clear();
    for (const Candidate& candidate : candidates) {
        const int c = find_contact(contacts_.id, candidate.id);
        if (c < 0) continue;
        const auto i = static_cast<std::size_t>(c);
        const int dim = contacts_.jacobian.dim(c), used = candidate.slides && dim > 1 ? 2 : dim;
        to.begin_contact(candidate.id, used, contacts_.gap[i], contacts_.friction[i], contacts_.restitution[i],
                         contacts_.facets[i], contacts_.tangential_restitution[i]);
        to.position.back() = contacts_.position[i];
        to.normal.back() = contacts_.normal[i];
        to.tangent.back() = contacts_.tangent[i];
        const int first = contacts_.jacobian.row[c];
        for (const BlockRows::Block& block : contacts_.jacobian.blocks_of(c)) {
            const auto H = contacts_.jacobian.values_of(c, block, nodes);
            auto out = to.jacobian.add_block(block.node, nodes.dof(block.node));
            if (used == dim && !candidate.slides) {
                out = H;
                continue;
            }
            out.row(0) = H.row(0);
            for (int k = 1; k < dim; ++k) out.row(1) += candidate.slip[k - 1] * H.row(k);
        }
        for (int k = 0; k < used; ++k) {
            double& curvature = to.curvature[to.jacobian.row[to.size() - 1] + k];
            curvature = contacts_.curvature[first + k];
            if (k == 0 || !candidate.slides) continue;
            curvature = candidate.slip[0] * contacts_.curvature[first + 1];
            if (dim > 2) curvature += candidate.slip[1] * contacts_.curvature[first + 2];
        }
    }

    system.mass(q, s.mass);
    problem.A = s.mass;
    problem.size_to_rows();
    system.forces(t, q, v, forces_);
    problem.r = tau * (forces_.potential + forces_.applied);
    s.mass.add_product(1, v, problem.r);
    gyroscopic_.shape_diagonal(nodes);
    system.add_gyroscopic(tau, v, gyroscopic_);
    gyroscopic_.add_product(1, v, problem.r);

    Gv_.resize(joints.size());
    joints.jacobian.product(nodes, v, Gv_);
    find_target_rates(system, t, q, v, joints, *s.finder, target_scratch_, rates_);
    for (int i = 0; i < joints.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        problem.b[i] = Gv_[i] + tau * (rates_[i] - joints.curvature[k]);
        if (joints.kind[k] == RowKind::compliant) {
            problem.lower[i] = problem.upper[i] =
                -tau * (joints.stiffness[k] * joints.value[k] + joints.damping[k] * Gv_[i]);
            continue;
        }
        problem.lower[i] = tau * joints.force_lower[k];
        problem.upper[i] = tau * joints.force_upper[k];
        if (k >= bound.size() || bound[k] == 0) continue;
        problem.lower[i] = problem.upper[i] = bound[k] > 0 ? problem.upper[i] : problem.lower[i];
    }
    for (int c = 0; c < to.size(); ++c) {
        const int first = to.jacobian.row[c], source = contacts_.jacobian.row[find_contact(contacts_.id, to.id[c])];
        const Candidate& candidate =
            *std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& x) { return x.id == to.id[c]; });
        for (int k = 0; k < to.jacobian.dim(c); ++k) {
            problem.c[first + k] = tau * to.curvature[first + k];
            if (k > 0 && candidate.slides) {
                double slip = candidate.slip[0] * Hv_[source + 1];
                if (contacts_.jacobian.dim(find_contact(contacts_.id, to.id[c])) > 2)
                    slip += candidate.slip[1] * Hv_[source + 2];
                problem.c[first + k] += surely_slipping - slip;
            } else {
                problem.c[first + k] -= Hv_[source + k];
            }
        }
    }
}

void InstantProblem::enter(const Motion& motion, const MotionPoint& p, Step& s) const {
    constexpr double tau = instant_span;
    StepSolution& solution = s.solution;
    solution.v = p.v + tau * p.a;
    motion.joint_forces(p, solution.lambda);
    solution.lambda *= tau;
    const ContactRows& contacts = s.problem.contacts;
    solution.p.setZero(contacts.jacobian.rows());
    solution.modes.assign(static_cast<std::size_t>(contacts.size()), ContactMode::open);
    for (int c = 0; c < contacts.size(); ++c) {
        const int i = motion.modes().find(contacts.id[c]);
        const Vec3 f = motion.contact_force(i, p);
        const int first = contacts.jacobian.row[c];
        solution.modes[c] = motion.modes().mode[i];
        solution.p[first] = tau * f[0];
        if (motion.modes().mode[i] == ContactMode::slip) {
            if (contacts.jacobian.dim(c) > 1) solution.p[first + 1] = -tau * contacts.friction[c] * f[0];
        } else {
            for (int k = 1; k < contacts.jacobian.dim(c); ++k) solution.p[first + k] = tau * f[k];
        }
    }
    solution.warm = true;
}

void InstantProblem::read(const std::vector<Candidate>& candidates, const std::vector<signed char>& bound,
                          const Step& s, Modes& modes) const {
    const StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    modes.contact.clear();
    modes.mode.clear();
    modes.slip.clear();
    for (int c = 0; c < contacts.size(); ++c) {
        const Candidate& candidate = *std::find_if(candidates.begin(), candidates.end(),
                                                   [&](const Candidate& x) { return x.id == contacts.id[c]; });
        ContactMode mode = s.solution.modes[c];
        if (mode == ContactMode::open || mode == ContactMode::impact) continue;
        const int first = contacts.jacobian.row[c], dim = contacts.jacobian.dim(c);
        Vec2 slip = candidate.slip;
        if (dim == 1) {
            mode = ContactMode::stick;  // as all solvers call a contact without friction
            slip.setZero();
        } else if (candidate.slides) {
            mode = ContactMode::slip;
        } else if (mode == ContactMode::slip) {
            // It begins to slide along its relative acceleration; where that vanishes, against the friction it has.
            Vec2 u = Vec2::Zero(), f = Vec2::Zero();
            for (const BlockRows::Block& block : contacts.jacobian.blocks_of(c)) {
                const auto H = contacts.jacobian.values_of(c, block, problem.nodes());
                for (int k = 1; k < dim; ++k)
                    for (int j = 0; j < H.cols(); ++j)
                        u[k - 1] += H(k, j) * s.solution.v[problem.nodes().start[block.node] + j];
            }
            for (int k = 1; k < dim; ++k) {
                u[k - 1] += problem.c[first + k];
                f[k - 1] = s.solution.p[first + k];
            }
            slip = u.norm() > 1e-12 ? u.normalized() : Vec2(-f.normalized());
            if (!(slip.norm() > 0.5)) mode = ContactMode::stick;
        }
        modes.contact.push_back(contacts.id[c]);
        modes.mode.push_back(mode);
        modes.slip.push_back(mode == ContactMode::slip ? slip : Vec2::Zero());
    }
    const JointRows& joints = problem.joints;
    modes.bound.assign(static_cast<std::size_t>(joints.size()), 0);
    for (int i = 0; i < joints.size(); ++i) {
        if (!gives_way(joints, i)) continue;
        const auto k = static_cast<std::size_t>(i);
        if (k < bound.size() && bound[k] != 0) {
            modes.bound[k] = bound[k];
        } else if (s.solution.lambda[i] <= problem.lower[i]) {
            modes.bound[k] = -1;
        } else if (s.solution.lambda[i] >= problem.upper[i]) {
            modes.bound[k] = 1;
        }
    }
}

}  // namespace stickslip
