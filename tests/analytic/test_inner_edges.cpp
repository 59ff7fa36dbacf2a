// Inner edges are not felt: what slides without friction over a floor of flush tiles keeps its speed and its height.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

const char* const tiles = R"(
stickslip: 1
let: {a: 0.1, d: 0.2}
materials: {default: {friction: 0, restitution: 0}}
bodies:
  "tile-{i}-{j}": {grid: {i: 25, j: 2}, fixed: true, pose: [i*a, (j - 1.3)*0.5, -d/2], shapes: [{box: [a, 0.5, d]}]}
  slider: {pose: [1.5*a, 0.02, 0.05], mass: 1, shapes: [SHAPE], velocity: [1, 0.03, 0]}
run: {step: 1e-3, end: 1.7}
)";

TEST(InnerEdges, WhatSlidesOverFlushTilesKeepsSpeedAndHeight) {
    for (const char* shape : {"{sphere: 0.05}", "{box: [0.13, 0.11, 0.1]}",
                              "{capsule: {radius: 0.05, length: 0.1}, pose: {at: [0, 0, 0], rpy_deg: [90, 0, 0]}}"}) {
        std::string text = tiles;
        text.replace(text.find("SHAPE"), 5, shape);
        for (const char* scheme : {"moreau-jean", "stewart-trinkle", "trapezoidal", "hem5", "dopri5", "rattle"}) {
            for (const double h : {1e-3, 1.0 / 60}) {
                Simulation simulation(scene_text(text, Set{{"scheme", scheme}}("step", h)));
                const RunSummary end = simulation.run();
                const std::string numbers = shape + std::string(" ") + scheme + note(" h", {h});
                ASSERT_EQ(end.end, RunEnd::finished) << numbers << end.reason;
                EXPECT_NEAR(simulation.state().v[0], 1, 1e-9) << numbers;
                EXPECT_NEAR(simulation.state().v[1], 0.03, 1e-9) << numbers;
                EXPECT_NEAR(simulation.state().q[2], 0.05, 1e-9) << numbers;
            }
        }
    }
}

// Seams that are passed at any part of a step, straight and askew: schemes whose rows lie half a step ahead see the next tile there first.
TEST(InnerEdges, AreNotFeltWhereverInTheStepTheyArePassed) {
    const std::pair<const char*, const char*> shapes[] = {
        {"{sphere: 0.08}", "[0, 0, 0.08]"},
        {"{box: [0.22, 0.14, 0.16]}", "{at: [0, 0, 0.08], rpy_deg: [0, 0, 17]}"},
        {"{capsule: {radius: 0.08, length: 0.17}}", "{at: [0, 0, 0.08], rpy_deg: [90, 0, 35]}"}};
    for (const auto& [shape, pose] : shapes) {
        for (const char* scheme :
             {"moreau-jean", "trapezoidal", "alpha-gamma", "linear-implicit-euler", "euler", "phem56"}) {
            for (const double h : {1.3e-3, 1.0 / 240, 1.0 / 60}) {
                for (const double speed : {0.7, 1.85}) {
                    Simulation simulation(
                        scene_text(R"(
stickslip: 1
materials: {default: {friction: 0, restitution: 0}}
bodies:
  "tile-{i}-{j}": {grid: {i: 9, j: 3}, fixed: true, pose: [0.31*(i - 2), 0.23*(j - 2), -0.03*i/2], shapes: [{box: [0.31, 0.23, 0.03*i]}]}
  slider: {mass: 0.6, shapes: [{sphere: 0.08}]}
run: {end: 0.9}
)",
                                   Set{{"scheme", scheme},
                                       {"bodies.slider.shapes", "[" + std::string(shape) + "]"},
                                       {"bodies.slider.pose", pose}}("bodies.slider.velocity",
                                                                     text_of(Vec3(speed, 0, 0)))("step", h)));
                    const RunSummary end = simulation.run();
                    const std::string numbers = shape + std::string(" ") + scheme + note(" h, speed", {h, speed});
                    ASSERT_EQ(end.end, RunEnd::finished) << numbers << end.reason;
                    EXPECT_NEAR(simulation.state().v[0], speed, 1e-9) << numbers;
                    EXPECT_NEAR(simulation.state().q[2], 0.08, 1e-9) << numbers;
                }
            }
        }
    }
}

// A tile that stands 1 mm higher has a real edge.
TEST(InnerEdges, StepsAreFelt) {
    std::string text = tiles;
    text.replace(text.find("SHAPE"), 5, "{sphere: 0.05}");
    Simulation simulation(scene_text(
        text, Set{{"bodies.tile-9-2.pose", "[0.9, 0.35, -0.099]"}, {"bodies.tile-9-1.pose", "[0.9, -0.15, -0.099]"}}));
    simulation.run();
    EXPECT_LT(simulation.state().v[0], 0.99);
}

}  // namespace
}  // namespace stickslip::analytic
