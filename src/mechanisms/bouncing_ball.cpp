// A ball dropped on the floor: z'' = -g, z >= 0, restitution e.
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism BouncingBall::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(e >= 0 && e <= 1, "e must lie in [0, 1]", values, "e");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"z"};
    model.nv = 1;
    model.constant_mass = MatX::Constant(1, 1, m);
    model.potential = [p = *this](const VecX& q) { return p.m * p.g * q[0]; };
    model.potential_force = [p = *this](const VecX&, VecX& k) { k[0] = -p.m * p.g; };
    LagrangianModel::Contact floor;
    floor.name = "floor";
    floor.restitution = e;
    floor.gap = [](const VecX& q) { return q[0]; };
    floor.jacobian = [](const VecX&, MatX& H) { H(0, 0) = 1; };
    floor.curvature = [](const VecX&, const VecX&, VecX&) {};
    model.contacts.push_back(floor);
    mechanism.state = {0, VecX::Constant(1, z0), VecX::Constant(1, v0)};
    mechanism.end = 3;
    return mechanism;
}

}  // namespace stickslip
