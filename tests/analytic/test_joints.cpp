// Joints at work: swings of ten seconds, limits, motors, brakes and friction, gears, closed loops.
#include <fmt/format.h>

#include "runs.hpp"

namespace stickslip::analytic {
namespace {

// One scene per joint kind in which everything that the joint leaves free moves, with consistent velocities.
struct Swing {
    const char* joint;
    const char* text;
};

const std::vector<Swing>& swings() {
    static const std::vector<Swing> list{{"ball", R"(
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}], velocity: [0, 0.4, 0], angular_velocity: [0, 0, 1]}}
joints: {j: {ball: {a: ground, b: b, at: [0, 0, 0]}}}
)"},
                                         {"revolute", R"(
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]}}
joints: {j: {revolute: {a: ground, b: b, at: [0, 0, 0], axis: [0.2, 1, 0.1]}}}
)"},
                                         {"prismatic", R"(
gravity: [0, 0, -9.81]
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}], velocity: [0.6, 0, 0.12]}}
joints: {j: {prismatic: {a: ground, b: b, at: [0, 0, 0], axis: [1, 0, 0.2]}}}
forces: {s: {spring: {a: ground, b: b, at_a: [-2, 0, -0.4], stiffness: 20, length: 2}}}
)"},
                                         {"cylindrical", R"(
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]}}
joints: {j: {cylindrical: {a: ground, b: b, at: [0, 0, 0], axis: [0, 1, 0]}}}
forces: {s: {spring: {a: ground, b: b, at_a: [0, -2, 0], at_b: [-0.4, 0, 0], stiffness: 20, length: 1.5}}}
)"},
                                         {"screw", R"(
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]}}
joints: {j: {screw: {a: ground, b: b, at: [0, 0, 0], axis: [0, 1, 0], pitch: -0.4}}}
forces: {s: {spring: {a: ground, b: b, at_a: [0, -2, 0], at_b: [-0.4, 0, 0], stiffness: 20, length: 1.5}}}
)"},
                                         {"universal", R"(
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]}}
joints: {j: {universal: {a: ground, b: b, at: [0, 0, 0], axis: [0, 1, 0], axis_b: [0.6, 0, 0.8]}}}
)"},
                                         {"planar", R"(
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}], velocity: [0.3, 0.2, 0], angular_velocity: [0, 0, 2]}}
joints: {j: {planar: {a: ground, b: b, at: [0, 0, 0], axis: [0, 0, 1]}}}
forces: {s: {spring: {a: ground, b: b, at_b: [0.3, 0, 0], stiffness: 20, length: 0.5}}}
)"},
                                         {"distance", R"(
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]}}
joints: {j: {distance: {a: ground, b: b, at_a: [0, 0, 0.5]}}}
)"},
                                         {"gear", R"(
bodies:
  b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]}
  c: {pose: [1.5, 0, 0], mass: 1, shapes: [{box: [0.2, 0.2, 0.2]}]}
joints:
  j: {revolute: {a: ground, b: b, at: [0, 0, 0], axis: [0, 1, 0]}}
  k: {revolute: {a: ground, b: c, at: [1.5, 0, 0], axis: [0, 0, 1]}}
  m: {gear: {first: k, second: j, ratio: -3}}
)"},
                                         {"rack-pinion", R"(
bodies:
  b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]}
  c: {pose: [1.5, 0, 0], mass: 1, shapes: [{box: [0.2, 0.2, 0.2]}]}
joints:
  j: {revolute: {a: ground, b: b, at: [0, 0, 0], axis: [0, 1, 0]}}
  k: {prismatic: {a: ground, b: c, at: [1.5, 0, 0], axis: [1, 0, 0]}}
  m: {rack-pinion: {rack: k, pinion: j, radius: 0.2}}
)"}};
    return list;
}

class Joints : public ::testing::TestWithParam<std::string> {};

