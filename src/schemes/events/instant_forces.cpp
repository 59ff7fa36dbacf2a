#include "schemes/events/instant_forces.hpp"

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "problems/cones.hpp"
#include "problems/contact_ids.hpp"

namespace stickslip {

namespace {

constexpr double standing = 1e-9;        // [m/s] rows and contacts slower than this stand still
constexpr double regularisation = 1e-8;  // share of J M^-1 J'; the corrections take it out again
constexpr int friction_rounds = 3;
constexpr double target_span = 1e-6;  // [s] over which targets are differenced

void copy_rows(const BlockRows& from, int group, int first, int count, const Nodes& nodes, BlockRows& to) {
    to.begin_group(count);
    for (const BlockRows::Block& block : from.blocks_of(group))
        to.add_block(block.node, nodes.dof(block.node)) = from.values_of(group, block, nodes).middleRows(first, count);
}

}  // namespace

// [m/s^2] How fast the targets of drives change, by a difference along the motion; nothing where nothing is driven.
void InstantForces::find_target_rates(const System& system, double t, const VecX& q, const VecX& v, Step& s) {
    system.rows(t, q, *s.finder, joints_, contacts_);
    target_rate_.setZero(joints_.size());
    const bool driven = std::any_of(joints_.target.begin(), joints_.target.end(), [](double w) { return w != 0; });
    if (!driven) return;
    for (int i = 0; i < joints_.size(); ++i) target_rate_[i] = -joints_.target[i] / target_span;
    ahead_ = q;
    dq_ = target_span * v;
    system.advance(ahead_, dq_);
    system.rows(t + target_span, ahead_, *s.finder, joints_, contacts_);
    for (int i = 0; i < joints_.size() && i < target_rate_.size(); ++i)
        target_rate_[i] += joints_.target[i] / target_span;
}

void InstantForces::evaluate(const System& system, double t, const VecX& q, const VecX& v,
                             const std::vector<ContactId>& contacts, const std::vector<ContactMode>& modes, Step& s) {
    const Nodes& nodes = system.nodes();
    find_target_rates(system, t, q, v, s);
    system.rows(t, q, *s.finder, joints_, contacts_);
    system.curvature(t, q, v, *s.finder, joints_, contacts_);
    system.mass(q, mass_);
    system.forces(t, q, v, forces_);
    smooth_ = forces_.potential + forces_.applied;
    gyroscopic_.shape_diagonal(nodes);
    system.add_gyroscopic(1, v, gyroscopic_);
    gyroscopic_.add_product(1, v, smooth_);

    Gv_.resize(joints_.size());
    joints_.jacobian.product(nodes, v, Gv_);
    Hv_.resize(contacts_.jacobian.rows());
    contacts_.jacobian.product(nodes, v, Hv_);
    rows_.clear();
    sources_.clear();
    push_.setZero(joints_.size());
    row_margin_.assign(static_cast<std::size_t>(joints_.size()), infinity);
    for (int g = 0; g < joints_.jacobian.groups(); ++g) {
        const int first = joints_.jacobian.row[g];
        for (int k = 0; k < joints_.jacobian.dim(g); ++k) {
            const int i = first + k;
            if (joints_.kind[i] == RowKind::compliant) {
                push_[i] = -(joints_.stiffness[i] * joints_.value[i] + joints_.damping[i] * Gv_[i]);
                continue;
            }
            const double slip = joints_.kind[i] == RowKind::holonomic ? 0.0 : Gv_[i] - joints_.target[i];
            const double bound = slip > 0 ? joints_.force_lower[i] : joints_.force_upper[i];
            if (std::abs(slip) > standing && std::abs(bound) < infinity) {
                push_[i] = bound;
                continue;
            }
            copy_rows(joints_.jacobian, g, k, 1, nodes, rows_);
            sources_.push_back({.joint_row = i, .contact = -1, .list = 0, .dim = 1});
        }
    }
    joints_.jacobian.add_transpose_product(nodes, push_, smooth_);
    for (int i = 0; i < contacts_.size(); ++i) {
        const int at = find_contact(contacts, contacts_.id[i]);
        if (at < 0) continue;
        const int dim = modes[at] == ContactMode::stick ? contacts_.jacobian.dim(i) : 1;
        copy_rows(contacts_.jacobian, i, 0, dim, nodes, rows_);
        sources_.push_back({.joint_row = -1, .contact = i, .list = at, .dim = dim});
    }

    const int m = rows_.rows();
    b_.resize(m);
    T_.setZero(m);
    zero_.setZero(m);
    f_.setZero(m);
    for (int g = 0; g < rows_.groups(); ++g) {
        const Source& source = sources_[g];
        for (int k = 0; k < source.dim; ++k) {
            const int row = rows_.row[g] + k;
            b_[row] = source.joint_row >= 0 ? target_rate_[source.joint_row] - joints_.curvature[source.joint_row]
                                            : -contacts_.curvature[contacts_.jacobian.row[source.contact] + k];
            for (const BlockRows::Block& block : rows_.blocks_of(g)) {
                const auto J = rows_.values_of(g, block, nodes);
                const auto M = mass_.block(block.node);
                for (int c = 0; c < nodes.dof(block.node); ++c) T_[row] += regularisation * J(k, c) * J(k, c) / M(c, c);
            }
            T_[row] = std::max(T_[row], 1e-300);
        }
    }
    kkt_.analyse(mass_, rows_);
    kkt_.factor(mass_, rows_, T_);
    a_.setZero(nodes.nv());
    normal_.assign(contacts.size(), infinity);
    margin_.assign(contacts.size(), infinity);
    for (int round = 0; round < friction_rounds; ++round) {
        r_ = smooth_;
        bool sliding = false;
        for (int g = 0; g < rows_.groups(); ++g) {
            const Source& source = sources_[g];
            const int i = source.contact;
            if (i < 0 || source.dim == contacts_.jacobian.dim(i)) continue;
            // Friction of a sliding contact, from its last normal force.
            sliding = true;
            const int row = contacts_.jacobian.row[i], tangents = contacts_.jacobian.dim(i) - 1;
            const double speed = Hv_.segment(row + 1, tangents).norm();
            if (speed <= standing) continue;
            const double force = -contacts_.friction[i] * std::max(0.0, f_[rows_.row[g]]) / speed;
            for (const BlockRows::Block& block : contacts_.jacobian.blocks_of(i)) {
                const auto J = contacts_.jacobian.values_of(i, block, nodes);
                for (int c = 0; c < nodes.dof(block.node); ++c)
                    for (int k = 0; k < tangents; ++k)
                        r_[nodes.start[block.node] + c] += force * Hv_[row + 1 + k] * J(1 + k, c);
            }
        }
        kkt_.solve(mass_, rows_, zero_, r_, b_, a_, f_, 4);
        if (!sliding) break;
    }
    for (int g = 0; g < rows_.groups(); ++g) {
        const Source& source = sources_[g];
        const int row = rows_.row[g];
        if (source.joint_row >= 0) {
            const int i = source.joint_row;
            row_margin_[i] = std::min(joints_.force_upper[i] - f_[row], f_[row] - joints_.force_lower[i]);
            continue;
        }
        const auto at = static_cast<std::size_t>(source.list);
        normal_[at] = f_[row];
        if (modes[at] != ContactMode::stick || source.dim == 1) continue;
        const double mu = contacts_.friction[source.contact];
        const Vec2 tangential(f_[row + 1], source.dim > 2 ? f_[row + 2] : 0.0);
        margin_[at] = mu * f_[row] - cone_gauge(tangential, source.dim, contacts_.facets[source.contact]);
    }
}

}  // namespace stickslip
