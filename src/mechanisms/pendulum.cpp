// A point mass on a rod, in Cartesian coordinates: origin at the pivot, y up [Lacoursiere-Linde 2011, 17.1].
//
// Released at rest from theta0 it moves as  sin(theta/2) = k sn(u, k),  theta' = 2 k w cn(u, k),
//   k = sin(theta0/2),  u = w t + K(k),  w^2 = g/L.
#include <algorithm>
#include <boost/math/special_functions/ellint_1.hpp>
#include <boost/math/special_functions/jacobi_elliptic.hpp>
#include <cmath>

#include "mechanisms/mechanisms.hpp"
#include "mechanisms/rod.hpp"

namespace stickslip {

Mechanism Pendulum::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(L > 0, "L must be positive [m]", values, "L");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x", "y"};
    model.nv = 2;
    model.constant_mass = m * MatX::Identity(2, 2);
    model.potential = [p = *this](const VecX& q) { return p.m * p.g * q[1]; };
    model.potential_force = [p = *this](const VecX&, VecX& k) { k[1] = -p.m * p.g; };
    model.slopes = [](double, const VecX&, const VecX&, MatX&, MatX&) {};  // weight has none
    const Rod rod{-1, 0, L};
    model.joints = 1;
    model.joint_names = {"rod"};
    model.joint_value = [rod](double, const VecX& q, VecX& value) { value[0] = rod.value(q); };
    model.joint_jacobian = [rod](double, const VecX& q, MatX& G) { rod.jacobian(q, G); };
    model.joint_bias = [rod](double, const VecX&, const VecX& v, VecX& c) { c[0] = rod.bias(v); };
    model.bodies = {"bob"};
    model.body_state = [](int, const VecX& q, const VecX& v) {
        return BodyState{{Vec3(q[0], q[1], 0), Quat::Identity()}, Vec3(v[0], v[1], 0), Vec3::Zero()};
    };
    mechanism.state = {0, Vec2(L * std::sin(theta0), -L * std::cos(theta0)), Vec2::Zero()};
    mechanism.end = 10;
    // Upside down (k = 1) it never falls, and a hanging one (k = 0) never moves: neither has a period.
    const double k = std::sin(theta0 / 2);
    if (g > 0 && std::abs(theta0) < 3.14 && k != 0)
        mechanism.exact = [p = *this, k, K = boost::math::ellint_1(k)](double t) {
            const double w = std::sqrt(p.g / p.L), modulus = std::abs(k);
            double cn = 0, dn = 0;
            const double sn = boost::math::jacobi_elliptic(modulus, w * t + K, &cn, &dn);
            const double half = std::asin(std::clamp(k * sn, -1.0, 1.0)), rate = 2 * k * w * cn;
            const Vec2 along(std::cos(2 * half), std::sin(2 * half));
            return State{t, p.L * Vec2(along[1], -along[0]), p.L * rate * along};
        };
    return mechanism;
}

}  // namespace stickslip