// Energy and drift of ten seconds: both fall with the step, and what is lost is the scheme's own loss.
TEST_P(Joints, TenSecondsOfSwingingKeepTheEnergyUpToTheScheme) {
    for (const Swing& swing : swings()) {
        std::vector<double> energy, drift;
        for (const double h : {2e-3, 1e-3, 5e-4}) {
            Model model = scene_text(std::string("stickslip: 1\n") + swing.text + "run: {end: 10}\n",
                                     Set{{"run.scheme", GetParam()}}("run.step", h));
            Simulation simulation(std::move(model));
            const RunSummary end = simulation.run();
            ASSERT_EQ(end.end, RunEnd::finished) << swing.joint << ": " << end.reason;
            const Energies& start = simulation.step().ledger.start();
            const double change = (end.energies.kinetic + end.energies.potential + end.energies.elastic) -
                                  (start.kinetic + start.potential + start.elastic);
            EXPECT_LE(std::abs(end.imbalance), 1e-11 * end.energy_scale) << swing.joint;
            // nothing but the scheme takes or gives
            EXPECT_NEAR(change, -end.flows.scheme_loss - end.flows.regularisation_loss, 1e-9 * end.energy_scale)
                << swing.joint;
            energy.push_back(std::abs(change) / end.energy_scale);
            drift.push_back(end.joint_violation.position_max);
        }
        const std::string numbers = note(std::string(swing.joint) + "_energy", energy) + "; " +
                                    note(std::string(swing.joint) + "_drift", drift);
        std::printf("[ drift    ] %s %s: energy %.2g of the scale, joints %.2g m in 10 s at h = 1e-3\n",
                    GetParam().c_str(), swing.joint, energy[1], drift[1]);
        // both schemes lose in proportion to the step; extrapolated to no step nothing is lost
        EXPECT_LT(std::abs(2 * energy[2] - energy[1]), 0.03) << swing.joint << " " << numbers;
        if (energy.back() > 1e-6) {
            EXPECT_GT(observed_order(energy), 0.8) << swing.joint << " " << numbers;
        }
        EXPECT_LT(drift.back(), 0.1) << swing.joint << " " << numbers;
        if (drift.back() > 1e-9) {
            EXPECT_GT(observed_order(drift), 0.8) << swing.joint << " " << numbers;
        }
    }
}

// With theta 1 and full stabilisation the joints stay closed to second order in the step.
TEST(Joint, StabilisationKeepsJointsClosed) {
    for (const Swing& swing : swings()) {
        const RunSummary end =
            run(scene_text(std::string("stickslip: 1\n") + swing.text + "run: {end: 10, step: 1e-3}\n",
                           Set{{"run.scheme", "{name: moreau-jean, theta: 1, stabilisation: 1}"}}));
        EXPECT_LT(end.joint_violation.position_max, 1e-4) << swing.joint;
    }
}

TEST_P(Joints, FixedJointsHoldABeamStill) {
    const RunSummary end = run(scene_text(R"(
stickslip: 1
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]}}
joints: {j: {fixed: {a: ground, b: b, at: [0, 0, 0]}}}
run: {end: 10, step: 1e-2}
)",
                                          Set{{"run.scheme", GetParam()}}));
    EXPECT_LT((end.q.head(3) - Vec3(0.4, 0, 0)).norm(), 1e-12);
    EXPECT_LT(end.v.norm(), 1e-12);
}

// A pendulum between stops, hinges and slides, at coarse and fine steps and with every solver: never passed by 1e-6.
TEST_P(Joints, LimitsAreNeverPassed) {
    const char* hinge = R"(
stickslip: 1
bodies: {b: {pose: [0.4, 0, 0], mass: 2, shapes: [{box: [0.8, 0.1, 0.2]}]},
         c: {pose: [0.4, 0, -0.5], mass: 1, shapes: [{box: [0.1, 0.1, 0.8]}]}}
joints:
  j: {revolute: {a: ground, b: b, at: [0, 0, 0], axis: [0, 1, 0], limits: {lower: -0.3, upper: 0.9, restitution: 0.5}}}
  k: {revolute: {a: b, b: c, at: [0.4, 0, -0.1], axis: [0, 1, 0], limits: [-0.5, 0.4]}}
run: {end: 3}
)";
    const char* slide = R"(
