// The hybrid of events and Moreau-Jean [Haddouni 2015, ch. 4]: what accumulates or changes between stick and slip goes through
// time-stepping, everything else keeps the accuracy of events; every switch is told with its reason.
#include "papers/event_runs.hpp"

namespace stickslip::analytic {
namespace {

// Switches go forth and back in turn, each with a reason of its side.
void expect_switches_in_turn(const RunSummary& summary, const std::string& who) {
    bool stepping = false;
    for (const Event& event : of_kind(summary, EventKind::method_switch)) {
        const bool back = event.reason == SwitchReason::open || event.reason == SwitchReason::closed;
        EXPECT_NE(event.reason, SwitchReason::none) << who << " at " << event.t;
        EXPECT_EQ(back, stepping) << who << " at " << event.t << ": " << to_string(event.reason);
        stepping = !stepping;
    }
}

TEST(Hybrid, EveryBounceOfABallLongerThanItsShortestStepIsLocated) {
    const double t1 = std::sqrt(2 / g), v1 = g * t1;
    for (const char* method : {"hem5", "phem56", "dopri5"})
        for (const double e : {0.3, 0.8, 0.95})
            for (const double h_min : {5e-7, 1e-7}) {
                const double rest = t1 * (1 + e) / (1 - e);
                const RunSummary summary = run(mechanism(
                    "bouncing-ball", Set{{"run.scheme", "hybrid"}, {"scheme.tol", "1e-10"}}("scheme.method", method)(
                                         "e", e)("scheme.h_min", h_min)("run.end", rest + 0.5)));
                const std::string who = std::string(method) + " " + text_of(e) + " " + text_of(h_min);
                const std::vector<Event> impacts = of_kind(summary, EventKind::impact);
                double t = t1, v = v1;
                std::size_t n = 0;
                for (; n == 0 || 2 * v / g > h_min; ++n) {  // v: before impact n + 1, after a flight of 2 v/g
                    ASSERT_LT(n, impacts.size()) << who;
                    ASSERT_LT(std::abs(impacts[n].t - t), 1e-12 * t) << who << " " << n;
                    ASSERT_LT(std::abs(impacts[n].normal_speed_before + v), 1e-12 * v) << who << " " << n;
                    v *= e;
                    t += 2 * v / g;
                }
                EXPECT_EQ(summary.v[0], 0) << who;
                EXPECT_LT(std::abs(summary.q[0]), g * h_min * h_min) << who;
                // The accumulation is an event of its own, or the end of time-stepping: bounces shorter than h_min are left out.
                double ended = -1;
                for (const Event& event : summary.events) {
                    if (event.kind == EventKind::accumulation) ended = event.t;
                    if (event.kind == EventKind::method_switch && event.reason == SwitchReason::closed) ended = event.t;
                }
                EXPECT_NEAR(ended, rest, 4 * h_min + h_min / (1 - e)) << who;
                expect_switches_in_turn(summary, who);
            }
}

// Table 4.1 of the thesis.
TEST(Hybrid, BallChainComesToRestWithoutOverlap) {
    const Reference reference("three-ball-chain-impacts");
    for (const double e : {0.5, 0.8})
        for (const char* tol : {"1e-2", "1e-4", "1e-6", "1e-8"}) {
            const std::string who = std::string(tol) + " " + text_of(e);
            Simulation simulation(mechanism("three-ball-chain", Set{{"run.scheme", "hybrid"}, {"scheme.tol", tol}}(
                                                                    "e1", e)("e2", e)("e3", e)("run.end", 3.0)));
            std::vector<Event> impacts;
            double deepest = 0;
            State x;
            while (simulation.advance()) {
                const Step& step = simulation.step();
                for (const Event& event : step.events)
                    if (event.kind == EventKind::impact) impacts.push_back(event);
                for (int k = 1; k <= 8; ++k) {
                    step.at(*simulation.model().system, step.t0 + k * (step.t1 - step.t0) / 8, x);
                    deepest = std::max({deepest, 0.1 - x.q[0], x.q[0] + 0.2 - x.q[1], x.q[1] + 0.2 - x.q[2]});
                }
            }
            EXPECT_LT(deepest, 1e-8) << who;
            // Impacts up to the first two closer than the step of time-stepping.
            std::size_t n = 0;
            double before = 0;
            for (const std::vector<double>& exact : reference.rows("impact")) {
                if (exact[0] != e) continue;
                if (exact[1] - before < 1e-6) break;
                before = exact[1];
                ASSERT_LT(n, impacts.size()) << who;
                EXPECT_NEAR(impacts[n++].t, exact[1], 1e-10) << who << ": impact " << n;
            }
            EXPECT_GT(n, 25u) << who;
            EXPECT_LT((simulation.state().q - Vec3(0.1, 0.3, 0.5)).norm(), 1e-9) << who;
            EXPECT_LT(simulation.state().v.norm(), 1e-12) << who;
            const std::vector<ContactRecord>& contacts = simulation.step().contacts;
            ASSERT_EQ(contacts.size(), 3u) << who;
            for (std::size_t i = 0; i < 3; ++i)
                EXPECT_NEAR(contacts[i].force[0], 29.43 - 9.81 * static_cast<double>(i), 1e-8) << who;
        }
}

// [Flores, Leine & Glocker 2010]: the step h_min of time-stepping limits the accuracy, not the tolerance.
TEST(Hybrid, SliderCrankWithPlayIsFollowedAndSwitchesAreTold) {
    const Reference reference("slider-crank-clearance");
    for (const auto& [eN, mu] :
         std::initializer_list<std::pair<double, double>>{{0.4, 0.01}, {0.4, 0}, {0.1, 0}, {0, 0.01}}) {
        const std::vector<double>& end = reference.row("state", {eN, mu, 0.2});
        std::vector<double> errors;
        for (const char* tol : {"1e-4", "1e-6", "1e-8"}) {
            const RunSummary summary =
                run(mechanism("slider-crank-clearance",
                              Set{{"run.scheme", "hybrid"}, {"scheme.tol", tol}, {"scheme.impact", "newton"}}(
                                  "scheme.h_min", 1e-7)("eN", eN)("mu", mu)));
            errors.push_back(std::hypot(summary.q[0] - end[3], summary.q[1] - end[4]));
            EXPECT_LT(std::hypot(summary.v[0] - end[5], summary.v[1] - end[6]), 200 * errors.back() + 1e-9);
            EXPECT_LT(summary.gap_violation_max, 1e-8) << tol;
            expect_switches_in_turn(summary, tol);
            if (eN > 0) {
                const std::vector<Event> switches = of_kind(summary, EventKind::method_switch);
                EXPECT_TRUE(std::any_of(switches.begin(), switches.end(),
                                        [](const Event& e) { return e.reason == SwitchReason::impacts; }));
            }
        }
        const std::string numbers = text_of(eN) + " " + text_of(mu) + note("errors", errors);
        for (std::size_t k = 0; k < errors.size(); ++k)
            EXPECT_LT(errors[k], 10 * std::pow(10.0, -4 - 2 * static_cast<double>(k)) + 1e-6) << numbers;
    }
}

// By default time-stepping is short enough for the accuracy of the method, with its impacts and over edges.
TEST(Hybrid, IsAsAccurateAsItsMethod) {
    const Reference reference("slider-crank-clearance");
    const std::vector<double>& end = reference.row("state", {0.4, 0.01, 0.1});
    for (const char* method : {"hem5", "dopri5"}) {
        const RunSummary summary = run(
            mechanism("slider-crank-clearance", Set{{"run.scheme", "hybrid"},
                                                    {"scheme.tol", "1e-11"},
                                                    {"scheme.impact", "newton"},
                                                    {"scheme.method", method}}("eN", 0.4)("mu", 0.01)("run.end", 0.1)));
        EXPECT_LT(std::hypot(summary.q[0] - end[3], summary.q[1] - end[4]), 1e-9) << method;
    }
    // Over the edge from a plane onto a parabola, against events alone.
    const auto slide = [](const char* scheme, const char* tol) {
        return run(mechanism("plane-parabola", Set{{"run.scheme", scheme}, {"scheme.tol", tol}}("x0", 1.3)("vx0", -1.6)(
                                                   "curvature", 0.8)));
    };
    const VecX exact = slide("hem5", "1e-13").q;
    for (const auto& [tol, error] :
         std::initializer_list<std::pair<const char*, double>>{{"1e-8", 1e-9}, {"1e-10", 1e-11}, {"1e-12", 1e-12}})
        EXPECT_LT((slide("hybrid", tol).q - exact).norm(), error) << tol;
}

TEST(Hybrid, BlockSticksAndSlipsAtTheRightTimes) {
    const auto phases = Reference("block-stick-slip").rows("phase");
    const RunSummary summary =
        run(mechanism("block-stick-slip", Set{{"run.scheme", "hybrid"}}("run.step", 2e-3)("run.end", 10.0)));
    std::size_t k = 0;
    for (const Event& event : summary.events) {
        if (event.kind == EventKind::method_switch) continue;
        ASSERT_LT(k + 1, phases.size());
        EXPECT_NEAR(event.t, phases[k][2], 1e-9) << k;
        ++k;
    }
    EXPECT_EQ(k + 1, phases.size());
    EXPECT_NEAR(summary.q[0], phases.back()[3], 1e-9);
    expect_switches_in_turn(summary, "block");
    const std::vector<Event> switches = of_kind(summary, EventKind::method_switch);
    ASSERT_FALSE(switches.empty());
    EXPECT_EQ(switches[0].reason, SwitchReason::friction);
}

// Rocking on two corners: time-stepping ends when the corner that was hit is closed for good.
TEST(Hybrid, RockingBlockGoesBackToEvents) {
    const char* text = R"scene(
stickslip: 1
plane: xz
let: {e: 0, tilt: 0.08}
materials: {default: {friction: 1.2, restitution: e}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  block:
    pose: {at: [0, 0, 0.1*sin(tilt) + 0.4*cos(tilt)], rpy_deg: [0, tilt*180/pi, 0]}
    mass: 3
    shapes: [{box: [0.2, 1, 0.8]}]
run: {end: 0.5, step: 2e-3}
)scene";
    for (const double e : {0.0, 0.2}) {
        const RunSummary summary = run(scene_text(text, Set{{"run.scheme", "hybrid"}}("e", e)));
        EXPECT_LT(std::abs(summary.imbalance), 1e-12 * summary.energy_scale) << e;
        EXPECT_LT(summary.steps, 2000) << e;
        expect_switches_in_turn(summary, text_of(e));
        const RunSummary events = run(scene_text(text, Set{{"run.scheme", "hem5"}}("e", e)));
        EXPECT_LT((summary.q - events.q).norm(), 1e-5) << e;
    }
}

}  // namespace
}  // namespace stickslip::analytic
