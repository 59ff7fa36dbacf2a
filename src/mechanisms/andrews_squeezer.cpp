// Andrews' squeezing mechanism (Schiehlen 1990; Hairer & Wanner, Solving ODE II, VII.7; 'andrews' of the Test Set for IVP
// Solvers): seven bodies in the plane without gravity, driven by a torque on beta, in q = (beta, Theta, gamma, Phi, delta, Omega,
// epsilon). Absolute angles of the bodies K1 .. K7: beta, beta+Theta, gamma, Phi+delta, delta, Omega+epsilon, epsilon. K1 and K2
// start at the origin, K3 at B, K5 and K4 at A, K7 and K6 at A; the ends of K2, K3, K4 and K6 are one hinge, so with
// e(a) = (cos a, sin a), s(a) = (sin a, -cos a) the rows are
//
//   rr e(beta) - d e(beta+Theta)  =  B + ss s(gamma)  =  A + zt e(delta) + e s(Phi+delta)  =  A + u s(epsilon) + zf e(Omega+epsilon)
//
// M falls into pairs (y, x), x the angle of the second link on the first, and gamma alone:
//
//   T = J1 y'^2/2 + J2 (y'+x')^2/2 + k(x) y' (y'+x'),   Coriolis forces (-k' x' (2 y' + x'),  k' y'^2)
//
// At t = 0 it rests with Theta = 0 and the loops closed as the published start. Rates reach 1e3 rad/s.
#include <array>

#include "mechanisms/arms.hpp"
#include "mechanisms/benchmarks.hpp"
#include "mechanisms/two_links.hpp"

namespace stickslip {

namespace {

enum Angle { beta, Theta, gamma, Phi, delta, Omega, epsilon };

struct Pair {
    int y, x;       // first link, and the second on it
    double J1, J2;  // [kg m^2]
    double kc, ks;  // [kg m^2] k = kc cos x + ks sin x

    double coupling(const VecX& q) const { return kc * std::cos(q[x]) + ks * std::sin(q[x]); }
    double coupling_slope(const VecX& q) const { return ks * std::cos(q[x]) - kc * std::sin(q[x]); }
    void mass(const VecX& q, MatX& M) const {
        const double k = coupling(q);
        M(y, y) = J1 + J2 + 2 * k;
        M(x, y) = M(y, x) = J2 + k;
        M(x, x) = J2;
    }
    void coriolis(const VecX& q, const VecX& v, VecX& f) const {
        const double slope = coupling_slope(q);
        f[y] = -slope * v[x] * (2 * v[y] + v[x]);
        f[x] = slope * v[y] * v[y];
    }
    void slopes(const VecX& q, const VecX& v, MatX& K, MatX& C) const {
        const double k = coupling(q), slope = coupling_slope(q);
        K(y, x) = -k * v[x] * (2 * v[y] + v[x]);
        K(x, x) = k * v[y] * v[y];
        C(y, y) = 2 * slope * v[x];
        C(y, x) = 2 * slope * (v[y] + v[x]);
        C(x, y) = -2 * slope * v[y];
    }
};

// A point carried by two arms; `back` turns them round.
struct Carried {
    Vec2 base;
    std::array<Arm, 2> arms;

