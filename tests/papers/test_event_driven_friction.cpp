// Stick, slip, drives that give way, and take-off by event-driven integration: when things change, and where they end.
#include "collision/finder.hpp"
#include "papers/event_runs.hpp"
#include "support/scheme_memory.hpp"

namespace stickslip::analytic {
namespace {

// [Potra et al. 2006, 10.2]
TEST(EventDrivenFriction, BlockSticksAndSlipsAtTheRightTimes) {
    const Reference reference("block-stick-slip");
    const auto& phases = reference.rows("phase");
    for (const char* scheme : {"hem5", "phem56", "hem4", "dopri5", "rkf45"})
        for (const char* tol : {"0", "1e-12"}) {
            const RunSummary summary =
                run(mechanism("block-stick-slip", Set{{"run.scheme", scheme}, {"scheme.tol", tol}}("run.step", 2e-3)(
                                                      "scheme.longest_step", 0.05)("run.end", 10.0)));
            ASSERT_EQ(summary.events.size() + 1, phases.size()) << scheme << " " << tol;
            for (std::size_t k = 0; k < summary.events.size(); ++k) {
                EXPECT_NEAR(summary.events[k].t, phases[k][2], 1e-10) << scheme << " " << tol << " " << k;
                EXPECT_EQ(summary.events[k].kind,
                          phases[k][0] == 0 ? EventKind::stick_to_slip : EventKind::slip_to_stick);
            }
            EXPECT_NEAR(summary.q[0], phases.back()[3], 1e-9) << scheme << " " << tol;
            EXPECT_LT(std::abs(summary.v[0]), 1e-15) << scheme << " " << tol;
        }
}

// A step of hem5 needs the rows at its eight stages and at three samples on the way. The start, the certificate, the drift and the
// end are at hand. A step that is longer than the one before, as after an event, looks farther and asks once more.
TEST(EventDrivenFriction, SlidingBoxAsksForRowsElevenTimesPerStep) {
    Simulation simulation(scene("sliding-box", Set{{"run.scheme", "hem5"}, {"run.end", "2"}}));
    ContactFinder::Counts before;
    double t_before = 0, h_before = 0;
    int steps = 0;
    while (simulation.advance()) {
        const ContactFinder::Counts& now = simulation.step().finder->counts;
        const double t = simulation.state().t, h = t - t_before;
        if (simulation.step().events.empty() && std::abs(h - h_before) < 1e-9) {
            EXPECT_LE(now.rows - before.rows, 11) << t;
            EXPECT_LE(now.finds - before.finds, 1) << t;
            ++steps;
        }
        before = now;
        t_before = t;
        h_before = h;
    }
    EXPECT_GT(steps, 1900);
}

// [Potra et al. 2006, 10.3]: friction of known size under two carts, a damper between them, a stopper.
TEST(EventDrivenFriction, CartsStickSlideAndBounceAtTheRightTimes) {
    const Reference events("two-carts-events"), states("two-carts");
    for (const std::vector<double>& start : states.rows("case")) {
        const double gamma = start[0], delta = start[1];
        if (gamma > 1e5 || delta > 500) continue;
        const std::string who = text_of(gamma) + " " + text_of(delta);
        Set set{{"run.scheme", "hem5"}, {"scheme.tol", "1e-12"}};
        set("gamma", gamma)("delta", delta)("x1_0", start[2])("x2_0", start[3])("v1_0", start[4])("v2_0", start[5]);
        Simulation simulation(mechanism("two-carts", set("scheme.longest_step", 2e-3)("run.end", 4.0)));
        const auto of_case = [&](const Reference& reference, const char* word) {
            std::vector<std::vector<double>> rows;
            for (const std::vector<double>& row : reference.rows(word))
                if (row[0] == gamma && row[1] == delta) rows.push_back(row);
            return rows;
        };
        const auto exact_states = of_case(states, "state"), changes = of_case(events, "change");
        const auto exact_impacts = of_case(events, "impact"), closed = of_case(events, "closed");
        std::vector<Event> impacts;
        double left = -1, accumulated = -1;
        std::size_t next = 0, change = 0;
        State x;
        std::vector<signed char> before;
        while (simulation.advance()) {
            const Step& step = simulation.step();
            for (const Event& event : step.events) {
                if (event.kind == EventKind::impact && event.normal_speed_before < -1e-4) impacts.push_back(event);
                if (event.kind == EventKind::take_off) left = event.t;
            }
            if (accumulated < 0 && !step.memory.contact.empty()) accumulated = step.t1;  // closed for the first time
            for (; next < exact_states.size() && exact_states[next][2] <= step.t1; ++next) {
                step.at(*simulation.model().system, exact_states[next][2], x);
                for (int i = 0; i < 2; ++i) {
                    EXPECT_NEAR(x.q[i], exact_states[next][3 + i], 1e-8) << who << " " << x.t;
                    EXPECT_NEAR(x.v[i], exact_states[next][5 + i], 1e-6) << who << " " << x.t;
                }
            }
            // Rows that change between holding and giving way end a step: those of spring and damper come first.
            const std::vector<signed char>& bound = event_memory(step).bound;
            ASSERT_EQ(bound.size(), 4u);
            const bool bouncing = !closed.empty() && step.t1 < closed[0][3] - 1e-6;
            if (!before.empty() && bound != before && !bouncing && change < changes.size()) {
                const bool impact = std::any_of(step.events.begin(), step.events.end(),
                                                [](const Event& e) { return e.kind == EventKind::impact; });
                if (!impact || std::abs(step.t1 - changes[change][2]) < 1e-7) {
                    EXPECT_NEAR(step.t1, changes[change][2], 1e-9) << who << " change " << change;
                    EXPECT_EQ(-bound[2], changes[change][3]) << who << " change " << change;
                    EXPECT_EQ(-bound[3], changes[change][4]) << who << " change " << change;
                    ++change;
                }
            }
            before = bound;
        }
        EXPECT_EQ(next, exact_states.size()) << who;
        EXPECT_EQ(change, changes.size()) << who;
        ASSERT_EQ(impacts.size(), exact_impacts.size()) << who;
        for (std::size_t n = 0; n < impacts.size(); ++n) {
            EXPECT_NEAR(impacts[n].t, exact_impacts[n][2], 1e-10) << who << " impact " << n;
            EXPECT_NEAR(impacts[n].normal_speed_before, exact_impacts[n][3], 1e-8) << who << " impact " << n;
        }
        if (closed.empty()) continue;
        EXPECT_NEAR(accumulated, closed[0][2], 1e-6) << who;
        EXPECT_NEAR(left, closed[0][3], 1e-9) << who;
    }
}

// A block whose centre of mass lies in its base, so that it does not tip; x downhill, y across.
const char* sliding = R"scene(
stickslip: 1
let: {slope: 20, mu: 0.5, angle: 47}
gravity: [9.81*sin(slope*pi/180), 0, -9.81*cos(slope*pi/180)]
materials: {default: {friction: mu}}
bodies:
  plane: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  block:
    pose: [0, 0, 0.1]
    com: [0, 0, -0.1]
    mass: 1
    inertia: 0.02
    shapes: [{box: [0.4, 0.4, 0.2]}]
    velocity: [3*cos(angle*pi/180), 3*sin(angle*pi/180), 0]
run: {end: 2.4}
)scene";

TEST(EventDrivenFriction, BlockOnAnInclineTurnsDownhillAndStops) {
    const Reference reference("block-incline");
    const std::vector<double>& stop = reference.rows("stop")[0];
    std::vector<double> times;
    for (const std::vector<double>& state : reference.rows("state")) times.push_back(state[0]);
    for (const char* scheme : {"hem5", "phem56", "dopri5"}) {
        Simulation simulation(scene_text(sliding, Set{{"run.scheme", scheme}, {"run.step", "5e-3"}}));
        run_through(simulation, times, [&](std::size_t k, const State& x) {
            const std::vector<double>& state = reference.rows("state")[k];
            EXPECT_LT(std::hypot(x.q[0] - state[1], x.q[1] - state[2]), 1e-9) << scheme << " " << x.t;
            EXPECT_LT(std::hypot(x.v[0] - state[3], x.v[1] - state[4]), 1e-8) << scheme << " " << x.t;
        });
        const State& x = simulation.state();
        EXPECT_LT(std::hypot(x.q[0] - stop[1], x.q[1] - stop[2]), 1e-8) << scheme;
        EXPECT_LT(x.v.norm(), 1e-12) << scheme;

        const RunSummary summary = run(scene_text(sliding, Set{{"run.scheme", scheme}, {"run.step", "5e-3"}}));
        EXPECT_NEAR(time_of(summary, EventKind::slip_to_stick), stop[0], 1e-8) << scheme;
        EXPECT_LT(std::abs(summary.imbalance), 1e-12 * summary.energy_scale) << scheme;
    }
}

TEST(EventDrivenFriction, BlockOnAPlaneSlidesStraightAndStops) {
    const std::vector<double> stop = Reference("block-plane").rows("stop")[0];
    for (const char* scheme : {"hem5", "hem3", "rk4"})
        for (const char* tol : {"0", "1e-8"}) {
            const RunSummary summary = run(scene_text(
                sliding,
                Set{{"run.scheme", scheme}, {"scheme.tol", tol}, {"slope", "0"}, {"mu", "0.4"}, {"angle", "13"}}(
                    "run.step", 0.01)("run.end", 1.0)));
            EXPECT_NEAR(time_of(summary, EventKind::slip_to_stick), stop[0], 1e-10) << scheme << " " << tol;
            EXPECT_LT(std::hypot(summary.q[0] - stop[1], summary.q[1] - stop[2]), 1e-10) << scheme << " " << tol;
            EXPECT_LT(summary.v.norm(), 1e-12) << scheme << " " << tol;
        }
}

TEST(EventDrivenFriction, SlidingBallRollsFromTheRightTimeOn) {
    const Reference reference("sphere-slide-roll");
    const double transition = reference.rows("transition")[0][0];
    std::vector<double> times;
    for (const std::vector<double>& state : reference.rows("state")) times.push_back(state[0]);
    for (const char* scheme : {"hem5", "phem56", "dopri5"}) {
        Simulation simulation(scene("sphere-slide-roll", Set{{"run.scheme", scheme}, {"run.end", "1.4"}}));
        std::vector<Event> events;
        std::size_t next = 0;
        State x;
        while (simulation.advance()) {
            const Step& step = simulation.step();
            events.insert(events.end(), step.events.begin(), step.events.end());
            for (; next < times.size() && times[next] <= step.t1; ++next) {
                step.at(*simulation.model().system, times[next], x);
                const std::vector<double>& s = reference.rows("state")[next];
                const BodyState body = simulation.model().system->body_state(1, x.q, x.v);
                EXPECT_LT((body.pose.position - Vec3(s[1], s[2], 0.1)).norm(), 1e-10) << scheme << " " << x.t;
                EXPECT_LT((body.velocity - Vec3(s[3], s[4], 0)).norm(), 1e-9) << scheme << " " << x.t;
                EXPECT_LT((body.angular_velocity - Vec3(s[5], s[6], s[7])).norm(), 1e-8) << scheme << " " << x.t;
            }
        }
        ASSERT_EQ(events.size(), 1u) << scheme;
        EXPECT_EQ(events[0].kind, EventKind::slip_to_stick) << scheme;
        EXPECT_NEAR(events[0].t, transition, 1e-10) << scheme;
    }
}

TEST(EventDrivenFriction, BallRollsDownAnInclineByTheClosedForm) {
    const char* text = R"(
stickslip: 1
gravity: [9.81*sin(pi/9), 0, -9.81*cos(pi/9)]
materials: {default: {friction: 0.3}}
bodies:
  slope: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}], velocity: [0.5, 1, 0], angular_velocity: [-10, 5, 0]}
