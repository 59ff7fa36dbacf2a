// Three balls one above the other over a floor, dropped together [Haddouni, 4.3.1; parameters are not printed there]:
// q = (z1, z2, z3), centres from the lowest up,
//
//   m_i z_i'' = -m_i g + contacts,   z1 - R >= 0,   z2 - z1 - 2R >= 0,   z3 - z2 - 2R >= 0,   restitution e1, e2, e3
//
// With the default restitution of 1/2 the impacts accumulate in a finite time, in all three contacts, and the chain rests.
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism ThreeBallChain::build(const OptionValues& values) const {
    require(m1 > 0, "m1 must be positive [kg]", values, "m1");
    require(m2 > 0, "m2 must be positive [kg]", values, "m2");
    require(m3 > 0, "m3 must be positive [kg]", values, "m3");
    require(R > 0, "R must be positive [m]", values, "R");
    require(e1 >= 0 && e1 <= 1, "e1 must lie in [0, 1]", values, "e1");
    require(e2 >= 0 && e2 <= 1, "e2 must lie in [0, 1]", values, "e2");
    require(e3 >= 0 && e3 <= 1, "e3 must lie in [0, 1]", values, "e3");
    require(z1_0 >= R, "z1_0 must be at least R: the lowest ball starts above the floor [m]", values, "z1_0");
    require(z2_0 - z1_0 >= 2 * R, "z2_0 must be at least z1_0 + 2 R: balls start apart [m]", values, "z2_0");
    require(z3_0 - z2_0 >= 2 * R, "z3_0 must be at least z2_0 + 2 R: balls start apart [m]", values, "z3_0");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"z1", "z2", "z3"};
    model.nv = 3;
    const Vec3 masses(m1, m2, m3), weights = g * masses, restitution(e1, e2, e3);
    model.constant_mass = masses.asDiagonal();
    model.potential = [weights](const VecX& q) { return weights.dot(q); };
    model.potential_force = [weights](const VecX&, VecX& k) { k = -weights; };
    for (const int ball : {0, 1, 2}) {
        LagrangianModel::Contact contact;
        contact.name = ball == 0 ? "floor and ball 1" : ball == 1 ? "balls 1 and 2" : "balls 2 and 3";
        contact.restitution = restitution[ball];
        contact.gap = [ball, r = R](const VecX& q) { return ball == 0 ? q[0] - r : q[ball] - q[ball - 1] - 2 * r; };
        contact.jacobian = [ball](const VecX&, MatX& H) {
            H(0, ball) = 1;
            if (ball > 0) H(0, ball - 1) = -1;
        };
        contact.bias = [](const VecX&, const VecX&, VecX&) {};
        model.contacts.push_back(contact);
    }
    model.bodies = {"ball 1", "ball 2", "ball 3"};
    model.body_state = [](int ball, const VecX& q, const VecX& v) {
        return BodyState{{Vec3(0, 0, q[ball]), Quat::Identity()}, Vec3(0, 0, v[ball]), Vec3::Zero()};
    };
    mechanism.state = {0, Vec3(z1_0, z2_0, z3_0), Vec3(v1_0, v2_0, v3_0)};
    mechanism.end = 3;
    return mechanism;
}

}  // namespace stickslip
