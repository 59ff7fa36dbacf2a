// A slider-crank whose slider has play in its guide (Flores, Leine, Glocker 2010; [Haddouni, 4.3.2]): q = (theta1, theta2,
// theta3), crank, rod and slider from the horizontal, y up. The slider of length 2 a and height 2 b runs in a guide of height
// 2 (b + c); each corner (s_a a, s_b b) touches the side of its own s_b:
//
//   p = l1 e(theta1) + l2 e(theta2) + R(theta3) (s_a a, s_b b),   phi = b + c - s_b p_y,   N = -s_b dp_y/dq,   D = dp_x/dq
//
// The crank is not driven. At t = 0 all is in line, and the rod turns so that the slider moves along the guide. Started so, the
// slider never tilts: it strikes with two corners at once, and a tilt however small makes those impacts follow each other.
#include "mechanisms/mechanisms.hpp"
#include "mechanisms/two_links.hpp"

namespace stickslip {

Mechanism SliderCrankClearance::build(const OptionValues& values) const {
    require(l1 > 0, "l1 must be positive [m]", values, "l1");
    require(l2 > 0, "l2 must be positive [m]", values, "l2");
    require(a >= 0, "a must not be negative [m]", values, "a");
    require(b >= 0, "b must not be negative [m]", values, "b");
    require(c >= 0, "c must not be negative [m]", values, "c");
    require(m1 > 0, "m1 must be positive [kg]", values, "m1");
    require(m2 > 0, "m2 must be positive [kg]", values, "m2");
    require(m3 > 0, "m3 must be positive [kg]", values, "m3");
    require(J1 > 0, "J1 must be positive [kg m^2]", values, "J1");
    require(J2 > 0, "J2 must be positive [kg m^2]", values, "J2");
    require(J3 > 0, "J3 must be positive [kg m^2]", values, "J3");
    require(eN >= 0 && eN <= 1, "eN must lie in [0, 1]", values, "eN");
    require(eT >= 0 && eT <= 1, "eT must lie in [0, 1]", values, "eT");
    require(mu >= 0, "mu must not be negative", values, "mu");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"theta1", "theta2", "theta3"};
    model.nv = 3;
    const TwoLinks links{.J1 = J1 + (m1 / 4 + m2 + m3) * l1 * l1,
                         .J2 = J2 + (m2 / 4 + m3) * l2 * l2,
                         .k = (m2 / 2 + m3) * l1 * l2,
                         .w1 = (m1 / 2 + m2 + m3) * g * l1,
                         .w2 = (m2 / 2 + m3) * g * l2};
    model.mass = [links, J = J3](const VecX& q, MatX& M) {
        links.mass(q, M);
        M(2, 2) = J;
    };
    model.coriolis = [links](const VecX& q, const VecX& v, VecX& f) { links.coriolis(q, v, f); };
    model.potential = [links](const VecX& q) { return links.potential(q); };
    model.potential_force = [links](const VecX& q, VecX& k) { links.potential_force(q, k); };
    model.slopes = [links](double, const VecX& q, const VecX& v, MatX& K, MatX& C) { links.slopes(q, v, K, C); };

    const auto add_corner = [&](const char* corner_name, double s_a, double s_b) {
        LagrangianModel::Contact corner;
        corner.name = corner_name;
        corner.tangents = 1;
        corner.friction = mu;
        corner.restitution = eN;
        corner.tangential_restitution = eT;
        const double first = l1, second = l2, along = s_a * a, across = s_b * b, room = b + c;
        corner.gap = [=](const VecX& q) {
            return room - s_b * (first * std::sin(q[0]) + second * std::sin(q[1]) + along * std::sin(q[2]) +
                                 across * std::cos(q[2]));
        };
        corner.jacobian = [=](const VecX& q, MatX& H) {
            const double sine = std::sin(q[2]), cosine = std::cos(q[2]);
            H.row(0) << first * std::cos(q[0]), second * std::cos(q[1]), along * cosine - across * sine;
            H.row(0) *= -s_b;
            H.row(1) << -first * std::sin(q[0]), -second * std::sin(q[1]), -along * sine - across * cosine;
        };
        corner.bias = [=](const VecX& q, const VecX& v, VecX& rate) {
            const Vec3 squares = Vec3(v).cwiseAbs2();
            const double sine = std::sin(q[2]), cosine = std::cos(q[2]);
            rate[0] = s_b * squares.dot(
                                Vec3(first * std::sin(q[0]), second * std::sin(q[1]), along * sine + across * cosine));
            rate[1] =
                -squares.dot(Vec3(first * std::cos(q[0]), second * std::cos(q[1]), along * cosine - across * sine));
        };
        model.contacts.push_back(corner);
    };
    add_corner("upper left corner", -1, 1);
    add_corner("upper right corner", 1, 1);
    add_corner("lower left corner", -1, -1);
    add_corner("lower right corner", 1, -1);

    model.bodies = {"crank", "rod", "slider"};
    model.body_state = [p = *this](int body, const VecX& q, const VecX& v) {
        const double crank = body == 0 ? p.l1 / 2 : p.l1, rod = body == 0 ? 0 : body == 1 ? p.l2 / 2 : p.l2;
        return BodyState{{crank * direction(q[0]) + rod * direction(q[1]), about_z(q[body])},
                         crank * v[0] * left_of(q[0]) + rod * v[1] * left_of(q[1]),
                         Vec3(0, 0, v[body])};
    };
    mechanism.state = {0, Vec3::Zero(), Vec3(omega1_0, -omega1_0 * l1 / l2, 0)};
    mechanism.end = 0.2;
    mechanism.step = 1e-5;  // [s] in 1e-3 the slider would cross its play many times
    return mechanism;
}

}  // namespace stickslip
