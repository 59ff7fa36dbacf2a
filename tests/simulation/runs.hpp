// Small models for the tests of the loop.
#pragma once

#include <gtest/gtest.h>

#include "stickslip/edit.hpp"
#include "stickslip/load.hpp"
#include "stickslip/simulation.hpp"
#include "support/models.hpp"

namespace stickslip::testing {

using Bytes = std::vector<std::uint8_t>;

inline Model scene_of(const std::string& text, const OptionValues& values = {}) {
    return build_model(read_scene_text(text, "test.yaml", values));
}

// A box that slides on the floor and comes to rest, four contacts all the time.
inline const char* const sliding_box = R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box: {pose: [0, 0, 0.5], mass: 2, shapes: [{box: [1, 1, 1]}], velocity: [1, 0, 0]}
run: {step: 2^-8, end: 0.5}
)";

// A stone in free flight.
inline const char* const stone = R"(
stickslip: 1
bodies:
  stone: {pose: [0, 0, 5], mass: 3, inertia: 1, velocity: [2, 0, 0]}
run: {step: 2^-6, end: 0.5}
)";

// A pendulum that is cut loose at 0.25 s.
inline const char* const cut_pendulum = R"(
stickslip: 1
bodies:
  bob: {pose: [1, 0, 0], mass: 2, inertia: 0.1}
  other: {pose: [5, 0, 0], mass: 1, inertia: 0.1}
joints:
  pin: {revolute: {a: ground, b: bob, at: [0, 0, 0], axis: [0, 1, 0]}}
  pivot: {revolute: {a: ground, b: other, at: [4, 0, 0], axis: [0, 1, 0]}}
actions:
  - {at: 0.25, cut: pin}
run: {step: 2^-8, end: 0.5}
)";

inline bool contains(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

inline ::testing::AssertionResult any_contains(const std::vector<std::string>& list, const std::string& words) {
    std::string all;
    for (const std::string& text : list) {
        if (contains(text, words)) return ::testing::AssertionSuccess();
        all += "\n  " + text;
    }
    return ::testing::AssertionFailure() << "none of these says '" << words << "':" << all;
}

// Keeps what a recorder is shown.
class Witness final : public Recorder {
public:
    void begin(const Model&, const State& state, const Step&) override {
        calls += 'b';
        first = state;
    }
    void write(const System&, const State& state, const Step& step, const StepReport& report) override {
        calls += 'w';
        EXPECT_EQ(state.t, step.t1);
        times.push_back(state.t);
        velocities.push_back(state.v);
        weighted.push_back(step.v_weighted);
        contacts.push_back(static_cast<int>(step.contacts.size()));
        residuals.push_back(report.solve.residual.max());
        solves += report.solves;
        for (const Event& event : step.events) events.push_back(event);
    }
    void end(const RunSummary& summary) override {
        calls += 'e';
        hash = summary.hash;
    }

    std::string calls, hash;
    State first;
    std::vector<double> times, residuals;
    std::vector<VecX> velocities, weighted;
    std::vector<int> contacts;
    std::vector<Event> events;
    long solves = 0;
};

}  // namespace stickslip::testing
