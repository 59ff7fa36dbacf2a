// until(t): the steps of run(), and why they ended.
#include <gtest/gtest.h>

#include "simulation/runs.hpp"

namespace stickslip {
namespace {

using testing::scene_of;
using testing::sliding_box;

TEST(Until, PiecesOfARunAreTheRun) {
    Simulation whole(scene_of(sliding_box)), pieces(scene_of(sliding_box));
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
    Simulation simulation(scene_of(sliding_box));
    EXPECT_FALSE(simulation.until(2));
    EXPECT_EQ(simulation.state().t, 0.5);
    EXPECT_EQ(simulation.refusal(), "");
    EXPECT_TRUE(simulation.until(0.2));
}

TEST(Until, RefusalIsToldWithoutARun) {
    // No solver gets that far: every step is refused.
    Simulation simulation(scene_of(sliding_box, {{"solver.tol", "1e-300", {}}, {"run.policy", "certify", {}}}));
    EXPECT_FALSE(simulation.until(0.1));
    EXPECT_EQ(simulation.state().t, 0);
    EXPECT_NE(simulation.refusal().find("could not be certified"), std::string::npos) << simulation.refusal();
    EXPECT_EQ(simulation.run().reason, simulation.refusal());
}

}  // namespace
}  // namespace stickslip
