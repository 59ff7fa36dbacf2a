// Mechanisms of the library in smooth motion against their references: tops, the oscillator as a constraint, the joint with a
// wrong start, the rolling disc. All steps divide the times of the references.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

class Mechanisms : public ::testing::TestWithParam<std::string> {
protected:
    bool euler() const { return GetParam() == "euler"; }
    Set with(double h) const { return Set{{"scheme.name", GetParam()}}("run.step", h); }
};

Quat quaternion(const VecX& q, int at) { return {q[at], q[at + 1], q[at + 2], q[at + 3]}; }
Quat quaternion(const std::vector<double>& row, std::size_t at) {
    return {row[at], row[at + 1], row[at + 2], row[at + 3]};
}
Vec3 vector(const std::vector<double>& row, std::size_t at) { return {row[at], row[at + 1], row[at + 2]}; }

void advance_to(Simulation& simulation, double t, double h) {
    while (simulation.state().t < t - h / 2) ASSERT_TRUE(simulation.advance());
    ASSERT_NEAR(simulation.state().t, t, 1e-9);
}

// Largest error of attitude and angular velocity at the reference times up to `until`.
double top_error(const std::string& name, const Set& set, double h, double until) {
    const Reference reference(name);
    Simulation simulation(mechanism(name, set));
    double worst = 0;
    for (const std::vector<double>& state : reference.rows("state")) {
        if (state[0] > until) break;
        advance_to(simulation, state[0], h);
        worst = std::max({worst, quaternion(simulation.state().q, 0).angularDistance(quaternion(state, 1)),
                          (simulation.state().v - vector(state, 5)).norm()});
    }
    return worst;
}

// Moreau-Jean takes gyroscopic and gravity torques linearly implicit: order two while nothing touches.
TEST_P(Mechanisms, FreeBodyTurnsOverAsJacobisFunctionsSay) {
    std::vector<double> errors;
    for (int k = 8; k <= 11; ++k)
        errors.push_back(top_error("free-body", with(std::ldexp(1, -k)), std::ldexp(1, -k), 3));
    const std::string numbers = note("errors", errors);
    EXPECT_NEAR(observed_order(errors), euler() ? 1 : 2, 0.15) << numbers;
    EXPECT_LT(errors.back(), euler() ? 0.02 : 2e-5) << numbers;
}

TEST_P(Mechanisms, HeavyTopNutatesAsItsReference) {
    std::vector<double> errors;
    const int finest = euler() ? 15 : 13;
    for (int k = finest - 2; k <= finest; ++k)
        errors.push_back(top_error("heavy-top", with(std::ldexp(1, -k)), std::ldexp(1, -k), euler() ? 0.5 : 2));
    const std::string numbers = note("errors", errors);
    EXPECT_NEAR(observed_order(errors), euler() ? 1 : 2, 0.15) << numbers;
    EXPECT_LT(errors.back(), 0.1) << numbers;
}

// Energy and the momenta about the vertical and about the axis are kept to the order of the scheme, over five seconds.
TEST(HeavyTop, MoreauJeanKeepsEnergyAndMomenta) {
    const std::vector<double> exact = Reference("heavy-top").rows("invariants")[0];
    std::vector<double> errors;
    for (int k = 10; k <= 12; ++k) {
        Simulation simulation(mechanism("heavy-top", Set()("run.step", std::ldexp(1, -k))));
        double worst = 0;
        while (simulation.advance()) {
            const Energies& energy = simulation.step().ledger.now();
            const Vec3 L = Vec3(0.1, 0.1, 0.02).cwiseProduct(simulation.state().v);
            const double vertical = (quaternion(simulation.state().q, 0) * L).z();
            worst = std::max({worst, std::abs((energy.kinetic + energy.potential) / exact[0] - 1),
                              std::abs(vertical / exact[1] - 1), std::abs(L[2] / exact[2] - 1)});
        }
        errors.push_back(worst);
    }
    const std::string numbers = note("errors", errors);
    EXPECT_GT(observed_order(errors), 1.85) << numbers;
    EXPECT_LT(errors.back(), 1e-3) << numbers;
}

