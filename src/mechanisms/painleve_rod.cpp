// A rod that slides with one tip on a rough floor (Painleve 1895): q = (x, y, theta), centre and angle from +x, y up.
//
//   M = m diag(1, 1, l^2/3),   lower tip (x - l cos, y - l sin):  N = (0, 1, -l cos),  D = (1, 0, l sin)
//   normal acceleration of the tip sliding to -x:  A F_N + b,  A = (1 + 3 cos (cos - mu sin))/m,  b = -g + l sin omega^2
//
// Beyond mu = (1 + 3 cos^2)/(3 sin cos), at least 4/3, A is negative: with b < 0 no finite contact force exists, with b > 0
// two do. The problem in impulses still has a solution. The other tip is a contact too, for when the rod falls over.
#include <cmath>

#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism PainleveRod::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(half_length > 0, "half_length must be positive [m]", values, "half_length");
    require(mu >= 0, "mu must not be negative", values, "mu");
    require(theta0 >= 0 && theta0 <= 3.14159265358979324, "theta0 must lie in [0, pi]: the first tip is the lower one",
            values, "theta0");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x", "y", "theta"};
    model.nv = 3;
    model.constant_mass = Vec3(m, m, m * half_length * half_length / 3).asDiagonal();
    model.potential = [p = *this](const VecX& q) { return p.m * p.g * q[1]; };
    model.potential_force = [p = *this](const VecX&, VecX& k) { k[1] = -p.m * p.g; };
    for (const double side : {-1.0, 1.0}) {
        LagrangianModel::Contact tip;
        tip.name = side < 0 ? "first tip" : "second tip";
        tip.tangents = 1;
        tip.friction = mu;
        const double arm = side * half_length;  // [m] along the rod
        tip.gap = [arm](const VecX& q) { return q[1] + arm * std::sin(q[2]); };
        tip.jacobian = [arm](const VecX& q, MatX& H) {
            H(0, 1) = 1;
            H(0, 2) = arm * std::cos(q[2]);
            H(1, 0) = 1;
            H(1, 2) = -arm * std::sin(q[2]);
        };
        tip.bias = [arm](const VecX& q, const VecX& v, VecX& d) {
            d[0] = -arm * std::sin(q[2]) * v[2] * v[2];
            d[1] = -arm * std::cos(q[2]) * v[2] * v[2];
        };
        model.contacts.push_back(tip);
    }
    model.bodies = {"rod"};
    model.body_state = [](int, const VecX& q, const VecX& v) {
        const Quat attitude(Eigen::AngleAxisd(q[2], Vec3::UnitZ()));
        return BodyState{{Vec3(q[0], q[1], 0), attitude}, Vec3(v[0], v[1], 0), Vec3(0, 0, v[2])};
    };
    // The tip stands on the floor and keeps to it.
    mechanism.state = {0, Vec3(0, half_length * std::sin(theta0), theta0),
                       Vec3(vx0, half_length * std::cos(theta0) * omega0, omega0)};
    mechanism.end = 1;
    return mechanism;
}

}  // namespace stickslip