    Vec2 at(const VecX& q) const { return base + arms[0].at(q) + arms[1].at(q); }
    Vec2 velocity(const VecX& q, const VecX& v) const {
        return arms[0].angle(v) * arms[0].slope(q) + arms[1].angle(v) * arms[1].slope(q);
    }
    Vec2 turning(const VecX& q, const VecX& v) const {  // acceleration at constant rates
        Vec2 a = Vec2::Zero();
        for (const Arm& arm : arms) a -= arm.angle(v) * arm.angle(v) * arm.at(q);
        return a;
    }
    void add_jacobian(const VecX& q, double sign, MatX& G, int row) const {
        for (const Arm& arm : arms) {
            const Vec2 slope = sign * arm.slope(q);
            G.block<2, 1>(row, arm.i) += slope;
            if (arm.j >= 0) G.block<2, 1>(row, arm.j) += slope;
        }
    }
};

struct Squeezer {
    AndrewsSqueezer p;
    Vec2 A{p.xa, p.ya}, B{p.xb, p.yb}, C{p.xc, p.yc};
    // The end of K2, and the same hinge by the three other ways.
    Carried hinge{Vec2::Zero(), {{{p.rr, 0, beta}, {-p.d, 0, beta, Theta}}}};
    std::array<Carried, 3> ways{Carried{B, {{{0, -p.ss, gamma}, {0, 0, gamma}}}},
                                Carried{A, {{{p.zt, 0, delta}, {0, -p.e, Phi, delta}}}},
                                Carried{A, {{{0, -p.u, epsilon}, {p.zf, 0, Omega, epsilon}}}}};
    Carried spring_end{B, {{{p.sd, -p.sc, gamma}, {0, 0, gamma}}}};
    std::array<Carried, 7> centres{Carried{Vec2::Zero(), {{{0, 0, beta}, {p.ra, 0, beta}}}},
                                   Carried{Vec2::Zero(), {{{p.rr, 0, beta}, {-p.da, 0, beta, Theta}}}},
                                   Carried{B, {{{0, 0, gamma}, {p.sb, -p.sa, gamma}}}},
                                   Carried{A, {{{p.zt, 0, delta}, {0, -(p.e - p.ea), Phi, delta}}}},
                                   Carried{A, {{{0, 0, delta}, {p.ta, p.tb, delta}}}},
                                   Carried{A, {{{0, -p.u, epsilon}, {p.zf - p.fa, 0, Omega, epsilon}}}},
                                   Carried{A, {{{0, 0, epsilon}, {-p.ub, -p.ua, epsilon}}}}};
    std::array<Pair, 3> pairs{
        Pair{beta, Theta, p.I1 + p.m1* p.ra* p.ra + p.m2* p.rr* p.rr, p.I2 + p.m2* p.da* p.da, -p.m2* p.rr* p.da, 0},
        Pair{delta, Phi, p.I5 + p.m5*(p.ta* p.ta + p.tb * p.tb) + p.m4* p.zt* p.zt,
             p.I4 + p.m4*(p.e - p.ea) * (p.e - p.ea), 0, p.m4* p.zt*(p.e - p.ea)},
        Pair{epsilon, Omega, p.I7 + p.m7*(p.ua* p.ua + p.ub * p.ub) + p.m6* p.u* p.u,
             p.I6 + p.m6*(p.zf - p.fa) * (p.zf - p.fa), 0, -p.m6* p.u*(p.zf - p.fa)}};
    double J3 = p.I3 + p.m3 * (p.sa * p.sa + p.sb * p.sb);

