// What overlaps is pushed out: nothing sinks for good, nothing is thrown, restitution and rest stay what they are.
#include <algorithm>

#include "collision/finder.hpp"
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

constexpr double coarse = 1.0 / 60;  // [s]

// [m] The deepest overlap at the present state.
double overlap_of(const Simulation& simulation) {
    ContactFinder finder;
    BilateralRows joints;
    ContactRows contacts;
    simulation.model().system->rows(simulation.state().t, simulation.state().q, finder, joints, contacts);
    double deepest = 0;
    for (const double gap : contacts.gap) deepest = std::max(deepest, -gap);
    return deepest;
}

double total(const Energies& e) { return e.kinetic + e.potential + e.elastic; }

// [m/s] The fastest row of the contacts that bear: how points of bodies move against each other where they press.
double slip_of(const Simulation& simulation) {
    const System& system = *simulation.model().system;
    ContactFinder finder;
    BilateralRows joints;
    ContactRows contacts;
    system.rows(simulation.state().t, simulation.state().q, finder, joints, contacts);
    RowVec speed;
    speed.resize(contacts.jacobian.rows());
    contacts.jacobian.product(system.nodes(), simulation.state().v, speed);
    double fastest = 0;
    int bearing = 0;
    for (const ContactRecord& record : simulation.step().contacts) {
        const auto found = std::find(contacts.id.begin(), contacts.id.end(), record.id);
        if (record.impulse[0] == 0 || found == contacts.id.end()) continue;
        ++bearing;
        const auto i = found - contacts.id.begin();
        for (int k = contacts.jacobian.row[i]; k < contacts.jacobian.row[i + 1]; ++k)
            fastest = std::max(fastest, std::abs(speed[k]));
    }
    EXPECT_GT(bearing, 0);
    return fastest;
}

VecX centres_of(const Simulation& simulation) {
    const System& system = *simulation.model().system;
    const int bodies = static_cast<int>(system.body_names().size());
    VecX x(3 * bodies);
    for (int b = 0; b < bodies; ++b)
        x.segment<3>(3 * b) = system.body_state(b, simulation.state().q, simulation.state().v).pose.position;
    return x;
}

struct Settled {
    double overlap = 0;  // [m] at the end
    double creep = 0;    // [m/s, 1/s] the fastest coordinate over the last seconds,
    double drift = 0;    // [m/s] the fastest centre of a body over them,
    double slip = 0;     // [m/s] and the fastest point of contact at their end
    double gain = 0;     // [J] by which the energy rose above its start and the work of pushing, at worst
};

// Runs to `settled`, and for ten seconds more.
Settled settle(const std::string& text, double settled, const Set& set = {}) {
    Simulation simulation(scene_text(text, set));
    Settled out;
    const double start = total(simulation.step().ledger.now());
    VecX q, centres;
    double since = -1;
    while (simulation.advance()) {
        const EnergyLedger& ledger = simulation.step().ledger;
        out.gain = std::max(out.gain, total(ledger.now()) - start + std::min(ledger.flows().regularisation_loss, 0.0));
        if (since < 0 && simulation.state().t >= settled) {
            since = simulation.state().t;
            q = simulation.state().q;
            centres = centres_of(simulation);
        }
    }
    EXPECT_NEAR(simulation.state().t, settled + 10, 1e-9) << simulation.refusal();
    out.overlap = overlap_of(simulation);
    out.slip = slip_of(simulation);
    if (since < 0) return out;
    out.creep = (simulation.state().q - q).lpNorm<Eigen::Infinity>() / (simulation.state().t - since);
    out.drift = (centres_of(simulation) - centres).lpNorm<Eigen::Infinity>() / (simulation.state().t - since);
    return out;
}

const char* const stack = R"(
stickslip: 1
let: {a: 0.1, e: 0}
materials: {default: {friction: 0.5, restitution: e}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box-{k}:
    repeat: {k: 6}
    pose: {at: [0.003*k, 0.002*(k - 2), 0.2*k], rpy_deg: [0, 0, 7*k]}
    mass: 1
    shapes: [{box: [a, a, a]}]
run: {step: 1/60, end: 13}
)";

