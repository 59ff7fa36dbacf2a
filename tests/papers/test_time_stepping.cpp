// The classical time-stepping schemes of Haddouni's thesis, s.2.1.2: what each of them promises, on a ball whose motion is known
// in closed form, on a sphere with friction and on joints.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analytic/runs.hpp"
#include "support/models.hpp"

namespace stickslip {
namespace {

using namespace analytic;

class TimeStepping : public ::testing::TestWithParam<const char*> {};

Model ball(const std::string& scheme, double h, double e, double z0, double end) {
    return mechanism("bouncing-ball", Set{}("scheme.name", scheme)("run.step", h)("e", e)("z0", z0)("run.end", end));
}

// Height at t of a ball dropped from z0; at rest when its impacts have accumulated.
double exact_height(double z0, double e, double t) {
    double speed = std::sqrt(2 * g * z0), impact = speed / g;
    if (t < impact) return z0 - g * t * t / 2;
    while (speed > 1e-9) {
        speed *= e;
        if (t < impact + 2 * speed / g) return speed * (t - impact) - g * (t - impact) * (t - impact) / 2;
        impact += 2 * speed / g;
    }
    return 0;
}

// Slope of log error over log h by least squares.
double fitted_order(const std::vector<double>& h, const std::vector<double>& error) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    const double n = static_cast<double>(h.size());
    for (std::size_t i = 0; i < h.size(); ++i) {
        const double x = std::log(h[i]), y = std::log(error[i]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

// Where in a step the impacts fall decides the error of one run; the mean over 16 heights is what converges.
TEST_P(TimeStepping, BouncingBallConvergesWithOrderOne) {
    for (const double e : {0.3, 0.5, 0.8}) {
        // About the top of the second flight, after two impacts.
        const double end = std::sqrt(2 * 1.05 / g) * (1 + 2 * e + e * e);
        std::vector<double> steps, errors;
        for (int k = 7; k <= 12; ++k) {
            double mean = 0;
            for (int i = 0; i < 16; ++i) {
                const double z0 = 1 + 0.0073 * i;
                const RunSummary summary = run(ball(GetParam(), std::ldexp(1, -k), e, z0, end));
                mean += std::abs(summary.q[0] - exact_height(z0, e, end)) / 16;
            }
            steps.push_back(std::ldexp(1, -k));
            errors.push_back(mean);
        }
        const double order = fitted_order(steps, errors);
        EXPECT_GE(order, 0.8) << note("errors_" + text_of(e), errors);
        EXPECT_LE(order, 1.3) << note("errors_" + text_of(e), errors);
    }
}

// Speeds of the first two impacts, just before and after, free of what gravity does in the steps around: mechanical energy of the
// flights, at v_weighted's own time.
TEST_P(TimeStepping, BallReboundsWithItsRestitution) {
    for (const double e : {0.0, 0.3, 0.5, 0.8, 1.0}) {
        for (const double h : {0.01, 0.001}) {
            SCOPED_TRACE("e " + text_of(e) + ", step " + text_of(h));
            Simulation simulation(ball(GetParam(), h, e, 1, 0.7));
            double fastest = 0, after = 0;
            while (simulation.advance()) {
                fastest = std::min(fastest, simulation.state().v[0]);
                after = std::max(after, simulation.state().v[0]);
            }
            EXPECT_NEAR(after / -fastest, e, 3 * g * h / std::sqrt(2 * g));
        }
    }
}

TEST_P(TimeStepping, BallComesToRestWithoutSinking) {
    for (const double e : {0.0, 0.3, 0.5, 0.8}) {
        for (const double h : {0.01, 0.001}) {
            SCOPED_TRACE("e " + text_of(e) + ", step " + text_of(h));
            const double rest = std::sqrt(2 / g) * (1 + e) / (1 - e);
            Simulation simulation(ball(GetParam(), h, e, 1, rest + 3));
            double speed = 0, lowest = 0;
            while (simulation.advance()) {
                lowest = std::min(lowest, simulation.state().q[0]);
                if (simulation.state().t > rest + 2) speed = std::max(speed, std::abs(simulation.state().v[0]));
            }
            // Schatzman and Paoli's gaps obey phi+ = -e phi_old at rest: from the last hops, of g h/(1 - e) or less, speeds fall
            // by sqrt(e) in every step.
            EXPECT_LT(speed, 1e-12 + g * h / (1 - e) * std::pow(e, 1 / h));
            EXPECT_GT(lowest, -5 * h);
            EXPECT_NEAR(simulation.state().q[0], 0, std::sqrt(2 * g) * h);  // the way of a step
        }
    }
}

// A load that switches cuts steps wherever it likes, also in the two that an impact takes.
TEST_P(TimeStepping, StepsCutAnywhereDoNotSpoilTheRebound) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    const double e = 0.6, h = 0x1p-8, impact = std::sqrt(2 / g);
    for (int trial = 0; trial < 300; ++trial) {
        const double cut = impact + h * (6 * uniform(random) - 3), second = cut + h * 3 * uniform(random);
        LagrangianModel model;
        model.name = "ball";
        model.coordinates = {"z"};
        model.nv = 1;
        model.constant_mass = MatX::Constant(1, 1, 1.0);
        model.potential = [](const VecX& q) { return g * q[0]; };
        model.potential_force = [](const VecX&, VecX& k) { k[0] = -g; };
        LagrangianModel::Contact floor;
        floor.name = "floor";
        floor.restitution = e;
        floor.gap = [](const VecX& q) { return q[0]; };
        floor.jacobian = [](const VecX&, MatX& H) { H(0, 0) = 1; };
        floor.bias = [](const VecX&, const VecX&, VecX&) {};
        model.contacts.push_back(floor);
        model.next_discontinuity = [=](double t) { return t < cut ? cut : t < second ? second : infinity; };
        Model whole;
        whole.name = "ball";
        whole.system = make_lagrangian_system(std::move(model));
        whole.state = {0, VecX::Constant(1, 1.0), VecX::Zero(1)};
        whole.run.scheme = {GetParam(), {{"step", text_of(h), {}}}, {}};
        whole.run.end = 0.7;
        Simulation simulation(std::move(whole));
        double fastest = 0, after = 0, lowest = 0;
        while (simulation.advance()) {
            fastest = std::min(fastest, simulation.state().v[0]);
            after = std::max(after, simulation.state().v[0]);
            lowest = std::min(lowest, simulation.state().q[0]);
        }
        ASSERT_NEAR(after / -fastest, e, 4 * g * h / std::sqrt(2 * g)) << "cut at " << cut << " and " << second;
        ASSERT_GT(lowest, -5 * h);
        ASSERT_LE(std::abs(simulation.step().ledger.imbalance()), 1e-12 * simulation.step().ledger.scale());
    }
}

const char* const thrown = R"(
stickslip: 1
materials: {default: {friction: 0.4, restitution: 0.6}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.6], mass: 1, shapes: [{sphere: 0.1}], velocity: [2, 1, 0]}
run: {end: 4}
)";

// Friction and normal force have no moment about the floor's points below the centre: thrown without spin, a sphere ends up
// rolling with 5/7 of its horizontal speed, however often it bounced.
TEST_P(TimeStepping, ThrownSphereEndsUpRollingWithFiveSeventhsOfItsSpeed) {
    std::vector<double> errors;
    for (const double h : {0x1p-8, 0x1p-9, 0x1p-10, 0x1p-11}) {
        Simulation simulation(scene_text(thrown, Set{}("run.scheme", GetParam())("run.step", h)));
        const RunSummary summary = simulation.run();
        ASSERT_EQ(summary.end, RunEnd::finished) << summary.reason;
        EXPECT_TRUE(summary.certified);
        EXPECT_LE(std::abs(summary.imbalance), 1e-12 * summary.energy_scale);
        EXPECT_LT(summary.gap_violation_max, 5 * h);
        const VecX& v = summary.v;
        EXPECT_NEAR(v[2], 0, 1e-9);
        EXPECT_NEAR(v[1] / v[0], 0.5, 1e-6);
        errors.push_back(std::abs(v.head(2).norm() - std::sqrt(5.0) * 5 / 7));
        EXPECT_LT(errors.back(), 5 * h);
    }
    EXPECT_LT(errors.back(), errors.front()) << note("errors", errors);
}

const char* const arm = R"(
stickslip: 1
bodies:
  arm: {pose: [0.5, 0, 0], mass: 1, inertia: [0.01, 0.1, 0.1]}
joints:
  hinge: {revolute: {a: ground, b: arm, at: [0, 0, 0], axis: [0, 1, 0], limits: {lower: -1, upper: 0.5, restitution: 0.5}}}
run: {end: 4}
)";