stickslip: 1
bodies: {b: {pose: [0, 0, 0], mass: 2, shapes: [{box: [0.2, 0.2, 0.2]}], velocity: [0.6, 0, 0.8]}}
joints: {j: {prismatic: {a: ground, b: b, at: [0, 0, 0], axis: [0.6, 0, 0.8], limits: {lower: -0.2, upper: 0.05, restitution: 0.9}}}}
run: {end: 3}
)";
    const char* rope = R"(
stickslip: 1
bodies: {b: {pose: [0.3, 0, 0], mass: 2, shapes: [{sphere: 0.1}]}}
joints: {j: {distance: {a: ground, b: b, at_a: [0, 0, 0.2], limits: [0, 0.8]}}}
run: {end: 3}
)";
    for (const char* text : {hinge, slide, rope}) {
        for (const char* step : {"1e-2", "1e-3"}) {
            for (const char* solver : {"auto", "lemke", "nsgs"}) {
                Simulation simulation(scene_text(text, Set{{"run.scheme", GetParam()},
                                                           {"run.step", step},
                                                           {"run.solver", solver},
                                                           {"contacts.cone", "{polygon: 4}"}}));
                double worst = 0;
                long hits = 0;
                ContactRows limits;
                while (simulation.advance()) {
                    simulation.model().system->limits(simulation.state().q, limits);
                    for (const double gap : limits.gap) worst = std::max(worst, -gap);
                    hits += static_cast<long>(simulation.step().contacts.size());
                }
                EXPECT_GE(simulation.state().t, 3) << solver;
                EXPECT_LE(worst, 1e-6) << solver << " " << step << text;
                EXPECT_GT(hits, 0) << solver << " " << step << text;
            }
        }
    }
}

// Ropes go slack and pull tight: between two tight phases the bob flies free.
TEST(Joint, RopePullsAndNeverPushes) {
    Simulation simulation(scene_text(R"(
stickslip: 1
bodies: {b: {pose: [0.3, 0, 0], mass: 2, shapes: [{sphere: 0.1}]}}
joints: {rope: {distance: {a: ground, b: b, at_a: [0, 0, 0], limits: [0, 0.8]}}}
run: {end: 0.3, step: 1e-3}
)"));
    while (simulation.advance()) {
    }
    // free fall of 0.3 s: 0.44 m down, |(0.3, 0.44)| < 0.8: still slack
    EXPECT_NEAR(simulation.state().q[2], -0.5 * g * 0.09, 1e-12);
}

TEST_P(Joints, MotorsNeverExceedTheirTorqueAndReachTheirSpeed) {
    for (const char* solver : {"auto", "lemke", "nsgs"}) {
        Simulation simulation(
            scene_text(R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {b: {pose: [0, 0, 0], mass: 2, inertia: 0.5}}
joints: {j: {revolute: {a: ground, b: b, at: [0, 0, 0], axis: [0, 0, 1], motor: {speed: 6, max_torque: 2}}}}
run: {end: 2.5, step: 1e-3}
)",
                       Set{{"run.scheme", GetParam()}, {"run.solver", solver}, {"contacts.cone", "{polygon: 4}"}}));
        while (simulation.advance()) {
            const Step& step = simulation.step();
            for (int i = 0; i < step.problem.joints.size(); ++i)
                if (step.problem.joints.kind[i] == RowKind::velocity) {
                    ASSERT_LE(std::abs(step.solution.lambda[i]), 2e-3 * (1 + 1e-12));
                }
            // 4 rad/s^2 until 6 rad/s at t = 1.5 s
            ASSERT_NEAR(simulation.state().v[5], std::min(4 * simulation.state().t, 6.0), 5e-3);
        }
        EXPECT_NEAR(simulation.state().v[5], 6, 1e-12);
    }
}

