// Joints hold: drift and energy of the default scheme on mechanisms of other sizes than those it was made on, and the orders of drift.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

// Two bars of different lengths, hinged to the ground and to each other, let go sideways.
const char* const bars = R"(
stickslip: 1
let: {a: 0.7, b: 0.45}
bodies:
  first: {pose: [a/2, 0, 0], mass: 1.7, inertia: [0.01, 0.07, 0.07]}
  second: {pose: [a + b/2, 0, 0], mass: 0.4, inertia: [0.01, 0.02, 0.02]}
joints:
  pin: {revolute: {a: ground, b: first, at: [0, 0, 0], axis: [0, 1, 0]}}
  knee: {JOINT: {a: first, b: second, at: [a, 0, 0]AXIS}}
run: {step: 1e-3, end: 10}
)";

std::string bars_with(const std::string& joint, const std::string& axis) {
    std::string text = bars;
    text.replace(text.find("JOINT"), 5, joint);
    return text.replace(text.find("AXIS"), 4, axis);
}

void expect_held(Simulation simulation, const std::string& what) {
    const double before = simulation.step().ledger.now().kinetic + simulation.step().ledger.now().potential;
    const RunSummary end = simulation.run();
    const Energies& now = simulation.step().ledger.now();
    ASSERT_EQ(end.end, RunEnd::finished) << what << end.reason;
    EXPECT_LT(end.joint_violation.position_max, 1e-6) << what;
    // No loads and no friction: what is not there at the end was lost by the scheme. The ledger is not asked.
    EXPECT_NEAR(now.kinetic + now.potential, before, 1e-4 * simulation.step().ledger.scale()) << what;
}

TEST(JointsHold, ByDefaultForTenSeconds) {
    expect_held(Simulation(scene_text(bars_with("revolute", ", axis: [0, 1, 0]"))), "two hinges");
    expect_held(Simulation(scene_text(bars_with("ball", ""))), "hinge and ball");
    for (const char* name : {"pendulum", "bricard"})
        expect_held(Simulation(mechanism(name, Set{{"run.step", "1e-3"}, {"run.end", "10"}})), name);
}

// Potra et al. 9.3: joint errors of the trapezoidal rule fall as h^3 with stabilisation; those of moreau-jean too.
TEST(JointsHold, ErrorsFallWithTheThirdPowerOfTheStep) {
    for (const char* scheme : {"trapezoidal", "moreau-jean"}) {
        std::vector<double> errors;
        for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
            Simulation simulation(scene_text(
                bars_with("ball", ""), Set{{"scheme", scheme}}("scheme.stabilisation", 1)("step", h)("run.end", 0.9)));
            errors.push_back(simulation.run().joint_violation.position_max);
        }
        EXPECT_NEAR(observed_order(errors), 3, 0.2) << scheme << note(" errors", errors);
    }
}

}  // namespace
}  // namespace stickslip::analytic
