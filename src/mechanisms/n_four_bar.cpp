// N four-bar linkages in a row (IFToMM benchmark A02; Gonzalez, Dopico, Lugris & Cuadrado 2006): N + 1 rockers from A_i = (i L, 0)
// to B_i and N couplers from B_i to B_i+1, uniform rods of equal mass m and length L, in natural coordinates q = (B_0, .., B_N):
//
//   T = m/6 (|a'|^2 + a'.b' + |b'|^2) of a rod from a to b,   g = (|b - a|^2 - L^2)/(2 L),  2 N + 1 rows
//
// M is constant. Where all rods lie in line, twice in every turn, the rows lose N of their rank: N + 1 freedoms for a moment, and
// motions that branch. The parallelogram, in which all rockers are parallel, is a pendulum of J = ((N+1)/3 + N) m L^2 and weight
// times arm ((N+1)/2 + N) m g L. At t = 0 the rockers stand upright and the couplers move along x.
#include "mechanisms/benchmarks.hpp"
#include "mechanisms/two_links.hpp"

namespace stickslip {

namespace {

// Rods 0 .. N are the rockers, N + 1 .. 2 N the couplers. `x` are positions or velocities.
struct Chain {
    int N;
    double L;

    int rods() const { return 2 * N + 1; }
    int end(int rod) const { return rod <= N ? rod : rod - N; }       // of B
    int start(int rod) const { return rod <= N ? -1 : rod - N - 1; }  // of B; -1: A
    Vec2 point(const VecX& x, int B) const { return x.segment<2>(2 * B); }
    Vec2 anchor(int rod) const { return {rod * L, 0}; }
    Vec2 start_at(const VecX& q, int rod) const { return rod <= N ? anchor(rod) : point(q, start(rod)); }
    Vec2 start_rate(const VecX& v, int rod) const { return rod <= N ? Vec2(0, 0) : point(v, start(rod)); }
    Vec2 along(const VecX& q, int rod) const { return point(q, end(rod)) - start_at(q, rod); }
    Vec2 turning(const VecX& v, int rod) const { return point(v, end(rod)) - start_rate(v, rod); }
};

}  // namespace

Mechanism NFourBar::build(const OptionValues& values) const {
    // Matrices are dense and a step costs N^3: a thousand loops are minutes per step, more would not fit memory.
    require(N >= 1 && N <= 1000, "N must lie in 1 .. 1000", values, "N");
    require(m > 0, "m must be positive [kg]", values, "m");
    require(L > 0, "L must be positive [m]", values, "L");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    const Chain chain{N, L};
    model.name = name;
    model.nv = 2 * (N + 1);
    VecX arms = VecX::Zero(model.nv);  // [kg] weight of what each coordinate lifts
    model.constant_mass = MatX::Zero(model.nv, model.nv);
    for (int rod = 0; rod < chain.rods(); ++rod) {
        const int a = chain.start(rod), b = chain.end(rod);
        for (int k = 0; k < 2; ++k) {
            model.constant_mass(2 * b + k, 2 * b + k) += m / 3;
            if (a < 0) continue;
            model.constant_mass(2 * a + k, 2 * a + k) += m / 3;
            model.constant_mass(2 * a + k, 2 * b + k) = model.constant_mass(2 * b + k, 2 * a + k) = m / 6;
        }
        arms[2 * b + 1] += m / 2;
        if (a >= 0) arms[2 * a + 1] += m / 2;
    }
    const VecX weight = g * arms;  // [N]
    model.potential = [weight](const VecX& q) { return weight.dot(q); };
    model.potential_force = [weight](const VecX&, VecX& k) { k = -weight; };
    model.slopes = [](double, const VecX&, const VecX&, MatX&, MatX&) {};

    model.joints = chain.rods();
    for (int rod = 0; rod < chain.rods(); ++rod) {
        const bool rocker = rod <= N;
        const std::string title = (rocker ? "rocker " : "coupler ") + std::to_string(rocker ? rod : rod - N - 1);
        model.joint_names.push_back(title);
        model.bodies.push_back(title);
    }
    model.joint_value = [chain](double, const VecX& q, VecX& value) {
        for (int rod = 0; rod < chain.rods(); ++rod)
            value[rod] = (chain.along(q, rod).squaredNorm() - chain.L * chain.L) / (2 * chain.L);
    };
    model.joint_jacobian = [chain](double, const VecX& q, MatX& G) {
        for (int rod = 0; rod < chain.rods(); ++rod) {
            const Vec2 d = chain.along(q, rod) / chain.L;
            G.block<1, 2>(rod, 2 * chain.end(rod)) = d.transpose();
            if (chain.start(rod) >= 0) G.block<1, 2>(rod, 2 * chain.start(rod)) = -d.transpose();
        }
    };
    model.joint_bias = [chain](double, const VecX&, const VecX& v, VecX& c) {
        for (int rod = 0; rod < chain.rods(); ++rod) c[rod] = chain.turning(v, rod).squaredNorm() / chain.L;
    };
    model.body_state = [chain](int rod, const VecX& q, const VecX& v) {
        const Vec2 d = chain.along(q, rod), rate = chain.turning(v, rod);
        const Vec2 at = chain.start_at(q, rod) + d / 2, speed = chain.start_rate(v, rod) + rate / 2;
        const double spin = (d[0] * rate[1] - d[1] * rate[0]) / d.squaredNorm();
        return BodyState{
            {Vec3(at[0], at[1], 0), about_z(std::atan2(d[1], d[0]))}, Vec3(speed[0], speed[1], 0), Vec3(0, 0, spin)};
    };
    VecX q(model.nv), v = VecX::Zero(model.nv);
    for (int i = 0; i <= N; ++i) {
        model.coordinates.push_back("x" + std::to_string(i));
        model.coordinates.push_back("y" + std::to_string(i));
        q.segment<2>(2 * i) = Vec2(i * L, L);
        v[2 * i] = v_B0x;
    }
    mechanism.state = {0, q, v};
    mechanism.end = 10;
    return mechanism;
}

}  // namespace stickslip
