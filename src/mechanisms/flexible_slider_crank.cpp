// A slider-crank with an elastic rod and a driven crank (Simeon 1996; 'crank' of the Test Set for IVP Solvers; [Haddouni,
// 3.1.3]): p = (phi1, phi2, x3), crank and rod from the horizontal and the slider along it; q1, q2 the first two bending modes
// (sines), q3, q4 the stretch of half the rod and of all of it (quadratic element). With s = phi1 - phi2, A = b h, and
//
//   alpha = rho l1 (cos s c1 + sin s c2),   beta = dalpha/ds,   D = -k sin s + beta.q,   k = m2 l1 l2/2
//
//   M = [ J1 + m2 l1^2   k cos s + alpha.q              0   beta'          ]     f = [ D u2^2 - 2 u2 alpha.r                    ]
//       [ .              J2 + q'Mq q + 2 rho c12.q      0   rho (c21 + B'q)' ]         [ -D u1^2 - 2 u2 (q'Mq + rho c12').r       ]
//       [ .              .                              m3  0              ]         [ 0                                        ]
//       [ .              .                              .   Mq             ]         [ u1^2 alpha + u2^2 (Mq q + rho c12) + 2 rho u2 B r ]
//
// for the rates (u1, u2, u3, r); f are the Coriolis forces of M. U = q'Kq q/2 + gravity: linear, undamped, stiff (2e4 rad/s).
//
//   g = (l1 sin phi1 + (l2 + q4) sin phi2,  x3 - l1 cos phi1 - (l2 + q4) cos phi2),   phi1' = Omega
//
// The literature drives the crank by a third holonomic row phi1 = Omega t; here it is a row on the velocity with target Omega,
// the same motion, since holonomic rows stand for G v = 0. The Test Set computes with pi = 3.1415927, this with pi. Mq is as
// published: its longitudinal block lacks the 1/15 of a consistent quadratic element.
//
// At t = 0 crank and rod are in line. The elastic state then is near the smooth motion of the default parameters; others start
// oscillations unless q1_0 .. v4_0 are changed too.
#include <numbers>

#include "mechanisms/benchmarks.hpp"
#include "mechanisms/two_links.hpp"

namespace stickslip {

namespace {

using Vec4 = Eigen::Vector4d;
using Mat4 = Eigen::Matrix4d;
using std::numbers::pi;

// The functions of the file head.
struct ElasticCrank {
    Mat4 Mq, Kq, B;         // [kg], [N/m], [kg] with the density
    Vec4 c1, c2, c12, c21;  // [kg], [kg], [kg m], [kg m] with the density
    double J1, J2, m3, k, l1, l2;
    double w1, w2, g;  // [N m], [N m], [m/s^2]

    Vec4 alpha(double s) const { return l1 * (std::cos(s) * c1 + std::sin(s) * c2); }
    Vec4 beta(double s) const { return l1 * (std::cos(s) * c2 - std::sin(s) * c1); }

