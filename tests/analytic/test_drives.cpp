// Drives: position motors follow their law however short the time constant, and formulas that are no numbers are refused.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

const char* const servo = R"(
stickslip: 1
gravity: [0, 0, 0]
let: {m: 1, tau: 1e-3, goal: 0.1}
bodies:
  a: {mass: m, inertia: m}
joints: {s: {prismatic: {a: ground, b: a, at: [0, 0, 0], axis: [1, 0, 0], motor: {position: goal, time_constant: tau}}}}
run: {step: 1e-3}
)";

// x = goal (1 - exp(-t/tau)). Explicit Euler moves with the old velocity: at rest for its first step, then the same one step later.
TEST(PositionMotor, ApproachesItsGoalAsItsTimeConstantSaysOrMonotonically) {
    for (const char* scheme :
         {"moreau-jean", "euler", "stewart-trinkle", "schatzman-paoli", "trapezoidal", "alpha-gamma", "hem5", "phem56",
          "dopri5", "rk4", "rattle", "generalized-alpha", "hybrid"}) {
        for (const double h_over_tau : {0.01, 0.09, 0.7, 3.0, 40.0, 1e4}) {
            const double h = 2e-3, tau = h / h_over_tau, goal = -0.4,
                         end = std::min(std::max(6 * tau, 12 * h), 500 * h);
            Simulation simulation(scene_text(
                servo, Set{{"scheme", scheme}}("m", 7.5)("tau", tau)("goal", goal)("step", h)("run.end", end)));
            const std::string numbers = scheme + note(" h/tau", {h_over_tau});
            const bool late = std::string(scheme) == "euler";
            double left = 1;
            while (simulation.advance()) {
                const double now = 1 - simulation.state().q[0] / goal;
                ASSERT_LE(now, left + 1e-9) << numbers;
                ASSERT_GE(now, -1e-9) << numbers;
                if (h_over_tau < 0.1) {
                    const double exact = std::exp(-(simulation.state().t - (late ? h : 0)) / tau);
                    ASSERT_NEAR(now, exact, 0.01) << numbers;
                }
                left = now;
            }
            EXPECT_NEAR(left, std::exp(-end / std::max(tau, h)), 1e-2) << numbers;
        }
    }
}

TEST(PositionMotor, PushesWithItsLargestForceAndNoMore) {
    for (const char* scheme : {"moreau-jean", "trapezoidal", "hem5", "stewart-trinkle"}) {
        Simulation simulation(scene_text(servo, Set{{"scheme", scheme}, {"gravity", "[-9.81, 0, 0]"}}("m", 2)(
                                                    "run.end", 0.5)("joints.s.prismatic.motor.max_force", 15)));
        simulation.run();
        EXPECT_NEAR(simulation.state().v[0], -(g - 7.5) * 0.5, 1e-9) << scheme;
    }
}

// What a motor gives that starts at once is its work; it is no stabilisation, and no reason to doubt the run.
TEST(Motors, ThatStartAtOnceDoWork) {
    for (const char* scheme :
         {"moreau-jean", "hem5", "phem56", "dopri5", "rkf45", "rattle", "generalized-alpha", "hybrid"}) {
        for (const char* motor :
             {"{speed: 4.5}", "{speed: \"t < 0.1 ? 2 : -3\"}", "{position: 0.7, time_constant: 0.04}"}) {
            Simulation simulation(scene_text(R"(
stickslip: 1
gravity: [0, 0, 0]
bodies:
  wheel: {mass: 3, inertia: [0.1, 0.1, 0.2], pose: [0, 0, 0]}
  crank: {mass: 0.6, inertia: 0.02, pose: [0.3, 0, 0]}
joints:
  axle: {revolute: {a: ground, b: wheel, at: [0, 0, 0], axis: [0, 0, 1]}}
  pin: {fixed: {a: wheel, b: crank, at: [0.3, 0, 0]}}
run: {step: 2e-3, end: 0.25}
)",
                                             Set{{"scheme", scheme}, {"joints.axle.revolute.motor", motor}}));
            const RunSummary end = simulation.run();
            const EnergyLedger& ledger = simulation.step().ledger;
            const std::string numbers = scheme + std::string(" ") + motor;
            ASSERT_EQ(end.end, RunEnd::finished) << numbers << end.reason;
            EXPECT_EQ(end.verdict.status, Trust::trusted)
                << numbers << " " << (end.verdict.reasons.empty() ? "" : end.verdict.reasons[0]);
            EXPECT_TRUE(end.warnings.empty()) << numbers << " " << (end.warnings.empty() ? "" : end.warnings[0]);
            // All that moves was set in motion by the motor; the scheme has its part where the motor slows down.
            EXPECT_NEAR(ledger.flows().motor_work, ledger.now().kinetic, 2e-3 * ledger.at_hand()) << numbers;
        }
    }
}

TEST(Formulas, ThatAreNoNumbersAreRefusedWithPlaceAndTime) {
    const auto refusal = [](const std::string& drive, const std::string& load) {
        Simulation simulation(scene_text(
            "stickslip: 1\ngravity: [0, 0, 0]\nbodies:\n  a: {mass: 1, inertia: 1, angular_velocity: [0, 0, 1]}\n"
            "joints: {h: {revolute: {a: ground, b: a, at: [0, 0, 0], axis: [0, 0, 1]" +
            drive + "}}}\n" + load + "run: {end: 1, step: 1e-2}\n"));
        const RunSummary end = simulation.run();
        EXPECT_NEAR(simulation.state().t, 0.5, 1e-9);
        return end.end == RunEnd::refused ? end.reason : std::string();
    };
    EXPECT_NE(refusal(", brake: \"sqrt(0.5-t)\"", "").find("'sqrt(0.5-t)' is not a number at t = 0.51 s"),
              std::string::npos);
    EXPECT_NE(refusal(", motor: {speed: \"ln(0.505-t)\"}", "").find("joint 'h': "), std::string::npos);
    EXPECT_NE(refusal("", "forces: {f: {load: {body: a, force: [\"1/(t < 0.505 ? 1 : 0)\", 0, 0]}}}\n")
                  .find("is infinite at t = 0.51 s"),
              std::string::npos);
}

// Formulas that end inside a step: the stages of a method find it, not its ends.
TEST(Formulas, ThatEndInsideAStepAreNamedByEveryScheme) {
    for (const char* scheme :
         {"moreau-jean", "trapezoidal", "hem5", "phem56", "dopri5", "rk4", "rattle", "generalized-alpha", "hybrid"}) {
        for (const char* drive : {"motor: {speed: \"ln(0.3013 - t)\"}", "motor: {position: \"(0.3013 - t)^1.5\"}",
                                  "brake: \"1 + ln(0.3013 - t)\""}) {
            Simulation simulation(scene_text(
                std::string(
                    "stickslip: 1\ngravity: [0, 0, 0]\nbodies:\n  a: {mass: 1, inertia: 1, velocity: [1, 0, 0]}\n"
                    "joints: {rail: {prismatic: {a: ground, b: a, at: [0, 0, 0], axis: [1, 0, 0], ") +
                    drive + "}}}\nrun: {end: 1}\n",
                Set{{"scheme", scheme}}("step", 2e-3)));
            const RunSummary end = simulation.run();
            const std::string numbers = scheme + std::string(" ") + drive + ": " + end.reason;
            ASSERT_EQ(end.end, RunEnd::refused) << numbers;
            EXPECT_NE(end.reason.find("joint 'rail': "), std::string::npos) << numbers;
            EXPECT_NE(end.reason.find("at t = 0.3"), std::string::npos) << numbers;
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
