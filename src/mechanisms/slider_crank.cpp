// A slider-crank [Haddouni, 3.1.2]: q = (alpha1, alpha2), crank and rod from the horizontal, y up, uniform bars; the slider at
// the end of the rod keeps to y = 0:
//
//   g = l1 sin alpha1 + l2 sin alpha2,   M22 = I2 + (m2/4 + m3) l2^2,   I2 = m2 l2^2/12
//
// (3.7) of the thesis prints m2/2 in M22, which is no mass matrix of this mechanism but is what its figures may have used:
// mass_matrix=printed. Its Table 3.4 violates dg/dt = 0; l2 = 2 m makes it consistent. At t = 0 the slider is on the side of the
// crank on which cos alpha2 > 0. With l1 = l2 the row vanishes at alpha1 = +-pi/2, where the motion may branch.
#include "mechanisms/benchmarks.hpp"
#include "mechanisms/two_links.hpp"

namespace stickslip {

Mechanism SliderCrank::build(const OptionValues& values) const {
    require(m1 > 0, "m1 must be positive [kg]", values, "m1");
    require(m2 > 0, "m2 must be positive [kg]", values, "m2");
    require(m3 > 0, "m3 must be positive [kg]", values, "m3");
    require(l1 > 0, "l1 must be positive [m]", values, "l1");
    require(l2 > 0, "l2 must be positive [m]", values, "l2");
    const double sine = -l1 / l2 * std::sin(alpha1_0);
    require(std::abs(sine) <= 1, "the rod must reach the guide: l1 |sin alpha1_0| must not exceed l2", values,
            given_of({"alpha1_0", "l1", "l2"}, values));
    const double alpha2_0 = std::asin(sine);
    const double crank_speed = l1 * std::cos(alpha1_0) * omega1_0;  // [m/s] across the guide
    require(std::abs(sine) < 1 || crank_speed == 0, "a rod that stands across the guide admits no omega1_0 but zero",
            values, given_of({"omega1_0", "alpha1_0"}, values));
    const double omega2_0 = crank_speed == 0 ? 0 : -crank_speed / (l2 * std::cos(alpha2_0));

    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"alpha1", "alpha2"};
    model.nv = 2;
    const double arm = mass_matrix.word() == "printed" ? m2 / 2 : m2 / 4;
    const TwoLinks links{.J1 = (m1 / 3 + m2 + m3) * l1 * l1,
                         .J2 = (m2 / 12 + arm + m3) * l2 * l2,
                         .k = (m2 / 2 + m3) * l1 * l2,
                         .w1 = (m1 / 2 + m2 + m3) * g * l1,
                         .w2 = (m2 / 2 + m3) * g * l2};
    model.mass = [links](const VecX& q, MatX& M) { links.mass(q, M); };
    model.coriolis = [links](const VecX& q, const VecX& v, VecX& c) { links.coriolis(q, v, c); };
    model.potential = [links](const VecX& q) { return links.potential(q); };
    model.potential_force = [links](const VecX& q, VecX& k) { links.potential_force(q, k); };
    model.slopes = [links](double, const VecX& q, const VecX& v, MatX& K, MatX& C) { links.slopes(q, v, K, C); };

    const Vec2 bars(l1, l2);
    model.joints = 1;
    model.joint_names = {"guide"};
    model.joint_value = [bars](double, const VecX& q, VecX& value) {
        value[0] = bars[0] * std::sin(q[0]) + bars[1] * std::sin(q[1]);
    };
    model.joint_jacobian = [bars](double, const VecX& q, MatX& G) {
        for (int i = 0; i < 2; ++i) G(0, i) = bars[i] * std::cos(q[i]);
    };
    model.joint_bias = [bars](double, const VecX& q, const VecX& v, VecX& c) {
        for (int i = 0; i < 2; ++i) c[0] -= bars[i] * std::sin(q[i]) * v[i] * v[i];
    };
    model.bodies = {"crank", "rod", "slider"};
    model.body_state = [p = *this](int body, const VecX& q, const VecX& v) {
        const double crank = body == 0 ? p.l1 / 2 : p.l1, rod = body == 0 ? 0 : body == 1 ? p.l2 / 2 : p.l2;
        const bool slides = body == 2;  // it does not turn
        return BodyState{{crank * direction(q[0]) + rod * direction(q[1]), about_z(slides ? 0 : q[body])},
                         crank * v[0] * left_of(q[0]) + rod * v[1] * left_of(q[1]),
                         Vec3(0, 0, slides ? 0 : v[body])};
    };
    mechanism.state = {0, Vec2(alpha1_0, alpha2_0), Vec2(omega1_0, omega2_0)};
    mechanism.end = 1;
    mechanism.step = 1e-4;  // [s] in 1e-3 schemes that hold velocities leave the guide by millimetres
    return mechanism;
}

}  // namespace stickslip
