// Event-driven integration at its limits: take-off, load switches, simultaneous events, and bad cases, which end with a reason and
// keep what was computed.
#include <limits>

#include "papers/event_runs.hpp"

namespace stickslip::analytic {
namespace {

// A table driven with 0.6 cos(30 t) throws a ball when it falls faster than g.
TEST(EventDrivenLimits, BallLeavesAShakenTable) {
    const char* text = R"scene(
stickslip: 1
bodies:
  table: {pose: [0, 0, -0.1], mass: 10, shapes: [{box: [2, 2, 0.2]}], velocity: [0, 0, 0.6]}
  ball: {pose: [0, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}], velocity: [0, 0, 0.6]}
joints: {guide: {prismatic: {a: ground, b: table, at: [0, 0, -0.1], axis: [0, 0, 1], motor: {speed: 0.6*cos(30*t)}}}}
run: {end: 0.06, step: 1e-3}
)scene";
    const double leaves = std::asin(g / 18) / 30;
    for (const char* scheme : {"hem5", "phem56", "dopri5", "hem3"}) {
        const RunSummary summary = run(scene_text(text, Set{{"run.scheme", scheme}}));
        EXPECT_NEAR(time_of(summary, EventKind::take_off), leaves, 1e-9) << scheme;
        EXPECT_EQ(summary.event_count, 1) << scheme;
        const double after = 0.06 - leaves;
        const double height =
            0.1 + 0.02 * std::sin(30 * leaves) + 0.6 * std::cos(30 * leaves) * after - g * after * after / 2;
        EXPECT_NEAR(summary.q[9], height, 1e-9) << scheme;
    }
}

// A bead pushed off the top of a hill of radius R leaves it where cos a = (2 + v0^2/(g R))/3, after int R da/v(a).
TEST(EventDrivenLimits, BeadLeavesAHill) {
    const char* text = R"scene(
stickslip: 1
plane: xz
materials: {default: {friction: 0}}
bodies:
  hill: {fixed: true, shapes: [{sphere: 1}]}
  bead: {pose: [0, 0, 1.05], mass: 1, inertia: 0.001, shapes: [{sphere: 0.05}], velocity: [0.8, 0, 0]}
run: {end: 0.8}
)scene";
    const double R = 1.05, v0 = 0.8, angle = std::acos((2 + v0 * v0 / (g * R)) / 3);
    const auto slowness = [&](double a) { return R / std::sqrt(v0 * v0 + 2 * g * R * (1 - std::cos(a))); };
    const int n = 4000;  // Simpson's rule
    double leaves = slowness(0) + slowness(angle);
    for (int k = 1; k < n; ++k) leaves += (k % 2 ? 4 : 2) * slowness(k * angle / n);
    leaves *= angle / n / 3;
    for (const char* scheme : {"hem5", "phem56", "dopri5"})
        for (const char* tol : {"0", "1e-10"}) {
            const RunSummary summary =
                run(scene_text(text, Set{{"run.scheme", scheme}, {"scheme.tol", tol}, {"run.step", "2e-3"}}));
            EXPECT_NEAR(time_of(summary, EventKind::take_off), leaves, 1e-9) << scheme << " " << tol;
        }
}

// A load that acts from 0.3 s to 0.7123 s, neither on the grid of the steps nor shortening those that control chooses for long.
TEST(EventDrivenLimits, LoadsSwitchInsideTheRun) {
    const char* text = R"scene(
stickslip: 1
gravity: [0, 0, 0]
bodies: {body: {mass: 2, inertia: 0.1}}
forces: {push: {load: {body: body, force: [6*t, 0, 0], from: 0.3, until: 0.7123}}}
run: {end: 1, step: 0.07}
)scene";
    const double a = 0.3, b = 0.7123, v = 1.5 * (b * b - a * a);
    const double x = 0.5 * (b * b * b - a * a * a) - 1.5 * a * a * (b - a) + v * (1 - b);
    for (const char* scheme : {"hem5", "phem56", "hem3", "dopri5", "rk4"})
        for (const char* tol : {"0", "1e-9"}) {
            const RunSummary summary = run(scene_text(text, Set{{"run.scheme", scheme}, {"scheme.tol", tol}}));
            EXPECT_NEAR(summary.v[0], v, 1e-12) << scheme << " " << tol;
            EXPECT_NEAR(summary.q[0], x, 1e-12) << scheme << " " << tol;
            EXPECT_EQ(of_kind(summary, EventKind::load_switch).size(), 2u) << scheme << " " << tol;
        }
}

