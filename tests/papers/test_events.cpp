// Events of the linearly implicit family where they are hard to find or come together, judged by closed forms.
#include "analytic/runs.hpp"

namespace stickslip::analytic {
namespace {

double time_of(const RunSummary& summary, EventKind kind) {
    for (const Event& event : summary.events)
        if (event.kind == kind) return event.t;
    return -1;
}

// A tilted capsule lands on one end, then on the other, and rests; its two contacts part and return within a step.
TEST(Events, FallenCapsuleRestsOnTheFloorAndDoesNotSink) {
    const char* text = R"scene(
stickslip: 1
plane: xz
materials: {default: {friction: 0, restitution: 0}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  capsule: {pose: {at: [0, 0, 0.6], rpy_deg: [0, 60, 0]}, mass: 1, shapes: [{capsule: {radius: 0.08, length: 0.15}}]}
run: {end: 6}
)scene";
    for (const char* scheme : {"trapezoidal", "alpha-gamma", "linear-implicit-euler"})
        for (const double h : {1e-3, 1e-2}) {
            const RunSummary summary = run(scene_text(text, Set{{"run.scheme", scheme}}("run.step", h)));
            EXPECT_NEAR(summary.q[1], 0.08, 5 * h * h) << scheme << " " << h;
            EXPECT_LT(summary.v.norm(), 1e-9) << scheme << " " << h;
            EXPECT_LT(summary.event_count, 50) << scheme << " " << h;
        }
}

// However long the step, a body with daylight under it falls.
TEST(Events, HugeStepsDoNotHoldABodyInTheAir) {
    for (const char* scheme : {"trapezoidal", "alpha-gamma", "linear-implicit-euler"})
        for (const double h : {0.3, 1.0, 10.0}) {
            const RunSummary summary = run(mechanism(
                "bouncing-ball", Set{{"run.scheme", scheme}}("run.step", h)("z0", 2.0)("e", 0.0)("run.end", 3.0)));
            EXPECT_NEAR(summary.q[0], 0, 1e-4) << scheme << " " << h;
        }
}

TEST(Events, BallOfAnyWeightsComesToRestOnTheFloor) {
    for (const char* weights : {"0.5", "0.6", "0.8", "0.95", "1"})
        for (const double h : {1e-3, 1e-2, 3e-2, 0.1}) {
            const RunSummary summary =
                run(mechanism("bouncing-ball",
                              Set{{"run.scheme", "alpha-gamma"}, {"scheme.alpha", weights}, {"scheme.gamma", weights}}(
                                  "run.step", h)("e", 0.5)("run.end", 4.0)));
            EXPECT_NEAR(summary.q[0], 0, 1e-9) << weights << " " << h;
            EXPECT_LT(std::abs(summary.v[0]), 1e-9) << weights << " " << h;
        }
}

// Pushed with 5 t, friction holds 3.924 N: it goes at 0.7848 s, whatever the step.
TEST(Events, BlockLetsGoWhenThePushExceedsItsFriction) {
    const char* text = R"scene(
stickslip: 1
plane: xz
materials: {default: {friction: 0.4}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  block: {pose: [0, 0, 0.1], mass: 1, shapes: [{box: [1, 1, 0.2]}]}
forces: {push: {load: {body: block, at: [0, 0, -0.1], force: [5*t, 0, 0]}}}
run: {end: 1.3}
)scene";
    for (const double h : {0.04, 0.03, 0.02, 0.013, 0.01, 0.007}) {
        const RunSummary summary = run(scene_text(text, Set{{"run.scheme", "trapezoidal"}}("run.step", h)));
        EXPECT_NEAR(time_of(summary, EventKind::stick_to_slip), 0.4 * g / 5, 1e-6) << h;
    }
}

// A table driven by a motor throws a ball: it leaves when the table falls faster than g.
TEST(Events, BallLeavesAShakenTable) {
    const char* text = R"scene(
stickslip: 1
bodies:
  table: {pose: [0, 0, -0.1], mass: 10, shapes: [{box: [2, 2, 0.2]}], velocity: [0, 0, 0.6]}
  ball: {pose: [0, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}], velocity: [0, 0, 0.6]}
joints: {guide: {prismatic: {a: ground, b: table, at: [0, 0, -0.1], axis: [0, 0, 1], motor: {speed: 0.6*cos(30*t)}}}}
run: {end: 0.06}
)scene";
    const double exact = std::asin(g / 18) / 30;
    for (const double h : {4e-3, 3.7e-3, 2e-3, 1.3e-3}) {
        const RunSummary summary = run(scene_text(text, Set{{"run.scheme", "trapezoidal"}}("run.step", h)));
        EXPECT_NEAR(time_of(summary, EventKind::take_off), exact, 1e-5) << h;
    }
}

