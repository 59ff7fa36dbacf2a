// Edits in the loop: when they are made, who is told, and how a restored run makes them again. Their mechanics is in tests/laws.
#include "simulation/runs.hpp"

namespace stickslip {
namespace {

using namespace testing;

TEST(EditLog, AnActionIsMadeAtTheEndOfTheStepThatReachesIt) {
    Simulation simulation(scene_of(cut_pendulum));
    Witness witness;
    simulation.add(witness);
    while (simulation.state().t < 0.25) ASSERT_TRUE(simulation.advance());
    EXPECT_EQ(simulation.state().t, 0.25);
    ASSERT_EQ(witness.events.size(), 1u);
    EXPECT_EQ(witness.events[0].kind, EventKind::cut);
    EXPECT_EQ(witness.events[0].t, 0.25);
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.event_count, 1);
    EXPECT_EQ(summary.events[0].kind, EventKind::cut);
}

TEST(EditLog, EditsBetweenStepsAreEventsOfTheNext) {
    Simulation simulation(scene_of(cut_pendulum));
    Witness witness;
    simulation.add(witness);
    simulation.edit(Edit::cut("pivot"));
    EXPECT_EQ(simulation.state().t, 0);
    EXPECT_TRUE(witness.events.empty());
    ASSERT_TRUE(simulation.advance());
    ASSERT_EQ(witness.events.size(), 1u);
    EXPECT_EQ(witness.events[0].t, 0);
    EXPECT_EQ(simulation.model().system->who(witness.events[0]), "pivot");
}

TEST(EditLog, AnEditAfterTheLastStepIsInTheSummary) {
    Simulation simulation(scene_of(cut_pendulum));
    while (simulation.advance()) {
    }
    simulation.edit(Edit::cut("pivot"));
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.event_count, 2);
    ASSERT_EQ(summary.events.size(), 2u);
    EXPECT_EQ(summary.events[1].t, 0.5);
}

TEST(EditLog, ActionsAreMadeAgainAfterARestore) {
    Simulation through(scene_of(cut_pendulum));
    std::vector<Bytes> on_the_way{through.snapshot()};
    while (through.advance()) on_the_way.push_back(through.snapshot());
    const Bytes end = through.snapshot();
    // Before, at and after the cut; in a new simulation and back in this one.
    for (const std::size_t i : {0, 30, 63, 64, 65, 100}) {
        Simulation resumed(scene_of(cut_pendulum));
        resumed.restore(on_the_way[i]);
        through.restore(on_the_way[i]);
        EXPECT_EQ(resumed.snapshot(), on_the_way[i]) << "after " << i << " steps";
        for (Simulation* simulation : {&resumed, &through}) {
            while (simulation->advance()) {
            }
            EXPECT_EQ(simulation->snapshot(), end) << "after " << i << " steps";
        }
    }
}

TEST(EditLog, EditsOfAProgramAreMadeAgainOnlyWhereTheyWereMade) {
    Simulation simulation(scene_of(cut_pendulum));
    for (int i = 0; i < 10; ++i) simulation.advance();
    const Bytes before = simulation.snapshot();
    simulation.edit(Edit::cut("pivot"));
    for (int i = 0; i < 10; ++i) simulation.advance();
    const Bytes after = simulation.snapshot();
    while (simulation.advance()) {
    }
    const Bytes end = simulation.snapshot();

    simulation.restore(after);
    EXPECT_EQ(simulation.snapshot(), after);
    while (simulation.advance()) {
    }
    EXPECT_EQ(simulation.snapshot(), end);

    // Back to before the edit: the joint is there again, and another edit may be made.
    simulation.restore(before);
    EXPECT_EQ(simulation.snapshot(), before);
    simulation.edit(Edit::remove("other"));
    while (simulation.advance()) {
    }
    EXPECT_NE(simulation.snapshot(), end);

    Simulation stranger(scene_of(cut_pendulum));
    const Bytes fresh = stranger.snapshot();
    EXPECT_THROW(stranger.restore(after), Error);
    EXPECT_EQ(stranger.snapshot(), fresh);
    stranger.restore(before);
    EXPECT_EQ(stranger.snapshot(), before);
}

TEST(EditLog, ARefusedEditChangesNothing) {
    Simulation simulation(scene_of(cut_pendulum));
    simulation.advance();
    const Bytes before = simulation.snapshot();
    EXPECT_THROW(simulation.edit(Edit::cut("nothing")), Error);
    EXPECT_EQ(simulation.snapshot(), before);
    EXPECT_TRUE(simulation.advance());
    EXPECT_TRUE(simulation.step().events.empty());
    Simulation mechanism(load_model("mechanism:pendulum"));
    EXPECT_THROW(mechanism.edit(Edit::cut("rod")), Error);
}

TEST(EditLog, AnActionThatCannotBeMadeEndsTheRunAfterItsStep) {
    Simulation simulation(scene_of(cut_pendulum));
    while (simulation.state().t < 0.125) simulation.advance();
    simulation.edit(Edit::cut("pin"));
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::refused);
    EXPECT_EQ(summary.t, 0.25);
    EXPECT_TRUE(contains(summary.reason, "action at t = 0.25 s")) << summary.reason;
    EXPECT_FALSE(simulation.advance());
    EXPECT_THROW(simulation.edit(Edit::cut("pivot")), Error);
}

}  // namespace
}  // namespace stickslip