// An arm falls on the limit of its joint, rebounds with e and comes to rest there: no hops of a step's fall for ever.
TEST_P(TimeStepping, ArmReboundsFromItsLimitAndComesToRestThere) {
    for (const double h : {0x1p-7, 0x1p-10}) {
        SCOPED_TRACE("step " + text_of(h));
        Simulation simulation(scene_text(arm, Set{}("run.scheme", GetParam())("run.step", h)));
        double fastest = 0, after = 0, late = 0;
        while (simulation.advance()) {
            const double t = simulation.state().t, rate = simulation.state().v[4];
            fastest = std::max(fastest, rate);
            after = std::min(after, rate);
            if (t > 3) late = std::max(late, std::abs(rate));
        }
        // 1/2 J w^2 = m g l sin(1/2) with J = 0.1 + 0.5^2
        EXPECT_NEAR(fastest, std::sqrt(2 * g * 0.5 * std::sin(0.5) / 0.35), 20 * h);
        EXPECT_NEAR(after / -fastest, 0.5, 20 * h);
        EXPECT_LT(late, 1e-9);
        EXPECT_EQ(simulation.step().events.size(), 0u);
        EXPECT_LE(std::abs(simulation.step().ledger.imbalance()), 1e-12 * simulation.step().ledger.scale());
    }
}