    void mass(const VecX& x, MatX& M) const {
        const double s = x[0] - x[1];
        const Vec4 q = x.tail<4>();
        M(0, 0) = J1;
        M(0, 1) = M(1, 0) = k * std::cos(s) + alpha(s).dot(q);
        M(1, 1) = J2 + q.dot(Mq * q) + 2 * c12.dot(q);
        M(2, 2) = m3;
        const Vec4 first = beta(s), second = c21 + B.transpose() * q;
        M.block<4, 1>(3, 0) = first;
        M.block<1, 4>(0, 3) = first.transpose();
        M.block<4, 1>(3, 1) = second;
        M.block<1, 4>(1, 3) = second.transpose();
        M.block<4, 4>(3, 3) = Mq;
    }
    void coriolis(const VecX& x, const VecX& v, VecX& f) const {
        const double s = x[0] - x[1], u1 = v[0], u2 = v[1];
        const Vec4 q = x.tail<4>(), r = v.tail<4>(), a = alpha(s), spread = Mq * q + c12;
        const double D = beta(s).dot(q) - k * std::sin(s);
        f[0] = D * u2 * u2 - 2 * u2 * a.dot(r);
        f[1] = -D * u1 * u1 - 2 * u2 * spread.dot(r);
        f.tail<4>() = u1 * u1 * a + u2 * u2 * spread + 2 * u2 * (B * r);
    }
    double potential(const VecX& x) const {
        const Vec4 q = x.tail<4>();
        return w1 * std::sin(x[0]) + w2 * std::sin(x[1]) +
               g * (std::sin(x[1]) * c1.dot(q) + std::cos(x[1]) * c2.dot(q)) + 0.5 * q.dot(Kq * q);
    }
    void potential_force(const VecX& x, VecX& f) const {
        const Vec4 q = x.tail<4>();
        const double sine = std::sin(x[1]), cosine = std::cos(x[1]);
        f[0] = -w1 * std::cos(x[0]);
        f[1] = -w2 * cosine - g * (cosine * c1.dot(q) - sine * c2.dot(q));
        f.tail<4>() = -g * (sine * c1 + cosine * c2) - Kq * q;
    }
    void slopes(const VecX& x, const VecX& v, MatX& K, MatX& C) const {
        const double s = x[0] - x[1], u1 = v[0], u2 = v[1], sine = std::sin(x[1]), cosine = std::cos(x[1]);
        const Vec4 q = x.tail<4>(), r = v.tail<4>(), a = alpha(s), b = beta(s), spread = Mq * q + c12;
        const double D = b.dot(q) - k * std::sin(s), M12 = k * std::cos(s) + a.dot(q);  // dD/ds = -M12
        K(0, 0) = M12 * u2 * u2 + 2 * u2 * b.dot(r);
        K(0, 1) = -K(0, 0);
        K(0, 0) -= w1 * std::sin(x[0]);
        K(1, 0) = -M12 * u1 * u1;
        K(1, 1) = M12 * u1 * u1 - w2 * sine - g * (sine * c1.dot(q) + cosine * c2.dot(q));
        const Vec4 hang = g * (cosine * c1 - sine * c2);
        K.block<1, 4>(0, 3) = -u2 * u2 * b.transpose();
        K.block<1, 4>(1, 3) = (u1 * u1 * b + 2 * u2 * (Mq * r) + hang).transpose();
        K.block<4, 1>(3, 0) = -u1 * u1 * b;
        K.block<4, 1>(3, 1) = u1 * u1 * b + hang;
        K.block<4, 4>(3, 3) = Kq - u2 * u2 * Mq;
        C(0, 1) = 2 * a.dot(r) - 2 * D * u2;
        C(1, 0) = 2 * D * u1;
        C(1, 1) = 2 * spread.dot(r);
        C.block<1, 4>(0, 3) = 2 * u2 * a.transpose();
        C.block<1, 4>(1, 3) = 2 * u2 * spread.transpose();
        C.block<4, 1>(3, 0) = -2 * u1 * a;
        C.block<4, 1>(3, 1) = -2 * u2 * spread - 2 * (B * r);
        C.block<4, 4>(3, 3) = -2 * u2 * B;
    }
};

ElasticCrank elastic_crank(const FlexibleSliderCrank& p) {
    ElasticCrank e{};
    const double A = p.b * p.h, line = p.rho * A * p.l2, slender = p.h / p.l2;  // [m^2], [kg], [-]
    const double pi3 = pi * pi * pi, bend = pi3 * pi / 24 * slender * slender;
    e.Mq << 0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 8, 1, 0, 0, 1, 2;
    e.Mq *= line;
    e.Kq << bend, 0, 0, 0, 0, 16 * bend, 0, 0, 0, 0, 16.0 / 3, -8.0 / 3, 0, 0, -8.0 / 3, 7.0 / 3;
    e.Kq *= p.E * A / p.l2;
    e.B.setZero();
    e.B(0, 2) = -16 / pi3;
    e.B(0, 3) = 8 / pi3 - 1 / pi;
    e.B(1, 3) = 1 / (2 * pi);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) e.B(i, j) = -e.B(j, i);
    e.B *= line;
    e.c1 = line * Vec4(0, 0, 2.0 / 3, 1.0 / 6);
    e.c2 = line * Vec4(2 / pi, 0, 0, 0);
    e.c12 = line * p.l2 * Vec4(0, 0, 1.0 / 3, 1.0 / 6);
    e.c21 = line * p.l2 * Vec4(1 / pi, -1 / (2 * pi), 0, 0);
    e.J1 = p.J1 + p.m2 * p.l1 * p.l1;
    e.J2 = p.J2;
    e.m3 = p.m3;
    e.k = p.m2 * p.l1 * p.l2 / 2;
    e.l1 = p.l1;
    e.l2 = p.l2;
    e.w1 = (p.m1 / 2 + p.m2) * p.g * p.l1;
    e.w2 = p.m2 / 2 * p.g * p.l2;
    e.g = p.g;
    return e;
}

}  // namespace

