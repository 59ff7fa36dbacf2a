#include "simulation/momentum_watch.hpp"

#include <algorithm>
#include <numeric>

namespace stickslip {

int MomentumWatch::root_of(int node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
}

// Groups of nodes that joints and springs hold together, and which of them are held from outside: by the ground, which has no block
// in a row, or by a contact. False if none is free, or if that cannot be told: `problem` is the last one of the step, and a contact
// that pressed in an earlier stage alone does not say whom it touched.
bool MomentumWatch::find_groups(const System& system, const Step& step) {
    parent_.resize(static_cast<std::size_t>(system.nodes().size()));
    std::iota(parent_.begin(), parent_.end(), 0);
    held_.assign(parent_.size(), 0);
    const BlockRows& joints = step.problem.joints.jacobian;
    for (int g = 0; g < joints.groups(); ++g) {
        const auto blocks = joints.blocks_of(g);
        if (blocks.size() == 1) held_[blocks[0].node] = 1;
        for (const BlockRows::Block& block : blocks) parent_[root_of(block.node)] = root_of(blocks[0].node);
    }
    const ContactRows& contacts = step.problem.contacts;
    int i = 0;  // both lists are sorted by id
    for (const ContactRecord& record : step.contacts) {
        if (record.impulse.isZero(0)) continue;
        while (i < contacts.size() && contacts.id[i] < record.id) ++i;
        if (i == contacts.size() || !(contacts.id[i] == record.id)) return false;
        for (const BlockRows::Block& block : contacts.jacobian.blocks_of(i)) held_[block.node] = 1;
    }
    bool any = false;
    for (std::size_t n = 0; n < held_.size(); ++n)
        if (held_[n]) held_[root_of(static_cast<int>(n))] = 1;
    for (std::size_t n = 0; n < held_.size(); ++n) any = any || !held_[root_of(static_cast<int>(n))];
    return any;
}

// Weight turns nobody about the centre of mass. A force does not turn a body that is alone, but a group.
void MomentumWatch::leave_out_loaded(const System& system, const Step& step) {
    // Loads switch at the ends of steps only, so that one look inside tells whether there is one.
    system.forces(0.5 * (step.t0 + step.t1), step.q1, step.v1, forces_);
    for (const BodySpin& body : before_) {
        const int root = root_of(body.node), start = system.nodes().start[body.node];
        const bool turned =
            !forces_.applied.segment<3>(body.first).isZero(0) || !forces_.potential.segment<3>(body.first).isZero(0);
        const bool pushed = from_[root].bodies > 1 && !forces_.applied.segment<3>(start).isZero(0);
        if (turned || pushed) held_[root] = 1;
    }
}

void MomentumWatch::measure(const std::vector<BodySpin>& spins, std::vector<Group>& groups) {
    groups.assign(parent_.size(), {});
    for (const BodySpin& body : spins) {
        Group& group = groups[root_of(body.node)];
        if (group.body < 0) group.body = body.body;
        ++group.bodies;
        group.mass += body.mass;
        group.centre += body.mass * body.centre;
        group.velocity += body.mass * body.velocity;
    }
    for (const BodySpin& body : spins) {
        Group& group = groups[root_of(body.node)];
        Vec3 part = body.momentum;
        if (group.bodies > 1)
            part += (body.centre - group.centre / group.mass)
                        .cross(body.mass * body.velocity - body.mass / group.mass * group.velocity);
        group.momentum += part;
        group.parts += part.norm();
    }
}

void MomentumWatch::see(const System& system, const Step& step) {
    if (!(step.t1 > step.t0) || !find_groups(system, step)) return;
    system.spins(step.q0, step.v0, before_);
    if (before_.empty()) return;
    measure(before_, from_);
    const auto turns = [&](const BodySpin& body) {
        const int root = root_of(body.node);
        return !held_[root] && from_[root].parts > 0;
    };
    if (std::none_of(before_.begin(), before_.end(), turns)) return;
    system.spins(step.q1, step.v1, after_);
    if (before_.size() != after_.size()) return;
    measure(after_, to_);
    leave_out_loaded(system, step);
    for (std::size_t n = 0; n < parent_.size(); ++n) {
        const Group& group = from_[n];
        if (parent_[n] != static_cast<int>(n) || held_[n] || group.body < 0 || !(group.parts > 0)) continue;
        const auto first = static_cast<std::size_t>(group.body);
        if (sums_.size() <= first) sums_.resize(first + 1);
        Sum& sum = sums_[first];
        sum.drift += to_[n].momentum - group.momentum;
        sum.largest = std::max(sum.largest, group.parts);
        const double drift = sum.drift.norm() / sum.largest;
        if (drift > worst_.drift || worst_.body < 0) worst_ = {group.body, group.bodies - 1, drift, step.t1};
    }
}

}  // namespace stickslip