// Two balls that land at the same time, and a third one closer behind than rounding.
TEST(EventDrivenLimits, SimultaneousImpactsAreOneEvent) {
    const char* text = R"scene(
stickslip: 1
materials: {default: {friction: 0.3, restitution: 0.7}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  a: {pose: [0, 0, 0.6], mass: 1, shapes: [{sphere: 0.1}]}
  b: {pose: [1, 0, 0.6], mass: 2, shapes: [{sphere: 0.1}]}
  c: {pose: [3, 0, 0.6 + 2e-16], mass: 3, shapes: [{sphere: 0.1}]}
run: {end: 3, step: 0.02}
)scene";
    for (const char* scheme : {"hem5", "dopri5"}) {
        Simulation simulation(scene_text(text, Set{{"run.scheme", scheme}}));
        int hits = 0;
        double t = std::sqrt(1 / g), v = std::sqrt(g);
        while (simulation.advance()) {
            std::vector<Event> impacts;
            for (const Event& event : simulation.step().events)
                if (event.kind == EventKind::impact) impacts.push_back(event);
            if (impacts.empty()) continue;
            ASSERT_EQ(impacts.size(), 3u) << scheme << " at " << simulation.state().t;
            for (const Event& impact : impacts) EXPECT_EQ(impact.t, impacts[0].t) << scheme;
            if (hits++ > 12) continue;
            EXPECT_NEAR(impacts[0].t, t, 1e-12) << scheme << " " << hits;
            v *= 0.7;
            t += 2 * v / g;
        }
        EXPECT_GT(hits, 12) << scheme;
        EXPECT_LT(simulation.state().v.norm(), 1e-12) << scheme;
    }
}

// What a run leaves behind: every accepted step, and the end.
class Count : public Recorder {
public:
    void begin(const Model&, const State&, const Step&) override {}
    void write(const System&, const State& state, const Step&, const StepReport&) override {
        ++steps;
        t = state.t;
    }
    void end(const RunSummary&) override { ended = true; }
    long steps = 0;
    double t = 0;
    bool ended = false;
};

Model point_mass(const std::string& scheme, const std::string& tol,
                 std::function<void(double t, const VecX& q, const VecX& v, VecX& k)> force, double mass = 1) {
    LagrangianModel lagrangian;
    lagrangian.name = "point";
    lagrangian.coordinates = {"x", "y"};
    lagrangian.nv = 2;
    lagrangian.constant_mass = Vec2(mass, 1).asDiagonal();
    lagrangian.applied = std::move(force);
    Model model;
    model.name = "point";
    model.system = make_lagrangian_system(std::move(lagrangian));
    model.state = {0, VecX::Zero(2), VecX::Zero(2)};
    model.run.scheme = {scheme, {{"tol", tol, {}}, {"step", "0.01", {}}}, {}};
    model.run.end = 2;
    return model;
}

const std::vector<std::string> all_methods{"hem5", "phem56", "hem4", "hem3", "dopri5", "rkf45", "rk4", "hybrid"};

TEST(EventDrivenLimits, ForcesThatBlowUpEndTheRunWithAReason) {
    const std::function<void(double, const VecX&, const VecX&, VecX&)> forces[] = {
        [](double t, const VecX&, const VecX&, VecX& k) { k[0] = std::pow(1 - t, -3); },  // not integrable
        [](double t, const VecX&, const VecX&, VecX& k) { k[0] = t > 1 ? std::nan("") : 1; },
        [](double t, const VecX&, const VecX&, VecX& k) { k[0] = t > 1 ? infinity : 1; },
        [](double, const VecX& q, const VecX&, VecX& k) { k[0] = std::sqrt(0.5 - q[0]) + 1; }};
    int number = 0;
    for (const auto& force : forces) {
        ++number;
        for (const std::string& scheme : all_methods)
            for (const char* tol : {"0", "1e-8"}) {
                if (number == 1 && std::string(tol) == "0")
                    continue;  // fixed steps that never meet t = 1 do not see the pole
                Simulation simulation(point_mass(scheme, tol, force));
                Count count;
                simulation.add(count);
                const RunSummary summary = simulation.run();
                const std::string who = scheme + " " + tol + " force " + std::to_string(number);
                EXPECT_TRUE(summary.end == RunEnd::refused) << who << " went on to " << summary.t;
                EXPECT_FALSE(summary.reason.empty()) << who;
                EXPECT_GT(summary.steps, 0) << who;
                EXPECT_EQ(count.steps, summary.steps) << who;
                EXPECT_EQ(count.t, summary.t) << who;
                EXPECT_TRUE(count.ended) << who;
                EXPECT_LT(summary.t, 1.2) << who;
                EXPECT_TRUE(summary.q.allFinite() && summary.v.allFinite()) << who;
            }
    }
}

TEST(EventDrivenLimits, SingularMassIsRefused) {
    for (const std::string& scheme : all_methods) {
        const auto force = [](double, const VecX&, const VecX&, VecX& k) { k[0] = 1; };
        try {
            Simulation simulation(point_mass(scheme, "0", force, 0.0));
            const RunSummary summary = simulation.run();
            EXPECT_TRUE(summary.end == RunEnd::refused) << scheme;
            EXPECT_FALSE(summary.reason.empty()) << scheme;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()), "") << scheme;
        }
    }
}