TEST(Overlap, StackOfDroppedBoxesRestsWithoutOverlapAndCreep) {
    for (const double e : {0.0, 0.1}) {
        const Settled end = settle(stack, 3, Set()("e", e));
        const std::string numbers = note("stack", {e, end.overlap, end.creep, end.gain});
        EXPECT_LT(end.overlap, 1e-3) << numbers;  // a hundredth of a box; before it was up to half of one
        EXPECT_LT(end.creep, 1e-9) << numbers;
        EXPECT_LT(end.gain, 1e-9) << numbers;
    }
}

TEST(Overlap, PileOfDroppedSpheresRestsWithoutOverlapAndCreep) {
    const Settled end = settle(R"(
stickslip: 1
let: {r: 0.05}
materials: {default: {friction: 0.3, restitution: 0}}
bodies:
  bin:
    fixed: true
    shapes:
      - half-space: {normal: [0, 0, 1]}
      - half-space: {normal: [1, 0, 0], offset: -0.18}
      - half-space: {normal: [-1, 0, 0], offset: -0.18}
      - half-space: {normal: [0, 1, 0], offset: -0.13}
      - half-space: {normal: [0, -1, 0], offset: -0.13}
  ball-{i}-{j}-{k}:
    grid: {i: 3, j: 2, k: 5}
    pose: [0.101*(i - 2) + 0.003*k, 0.102*(j - 1.5) - 0.002*k, 0.1 + 0.15*k]
    mass: 1
    shapes: [{sphere: r}]
run: {step: 1/60, end: 14}
)",
                               4);
    // A ball that bears on one point may spin about its normal for ever: nothing in the law resists that. So centres and points of
    // contact are looked at, not attitudes.
    const std::string numbers = note("pile", {end.overlap, end.drift, end.slip, end.gain});
    EXPECT_LT(end.overlap, 1e-3) << numbers;
    EXPECT_LT(end.drift, 1e-9) << numbers;
    EXPECT_LT(end.slip, 1e-9) << numbers;
    EXPECT_LT(end.gain, 1e-9) << numbers;
}

// Contacts that rebound may keep some overlap. Where 1e-12 m more than that was asked for, no move seemed to help, and steps that were solved
// to rounding were told to be contradictory.
TEST(Overlap, WhatReboundingContactsMayKeepIsNotCalledASqueeze) {
    const char* const text = R"(
stickslip: 1
let: {e: 0.5}
materials: {default: {friction: 0.3, restitution: e}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  a: {pose: {at: [0.0008559, 0.001412, 0.01398], rpy_deg: [-3.53, 6.85, 0]}, mass: 0.06182, shapes: [{sphere: 0.01332}]}
  b: {pose: {at: [0.0012, 0.004949, 0.04807], rpy_deg: [-6.89, -2.56, 0]}, velocity: [0, 0, -1.92], mass: 0.08462, shapes: [{box: [0.03639, 0.03639, 0.03639]}]}
  c: {pose: [0.002798, -0.0003818, 0.08721], velocity: [0, 0, -2.31], mass: 10.6, shapes: [{sphere: 0.01813}]}
  d: {pose: [-0.003887, 0.002594, 0.1289], velocity: [0, 0, -5.76], mass: 0.7833, shapes: [{sphere: 0.02057}]}
  f: {pose: [0.00609, -0.007225, 0.1911], velocity: [0, 0, -4.81], mass: 0.0736, shapes: [{sphere: 0.03772}]}
run: {end: 0.6}
)";
    for (const double e : {0.1, 0.3, 0.5})
        for (const double h : {1.0 / 240, 1.0 / 120, coarse}) {
            Simulation simulation(scene_text(text, Set()("e", e)("step", h)));
            const RunSummary summary = simulation.run();
            EXPECT_EQ(summary.end, RunEnd::finished) << e << ' ' << h;
            EXPECT_EQ(summary.uncertified.steps, 0) << e << ' ' << h;
        }
}