// A position motor against gravity: it follows its target; with too little torque it hangs where the torque balances.
TEST_P(Joints, PositionMotorFollowsItsTarget) {
    const std::string text = R"(
stickslip: 1
bodies: {b: {pose: [0.5, 0, 0], mass: 2, shapes: [{box: [1, 0.1, 0.1]}]}}
joints: {j: {revolute: {a: ground, b: b, at: [0, 0, 0], axis: [0, 1, 0], motor: {position: sin(2*t), max_torque: most}}}}
run: {end: 6, step: 1e-3}
)";
    Simulation simulation(scene_text("let: {most: 100}\n" + text, Set{{"run.scheme", GetParam()}}));
    while (simulation.advance()) {
        if (simulation.state().t > 1) {
            ASSERT_NEAR(simulation.state().q[7], std::sin(2 * simulation.state().t), 5e-3);
        }
    }
    Simulation weak(scene_text("let: {most: 5}\n" + text, Set{{"run.scheme", GetParam()}}));
    double largest = 0;
    while (weak.advance()) {
        const Step& step = weak.step();
        for (int i = 0; i < step.problem.joints.size(); ++i)
            if (step.problem.joints.kind[i] == RowKind::velocity)
                largest = std::max(largest, std::abs(step.solution.lambda[i]) / 1e-3);
    }
    EXPECT_LE(largest, 5 * (1 + 1e-12));
}

// Dry friction: constant deceleration, then exact rest; below the friction torque a load moves nothing.
TEST_P(Joints, DryFrictionStopsAHingeAndHoldsIt) {
    for (const char* solver : {"auto", "lemke", "nsgs"}) {
        Simulation simulation(
            scene_text(R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {b: {pose: [0, 0, 0], mass: 2, inertia: 0.5, angular_velocity: [0, 0, 3]}}
joints: {j: {revolute: {a: ground, b: b, at: [0, 0, 0], axis: [0, 0, 1], friction: 1}}}
forces: {l: {load: {body: b, torque: [0, 0, 0.9*sin(40*t)], from: 2}}}
run: {end: 4, step: 1e-3}
)",
                       Set{{"run.scheme", GetParam()}, {"run.solver", solver}, {"contacts.cone", "{polygon: 4}"}}));
        double angle = 0;
        while (simulation.advance()) {
            const State& x = simulation.state();
            if (x.t < 1.999) {
                ASSERT_NEAR(x.v[5], std::max(3 - 2 * x.t, 0.0), 1e-2);
                angle = 2 * std::atan2(x.q[6], x.q[3]);
            } else {
                ASSERT_NEAR(2 * std::atan2(x.q[6], x.q[3]), angle, 1e-12) << x.t;
            }
        }
        EXPECT_NEAR(angle, 2.25, 5e-3);
        EXPECT_NEAR(simulation.step().ledger.flows().friction_loss, 2.25, 1e-2);
    }
}

TEST_P(Joints, BrakeComesOnWithTime) {
    Simulation simulation(scene_text(R"(
stickslip: 1
gravity: [0, 0, 0]
bodies: {b: {pose: [0, 0, 0], mass: 2, inertia: 0.5, velocity: [0, 0, 2]}}
joints: {j: {prismatic: {a: ground, b: b, at: [0, 0, 0], axis: [0, 0, 1], brake: 8*(t>1)}}}
run: {end: 2, step: 1e-3}
)",
                                     Set{{"run.scheme", GetParam()}}));
    while (simulation.advance()) {
        const double t = simulation.state().t;
        ASSERT_NEAR(simulation.state().v[2], t < 1 ? 2 : std::max(2 - 4 * (t - 1), 0.0), 1.3e-2) << t;
    }
    EXPECT_NEAR(simulation.state().v[2], 0, 1e-14);
}

