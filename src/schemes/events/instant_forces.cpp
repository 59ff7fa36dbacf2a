#include "schemes/events/instant_forces.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"
#include "problems/contact_ids.hpp"

namespace stickslip {

namespace {

constexpr double regularisation = 1e-8;  // relative to J M^-1 J'; the corrections take it out again
constexpr double least_compliance = 1e-300;
constexpr int friction_rounds = 3;
constexpr int corrections = 4;

}  // namespace

void InstantForces::evaluate(const System& system, double t, const VecX& q, const VecX& v,
                             const std::vector<ContactId>& contacts, const std::vector<ContactMode>& modes, Step& s) {
    motion_.attach(system, s);
    motion_.forget();
    motion_.read(t, q, p_);
    set_modes(system.nodes(), v, contacts, modes);
    motion_.begin(modes_, p_, s);
    motion_.find(t, q, p_);
    motion_.load(v, p_);
    motion_.acceleration_side(p_, b_);
    solve(system.nodes());
    read_margins(contacts.size());
}

// The contacts of the list that are there, and the drives and brakes that slip.
void InstantForces::set_modes(const Nodes& nodes, const VecX& v, const std::vector<ContactId>& contacts,
                              const std::vector<ContactMode>& modes) {
    modes_.contact.clear();
    modes_.mode.clear();
    modes_.slip.clear();
    listed_.clear();
    for (int i = 0; i < static_cast<int>(contacts.size()); ++i) {
        if (find_contact(p_.contacts.id, contacts[i]) < 0) continue;
        modes_.contact.push_back(contacts[i]);
        modes_.mode.push_back(modes[i]);
        modes_.slip.push_back(Vec2::Zero());  // friction is added by add_friction()
        listed_.push_back(i);
    }
    const BilateralRows& joints = p_.joints;
    Gv_.resize(joints.size());
    joints.jacobian.product(nodes, v, Gv_);
    modes_.bound.assign(static_cast<std::size_t>(joints.size()), 0);
    for (int i = 0; i < joints.size(); ++i) {
        if (joints.kind[i] == RowKind::compliant || joints.kind[i] == RowKind::holonomic) continue;
        const double slip = Gv_[i] - joints.target[i];
        const double bound = slip > 0 ? joints.force_lower[i] : joints.force_upper[i];
        if (std::abs(slip) > motion_.tolerances().rest_speed && std::abs(bound) < infinity)
            modes_.bound[i] = slip > 0 ? -1 : 1;
    }
}

void InstantForces::solve(const Nodes& nodes) {
    const BlockRows& rows = p_.rows;
    T_.setZero(rows.rows());
    zero_.setZero(rows.rows());
    for (int g = 0; g < rows.groups(); ++g) {
        for (int k = 0; k < rows.dim(g); ++k) {
            double& T = T_[rows.row[g] + k];
            for (const BlockRows::Block& block : rows.blocks_of(g)) {
                const auto J = rows.values_of(g, block, nodes);
                const auto M = p_.mass.block(block.node);
                for (int c = 0; c < nodes.dof(block.node); ++c) T += regularisation * J(k, c) * J(k, c) / M(c, c);
            }
            T = std::max(T, least_compliance);
        }
    }
    kkt_.analyse(p_.mass, rows);
    kkt_.factor(p_.mass, rows, T_);
    Hv_.resize(p_.contacts.jacobian.rows());
    p_.contacts.jacobian.product(nodes, p_.v, Hv_);
    p_.a.setZero(nodes.nv());
    p_.y.setZero(rows.rows());
    for (int round = 0; round < friction_rounds; ++round) {
        r_ = p_.force;
        const bool slides = add_friction(nodes);
        kkt_.solve(p_.mass, rows, zero_, r_, b_, p_.a, p_.y, corrections);
        if (!slides) break;
    }
}

// Friction of sliding contacts from their last normal forces. False: nothing slides.
bool InstantForces::add_friction(const Nodes& nodes) {
    bool slides = false;
    for (int i = 0; i < static_cast<int>(modes_.contact.size()); ++i) {
        const int c = p_.place[i];
        if (motion_.contact_source(i).dim == p_.contacts.jacobian.dim(c)) continue;
        slides = true;
        const int first = p_.contacts.jacobian.row[c], tangents = p_.contacts.jacobian.dim(c) - 1;
        const double speed = Hv_.segment(first + 1, tangents).norm();
        if (speed <= motion_.tolerances().rest_speed) continue;
        const double force = -p_.contacts.friction[c] * std::max(0.0, p_.y[motion_.contact_row(i)]) / speed;
        for (const BlockRows::Block& block : p_.contacts.jacobian.blocks_of(c)) {
            const auto J = p_.contacts.jacobian.values_of(c, block, nodes);
            for (int j = 0; j < nodes.dof(block.node); ++j)
                for (int k = 0; k < tangents; ++k)
                    r_[nodes.start[block.node] + j] += force * Hv_[first + 1 + k] * J(1 + k, j);
        }
    }
    return slides;
}

void InstantForces::read_margins(std::size_t contacts) {
    normal_.assign(contacts, infinity);
    margin_.assign(contacts, infinity);
    row_margin_.assign(static_cast<std::size_t>(p_.joints.size()), infinity);
    int row = 0;
    for (const Motion::Source& source : motion_.sources()) {
        if (source.contact < 0) {
            const int i = p_.joints.jacobian.row[source.joint_group] + source.first;
            row_margin_[i] = std::min(p_.joints.force_upper[i] - p_.y[row], p_.y[row] - p_.joints.force_lower[i]);
        } else {
            const int c = p_.place[source.contact], at = listed_[source.contact];
            normal_[at] = p_.y[row];
            if (modes_.mode[source.contact] == ContactMode::stick && source.dim > 1) {
                const Vec2 tangential(p_.y[row + 1], source.dim > 2 ? p_.y[row + 2] : 0.0);
                const double gauge = cone_gauge(tangential, source.dim, p_.contacts.facets[c]);
                margin_[at] = p_.contacts.friction[c] * p_.y[row] - gauge;
            }
        }
        row += source.dim;
    }
}

}  // namespace stickslip
