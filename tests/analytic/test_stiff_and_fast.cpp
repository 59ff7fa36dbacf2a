// Stiff springs and dampers, spins and loads that are fast for the step: implicit schemes follow, explicit ones stop and say why, and loads
// act by their mean or from the moment at which they are switched.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

const std::vector<const char*> explicit_schemes{"hem5", "hem4", "hem3", "phem56", "dopri5", "rkf45", "rk4", "hybrid"};

double energy_of(const RunSummary& s) { return s.energies.kinetic + s.energies.potential + s.energies.elastic; }

// A ball that hangs on a soft spring and holds another by a stiff one.
std::string two_balls(bool plane, double stiffness, double damping) {
    return std::string("stickslip: 1\n") + (plane ? "plane: xz\n" : "") +
           "gravity: [0, 0, -9.81]\n"
           "bodies:\n"
           "  a: {pose: [0, 0, 0], mass: 1.7, shapes: [{sphere: 0.05}]}\n"
           "  b: {pose: [0.4, 0, 0], mass: 0.2, shapes: [{sphere: 0.05}], velocity: [" +
           (plane ? "0.3, 0, 0.8" : "0.3, 0.6, 0.8") +
           "]}\n"
           "forces:\n"
           "  soft: {spring: {a: ground, at_a: [0, 0, 0.9], b: a, stiffness: 140, damping: 1}}\n"
           "  stiff: {spring: {a: a, b: b, stiffness: " +
           text_of(stiffness) + ", damping: " + text_of(damping) + "}}\n" + "run: {step: 4e-3, end: 1.5}\n";
}

// The distance of the balls, which the stiff spring keeps.
double distance(const State& x, bool plane) {
    return plane ? (x.q.segment<2>(3) - x.q.head<2>()).norm() : (x.q.segment<3>(7) - x.q.head<3>()).norm();
}

TEST(StiffDampers, OfTwoCartsAreStableUnderGeneralizedAlpha) {
    for (const double delta : {3e3, 7e4, 8e5, 2e7})
        for (const double h : {2e-3, 7e-3})
            for (const double rho : {0.0, 0.5, 0.8, 1.0}) {
                Simulation run(mechanism("two-carts", Set{{"scheme", "generalized-alpha"}}("scheme.rho", rho)("run.step", h)(
                                                          "run.end", 1.5)("delta", delta)("m1", 1.4)("m2", 0.9)("e", 0.4)(
                                                          "x1_0", 0.15)("v1_0", -1.8)("v2_0", -2.2)));
                const double start = run.model().system->energies(0, run.state().q, run.state().v).kinetic;
                const RunSummary end = run.run();
                const std::string who = note("delta, h, rho", {delta, h, rho});
                EXPECT_EQ(end.end, RunEnd::finished) << who << end.reason;
                EXPECT_LT(energy_of(end), start) << who;
                EXPECT_LT(-end.flows.scheme_loss, 0.05 * start) << who;  // the scheme may take, and makes next to nothing
            }
}

TEST(StiffDampers, InScenesHoldUnderTheSchemesThatMessagesName) {
    for (const bool plane : {false, true})
        for (const double damping : {0.0, 900.0, 4e4})
            for (const char* scheme : {"generalized-alpha", "trapezoidal"}) {
                Simulation run(scene_text(two_balls(plane, 2e6, damping), Set{{"scheme", scheme}}));
                const RunSummary end = run.run();
                EXPECT_EQ(end.verdict.status, Trust::trusted) << scheme << note(" damping", {damping}) << plane;
                EXPECT_NEAR(distance(run.state(), plane), 0.4, 1e-3) << scheme << note(" damping", {damping}) << plane;
            }
}

TEST(ExplicitSchemes, StopBeforeEnergyGrowsAndSayWhatToDo) {
    for (const bool plane : {false, true})
        for (const double damping : {0.0, 4e4})
            for (const char* scheme : explicit_schemes) {
                if (plane && damping == 0) continue;
                Simulation run(scene_text(two_balls(plane, 2e6, damping), Set{{"scheme", scheme}}));
                const RunSummary end = run.run();
                EXPECT_EQ(end.end, RunEnd::refused) << scheme;
                for (const char* word : {"'stiff'", "--tol", "trapezoidal", "generalized-alpha"})
                    EXPECT_NE(end.reason.find(word), std::string::npos) << scheme << ": " << end.reason;
                EXPECT_LT(energy_of(end), 100) << scheme;  // [J] of what is kept; there are 3 at hand
            }
}

TEST(ExplicitSchemes, FollowStiffSpringsWithTheStepThatTheMessageNames) {
    for (const char* scheme : explicit_schemes) {
        Simulation run(scene_text(two_balls(false, 2e6, 0), Set{{"scheme", scheme}}("run.step", 3e-5)("run.end", 0.1)));
        EXPECT_EQ(run.run().verdict.status, Trust::trusted) << scheme;
    }
}

// A motor without a largest force gives the body its speed at once: energy that no scheme has made.
TEST(Motors, ThatStartAtOnceAreNotTakenForInstability) {
    for (const SchemeEntry& scheme : schemes()) {
        Simulation run(scene_text("stickslip: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 3, inertia: 2}}\n"
                                  "joints: {s: {revolute: {a: ground, b: a, at: [0, 0, 0], axis: [0, 0, 1], motor: {speed: 40}}}}\n"
                                  "run: {step: 2e-3, end: 0.1}\n",
                                  Set{{"scheme", scheme.name}}));
        EXPECT_EQ(run.run().end, RunEnd::finished) << scheme.name << run.refusal();
    }
}

const char* const spinning = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {spinner: {mass: 1, inertia: [0.013, 0.031, 0.022], angular_velocity: [9, 2, -1]}}
run: {step: 4e-3, end: 40}
)";

