// Edits between steps, judged by closed forms and by laws: what is cut flies freely, what is joined keeps its momentum, the
// ledger closes, runs repeat to the bit, also when they are resumed, and nobody else notices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "stickslip/edit.hpp"
#include "stickslip/load.hpp"
#include "stickslip/mechanism.hpp"
#include "stickslip/record.hpp"
#include "support/families.hpp"

namespace stickslip {
namespace {

constexpr double g = 9.81;

Model model_of(const std::string& text, const std::string& scheme = "moreau-jean", const OptionValues& more = {}) {
    OptionValues values{{"run.scheme", scheme, {}}};
    values.insert(values.end(), more.begin(), more.end());
    return build_model(read_scene_text(text, "test.yaml", values));
}

int body_of(const Simulation& simulation, const std::string& name) {
    const std::vector<std::string> names = simulation.model().system->body_names();
    return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

BodyState state_of(const Simulation& simulation, const std::string& name) {
    return simulation.model().system->body_state(body_of(simulation, name), simulation.state().q, simulation.state().v);
}

void expect_closed(const Simulation& simulation) {
    const EnergyLedger& ledger = simulation.step().ledger;
    EXPECT_LE(std::abs(ledger.imbalance()), 1e-12 * ledger.scale());
}

class EveryEdit : public ::testing::TestWithParam<std::string> {};

const char* const pendulum = R"(
stickslip: 1
bodies:
  bob: {pose: [1, 0, 0], mass: 2, inertia: [0.01, 0.02, 0.03]}
joints:
  pin: {revolute: {a: ground, b: bob, at: [0, 0, 0], axis: [0, 1, 0], limits: [-10, 10]}}
actions:
  - {at: 0.4375, cut: pin}
run: {step: 2^-10, end: 1}
)";

TEST_P(EveryEdit, BobOfACutPendulumFliesOnAParabola) {
    Simulation simulation(model_of(pendulum, GetParam()));
    while (simulation.state().t < 0.4375) ASSERT_TRUE(simulation.advance());
    ASSERT_EQ(simulation.state().t, 0.4375);
    const BodyState at_cut = state_of(simulation, "bob");
    ASSERT_EQ(simulation.step().events.size(), 1u);
    const Event& event = simulation.step().events[0];
    EXPECT_EQ(event.kind, EventKind::cut);
    EXPECT_EQ(event.t, 0.4375);
    EXPECT_EQ(simulation.model().system->who(event), "pin");
    const double energy = simulation.step().ledger.now().kinetic + simulation.step().ledger.now().potential;
    while (simulation.advance()) {
        const double t = simulation.state().t - 0.4375;
        const BodyState now = state_of(simulation, "bob");
        const Vec3 fallen(0, 0, -g * t * t / 2);
        // The explicit scheme moves with the old velocity: g h t/2 higher, exactly.
        const Vec3 lag = GetParam() == "euler" ? Vec3(0, 0, g * t * 0x1p-11) : Vec3::Zero();
        EXPECT_LT((now.pose.position - at_cut.pose.position - at_cut.velocity * t - fallen - lag).norm(), 1e-12);
        EXPECT_LT((now.velocity - at_cut.velocity - Vec3(0, 0, -g * t)).norm(), 1e-12);
        EXPECT_LT((now.angular_velocity - at_cut.angular_velocity).norm(), 1e-12);
    }
    EXPECT_EQ(simulation.step().ledger.flows().edits, 0);
    expect_closed(simulation);
    const double after = simulation.step().ledger.now().kinetic + simulation.step().ledger.now().potential;
    if (GetParam() == "moreau-jean") {
        EXPECT_NEAR(after, energy, 1e-11);
    }
}

// Two bodies fly towards each other, spinning, and are welded when they have the distance at which the joint closes.
const char* const welded = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies:
  a: {pose: [0, 0, 0], mass: 2, inertia: [0.3, 0.4, 0.5], velocity: [1, 0.25, 0], angular_velocity: [0.5, 0.1, -2]}
  b: {pose: [2, 0.5, 0.25], mass: 3, inertia: [0.2, 0.5, 0.6], velocity: [-1, 0, 0.5], angular_velocity: [0, 3, 0.5]}
  far: {pose: [0, 9, 0], mass: 1, inertia: 1, velocity: [1, 2, 3]}
actions:
  - {at: 0.5, attach: {grip: {fixed: {a: a, b: b}}}}
run: {step: 2^-8, end: 0.625}
)";

struct Momentum {
    Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
    double kinetic = 0;
};

Momentum momentum_of(const Simulation& simulation) {
    Momentum sum;
    const std::vector<std::tuple<std::string, double, Vec3>> bodies{{"a", 2, {0.3, 0.4, 0.5}},
                                                                    {"b", 3, {0.2, 0.5, 0.6}}};
    for (const auto& [name, mass, inertia] : bodies) {
        const BodyState x = state_of(simulation, name);
        const Mat3 R = x.pose.attitude.toRotationMatrix();
        const Vec3 spin = R * inertia.asDiagonal() * R.transpose() * x.angular_velocity;
        sum.linear += mass * x.velocity;
        sum.angular += mass * x.pose.position.cross(x.velocity) + spin;
        sum.kinetic += mass * x.velocity.squaredNorm() / 2 + spin.dot(x.angular_velocity) / 2;
    }
    return sum;
}

TEST_P(EveryEdit, WeldingTwoBodiesInFlightConservesMomentum) {
    Simulation simulation(model_of(welded, GetParam()));
    Simulation before(
        model_of(std::string(welded).replace(std::string(welded).find("at: 0.5,"), 8, "at: 9,  "), GetParam()));
    while (simulation.state().t < 0.5) ASSERT_TRUE(simulation.advance());
    while (before.state().t < 0.5) ASSERT_TRUE(before.advance());
    const Momentum p0 = momentum_of(before), p1 = momentum_of(simulation);
    EXPECT_LT((p1.linear - p0.linear).norm(), 1e-13);
    EXPECT_LT((p1.angular - p0.angular).norm(), 1e-13);
    // They now move as one body.
    const BodyState a = state_of(simulation, "a"), b = state_of(simulation, "b");
    EXPECT_LT((a.angular_velocity - b.angular_velocity).norm(), 1e-12);
    EXPECT_LT((b.velocity - a.velocity - a.angular_velocity.cross(b.pose.position - a.pose.position)).norm(), 1e-12);
    // What was lost is the kinetic energy of the relative motion, and it is booked as such.
    EXPECT_GT(p0.kinetic - p1.kinetic, 1);
    EXPECT_NEAR(simulation.step().ledger.flows().impact_loss, p0.kinetic - p1.kinetic, 1e-12);
    EXPECT_EQ(simulation.step().ledger.flows().edits, 0);
    expect_closed(simulation);
    EXPECT_LT((state_of(simulation, "far").velocity - Vec3(1, 2, 3)).norm(), 1e-15);
    const Event& event = simulation.step().events.back();
    EXPECT_EQ(event.kind, EventKind::attach);
    EXPECT_EQ(simulation.model().system->who(event), "grip");
    EXPECT_GT(event.impulse, 1);
    while (simulation.advance()) {
    }
    EXPECT_GE(simulation.state().t, 0.625);
    expect_closed(simulation);
}

TEST_P(EveryEdit, AJointThatClosesALoopStopsItWithoutContradiction) {
    // Two pendulums whose joints have drifted, as every velocity-level scheme lets them, become one rigid triangle: more rows
    // than freedoms, and all of them must hold at once.
    const char* text = R"(
stickslip: 1
bodies:
  one: {pose: [1, 0, 0], mass: 1, inertia: 0.1}
  two: {pose: [3, 0, 0], mass: 2, inertia: 0.2}
  elsewhere: {pose: [9, 0, 0], mass: 1, inertia: 0.1}
joints:
  left: {revolute: {a: ground, b: one, at: [0, 0, 0], axis: [0, 1, 0]}}
  right: {revolute: {a: ground, b: two, at: [4, 0, 0], axis: [0, 1, 0]}}
  third: {revolute: {a: ground, b: elsewhere, at: [8, 0, 0], axis: [0, 1, 0]}}
actions: [{at: 0.3, attach: {weld: {fixed: {a: one, b: two}}}}]
run: {step: 1e-3, end: 0.4}
)";
    Simulation simulation(model_of(text, GetParam()));
    while (simulation.state().t < 0.3 - 1e-9) ASSERT_TRUE(simulation.advance());
    ASSERT_EQ(simulation.step().events.size(), 1u);
    EXPECT_LT(state_of(simulation, "one").velocity.norm(), 1e-9);
    EXPECT_LT(state_of(simulation, "two").velocity.norm(), 1e-9);
    EXPECT_GT(state_of(simulation, "elsewhere").velocity.norm(), 1.5);
    // The third pendulum keeps even the speed along its rod that the step before has left.
    Simulation alone(
        model_of(std::string(text).replace(std::string(text).find("at: 0.3,"), 8, "at: 9,  "), GetParam()));
    while (alone.state().t < 0.3 - 1e-9) ASSERT_TRUE(alone.advance());
    EXPECT_LT((state_of(simulation, "elsewhere").velocity - state_of(alone, "elsewhere").velocity).norm(), 1e-14);
    while (simulation.advance()) {
    }
    EXPECT_EQ(simulation.state().t, 0.4);
    EXPECT_LT(state_of(simulation, "one").velocity.norm(), 1e-9);
    expect_closed(simulation);
}

