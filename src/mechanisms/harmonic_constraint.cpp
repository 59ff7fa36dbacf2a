// A harmonic oscillator as a regularised constraint: g(x) = x with the compliance 1/(m w^2) [Lacoursiere-Linde, s.9].
// Here it is the spring m w^2 on phi(x) = x, a compliant row.
#include <cmath>

#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism HarmonicConstraint::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(frequency_hz > 0, "frequency_hz must be positive [Hz]", values, "frequency_hz");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x"};
    model.nv = 1;
    model.constant_mass = MatX::Constant(1, 1, m);
    LagrangianModel::Spring spring;
    spring.name = "constraint";
    const double w = 2 * 3.14159265358979323846 * frequency_hz;  // [rad/s]
    spring.stiffness = m * w * w;
    spring.value = [](const VecX& q) { return q[0]; };
    spring.gradient = [](const VecX&, VecX& G) { G[0] = 1; };
    model.springs.push_back(spring);
    model.bodies = {"bob"};
    model.body_state = [](int, const VecX& q, const VecX& v) {
        return BodyState{{Vec3(q[0], 0, 0), Quat::Identity()}, Vec3(v[0], 0, 0), Vec3::Zero()};
    };
    mechanism.state = {0, VecX::Constant(1, x0), VecX::Constant(1, v0)};
    mechanism.end = 2;
    mechanism.exact = [p = *this, w](double t) {
        return State{t, VecX::Constant(1, p.x0 * std::cos(w * t) + p.v0 / w * std::sin(w * t)),
                     VecX::Constant(1, p.v0 * std::cos(w * t) - p.x0 * w * std::sin(w * t))};
    };
    return mechanism;
}

}  // namespace stickslip
