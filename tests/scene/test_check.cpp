// The audit before a run: what is wrong is found, with its place and names; what is right is left alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "stickslip/check.hpp"
#include "support/models.hpp"

namespace stickslip {
namespace {

using testing::set;

Audit check(const std::string& text, const OptionValues& overrides = {}) {
    return check_scene(read_scene_text(text, "test.yaml", overrides));
}

std::vector<Finding> about(const Audit& audit, const std::string& topic) {
    std::vector<Finding> found;
    for (const Finding& f : audit.findings)
        if (f.topic == topic) found.push_back(f);
    return found;
}

std::string all(const Audit& audit) {
    std::string text;
    for (const Finding& f : audit.findings)
        text += std::string(to_string(f.severity)) + " [" + f.topic + "] " + f.message + "\n";
    return text;
}

bool names(const Finding& finding, const std::string& name) {
    return std::find(finding.who.begin(), finding.who.end(), name) != finding.who.end();
}

std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
}

const std::string floor_and = R"(stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
)";

TEST(Check, ShippedModelsHaveNoErrorsAndOnlyTheWedgeCanWedge) {
    for (const std::string& model : testing::every_model()) {
        const Audit audit = check_model(model);
        EXPECT_EQ(audit.count(Severity::error), 0) << model << "\n" << all(audit);
        // a cube of 1 m^3 and 1e6 kg is what stack-20-heavy is about, velocities against the joint what joint-flipflop is
        const bool doubtful = model.ends_with("wedge.yaml") || model.ends_with("stack-20-heavy.yaml") ||
                              model == "mechanism:joint-flipflop";
        EXPECT_EQ(audit.count(Severity::warning), doubtful ? 1 : 0) << model << "\n" << all(audit);
        EXPECT_EQ(about(audit, "wedging").empty(), !model.ends_with("wedge.yaml")) << model << "\n" << all(audit);
    }
}

TEST(Check, TheShippedWedgeIsNamedWithItsWalls) {
    const Audit audit = check_model(STICKSLIP_SCENES "/wedge.yaml");
    const auto found = about(audit, "wedging");
    ASSERT_EQ(found.size(), 1u) << all(audit);
    EXPECT_EQ(found[0].severity, Severity::warning);
    for (const char* name : {"wedge", "left-wall", "right-wall"}) EXPECT_TRUE(names(found[0], name)) << name;
    EXPECT_GT(found[0].place.line, 0);
    EXPECT_TRUE(about(check_model(STICKSLIP_SCENES "/wedge.yaml", {set("friction", "0.2")}), "wedging").empty());
}

// A ball between two walls that stand at the angle a to the vertical holds itself exactly when mu >= tan a: the line between
// its two contacts makes the angle a with both normals.
TEST(Check, ABallInASlotWedgesAboveTheTangentOfItsHalfAngle) {
    const std::string slot = R"(stickslip: 1
let: {a: 0.3, mu: 0.5}
materials: {default: {friction: mu}}
bodies:
  left: {fixed: true, shapes: [{half-space: {normal: [cos(a), 0, sin(a)], offset: 0}}]}
  right: {fixed: true, shapes: [{half-space: {normal: [-cos(a), 0, sin(a)], offset: 0}}]}
  ball: {pose: [0, 0, 0.1/sin(a)], mass: 1, shapes: [{sphere: 0.1}]}
)";
    for (const char* cone : {"disc", "{polygon: 8}"}) {
        for (const double a : {0.1, 0.3, 0.7, 1.2}) {
            for (const double share : {0.2, 0.99, 0.9999, 1.0001, 1.01, 3.0}) {
                const Audit audit = check(
                    slot, {set("a", number(a)), set("mu", number(share * std::tan(a))), set("contacts.cone", cone)});
                const auto found = about(audit, "wedging");
                ASSERT_EQ(found.size(), share > 1 ? 1u : 0u) << cone << " " << a << " " << share << "\n" << all(audit);
                if (share < 1) continue;
                EXPECT_EQ(found[0].severity, Severity::warning);
                for (const char* name : {"ball", "left", "right"}) EXPECT_TRUE(names(found[0], name));
                EXPECT_FALSE(names(found[0], "ground"));
            }
        }
    }
}

