// Motion without contact: the pendulum on its rod, the free body, and a plane against space.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

class Smooth : public ::testing::TestWithParam<std::string> {};

// Largest error of position and velocity at the reference times up to `until`.
double pendulum_error(const Set& set, double h, double until) {
    const Reference reference("pendulum");
    Simulation simulation(mechanism("pendulum", Set(set)("run.step", h)));
    double worst = 0;
    for (const std::vector<double>& state : reference.rows("state")) {
        if (state[0] > until) break;
        while (simulation.state().t < state[0] - h / 2)
            if (!simulation.advance()) return infinity;
        EXPECT_NEAR(simulation.state().t, state[0], 1e-9);
        for (int i = 0; i < 2; ++i) {
            worst = std::max(worst, std::abs(simulation.state().q[i] - state[1 + i]));
            worst = std::max(worst, std::abs(simulation.state().v[i] - state[3 + i]));
        }
    }
    return worst;
}

TEST_P(Smooth, PendulumConvergesWithItsOrder) {
    std::vector<double> errors, longer;
    for (const double h : {0.001, 0.0005, 0.00025, 0.000125}) {
        errors.push_back(pendulum_error({{"scheme.name", GetParam()}}, h, 1));
        longer.push_back(pendulum_error({{"scheme.name", GetParam()}}, h, 5));
    }
    const std::string numbers = note("until_1", errors) + "; " + note("until_5", longer);
    const double order = std::string(GetParam()) == "euler" ? 1 : 2;
    EXPECT_NEAR(observed_order(errors), order, 0.15) << numbers;
    EXPECT_NEAR(observed_order(longer), order, 0.3) << numbers;
    EXPECT_LT(errors.back(), 0.01) << numbers;
}

// A pendulum of the scene library: a ball joint instead of a rod row, the inertia of the bob made negligible.
TEST_P(Smooth, PendulumOfBodiesConvergesToTheSameReference) {
    const Reference reference("pendulum");
    const char* text = R"(
stickslip: 1
bodies:
  bob: {pose: [1, 0, 0], mass: 1, inertia: 1e-7}  # with less, impulses have too few digits to certify its spin
joints:
  pin: {revolute: {a: ground, b: bob, at: [0, 0, 0], axis: [0, 1, 0]}}
run: {end: 3}
)";
    std::vector<double> errors;
    for (const double h : {0.001, 0.0005, 0.00025}) {
        Simulation simulation(scene_text(text, Set{{"scheme", GetParam()}}("step", h)));
        double worst = 0;
        for (const std::vector<double>& state : reference.rows("state")) {
            if (state[0] > 2) break;
            while (simulation.state().t < state[0] - h / 2) ASSERT_TRUE(simulation.advance());
            const State& x = simulation.state();
            worst = std::max({worst, std::abs(x.q[0] - state[1]), std::abs(x.q[2] - state[2]),
                              std::abs(x.v[0] - state[3]), std::abs(x.v[2] - state[4])});
        }
        errors.push_back(worst);
    }
    const std::string numbers = note("errors", errors);
    EXPECT_GT(observed_order(errors), 0.85) << numbers;
    EXPECT_LT(errors.back(), 0.02) << numbers;
}

INSTANTIATE_TEST_SUITE_P(Schemes, Smooth, ::testing::ValuesIn(velocity_level_schemes()),
                         [](const auto& each) { return word_of(each.param); });

// A body in space without forces, spinning about its middle axis, which turns over every 4.4 s.
struct Spin {
    double state_error = 0;     // of attitude and angular velocity at 1, 2, 3 s
    double energy_error = 0;    // relative, largest on the way
    double momentum_error = 0;  // relative, largest on the way
};