TEST(Edits, AnAttachedHingeTurnsFromItsStart) {
    const std::string text = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies:
  arm: {pose: [1, 0, 0], mass: 1, inertia: 1, velocity: [0, 2, 0], angular_velocity: [0, 0, 2]}
actions:
  - {at: 0.25, attach: {hinge: {revolute: {a: ground, b: arm, at: [1, 0.5, 0], axis: [0, 0, 1], start: 0.5, limits: [0, 20]}}}}
run: {step: 2^-10, end: 8}
)";
    Simulation simulation(model_of(text));
    const std::vector<std::string> names = simulation.model().system->coordinate_names();
    ASSERT_EQ(names.back(), "hinge.angle");  // its place is there from the start
    const Eigen::Index last = simulation.state().q.size() - 1;
    EXPECT_EQ(simulation.state().q[last], 0.5);
    while (simulation.state().t < 0.25) simulation.advance();
    EXPECT_NEAR(simulation.state().q[last], 0.5, 1e-14);
    // The hinge sits in the centre of mass, at rest: the arm turns about it at its 2 rad/s and stops at the limit.
    while (simulation.advance() && simulation.state().t < 6) {
    }
    EXPECT_NEAR(simulation.state().q[last], 0.5 + 2 * (simulation.state().t - 0.25), 1e-9);
    EXPECT_GT(simulation.state().q[last], 3.5);  // more than a turn is counted
    expect_closed(simulation);
}

