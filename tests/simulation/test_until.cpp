// until(t): the steps of run(), and why they ended.
#include <gtest/gtest.h>

#include "stickslip/load.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {
namespace {

const char* const sliding_box_scene = R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box: {pose: [0, 0, 0.5], mass: 2, shapes: [{box: [1, 1, 1]}], velocity: [1, 0, 0]}
run: {step: 2^-8, end: 0.5}
)";

Model sliding(const char* scene = sliding_box_scene) { return build_model(read_scene_text(scene, "test.yaml")); }

TEST(Until, PiecesOfARunAreTheRun) {
    Simulation whole(sliding()), pieces(sliding());
    const RunSummary summary = whole.run();
    for (const double t : {0.1, 0.1, 0.25, 0.3, 0.5}) {
        EXPECT_TRUE(pieces.until(t));
        EXPECT_GE(pieces.state().t, t);
        EXPECT_LT(pieces.state().t, t + 0x1p-8);
        EXPECT_EQ(pieces.refusal(), "");
    }
    EXPECT_EQ(state_hash(pieces.state()), summary.hash);
    const RunSummary rest = pieces.run();
    EXPECT_EQ(rest.steps, summary.steps);
    EXPECT_EQ(rest.hash, summary.hash);
}

TEST(Until, DoesNotGoBeyondTheEndOfTheRun) {
    Simulation simulation(sliding());
    EXPECT_FALSE(simulation.until(2));
    EXPECT_EQ(simulation.state().t, 0.5);
    EXPECT_EQ(simulation.refusal(), "");
    EXPECT_TRUE(simulation.until(0.2));
}

TEST(Until, RefusalIsToldWithoutARun) {
    // No solver gets that far: every step is refused.
    Simulation simulation(build_model(read_scene_text(sliding_box_scene, "test.yaml", {{"solver.tol", "1e-300", {}}})));
    EXPECT_FALSE(simulation.until(0.1));
    EXPECT_EQ(simulation.state().t, 0);
    EXPECT_NE(simulation.refusal().find("could not be certified"), std::string::npos) << simulation.refusal();
    EXPECT_EQ(simulation.run().reason, simulation.refusal());
}

}  // namespace
}  // namespace stickslip
