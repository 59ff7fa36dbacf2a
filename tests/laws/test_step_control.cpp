// Step control is off by default in schemes that also have fixed steps, so EveryScheme does not see it: the same laws with a
// tolerance, on every mechanism and scene. Trials that were thrown away must leave no trace in any of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "support/allocations.hpp"
#include "support/models.hpp"

namespace stickslip {
namespace {

using testing::every_model;
using testing::set;

// Schemes whose option `tol` is 0 by default.
std::vector<std::string> schemes_with_optional_control() {
    std::vector<std::string> names;
    for (const SchemeEntry& entry : schemes())
        for (const FieldInfo& field : entry.options())
            if (field.name == "tol" && field.default_text == "0") names.emplace_back(entry.name);
    return names;
}

class StepControl : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    static constexpr int steps = 150;
    Simulation simulation() const {
        const auto& [spec, scheme] = GetParam();
        return Simulation(load_model(spec, {set("run.scheme", scheme), set("scheme.tol", "1e-5")}));
    }
};

// Steps that are not certified end the run.
TEST_P(StepControl, LedgerClosesEveryStepIsCertifiedAndRepeats) {
    Simulation run = simulation();
    long taken = 0;
    for (; taken < steps && run.advance(); ++taken) {
        const Step& step = run.step();
        ASSERT_LE(std::abs(step.ledger.imbalance()), 1e-12 * step.ledger.scale());
        for (const Event& event : step.events) {
            if (is_edit(event.kind) || event.kind == EventKind::accumulation) continue;  // that lies ahead
            ASSERT_GE(event.t, step.t0);
            ASSERT_LE(event.t, step.t1);
        }
        for (const ContactRecord& c : step.contacts) ASSERT_GE(c.impulse[0], -1e-9);
    }
    EXPECT_TRUE(taken == steps || run.state().t >= run.model().run.end) << run.run().reason;
    Simulation again = simulation();
    for (long i = 0; i < taken; ++i) again.advance();
    EXPECT_EQ(state_hash(run.state()), state_hash(again.state()));
    EXPECT_EQ(run.snapshot(), again.snapshot());
}

TEST_P(StepControl, ResumedRunEqualsTheRunThrough) {
    Simulation through = simulation();
    for (int i = 0; i < steps / 3; ++i) through.advance();
    const std::vector<std::uint8_t> snapshot = through.snapshot();
    Simulation resumed = simulation();
    resumed.restore(snapshot);
    for (int i = 0; i < steps / 3; ++i) {
        through.advance();
        resumed.advance();
    }
    EXPECT_EQ(state_hash(through.state()), state_hash(resumed.state()));
    EXPECT_EQ(through.snapshot(), resumed.snapshot());
}

TEST_P(StepControl, AllocatesNothingInAStepAfterWarmUp) {
    Simulation run = simulation();
    const std::vector<std::uint8_t> start = run.snapshot();
    for (int i = 0; i < steps && run.advance(); ++i) {
    }
    run.restore(start);
    long allocated = 0;
    for (int i = 0; i < steps; ++i) {
        const long before = testing::allocations;
        if (!run.advance()) break;
        const std::vector<Event>& events = run.step().events;
        const bool edited = std::any_of(events.begin(), events.end(), [](const Event& e) { return is_edit(e.kind); });
        if (!edited) allocated += testing::allocations - before;
    }
    EXPECT_EQ(allocated, 0);
}

std::vector<std::string> controlled_models() {
    std::vector<std::string> models = every_model();
    models.push_back(STICKSLIP_TEST_DATA "/scenes/edits.yaml");
    models.push_back(STICKSLIP_TEST_DATA "/scenes/bricard.yaml");
    return models;
}

INSTANTIATE_TEST_SUITE_P(Laws, StepControl,
                         ::testing::Combine(::testing::ValuesIn(controlled_models()),
                                            ::testing::ValuesIn(schemes_with_optional_control())),
                         [](const auto& test) {
                             return testing::test_name(std::get<0>(test.param), std::get<1>(test.param));
                         });

}  // namespace
}  // namespace stickslip
