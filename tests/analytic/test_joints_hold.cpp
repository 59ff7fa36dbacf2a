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

// Coordinates in which the mass varies: what the torque on the crank has done, tau (phi - phi_0), is there.
TEST(JointsHold, AndEnergyIsKeptWhereTheMassVaries) {
    for (const double tau : {0.0, -1.0, 2.5, -2.5, -6.0}) {
        Simulation simulation(
            mechanism("four-bar", Set{{"m2", "1.6"}, {"l1", "0.24"}}("tau", tau)("run.step", 1e-3)("run.end", 10)));
        const Energies before = simulation.step().ledger.now();
        const double phi = simulation.state().q[0];
        const RunSummary end = simulation.run();
        const Energies& now = simulation.step().ledger.now();
        ASSERT_EQ(end.end, RunEnd::finished) << tau << end.reason;
        EXPECT_LT(end.joint_violation.position_max, 1e-6) << tau;
        EXPECT_NEAR(now.kinetic + now.potential - tau * (simulation.state().q[0] - phi),
                    before.kinetic + before.potential, 1e-4 * simulation.step().ledger.scale())
            << tau;
    }
}

// Forces are linearised where the last steps foretell the end: a second solve per step would say no more.
TEST(JointsHold, AndOneSolvePerStepDoesWhereTheMassVaries) {
    for (const double tau : {0.0, 3.5, -5.0}) {
        const RunSummary end = Simulation(mechanism("four-bar", Set{{"m2", "1.4"}, {"l1", "0.27"}}("tau", tau)(
                                                                    "run.step", 1e-3)("run.end", 4)))
                                   .run();
        EXPECT_EQ(end.steps, 4000) << tau;
        EXPECT_LT(end.solves, 4040) << tau;
    }
}

// Also on the way, where the links are fastest: what is made up for is the energy of each step.
TEST(JointsHold, AndEnergyDoesNotSwingWhereTheMassVaries) {
    Simulation simulation(mechanism("four-bar", Set{{"m2", "0.7"}}("tau", -3.1)("run.step", 1e-3)("run.end", 3)));
    const double phi = simulation.state().q[0];
    const auto energy = [&] {
        const Energies& now = simulation.step().ledger.now();
        return now.kinetic + now.potential + 3.1 * (simulation.state().q[0] - phi);
    };
    const double before = energy();
    double most = 0;
    while (simulation.advance()) most = std::max(most, std::abs(energy() - before));
    EXPECT_LT(most, 1e-4 * simulation.step().ledger.scale());
}

TEST(JointsHold, MoreauJeanIsOfOrderTwoWhereTheMassVaries) {
    std::vector<double> errors;
    const auto end_of = [](const char* scheme, double h) {
        return run(mechanism("slider-crank", Set{{"scheme", scheme}}("run.step", h)("run.end", 0.7))).q;
    };
    const VecX exact = end_of("hem5", 5e-4);
    // Longer steps have a part of the third order besides. Forces linearised at the start of a step left 5.8e-6 at 2.5e-4 s.
    for (const double h : {2.5e-4, 1.25e-4, 6.25e-5, 3.125e-5})
        errors.push_back((end_of("moreau-jean", h) - exact).norm());
    EXPECT_NEAR(observed_order(errors), 2, 0.15) << note(" errors", errors);
    EXPECT_LT(errors[0], 1e-6);
}

// Bars on ball joints, let go stretched out: the end whips, and links hit each other.
const char* const chain = R"(
stickslip: 1
let: {n: 9, l: 0.47}
bodies:
  "link-{i}":
    repeat: {i: n}
    pose: [(i - 1/2)*l, 0, 0]
    mass: 0.8
    shapes: [{box: [l, 0.03, 0.03]}]
joints:
  pin-1: {ball: {a: ground, b: link-1, at: [0, 0, 0]}}
  "pin-{i}":
    repeat: {i: 2..n}
    ball: {a: "link-{i-1}", b: "link-{i}", at: [(i - 1)*l, 0, 0]}
run: {step: 1e-3, end: 8}
)";