TEST(FreeSpins, GainNoEnergyUnderAnyScheme) {
    for (const SchemeEntry& scheme : schemes()) {
        Simulation run(scene_text(spinning, Set{{"scheme", scheme.name}}));
        const double start = run.model().system->energies(0, run.state().q, run.state().v).kinetic;
        const RunSummary end = run.run();
        EXPECT_LT(end.energies.kinetic, (1 + 1e-4) * start) << scheme.name;
    }
}

// The default follows spins of a radian per step.
TEST(FreeSpins, OfARadianPerStepKeepTheirMomentumByDefault) {
    const Set fast = Set{{"bodies.spinner.angular_velocity", "[3, 60, 5]"}}("run.end", 5)("run.step", 2e-2);
    Simulation run(scene_text(spinning, fast));
    const auto momentum = [&] {
        std::vector<BodySpin> spins;
        run.model().system->spins(run.state().q, run.state().v, spins);
        return spins[0].momentum;
    };
    const Vec3 start = momentum();
    EXPECT_EQ(run.run().verdict.status, Trust::trusted);
    EXPECT_LT((momentum() - start).norm(), 1e-5 * start.norm());  // 1e-7 of it per radian, 300 rad
}

// The step that the doubt names is one with which the same run is trusted.
TEST(FreeSpins, ThatAreTooFastForTheStepNameOneThatDoes) {
    for (const char* scheme : {"moreau-jean", "trapezoidal", "euler", "stewart-trinkle"}) {
        const char* spin = std::string(scheme) == "moreau-jean" ? "[3, 160, 5]" : "[3, 60, 5]";
        const Set fast = Set{{"scheme", scheme}, {"bodies.spinner.angular_velocity", spin}}("run.end", 5);
        const RunSummary end = Simulation(scene_text(spinning, Set(fast)("run.step", 2e-2))).run();
        ASSERT_EQ(end.verdict.status, Trust::doubtful) << scheme;
        const std::string& reason = end.verdict.reasons[0];
        const std::size_t at = reason.find("take ");
        ASSERT_NE(at, std::string::npos) << reason;
        const double step = std::stod(reason.substr(at + 5));
        EXPECT_LT(step, 2e-2) << reason;
        EXPECT_EQ(Simulation(scene_text(spinning, Set(fast)("run.step", step))).run().verdict.status, Trust::trusted)
            << scheme << ": " << reason;
    }
}

const char* const pushed = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {m: {mass: 2, inertia: 1}}
forces: {push: {load: {body: m, force: ["FORCE", 0, 0]}}}
run: {step: 2e-2, end: 1.1}
)";

std::string pushed_by(std::string force) {
    std::string text = pushed;
    return text.replace(text.find("FORCE"), 5, force);
}

// Impulse [N s] of the loads until 1.1 s.
struct FastLoad {
    const char* force;
    double impulse;
};

TEST(FastLoads, ActByTheirMeanOrAreDoubted) {
    for (const FastLoad& load : {FastLoad{"7*cos(900*t)^2", 0.5 * 7 * 1.1}, FastLoad{"t > 0.313 && t < 0.3137 ? 4000 : 0", 2.8},
                                 FastLoad{"t < 0.457 ? 1 : 6", 0.457 + 6 * 0.643},
                                 FastLoad{"mod(t, 0.1) < 0.03 ? 5 : 0", 5 * 0.03 * 11}})
        for (const SchemeEntry& scheme : schemes()) {
            if (std::string(scheme.name) == "schatzman-paoli") continue;  // its velocity is that of half a step ago
            Simulation run(scene_text(pushed_by(load.force), Set{{"scheme", scheme.name}}));
            const RunSummary end = run.run();
            const std::string who = std::string(scheme.name) + " " + load.force;
            if (end.verdict.status == Trust::trusted)
                EXPECT_NEAR(2 * run.state().v[0], load.impulse, 4e-3 * load.impulse) << who;
            else
                EXPECT_NE(end.verdict.reasons.back().find("changes faster than the step"), std::string::npos)
                    << who << ": " << end.verdict.reasons.back();
        }
}

TEST(Switches, InFormulasAreLocatedByEventDrivenSchemes) {
    for (const char* scheme : explicit_schemes) {
        Simulation run(scene_text(pushed_by("t < 0.457 ? 0 : 6*(t - 0.2)"), Set{{"scheme", scheme}}));
        const RunSummary end = run.run();
        // v = 3 (t^2/2 - 0.2 t) from 0.457 s on.
        const auto part = [](double t) { return 3 * (t * t / 2 - 0.2 * t); };
        EXPECT_NEAR(run.state().v[0], part(1.1) - part(0.457), 1e-12) << scheme;
        const auto switched = [](const Event& e) { return e.kind == EventKind::load_switch && e.t == 0.457; };
        EXPECT_EQ(std::count_if(end.events.begin(), end.events.end(), switched), 1) << scheme;
        EXPECT_EQ(end.verdict.status, Trust::trusted) << scheme;
    }
}

TEST(FastLoads, LeaveResolvedOnesToTheRuleOfTheScheme) {
    // The trapezoidal rule of 5 cos(3 t), exactly as without means.
    Simulation run(scene_text(pushed_by("5*cos(3*t)"), Set{{"scheme", "trapezoidal"}}("run.step", 0.01)("run.end", 1)));
    run.run();
    double v = 0;
    for (int n = 0; n < 100; ++n) v += 0.01 * 0.5 * (5 * std::cos(0.03 * n) + 5 * std::cos(0.03 * (n + 1))) / 2;
    EXPECT_NEAR(run.state().v[0], v, 1e-13);
}

}  // namespace
}  // namespace stickslip::analytic
