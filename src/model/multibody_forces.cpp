// Forces on bodies, and K = -dk/dq and C = -dk/dv of them. Springs and bushings are rows and gravity is constant, which leaves loads
// and drags.
#include "model/multibody.hpp"

namespace stickslip {

namespace {

Vec3 at_time(const std::array<TimeFunction, 3>& x, double t) { return {x[0](t), x[1](t), x[2](t)}; }

}  // namespace

bool MultibodySystem::acts(const Load& load, double t) const {
    return node(load.body) >= 0 && bodies_->present(load.body) && t >= load.from && t < load.until;
}

void MultibodySystem::forces(double t, const VecX& q, const VecX& v, Forces& k) const {
    k.potential.setZero(nv());
    k.applied.setZero(nv());
    bodies_->set_weight(model_.gravity, k.potential);
    for (const Load& load : model_.loads) {
        if (!acts(load, t)) continue;
        const Vec3 force = at_time(load.force, t), torque = at_time(load.torque, t);
        const Vec3 arm = pose(load.body, q).attitude.toRotationMatrix() * load.point;
        bodies_->add_wrench(load.body, q, {force, torque + arm.cross(force)}, k.applied);
    }
    for (const Drag& drag : model_.drags)
        if (node(drag.body) >= 0 && bodies_->present(drag.body))
            bodies_->add_resistance(drag.body, {drag.linear, drag.quadratic, drag.angular}, v, k.applied);
}

bool MultibodySystem::slopes(double t, const VecX& q, const VecX& v, BlockMatrix& K, BlockMatrix& C) const {
    const bool torque_turns = !bodies_->freedom().normal;  // about the only axis there is, it does not
    const auto turns_with_body = [&](const Load& load) {
        return acts(load, t) &&
               (load.point != Vec3::Zero() || (torque_turns && at_time(load.torque, t) != Vec3::Zero()));
    };
    bool any = !model_.drags.empty();
    for (const Load& load : model_.loads) any = any || turns_with_body(load);
    if (!any) return false;

    K.shape_diagonal(nodes_);
    C.shape_diagonal(nodes_);
    for (const Load& load : model_.loads)
        if (turns_with_body(load))
            bodies_->add_wrench_slope(load.body, q, load.point, {at_time(load.force, t), at_time(load.torque, t)}, K);
    for (const Drag& drag : model_.drags)
        if (node(drag.body) >= 0 && bodies_->present(drag.body))
            bodies_->add_resistance_slope(drag.body, {drag.linear, drag.quadratic, drag.angular}, v, C);
    return true;
}

}  // namespace stickslip
