// Nothing passes through anything: bodies that would be on the other side of a thin plate at the end of a step, by every scheme.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

const char* const every_scheme[] = {"moreau-jean", "euler", "stewart-trinkle", "schatzman-paoli", "trapezoidal",
                                    "alpha-gamma", "hem5",  "phem56",          "dopri5",          "generalized-alpha",
                                    "rattle",      "hybrid"};
const char* const locating[] = {"trapezoidal", "alpha-gamma",       "hem5",   "phem56",
                                "dopri5",      "generalized-alpha", "rattle", "hybrid"};

bool locates(const std::string& scheme) {
    return std::find(std::begin(locating), std::end(locating), scheme) != std::end(locating);
}

double first_impact(const RunSummary& end) {
    for (const Event& event : end.events)
        if (event.kind == EventKind::impact) return event.t;
    return infinity;
}

Vec3 place(const Simulation& simulation, int body) {
    return simulation.model().system->body_state(body, simulation.state().q, simulation.state().v).pose.position;
}

const char* const thrown = R"(
stickslip: 1
gravity: [0, 0, 0]
let: {speed: 300, r: 0.005, thick: 0.01, off: 0, slope: 0.2}
materials: {default: {friction: 0.2, restitution: 0.5}}
bodies:
  plate: {fixed: true, shapes: [{box: [thick, 1, 1]}]}
  ball: {pose: [-1, off, 0], mass: 0.01, shapes: [{sphere: r}], velocity: [speed, slope*speed, 0]}
run: {step: 1e-3, end: 2.2/speed}
)";

TEST(Passing, BallsAreStoppedByAPlateOfTheirSizeAtAnySpeed) {
    for (const char* scheme : every_scheme) {
        for (const double speed : {3.0, 70.0, 1000.0}) {
            for (const double h : {1e-4, 1.7e-2}) {
                Simulation simulation(
                    scene_text(thrown, Set{{"scheme", scheme}}("speed", speed)("step", h)("thick", 0.004)("r", 0.02)));
                const RunSummary end = simulation.run();
                const std::string numbers = scheme + note(" speed, h", {speed, h});
                ASSERT_EQ(end.end, RunEnd::finished) << numbers << end.reason;
                EXPECT_LT(place(simulation, 1).x(), 0) << numbers;
                if (!locates(scheme)) continue;
                EXPECT_NEAR(first_impact(end), (1 - 0.022) / speed, 1e-9) << numbers;
            }
        }
    }
}

// A ball comes down on a plate right behind its edge: from afar the edge is the nearest, at the end the face.
TEST(Passing, ImpactsAreLocatedWhereTheNearestFeatureChangesOnTheWay) {
    const double r = 0.035, speed = 90, behind = 4e-5, height = 0.3, way = 1.1;
    for (const char* scheme : {"euler", "trapezoidal", "hem5", "phem56", "dopri5", "hybrid"}) {
        for (const double h : {2e-4, 1.3e-2}) {
            const Vec3 along = Vec3(way, 0.3, -height), start = Vec3(behind, 0, r) - along;
            Simulation simulation(
                scene_text(R"(
stickslip: 1
gravity: [0, 0, 0]
materials: {default: {friction: 0, restitution: 0.6}}
bodies:
  plate: {fixed: true, pose: [0.7, 0, -0.02], shapes: [{box: [1.4, 3, 0.04]}]}
  ball: {mass: 0.3, shapes: [{sphere: 0.035}]}
run: {end: 0.02}
)",
                           Set{{"scheme", scheme},
                               {"bodies.ball.pose", text_of(start)},
                               {"bodies.ball.velocity", text_of(Vec3(speed * along.normalized()))}}("step", h)));
            const RunSummary end = simulation.run();
            const std::string numbers = scheme + note(" h", {h});
            ASSERT_EQ(end.end, RunEnd::finished) << numbers << end.reason;
            EXPECT_NEAR(first_impact(end), along.norm() / speed, 1e-9) << numbers;
        }
    }
}

// Past the edge of the plate, by a tenth of a millimetre and by much: no time step makes a hit of it.
TEST(Passing, WhatFliesPastIsNotHeldUp) {
    for (const char* scheme : every_scheme) {
        for (const double clearance : {1e-4, 0.03}) {
            Simulation simulation(
                scene_text(thrown, Set{{"scheme", scheme}, {"slope", "0"}}("off", 0.505 + clearance)("step", 1e-3)));
            const RunSummary end = simulation.run();
            ASSERT_EQ(end.end, RunEnd::finished) << scheme << end.reason;
            EXPECT_NEAR(place(simulation, 1).x(), 1.2, 1e-9) << scheme;
            EXPECT_EQ(first_impact(end), infinity) << scheme;
        }
    }
}