run: {end: 2, step: 4e-3}
)";
    const Reference reference("incline-sphere");
    for (const char* scheme : {"hem5", "dopri5"}) {
        Simulation simulation(scene_text(text, Set{{"run.scheme", scheme}}));
        std::vector<double> times;
        for (const std::vector<double>& state : reference.rows("state")) times.push_back(state[0]);
        run_through(simulation, times, [&](std::size_t k, const State& x) {
            const std::vector<double>& s = reference.rows("state")[k];
            EXPECT_LT(std::hypot(x.q[0] - s[1], x.q[1] - s[2]), 1e-9) << scheme << " " << x.t;
            EXPECT_LT(std::hypot(x.v[0] - s[3], x.v[1] - s[4]), 1e-9) << scheme << " " << x.t;
        });
    }
}

// Thrown uphill where friction cannot hold it: it turns without sticking.
TEST(EventDrivenFriction, BlockOnASteepInclineTurnsWithoutSticking) {
    const double a = 40 * pi / 180, up = g * (std::sin(a) + 0.3 * std::cos(a)),
                 down = g * (std::sin(a) - 0.3 * std::cos(a)), turn = 3 / up, end = 1.5;
    for (const char* scheme : {"hem5", "dopri5"})
        for (const char* plane : {"xz", "xyz"}) {
            Set set{{"run.scheme", scheme}, {"slope", "40"}, {"mu", "0.3"}, {"angle", "180"}};
            if (std::string(plane) == "xz") set("plane", plane)("bodies.block.velocity", "[-3, 0, 0]");
            const RunSummary summary = run(scene_text(sliding, set("run.end", end)));
            const double exact = -3 * turn / 2 + down * (end - turn) * (end - turn) / 2;
            EXPECT_NEAR(summary.q[0], exact, 1e-10) << scheme << " " << plane;
            EXPECT_NEAR(summary.v[0], down * (end - turn), 1e-10) << scheme << " " << plane;
            EXPECT_TRUE(of_kind(summary, EventKind::slip_to_stick).empty()) << scheme << " " << plane;
        }
}

