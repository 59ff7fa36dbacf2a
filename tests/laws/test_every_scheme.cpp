// Every scheme on every mechanism and scene must keep the laws: the ledger closes, every step is certified and its
// impulses lie in their cones, the same run gives the same bits, a resumed run goes on to the same bits, and nothing
// is allocated in a step. A new scheme, mechanism or scene is tested by being listed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "support/count_malloc.hpp"
#include "support/models.hpp"

namespace stickslip {
namespace {

using testing::every_model;
using testing::set;

class EveryScheme : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    // At most `steps` steps of the model's own size.
    Model model(int steps) const {
        const auto& [spec, scheme] = GetParam();
        Model loaded = load_model(spec, {set("run.scheme", scheme)});
        double step = 1e-3;
        for (const OptionValue& option : loaded.run.scheme.options)
            if (option.key == "step") step = load_step(option.text);
        // Piles in which located events come by the hundred: half as many steps see as many contacts as elsewhere all of them.
        const bool pile = spec.find("brick-wall") != std::string::npos || spec.find("heap") != std::string::npos;
        loaded.run.end = std::min(loaded.run.end, (pile ? steps / 2 : steps) * step);
        return loaded;
    }
    static double load_step(const std::string& text) {
        const auto slash = text.find('/');
        return slash == std::string::npos ? std::stod(text)
                                          : std::stod(text.substr(0, slash)) / std::stod(text.substr(slash + 1));
    }
};

TEST_P(EveryScheme, EnergyLedgerClosesToRounding) {
    Simulation simulation(model(1500));
    const RunSummary summary = simulation.run();
    ASSERT_EQ(summary.end, RunEnd::finished) << summary.reason;
    EXPECT_LE(std::abs(summary.imbalance), 1e-12 * summary.energy_scale);
}

TEST_P(EveryScheme, ImpulsesLieInTheirConesAndEveryStepIsCertified) {
    Simulation simulation(model(300));
    while (simulation.advance()) {
        const Step& step = simulation.step();
        const StepProblem& problem = step.problem;
        for (int i = 0; i < problem.contacts.size(); ++i) {
            const int row = problem.contacts.jacobian.row[i], dim = problem.contacts.jacobian.dim(i);
            const double normal = step.solution.p[row];
            double tangential = 0;
            for (int k = 1; k < dim; ++k) tangential = std::hypot(tangential, step.solution.p[row + k]);
            const double slack = 1e-9 * (1 + normal);
            ASSERT_GE(normal, -slack);
            ASSERT_LE(tangential, problem.contacts.friction[i] * normal + slack);
        }
        ASSERT_LE(residual(problem, step.solution).max(), default_tolerance);
    }
    EXPECT_GE(simulation.state().t, simulation.model().run.end);
}

TEST_P(EveryScheme, SameRunSameBits) {
    const std::string first = Simulation(model(400)).run().hash;
    EXPECT_EQ(first, Simulation(model(400)).run().hash);
}

TEST_P(EveryScheme, ResumedRunEqualsTheRunThrough) {
    Simulation through(model(400));
    for (int i = 0; i < 137; ++i) through.advance();
    const std::vector<std::uint8_t> snapshot = through.snapshot();
    Simulation resumed(model(400));
    resumed.restore(snapshot);
    while (through.advance()) {
    }
    while (resumed.advance()) {
    }
    EXPECT_EQ(state_hash(through.state()), state_hash(resumed.state()));
    EXPECT_EQ(through.step().ledger.imbalance(), resumed.step().ledger.imbalance());
    EXPECT_EQ(through.snapshot(), resumed.snapshot());
}

TEST_P(EveryScheme, AllocatesNothingInAStepAfterWarmUp) {
    if (!STICKSLIP_COUNTS_MALLOC) return;  // the sanitizer owns malloc
    // The run itself is its own warm-up: once through, then again from the start, cold, in the same objects.
    Simulation simulation(model(600));
    const std::vector<std::uint8_t> start = simulation.snapshot();
    while (simulation.advance()) {
    }
    simulation.restore(start);
    long steps = 0, allocated = 0;
    for (;;) {
        const long before = testing::allocations;
        if (!simulation.advance()) break;
        ++steps;
        // An edit builds a new system; that happens between steps.
        const std::vector<Event>& events = simulation.step().events;
        const bool edited = std::any_of(events.begin(), events.end(), [](const Event& e) { return is_edit(e.kind); });
        if (!edited) allocated += testing::allocations - before;
    }
    EXPECT_GT(steps, 100);
    EXPECT_EQ(allocated, 0);
}

TEST(EverySolver, AllocatesNothingOnAHeapAfterWarmUp) {
    if (!STICKSLIP_COUNTS_MALLOC) return;
    for (const SolverEntry& solver : solvers()) {
        Simulation simulation(
            load_model(STICKSLIP_TEST_DATA "/scenes/heap.yaml",
                       {set("run.solver", solver.name), set("run.end", "1.2"), set("contacts.cone", "{polygon: 8}")}));
        const std::vector<std::uint8_t> start = simulation.snapshot();
        while (simulation.advance()) {
        }
        simulation.restore(start);
        const long before = testing::allocations;
        while (simulation.advance()) {
        }
        EXPECT_EQ(testing::allocations - before, 0) << solver.name;
        EXPECT_GE(simulation.state().t, 1.2) << solver.name;
    }
}

// Off by default, so EveryScheme does not see it: loops, contacts with joints, a redundant row.
TEST(Projection, AllocatesNothingAndGivesTheSameBitsAgain) {
    for (const std::string scheme : {"moreau-jean", "euler"}) {
        for (const std::string& spec :
             {std::string(STICKSLIP_SCENES "/slider-crank.yaml"), std::string(STICKSLIP_SCENES "/newtons-cradle.yaml"),
              std::string("mechanism:double-pendulum-wall"), std::string(STICKSLIP_TEST_DATA "/scenes/bricard.yaml")}) {
            SCOPED_TRACE(spec + " " + scheme);
            Simulation simulation(
                load_model(spec, {set("run.scheme", scheme), set("scheme.projection", "both"), set("run.end", "0.5")}));
            const std::vector<std::uint8_t> start = simulation.snapshot();
            while (simulation.advance()) {
            }
            const std::string hash = state_hash(simulation.state());
            simulation.restore(start);
            const long before = testing::allocations;
            while (simulation.advance()) {
            }
            if (STICKSLIP_COUNTS_MALLOC) {
                EXPECT_EQ(testing::allocations - before, 0);
            }
            EXPECT_EQ(state_hash(simulation.state()), hash);
            EXPECT_GE(simulation.state().t, 0.5);
            const EnergyLedger& ledger = simulation.step().ledger;
            EXPECT_LT(std::abs(ledger.imbalance()), 1e-12 * ledger.scale());
        }
    }
}

// The shipped models, a heap in which contacts change all the time, edits of every kind, and a loop with a redundant row.
std::vector<std::string> lawful_models() {
    std::vector<std::string> models = every_model();
    models.push_back(STICKSLIP_TEST_DATA "/scenes/heap.yaml");
    models.push_back(STICKSLIP_TEST_DATA "/scenes/edits.yaml");
    models.push_back(STICKSLIP_TEST_DATA "/scenes/bricard.yaml");
    return models;
}

// Methods that differ from another one in their coefficients alone are tried on a few models of every kind.
std::vector<std::tuple<std::string, std::string>> lawful_pairs() {
    const std::vector<std::string> relatives{"phem56", "hem4", "hem3", "dopri5", "rkf45", "rk4", "rattle"};
    const std::vector<std::string> few{
        "mechanism:pendulum",         "mechanism:four-bar",  "mechanism:double-pendulum-wall",
        "mechanism:block-stick-slip", "mechanism:heavy-top", STICKSLIP_SCENES "/slider-crank.yaml"};
    std::vector<std::tuple<std::string, std::string>> pairs;
    for (const SchemeEntry& scheme : schemes()) {
        const bool relative = std::find(relatives.begin(), relatives.end(), scheme.name) != relatives.end();
        for (const std::string& model : relative ? few : lawful_models()) pairs.emplace_back(model, scheme.name);
    }
    return pairs;
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryScheme, ::testing::ValuesIn(lawful_pairs()), [](const auto& test) {
    return testing::test_name(std::get<0>(test.param), std::get<1>(test.param));
});

}  // namespace
}  // namespace stickslip
