// A slip in space that turns as it comes to its stop. Near the stop its direction is (time left)^k with any k > 0, so that nothing there
// is smooth; event-driven schemes keep their order through it all the same, and find its time.
#include "papers/event_runs.hpp"

namespace stickslip::analytic {
namespace {

// A ball on a slope, x downhill, y across: it slides, then rolls.
struct Ball {
    explicit Ball(const std::vector<double>& row) : stop(row[9]), x(row[10]), y(row[11]), turning(row[12]) {
        set("gravity", text_of(Vec3(row[0], 0, -row[1])))("materials.default.friction", row[2]);
        set("bodies.ball.pose", text_of(Vec3(0, 0, row[3])));
        set("bodies.ball.shapes", "[{sphere: " + text_of(row[3]) + "}]");
        set("bodies.ball.velocity", text_of(Vec3(row[4], row[5], 0)));
        set("bodies.ball.angular_velocity", text_of(Vec3(row[6], row[7], 2)))("run.end", row[8]);
    }
    RunSummary roll(const char* scheme, double h, const char* tol = "0") const {
        Set with = set;
        with("run.scheme", scheme)("run.step", h)("scheme.tol", tol);
        return run(load_model(STICKSLIP_TEST_DATA "/scenes/ball-slides-to-rolling.yaml", with));
    }
    double error(const RunSummary& summary) const { return std::hypot(summary.q[0] - x, summary.q[1] - y); }