// A train of two gears and a rack, driven by a weight: acceleration from the reduced inertia.
TEST_P(Joints, GearsReflectInertia) {
    // weight m on a rack (radius r on wheel 1), wheel 2 turns -2 times wheel 1: (m + J1/r^2 + 4 J2/r^2) a = m g
    Simulation simulation(scene_text(R"(
stickslip: 1
bodies:
  rack: {pose: [0.1, 0, 0], mass: 3, inertia: 1}
  one: {pose: [0, 0, 0], mass: 1, inertia: 0.02}
  two: {pose: [-0.5, 0, 0], mass: 1, inertia: 0.01}
joints:
  guide: {prismatic: {a: ground, b: rack, at: [0.1, 0, 0], axis: [0, 0, 1]}}
  axle_1: {revolute: {a: ground, b: one, at: [0, 0, 0], axis: [0, 1, 0]}}
  axle_2: {revolute: {a: ground, b: two, at: [-0.5, 0, 0], axis: [0, 1, 0]}}
  teeth: {rack-pinion: {rack: guide, pinion: axle_1, radius: -0.1}}
  mesh: {gear: {first: axle_2, second: axle_1, ratio: -2}}
run: {end: 2, step: 1e-3}
)",
                                     Set{{"run.scheme", GetParam()}}));
    while (simulation.advance()) {
    }
    const double a = 3 * g / (3 + 0.02 / 0.01 + 4 * 0.01 / 0.01);
    EXPECT_NEAR(simulation.state().v[2], -2 * a, 1e-9);
    EXPECT_NEAR(simulation.state().v[6 + 4], 20 * a, 1e-7);
    EXPECT_NEAR(simulation.state().v[12 + 4], -40 * a, 1e-7);
    EXPECT_NEAR(simulation.state().q[2], -2 * a, 2e-2);
}

// Of a nut with m = 2 kg and I = 0.05 kg m^2 on a vertical screw, k = pitch / (2 pi): (m + I/k^2) a = -m g, and the angle is the
// height over k, however many turns that is.
TEST_P(Joints, NutFallsAlongAScrew) {
    for (const double pitch : {0.5, -0.2}) {
        Simulation simulation(scene_text(fmt::format(R"(
stickslip: 1
bodies: {{nut: {{pose: [0, 0, 0], mass: 2, inertia: 0.05}}}}
joints: {{thread: {{screw: {{a: ground, b: nut, at: [0, 0, 0], axis: [0, 0, 1], pitch: {}}}}}}}
run: {{end: 2, step: 1e-3}}
)",
                                                     pitch),
                                         Set{{"run.scheme", GetParam()}}));
        const double k = pitch / (2 * pi), a = g / (1 + 0.05 / (2 * k * k));
        while (simulation.advance()) {
            const State& x = simulation.state();
            ASSERT_NEAR(x.v[2], -a * x.t, 1e-9 * a) << pitch;
            ASSERT_NEAR(x.v[5], -a * x.t / k, 1e-9 * a / std::abs(k)) << pitch;
            ASSERT_NEAR(x.q[7], x.q[2] / k, 1e-6) << pitch;
        }
        EXPECT_NEAR(simulation.state().q[2], -2 * a, 2e-3 * a);
        EXPECT_GT(std::abs(simulation.state().q[7]), 2 * pi) << "more than a turn";
        EXPECT_NEAR(simulation.run().energies.kinetic, 0.5 * (2 + 0.05 / (k * k)) * 4 * a * a, 1e-8);
    }
}

