#include "schemes/event_driven/instant_problem.hpp"

#include <algorithm>
#include <cmath>

#include "problems/contact_ids.hpp"

namespace stickslip {

namespace {

const Candidate& candidate_of(const std::vector<Candidate>& candidates, const ContactId& id) {
    return *std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& x) { return x.id == id; });
}

// The contacts of the candidates, sliding ones in the frame of their slip.
void select_contacts(const ContactRows& from, const std::vector<Candidate>& candidates, const Nodes& nodes,
                     ContactRows& to) {
    to.clear();
    for (const Candidate& candidate : candidates) {
        const int c = find_contact(from.id, candidate.id);
        if (c < 0) continue;
        const int dim = from.jacobian.dim(c), used = candidate.slides && dim > 1 ? 2 : dim;
        to.begin_contact(candidate.id, used, from.gap[c], from.friction[c], from.restitution[c], from.facets[c],
                         from.tangential_restitution[c]);
        to.position.back() = from.position[c];
        to.normal.back() = from.normal[c];
        to.tangent.back() = from.tangent[c];
        for (const BlockRows::Block& block : from.jacobian.blocks_of(c)) {
            const auto H = from.jacobian.values_of(c, block, nodes);
            auto out = to.jacobian.add_block(block.node, nodes.dof(block.node));
            if (used == dim && !candidate.slides) {
                out = H;
                continue;
            }
            out.row(0) = H.row(0);
            for (int k = 1; k < dim; ++k) out.row(1) += candidate.slip[k - 1] * H.row(k);
        }
        const int first = from.jacobian.row[c];
        for (int k = 0; k < used; ++k) {
            double& bias = to.bias[to.jacobian.row[to.size() - 1] + k];
            bias = from.bias[first + k];
            if (k == 0 || !candidate.slides) continue;
            bias = candidate.slip[0] * from.bias[first + 1];
            if (dim > 2) bias += candidate.slip[1] * from.bias[first + 2];
        }
    }
}

}  // namespace

bool gives_way(const BilateralRows& joints, int row) {
    const auto i = static_cast<std::size_t>(row);
    if (joints.kind[i] == RowKind::compliant || joints.kind[i] == RowKind::holonomic) return false;
    return joints.force_lower[i] > -infinity || joints.force_upper[i] < infinity;
}

void InstantProblem::fill(const System& system, const MotionPoint& p, const std::vector<Candidate>& candidates,
                          const std::vector<signed char>& bound, Step& s) {
    const double tau = s.tolerances.instant_span;
    StepProblem& problem = s.problem;
    problem.joints = p.joints;
    select_contacts(p.contacts, candidates, system.nodes(), problem.contacts);
    s.terms.mass = p.mass;
    problem.A = p.mass;
    problem.size_to_rows();
    problem.r = tau * (p.forces.potential + p.forces.applied);
    s.terms.mass.add_product(1, p.v, problem.r);
    gyroscopic_.shape_diagonal(system.nodes());
    system.add_gyroscopic(tau, p.v, gyroscopic_);
    gyroscopic_.add_product(1, p.v, problem.r);
    fill_joints(p, bound, tau, problem);
    fill_contacts(p, candidates, s.tolerances, problem);
}

void InstantProblem::fill_joints(const MotionPoint& p, const std::vector<signed char>& bound, double tau,
                                 StepProblem& problem) {
    const BilateralRows& joints = problem.joints;
    Gv_.resize(joints.size());
    joints.jacobian.product(problem.nodes(), p.v, Gv_);
    for (int i = 0; i < joints.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        problem.b[i] = Gv_[i] + tau * (p.target_rate[i] - joints.bias[k]);
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
}

void InstantProblem::fill_contacts(const MotionPoint& p, const std::vector<Candidate>& candidates,
                                   const Tolerances& tolerances, StepProblem& problem) {
    const double tau = tolerances.instant_span;
    const ContactRows& to = problem.contacts;
    Hv_.resize(p.contacts.jacobian.rows());
    p.contacts.jacobian.product(problem.nodes(), p.v, Hv_);
    for (int c = 0; c < to.size(); ++c) {
        const int place = find_contact(p.contacts.id, to.id[c]);
        const int first = to.jacobian.row[c], source = p.contacts.jacobian.row[place];
        const Candidate& candidate = candidate_of(candidates, to.id[c]);
        for (int k = 0; k < to.jacobian.dim(c); ++k) {
            problem.c[first + k] = tau * to.bias[first + k];
            if (k > 0 && candidate.slides) {
                double slip = candidate.slip[0] * Hv_[source + 1];
                if (p.contacts.jacobian.dim(place) > 2) slip += candidate.slip[1] * Hv_[source + 2];
                problem.c[first + k] += tolerances.surely_slipping - slip;
            } else {
                problem.c[first + k] -= Hv_[source + k];
            }
        }
    }
}

void InstantProblem::enter(const Motion& motion, const MotionPoint& p, Step& s) const {
    const double tau = s.tolerances.instant_span;
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
        const Candidate& candidate = candidate_of(candidates, contacts.id[c]);
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
            const double no_direction = 0.1 * s.tolerances.slip_rounding;  // [m/s] tau times an acceleration
            slip = u.norm() > no_direction ? u.normalized() : Vec2(-f.normalized());
            if (!(slip.norm() > 0.5)) mode = ContactMode::stick;
        }
        modes.contact.push_back(contacts.id[c]);
        modes.mode.push_back(mode);
        modes.slip.push_back(mode == ContactMode::slip ? slip : Vec2::Zero());
    }
    const BilateralRows& joints = problem.joints;
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