    Set set;
    double stop;     // [s]
    double x, y;     // [m] at the end
    double turning;  // k
};

std::vector<Ball> balls() {
    std::vector<Ball> list;
    const Reference reference("ball-slides-to-rolling");
    for (const std::vector<double>& row : reference.rows("case")) list.emplace_back(row);
    return list;
}

TEST(StopInSpace, OrderIsKeptThroughTheStopOfATurningSlip) {
    struct Gate {
        const char* scheme;
        int first;  // steps from 2^-first on: coarser ones still show terms of higher order, most of all those of hem4
        double order;
    };
    const Ball ball = balls().front();
    for (const Gate& gate : {Gate{"hem5", 6, 4.8},
                             {"phem56", 6, 4.8},
                             {"dopri5", 6, 4.8},
                             {"hem4", 8, 3.8},
                             {"rk4", 7, 3.8},
                             {"rkf45", 7, 3.8},
                             {"hem3", 7, 2.8},
                             {"rattle", 7, 1.9},
                             {"generalized-alpha", 7, 1.9}}) {
        std::vector<double> errors;
        for (int k = gate.first; k <= gate.first + 3; ++k)
            errors.push_back(ball.error(ball.roll(gate.scheme, std::ldexp(1, -k))));
        EXPECT_GE(observed_order(errors), gate.order) << note(std::string(gate.scheme) + "_stop", errors);
    }
}

// From slips that hardly turn any more to such that nearly go on for ever (k = 27): one event each, at its time.
TEST(StopInSpace, BallsBeginToRollOnceAndAtTheRightTime) {
    for (const Ball& ball : balls())
        for (const char* scheme : {"hem5", "phem56", "dopri5", "rk4"}) {
            const RunSummary summary = ball.roll(scheme, std::ldexp(1, -9));
            const std::vector<Event> events = of_kind(summary, EventKind::slip_to_stick);
            ASSERT_EQ(events.size(), 1u) << scheme << " " << ball.turning;
            EXPECT_NEAR(events[0].t, ball.stop, 1e-5 * ball.stop) << scheme << " " << ball.turning;
            EXPECT_LT(ball.error(summary), 1e-6) << scheme << " " << ball.turning;
            EXPECT_TRUE(of_kind(summary, EventKind::method_switch).empty()) << scheme;
            EXPECT_LT(summary.steps, 4000) << scheme << " " << ball.turning;
            EXPECT_LT(std::abs(summary.imbalance), 1e-11 * summary.energy_scale) << scheme;
        }
}

TEST(StopInSpace, StepControlReachesItsToleranceAtTheStop) {
    for (const Ball& ball : balls())
        for (const char* scheme : {"hem5", "dopri5"}) {
            const RunSummary summary = ball.roll(scheme, 1e-3, "1e-9");
            EXPECT_EQ(of_kind(summary, EventKind::slip_to_stick).size(), 1u) << scheme << " " << ball.turning;
            EXPECT_LT(ball.error(summary), 1e-6) << scheme << " " << ball.turning;
        }
}

// A tippe top of 2 cm: its slip stops at the end of its turn. Controlling positions alone is not the dearer choice.
TEST(StopInSpace, TippeTopTakesNoMoreStepsWithErrorsOfPositionsAlone) {
    const char* text = R"(
stickslip: 1
materials: {default: {friction: 0.3}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  top:
    pose: {at: [0, 0, 0.02], rpy_deg: [5, 0, 0]}
    com: [0, 0, -0.006]
    mass: 0.02
    inertia: [3e-6, 3e-6, 3.2e-6]
    shapes: [{sphere: 0.02}]
    angular_velocity: [0, 0, 150]
run: {step: 1e-4, end: 4}
)";
    for (const char* scheme : {"hem5", "phem56", "dopri5"}) {
        const auto steps = [&](const char* error) {
            const RunSummary summary =
                run(scene_text(text, Set{{"run.scheme", scheme}, {"scheme.tol", "1e-8"}, {"scheme.error", error}}));
            EXPECT_GT(summary.q[2], 0.0245) << scheme << " " << error;  // it stands on its head
            EXPECT_TRUE(of_kind(summary, EventKind::method_switch).empty()) << scheme << " " << error;
            return summary.steps;
        };
        EXPECT_LE(steps("positions"), steps("both")) << scheme;
    }
}

// A straight slip needs no shorter steps: the ball of `sphere-slide-roll`, if it does not spin about the normal, takes one step more than the
// grid has.
TEST(StopInSpace, StraightSlipTakesNoExtraSteps) {
    const RunSummary summary =
        run(scene("sphere-slide-roll",
                  Set{{"run.scheme", "hem5"}, {"bodies.ball.angular_velocity", "[10, -20, 0]"}}("run.step", 1e-2)));
    EXPECT_LE(summary.steps, 132);
}

// A ball that slides on a plane while it spins about the normal: the slip goes straight, but in the axes of the ball its accelerations
// turn. On a level plane the centre follows a parabola and then a line, whatever the spin:
//
//   u = v + r n x w,  |u| falls by 7/2 mu g per second,  v by mu g along u until then
struct SpinningBall {
    double radius, friction;
    Vec3 gravity, velocity, spin;
};

RunSummary slide(const SpinningBall& ball, const char* scheme, double h) {
    Set set{{"run.scheme", scheme}};
    set("run.step", h)("run.end", 1)("gravity", text_of(ball.gravity))("materials.default.friction", ball.friction);
    set("bodies.ball.pose", text_of(Vec3(0, 0, ball.radius)));
    set("bodies.ball.shapes", "[{sphere: " + text_of(ball.radius) + "}]");
    set("bodies.ball.velocity", text_of(ball.velocity))("bodies.ball.angular_velocity", text_of(ball.spin));
    return run(load_model(STICKSLIP_TEST_DATA "/scenes/ball-slides-to-rolling.yaml", set));
}

const std::vector<SpinningBall>& spinning_balls() {
    static const std::vector<SpinningBall> list{
        {0.12, 0.17, {0, 0, -9.5}, {2.1, 0.7, 0}, {0, 0, 40}},
        {0.12, 0.17, {0, 0, -9.5}, {2.1, 0.7, 0}, {0, 0, -14}},
        {0.05, 0.3, {0, 0, -9.81}, {-1.4, 2.2, 0}, {8, -6, 9}},  // the centre goes round a bend
        {0.3, 0.4, {1.9, 0, -9.2}, {3, 0, 0}, {0, -2, 25}},      // straight down a slope
    };
    return list;
}

TEST(StopInSpace, OrderIsKeptThroughTheStopOfABallThatSpinsAboutTheNormal) {
    for (const SpinningBall& ball : spinning_balls()) {
        const VecX exact = slide(ball, "dopri5", std::ldexp(1, -12)).q;
        for (const char* scheme : {"hem5", "phem56", "dopri5"}) {
            std::vector<double> errors;
            for (int k = 7; k <= 9; ++k) errors.push_back((slide(ball, scheme, std::ldexp(1, -k)).q - exact).norm());
            EXPECT_GE(observed_order(errors), 4.8) << note(std::string(scheme) + "_spinning", errors) << ball.spin[2];
        }
    }
}

TEST(StopInSpace, BallThatSpinsAboutTheNormalRollsOffWhereItMust) {
    for (const SpinningBall& ball : spinning_balls()) {
        if (ball.gravity.x() != 0) continue;
        const Vec3 slip = ball.velocity + ball.radius * Vec3::UnitZ().cross(ball.spin);
        const double braking = -ball.friction * ball.gravity.z(), stop = slip.norm() / (3.5 * braking);
        const Vec3 rolling = ball.velocity - braking * stop * slip.normalized();
        const Vec3 end = (ball.velocity + rolling) / 2 * stop + rolling * (1 - stop);
        for (const char* scheme : {"hem5", "phem56", "dopri5"}) {
            const RunSummary summary = slide(ball, scheme, std::ldexp(1, -9));
            EXPECT_NEAR(time_of(summary, EventKind::slip_to_stick), stop, 1e-8) << scheme;
            EXPECT_LT((Vec3(summary.q.head<3>()) - end - Vec3(0, 0, ball.radius)).norm(), 1e-9) << scheme;
        }
    }
}

// Four corners that stop together: redundant forces, one instant, no change of method.
TEST(StopInSpace, BlockOnFourCornersStopsAtOnceWithTheOrderOfTheMethod) {
    const std::vector<double> stop = Reference("block-incline").rows("stop")[0];
    for (const char* scheme : {"hem5", "phem56", "dopri5", "rk4", "rattle"}) {
        std::vector<double> errors;
        for (int k = 4; k <= 6; ++k) {
            const RunSummary summary = run(load_model(STICKSLIP_TEST_DATA "/scenes/block-stops-on-slope.yaml",
                                                      Set{{"run.scheme", scheme}}("run.step", std::ldexp(1, -k))));
            const std::vector<Event> events = of_kind(summary, EventKind::slip_to_stick);
            ASSERT_EQ(events.size(), 4u) << scheme;
            for (const Event& event : events) EXPECT_EQ(event.t, events[0].t) << scheme;
            EXPECT_TRUE(of_kind(summary, EventKind::method_switch).empty()) << scheme;
            errors.push_back(std::hypot(summary.q[0] - stop[1], summary.q[1] - stop[2]));
        }
        EXPECT_LT(errors.back(), std::string(scheme) == "rattle" ? 2e-5 : 1e-8)
            << note(std::string(scheme) + "_block", errors);
    }
}

}  // namespace
}  // namespace stickslip::analytic