TEST_P(Mechanisms, OscillatorConvergesToTheCosine) {
    std::vector<double> errors;
    for (int k = 9; k <= 12; ++k) {
        const double T = 0.7, h = T * std::ldexp(1, -k);  // [s]
        const RunSummary end = run(mechanism("harmonic-constraint", with(h)("run.end", T)));
        const double w = 2 * pi;
        errors.push_back(std::max(std::abs(end.q[0] - std::cos(w * T)), std::abs(end.v[0] + w * std::sin(w * T))));
    }
    const std::string numbers = note("errors", errors);
    EXPECT_NEAR(observed_order(errors), euler() ? 1 : 2, 0.1) << numbers;
}

// With theta = 1/2 the compliant row is the implicit midpoint rule, with theta = 1 implicit Euler, at any stiffness: also at
// 1000 Hz, of which a step of 1/60 s sees 17 periods.
TEST(HarmonicConstraint, IsTheMidpointOrTheImplicitEulerRule) {
    const Reference reference("harmonic-constraint");
    for (const double hz : {1.0, 5.0, 1000.0}) {
        for (const bool midpoint : {true, false}) {
            const std::vector<double>& row = reference.row(midpoint ? "midpoint" : "implicit", {hz});
            const double gain = midpoint ? 1 : row[1], angle = 2 * pi * (midpoint ? row[1] : row[2]) / 60;
            Simulation simulation(mechanism("harmonic-constraint", Set{{"run.step", "1/60"}}("frequency_hz", hz)(
                                                                       "scheme.theta", midpoint ? 0.5 : 1.0)));
            double size = 1;
            for (int n = 1; n <= 60; ++n) {
                ASSERT_TRUE(simulation.advance());
                size *= gain;
                EXPECT_NEAR(simulation.state().q[0], size * std::cos(n * angle), 1e-10) << hz << " Hz, step " << n;
                EXPECT_NEAR(simulation.state().v[0] / (2 * pi * hz), -size * std::sin(n * angle), 1e-10);
            }
        }
    }
}

// The joint stops the point in the first step, in which it still moves with part of its old velocity: q is off by O(h) and
// the velocity turns once. (Schemes that hold the joint on the mean velocity flip it every step.)
TEST_P(Mechanisms, JointStopsAWrongVelocityAtOnce) {
    for (const double h : {0.1, 0.01, 0.001}) {
        const double eps = 1e-3;
        Simulation simulation(mechanism("joint-flipflop", with(h)("scheme.stabilisation", 0)));
        double variation = 0, before = eps;
        while (simulation.advance()) {
            variation += std::abs(simulation.state().v[0] - before);
            before = simulation.state().v[0];
            if (simulation.state().t > 1.5 * h) {
                EXPECT_NEAR(simulation.step().v_weighted[0], 0, 1e-18);
            }
        }
        EXPECT_NEAR(simulation.state().t, 1, 1e-12);
        EXPECT_NEAR(simulation.state().v[0], 0, 1e-18);
        EXPECT_NEAR(simulation.state().q[0], (euler() ? 1 : 0.5) * h * eps, 1e-18);
        EXPECT_NEAR(variation, eps, 1e-18);
    }
}

struct DiscError {
    double state = 0;   // attitude, angular velocity, centre, velocity
    double energy = 0;  // [J]
    double force = 0;   // [N] of the floor
};