TEST_P(EveryEdit, BodiesThatComeAndGoBringAndTakeTheirEnergy) {
    const std::string text = R"(
stickslip: 1
bodies:
  stone: {pose: [0, 0, 10], mass: 3, inertia: 1, velocity: [2, 0, 0]}
  late: {present: false, pose: [0, 0, 5], mass: 2, inertia: 1, velocity: [0, 1, 0]}
  other: {pose: [5, 0, 1], mass: 1, inertia: 1}
actions:
  - {at: 0.25, add: late}
  - {at: 0.5, remove: stone}
  - {at: 0.75, add: stone, pose: [1, 2, 3], velocity: [0, 0, -1]}
run: {step: 2^-8, end: 1}
)";
    Simulation simulation(model_of(text, GetParam()));
    const auto edits = [&] { return simulation.step().ledger.flows().edits; };
    const auto run_to = [&](double t) {
        while (simulation.state().t < t) ASSERT_TRUE(simulation.advance());
    };
    EXPECT_FALSE(state_of(simulation, "late").present);
    run_to(0.25 - 0x1p-8);
    EXPECT_EQ(edits(), 0);
    EXPECT_EQ(state_of(simulation, "late").velocity, Vec3::Zero());
    EXPECT_EQ(state_of(simulation, "late").pose.position, Vec3(0, 0, 5));
    run_to(0.25);
    double expected = 2 * 1.0 / 2 + 2 * g * 5;
    EXPECT_TRUE(state_of(simulation, "late").present);
    EXPECT_NEAR(edits(), expected, 1e-12 * expected);
    run_to(0.5);
    // From the closed form of its fall; the explicit scheme lags g h t/2.
    const double z = 10 - g * 0.125 + (GetParam() == "euler" ? g * 0.5 * 0x1p-9 : 0);
    expected -= 3 * (4 + std::pow(g * 0.5, 2)) / 2 + 3 * g * z;
    EXPECT_NEAR(edits(), expected, 1e-11 * std::abs(expected));
    EXPECT_FALSE(state_of(simulation, "stone").present);
    run_to(0.75);
    expected += 3 * 1.0 / 2 + 3 * g * 3;
    EXPECT_NEAR(edits(), expected, 1e-11 * std::abs(expected));
    run_to(1);
    EXPECT_NEAR(state_of(simulation, "stone").velocity.z(), -1 - g * 0.25, 1e-12);
    EXPECT_NEAR(state_of(simulation, "other").velocity.z(), -g, 1e-12);
    expect_closed(simulation);
}

