#include "simulation/momentum_watch.hpp"

#include <algorithm>

namespace stickslip {

namespace {

void mark(const BlockRows& rows, int group, std::vector<char>& touched) {
    for (const BlockRows::Block& block : rows.blocks_of(group)) touched[static_cast<std::size_t>(block.node)] = 1;
}

}  // namespace

// False if no body was free in this step, or if that cannot be told: `problem` is the last one of the step, and a contact that
// pressed in an earlier stage alone does not say whom it touched.
bool MomentumWatch::mark_touched(const System& system, const Step& step) {
    touched_.assign(static_cast<std::size_t>(system.nodes().size()), 0);
    const BilateralRows& joints = step.problem.joints;
    for (int g = 0; g < joints.jacobian.groups(); ++g) mark(joints.jacobian, g, touched_);
    const ContactRows& contacts = step.problem.contacts;
    int i = 0;  // both lists are sorted by id
    for (const ContactRecord& record : step.contacts) {
        if (record.impulse.isZero(0)) continue;
        while (i < contacts.size() && contacts.id[i] < record.id) ++i;
        if (i == contacts.size() || !(contacts.id[i] == record.id)) return false;
        mark(contacts.jacobian, i, touched_);
    }
    return std::find(touched_.begin(), touched_.end(), 0) != touched_.end();
}

void MomentumWatch::see(const System& system, const Step& step) {
    if (!(step.t1 > step.t0) || !mark_touched(system, step)) return;
    system.spins(step.q0, step.v0, before_);
    if (before_.empty()) return;
    system.spins(step.q1, step.v1, after_);
    if (before_.size() != after_.size()) return;
    bool asked = false;
    for (std::size_t k = 0; k < before_.size(); ++k) {
        const BodySpin& from = before_[k];
        const double size = from.momentum.norm();
        if (size == 0 || touched_[static_cast<std::size_t>(from.node)]) continue;
        // Loads switch at the ends of steps only, so that one look inside tells whether there is a torque.
        if (!asked) system.forces(0.5 * (step.t0 + step.t1), step.q1, step.v1, forces_);
        asked = true;
        if (!forces_.applied.segment<3>(from.first).isZero(0) || !forces_.potential.segment<3>(from.first).isZero(0))
            continue;
        if (bodies_.size() <= static_cast<std::size_t>(from.body))
            bodies_.resize(static_cast<std::size_t>(from.body) + 1);
        Body& body = bodies_[static_cast<std::size_t>(from.body)];
        body.drift += after_[k].momentum - from.momentum;
        body.largest = std::max(body.largest, size);
        const double drift = body.drift.norm() / body.largest;
        if (drift > worst_.drift || worst_.body < 0) worst_ = {from.body, drift, step.t1};
    }
}

}  // namespace stickslip
