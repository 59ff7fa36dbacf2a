// A double pendulum whose bobs strike the wall x = 0, frictionless [Potra et al. 2006, 10.1]. q = (x1, y1, x2, y2),
// origin at the pivot on the wall, y up. The paper prints Theta1 = x1^2 + x2^2 - 1 for x1^2 + y1^2 - 1.
#include <cmath>

#include "mechanisms/mechanisms.hpp"
#include "mechanisms/rod.hpp"

namespace stickslip {

Mechanism DoublePendulumWall::build(const OptionValues& values) const {
    require(m1 > 0, "m1 must be positive [kg]", values, "m1");
    require(m2 > 0, "m2 must be positive [kg]", values, "m2");
    require(L1 > 0, "L1 must be positive [m]", values, "L1");
    require(L2 > 0, "L2 must be positive [m]", values, "L2");
    require(e1 >= 0 && e1 <= 1, "e1 must lie in [0, 1]", values, "e1");
    require(e2 >= 0 && e2 <= 1, "e2 must lie in [0, 1]", values, "e2");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x1", "y1", "x2", "y2"};
    model.nv = 4;
    model.constant_mass = Eigen::Vector4d(m1, m1, m2, m2).asDiagonal();
    model.potential = [p = *this](const VecX& q) { return p.g * (p.m1 * q[1] + p.m2 * q[3]); };
    model.potential_force = [p = *this](const VecX&, VecX& k) {
        k[1] = -p.m1 * p.g;
        k[3] = -p.m2 * p.g;
    };
    model.slopes = [](double, const VecX&, const VecX&, MatX&, MatX&) {};  // weight has none
    const Rod upper{-1, 0, L1}, lower{0, 2, L2};
    model.joints = 2;
    model.joint_names = {"upper rod", "lower rod"};
    model.joint_value = [=](double, const VecX& q, VecX& value) {
        value[0] = upper.value(q);
        value[1] = lower.value(q);
    };
    model.joint_jacobian = [=](double, const VecX& q, MatX& G) {
        upper.jacobian(q, G.topRows(1));
        lower.jacobian(q, G.bottomRows(1));
    };
    model.joint_bias = [=](double, const VecX&, const VecX& v, VecX& c) {
        c[0] = upper.bias(v);
        c[1] = lower.bias(v);
    };
    for (const int bob : {0, 1}) {
        LagrangianModel::Contact wall;
        wall.name = bob == 0 ? "bob 1 at the wall" : "bob 2 at the wall";
        wall.restitution = bob == 0 ? e1 : e2;
        wall.gap = [bob](const VecX& q) { return q[2 * bob]; };
        wall.jacobian = [bob](const VecX&, MatX& H) { H(0, 2 * bob) = 1; };
        wall.bias = [](const VecX&, const VecX&, VecX&) {};
        model.contacts.push_back(wall);
    }
    model.bodies = {"bob 1", "bob 2"};
    model.body_state = [](int bob, const VecX& q, const VecX& v) {
        const int i = 2 * bob;
        return BodyState{{Vec3(q[i], q[i + 1], 0), Quat::Identity()}, Vec3(v[i], v[i + 1], 0), Vec3::Zero()};
    };
    const Vec2 p1(L1 * std::sin(theta1_0), -L1 * std::cos(theta1_0));
    const Vec2 p2 = p1 + Vec2(L2 * std::sin(theta2_0), -L2 * std::cos(theta2_0));
    mechanism.state = {0, (VecX(4) << p1, p2).finished(), VecX::Zero(4)};
    mechanism.end = 2.5;
    return mechanism;
}

}  // namespace stickslip