// A ball slides into rolling while another one lands elsewhere in the same step.
TEST(Events, CollisionElsewhereDoesNotMoveTheEndOfASlip) {
    const char* text = R"scene(
stickslip: 1
let: {hit: 0.2985}
materials: {default: {friction: 0.3}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  a: {pose: [0, 0, 0.2], mass: 2, shapes: [{sphere: 0.2}], velocity: [3, 0, 0]}
  z: {pose: [0, 5, 0.1 + 4.905*hit^2], mass: 1, shapes: [{sphere: 0.1}]}
run: {end: 1, step: 0.01}
)scene";
    for (const double hit : {0.2985, 0.295, 0.2908, 0.25})
        for (const char* form : {"I", "II"}) {
            const RunSummary summary =
                run(scene_text(text, Set{{"run.scheme", "trapezoidal"}, {"scheme.form", form}}("hit", hit)));
            EXPECT_NEAR(time_of(summary, EventKind::slip_to_stick), 2 * 3 / (7 * 0.3 * g), 1e-6) << form << " " << hit;
            EXPECT_NEAR(time_of(summary, EventKind::impact), hit, 1e-9) << form << " " << hit;
            EXPECT_EQ(summary.event_count, 2) << form << " " << hit;
        }
}

TEST(Events, BrakeThatGrowsStopsWithOrderTwo) {
    const char* text = R"scene(
stickslip: 1
bodies: {slider: {mass: 1, inertia: 0.1}}
joints: {guide: {prismatic: {a: ground, b: slider, at: [0, 0, 0], axis: [0, 0, 1], brake: 2*t}}}
run: {end: 1}
)scene";
    std::vector<double> errors;  // of z = -g t^2/2 + t^3/3
    for (const double h : {0.1, 0.05, 0.025})
        errors.push_back(
            std::abs(run(scene_text(text, Set{{"run.scheme", "trapezoidal"}}("run.step", h))).q[2] + g / 2 - 1.0 / 3));
    EXPECT_NEAR(observed_order(errors), 2, 0.1) << note("errors", errors);
}

// [Flores, Leine & Glocker 2010]: play in the guide of a slider-crank; a hundred impacts that accumulate six times, phases of
// sliding contact, reversals and releases in three turns of the crank.
TEST(Events, SliderCrankWithPlayIsFollowedWithOrderTwo) {
    const Reference reference("slider-crank-clearance");
    const std::vector<double>& end = reference.row("state", {0.4, 0.01, 0.2});
    for (const char* form : {"I", "II"}) {
        std::vector<double> errors;
        for (const double h : {4e-5, 2e-5, 1e-5}) {
            const RunSummary summary = run(mechanism(
                "slider-crank-clearance",
                Set{{"run.scheme", "trapezoidal"}, {"scheme.form", form}, {"scheme.impact", "newton"}}("run.step", h)));
            errors.push_back(std::hypot(summary.q[0] - end[3], summary.q[1] - end[4]));
            EXPECT_LT(std::abs(summary.q[2]), 1e-9) << form << " " << h;  // it does not tilt
        }
        EXPECT_NEAR(observed_order(errors), 2, 0.2) << form << note("errors", errors);
        EXPECT_LT(errors.back(), 1e-4) << form << note("errors", errors);
    }
}

}  // namespace
}  // namespace stickslip::analytic