// Turned about the vertical and tilted about x, nothing changes; polygons turned by 22.5 degrees hold cos(22.5 deg) less along x.
TEST(Check, APolygonWedgesByTheFrictionOfItsOwnSection) {
    const std::string slot = R"(stickslip: 1
let: {a: 0.4, b: 0.3, mu: 0.5}
materials: {default: {friction: mu}}
bodies:
  left: {fixed: true, shapes: [{half-space: {normal: [cos(a)*cos(b), cos(a)*sin(b), sin(a)], offset: 0}}]}
  right: {fixed: true, shapes: [{half-space: {normal: [-cos(a)*cos(b), -cos(a)*sin(b), sin(a)], offset: 0}}]}
  ball: {pose: [0, 0, 0.1/sin(a)], mass: 1, shapes: [{sphere: 0.1}]}
)";
    const auto wedges = [&](const char* cone, double mu) {
        return !about(check(slot, {set("mu", number(mu)), set("contacts.cone", cone)}), "wedging").empty();
    };
    const double critical = std::tan(0.4);
    EXPECT_TRUE(wedges("disc", 1.001 * critical));
    EXPECT_FALSE(wedges("disc", 0.999 * critical));
    // an inscribed polygon is never stronger than the disc, and weaker by its apothem at most
    EXPECT_FALSE(wedges("{polygon: 4}", 0.999 * critical));
    EXPECT_TRUE(wedges("{polygon: 4}", 1.001 * critical * std::sqrt(2)));
}

TEST(Check, ALeverLocksItselfOnOneContact) {
    // A ball on an arm whose pivot is at the height `c` beside the floor's contact point: the line from the contact to the pivot
    // makes atan(1/c) with the normal; friction above that jams it.
    const std::string lever = floor_and + R"(  ball: {pose: [0, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}]}
materials: {default: {friction: mu}}
joints:
  pivot: {revolute: {a: ground, b: ball, at: [1, 0, c], axis: [0, 1, 0]}}
let: {mu: 0.5, c: 2}
)";
    EXPECT_EQ(about(check(lever, {set("mu", "0.51")}), "wedging").size(), 1u);
    EXPECT_EQ(about(check(lever, {set("mu", "0.49")}), "wedging").size(), 0u);
}

// A ball on an arm whose pivot is beside the contact, at the height c: the arm carries the friction across it always, and the
// friction along it exactly when the line of that friction passes through the pivot, c = 0.
TEST(Check, AContactDropsOutOfTheReducedConeWhenItsFrictionPassesThroughThePivot) {
    const std::string lever = floor_and + R"(  ball: {pose: [0, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}]}
materials: {default: {friction: mu}}
joints:
  pivot: {revolute: {a: ground, b: ball, at: [1, 0, c], axis: [0, 1, 0]}}
let: {mu: 0.5, c: 0}
)";
    for (const char* mu : {"0.01", "0.5", "7"}) {  // it cannot wedge either
        const Audit audit = check(lever, {set("mu", mu)});
        const auto found = about(audit, "friction");
        ASSERT_EQ(found.size(), 1u) << all(audit);
        EXPECT_EQ(found[0].severity, Severity::note);
        EXPECT_TRUE(names(found[0], "ball"));
        EXPECT_NE(found[0].message.find("1 of 1 contacts drop out"), std::string::npos) << found[0].message;
        EXPECT_NE(found[0].message.find("which is pointed"), std::string::npos) << found[0].message;
        EXPECT_TRUE(about(audit, "wedging").empty()) << all(audit);
    }
    for (const char* c : {"1e-5", "-1e-5", "2"})
        EXPECT_TRUE(about(check(lever, {set("mu", "0.1"), set("c", c)}), "friction").empty()) << c;
    EXPECT_TRUE(about(check(lever, {set("mu", "0")}), "friction").empty());
}

// A piston in its cylinder, on the floor and under a second, lower ceiling: both contacts drop out, and they press on each other.
TEST(Check, TheReducedConeOfASqueezedPistonIsNotPointed) {
    const std::string piston = floor_and + R"(  piston: {pose: [0, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}]}
  ceiling: {fixed: true, shapes: [{half-space: {normal: [0, 0, -1], offset: lid}}]}
materials: {default: {friction: 0.3}}
joints:
  cylinder: {prismatic: {a: ground, b: piston, at: [0, 0, 0.1], axis: [0, 0, 1]}}
let: {lid: -0.2}
)";
    const auto squeezed = about(check(piston), "friction");
    ASSERT_EQ(squeezed.size(), 1u) << all(check(piston));
    EXPECT_NE(squeezed[0].message.find("2 of 2 contacts drop out"), std::string::npos) << squeezed[0].message;
    EXPECT_NE(squeezed[0].message.find("which is not pointed"), std::string::npos) << squeezed[0].message;
    const auto free = about(check(piston, {set("lid", "-0.3")}), "friction");
    ASSERT_EQ(free.size(), 1u);
    EXPECT_NE(free[0].message.find("which is pointed"), std::string::npos) << free[0].message;
}