// A torque about the axis of a screw balances an axial force: M = m g k.
TEST_P(Joints, ScrewHoldsAWeightByATorque) {
    const double k = 0.5 / (2 * pi), needed = 2 * g * k;
    for (const double share : {1.01, 0.5}) {
        Simulation simulation(scene_text(fmt::format(R"(
stickslip: 1
bodies: {{nut: {{pose: [0, 0, 0], mass: 2, inertia: 0.05}}}}
joints:
  thread:
    {{screw: {{a: ground, b: nut, at: [0, 0, 0], axis: [0, 0, 1], pitch: 0.5, angle: {{friction: {}}}, slide: {{limits: [-0.3, 1]}}}}}}
run: {{end: 3, step: 1e-3}}
)",
                                                     share * needed),
                                         Set{{"run.scheme", GetParam()}}));
        const double a = share > 1 ? 0 : (1 - share) * g / (1 + 0.05 / (2 * k * k));
        while (simulation.advance() && simulation.state().q[2] > -0.25)
            ASSERT_NEAR(simulation.state().v[2], -a * simulation.state().t, 1e-9);
        simulation.run();
        // Where friction is too weak the nut comes to rest at the limit.
        EXPECT_NEAR(simulation.state().q[2], share > 1 ? 0 : -0.3, 1e-3);
        EXPECT_NEAR(simulation.state().v[2], 0, 1e-9);
    }
}

TEST_P(Joints, MotorOnAScrewLiftsByThePitch) {
    Simulation simulation(scene_text(R"(
stickslip: 1
bodies: {nut: {pose: [0, 0, 0], mass: 2, inertia: 0.05}}
joints: {thread: {screw: {a: ground, b: nut, at: [0, 0, 0], axis: [0, 0, 1], pitch: 0.02, angle: {motor: {speed: 4*pi}}}}}
run: {end: 1, step: 1e-3}
)",
                                     Set{{"run.scheme", GetParam()}}));
    while (simulation.advance()) ASSERT_NEAR(simulation.state().v[2], 0.04, 1e-9);
    // The nut starts at rest: a scheme that moves with the old velocity is one step of 1e-3 s behind, and no more than rounding beyond.
    constexpr double one_step = 1e-3 + 1e-12;
    EXPECT_NEAR(simulation.state().q[7], 4 * pi, 4 * pi * one_step);
    EXPECT_NEAR(simulation.state().q[2], 0.04, 0.04 * one_step);
}

// Cardan error at the bend angle b. The pin of the driving yoke is p1 = (0, -sin in, cos in), that of the driven one
// p2 = (-sin b cos out, cos b cos out, sin out), and p1.p2 = 0 gives tan(out) = tan(in) cos(b).
TEST(Joint, UniversalJointTransmitsWithTheCardanError) {
    Simulation simulation(scene_text(R"(
stickslip: 1
let: {b: pi/6}
gravity: [0, 0, 0]
bodies:
  in: {pose: [-0.5, 0, 0], mass: 1, inertia: 0.1}
  out: {pose: {at: [0.5*cos(b), 0.5*sin(b), 0], rpy_deg: [0, 0, 30]}, mass: 1, inertia: 0.1}
joints:
  shaft: {revolute: {a: ground, b: in, at: [-0.5, 0, 0], axis: [1, 0, 0], motor: {speed: 2}}}
  cross: {universal: {a: in, b: out, at: [0, 0, 0], axis: [0, 0, 1], axis_b: [-sin(b), cos(b), 0]}}
  exit: {cylindrical: {a: ground, b: out, at: [0.5*cos(b), 0.5*sin(b), 0], axis: [cos(b), sin(b), 0], angle: {friction: 0.01}}}
run: {end: 3, step: 5e-4, scheme: {name: moreau-jean, theta: 1, stabilisation: 1}}
)"));
    while (simulation.advance()) {
        const State& x = simulation.state();
        if (x.t < 0.1) continue;
        // the counted angle of `exit` is the last entry of q, that of the motor the one before
        const double in = x.q[14], out = x.q[15];
        ASSERT_NEAR(std::sin(out) * std::cos(in), std::sin(in) * std::cos(out) * std::cos(pi / 6), 5e-3) << x.t;
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Joints, ::testing::ValuesIn(velocity_level_schemes()),
                         [](const auto& test) { return word_of(test.param); });

}  // namespace
}  // namespace stickslip::analytic