TEST_P(EveryEdit, ACutSpringTakesItsEnergyAlong) {
    const std::string text = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies:
  mass: {pose: [2, 0, 0], mass: 1, inertia: 1}
forces:
  tie: {spring: {a: ground, b: mass, stiffness: 10, length: 1}}
actions: [{at: 0.25, cut: tie}]
run: {step: 2^-10, end: 0.5}
)";
    Simulation simulation(model_of(text, GetParam()));
    double elastic = 0;
    while (simulation.advance())
        if (simulation.state().t <= 0.25) {
            const double x = state_of(simulation, "mass").pose.position.x() - 1;
            elastic = 5 * x * x;
        }
    EXPECT_NEAR(simulation.step().ledger.flows().edits, -elastic, 1e-13);
    EXPECT_GT(elastic, 1);
    EXPECT_EQ(simulation.step().ledger.now().elastic, 0);
    expect_closed(simulation);
}

// Contacts, a motor, a spring, a load, and an edit of every kind.
const char* const busy = STICKSLIP_TEST_DATA "/scenes/edits.yaml";

Model busy_model(const std::string& scheme = "moreau-jean") { return load_model(busy, {{"run.scheme", scheme, {}}}); }

TEST_P(EveryEdit, RunsWithActionsRepeatAndResumeToTheSameBits) {
    const auto run_at = [&](int steps_before_snapshot) {
        Simulation through(busy_model(GetParam()));
        for (int i = 0; i < steps_before_snapshot; ++i) EXPECT_TRUE(through.advance());
        const std::vector<std::uint8_t> snapshot = through.snapshot();
        Simulation resumed(busy_model(GetParam()));
        resumed.restore(snapshot);
        EXPECT_EQ(resumed.snapshot(), snapshot);
        while (through.advance()) {
        }
        while (resumed.advance()) {
        }
        EXPECT_EQ(through.state().t, 0.6);
        EXPECT_EQ(through.snapshot(), resumed.snapshot()) << "after " << steps_before_snapshot << " steps";
        expect_closed(through);
        // And in the same object, back to before the edits.
        through.restore(snapshot);
        while (through.advance()) {
        }
        EXPECT_EQ(through.snapshot(), resumed.snapshot());
        return state_hash(through.state());
    };
    const std::string hash = run_at(0);
    for (const int steps : {50, 102, 151, 201, 260, 320, 420}) EXPECT_EQ(run_at(steps), hash);
}