// The same at a slant, over an edge along y: where the step begins the plate lies ahead, and no direction tells the sides of both for all of it.
TEST(Passing, WhatFliesPastAnEdgeAtASlantIsNotHeldUp) {
    const double r = 0.014, edge = 0.9, speed = 110;
    for (const char* scheme : every_scheme) {
        for (const auto& [slant, aside] : {std::pair{-0.45, 0.2}, {0.3, -0.5}, {-0.1, 0.0}}) {
            for (const double clearance : {1e-3, 5e-3}) {
                const Vec3 along = Vec3(slant, aside, -1).normalized(), out = Vec3(1, 0, slant).normalized();
                const Vec3 nearest = Vec3(edge, 0.1, slant > 0 ? 0.015 : -0.015) + (r + clearance) * out;
                const Vec3 start = nearest - 0.02 * speed * along;
                Simulation simulation(
                    scene_text(R"(
stickslip: 1
gravity: [0, 0, 0]
materials: {default: {friction: 0.2, restitution: 0}}
bodies:
  plate: {fixed: true, shapes: [{box: [1.8, 9, 0.03]}]}
  ball: {mass: 0.2, shapes: [{sphere: 0.014}]}
run: {end: 0.03}
)",
                               Set{{"scheme", scheme},
                                   {"bodies.ball.pose", text_of(start)},
                                   {"bodies.ball.velocity", text_of(Vec3(speed * along))}}("step", 7e-3)));
                const RunSummary end = simulation.run();
                const std::string numbers = scheme + note(" slant, aside, clearance", {slant, aside, clearance});
                ASSERT_EQ(end.end, RunEnd::finished) << numbers << end.reason;
                EXPECT_EQ(first_impact(end), infinity) << numbers;
                EXPECT_LT((place(simulation, 1) - start - 0.03 * speed * along).norm(), 1e-9) << numbers;
            }
        }
    }
}

// A bar of 1 m turns with 50 rad/s, 0.38 rad before a wall of 4 mm: at h = 1/60 it would be 0.45 rad behind it.
TEST(Passing, SpinningBarIsStoppedByAThinWall) {
    for (const char* scheme : every_scheme) {
        for (const double h : {1e-3, 1.0 / 60}) {
            Simulation simulation(scene_text(R"(
stickslip: 1
plane: xz
gravity: [0, 0, 0]
materials: {default: {friction: 0, restitution: 0}}
bodies:
  wall: {fixed: true, pose: [0, 0, 0.4], shapes: [{box: [0.004, 1, 0.4]}]}
  bar: {pose: {at: [0, 0, 0], rpy_deg: [0, 67, 0]}, mass: 1, shapes: [{box: [1, 0.02, 0.02]}], angular_velocity: [0, 50, 0]}
joints: {pin: {revolute: {a: ground, b: bar, at: [0, 0, 0], axis: [0, 1, 0]}}}
run: {end: 0.05}
)",
                                             Set{{"scheme", scheme}}("step", h)));
            const RunSummary end = simulation.run();
            const std::string numbers = scheme + note(" h", {h});
            ASSERT_EQ(end.end, RunEnd::finished) << numbers << end.reason;
            const Quat turn =
                simulation.model().system->body_state(1, simulation.state().q, simulation.state().v).pose.attitude;
            const Vec3 tip = turn * Vec3(-1, 0, 0);
            EXPECT_LT(std::abs(tip.x()), 0.99) << numbers;
            EXPECT_LT(first_impact(end), 0.02) << numbers;
        }
    }
}

TEST(Passing, FallsOntoAThinTableEndOnItAtAnyTolerance) {
    for (const char* scheme : {"hem5", "phem56", "dopri5", "generalized-alpha", "hybrid"}) {
        for (const double tol : {1e-3, 1e-6, 1e-10}) {
            Simulation simulation(scene_text(R"(
stickslip: 1
materials: {default: {friction: 0.3, restitution: 0.4}}
bodies:
  shelf: {fixed: true, pose: [0, 0, -0.01], shapes: [{box: [2, 2, 0.02]}]}
  ball: {pose: [0, 0, 4.05], mass: 1, shapes: [{sphere: 0.05}]}
run: {step: 1e-3, end: 1.3}
)",
                                             Set{{"scheme", scheme}}("scheme.tol", tol)));
            const RunSummary end = simulation.run();
            const double fall = std::sqrt(2 * 4 / g), after = 1.3 - fall;
            ASSERT_EQ(end.end, RunEnd::finished) << scheme << end.reason;
            EXPECT_NEAR(first_impact(end), fall, 1e-9) << scheme << note(" tol", {tol});
            EXPECT_NEAR(place(simulation, 1).z(), 0.05 + 0.4 * g * fall * after - g * after * after / 2, 1e-7)
                << scheme << note(" tol", {tol});
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