TEST(Check, RestingAndRedundancyAreNotWedging) {
    // Bodies on the floor with any friction, side by side, and a door on two hinges that touches the floor with its edge.
    const std::string resting = floor_and + R"(  a: {pose: [0, 0, 0.5], mass: 1, shapes: [{box: [1, 1, 1]}]}
  b: {pose: [1, 0, 0.5], mass: 1, shapes: [{box: [1, 1, 1]}]}
  c: {pose: [0.5, 0, 1.5], mass: 1, shapes: [{box: [1, 1, 1]}]}
materials: {default: {friction: 5}}
)";
    EXPECT_TRUE(about(check(resting), "wedging").empty()) << all(check(resting));
    const std::string door = R"(stickslip: 1
bodies:
  door: {pose: [0.5, 0, 1], mass: 30, shapes: [{box: [1, 0.05, 2]}]}
joints:
  upper: {revolute: {a: ground, b: door, at: [0, 0, 1.8], axis: [0, 0, 1]}}
  lower: {revolute: {a: ground, b: door, at: [0, 0, 0.2], axis: [0, 0, 1]}}
)";
    const Audit audit = check(door);
    EXPECT_TRUE(about(audit, "wedging").empty()) << all(audit);
    const auto redundant = about(audit, "redundant");
    ASSERT_EQ(redundant.size(), 1u) << all(audit);
    EXPECT_EQ(redundant[0].severity, Severity::note);
    EXPECT_EQ(redundant[0].who, (std::vector<std::string>{"upper", "lower"}));
    EXPECT_NE(redundant[0].message.find("5 of 10"), std::string::npos) << redundant[0].message;
    EXPECT_EQ(redundant[0].place.line, 5);
}

TEST(Check, ABoxBetweenParallelWallsIsSqueezed) {
    const std::string slot = R"(stickslip: 1
let: {mu: 0.1}
gravity: [0, 0, 0]
materials: {default: {friction: mu}}
bodies:
  left: {fixed: true, shapes: [{half-space: {normal: [1, 0, 0], offset: -0.5}}]}
  right: {fixed: true, shapes: [{half-space: {normal: [-1, 0, 0], offset: -0.5}}]}
  box: {mass: 1, shapes: [{box: [1, 1, 1]}]}
)";
    ASSERT_EQ(about(check(slot), "wedging").size(), 1u);
    EXPECT_EQ(about(check(slot), "wedging")[0].severity, Severity::warning);
    const auto smooth = about(check(slot, {set("mu", "0")}), "wedging");
    ASSERT_EQ(smooth.size(), 1u);
    EXPECT_EQ(smooth[0].severity, Severity::note);
    // a hair of play is enough
    EXPECT_TRUE(about(check(slot, {set("bodies.box.shapes.0.box", "[0.99999, 1, 1]")}), "wedging").empty());
}

TEST(Check, BodiesInsideEachOtherAreAnErrorAndTouchesOfOverlapAWarning) {
    const std::string two = floor_and + R"(  low: {pose: [0, 0, 0.5], mass: 1, shapes: [{box: [1, 1, 1]}]}
  high: {pose: [0, 0, z], mass: 1, shapes: [{box: [1, 1, 1]}]}
let: {z: 1.5}
)";
    EXPECT_TRUE(about(check(two), "overlap").empty());
    const auto slight = about(check(two, {set("z", "1.49")}), "overlap");
    ASSERT_EQ(slight.size(), 1u);
    EXPECT_EQ(slight[0].severity, Severity::warning);
    EXPECT_NE(slight[0].message.find("0.01 m"), std::string::npos) << slight[0].message;
    EXPECT_TRUE(names(slight[0], "low") && names(slight[0], "high"));
    EXPECT_EQ(slight[0].place.line, 5);
    const Audit deep = check(floor_and + "  sunk: {pose: [0, 0, -0.4], mass: 1, shapes: [{box: [1, 1, 1]}]}\n");
    ASSERT_EQ(about(deep, "overlap").size(), 1u) << all(deep);
    EXPECT_EQ(about(deep, "overlap")[0].severity, Severity::error);
    EXPECT_EQ(deep.findings.front().severity, Severity::error);  // errors come first
    EXPECT_EQ(about(deep, "first-step").size(), 1u) << all(deep);
}