// A stack that rests, and a pendulum beside it.
std::string stack_text(bool cut) {
    std::string text =
        "stickslip: 1\nbodies:\n  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}\n"
        "  bob: {pose: [9, 0, 9], mass: 1, shapes: [{sphere: 0.1}]}\n  bar: {pose: [19, 0, 9], mass: 1, inertia: 1}\n";
    for (int i = 0; i < 10; ++i)
        text += "  box" + std::to_string(i) + ": {pose: [0, 0, " + std::to_string(i) +
                ".5], mass: 1, shapes: [{box: [1, 1, 1]}]}\n";
    text +=
        "joints:\n  pin: {ball: {a: ground, b: bob, at: [8, 0, 9]}}\n"
        "  weld: {fixed: {a: ground, b: bar}}\n";
    if (cut) text += "actions: [{at: 0.1, cut: pin}]\n";
    return text + "run: {step: 1e-3, end: 0.2, solver: nsgs}\n";
}

class Iterations final : public Recorder {
public:
    void begin(const Model&, const State&, const Step&) override {}
    void write(const System&, const State&, const Step&, const StepReport& report) override {
        of_step.push_back(report.solve.iterations);
    }
    void end(const RunSummary&) override {}
    std::vector<int> of_step;
};

TEST(Edits, OthersKeepTheirWarmStarts) {
    Simulation cut(model_of(stack_text(true))), whole(model_of(stack_text(false)));
    Iterations in_cut, in_whole;
    cut.add(in_cut);
    whole.add(in_whole);
    RowVec last_p, last_lambda;
    while (whole.advance()) {
        ASSERT_TRUE(cut.advance());
        const Step& step = cut.step();
        ASSERT_EQ(cut.model().system->joint_name(step.problem.joints.id.back()), "weld");
        ASSERT_EQ(step.problem.joints.id.size(), cut.state().t <= 0.1 ? 2u : 1u);
        ASSERT_EQ(step.memory.contact, whole.step().memory.contact);
        // The guess for the stack, and for the joint that stays, is what was found in the step before; steps are equally long.
        if (last_p.size() > 0) {
            ASSERT_LE((step.guess.p - last_p).norm(), 1e-12 * last_p.norm()) << cut.state().t;
            ASSERT_LE((step.guess.lambda.tail(6) - last_lambda.tail(6)).norm(), 1e-12);
            ASSERT_NEAR(step.guess.lambda.tail(6).norm(), g * 1e-3, 1e-9);  // it carries the bar
        }
        last_p = step.solution.p;
        last_lambda = step.solution.lambda;
    }
    ASSERT_EQ(in_cut.of_step.size(), 200u);
    int most = 0;
    for (std::size_t i = 90; i < 110; ++i) {
        EXPECT_LE(in_cut.of_step[i], in_whole.of_step[i] + 1) << i;  // the cut makes no work,
        most = std::max(most, in_cut.of_step[i]);
    }
    EXPECT_GT(in_cut.of_step[0], 2 * most);  // a cold start of this stack would
}

TEST_P(EveryEdit, EditsByProgramEqualActions) {
    Simulation scene(model_of(pendulum, GetParam()));
    std::string without = pendulum;
    without.replace(without.find("actions:"), without.find("run:") - without.find("actions:"), "");
    Simulation program(model_of(without, GetParam()));
    while (scene.advance()) {
    }
    while (program.state().t < 0.4375) program.advance();
    program.edit(Edit::cut("pin"));
    program.advance();
    ASSERT_FALSE(program.step().events.empty());
    EXPECT_EQ(program.step().events[0].kind, EventKind::cut);
    while (program.advance()) {
    }
    EXPECT_EQ(state_hash(scene.state()), state_hash(program.state()));
}

Scene::Body crate(const std::string& name, const Vec3& at) {
    Scene::Body body;
    body.name = name;
    body.mass = 2;
    body.pose.position = at;
    Scene::Shape shape;
    shape.kind = "box";
    shape.edges = Vec3::Constant(0.5);
    body.shapes.push_back(shape);
    return body;
}

