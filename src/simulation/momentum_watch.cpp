#include "simulation/momentum_watch.hpp"

#include <algorithm>
#include <limits>

namespace stickslip {

namespace {

// Momenta below this share of those of a typical body are those of things at rest. If zero, rounding would be doubted.
constexpr double at_rest = 1e-6;
const Vec3 unknown_force = Vec3::Constant(std::numeric_limits<double>::quiet_NaN());  // equal to none

}  // namespace

void MomentumWatch::Sum::add(const Vec3& change, double parts, const Step& step, int bodies) {
    drift += change;
    largest = std::max(largest, parts);
    h = std::max(h, step.t1 - step.t0);
    const double now = drift.norm();
    if (now > momentum_share * largest) since = std::min(since, step.t1);
    if (!(now > worst)) return;
    worst = now;
    t = step.t1;
    others = bodies - 1;
}

MomentumWatch::Worst MomentumWatch::worst_of(const std::vector<Sum>& sums) {
    Worst worst;
    for (std::size_t b = 0; b < sums.size(); ++b) {
        const Sum& sum = sums[b];
        if (!(sum.largest > 0) || (worst.body >= 0 && !(sum.worst / sum.largest > worst.drift))) continue;
        worst = {static_cast<int>(b), sum.others, sum.worst / sum.largest, sum.t, sum.since, sum.h};
    }
    return worst;
}

// Groups of nodes that joints, springs and contacts hold together, and which of them are held from outside: by the ground or a fixed
// body, which have no block in a row. False if none is free, or if that cannot be told: `problem` is the last one of the step, and a
// contact that pressed in an earlier stage alone does not say whom it touched.
bool MomentumWatch::find_groups(const System& system, const Step& step) {
    groups_.reset(system.nodes().size());
    held_.assign(static_cast<std::size_t>(groups_.size()), 0);
    pressed_.assign(held_.size(), 0);
    const auto hold = [&](const BlockRows& rows, int group) {
        const auto blocks = rows.blocks_of(group);
        if (blocks.size() == 1) held_[blocks[0].node] = 1;
        groups_.join(rows, group);
    };
    const BlockRows& joints = step.problem.joints.jacobian;
    for (int g = 0; g < joints.groups(); ++g) hold(joints, g);
    const ContactRows& contacts = step.problem.contacts;
    int i = 0;  // both lists are sorted by id
    for (const ContactRecord& record : step.contacts) {
        if (record.impulse.isZero(0)) continue;
        while (i < contacts.size() && contacts.id[i] < record.id) ++i;
        if (i == contacts.size() || !(contacts.id[i] == record.id)) return false;
        const auto blocks = contacts.jacobian.blocks_of(i);
        hold(contacts.jacobian, i);
        for (const BlockRows::Block& block : blocks) pressed_[block.node] = 1;
    }
    bool any = false;
    for (std::size_t n = 0; n < held_.size(); ++n) {
        const int root = groups_.root_of(static_cast<int>(n));
        if (held_[n]) held_[root] = 1;
        if (pressed_[n]) pressed_[root] = 1;
    }
    for (std::size_t n = 0; n < held_.size(); ++n) any = any || !held_[groups_.root_of(static_cast<int>(n))];
    return any;
}

// Weight turns nobody about the centre of mass and is the one force that is the same in all steps. Others do not turn a body that is
// alone when they act on its centre, but a group.
void MomentumWatch::find_forces(const System& system, const Step& step) {
    // Loads switch at the ends of steps, so that one look inside tells whether there is one; but those given by formulas may jump inside.
    const bool jumps = system.loads_vary() && system.next_jump(step.t0) < step.t1;
    const double inside = 0.5 * (step.t0 + step.t1);
    if (force_.empty()) {  // before the first step
        system.forces(inside, step.q0, step.v0, forces_);
        for (const BodySpin& body : before_) {
            const auto b = static_cast<std::size_t>(body.body);
            force_.resize(b + 1, unknown_force);
            force_[b] = forces_.potential.segment<3>(system.nodes().start[body.node]);
        }
    }
    system.forces(inside, step.q1, step.v1, forces_);
    pushed_.assign(held_.size(), 0);
    turned_.assign(held_.size(), 0);
    weight_.assign(held_.size(), Vec3::Zero());
    for (const BodySpin& body : before_) {
        const int root = groups_.root_of(body.node), start = system.nodes().start[body.node];
        if (held_[root]) continue;
        const auto b = static_cast<std::size_t>(body.body);
        if (force_.size() <= b) force_.resize(b + 1, unknown_force);
        const Vec3 force = forces_.potential.segment<3>(start);
        const bool loaded = jumps || !forces_.applied.segment<3>(start).isZero(0);
        const bool changes = force != force_[b];
        force_[b] = force;
        weight_[root] += force;
        if (loaded || changes) pushed_[root] = 1;
        if (!forces_.applied.segment<3>(body.first).isZero(0) || !forces_.potential.segment<3>(body.first).isZero(0))
            turned_[root] = 1;
        if ((from_[root].bodies > 1 && loaded) || jumps) turned_[root] = 1;
    }
}

void MomentumWatch::measure(const std::vector<BodySpin>& spins, std::vector<Group>& groups) {
    groups.assign(held_.size(), {});
    for (const BodySpin& body : spins) {
        Group& group = groups[groups_.root_of(body.node)];
        if (group.body < 0) group.body = body.body;
        ++group.bodies;
        group.mass += body.mass;
        group.centre += body.mass * body.centre;
        group.velocity += body.mass * body.velocity;
        group.pushes += body.mass * body.velocity.norm();
    }
    for (const BodySpin& body : spins) {
        Group& group = groups[groups_.root_of(body.node)];
        Vec3 part = body.momentum;
        if (group.bodies > 1)
            part += (body.centre - group.centre / group.mass)
                        .cross(body.mass * body.velocity - body.mass / group.mass * group.velocity);
        group.spin += part;
        group.spins += part.norm();
    }
}

void MomentumWatch::see(const System& system, const Step& step) {
    if (!(step.t1 > step.t0) || !find_groups(system, step)) return;
    // The end of the last step is mostly the start of this one.
    if (q_seen_.size() == step.q0.size() && v_seen_.size() == step.v0.size() && q_seen_ == step.q0 &&
        v_seen_ == step.v0)
        before_.swap(after_);
    else
        system.spins(step.q0, step.v0, before_);
    system.spins(step.q1, step.v1, after_);
    q_seen_ = step.q1;
    v_seen_ = step.v1;
    if (before_.empty() || before_.size() != after_.size()) return;
    measure(before_, from_);
    measure(after_, to_);
    find_forces(system, step);
    const double h = step.t1 - step.t0;
    const Scales& scales = step.tolerances.scales;
    for (std::size_t n = 0; n < held_.size(); ++n) {
        const Group& group = from_[n];
        if (groups_.root_of(static_cast<int>(n)) != static_cast<int>(n) || held_[n] || group.body < 0) continue;
        const auto first = static_cast<std::size_t>(group.body);
        if (linear_.size() <= first)
            for (std::vector<Sum>* sums : {&linear_, &angular_, &colliding_}) sums->resize(first + 1);
        const double rest = at_rest * group.mass * scales.speed;  // [N s]
        const Vec3 pushed = h * weight_[n];
        if (!pushed_[n])
            linear_[first].add(to_[n].velocity - group.velocity - pushed,
                               std::max({group.pushes, to_[n].pushes, pushed.norm(), rest}), step, group.bodies);
        if (turned_[n] || !(group.spins > 0)) continue;
        Sum& sum = pressed_[n] ? colliding_[first] : angular_[first];
        sum.add(to_[n].spin - group.spin, std::max(group.spins, rest * scales.length), step, group.bodies);
    }
}

}  // namespace stickslip
