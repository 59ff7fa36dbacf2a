// alpha = gamma = 1/2 is of second order where nothing touches, alpha = 1 of first: a free body, a top that hangs on joint rows,
// a mechanism whose mass matrix varies; and what is conserved over long runs. [Gavrea et al. 2008; Potra et al. 2006]
#include "analytic/runs.hpp"

namespace stickslip::analytic {
namespace {

// Distance of attitudes, either sign of the quaternion.
double attitude_error(const VecX& q, int at, const std::vector<double>& row, std::size_t first) {
    double plus = 0, minus = 0;
    for (int i = 0; i < 4; ++i) {
        plus = std::hypot(plus, q[at + i] - row[first + static_cast<std::size_t>(i)]);
        minus = std::hypot(minus, q[at + i] + row[first + static_cast<std::size_t>(i)]);
    }
    return std::min(plus, minus);
}

double free_body_error(const std::string& weights, double h) {
    const Reference reference("free-body");
    const VecX q = run(mechanism("free-body", Set{{"run.scheme", "alpha-gamma"},
                                                  {"scheme.alpha", weights},
                                                  {"scheme.gamma", weights}}("run.step", h)("run.end", 2.0)))
                       .q;
    return attitude_error(q, 0, reference.row("state", {2}), 1);
}

// The top as a body of six degrees of freedom on a ball joint.
const char* top_text = R"(
stickslip: 1
bodies:
  top:
    pose: [0, -0.15, 0.25980762113533159, 0.96592582628906829, 0.25881904510252074, 0, 0]
    mass: 1
    inertia: [0.01, 0.01, 0.02]
    angular_velocity: [0, -30, 51.961524227066319]
joints:
  pivot: {ball: {a: ground, b: top, at: [0, 0, 0]}}
run: {end: 0.5}
)";

double top_error(const std::string& weights, double h) {
    const Reference reference("heavy-top");
    const VecX q = run(scene_text(top_text, Set{{"run.scheme", "alpha-gamma"},
                                                {"scheme.alpha", weights},
                                                {"scheme.gamma", weights}}("run.step", h)))
                       .q;
    return attitude_error(q, 3, reference.row("state", {0.5}), 1);
}

TEST(OrderTwo, OfAFreeBody) {
    std::vector<double> half, one;
    for (const double h : {0.01, 0.005, 0.0025, 0.00125}) {
        half.push_back(free_body_error("0.5", h));
        one.push_back(free_body_error("1", h));
    }
    EXPECT_NEAR(observed_order(half), 2, 0.05) << note("half", half);
    EXPECT_NEAR(observed_order(one), 1, 0.2) << note("one", one);
}

TEST(OrderTwo, OfATopOnJointRows) {
    std::vector<double> half, one;
    for (const double h : {4e-4, 2e-4, 1e-4, 5e-5}) {
        half.push_back(top_error("0.5", h));
        one.push_back(top_error("1", h));
    }
    EXPECT_NEAR(observed_order(half), 2, 0.05) << note("half", half);
    EXPECT_NEAR(observed_order(one), 1, 0.2) << note("one", one);
}

TEST(LongRuns, TopKeepsItsEnergy) {
    Simulation simulation(scene_text(top_text, Set{{"run.scheme", "trapezoidal"}}("run.step", 1e-3)("run.end", 40.0)));
    const auto energy = [&] {
        const Energies& e = simulation.step().ledger.now();
        return e.kinetic + e.potential;
    };
    const double start = energy();
    double worst = 0;
    long steps = 0;
    while (simulation.advance()) {
        worst = std::max(worst, std::abs(energy() - start));
        ++steps;
    }
    EXPECT_EQ(steps, 40000);
    EXPECT_LT(worst, 1e-10 * start);
}

TEST(LongRuns, JointErrorOfThePendulumStaysBounded) {
    Simulation simulation(
        mechanism("pendulum", Set{{"run.scheme", "trapezoidal"}}("run.step", 0.01)("run.end", 1000.0)));
    double early = 0, late = 0;
    while (simulation.advance()) {
        const State& x = simulation.state();
        const double error = std::abs(std::hypot(x.q[0], x.q[1]) - 1);
        (x.t < 100 ? early : late) = std::max(x.t < 100 ? early : late, error);
    }
    EXPECT_GE(simulation.state().t, 1000);
    EXPECT_LT(late, 1.5 * early) << early;
    EXPECT_LT(late, 5e-3);
}

}  // namespace
}  // namespace stickslip::analytic