TEST_P(EveryEdit, NewBodiesAndJointsOfAProgramFallSwingAndRecord) {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("stickslip_edits_" + GetParam() + ".h5")).string();
    const char* text = R"(
stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  wheel: {pose: [5, 0, 2], mass: 1, shapes: [{sphere: 0.3}]}
joints:
  axle: {revolute: {a: ground, b: wheel, at: [5, 0, 2], axis: [0, 1, 0], motor: {speed: 3}}}
run: {step: 1e-3, end: 2}
)";
    Simulation simulation(model_of(text, GetParam()));
    const auto recorder = make_hdf5_recorder(file, 1e9, [&] { return simulation.snapshot(); });
    simulation.add(*recorder);
    while (simulation.state().t < 0.5) ASSERT_TRUE(simulation.advance());
    const double angle = simulation.state().q[7];
    simulation.edit(Edit::add(crate("crate", {0, 0, 0.5})));
    EXPECT_EQ(simulation.state().q[14], angle);  // the counted angle moved behind the new body
    EXPECT_NEAR(simulation.step().ledger.flows().edits, 2 * g * 0.5, 1e-12);
    Scene::Joint joint;
    joint.name = "string";
    joint.kind = "distance";
    joint.a.text = "ground";
    joint.b.text = "wheel";
    joint.at_a = Vec3(5, 0, 5);
    joint.at_b = Vec3(0, 0, 0);
    simulation.edit(Edit::attach(joint));
    simulation.edit(Edit::drive("axle", -1.0));
    while (simulation.state().t < 1) ASSERT_TRUE(simulation.advance());
    EXPECT_NEAR(state_of(simulation, "wheel").angular_velocity.y(), -1, 1e-9);
    // The step in which the motor turns round moves with the mean of both speeds, the explicit scheme with the old one.
    const double late = GetParam() == "euler" ? 4e-3 : 2e-3;
    EXPECT_NEAR(simulation.state().q[14], angle - (simulation.state().t - 0.5) + late, 1e-9);
    const std::vector<std::uint8_t> snapshot = simulation.snapshot();
    simulation.edit(Edit::cut("axle"));
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    expect_closed(simulation);
    EXPECT_NEAR(state_of(simulation, "crate").pose.position.z(), 0.25, 5e-3);
    EXPECT_NEAR(state_of(simulation, "crate").velocity.norm(), 0, 1e-9);
    EXPECT_NEAR(state_of(simulation, "wheel").pose.position.z(), 2, 1e-2);  // it hangs on the string

    const RecordContents record = read_record(file);
    EXPECT_EQ(record.q.rows(), 8);
    EXPECT_EQ(record.v.rows(), 6);
    EXPECT_EQ(record.q(7, record.q.cols() - 1), simulation.state().q[14]);
    EXPECT_EQ(record.q(0, record.q.cols() - 1), simulation.state().q[0]);
    EXPECT_EQ(record.energy(10, record.energy.cols() - 1), simulation.step().ledger.flows().edits);
    std::vector<EventKind> kinds;
    for (const Event& event : record.events)
        if (is_edit(event.kind)) kinds.push_back(event.kind);
    EXPECT_EQ(kinds, (std::vector<EventKind>{EventKind::add, EventKind::attach, EventKind::drive, EventKind::cut}));
    std::filesystem::remove(file);

    // Back in this simulation the edits are known; in another they are not.
    simulation.restore(snapshot);
    EXPECT_EQ(simulation.snapshot(), snapshot);
    EXPECT_THROW(Simulation(model_of(text, GetParam())).restore(snapshot), Error);
}

