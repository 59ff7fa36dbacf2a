// A rigid body that turns about a fixed point, in unit quaternions (body to world) and body-frame angular velocity:
//
//   J omega' = (J omega) x omega - m g l e3 x R' e_z,    J = diag(I1, I2, I3) + m l^2 diag(1, 1, 0)
//
// The centre of mass is l e3 from the pivot and I1, I2, I3 are about it. With l = 0 or g = 0 it is Euler's free body,
// with I1 = I2 Lagrange's heavy top. At t = 0 the attitude is the rotation by theta0 about the world's x.
#include <cmath>

#include "math/so3.hpp"
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

namespace {

Mechanism build_top(const TopParameters& p, const char* name, double end, const OptionValues& values) {
    require(p.m > 0, "m must be positive [kg]", values, "m");
    require(p.I1 > 0, "I1 must be positive [kg m^2]", values, "I1");
    require(p.I2 > 0, "I2 must be positive [kg m^2]", values, "I2");
    require(p.I3 > 0, "I3 must be positive [kg m^2]", values, "I3");
    const double largest = std::max({p.I1, p.I2, p.I3});
    require(2 * largest <= (p.I1 + p.I2 + p.I3) * (1 + 1e-12),
            "no principal inertia may exceed the sum of the other two (I1, I2, I3)", values,
            largest == p.I1 ? "I1" : (largest == p.I2 ? "I2" : "I3"));
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"w", "x", "y", "z"};
    model.nv = 3;
    model.quaternion_blocks = {0};
    const double steiner = p.m * p.l * p.l;
    const Vec3 J(p.I1 + steiner, p.I2 + steiner, p.I3);
    const double weight = p.m * p.g * p.l;  // [N m]
    const Vec3 arm(0, 0, p.l);
    const auto up = [](const VecX& q) { return Vec3(read_quaternion(q.data()).conjugate() * Vec3::UnitZ()); };
    model.constant_mass = J.asDiagonal();
    model.gyroscopic = [J](const VecX& v, MatX& F) { F = hat(J.cwiseProduct(Vec3(v))); };
    if (weight != 0) {
        model.potential = [=](const VecX& q) { return weight * up(q)[2]; };
        model.potential_force = [=](const VecX& q, VecX& k) {
            const Vec3 u = up(q);
            k << weight * u[1], -weight * u[0], 0;
        };
        // R' e_z turns by u x dq: K = weight e3 x (u x .)
        model.slopes = [=](double, const VecX& q, const VecX&, MatX& K, MatX&) {
            const Vec3 e3 = Vec3::UnitZ();
            K = weight * hat(e3).lazyProduct(hat(up(q)));
        };
    }
    model.bodies = {"body"};
    model.body_state = [arm](int, const VecX& q, const VecX& v) {
        const Quat R = read_quaternion(q.data());
        const Vec3 omega(v);
        return BodyState{{R * arm, R}, R * omega.cross(arm), R * omega};
    };
    mechanism.state = {0, Eigen::Vector4d(std::cos(p.theta0 / 2), std::sin(p.theta0 / 2), 0, 0),
                       Vec3(p.omega1_0, p.omega2_0, p.omega3_0)};
    mechanism.end = end;
    return mechanism;
}

}  // namespace

Mechanism FreeBody::build(const OptionValues& values) const { return build_top(*this, name, 10, values); }

Mechanism HeavyTop::build(const OptionValues& values) const { return build_top(*this, name, 5, values); }

}  // namespace stickslip
