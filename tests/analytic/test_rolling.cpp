// Balls that slide, roll and are hit: closed forms.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

class Balls : public ::testing::TestWithParam<std::string> {};

// Errors at the reference times, and the time from which the contact sticks. (Its slip then falls to rounding within some
// steps: the axis of rotation still turns in the step of the transition.)
TEST_P(Balls, SlidingTurnsIntoRollingAtTheRightTime) {
    const Reference reference("sphere-slide-roll");
    const double transition = reference.rows("transition")[0][0];
    std::vector<double> errors;
    for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
        Simulation simulation(
            scene("sphere-slide-roll", Set{{"run.scheme", GetParam()}}("run.step", h)("run.end", 1.4)));
        double rolls = -1, worst = 0, last_slip = 1;
        std::size_t next = 0;
        const auto& states = reference.rows("state");
        while (next < states.size() && simulation.advance()) {
            const State& x = simulation.state();
            const BodyState body = simulation.model().system->body_state(1, x.q, x.v);
            const double slip = std::hypot(body.velocity[0] - 0.1 * body.angular_velocity[1],
                                           body.velocity[1] + 0.1 * body.angular_velocity[0]);
            const bool sticks = simulation.step().contacts.at(0).mode == ContactMode::stick;
            if (rolls < 0 && sticks) rolls = x.t;
            EXPECT_EQ(rolls >= 0, sticks) << "it slips again at t = " << x.t;
            last_slip = slip;
            if (x.t < states[next][0]) continue;
            // the reference moved to this time: velocities are linear in time while sliding, constant while rolling
            const std::vector<double>& s = states[next];
            const double late = x.t - s[0];
            const double slow = s[0] < transition ? 0.2 * g / std::sqrt(5.0) : 0;
            const Vec2 v(s[3] - 2 * slow * late, s[4] - slow * late);
            worst = std::max({worst, std::abs(body.velocity[0] - v[0]), std::abs(body.velocity[1] - v[1]),
                              std::abs(x.q[0] - (s[1] + late * (s[3] + v[0]) / 2)),
                              std::abs(x.q[1] - (s[2] + late * (s[4] + v[1]) / 2)),
                              std::abs(body.angular_velocity[2] - s[7]) / 10});
            ++next;
        }
        EXPECT_NEAR(rolls, transition, 2 * h);
        EXPECT_LT(last_slip, 1e-12);
        errors.push_back(worst);
    }
    const std::string numbers = note("errors", errors);
    EXPECT_LT(errors.back(), 2e-3) << numbers;
    EXPECT_GT(observed_order(errors), 0.8) << numbers;
}

TEST_P(Balls, RollingDownAnInclineFollowsTheClosedForm) {
    const char* text = R"(
stickslip: 1
gravity: [9.81*sin(pi/9), 0, -9.81*cos(pi/9)]
materials: {default: {friction: 0.3}}
bodies:
  slope: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}], velocity: [0.5, 1, 0], angular_velocity: [-10, 5, 0]}
run: {end: 2}
)";
    const Reference reference("incline-sphere");
    std::vector<double> errors;
    for (const double h : {4e-3, 2e-3, 1e-3}) {
        Simulation simulation(scene_text(text, Set{{"run.scheme", GetParam()}}("run.step", h)));
        double worst = 0;
        for (const std::vector<double>& s : reference.rows("state")) {
            while (simulation.state().t < s[0] - h / 2) ASSERT_TRUE(simulation.advance());
            const State& x = simulation.state();
            worst = std::max({worst, std::abs(x.q[0] - s[1]), std::abs(x.q[1] - s[2]), std::abs(x.v[0] - s[3]),
                              std::abs(x.v[1] - s[4])});
        }
        errors.push_back(worst);
    }
    const std::string numbers = note("errors", errors);
    EXPECT_LT(errors.back(), 5e-3) << numbers;
    if (errors.front() > 1e-9) {
        EXPECT_GT(observed_order(errors), 0.9) << numbers;
    }
}

// The impact alone, without gravity.
TEST_P(Balls, FrictionalImpactTurnsTheBallAsItShould) {
    const Reference reference("sphere-impact");
    // Newton's law; Poisson's, with friction in both phases, gives a ball the same (tests/papers).
    const std::string law = GetParam() == "euler" ? "{name: euler, impact: newton}" : GetParam();
    for (const std::vector<double>& r : reference.rows("impact")) {
        const Vec3 v0(r[2], r[3], r[4]), w0(r[5], r[6], r[7]), v1(r[8], r[9], r[10]), w1(r[11], r[12], r[13]);
        const std::string text = R"(
stickslip: 1
gravity: [0, 0, 0]
materials: {default: {friction: )" +
                                 text_of(r[0]) + ", restitution: " + text_of(r[1]) + R"(}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.15], mass: 1, shapes: [{sphere: 0.1}], velocity: )" +
                                 text_of(v0) + ", angular_velocity: " + text_of(w0) + "}\nrun: {end: 0.1}\n";
        std::vector<double> errors;
        for (const double h : {2e-3, 1e-3, 5e-4, 2.5e-4}) {
            Simulation simulation(scene_text(text, Set{{"run.scheme", law}}("run.step", h)));
            while (simulation.advance()) {
            }
            const State& x = simulation.state();
            const BodyState ball = simulation.model().system->body_state(1, x.q, x.v);
            EXPECT_NEAR(ball.velocity[2], v1[2], 1e-12);  // restitution is exact
            errors.push_back(std::max((ball.velocity - v1).norm(), 0.1 * (ball.angular_velocity - w1).norm()));
        }
        // in the step of the impact the axis of rotation turns by h times the angular velocity: first order
        const std::string numbers = note("errors", errors);
        EXPECT_LT(errors.back(), 5e-3) << numbers;
        if (errors.back() > 1e-11) {
            EXPECT_GT(observed_order(errors), 0.8) << numbers;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Balls, ::testing::ValuesIn(velocity_level_schemes()),
                         [](const auto& test) { return word_of(test.param); });

}  // namespace
}  // namespace stickslip::analytic
