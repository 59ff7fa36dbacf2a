// Two fingers squeeze a box with F and lift it: hand and box change their speeds in jumps, the box follows with what friction gives.
//
// The four corners of a finger share F in infinitely many ways, and while they slide the moment of friction about the normal goes with
// the shares. Spread evenly they have none, and the box must rise straight: with m a = 2 mu F - m g on the way up, it slips by
// v^2/(2 a) after the hand has started, and rises by v^2/(2 (2 mu F/m + g)) after it has stopped.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

const char* const gripper = R"(
stickslip: 1
let: {F: 15, mu: 0.5, m: 1, v: 0.4}
materials: {default: {friction: mu}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  hand: {pose: [0, 0, 0.3], mass: 2, shapes: [{box: [0.3, 0.05, 0.02]}]}
  left: {pose: [-0.0605, 0, 0.15], mass: 0.2, shapes: [{box: [0.02, 0.04, 0.25]}]}
  right: {pose: [0.0605, 0, 0.15], mass: 0.2, shapes: [{box: [0.02, 0.04, 0.25]}]}
  box: {pose: [0, 0, 0.05], mass: m, shapes: [{box: [0.1, 0.1, 0.1]}]}
joints:
  lift: {prismatic: {a: ground, b: hand, at: [0, 0, 0.3], axis: [0, 0, 1], motor: {speed: "t > 0.2 && t < 0.7 ? v : 0"}}}
  jaw-l: {prismatic: {a: hand, b: left, at: [-0.06, 0, 0.3], axis: [1, 0, 0], motor: {speed: 1, max_force: F}}}
  jaw-r: {prismatic: {a: hand, b: right, at: [0.06, 0, 0.3], axis: [-1, 0, 0], motor: {speed: 1, max_force: F}}}
run: {step: 5e-4, end: 1.1}
)";

TEST(Gripper, BoxRisesStraightWithWhatFrictionGives) {
    struct Case {
        double F, mu, m, v;
    };
    for (const Case& c : {Case{15, 0.5, 1, 0.4}, Case{20, 0.5, 1, 0.4}, Case{18, 0.4, 1, 0.3}, Case{31, 0.5, 2, 0.35}, Case{13, 0.6, 1.1, 0.4}}) {
        const std::string numbers = note("F, mu, m, v", {c.F, c.mu, c.m, c.v});
        Simulation simulation(scene_text(gripper, Set()("F", c.F)("mu", c.mu)("m", c.m)("v", c.v)));
        const RunSummary end = simulation.run();
        ASSERT_EQ(end.end, RunEnd::finished) << end.reason;
        EXPECT_TRUE(end.certified);
        const double friction = 2 * c.mu * c.F / c.m, square = c.v * c.v / 2;
        const double z = 0.05 + 0.5 * c.v - square / (friction - g) + square / (friction + g);
        const Pose box = simulation.model().system->body_state(4, simulation.state().q, simulation.state().v).pose;
        EXPECT_NEAR(box.position.z(), z, 1.5e-3 * c.v) << numbers;  // a step or two at that speed
        EXPECT_NEAR(box.position.y(), 0, 1e-9) << numbers;
        EXPECT_NEAR(box.attitude.vec().norm(), 0, 1e-7) << numbers;
    }
}

}  // namespace
}  // namespace stickslip::analytic
