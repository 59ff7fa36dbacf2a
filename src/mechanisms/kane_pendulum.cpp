// Two uniform rods, hinged to the ceiling and to each other, at the moment at which the free tip strikes a rough floor
// (Kane 1984). q = (theta1, theta2), angles from the downward vertical; the floor passes through the tip at t = 0.
//
//   M = m L^2 [4/3, c/2; c/2, 1/3],  c = cos(theta1 - theta2)
//   gap = L (cos theta1_0 + cos theta2_0 - cos theta1 - cos theta2),   slip L (cos theta1 theta1' + cos theta2 theta2')
//
// Newton's law of restitution with Coulomb friction gives more kinetic energy after the impact than there was before: the
// slip turns round during the impact, and -e N v- is asked of the end whatever friction has done to the normal speed.
#include <cmath>

#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism KanePendulum::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(L > 0, "L must be positive [m]", values, "L");
    require(mu >= 0, "mu must not be negative", values, "mu");
    require(e >= 0 && e <= 1, "e must lie in [0, 1]", values, "e");
    require(e_tangential >= 0 && e_tangential <= 1, "e_tangential must lie in [0, 1]", values, "e_tangential");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"theta1", "theta2"};
    model.nv = 2;
    const double a = 0.5 * m * L * L, weight = m * g * L;
    model.mass = [a](const VecX& q, MatX& M) {
        const double c = std::cos(q[0] - q[1]);
        M << 8 * a / 3, a * c, a * c, 2 * a / 3;
    };
    model.coriolis = [a](const VecX& q, const VecX& v, VecX& k) {
        const double s = std::sin(q[0] - q[1]);
        k[0] = -a * s * v[1] * v[1];
        k[1] = a * s * v[0] * v[0];
    };
    model.potential = [weight](const VecX& q) { return -weight * (1.5 * std::cos(q[0]) + 0.5 * std::cos(q[1])); };
    model.potential_force = [weight](const VecX& q, VecX& k) {
        k[0] = -1.5 * weight * std::sin(q[0]);
        k[1] = -0.5 * weight * std::sin(q[1]);
    };
    model.slopes = [a, weight](double, const VecX& q, const VecX& v, MatX& K, MatX& C) {
        const double s = a * std::sin(q[0] - q[1]), c = a * std::cos(q[0] - q[1]);
        K << c * v[1] * v[1] + 1.5 * weight * std::cos(q[0]), -c * v[1] * v[1],  //
            -c * v[0] * v[0], c * v[0] * v[0] + 0.5 * weight * std::cos(q[1]);
        C << 0, 2 * s * v[1], -2 * s * v[0], 0;
    };
    LagrangianModel::Contact tip;
    tip.name = "tip on the floor";
    tip.tangents = 1;
    tip.friction = mu;
    tip.restitution = e;
    tip.tangential_restitution = e_tangential;
    const double height = std::cos(theta1_0) + std::cos(theta2_0);
    tip.gap = [length = L, height](const VecX& q) { return length * (height - (std::cos(q[0]) + std::cos(q[1]))); };
    tip.jacobian = [length = L](const VecX& q, MatX& H) {
        H << length * std::sin(q[0]), length * std::sin(q[1]), length * std::cos(q[0]), length * std::cos(q[1]);
    };
    tip.bias = [length = L](const VecX& q, const VecX& v, VecX& d) {
        d[0] = length * (std::cos(q[0]) * v[0] * v[0] + std::cos(q[1]) * v[1] * v[1]);
        d[1] = -length * (std::sin(q[0]) * v[0] * v[0] + std::sin(q[1]) * v[1] * v[1]);
    };
    model.contacts.push_back(tip);
    model.bodies = {"upper rod", "lower rod"};
    model.body_state = [length = L](int rod, const VecX& q, const VecX& v) {
        BodyState body;
        for (int i = 0; i <= rod; ++i) {
            const double share = i == rod ? 0.5 * length : length, s = std::sin(q[i]), c = std::cos(q[i]);
            body.pose.position += share * Vec3(s, -c, 0);
            body.velocity += share * v[i] * Vec3(c, s, 0);
        }
        body.pose.attitude = Quat(Eigen::AngleAxisd(q[rod], Vec3::UnitZ()));
        body.angular_velocity = Vec3(0, 0, v[rod]);
        return body;
    };
    mechanism.state = {0, Vec2(theta1_0, theta2_0), Vec2(omega1_0, omega2_0)};
    mechanism.end = 1;
    return mechanism;
}

}  // namespace stickslip
