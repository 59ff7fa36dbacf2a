// A four-bar linkage driven by a constant torque [Haddouni, 3.1.1]: q = (phi1, phi2, phi3), crank, coupler and rocker, angles
// from the horizontal, y up; crank hinged at the origin, rocker at (d, 0), uniform bars.
//
//   g = (l1 cos phi1 + l2 cos phi2 - l3 cos phi3 - d,  l1 sin phi1 + l2 sin phi2 - l3 sin phi3)
//
// At t = 0 the linkage rests and the loop is closed with the hinge of coupler and rocker to the left of the way from the end of
// the crank to (d, 0). The thesis prints l2 = 0.36055 m but used sqrt(0.13) m, which puts phi3 at 2 pi/3.
#include "mechanisms/mechanisms.hpp"
#include "mechanisms/two_links.hpp"

namespace stickslip {

Mechanism FourBar::build(const OptionValues& values) const {
    require(m1 > 0, "m1 must be positive [kg]", values, "m1");
    require(m2 > 0, "m2 must be positive [kg]", values, "m2");
    require(m3 > 0, "m3 must be positive [kg]", values, "m3");
    require(l1 > 0, "l1 must be positive [m]", values, "l1");
    require(l2 > 0, "l2 must be positive [m]", values, "l2");
    require(l3 > 0, "l3 must be positive [m]", values, "l3");
    const Vec3 crank_end = l1 * direction(phi1_0), way = Vec3(d, 0, 0) - crank_end;
    const double length = way.norm();
    require(length > 0 && length <= l2 + l3 && length >= std::abs(l2 - l3),
            "the loop must close: with phi1_0, l1 and d the ends of coupler and rocker must reach each other (l2, l3)",
            values, "phi1_0");
    // Law of cosines; the cosine leaves [-1, 1] only by rounding.
    const double cosine = (l2 * l2 + length * length - l3 * l3) / (2 * l2 * length);
    const double phi2_0 = std::atan2(way[1], way[0]) + std::acos(std::min(1.0, std::max(-1.0, cosine)));
    const Vec3 rocker = l2 * direction(phi2_0) - way;
    const double phi3_0 = std::atan2(rocker[1], rocker[0]);

    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"phi1", "phi2", "phi3"};
    model.nv = 3;
    const TwoLinks links{.J1 = (m1 / 3 + m2) * l1 * l1,
                         .J2 = m2 / 3 * l2 * l2,
                         .k = m2 * l1 * l2 / 2,
                         .w1 = (m1 / 2 + m2) * g * l1,
                         .w2 = m2 / 2 * g * l2};
    const double J3 = m3 / 3 * l3 * l3, w3 = m3 / 2 * g * l3;
    model.mass = [=](const VecX& q, MatX& M) {
        links.mass(q, M);
        M(2, 2) = J3;
    };
    model.coriolis = [=](const VecX& q, const VecX& v, VecX& c) { links.coriolis(q, v, c); };
    model.potential = [=](const VecX& q) { return links.potential(q) + w3 * std::sin(q[2]); };
    model.potential_force = [=](const VecX& q, VecX& k) {
        links.potential_force(q, k);
        k[2] = -w3 * std::cos(q[2]);
    };
    model.applied = [torque = tau](double, const VecX&, const VecX&, VecX& k) { k[0] = torque; };
    model.slopes = [=](double, const VecX& q, const VecX& v, MatX& K, MatX& C) {
        links.slopes(q, v, K, C);
        K(2, 2) = -w3 * std::sin(q[2]);
    };
    const Vec3 bars(l1, l2, -l3);  // as they go around the loop
    model.joints = 2;
    model.joint_names = {"loop along x", "loop along y"};
    model.joint_value = [bars, base = d](double, const VecX& q, VecX& value) {
        value[0] = -base;
        for (int i = 0; i < 3; ++i) {
            const double c = std::cos(q[i]), s = std::sin(q[i]);
            value[0] += bars[i] * c;
            value[1] += bars[i] * s;
        }
    };
    model.joint_jacobian = [bars](double, const VecX& q, MatX& G) {
        for (int i = 0; i < 3; ++i) {
            const double c = std::cos(q[i]), s = std::sin(q[i]);
            G(0, i) = -bars[i] * s;
            G(1, i) = bars[i] * c;
        }
    };
    model.joint_bias = [bars](double, const VecX& q, const VecX& v, VecX& c) {
        for (int i = 0; i < 3; ++i) {
            c[0] -= bars[i] * std::cos(q[i]) * v[i] * v[i];
            c[1] -= bars[i] * std::sin(q[i]) * v[i] * v[i];
        }
    };
    model.bodies = {"crank", "coupler", "rocker"};
    model.body_state = [p = *this](int bar, const VecX& q, const VecX& v) {
        // Hinge at which the bar begins, and the middle of the bar.
        const double half = (bar == 0 ? p.l1 : bar == 1 ? p.l2 : p.l3) / 2;
        Vec3 at = half * direction(q[bar]), speed = half * v[bar] * left_of(q[bar]);
        if (bar == 1) {
            at += p.l1 * direction(q[0]);
            speed += p.l1 * v[0] * left_of(q[0]);
        }
        if (bar == 2) at[0] += p.d;
        return BodyState{{at, about_z(q[bar])}, speed, Vec3(0, 0, v[bar])};
    };
    mechanism.state = {0, Vec3(phi1_0, phi2_0, phi3_0), Vec3::Zero()};
    mechanism.end = 2;
    mechanism.step = 1e-4;  // [s] in 1e-3 schemes that hold velocities open the loop by centimetres
    return mechanism;
}

}  // namespace stickslip