TEST(Check, VelocitiesThatTearAJointAreNamedWithTheirSize) {
    const std::string arm = R"(stickslip: 1
bodies:
  arm: {pose: [0.5, 0, 0], mass: 1, shapes: [{box: [1, 0.1, 0.1]}], velocity: [0, 0, 3], angular_velocity: [0, w, 0]}
joints:
  hinge: {revolute: {a: ground, b: arm, at: [0, 0, 0], axis: [0, 1, 0]}}
let: {w: -6}
)";
    EXPECT_TRUE(about(check(arm), "velocity").empty());
    const auto found = about(check(arm, {set("w", "-5")}), "velocity");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, Severity::warning);
    EXPECT_EQ(found[0].who, std::vector<std::string>{"hinge"});
    EXPECT_NE(found[0].message.find("0.5 m/s"), std::string::npos) << found[0].message;  // 3 - 5/2
    EXPECT_EQ(found[0].place.line, 5);
}

TEST(Check, MillimetresAndGramsAreSuspected) {
    const auto units = [&](const std::string& body) { return about(check(floor_and + body), "units"); };
    EXPECT_TRUE(units("  a: {pose: [0, 0, 1], mass: 7.8, shapes: [{box: [0.1, 0.1, 0.1]}]}\n").empty());
    EXPECT_EQ(units("  a: {pose: [0, 0, 200], mass: 7.8, shapes: [{box: [100, 100, 100]}]}\n").size(), 1u);
    EXPECT_EQ(units("  a: {pose: [0, 0, 1], mass: 7800, shapes: [{box: [0.1, 0.1, 0.1]}]}\n").size(), 1u);
    EXPECT_EQ(units("  a: {pose: [0, 0, 1], density: 7800, shapes: [{sphere: 1e-7}]}\n").size(), 1u);
    EXPECT_EQ(units("  a: {pose: [0, 0, 1e5], density: 1000, shapes: [{sphere: 2e4}]}\n").size(), 1u);
    EXPECT_EQ(units("  a: {pose: [0, 0, 1], density: 1000, shapes: [{sphere: 0.1}], velocity: [5e4, 0, 0]}\n").size(),
              1u);
    EXPECT_EQ(units("  a: {pose: [0, 0, 1], density: 1000, shapes: [{sphere: 0.1}]}\ngravity: [0, 0, -9810]\n").size(),
              1u);
}

TEST(Check, InertiaThatNoBodyOfThatSizeHasIsDoubted) {
    const auto inertia = [&](const std::string& value) {
        return about(
            check(floor_and + "  a: {pose: [0, 0, 1], mass: 12, shapes: [{box: [1, 1, 1]}], inertia: " + value + "}\n"),
            "inertia");
    };
    EXPECT_TRUE(inertia("[2, 2, 2]").empty());  // its own
    // half the diagonal squared is 3/4: at most 9 kg m^2
    EXPECT_TRUE(inertia("[8.9, 8.9, 8.9]").empty());
    ASSERT_EQ(inertia("[2, 9.1, 9.1]").size(), 1u);
    EXPECT_EQ(inertia("[2, 9.1, 9.1]")[0].severity, Severity::warning);
    ASSERT_EQ(inertia("[2, 2, 4]").size(), 1u);  // a sheet
    EXPECT_EQ(inertia("[2, 2, 4]")[0].severity, Severity::note);
    // the same inertia in turned axes: products of inertia are seen through
    EXPECT_EQ(inertia("[5.55, 5.55, 9.1, 3.55, 0, 0]").size(), 1u);
}

