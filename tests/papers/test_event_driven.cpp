// Impacts by event-driven integration: every one of them located, accumulations to rest, the ledger closed. Judged by closed forms
// and by references in many digits [Haddouni 2015, ch. 4].
#include "papers/event_runs.hpp"

namespace stickslip::analytic {
namespace {

const std::vector<std::string> methods{"hem5", "phem56", "hem4", "hem3", "dopri5", "rkf45", "rk4"};

// Impact n at t1 + 2 v1/g (e + ... + e^(n-1)), with v1 e^(n-1).
TEST(EventDriven, EveryBounceOfABallIsLocated) {
    const double t1 = std::sqrt(2 / g), v1 = g * t1, shortest_flight = 1e-7;
    for (const std::string& scheme : methods)
        for (const double e : {0.3, 0.8, 0.95})
            for (const char* tol : {"0", "1e-6"}) {
                const double rest = t1 * (1 + e) / (1 - e);
                const RunSummary summary =
                    run(mechanism("bouncing-ball", Set{{"run.scheme", scheme}, {"scheme.tol", tol}}("e", e)(
                                                       "run.step", 0.01)("run.end", rest + 0.5)));
                const std::string who = scheme + " " + tol + " " + text_of(e);
                const std::vector<Event> impacts = of_kind(summary, EventKind::impact);
                double t = t1, v = v1, time_error = 0, speed_error = 0;
                std::size_t n = 0;
                for (; n < impacts.size(); ++n) {
                    time_error = std::max(time_error, std::abs(impacts[n].t - t) / t);
                    speed_error = std::max(speed_error, std::abs(impacts[n].normal_speed_before + v) / v);
                    v *= e;
                    t += 2 * v / g;
                }
                EXPECT_LT(time_error, 1e-12) << who;
                EXPECT_LT(speed_error, 1e-12) << who;
                EXPECT_LT(2 * v / g / (1 - e), 2 * shortest_flight) << who << ": " << n << " impacts were found";
                const std::vector<Event> ends = of_kind(summary, EventKind::accumulation);
                ASSERT_EQ(ends.size(), 1u) << who;
                EXPECT_NEAR(ends[0].t, rest, 1e-10) << who;
                EXPECT_EQ(summary.v[0], 0) << who;
                EXPECT_LT(std::abs(summary.q[0]), 1e-15) << who;
                EXPECT_LT(std::abs(summary.imbalance), 1e-12 * summary.energy_scale) << who;
                EXPECT_EQ(summary.unlocated_events, 0) << who;
            }
}

// Table 4.1 of the thesis: violations through the accumulation to rest, and every impact faster than 1e-6 m/s in its turn.
TEST(EventDriven, BallChainBouncesToRestAsItShould) {
    const Reference reference("three-ball-chain-impacts");
    for (const char* law : {"poisson", "newton"})
        for (const double e : {0.5, 0.8})
            for (const char* tol : {"1e-2", "1e-4", "1e-6", "1e-8"}) {
                const std::string who = std::string(law) + " " + tol + " " + text_of(e);
                Simulation simulation(mechanism(
                    "three-ball-chain", Set{{"run.scheme", "hem5"}, {"scheme.tol", tol}, {"scheme.impact", law}}(
                                            "e1", e)("e2", e)("e3", e)("run.end", 3.0)));
                std::vector<Event> impacts;
                double deepest = 0, closed = 0;
                State x;
                while (simulation.advance()) {
                    const Step& step = simulation.step();
                    for (const Event& event : step.events) {
                        if (event.kind == EventKind::impact && event.normal_speed_before < -1e-6)
                            impacts.push_back(event);
                    }
                    if (closed == 0 && step.memory.contact.size() == 3) closed = step.t1;
                    for (int k = 1; k <= 8; ++k) {
                        step.at(*simulation.model().system, step.t0 + k * (step.t1 - step.t0) / 8, x);
                        deepest = std::max({deepest, 0.1 - x.q[0], x.q[0] + 0.2 - x.q[1], x.q[1] + 0.2 - x.q[2]});
                    }
                }
                EXPECT_LT(deepest, 1e-8) << who;
                std::size_t n = 0;
                double last = 0, worst = 0, before = 0;
                for (const std::vector<double>& exact : reference.rows("impact")) {
                    if (exact[0] != e) continue;
                    if (exact[1] - before < 1e-7) break;  // closer than shortest_flight
                    before = exact[1];
                    ASSERT_LT(n, impacts.size()) << who;
                    ASSERT_EQ(impacts[n].contact.a + 1, static_cast<unsigned>(exact[2])) << who << ": impact " << n;
                    worst = std::max(worst, std::abs(impacts[n].t - exact[1]));
                    ASSERT_NEAR(impacts[n].t, exact[1], 1e-8) << who << ": impact " << n;
                    ++n;
                }
                for (const std::vector<double>& exact : reference.rows("closure"))
                    if (exact[0] == e) last = std::max(last, exact[2]);
                // With e 0.5 impacts of two contacts come within shortest_flight well before the end: the rest is another motion.
                EXPECT_NEAR(closed, last, 1e-5) << who << note("worst", {worst});
                const VecX& q = simulation.state().q;
                EXPECT_LT((q - Vec3(0.1, 0.3, 0.5)).norm(), 1e-12) << who;
                EXPECT_LT(simulation.state().v.norm(), 1e-15) << who;
                const std::vector<ContactRecord>& contacts = simulation.step().contacts;
                ASSERT_EQ(contacts.size(), 3u) << who;
                for (std::size_t i = 0; i < 3; ++i)
                    EXPECT_NEAR(contacts[i].force[0], 29.43 - 9.81 * static_cast<double>(i), 1e-10) << who;
            }
}

// [Flores, Leine & Glocker 2010]. No chaos in these three turns of the crank: angles are comparable to the end.
TEST(EventDriven, SliderCrankWithPlayIsFollowedToTheTolerance) {
    const Reference reference("slider-crank-clearance");
    for (const auto& [eN, mu] :
         std::initializer_list<std::pair<double, double>>{{0.4, 0.01}, {0.4, 0}, {0.1, 0}, {0, 0.01}}) {
        std::vector<std::vector<double>> states;
        std::vector<double> times;
        for (const std::vector<double>& state : reference.rows("state"))
            if (state[0] == eN && state[1] == mu) {
                states.push_back(state);
                times.push_back(state[2]);
            }
        ASSERT_EQ(states.size(), 16u);
        std::vector<double> errors, rate_errors;
        for (const char* tol : {"1e-4", "1e-6", "1e-8", "1e-10"}) {
            Simulation simulation(mechanism(
                "slider-crank-clearance",
                Set{{"run.scheme", "hem5"}, {"scheme.tol", tol}, {"scheme.impact", "newton"}}("eN", eN)("mu", mu)));
            double worst = 0, worst_rate = 0;
            run_through(simulation, times, [&](std::size_t k, const State& x) {
                worst = std::max({worst, std::abs(x.q[0] - states[k][3]), std::abs(x.q[1] - states[k][4])});
                worst_rate = std::max({worst_rate, std::abs(x.v[0] - states[k][5]), std::abs(x.v[1] - states[k][6])});
                EXPECT_LT(std::abs(x.q[2]), 1e-12) << "it tilts";
            });
            errors.push_back(worst);
            rate_errors.push_back(worst_rate);
        }
        const std::string numbers =
            text_of(eN) + " " + text_of(mu) + note("errors", errors) + note("rates", rate_errors);
        for (std::size_t k = 0; k < errors.size(); ++k) {
            const double tol = std::pow(10.0, -4 - 2 * static_cast<double>(k));
            EXPECT_LT(errors[k], 100 * tol) << numbers;  // hundreds of steps, each with an error of up to tol
            EXPECT_LT(rate_errors[k], 150 * 100 * tol) << numbers;
            if (k > 0) {
                EXPECT_LT(errors[k], errors[k - 1] / 5) << numbers;
                EXPECT_LT(rate_errors[k], rate_errors[k - 1] / 5) << numbers;
            }
        }
    }
}

TEST(EventDriven, PendulumsThatStrikeAWallKeepTheirLedger) {
    const Reference reference("double-pendulum-wall");
    const auto& exact = reference.rows("impact");
    for (const std::string& scheme : methods) {
        const RunSummary summary = run(
            mechanism("double-pendulum-wall", Set{{"run.scheme", scheme}, {"run.step", "5e-4"}, {"run.end", "2.5"}}));
        const std::vector<Event> impacts = of_kind(summary, EventKind::impact);
        ASSERT_EQ(impacts.size(), exact.size()) << scheme;
        for (std::size_t n = 0; n < exact.size(); ++n) {
            EXPECT_NEAR(impacts[n].t, exact[n][1], 1e-8) << scheme << " " << n;
            EXPECT_NEAR(impacts[n].normal_speed_before, exact[n][2], 1e-7) << scheme << " " << n;
        }
        EXPECT_LT(std::abs(summary.imbalance), 1e-12 * summary.energy_scale) << scheme;
    }
}

// A slender block on its corners. Without slip and rebound its angular speed falls by 1 - 3/2 sin^2 a at each impact, a the angle of
// the diagonal [Housner 1963].
const char* rocking = R"scene(
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
run: {end: 2, step: 2e-3}
)scene";

TEST(EventDriven, RockingBlockLosesWhatHousnerSays) {
    const double ratio = 1 - 1.5 * 0.01 / (0.01 + 0.16);
    for (const char* scheme : {"hem5", "phem56", "dopri5"})
        for (const char* law : {"poisson", "newton"}) {
            Simulation simulation(scene_text(rocking, Set{{"run.scheme", scheme}, {"scheme.impact", law}}));
            int impacts = 0;
            while (simulation.advance())
                for (const Event& event : simulation.step().events)
                    if (event.kind == EventKind::impact) {
                        ++impacts;
                        const double before = -event.normal_speed_before / 0.2;
                        EXPECT_NEAR(std::abs(simulation.state().v[2]) / before, ratio, 1e-9) << scheme << " " << law;
                    }
            EXPECT_GE(impacts, 5) << scheme;
            const EnergyLedger& ledger = simulation.step().ledger;
            EXPECT_LT(std::abs(ledger.imbalance()), 1e-12 * ledger.scale()) << scheme << " " << law;
            EXPECT_EQ(simulation.state().t, 2);
        }
}

TEST(EventDriven, RockingBlockThatReboundsKeepsItsLedger) {
    for (const double e : {0.2, 0.6, 1.0})
        for (const char* law : {"poisson", "newton"}) {
            const RunSummary summary =
                run(scene_text(rocking, Set{{"run.scheme", "hem5"}, {"scheme.impact", law}}("e", e)));
            EXPECT_LT(std::abs(summary.imbalance), 1e-12 * summary.energy_scale) << e << " " << law;
            EXPECT_LT(summary.gap_violation_max, 1e-9) << e << " " << law;
            const double energy = summary.energies.kinetic + summary.energies.potential;
            const double start = 3 * g * (0.1 * std::sin(0.08) + 0.4 * std::cos(0.08));
            EXPECT_LT(energy, start * (1 + 1e-12) + summary.impact_gains.energy)
                << e << " " << law;                             // Newton with friction may gain
            EXPECT_GT(energy, 3 * g * 0.4) << e << " " << law;  // it still rocks
        }
}

}  // namespace
}  // namespace stickslip::analytic