Mechanism FlexibleSliderCrank::build(const OptionValues& values) const {
    require(m1 > 0, "m1 must be positive [kg]", values, "m1");
    require(m2 > 0, "m2 must be positive [kg]", values, "m2");
    require(m3 > 0, "m3 must be positive [kg]", values, "m3");
    require(l1 > 0, "l1 must be positive [m]", values, "l1");
    require(l2 > 0, "l2 must be positive [m]", values, "l2");
    require(l1 < l2, "l1 must be less than l2, or the driven crank cannot turn [m]", values,
            given_of({"l1", "l2"}, values));
    require(J1 > 0, "J1 must be positive [kg m^2]", values, "J1");
    require(J2 > 0, "J2 must be positive [kg m^2]", values, "J2");
    require(E >= 0, "E must not be negative [N/m^2]", values, "E");
    require(b > 0, "b must be positive [m]", values, "b");
    require(h > 0, "h must be positive [m]", values, "h");
    require(rho > 0, "rho must be positive [kg/m^3]", values, "rho");
    require(l2 + q4_0 > 0, "q4_0 must leave the rod of l2 a length [m]", values, given_of({"q4_0", "l2"}, values));
    const ElasticCrank crank = elastic_crank(*this);
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"phi1", "phi2", "x3", "q1", "q2", "q3", "q4"};
    model.nv = 7;
    const double length0 = l2 + q4_0, phi2_rate = -l1 * Omega / length0;
    VecX q(7), v(7);
    q << 0, 0, l1 + length0, q1_0, q2_0, q3_0, q4_0;
    v << Omega, phi2_rate, v4_0, v1_0, v2_0, v3_0, v4_0;
    MatX M = MatX::Zero(7, 7);
    crank.mass(q, M);
    require(M.llt().info() == Eigen::Success,
            "J2 is too small for the elastic terms that b, h, rho and l2 add to the mass matrix [kg m^2]", values,
            given_of({"J2", "b", "h", "rho", "l2"}, values));
    model.mass = [crank](const VecX& x, MatX& mass) { crank.mass(x, mass); };
    model.coriolis = [crank](const VecX& x, const VecX& rate, VecX& f) { crank.coriolis(x, rate, f); };
    model.potential = [crank](const VecX& x) { return crank.potential(x); };
    model.potential_force = [crank](const VecX& x, VecX& f) { crank.potential_force(x, f); };
    model.slopes = [crank](double, const VecX& x, const VecX& rate, MatX& K, MatX& C) { crank.slopes(x, rate, K, C); };

    model.joints = 2;
    model.joint_names = {"slider across its guide", "slider along its guide"};
    model.joint_value = [first = l1, relaxed = l2](double, const VecX& x, VecX& value) {
        const double rod = relaxed + x[6];
        value[0] = first * std::sin(x[0]) + rod * std::sin(x[1]);
        value[1] = x[2] - first * std::cos(x[0]) - rod * std::cos(x[1]);
    };
    model.joint_jacobian = [first = l1, relaxed = l2](double, const VecX& x, MatX& G) {
        const double rod = relaxed + x[6], sine = std::sin(x[1]), cosine = std::cos(x[1]);
        G.row(0) << first * std::cos(x[0]), rod * cosine, 0, 0, 0, 0, sine;
        G.row(1) << first * std::sin(x[0]), rod * sine, 1, 0, 0, 0, -cosine;
    };
    model.joint_bias = [first = l1, relaxed = l2](double, const VecX& x, const VecX& u, VecX& c) {
        const double rod = relaxed + x[6], sine = std::sin(x[1]), cosine = std::cos(x[1]);
        const double inward = rod * u[1] * u[1], turning = 2 * u[1] * u[6], crank_inward = first * u[0] * u[0];
        c[0] = -crank_inward * std::sin(x[0]) - inward * sine + turning * cosine;
        c[1] = crank_inward * std::cos(x[0]) + inward * cosine + turning * sine;
    };
    model.velocity_rows = 1;
    model.velocity_names = {"drive of the crank"};
    model.velocity_jacobian = [](double, const VecX&, MatX& G) { G(0, 0) = 1; };
    model.velocity_target = [rate = Omega](double, VecX& w) { w[0] = rate; };
    model.velocity_bias = [](double, const VecX&, const VecX&, VecX&) {};

    model.bodies = {"crank", "rod", "slider"};
    model.body_state = [p = *this](int body, const VecX& x, const VecX& u) {
        if (body == 2) return BodyState{{Vec3(x[2], 0, 0), Quat::Identity()}, Vec3(u[2], 0, 0), Vec3::Zero()};
        if (body == 0)
            return BodyState{
                {p.l1 / 2 * direction(x[0]), about_z(x[0])}, p.l1 / 2 * u[0] * left_of(x[0]), Vec3(0, 0, u[0])};
        // The middle of the rod, where the first bending mode is largest and the second vanishes; angle of the chord.
        const double along = p.l2 / 2 + x[5], across = x[3];
        const Vec3 e = direction(x[1]), n = left_of(x[1]);
        return BodyState{{p.l1 * direction(x[0]) + along * e + across * n, about_z(x[1])},
                         p.l1 * u[0] * left_of(x[0]) + u[5] * e + u[3] * n + u[1] * (along * n - across * e),
                         Vec3(0, 0, u[1])};
    };
    mechanism.state = {0, q, v};
    mechanism.end = 0.1;
    mechanism.step = 5e-6;  // [s] the rod stretches with a period of 0.3 ms, and explicit Euler feeds it in larger ones
    return mechanism;
}

}  // namespace stickslip