// The push 4 t turns with 2 rad/s; the cone is round, so that it lets go when 4 t = mu m g, and into the direction of the push.
TEST(EventDrivenFriction, TurningPushLetsABlockGoAtTheRoundCone) {
    const char* text = R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  block: {pose: [0, 0, 0.1], com: [0, 0, -0.1], mass: 1, inertia: 0.01, shapes: [{box: [0.2, 0.2, 0.2]}]}
forces: {push: {load: {body: block, at: [0, 0, -0.1], force: [4*t*cos(2*t), 4*t*sin(2*t), 0]}}}
run: {end: 1.3, step: 1e-2}
)";
    // The first moments of a slide in space are stiff (its direction turns at the rate mu g/|u|) and explicit methods follow them
    // poorly: velocities are not compared here.
    const double exact = 0.5 * g / 4;
    for (const char* scheme : {"hem5", "dopri5"}) {
        const RunSummary summary = run(scene_text(text, Set{{"run.scheme", scheme}, {"scheme.tol", "1e-9"}}));
        ASSERT_EQ(summary.events.size(), 4u) << scheme;  // its corners
        for (const Event& event : summary.events) {
            EXPECT_EQ(event.kind, EventKind::stick_to_slip) << scheme;
            EXPECT_NEAR(event.t, exact, 1e-10) << scheme;
        }
    }
}