INSTANTIATE_TEST_SUITE_P(Haddouni, TimeStepping, ::testing::Values("moreau-jean", "schatzman-paoli"),
                         [](const auto& test) { return testing::test_name(test.param, "ball"); });

// Joint error over `seconds`, largest in the first and in the last of them.
std::pair<double, double> joint_error(Model model, double seconds) {
    Simulation simulation(std::move(model));
    std::pair<double, double> error{0, 0};
    while (simulation.advance()) {
        const double now = simulation.step().violation.joint, t = simulation.state().t;
        if (t <= 1) error.first = std::max(error.first, now);
        if (t > seconds - 1) error.second = std::max(error.second, now);
    }
    EXPECT_GE(simulation.state().t, seconds);
    return error;
}

// Every step asks for g = 0 at its end: what is left is the curvature of one step, h^2 v^2/(2 L), and does not add up.
TEST(PositionLevel, JointErrorIsThatOfOneStepAndDoesNotDrift) {
    for (const char* scheme : {"stewart-trinkle", "schatzman-paoli"}) {
        SCOPED_TRACE(scheme);
        std::vector<double> last;
        for (const double h : {0x1p-8, 0x1p-9, 0x1p-10}) {
            const auto [first, end] =
                joint_error(mechanism("pendulum", Set{}("scheme.name", scheme)("run.step", h)("run.end", 20.0)), 20);
            EXPECT_LT(end, 1.05 * first);
            EXPECT_LT(first, 1.2 * h * h * (2 * g) / 2);  // v^2 = 2 g L at the lowest point
            last.push_back(end);
        }
        EXPECT_NEAR(observed_order(last), 2, 0.1) << note("errors", last);
        const auto [first, end] =
            joint_error(scene("chain-10", Set{}("run.scheme", scheme)("run.step", 0x1p-10)("run.end", 6.0)), 6);
        EXPECT_LT(end, 1e-3);
        EXPECT_GT(first, 0);
    }
}

// Without contact both velocity and position of Schatzman and Paoli's scheme are of order two, the velocity as v_weighted at its time.
TEST(SchatzmanPaoli, FreeBodyAndPendulumAreOfOrderTwo) {
    std::vector<double> position, velocity;
    VecX q, v;
    double t = 0;
    for (int k = 12; k >= 6; --k) {
        if (k > 9 && k < 12) continue;
        const double h = std::ldexp(1, -k);
        // One step more than a second, so that v_weighted is that of t = 1.
        Simulation simulation(
            mechanism("pendulum", Set{}("scheme.name", "schatzman-paoli")("run.step", h)("run.end", 1 + h)));
        VecX at_one;
        while (simulation.advance())
            if (simulation.state().t <= 1) at_one = simulation.state().q;
        if (k == 12) {
            q = at_one;
            v = simulation.step().v_weighted;
            t = simulation.step().t_weighted;
            continue;
        }
        ASSERT_EQ(simulation.step().t_weighted, t);
        position.push_back((at_one - q).norm());
        velocity.push_back((simulation.step().v_weighted - v).norm());
    }
    std::reverse(position.begin(), position.end());
    std::reverse(velocity.begin(), velocity.end());
    EXPECT_NEAR(observed_order(position), 2, 0.15) << note("position", position);
    EXPECT_NEAR(observed_order(velocity), 2, 0.15) << note("velocity", velocity);
}

TEST(StewartTrinkle, TakesRestitutionAsZeroAndSaysSo) {
    const RunSummary summary = run(ball("stewart-trinkle", 0x1p-8, 0.5, 1, 1));
    ASSERT_EQ(summary.warnings.size(), 1u);
    EXPECT_NE(summary.warnings[0].find("restitution was taken as 0"), std::string::npos);
    EXPECT_EQ(summary.gap_violation_max, 0);
    EXPECT_EQ(summary.v[0], 0);
    EXPECT_TRUE(run(ball("stewart-trinkle", 0x1p-8, 0, 1, 1)).warnings.empty());
}

}  // namespace
}  // namespace stickslip