DiscError disc_error(const Set& set, double h, double until) {
    const Reference reference("rolling-disc");
    Simulation simulation(mechanism("rolling-disc", set));
    DiscError worst;
    for (const std::vector<double>& state : reference.rows("state")) {
        if (state[0] > until) break;
        advance_to(simulation, state[0], h);
        const State& x = simulation.state();
        worst.state = std::max({worst.state, quaternion(x.q, 3).angularDistance(quaternion(state, 1)),
                                (x.v.tail<3>() - vector(state, 5)).norm(), (x.q.head<3>() - vector(state, 8)).norm(),
                                (x.v.head<3>() - vector(state, 11)).norm()});
        const Energies& energy = simulation.step().ledger.now();
        worst.energy =
            std::max(worst.energy, std::abs(energy.kinetic + energy.potential - reference.rows("energy")[0][0]));
        const RowVec& p = simulation.step().reactions;  // floor, along x, along y
        EXPECT_EQ(p.size(), 3);
        worst.force = std::max(worst.force, (Vec3(p[1], p[2], p[0]) / h - vector(state, 14)).norm());
    }
    EXPECT_EQ(simulation.step().ledger.flows().motor_work, 0) << "rolling needs no motor";
    EXPECT_EQ(simulation.step().ledger.flows().friction_loss, 0);
    return worst;
}

TEST_P(Mechanisms, DiscRollsAsItsReferenceWithTheForcesOfTheFloor) {
    std::vector<double> states, energies, forces;
    for (int k = 10; k <= 13; ++k) {
        const DiscError error = disc_error(with(std::ldexp(1, -k)), std::ldexp(1, -k), 2);
        states.push_back(error.state);
        energies.push_back(error.energy);
        forces.push_back(error.force);
    }
    const std::string numbers =
        note("states", states) + "; " + note("energies", energies) + "; " + note("forces", forces);
    EXPECT_NEAR(observed_order(states), euler() ? 1 : 2, 0.15) << numbers;
    EXPECT_NEAR(observed_order(energies), euler() ? 1 : 2, 0.15) << numbers;
    EXPECT_NEAR(observed_order(forces), 1, 0.15) << numbers;
    EXPECT_LT(states.back(), 0.01) << numbers;
}

// Leaning inwards the disc rolls on a circle, for a whole round: centre on the circle, tilt kept, floor forces turning with it.
// (The first step takes the rows where they are and does not feel yet that they turn: its forces are those of a straight path.)
TEST_P(Mechanisms, DiscRollsSteadilyOnACircle) {
    const std::vector<double> steady = Reference("rolling-disc").rows("steady")[0];
    const double rate = steady[0], radius = steady[1], tilt = pi / 9, period = 2 * pi / rate;
    std::vector<double> errors, tilts, forces;
    for (int k = 12; k <= 15; ++k) {
        const double h = period * std::ldexp(1, -k);
        Simulation simulation(
            mechanism("rolling-disc", with(h)("tilt", tilt)("omega1_0", steady[2])("omega2_0", steady[3])(
                                          "omega3_0", steady[4])("run.end", period)));
        const Vec3 axis = simulation.state().q.head<3>() + radius * Vec3::UnitY();
        double error = 0, lean = 0, force = 0;
        while (simulation.advance()) {
            const State& x = simulation.state();
            const Mat3 turn = Eigen::AngleAxisd(rate * x.t, Vec3::UnitZ()).toRotationMatrix();
            error = std::max(error, (x.q.head<3>() - (axis - radius * turn.col(1))).norm());
            lean = std::max(lean, std::abs(std::asin((quaternion(x.q, 3) * Vec3::UnitZ()).z()) - tilt));
            const RowVec& p = simulation.step().reactions;
            if (x.t > 1.5 * h) force = std::max(force, (Vec3(p[1], p[2], p[0]) / h - turn * vector(steady, 5)).norm());
        }
        errors.push_back(error);
        tilts.push_back(lean);
        forces.push_back(force);
    }
    const std::string numbers = note("centre", errors) + "; " + note("tilt", tilts) + "; " + note("force", forces);
    EXPECT_NEAR(observed_order(errors), euler() ? 1 : 2, 0.15) << numbers;
    EXPECT_GT(observed_order(tilts), 0.85) << numbers;
    EXPECT_GT(observed_order(forces), 0.85) << numbers;
    EXPECT_LT(errors.back(), 0.01 * 2 * pi * radius) << numbers;
}

INSTANTIATE_TEST_SUITE_P(Schemes, Mechanisms, ::testing::ValuesIn(velocity_level_schemes()),
                         [](const auto& each) { return word_of(each.param); });

}  // namespace
}  // namespace stickslip::analytic