Spin spin(const Set& set, double h, const std::string& more = "") {
    const Reference reference("free-body");
    const char* text = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {top: {mass: 1, inertia: [1, 2, 3], angular_velocity: [0.01, 5, 0.02]}}
run: {end: 3}
)";
    Simulation simulation(scene_text(text + more, Set(set)("step", h)));
    const Vec3 J(1, 2, 3);
    const auto attitude = [&] {
        const VecX& q = simulation.state().q;
        return Quat(q[3], q[4], q[5], q[6]);
    };
    const auto momentum = [&] { return Vec3(attitude() * J.cwiseProduct(simulation.state().v.tail<3>())); };
    const auto energy = [&] {
        return 0.5 * simulation.state().v.tail<3>().dot(J.cwiseProduct(simulation.state().v.tail<3>()));
    };
    const Vec3 L0 = momentum();
    const double T0 = energy();
    Spin spin;
    for (const std::vector<double>& state : reference.rows("state")) {
        if (state[0] > 3) break;
        while (simulation.state().t < state[0] - h / 2) {
            if (!simulation.advance()) return {infinity, infinity, infinity};
            spin.energy_error = std::max(spin.energy_error, std::abs(energy() / T0 - 1));
            spin.momentum_error = std::max(spin.momentum_error, (momentum() - L0).norm() / L0.norm());
        }
        const Quat exact(state[1], state[2], state[3], state[4]);
        const Vec3 omega(state[5], state[6], state[7]);
        spin.state_error = std::max(
            {spin.state_error, attitude().angularDistance(exact), (simulation.state().v.tail<3>() - omega).norm()});
    }
    return spin;
}

TEST(FreeBody, MoreauJeanFollowsBodiesThatNothingTurns) {
    for (const double h : {0.1, 0.01, 0.00125}) {
        const Spin s = spin({{"scheme", "moreau-jean"}}, h);
        EXPECT_LT(s.energy_error, 1e-12) << "step " << h;
        EXPECT_LT(s.state_error, 1e-7) << "step " << h;
        EXPECT_LT(s.momentum_error, 1e-7) << "step " << h;
    }
}

// A drag that nobody would notice leaves the body to the rule of the step.
TEST(FreeBody, MoreauJeanKeepsTheEnergyAndIsOfSecondOrder) {
    std::vector<double> states, momenta;
    const std::string drag = "forces: {air: {drag: {body: top, angular: 1e-18}}}\n";
    for (const double h : {0.01, 0.005, 0.0025, 0.00125}) {
        const Spin s = spin({{"scheme", "moreau-jean"}, {"scheme.theta", "0.5"}}, h, drag);
        EXPECT_LT(s.energy_error, 1e-12) << "step " << h;
        states.push_back(s.state_error);
        momenta.push_back(s.momentum_error);
    }
    const std::string numbers = note("states", states) + "; " + note("momenta", momenta);
    EXPECT_NEAR(observed_order(states), 2, 0.2) << numbers;
    EXPECT_NEAR(observed_order(momenta), 2, 0.2) << numbers;
    EXPECT_LT(momenta.back(), 1e-4) << numbers;
}

TEST(FreeBody, EulerIsOfFirstOrder) {
    std::vector<double> states, energies;
    for (const double h : {0.0004, 0.0002, 0.0001}) {
        const Spin s = spin({{"scheme", "euler"}}, h);
        states.push_back(s.state_error);
        energies.push_back(s.energy_error);
    }
    const std::string numbers = note("states", states) + "; " + note("energies", energies);
    EXPECT_NEAR(observed_order(states), 1, 0.2) << numbers;
    EXPECT_LT(energies.front(), 1e-12) << numbers;  // the gyroscopic force does no work
}

// Implicit rules lose energy, never gain it.
TEST(FreeBody, ThetaAboveOneHalfOnlyLosesEnergy) {
    for (const char* theta : {"0.6", "1"}) {
        Simulation simulation(scene_text(R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {top: {mass: 1, inertia: [1, 2, 2.5], angular_velocity: [0.3, 5, 0.2], velocity: [1, 2, 3]}}
run: {end: 5, step: 0.01}
)",
                                         Set{{"scheme.theta", theta}}));
        double before = simulation.step().ledger.start().kinetic;
        while (simulation.advance()) {
            const double now = simulation.step().ledger.now().kinetic;
            EXPECT_LE(now, before * (1 + 1e-15));
            before = now;
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