// Times at which a bounded row of the only joint begins to hold (0) or to give way, with its bound.
std::vector<std::pair<double, int>> changes_of_the_drive(const std::string& text, const char* scheme, State& end) {
    std::vector<std::pair<double, int>> changes;
    Simulation simulation(scene_text(text, Set{{"run.scheme", scheme}}));
    int before = 99;
    while (simulation.advance()) {
        const int now = event_memory(simulation.step()).bound.back();
        if (before != 99 && now != before) changes.emplace_back(simulation.state().t, now);
        before = now;
    }
    end = simulation.state();
    return changes;
}

// Slows down with 2 m/s^2 against a push of t [N] on 2 kg, holds while the push is below 4 N, then lets go.
TEST(EventDrivenFriction, BrakeStopsHoldsAndGivesWay) {
    const std::string text = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {slider: {mass: 2, inertia: 0.1, velocity: [0, 0, 1]}}
joints: {guide: {prismatic: {a: ground, b: slider, at: [0, 0, 0], axis: [0, 0, 1], brake: 4}}}
forces: {push: {load: {body: slider, force: [0, 0, t]}}}
run: {end: 5, step: 0.0137}
)";
    const double stop = 4 - 2 * std::sqrt(3.0);
    for (const char* scheme : {"hem5", "phem56", "dopri5"}) {
        State end;
        const auto changes = changes_of_the_drive(text, scheme, end);
        ASSERT_EQ(changes.size(), 2u) << scheme;
        EXPECT_NEAR(changes[0].first, stop, 1e-10) << scheme;
        EXPECT_EQ(changes[0].second, 0) << scheme;
        EXPECT_NEAR(changes[1].first, 4, 1e-10) << scheme;
        EXPECT_EQ(changes[1].second, -1) << scheme;
        EXPECT_NEAR(end.v[2], 0.25, 1e-10) << scheme;
        EXPECT_NEAR(end.q[2], stop - stop * stop + stop * stop * stop / 12 + 1.0 / 12, 1e-10) << scheme;
    }
}

// 6 N on 2 kg up to 1 m/s, which it keeps until the load against it, 2 t, is more.
TEST(EventDrivenFriction, MotorReachesItsSpeedKeepsItAndGivesWay) {
    const std::string text = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {slider: {mass: 2, inertia: 0.1}}
joints:
  guide: {prismatic: {a: ground, b: slider, at: [0, 0, 0], axis: [0, 0, 1], motor: {speed: 1, max_force: 6}}}
forces: {push: {load: {body: slider, force: [0, 0, -2*t]}}}
run: {end: 4, step: 0.0137}
)";
    for (const char* scheme : {"hem5", "phem56", "dopri5"}) {
        State end;
        const auto changes = changes_of_the_drive(text, scheme, end);
        ASSERT_EQ(changes.size(), 2u) << scheme;
        EXPECT_NEAR(changes[0].first, 3 - std::sqrt(7.0), 1e-10) << scheme;
        EXPECT_EQ(changes[0].second, 0) << scheme;
        EXPECT_NEAR(changes[1].first, 3, 1e-10) << scheme;
        EXPECT_EQ(changes[1].second, 1) << scheme;
        EXPECT_NEAR(end.v[2], 0.5, 1e-10) << scheme;
    }
}

}  // namespace
}  // namespace stickslip::analytic