    double spring_length(const VecX& q) const { return (spring_end.at(q) - C).norm(); }
};

double angle_of(const Vec2& r) { return std::atan2(r[1], r[0]); }
// To (-pi, pi].
double wrapped(double angle) { return std::atan2(std::sin(angle), std::cos(angle)); }

// Theta = 0: the common hinge is on the circle of radius |rr - d| about the origin and on that of radius ss about B.
VecX closed(const AndrewsSqueezer& p, const OptionValues& values) {
    const Vec2 A(p.xa, p.ya), B(p.xb, p.yb);
    const double crank = p.rr - p.d;
    require(crank != 0 && reaches(B, std::abs(crank), p.ss),
            "the loops must close: with Theta = 0 the ends of K2 (rr, d) and K3 (ss, xb, yb) must meet", values,
            given_of({"ss", "rr", "d", "xb", "yb"}, values));
    const Vec2 hinge = first_of_two(B, std::abs(crank), p.ss, 1);
    require(reaches(hinge - A, p.zt, p.e), "the loops must close: K5 and K4 (zt, e, xa, ya) must reach the end of K3",
            values, given_of({"zt", "e", "xa", "ya"}, values));
    require(reaches(hinge - A, p.u, p.zf), "the loops must close: K7 and K6 (u, zf, xa, ya) must reach the end of K3",
            values, given_of({"u", "zf", "xa", "ya"}, values));
    const double quarter = std::asin(1.0);
    const Vec2 left = first_of_two(hinge - A, p.zt, p.e, 1), right = first_of_two(hinge - A, p.u, p.zf, -1);
    VecX q = VecX::Zero(7);
    q[beta] = angle_of(crank < 0 ? Vec2(-hinge) : hinge);
    q[gamma] = wrapped(angle_of(hinge - B) + quarter);
    q[delta] = angle_of(left);
    q[Phi] = wrapped(angle_of(hinge - A - left) + quarter - q[delta]);
    q[epsilon] = wrapped(angle_of(right) + quarter);
    q[Omega] = wrapped(angle_of(hinge - A - right) - q[epsilon]);
    return q;
}

}  // namespace

Mechanism AndrewsSqueezer::build(const OptionValues& values) const {
    AndrewsSqueezer listed = *this;
    listed.fields([&](const char* key, double& number, const char* unit, const char*) {
        const std::string text = unit;
        if (text == "kg" || text == "kg m^2")
            require(number > 0, (key + std::string(" must be positive [") + unit + "]").c_str(), values, key);
    });
    require(c0 >= 0, "c0 must not be negative [N/m]", values, "c0");
    require(ss > 0, "ss must be positive [m]", values, "ss");
    require(zt > 0, "zt must be positive [m]", values, "zt");
    require(e > 0, "e must be positive [m]", values, "e");
    require(u > 0, "u must be positive [m]", values, "u");
    require(zf > 0, "zf must be positive [m]", values, "zf");
    const VecX start = closed(*this, values);
    const Squeezer squeezer{*this};
    require(squeezer.spring_length(start) > 0, "the spring must have a length: its ends must not be one point (xc, yc)",
            values, given_of({"xc", "yc", "sc", "sd"}, values));

    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"};
    model.nv = 7;
    model.mass = [squeezer](const VecX& q, MatX& M) {
        for (const Pair& pair : squeezer.pairs) pair.mass(q, M);
        M(gamma, gamma) = squeezer.J3;
    };
    model.coriolis = [squeezer](const VecX& q, const VecX& v, VecX& f) {
        for (const Pair& pair : squeezer.pairs) pair.coriolis(q, v, f);
    };
    model.applied = [torque = mom](double, const VecX&, const VecX&, VecX& k) { k[beta] = torque; };
    model.slopes = [squeezer](double, const VecX& q, const VecX& v, MatX& K, MatX& C) {
        for (const Pair& pair : squeezer.pairs) pair.slopes(q, v, K, C);
    };
    LagrangianModel::Spring spring;
    spring.name = "spring";
    spring.stiffness = c0;
    spring.value = [squeezer](const VecX& q) { return squeezer.spring_length(q) - squeezer.p.l0; };
    spring.gradient = [squeezer](const VecX& q, VecX& G) {
        const Vec2 way = (squeezer.spring_end.at(q) - squeezer.C).normalized();
        G[gamma] = way.dot(squeezer.spring_end.arms[0].slope(q));
    };
    spring.bias = [squeezer](const VecX& q, const VecX& v) {
        const Vec2 way = squeezer.spring_end.at(q) - squeezer.C, rate = squeezer.spring_end.velocity(q, v);
        const double length = way.norm(), speed = way.dot(rate) / length;
        return (rate.squaredNorm() - speed * speed + way.dot(squeezer.spring_end.turning(q, v))) / length;
    };
    model.springs = {spring};

    model.joints = 6;
    model.joint_names = {"K2 to K3 along x", "K2 to K3 along y", "K2 to K4 along x",
                         "K2 to K4 along y", "K2 to K6 along x", "K2 to K6 along y"};
    model.joint_value = [squeezer](double, const VecX& q, VecX& value) {
        for (int i = 0; i < 3; ++i) value.segment<2>(2 * i) = squeezer.hinge.at(q) - squeezer.ways[i].at(q);
    };
    model.joint_jacobian = [squeezer](double, const VecX& q, MatX& G) {
        for (int i = 0; i < 3; ++i) {
            squeezer.hinge.add_jacobian(q, 1, G, 2 * i);
            squeezer.ways[i].add_jacobian(q, -1, G, 2 * i);
        }
    };
    model.joint_bias = [squeezer](double, const VecX& q, const VecX& v, VecX& c) {
        for (int i = 0; i < 3; ++i) c.segment<2>(2 * i) = squeezer.hinge.turning(q, v) - squeezer.ways[i].turning(q, v);
    };
    model.bodies = {"K1", "K2", "K3", "K4", "K5", "K6", "K7"};
    model.body_state = [squeezer](int body, const VecX& q, const VecX& v) {
        const Carried& centre = squeezer.centres[body];
        const Vec2 at = centre.at(q), speed = centre.velocity(q, v);
        const Arm& own = centre.arms[1];
        return BodyState{
            {Vec3(at[0], at[1], 0), about_z(own.angle(q))}, Vec3(speed[0], speed[1], 0), Vec3(0, 0, own.angle(v))};
    };
    mechanism.state = {0, start, VecX::Zero(7)};
    mechanism.end = 0.03;
    mechanism.step = 1e-5;  // [s] 0.01 rad of the crank
    return mechanism;
}

}  // namespace stickslip