TEST(EventDrivenLimits, TolerancesBelowRoundingAreBadInput) {
    for (const std::string& scheme : all_methods)
        for (const char* tol : {"1e-16", "-1e-6", "nan", "inf"})
            EXPECT_THROW(Simulation(mechanism("four-bar", Set{{"run.scheme", scheme}, {"scheme.tol", tol}})), Error)
                << scheme << " " << tol;
}

TEST(EventDrivenLimits, StepsBelowTheSmallestAreRefusedAndTheRecordIsKept) {
    for (const char* scheme : {"hem5", "phem56", "dopri5", "rk4"}) {
        // Smooth for a while, then ever faster: x'' = cos(t^6).
        const auto force = [](double t, const VecX&, const VecX&, VecX& k) { k[0] = std::cos(std::pow(t, 12)); };
        Model model = point_mass(scheme, "1e-12", force);
        model.run.scheme.options.push_back({"smallest_step", "1e-3", {}});
        Simulation simulation(std::move(model));
        Count count;
        simulation.add(count);
        const RunSummary summary = simulation.run();
        EXPECT_TRUE(summary.end == RunEnd::refused) << scheme << " went on to " << summary.t;
        EXPECT_NE(summary.reason.find("smallest_step"), std::string::npos) << scheme << ": " << summary.reason;
        EXPECT_GT(summary.steps, 5) << scheme;
        EXPECT_EQ(count.steps, summary.steps) << scheme;
        EXPECT_GT(summary.t, 0.3) << scheme;
    }
}

TEST(EventDrivenLimits, StatesThatDisagreeWithTheJointsAreProjectedAndSaid) {
    const auto said = [](const RunSummary& summary) {
        return std::any_of(summary.warnings.begin(), summary.warnings.end(),
                           [](const std::string& warning) { return warning.find("projected") != std::string::npos; });
    };
    for (const std::string& scheme : all_methods) {
        const RunSummary flipflop = run(mechanism("joint-flipflop", Set{{"run.scheme", scheme}}));
        EXPECT_TRUE(said(flipflop)) << scheme;
        EXPECT_LT(flipflop.v.norm(), 1e-12) << scheme;
        const RunSummary arm = run(scene_text(R"scene(
stickslip: 1
bodies: {arm: {pose: [0.5, 0, 0], mass: 1, inertia: 0.1, velocity: [0.3, 0, 0]}}
joints: {hinge: {revolute: {a: ground, b: arm, at: [0, 0, 0], axis: [0, 1, 0]}}}
run: {end: 0.2}
)scene",
                                              Set{{"run.scheme", scheme}}));
        EXPECT_TRUE(said(arm)) << scheme;
        EXPECT_LT(arm.joint_violation.velocity_max, 1e-9) << scheme;
        EXPECT_LT(std::abs(arm.imbalance), 1e-12 * arm.energy_scale) << scheme;
        const RunSummary right = run(mechanism("four-bar", Set{{"run.scheme", scheme}, {"run.end", "0.05"}}));
        EXPECT_FALSE(said(right)) << scheme;
    }
    const char* open = R"scene(
stickslip: 1
bodies: {arm: {pose: [0.5, 0, 0], mass: 1, inertia: 0.1}}
joints: {hinge: {revolute: {a: ground, b: arm, at_a: [0, 0, 0], at_b: [-0.51, 0, 0], axis: [0, 1, 0]}}}
)scene";
    EXPECT_THROW(scene_text(open, Set{{"run.scheme", "hem5"}}), Error);
}

// A parallelogram whose bars come to lie in one line, where its motion is not unique: passed, or ended by name.
TEST(EventDrivenLimits, DeadPointsArePassedOrToldByName) {
    for (const std::string& scheme : all_methods)
        for (const char* tol : {"0", "1e-8"}) {
            Simulation simulation(mechanism("four-bar", Set{{"run.scheme", scheme}, {"scheme.tol", tol}}("l1", 0.3)(
                                                            "l2", 0.7)("l3", 0.3)("d", 0.7)("run.end", 1.0)));
            const RunSummary summary = simulation.run();
            if (summary.end == RunEnd::finished) {
                EXPECT_LT(summary.joint_violation.position_max, 1e-6) << scheme << " " << tol;
                EXPECT_LT(std::abs(summary.imbalance), 1e-9 * summary.energy_scale) << scheme << " " << tol;
            } else {
                EXPECT_FALSE(summary.reason.empty()) << scheme << " " << tol;
            }
            EXPECT_TRUE(summary.q.allFinite() && summary.v.allFinite()) << scheme << " " << tol;
        }
}

}  // namespace
}  // namespace stickslip::analytic