TEST(Edits, OverlappingBodiesOfACutJointStayApartFromContact) {
    // Links that overlap at their joint: pushing them apart after the cut would be an explosion.
    const char* text = R"(
stickslip: 1
bodies:
  one: {pose: [0.5, 0, 0], mass: 1, shapes: [{box: [1.2, 0.1, 0.1]}]}
  two: {pose: [1.5, 0, 0], mass: 1, shapes: [{box: [1.2, 0.1, 0.1]}]}
  three: {pose: [2.7, 0, 0], mass: 1, shapes: [{box: [1.1, 0.1, 0.1]}]}
joints:
  pin: {ball: {a: one, b: two, at: [1, 0, 0]}}
  gap: {ball: {a: two, b: three, at: [2.1, 0, 0]}}
actions: [{at: 0.1, cut: pin}, {at: 0.1, cut: gap}]
run: {step: 1e-3, end: 0.5, scheme: {name: moreau-jean, theta: 1, stabilisation: 1}}
)";
    Simulation simulation(build_model(read_scene_text(text, "test.yaml", {})));
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    EXPECT_EQ(summary.contacts.max, 0);
    EXPECT_NEAR(state_of(simulation, "one").pose.position.x(), 0.5, 1e-9);
}

TEST_P(EveryEdit, ABeadIsThreadedOnAWireAndLeavesItAgain) {
    // A straight wire at 45 degrees through the bead: threaded it keeps the speed along the wire, then slides, then flies.
    const char* text = R"(
stickslip: 1
gravity: [0, 0, -10]
bodies:
  bead: {pose: [0, 0, 0], mass: 1, inertia: 1, velocity: [4, 0, 1]}
actions:
  - {at: 0.125, attach: {wire: {point-on-curve: {a: ground, b: bead, at_b: [0, 0, 0], points: POINTS}}}}
  - {at: 0.25, cut: wire}
run: {step: 2^-11, end: 0.5}
)";
    // Where the bead is at 0.125 s: x = 0.5, z = 0.125 - 5/64 for the exact parabola; the explicit scheme is g h t/2 higher.
    const double z = 0.125 - 5.0 / 64 + (GetParam() == "euler" ? 10 * 0.125 * 0x1p-12 : 0);
    std::string shifted = text;
    const std::string points = "POINTS";
    char there[120];
    std::snprintf(there, sizeof there, "[[-0.5, 0, %.17g], [1.5, 0, %.17g]]", z - 1, z + 1);
    shifted.replace(shifted.find(points), points.size(), there);
    Simulation simulation(model_of(shifted, GetParam()));
    EXPECT_EQ(simulation.model().system->coordinate_names().back(), "wire.way");
    while (simulation.state().t < 0.125) ASSERT_TRUE(simulation.advance());
    const double along = (4 + 1 - 1.25) / 2;  // both components of the velocity along the wire, from (4, -0.25)
    EXPECT_LT((state_of(simulation, "bead").velocity - Vec3(along, 0, along)).norm(), 1e-12);
    EXPECT_NEAR(simulation.step().ledger.flows().impact_loss, (16 + 0.0625) / 2 - along * along, 1e-12);
    while (simulation.state().t < 0.25) ASSERT_TRUE(simulation.advance());
    const double later = along - 5 * 0.125;  // gravity along the wire slows both by g/2
    EXPECT_LT((state_of(simulation, "bead").velocity - Vec3(later, 0, later)).norm(), 1e-12);
    const std::vector<std::uint8_t> snapshot = simulation.snapshot();
    while (simulation.advance()) {
    }
    EXPECT_LT((state_of(simulation, "bead").velocity - Vec3(later, 0, later - 2.5)).norm(), 1e-12);
    expect_closed(simulation);
    Simulation resumed(model_of(shifted, GetParam()));
    resumed.restore(snapshot);
    while (resumed.advance()) {
    }
    EXPECT_EQ(resumed.snapshot(), simulation.snapshot());
}