TEST(Check, LimitsThatCannotBeMetAreTold) {
    const std::string arm = R"(stickslip: 1
bodies:
  one: {pose: [0.5, 0, 0], mass: 1, shapes: [{box: [1, 0.1, 0.1]}]}
  two: {pose: [0.5, 1, 0], mass: 1, shapes: [{box: [1, 0.1, 0.1]}]}
joints:
  first: {revolute: {a: ground, b: one, at: [0, 0, 0], axis: [0, 1, 0], limits: LIMITS, motor: {position: 2, max_torque: 1}}}
  second: {revolute: {a: ground, b: two, at: [0, 1, 0], axis: [0, 1, 0], limits: [0, 1]}}
  gear: {gear: {first: first, second: second, ratio: RATIO}}
)";
    const auto limits = [&](const std::string& range, const std::string& ratio) {
        std::string text = arm;
        text.replace(text.find("LIMITS"), 6, range);
        text.replace(text.find("RATIO"), 5, ratio);
        return about(check(text), "limits");
    };
    EXPECT_TRUE(limits("[-3, 3]", "1").empty());
    const auto outside = limits("[-1, 1]", "1");
    ASSERT_EQ(outside.size(), 1u);
    EXPECT_EQ(outside[0].severity, Severity::warning);
    EXPECT_EQ(outside[0].place.line, 6);
    // first in [0, 3], but -1 times second in [0, 1] goes the other way: only 0 is left
    const auto opposed = limits("[0, 3]", "-1");
    ASSERT_EQ(opposed.size(), 1u);
    EXPECT_EQ(opposed[0].who, (std::vector<std::string>{"gear", "first", "second"}));
}

TEST(Check, StepsThatAreTooLongOrSpringsTooStiffForThemAreTold) {
    const std::string shot =
        floor_and + R"(  ball: {pose: [0, 0, 1], density: 1000, shapes: [{sphere: 0.01}], velocity: [0, 0, -100]}
forces: {tie: {spring: {a: ground, b: ball, at_b: [0, 0, 0], stiffness: k}}}
let: {k: 1}
run: {step: 1e-3}
)";
    const auto step = [&](const char* h, const char* k) {
        return about(check(shot, {set("run.step", h), set("k", k)}), "step");
    };
    ASSERT_EQ(step("1e-3", "1").size(), 1u);  // 0.1 m in a step
    EXPECT_EQ(step("1e-3", "1")[0].severity, Severity::warning);
    EXPECT_TRUE(step("5e-5", "1").empty());
    // m = 4.19e-3 kg: h sqrt(k/m) = 2 at k = 6.7e6 for h = 5e-5
    EXPECT_TRUE(step("5e-5", "6e6").empty());
    ASSERT_EQ(step("5e-5", "7e6").size(), 1u);
    EXPECT_EQ(step("5e-5", "7e6")[0].severity, Severity::note);
    EXPECT_EQ(step("5e-5", "7e6")[0].who, std::vector<std::string>{"tie"});
}

TEST(Check, WhatNobodyUsesAndFreeFlightAreNoted) {
    const Audit audit = check(R"(stickslip: 1
materials: {default: {}, ice: {friction: 0}, steel: {}}
contacts: {pairs: [{a: ice, b: steel, friction: 0.1}]}
bodies:
  stone: {mass: 1, shapes: [{sphere: 0.1, material: steel}]}
)");
    EXPECT_EQ(audit.count(Severity::error) + audit.count(Severity::warning), 0) << all(audit);
    EXPECT_EQ(about(audit, "unused").size(), 2u) << all(audit);
    ASSERT_EQ(about(audit, "free").size(), 1u);
    EXPECT_EQ(about(audit, "free")[0].who, std::vector<std::string>{"stone"});
}

TEST(Check, HeavyOnLightIsNoted) {
    const std::string pair = floor_and + R"(  light: {pose: [0, 0, 0.5], mass: 1, shapes: [{box: [1, 1, 1]}]}
  heavy: {pose: [0, 0, 1.5], mass: m, shapes: [{box: [1, 1, 1]}]}
let: {m: 2e4}
)";
    EXPECT_EQ(about(check(pair), "mass-ratio").size(), 1u);
    EXPECT_TRUE(about(check(pair, {set("m", "5e3")}), "mass-ratio").empty());
}

TEST(Check, MotorsThatContradictAreRefusedInTheFirstStep) {
    const std::string twice = R"(stickslip: 1
bodies:
  door: {pose: [0.5, 0, 1], mass: 30, shapes: [{box: [1, 0.05, 2]}]}
joints:
  upper: {revolute: {a: ground, b: door, at: [0, 0, 1.8], axis: [0, 0, 1], motor: {speed: 1}}}
  lower: {revolute: {a: ground, b: door, at: [0, 0, 0.2], axis: [0, 0, 1], motor: {speed: w}}}
let: {w: 1}
)";
    EXPECT_EQ(check(twice).count(Severity::error), 0) << all(check(twice));
    EXPECT_EQ(about(check(twice, {set("w", "2")}), "first-step").size(), 1u);
}