// A cube of 0.2 m starts 20 mm deep: pushed by a quarter of sqrt(0.1 g L), L the size by which tolerances go, it is out after
// 0.14 s, never has a velocity and never is above the table.
TEST(Overlap, BoxThatStartsDeepInATableLeavesItSlowlyWithoutJumping) {
    for (const char* plane : {"", "plane: xz\n"}) {
        for (const double h : {1e-4, 1e-3, coarse}) {
            Simulation simulation(scene_text(std::string("stickslip: 1\n") + plane + R"(
bodies:
  table: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box: {pose: [0, 0, 0.08], mass: 1, shapes: [{box: [0.2, 0.2, 0.2]}]}
run: {end: 1}
)",
                                             Set()("step", h)));
            const double most = simulation.step().tolerances.scales.speed / 4;
            const auto height = [&] {
                return simulation.model()
                    .system->body_state(1, simulation.state().q, simulation.state().v)
                    .pose.position[2];
            };
            double before = height();
            while (simulation.advance()) {
                ASSERT_LE(height() - before, (most + 1e-9) * h) << "at " << simulation.state().t;
                ASSERT_GE(height() - before, -1e-12);
                ASSERT_LT(simulation.state().v.norm(), 1e-9);
                before = height();
            }
            EXPECT_GT(before, 0.1 - 0.1001 * simulation.step().tolerances.visible_error);
            EXPECT_LE(before, 0.1);
        }
    }
}

// Many contacts keep half a percent of half a thickness, so that heaps come to rest; not more, and they are moved as gently.
TEST(Overlap, ManyBoxesKeepHalfAPercent) {
    for (const double size : {0.03, 0.2, 5.0}) {
        Simulation simulation(scene_text(R"(
stickslip: 1
let: {size: 1}
bodies:
  table: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box-{i}-{j}: {grid: {i: 6, j: 6}, pose: [2*i*size, 2*j*size, 0.4*size], mass: 1, shapes: [{box: [size, size, size]}]}
run: {end: 1.5, step: 1/60}
)",
                                         Set()("size", size)));
        while (simulation.advance()) {
        }
        EXPECT_NEAR(simulation.state().t, 1.5, 1e-9);
        for (int b = 1; b <= 36; ++b) {
            const double height =
                simulation.model().system->body_state(b, simulation.state().q, simulation.state().v).pose.position[2];
            EXPECT_GE(height, (0.5 - 0.5 * 5e-3) * size - 1e-12) << size;
            EXPECT_LE(height, 0.5 * size) << size;
        }
    }
}