// The same links without shapes: nothing hits anything, and all that changes the energy is the scheme.
TEST(JointsHold, AndEnergyIsKeptInChainsThatWhip) {
    for (const auto& [n, l] : {std::pair{"4", 0.55}, {"7", 0.61}, {"11", 0.36}}) {
        std::string text = chain;
        const std::string shapes = "shapes: [{box: [l, 0.03, 0.03]}]";
        text.replace(text.find(shapes), shapes.size(), "inertia: [1.2e-4, 0.8*l*l/12, 0.8*l*l/12]");
        expect_held(Simulation(scene_text(text.c_str(), Set{{"n", n}}("l", l))), n + std::string(" links"));
    }
}

// Links between a ball and a hinge that are all but straight for a moment turn about their line ever faster, and their steps are cut to less than an
// eighth of `step`; with that as the shortest they left a thousandth of the energy in speeds across joints, where it is lost.
TEST(JointsHold, AndEnergyIsKeptInChainsOfBallsAndHinges) {
    struct Turn {
        double yaw, pitch;  // [deg] of a link
    };
    const std::vector<std::pair<double, std::vector<Turn>>> chains = {
        {0.59, {{26, 19}, {-9, -51}, {-50, 18}, {-15, 0}}},
        {0.5, {{9, -50}, {-42, -51}, {-18, -50}, {-39, 2}}},
        {0.49, {{30, -35}, {-20, 22}, {-38, -52}, {30, 20}, {16, -23}}}};
    for (const auto& [l, turns] : chains) {
        std::string bodies = "stickslip: 1\nbodies:\n", joints = "joints:\n", last = "ground";
        Vec3 end = Vec3::Zero();
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const double yaw = turns[i].yaw * M_PI / 180, pitch = turns[i].pitch * M_PI / 180;
            const Vec3 along(std::cos(yaw) * std::cos(pitch), std::sin(yaw) * std::cos(pitch), -std::sin(pitch));
            const std::string name = "link-" + std::to_string(i), at = text_of(end);
            bodies += "  " + name + ": {mass: 0.5, inertia: " + text_of(0.5 * l * l / 12 * Vec3(7.2e-3, 1, 1)) +
                      ", pose: {at: " + text_of(Vec3(end + l / 2 * along)) +
                      ", rpy_deg: " + text_of(Vec3(0, turns[i].pitch, turns[i].yaw)) + "}}\n";
            joints += "  pin-" + std::to_string(i) + (i % 2 ? ": {revolute: {axis: [0, 1, 0], a: " : ": {ball: {a: ") +
                      last + ", b: " + name + ", at: " + at + "}}\n";
            end += l * along;
            last = name;
        }
        expect_held(Simulation(scene_text((bodies + joints + "run: {step: 1e-3, end: 4}\n").c_str(), Set{})),
                    std::to_string(turns.size()) + " links of " + std::to_string(l));
    }
}

// Links that hit each other: joints and scheme keep the energy that contacts leave, and friction only takes.
TEST(JointsHold, AndFrictionTakesEnergyInEveryStepOfAChain) {
    Simulation simulation(scene_text(chain, Set{{"n", "10"}, {"l", "0.5"}}));
    double before = 0;
    while (simulation.advance()) {
        const double loss = simulation.step().ledger.flows().friction_loss;
        EXPECT_GE(loss, before) << "at " << simulation.state().t;
        before = loss;
    }
    const EnergyFlows& flows = simulation.step().ledger.flows();
    EXPECT_GT(flows.friction_loss, 0.01 * simulation.step().ledger.scale()) << "nothing rubbed, so nothing was tested";
    EXPECT_LT(std::abs(flows.scheme_loss + flows.regularisation_loss), 1e-3 * simulation.step().ledger.scale());
}

// An impact leaves joined bodies neither apart nor moving apart.
TEST(JointsHold, ThroughImpacts) {
    for (const double theta : {1.0471975512, 0.9, 1.3}) {
        const RunSummary end =
            Simulation(mechanism("double-pendulum-wall", Set{}("theta1_0", theta)("run.step", 1e-3)("run.end", 10)))
                .run();
        EXPECT_LT(end.joint_violation.position_max, 1.2e-6) << theta;
        EXPECT_LT(end.joint_violation.velocity_max, 2e-3) << theta;  // 7e-3 to 1e-2 without projection after hits
    }
}

