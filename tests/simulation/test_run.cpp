// The loop: where it begins and ends, who is told, and that the numbers of the summary are sums over its steps.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "simulation/runs.hpp"

namespace stickslip {
namespace {

using namespace testing;

TEST(Run, EndsExactlyAndStaysThere) {
    Simulation simulation(scene_of(stone));
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::finished);
    EXPECT_EQ(summary.t, 0.5);
    EXPECT_EQ(summary.steps, 32);
    EXPECT_TRUE(summary.reason.empty());
    const Bytes end = simulation.snapshot();
    EXPECT_FALSE(simulation.advance());
    EXPECT_FALSE(simulation.advance());
    EXPECT_EQ(simulation.snapshot(), end);
    const RunSummary again = simulation.run();
    EXPECT_EQ(again.end, RunEnd::finished);
    EXPECT_EQ(again.steps, 32);
    EXPECT_EQ(again.hash, summary.hash);
}

TEST(Run, LastStepIsShortenedToTheEnd) {
    Simulation simulation(scene_of(stone, {set("run.end", "0.1")}));
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.t, 0.1);
    EXPECT_EQ(summary.steps, 7);
    EXPECT_LT(simulation.step().t1 - simulation.step().t0, 0x1p-6);
}

TEST(Run, StepByStepIsTheRun) {
    Simulation whole(scene_of(sliding_box)), steps(scene_of(sliding_box));
    const RunSummary summary = whole.run();
    long n = 0;
    while (steps.advance()) ++n;
    EXPECT_EQ(n, summary.steps);
    EXPECT_EQ(state_hash(steps.state()), summary.hash);
    EXPECT_EQ(steps.snapshot(), whole.snapshot());
}

TEST(Run, GoesOnUntilATime) {
    Simulation whole(scene_of(sliding_box)), parts(scene_of(sliding_box));
    whole.run();
    EXPECT_TRUE(parts.until(0.1));
    EXPECT_GE(parts.state().t, 0.1);
    EXPECT_LT(parts.state().t, 0.1 + 0x1p-8);
    const Bytes there = parts.snapshot();
    EXPECT_TRUE(parts.until(0.1));  // it is there
    EXPECT_EQ(parts.snapshot(), there);
    EXPECT_TRUE(parts.until(0.5));
    EXPECT_FALSE(parts.until(0.6));  // the run ends before
    EXPECT_EQ(parts.snapshot(), whole.snapshot());
    EXPECT_TRUE(parts.refusal().empty());
}

TEST(Run, StopsAfterTheStepInWhichItIsAskedTo) {
    Simulation simulation(scene_of(stone));
    Witness witness;
    simulation.add(witness);
    std::atomic<bool> stop{false};
    const RunSummary summary = simulation.run(&stop, [&](double t) { stop = t >= 0.25; });
    EXPECT_EQ(summary.end, RunEnd::interrupted);
    EXPECT_EQ(summary.reason, "interrupted");
    EXPECT_EQ(summary.t, 0.25);
    EXPECT_EQ(summary.steps, 16);
    EXPECT_EQ(witness.calls, "b" + std::string(16, 'w') + "e");
}

TEST(Run, AStopInTheLastStepIsNoInterruption) {
    Simulation simulation(scene_of(stone));
    std::atomic<bool> stop{false};
    const RunSummary summary = simulation.run(&stop, [&](double t) { stop = t >= 0.5; });
    EXPECT_EQ(summary.end, RunEnd::finished);
    EXPECT_EQ(summary.t, 0.5);
}

TEST(Run, TellsItsProgressAfterEveryStep) {
    Simulation simulation(scene_of(stone));
    std::vector<double> told;
    Witness witness;
    simulation.add(witness);
    simulation.run(nullptr, [&](double t) { told.push_back(t); });
    EXPECT_EQ(told, witness.times);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
}

TEST(Run, RecordersSeeTheStartEveryStepAndTheSummary) {
    Simulation simulation(scene_of(stone));
    Witness one, two;
    simulation.add(one);
    simulation.add(two);
    const RunSummary summary = simulation.run();
    for (const Witness* witness : {&one, &two}) {
        EXPECT_EQ(witness->calls, "b" + std::string(32, 'w') + "e");
        EXPECT_EQ(witness->first.t, 0);
        EXPECT_EQ(witness->times.back(), 0.5);
        EXPECT_EQ(witness->hash, summary.hash);
    }
}

