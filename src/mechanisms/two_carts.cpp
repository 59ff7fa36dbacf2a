// Two carts on a rough floor, the first before a stopper [Potra-Anitescu-Gavrea-Trinkle, 10.3], q = (x1, x2):
//
//   m1 x1'' = -gamma (x1 - x_eq) - delta (x1' - x2') - mu m1 g Sgn(x1') + stopper,   x1 >= stopper, restitution e
//   m2 x2'' =  delta (x1' - x2') - mu m2 g Sgn(x2')
//
// Spring and damper are compliant rows, friction is a row bounded by mu m g. With stiff damping an impact of cart 1 alone
// is followed by more, and delta to infinity is a plastic impact of the pair while e m1 < m2, not one with restitution e.
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism TwoCarts::build(const OptionValues& values) const {
    require(m1 > 0, "m1 must be positive [kg]", values, "m1");
    require(m2 > 0, "m2 must be positive [kg]", values, "m2");
    require(mu >= 0, "mu must not be negative", values, "mu");
    require(g >= 0, "g must not be negative [m/s^2]", values, "g");
    require(e >= 0 && e <= 1, "e must lie in [0, 1]", values, "e");
    require(gamma >= 0, "gamma must not be negative [N/m]", values, "gamma");
    require(delta >= 0, "delta must not be negative [N s/m]", values, "delta");
    require(x1_0 >= stopper, "x1_0 must not lie behind the stopper [m]", values, "x1_0");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x1", "x2"};
    model.nv = 2;
    model.constant_mass = Vec2(m1, m2).asDiagonal();

    LagrangianModel::Spring spring;
    spring.name = "spring";
    spring.stiffness = gamma;
    spring.value = [p = *this](const VecX& q) { return q[0] - p.x_eq; };
    spring.gradient = [](const VecX&, VecX& G) { G[0] = 1; };
    LagrangianModel::Spring damper;
    damper.name = "damper";
    damper.damping = delta;
    damper.value = [](const VecX& q) { return q[0] - q[1]; };
    damper.gradient = [](const VecX&, VecX& G) { G << 1, -1; };
    model.springs = {spring, damper};

    for (const int cart : {0, 1}) {
        LagrangianModel::DryFriction floor;
        floor.name = cart == 0 ? "floor under cart 1" : "floor under cart 2";
        floor.force = mu * (cart == 0 ? m1 : m2) * g;
        floor.row = [cart](const VecX&, VecX& G) { G[cart] = 1; };
        model.friction.push_back(floor);
    }
    LagrangianModel::Contact contact;
    contact.name = "stopper";
    contact.restitution = e;
    contact.gap = [p = *this](const VecX& q) { return q[0] - p.stopper; };
    contact.jacobian = [](const VecX&, MatX& H) { H(0, 0) = 1; };
    contact.bias = [](const VecX&, const VecX&, VecX&) {};
    model.contacts.push_back(contact);

    model.bodies = {"cart 1", "cart 2"};
    model.body_state = [](int cart, const VecX& q, const VecX& v) {
        return BodyState{{Vec3(q[cart], 0, 0), Quat::Identity()}, Vec3(v[cart], 0, 0), Vec3::Zero()};
    };
    mechanism.state = {0, Vec2(x1_0, x2_0), Vec2(v1_0, v2_0)};
    mechanism.end = 4;
    return mechanism;
}

}  // namespace stickslip