TEST(Check, MechanismsAreAuditedToo) {
    const Audit audit = check_model("mechanism:pendulum");
    EXPECT_EQ(audit.count(Severity::error), 0) << all(audit);
    EXPECT_EQ(audit.model, "pendulum");
    EXPECT_THROW(check_model("mechanism:pendulun"), Error);
    EXPECT_THROW(check_model("no/such/file.yaml"), Error);
}

// sigma_min(W_NN)/sigma_max(W_NT) of bodies for which both are numbers: a sphere of mass m and inertia J = k m r^2 has N B D' = 0. A
// leaning rod of length 2 a on its tip, at the angle th from the horizontal, has N B N' = 1/m + a^2 cos^2 th/J and
// N B D' = +-a^2 sin th cos th/J, with J = m a^2/3: the bound is (1 + 3 cos^2)/(3 sin cos), beyond which Painleve's paradox begins.
TEST(FrictionBound, IsTheRatioOfTheThesis) {
    const Audit ball = check(floor_and + R"(
  ball: {pose: [0, 0, 0.2], mass: 3, shapes: [{sphere: 0.2}]}
materials: {default: {friction: 0.5}}
)");
    ASSERT_EQ(ball.friction_bound.size(), 1u);
    EXPECT_EQ(ball.friction_bound[0].bound, infinity);
    EXPECT_TRUE(ball.friction_bound[0].unique());
    EXPECT_NEAR(ball.friction_bound[0].normal_least, 1 / 3.0, 1e-12);

    const double least = 4.0 / 3;  // of the bound over all angles, the critical friction of Painleve's rod
    for (const double theta : {0.3, 0.7, 1.2}) {
        const double bound = (1 + 3 * std::pow(std::cos(theta), 2)) / (3 * std::sin(theta) * std::cos(theta));
        for (const double mu : {0.99 * bound, 1.01 * bound}) {
            const Audit rod =
                check_model("mechanism:painleve-rod", {set("theta0", number(theta)), set("mu", number(mu))});
            ASSERT_EQ(rod.friction_bound.size(), 1u) << theta;
            EXPECT_NEAR(rod.friction_bound[0].bound, bound, 1e-9) << theta;
            EXPECT_EQ(rod.friction_bound[0].unique(), mu < bound) << theta;
            EXPECT_GE(rod.friction_bound[0].bound, least - 1e-9);
        }
    }
}

// Two boxes apart are two groups; four corners of a box depend on each other, which leaves the bound 0; without friction there is none.
TEST(FrictionBound, IsGivenForEachGroupThatTouchesWithFriction) {
    const std::string boxes = floor_and + R"(
  left: {pose: [0, 0, 0.5], mass: 2, shapes: [{box: [1, 1, 1]}]}
  right: {pose: [5, 0, 0.5], mass: 2, shapes: [{box: [1, 1, 1]}]}
  high: {pose: [9, 0, 3], mass: 2, shapes: [{box: [1, 1, 1]}]}
materials: {default: {friction: 0.3}}
)";
    const Audit audit = check(boxes);
    ASSERT_EQ(audit.friction_bound.size(), 2u);
    for (const FrictionBound& bound : audit.friction_bound) {
        EXPECT_EQ(bound.contacts, 4);
        EXPECT_EQ(bound.bound, 0);
        EXPECT_FALSE(bound.unique());
        EXPECT_EQ(bound.friction, 0.3);
    }
    EXPECT_TRUE(check(boxes, {set("materials.default.friction", "0")}).friction_bound.empty());
}

// A joint takes motion away: a rod that may only slide in a guide along the normal has nothing left to move sideways.
TEST(FrictionBound, JointsAreEliminated) {
    const Audit audit = check(floor_and + R"(
  hammer: {pose: [0, 0, 0.2], mass: 3, shapes: [{sphere: 0.2}]}
materials: {default: {friction: 0.5}}
joints:
  guide: {prismatic: {a: ground, b: hammer, at: [0, 0, 0], axis: [0.6, 0, 0.8]}}
)");
    ASSERT_EQ(audit.friction_bound.size(), 1u);
    // One velocity s along (0.6, 0, 0.8): N B N' = 0.64/m, N B D' has the norm 0.8 * 0.6/m.
    EXPECT_NEAR(audit.friction_bound[0].normal_least, 0.64 / 3, 1e-9);
    EXPECT_NEAR(audit.friction_bound[0].bound, 0.8 / 0.6, 1e-9);
}

}  // namespace
}  // namespace stickslip
