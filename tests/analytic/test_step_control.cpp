// Moreau-Jean with a tolerance: the step taken is a pair of half steps whose difference from the full step keeps it, and
// whatever the record says of the pair is the sum of both halves.
#include <gtest/gtest.h>

#include <cmath>

#include "analytic/runs.hpp"
#include "support/scheme_memory.hpp"

namespace stickslip::analytic {
namespace {

using testing::Reference;

Simulation start(const std::string& model, std::initializer_list<std::pair<std::string, std::string>> sets) {
    OptionValues values;
    for (const auto& [key, text] : sets) values.push_back({key, text, {}});
    return Simulation(load_model(model, values));
}

// From the initial state, by fixed steps.
State fixed(const std::string& model, double h, int steps) {
    Simulation run = start(model, {{"scheme.step", text_of(h)}, {"run.end", text_of(h * steps)}});
    while (run.advance()) {
    }
    return run.state();
}

TEST(StepControl, TheStepTakenIsTwoHalvesThatAgreeWithTheFullStep) {
    for (const char* model :
         {"mechanism:pendulum", "mechanism:heavy-top", "mechanism:free-body", "mechanism:four-bar"}) {
        SCOPED_TRACE(model);
        const double tol = 3e-6;
        Simulation run = start(model, {{"scheme.tol", text_of(tol)}, {"scheme.step", "0.25"}});
        ASSERT_TRUE(run.advance());
        const double h = run.state().t;
        EXPECT_LT(h, 0.25);  // the first step was too long, and was thrown away
        const State halves = fixed(model, h / 2, 2), full = fixed(model, h, 1);
        EXPECT_LT((run.state().q - halves.q).norm(), 1e-14 * (1 + halves.q.norm()));
        EXPECT_LT((run.state().v - halves.v).norm(), 1e-13 * (1 + halves.v.norm()));
        EXPECT_LE((halves.q - full.q).norm(), tol * (1 + 1e-6));
        // The trial before was at most five times as long, and did not keep it.
        const State longer = fixed(model, 2.5 * h, 2), single = fixed(model, 5 * h, 1);
        EXPECT_GT((longer.q - single.q).norm(), tol);
    }
}

TEST(StepControl, ContactImpulsesOfAllAcceptedStepsAreTheChangeOfMomentum) {
    Simulation run = start("mechanism:bouncing-ball", {{"scheme.tol", "1e-6"}, {"run.end", "2.5"}});
    const double v0 = run.state().v[0];
    double impulse = 0;
    long impacts = 0;
    while (run.advance()) {
        for (const ContactRecord& c : run.step().contacts) impulse += c.impulse[0];
        for (const Event& event : run.step().events) impacts += event.kind == EventKind::impact;
    }
    EXPECT_EQ(run.state().t, 2.5);
    EXPECT_GT(impacts, 3);
    const double mass = run.step().terms.mass.block(0)(0, 0);
    EXPECT_NEAR(impulse, mass * (run.state().v[0] - v0 + g * 2.5), 1e-11);
}

TEST(StepControl, ReactionsOfAPairAreThoseOfBothHalves) {
    const double tol = 2e-5;
    Simulation run = start("mechanism:pendulum", {{"scheme.tol", text_of(tol)}, {"scheme.step", "0.2"}});
    ASSERT_TRUE(run.advance());
    const double h = run.state().t;
    Simulation halves = start("mechanism:pendulum", {{"scheme.step", text_of(h / 2)}, {"run.end", text_of(h)}});
    double sum = 0;
    int n = 0;
    for (; halves.advance(); ++n) sum += halves.step().reactions[0];
    EXPECT_EQ(n, 2);
    ASSERT_EQ(run.step().reactions.size(), 1);
    EXPECT_NEAR(run.step().reactions[0], sum, 1e-13 * std::abs(sum));
    EXPECT_GT(std::abs(sum), 1e-4);
}

// Free flight has no error, so steps grow fivefold; the floor must be seen all the same.
TEST(StepControl, AFallingBallIsNotFoundInsideTheFloor) {
    for (const double tol : {1e-3, 1e-5, 1e-7}) {
        Simulation run = start("mechanism:bouncing-ball",
                               {{"scheme.tol", text_of(tol)}, {"scheme.smallest_step", "1e-10"}, {"run.end", "1.9"}});
        double longest = 0;
        while (run.advance()) {
            longest = std::max(longest, run.step().t1 - run.step().t0);
        }
        EXPECT_GT(longest, 0.05);
        const State exact = run.model().exact(1.9);
        EXPECT_NEAR(run.state().q[0], exact.q[0], 60 * tol);
        const RunSummary summary = run.run();
        EXPECT_LE(summary.gap_violation_max, 10 * tol);
        EXPECT_GT(summary.rejected, 3);  // the impacts
        EXPECT_TRUE(summary.warnings.empty()) << summary.warnings[0];
    }
}

// While it sticks nothing moves, whatever the step: the load must be followed for its own sake.
TEST(StepControl, AStickingBlockDoesNotSleepThroughItsSlips) {
    double before = 1;
    for (const double tol : {1e-3, 1e-5, 1e-7}) {
        Simulation run = start("mechanism:block-stick-slip", {{"scheme.tol", text_of(tol)}});
        while (run.advance()) {
        }
        const double error = std::abs(run.state().q[0] - run.model().exact(run.state().t).q[0]);
        EXPECT_LT(error, 0.3 * before) << tol;
        before = error;
    }
    EXPECT_LT(before, 1e-5);
}

TEST(StepControl, ErrorsFallWithTheTolerance) {
    double before = infinity;
    for (const double tol : {1e-3, 1e-5, 1e-7}) {
        Simulation run = start("mechanism:heavy-top", {{"scheme.tol", text_of(tol)}, {"run.end", "1"}});
        while (run.advance()) {
        }
        const State fine = fixed("mechanism:heavy-top", 2e-5, 50000);
        const double error = (run.state().q - fine.q).norm();
        EXPECT_LT(error, before / 5);
        before = error;
    }
}

TEST(StepControl, TheInterpolantPassesTheMiddleAndTheMovesAreStraight) {
    Simulation run = start("mechanism:free-body", {{"scheme.tol", "1e-5"}, {"scheme.step", "0.1"}});
    for (int i = 0; i < 5; ++i) run.advance();
    const Step& step = run.step();
    ASSERT_GT(step.middle.t, step.t0);
    ASSERT_LT(step.middle.t, step.t1);
    State x;
    step.at(*run.model().system, step.t0, x);
    EXPECT_EQ(x.q, step.q0);
    step.at(*run.model().system, step.middle.t, x);
    EXPECT_EQ(x.q, step.middle.q);
    EXPECT_EQ(x.v, step.middle.v);
    step.at(*run.model().system, step.middle.t - 1e-9, x);
    EXPECT_LT((x.q - step.middle.q).norm(), 1e-7);
    step.at(*run.model().system, step.t1 - 1e-9, x);
    EXPECT_LT((x.q - step.q1).norm(), 1e-7);
}

TEST(StepControl, WhatCannotBeKeptIsSaid) {
    Simulation run = start("mechanism:bouncing-ball", {{"scheme.tol", "1e-12"}, {"run.end", "1"}});
    const RunSummary summary = run.run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    ASSERT_FALSE(summary.warnings.empty());
    EXPECT_NE(summary.warnings[0].find("smallest_step"), std::string::npos) << summary.warnings[0];
}

TEST(StepControl, LengthsThatTheEndCutsShortAreNotForgotten) {
    Simulation run = start("mechanism:heavy-top", {{"scheme.tol", "1e-3"}, {"run.end", "1"}});
    while (run.advance()) {
    }
    EXPECT_EQ(run.state().t, 1);
    const double wanted = wanted_step(run.step());
    EXPECT_GT(wanted, 1e-3);
}

TEST(StepControl, NonsenseIsRefused) {
    const auto complaint = [](const char* key, const char* text) -> std::string {
        try {
            start("mechanism:pendulum", {{key, text}});
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(complaint("scheme.tol", "-1").find("tol"), std::string::npos);
    EXPECT_NE(complaint("scheme.tol", "inf").find("tol"), std::string::npos);
    EXPECT_NE(complaint("scheme.tol", "nan"), "");
    EXPECT_NE(complaint("scheme.smallest_step", "0").find("smallest_step"), std::string::npos);
    EXPECT_NE(complaint("scheme.longest_step", "1e-9").find("longest_step"), std::string::npos);
    EXPECT_NE(complaint("scheme.control_order", "0").find("control_order"), std::string::npos);
    try {
        require_step_control("euler");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("moreau-jean"), std::string::npos);
    }
}

// A ball without friction slides off a table 0.8 m away: step control must see that it leaves, or it flies on along the table.
TEST(StepControl, SeesThatABallSlidesOffItsTable) {
    for (const double tol : {1e-5, 1e-8}) {
        Simulation simulation(scene_text(R"(
stickslip: 1
materials: {default: {friction: 0, restitution: 0}}
bodies:
  table: {fixed: true, pose: [0, 0, -0.2], shapes: [{box: [1.6, 1, 0.4]}]}
  ball: {pose: [0, 0, 0.07], mass: 2, shapes: [{sphere: 0.07}], velocity: [2, 0, 0]}
run: {step: 1e-3, end: 0.9}
)",
                                         Set()("scheme.tol", tol)));
        ASSERT_EQ(simulation.run().end, RunEnd::finished);
        EXPECT_NEAR(simulation.state().q[2], 0.07 - g * 0.25 / 2, 10 * std::sqrt(tol)) << note("tol", {tol});
    }
}

}  // namespace
}  // namespace stickslip::analytic