TEST_P(EveryEdit, AJointThatIsNotClosedRefusesTheRunAndKeepsWhatWas) {
    const char* text = R"(
stickslip: 1
bodies:
  box: {pose: [0, 0, 5], mass: 1, shapes: [{box: [1, 1, 1]}]}
actions:
  - {at: 0.25, attach: {grip: {ball: {a: ground, at_a: [0, 0, 5], b: box, at_b: [0, 0, 0]}}}}
run: {step: 2^-8, end: 1}
)";
    Simulation simulation(model_of(text, GetParam()));
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::refused);
    EXPECT_EQ(summary.t, 0.25);
    EXPECT_NE(summary.reason.find("joint 'grip' is not closed at t = 0.25"), std::string::npos) << summary.reason;
    EXPECT_NE(summary.reason.find("test.yaml:6:25"), std::string::npos) << summary.reason;
    EXPECT_NEAR(state_of(simulation, "box").velocity.z(), -g / 4, 1e-12);
}

std::string refusal(Simulation& simulation, const Edit& edit) {
    const std::vector<std::uint8_t> before = simulation.snapshot();
    try {
        simulation.edit(edit);
    } catch (const Error& error) {
        EXPECT_EQ(simulation.snapshot(), before);
        return error.what();
    }
    ADD_FAILURE() << "the edit was made";
    return "";
}

TEST(Edits, ThatMakeNoSenseAreRefusedAndChangeNothing) {
    Simulation simulation(busy_model());
    for (int i = 0; i < 10; ++i) simulation.advance();
    const auto says = [&](const Edit& edit, const std::string& words) {
        const std::string text = refusal(simulation, edit);
        EXPECT_NE(text.find(words), std::string::npos) << text;
    };
    says(Edit::cut("hing"), "did you mean 'hinge'?");
    says(Edit::cut("grip"), "is attached later");
    says(Edit::cut("late-hinge"), "waits for a body");
    says(Edit::remove("bal"), "did you mean 'ball'?");
    says(Edit::remove("late"), "is not there");
    says(Edit::remove("ground"), "cannot be removed");
    says(Edit::add("one"), "is there already");
    says(Edit::add(crate("one", Vec3::Zero())), "a new one needs another name");
    says(Edit::add(crate("a b", Vec3::Zero())), "expected a name");
    Scene::Body heavy = crate("heavy", Vec3::Zero());
    heavy.mass = -1;
    says(Edit::add(heavy), "body 'heavy': mass: expected a number > 0 [kg], found -1");
    heavy.mass = std::nan("");
    says(Edit::add(heavy), "body 'heavy': mass: expected a number > 0 [kg], found nan");
    heavy.mass = 1;
    heavy.shapes[0].material.text = "stel";
    says(Edit::add(heavy), "no material 'stel'");
    heavy.shapes.clear();
    says(Edit::add(heavy), "body 'heavy' has no shapes, so it needs 'inertia'");
    says(Edit::drive("late-hinge", 1.0), "is not there");
    says(Edit::drive("hinge"), "nothing to change");
    Scene::Joint joint;
    joint.name = "self";
    joint.a.text = joint.b.text = "one";
    says(Edit::attach(joint), "with itself");
    joint.b.text = "late";
    says(Edit::attach(joint), "needs body 'late', which is not there");
    joint.b.text = "ball";
    joint.at_a = joint.at_b = Vec3::Zero();
    joint.kind = "ball";
    says(Edit::attach(joint), "is not closed at t = 0.01");
    joint.name = "hinge";
    says(Edit::attach(joint), "there is a joint 'hinge' already");
    joint.name = "wire";
    joint.kind = "point-on-curve";
    says(Edit::attach(joint), "point-on-curve joint 'wire' cannot be placed so");
    joint.at_a.reset();
    joint.points = {Vec3::Zero(), Vec3::Zero()};
    says(Edit::attach(joint), "of the curve coincide");
    joint.points = {Vec3::Zero(), Vec3::UnitX()};
    says(Edit::attach(joint), "is not closed at t = 0.01");

    Simulation mechanism(load_model("mechanism:pendulum"));
    EXPECT_NE(refusal(mechanism, Edit::cut("rod")).find("takes no edits"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryEdit, ::testing::ValuesIn(testing::velocity_level_schemes()),
                         [](const auto& test) { return testing::word_of(test.param); });

}  // namespace
}  // namespace stickslip