TEST(Run, NumbersOfTheSummaryAreSumsOverTheSteps) {
    for (const char* scheme : {"moreau-jean", "euler", "hem5"}) {
        SCOPED_TRACE(scheme);
        Simulation simulation(scene_of(sliding_box, {set("run.scheme", scheme)}));
        Witness seen;
        simulation.add(seen);
        long solved = 0, last_step = 0;
        simulation.watch_solves([&](const SolvedProblem& now) {
            ++solved;
            EXPECT_GE(now.step, last_step);
            last_step = now.step;
            EXPECT_GE(now.wall_s, 0);
            EXPECT_EQ(now.report.status, Status::ok);
        });
        const VecX v0 = simulation.state().v;
        const RunSummary summary = simulation.run();
        const auto n = static_cast<double>(seen.times.size());
        EXPECT_EQ(summary.model, simulation.model().name);
        EXPECT_EQ(summary.scheme, scheme);
        EXPECT_EQ(summary.cone, "disc");
        EXPECT_EQ(summary.steps, static_cast<long>(seen.times.size()));
        EXPECT_EQ(summary.certified_steps, summary.steps);
        EXPECT_EQ(summary.solves, seen.solves);
        if (std::string(scheme) != "hem5") {  // its smooth steps need the solver only where modes may change
            EXPECT_EQ(summary.solves, solved);
            EXPECT_EQ(last_step, summary.steps);
        }
        EXPECT_EQ(summary.hash, state_hash(simulation.state()));
        EXPECT_EQ(summary.q, simulation.state().q);
        EXPECT_EQ(summary.v, simulation.state().v);
        double variation = 0, weighted = 0, residuals = 0, worst = 0;
        long contacts = 0;
        int most = 0;
        for (std::size_t i = 0; i < seen.times.size(); ++i) {
            variation += (seen.velocities[i] - (i ? seen.velocities[i - 1] : v0)).norm();
            if (i) weighted += (seen.weighted[i] - seen.weighted[i - 1]).norm();
            residuals += seen.residuals[i];
            worst = std::max(worst, seen.residuals[i]);
            contacts += seen.contacts[i];
            most = std::max(most, seen.contacts[i]);
        }
        EXPECT_DOUBLE_EQ(summary.variation.v, variation);
        EXPECT_DOUBLE_EQ(summary.variation.v_weighted, weighted);
        EXPECT_GT(summary.variation.v, 0.99);  // 1 m/s is braked to rest
        EXPECT_DOUBLE_EQ(summary.residual.mean, residuals / n);
        EXPECT_EQ(summary.residual.max, worst);
        EXPECT_DOUBLE_EQ(summary.contacts.mean, static_cast<double>(contacts) / n);
        EXPECT_EQ(summary.contacts.max, most);
        EXPECT_EQ(most, 4);
        EXPECT_EQ(summary.event_count, static_cast<long>(seen.events.size()));
        EXPECT_EQ(summary.events.size(), seen.events.size());
    }
}

TEST(Run, TimesOfStepsAreOrdered) {
    const RunSummary summary = Simulation(scene_of(sliding_box)).run();
    EXPECT_GT(summary.step_ms.p50, 0);
    EXPECT_LE(summary.step_ms.p50, summary.step_ms.p99);
    EXPECT_LE(summary.step_ms.p99, summary.step_ms.max);
    EXPECT_LE(summary.step_ms.mean, summary.step_ms.max);
    EXPECT_LE(1e-3 * summary.step_ms.mean * static_cast<double>(summary.steps), summary.wall_s);
    EXPECT_GT(summary.step_cpu_ms.p50, 0);
    EXPECT_LE(summary.step_cpu_ms.p99, summary.step_cpu_ms.max);
    EXPECT_LE(summary.step_cpu_ms.mean, 1.01 * summary.step_ms.mean);  // two clocks
    double seconds = 0;
    for (const double s : summary.timers.seconds) seconds += s;
    EXPECT_GT(seconds, 0);
    EXPECT_LE(seconds, summary.wall_s);
}

TEST(Run, NamesThePolygonOfItsCones) {
    const RunSummary summary = Simulation(scene_of(sliding_box, {set("contacts.cone", "{polygon: 6}")})).run();
    EXPECT_EQ(summary.cone, "polygon-6");
}

// Every row of a step table is a switch of the load, hence an event.
TEST(Run, KeepsTheFirstTenThousandEventsAndCountsAll) {
    constexpr int rows = 10050;
    std::string text =
        "stickslip: 1\nbodies:\n  stone: {mass: 1, inertia: 1}\nforces:\n  push:\n    load:\n      body: stone\n"
        "      interpolation: step\n      table:\n";
    for (int i = 1; i <= rows; ++i)
        text += "        - [" + std::to_string(i) + "e-4, " + std::to_string(i % 2) + ", 0, 0]\n";
    text += "run: {step: 1, end: 2}\n";
    Simulation simulation(scene_of(text));
    Witness witness;
    simulation.add(witness);
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.event_count, rows);
    ASSERT_EQ(summary.events.size(), 10000u);
    EXPECT_EQ(witness.events.size(), static_cast<std::size_t>(rows));
    for (int i = 0; i < 10000; ++i) ASSERT_EQ(summary.events[i].t, witness.events[i].t);
    EXPECT_EQ(summary.events.front().kind, EventKind::load_switch);
    EXPECT_NEAR(summary.events.back().t, 1.0, 1e-12);
}

TEST(Run, WarnsOfWhatAUserShouldKnow) {
    // Impacts that come ever faster.
    const char* text = R"(
stickslip: 1
materials: {default: {friction: 0, restitution: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.6], mass: 1, shapes: [{sphere: 0.5}]}
run: {step: 1e-2, end: 1, scheme: hem5}
)";
    const RunSummary ball = Simulation(scene_of(text)).run();
    EXPECT_TRUE(any_contains(ball.warnings, "impacts accumulated (Zeno)"));
    // A contact in which rigid bodies have no force, or two.
    const RunSummary rod = Simulation(load_model("mechanism:painleve-rod")).run();
    EXPECT_GT(rod.paradox_steps, 0);
    EXPECT_TRUE(any_contains(rod.warnings, "Painleve's paradox"));
    // More rows than freedoms.
    const RunSummary ring = Simulation(load_model("mechanism:bricard", {set("run.end", "0.01")})).run();
    EXPECT_EQ(ring.redundant.size(), 1u);
    EXPECT_FALSE(ring.not_unique.empty());
    // And of nothing where there is nothing to say.
    EXPECT_TRUE(Simulation(scene_of(stone)).run().warnings.empty());
}

}  // namespace
}  // namespace stickslip