// A box between walls that are too near: both push alike, it stays between them, and no step fails.
TEST(Overlap, BoxThatIsSqueezedStaysBetweenItsWalls) {
    Simulation simulation(scene_text(R"(
stickslip: 1
gravity: [0, 0, 0]
bodies:
  left: {fixed: true, shapes: [{half-space: {normal: [1, 0, 0], offset: -0.49}}]}
  right: {fixed: true, shapes: [{half-space: {normal: [-1, 0, 0], offset: -0.49}}]}
  box: {pose: [0.005, 0, 0], mass: 1, shapes: [{box: [1, 1, 1]}]}
run: {step: 1e-2, end: 2}
)"));
    const RunSummary end = simulation.run();
    EXPECT_TRUE(end.certified) << end.reason;
    EXPECT_LE(std::abs(simulation.state().q[0]), 0.005 + 1e-9);
    EXPECT_LT(simulation.state().v.norm(), 1e-9);
    EXPECT_TRUE(std::any_of(end.warnings.begin(), end.warnings.end(), [](const std::string& warning) {
        return warning.find("gaps that are too narrow") != std::string::npos;
    }));
}

// Joints are kept by the push: a rod on a pin whose far end is 10 mm deep is turned out of the floor, not pulled off its pin.
// Boxes that fall onto each other in steps in which they come 0.1 m nearer: what a rebound may keep is 0.04 of half their thickness, and
// what one move pushes them into the next takes out.
TEST(Overlap, BoxesThatTumbleInLongStepsStayOutOfEachOther) {
    for (const double h : {1.0 / 60, 1.0 / 120}) {
        for (const double e : {0.1, 0.3}) {
            Simulation simulation(scene_text(R"(
stickslip: 1
let: {e: 0.1}
materials: {default: {friction: 0.4, restitution: e}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  b-{i}: {repeat: {i: 7}, pose: {at: [0.04*i, 0.03*i*(4-i), 0.2+0.45*i], rpy_deg: [12*i, 7, 3*i]}, mass: 1, shapes: [{box: [0.4,0.3,0.24]}]}
run: {end: 2}
)",
                                             Set()("step", h)("e", e)));
            const RunSummary end = simulation.run();
            EXPECT_EQ(end.end, RunEnd::finished) << end.reason;
            EXPECT_LT(end.gap_violation_max, 0.041 * 0.12 + 1e-4) << note("h, e", {h, e});
        }
    }
}

TEST(Overlap, RodOnAPinIsTurnedOutOfTheFloor) {
    Simulation simulation(scene_text(R"(
stickslip: 1
plane: xz
let: {a: 0.02}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  rod:
    pose: {at: [0.5*cos(a), 0, 0.06 - 0.5*sin(a)], rpy_deg: [0, a*180/pi, 0]}
    mass: 1
    shapes: [{box: [1, 0.1, 0.1]}]
joints:
  pin: {revolute: {a: ground, b: rod, at: [0, 0, 0.06], axis: [0, 1, 0]}}
run: {step: 1e-3, end: 2}
)"));
    const RunSummary end = simulation.run();
    EXPECT_TRUE(end.certified) << end.reason;
    EXPECT_LT(end.joint_violation.position_max, 1e-5);
    EXPECT_LT(overlap_of(simulation), 1e-3);
}

// Stabilisation takes out the errors of joints. On contacts it used to be a velocity that a plastic ball kept as a bounce.
TEST(Overlap, PlasticBallWithStabilisationStaysWhereItFell) {
    for (const double h : {1e-4, 1e-3, coarse}) {
        Simulation simulation(mechanism(
            "bouncing-ball", Set{{"e", "0"}, {"scheme", "moreau-jean"}}("scheme.stabilisation", 1)("step", h)));
        bool fallen = false;
        while (simulation.advance()) {
            for (const ContactRecord& contact : simulation.step().contacts) fallen = fallen || contact.impulse[0] > 0;
            if (!fallen) continue;
            ASSERT_LE(simulation.state().v[0], 1e-9) << "at " << simulation.state().t;
            ASSERT_LE(simulation.state().q[0], 2 * g * h * h + 1e-9) << "at " << simulation.state().t;
            ASSERT_GE(simulation.state().q[0], -1.1e-4);
        }
        EXPECT_TRUE(fallen);
    }
}

// [m] Mean error of the first apex over several heights of fall: the phase of the impact in its step is an accident.
double apex_error(double e, double h, const char* overlap) {
    double sum = 0;
    const int heights = 12;
    for (int k = 0; k < heights; ++k) {
        const double z0 = 1 + 0.03 * k;
        Simulation simulation(mechanism("bouncing-ball", Set{{"scheme", "moreau-jean"}, {"scheme.overlap", overlap}}(
                                                             "e", e)("step", h)("z0", z0)("v0", 0)));
        bool risen = false;
        double top = 0;
        while (simulation.advance()) {
            const double v = simulation.state().v[0];
            risen = risen || v > 0;
            if (risen) top = std::max(top, simulation.state().q[0]);
            if (risen && v < 0) break;
        }
        sum += std::abs(top - e * e * z0);
    }
    return sum / heights;
}

TEST(Overlap, HeightsOfBouncesConvergeAsWellAsWithoutPushing) {
    for (const double e : {0.3, 0.5, 0.9}) {
        const std::vector<double> steps{4e-3, 2e-3, 1e-3, 5e-4};
        std::vector<double> pushed, left;
        for (const double h : steps) {
            pushed.push_back(apex_error(e, h, "push"));
            left.push_back(apex_error(e, h, "leave"));
        }
        const std::string numbers = note("pushed", pushed) + "; " + note("left", left);
        EXPECT_GT(observed_order(pushed), 0.8) << e << ": " << numbers;
        for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_LE(pushed[i], 1.05 * left[i]) << e << ": " << numbers;
    }
}

// A box that rebounds lies down and stays: it would rock from edge to edge for ever, since falls of one step sink in, and moving it out
// of that gives back what the impacts take.
TEST(PushOut, BoxesThatReboundComeToRestInCoarseSteps) {
    const char* const text = R"(
stickslip: 1
let: {e: 0.1, tilt: 5, a: 0.4}
materials: {default: {friction: 0.3, restitution: e}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box: {pose: {at: [0, 0, 1.5*a], rpy_deg: [tilt, 5, 0]}, mass: 1, shapes: [{box: [a, 0.75*a, a/2]}]}
run: {step: 1/60, end: 16}
)";
    for (const double e : {0.1, 0.3, 0.6})
        for (const double tilt : {5.0, 30.0, 80.0})
            for (const double a : {0.1, 0.4}) {
                const Settled out = settle(text, 6, Set{}("e", e)("tilt", tilt)("a", a));
                EXPECT_LE(out.creep, 1e-12) << e << ' ' << tilt << ' ' << a;
                EXPECT_LE(out.overlap, 1e-3 * a) << e << ' ' << tilt << ' ' << a;
            }
}

// What no force presses together rebounds however slowly it arrives: here a hundredth to all of g h.
TEST(PushOut, SlowImpactsAcrossGravityRebound) {
    const char* const text = R"(
stickslip: 1
let: {u: 0.1}
materials: {default: {friction: 0, restitution: 0.8}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  wall: {fixed: true, shapes: [{half-space: {normal: [-1, 0, 0]}}]}
  ball: {pose: [-0.1 - 10*u/60, 0, 0.1], velocity: [u, 0, 0], mass: 1, shapes: [{sphere: 0.1}]}
run: {step: 1/60, end: 0.5}
)";
    for (const double share : {0.01, 0.3, 1.0}) {
        const double u = share * g * coarse;
        const RunSummary end = Simulation(scene_text(text, Set{}("u", u))).run();
        EXPECT_NEAR(end.v[0], -0.8 * u, 1e-12) << share;
    }
}

// Where overlap is left, stabilisation lifts it out by velocities, slowly: restitution stays what it is, and a plastic ball comes to rest.
TEST(ContactStabilisation, KeepsRestitutionAndConverges) {
    const double z0 = 0.8, fall = std::sqrt(2 * z0 / g);
    for (const double chi : {0.3, 1.0}) {
        for (const double e : {0.0, 0.6}) {
            for (const double h : {4e-3, 1e-3, 2.5e-4}) {
                Simulation simulation(mechanism(
                    "bouncing-ball",
                    Set{{"scheme", "moreau-jean"}, {"scheme.overlap", "leave"}}("scheme.contact_stabilisation", chi)(
                        "e", e)("z0", z0)("run.step", h)("run.end", 1.5 * fall)));
                const RunSummary end = simulation.run();
                const std::string numbers = note("chi, e, h", {chi, e, h});
                ASSERT_EQ(end.end, RunEnd::finished) << numbers << end.reason;
                // The impact is up to a step late and its overlap, half a step deep, may still be there.
                const double speed = g * fall, after = fall / 2;
                EXPECT_NEAR(end.q[0], e * speed * after - (e > 0 ? g * after * after / 2 : 0.0), 2 * speed * h)
                    << numbers;
                EXPECT_NEAR(end.v[0], e > 0 ? e * speed - g * after : 0.0, 3 * g * h) << numbers;
            }
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