// A door that hits its stop and shuts: the hinge holds, and the door comes to rest at the other stop.
TEST(JointsHold, OfADoorBetweenStops) {
    for (const double speed : {1.2, 2.1, 3.0}) {  // from 4.4 rad/s on the impact opens the hinge, and closing it costs 1.6e-4
        Simulation simulation(scene("door", Set{}("speed", speed)));
        const RunSummary end = simulation.run();
        ASSERT_EQ(end.end, RunEnd::finished) << speed << end.reason;
        EXPECT_EQ(end.scheme, "moreau-jean");
        EXPECT_LT(end.joint_violation.position_max, 1e-6) << speed;
        EXPECT_LT(end.gap_violation_max, 1e-12) << speed;
        const EnergyLedger& ledger = simulation.step().ledger;
        EXPECT_LT(ledger.now().kinetic, 1e-24 * ledger.scale()) << speed;
        EXPECT_LT(std::abs(ledger.flows().scheme_loss + ledger.flows().regularisation_loss), 1e-4 * ledger.scale())
            << speed;
    }
    // euler leaves the h^2 w^2 r/2 of its last step, unless that is projected.
    const auto drift = [](const Set& set) { return run(scene("door", set)).joint_violation.position_max; };
    EXPECT_NEAR(drift(Set{{"scheme", "euler"}, {"scheme.stabilisation", "1"}}), 0.5e-6 * 9 * 0.45, 2e-8);
    EXPECT_LT(drift(Set{{"scheme", "euler"}, {"scheme.projection", "positions"}}), 1e-12);
}

// Steps of 1 ms are too long for the whip: errors of joints fed on each other, and chains of other lengths ended at 1e6 J.
TEST(JointsHold, InChainsThatWhip) {
    int parted = 0;
    for (const auto& [n, l] : {std::pair{"9", 0.47}, {"12", 0.41}, {"7", 0.61}, {"10", 0.525}}) {
        const std::string what = std::string(n) + note(" links of", {l});
        Simulation simulation(scene_text(chain, Set{{"n", n}}("l", l)));
        const RunSummary end = simulation.run();
        const Energies& now = simulation.step().ledger.now();
        ASSERT_EQ(end.end, RunEnd::finished) << what << end.reason;
        // 1.8e-6 of the length, and what an impact leaves in a step that is not cut shorter.
        EXPECT_LT(end.joint_violation.position_max, 4e-6 * l) << what;
        EXPECT_LT(now.kinetic + now.potential, 0.01 * simulation.step().ledger.scale()) << what;
        parted += end.steps > 8000;
    }
    EXPECT_EQ(parted, 4) << "no step was taken in parts, so nothing was tested";
}

// Steps that are taken in parts end where they would have ended whole.
TEST(JointsHold, PartsOfAStepEndOnItsGrid) {
    Simulation simulation(scene_text(chain, Set{{"n", "6"}, {"run.end", "1.5"}}));
    double next = 1e-3;
    while (simulation.advance()) {
        if (simulation.state().t < next - 1e-12) continue;
        EXPECT_NEAR(simulation.state().t, next, 1e-12);
        next += 1e-3;
    }
}

// Potra et al. 9.3: joint errors of the trapezoidal rule fall as h^3 with stabilisation; those of moreau-jean as h^4, where rows are those
// of the chord.
TEST(JointsHold, ErrorsFallWithTheThirdPowerOfTheStep) {
    for (const auto& [scheme, order] : {std::pair{"trapezoidal", 3}, {"moreau-jean", 4}}) {
        std::vector<double> errors;
        for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
            Simulation simulation(scene_text(
                bars_with("ball", ""), Set{{"scheme", scheme}}("scheme.stabilisation", 1)("step", h)("run.end", 0.9)));
            errors.push_back(simulation.run().joint_violation.position_max);
        }
        EXPECT_NEAR(observed_order(errors), order, 0.2) << scheme << note(" errors", errors);
    }
}

}  // namespace
}  // namespace stickslip::analytic
