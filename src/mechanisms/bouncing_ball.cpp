// A ball dropped on the floor: z'' = -g, z >= 0, restitution e.
//
// Flight k begins with the velocity e^k u and lasts 2 e^k u / g; for e < 1 all of them end at a finite time, and then the ball
// rests.
#include <cmath>

#include "mechanisms/mechanisms.hpp"

namespace stickslip {

namespace {

State ball_at(const BouncingBall& p, double t) {
    const double u = std::sqrt(p.v0 * p.v0 + 2 * p.g * p.z0);  // [m/s] of the first impact
    const double first = (p.v0 + u) / p.g;                     // [s] its time
    if (t < first) return {t, VecX::Constant(1, p.z0 + t * (p.v0 - p.g * t / 2)), VecX::Constant(1, p.v0 - p.g * t)};
    double s = t - first, w = p.e * u;  // time since the last impact, velocity after it
    const bool rests = p.e < 1 && s >= 2 * w / (p.g * (1 - p.e));
    while (!rests && w > 0 && s >= 2 * w / p.g) {
        s -= 2 * w / p.g;
        w *= p.e;
    }
    if (rests || !(w > 0)) return {t, VecX::Zero(1), VecX::Zero(1)};
    return {t, VecX::Constant(1, s * (w - p.g * s / 2)), VecX::Constant(1, w - p.g * s)};
}

}  // namespace

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
    floor.bias = [](const VecX&, const VecX&, VecX&) {};
    model.contacts.push_back(floor);
    mechanism.state = {0, VecX::Constant(1, z0), VecX::Constant(1, v0)};
    mechanism.end = 3;
    if (g > 0 && z0 >= 0) mechanism.exact = [p = *this](double t) { return ball_at(p, t); };
    return mechanism;
}

}  // namespace stickslip
