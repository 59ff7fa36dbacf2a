// `repeat` and `grid`: the copies a template stands for, their names and numbers, and what --set reaches.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/fields.hpp"
#include "scene/formula.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {
namespace {

Scene read(const std::string& text, const OptionValues& overrides = {}) {
    return read_scene_text(text, "test.yaml", overrides);
}

std::string message(const std::string& text, const OptionValues& overrides = {}) {
    try {
        read(text, overrides);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

OptionValues set(const std::string& key, const std::string& text) { return {{key, text, {}}}; }

const std::string chain = R"yaml(stickslip: 1
let: {n: 4, l: 0.5}
bodies:
  anchor: {fixed: true}
  link-{i}: {repeat: {i: n}, pose: [(i - 1/2)*l, 0, 0], mass: "i == n ? 10 : 1", shapes: [{box: [l, 0.1, 0.1]}]}
  tail: {mass: 1, inertia: 1}
joints:
  pin-{i:02}: {repeat: {i: 2..n}, ball: {a: "link-{i-1}", b: "link-{i}", at: [(i - 1)*l, 0, 0]}}
forces:
  push-{k}: {repeat: {k: 2}, load: {body: "link-{2*k}", force: ["k*cos(t)", 0, 0]}}
)yaml";

TEST(Repeat, AChainIsATemplateForLinksAndOneForPins) {
    const Scene scene = read(chain);
    ASSERT_EQ(scene.bodies.size(), 6u);
    EXPECT_EQ(scene.bodies[0].name, "anchor");
    EXPECT_EQ(scene.bodies[5].name, "tail");  // copies stand where the template stands
    for (std::size_t i = 1; i <= 4; ++i) {
        EXPECT_EQ(scene.bodies[i].name, fmt::format("link-{}", i));
        EXPECT_EQ(scene.bodies[i].pose.position.x(), 0.5 * (static_cast<double>(i) - 0.5));
        EXPECT_EQ(scene.bodies[i].mass, i == 4 ? 10 : 1);
        EXPECT_EQ(scene.bodies[i].place.text(), "test.yaml:5:3");
    }
    ASSERT_EQ(scene.joints.size(), 3u);
    EXPECT_EQ(scene.joints[2].name, "pin-04");
    EXPECT_EQ(scene.joints[2].a.text, "link-3");
    EXPECT_EQ(scene.joints[2].b.text, "link-4");
    EXPECT_EQ(scene.joints[2].at, Vec3(1.5, 0, 0));
    ASSERT_EQ(scene.loads.size(), 2u);
    EXPECT_EQ(scene.loads[1].body.text, "link-4");
    EXPECT_DOUBLE_EQ(compile_formula(scene.loads[1].force[0])(0.3), 2 * std::cos(0.3));
}

TEST(Repeat, GivesTheSceneThatIsWrittenOut) {
    // The shipped stack against the twenty lines it was before.
    std::string written = "stickslip: 1\nbodies:\n";
    for (int i = 1; i <= 20; ++i)
        written +=
            fmt::format("  cube-{:02}: {{pose: [0, 0, {}.5], mass: 1000, shapes: [{{box: [1, 1, 1]}}]}}\n", i, i - 1);
    const Scene by_hand = read(written), shipped = read_scene(std::string(STICKSLIP_SCENES) + "/stack-20.yaml");
    ASSERT_EQ(shipped.bodies.size(), 21u);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(shipped.bodies[i + 1].name, by_hand.bodies[i].name);
        EXPECT_EQ(shipped.bodies[i + 1].pose.position, by_hand.bodies[i].pose.position);
        EXPECT_EQ(shipped.bodies[i + 1].mass, by_hand.bodies[i].mass);
        EXPECT_EQ(shipped.bodies[i + 1].shapes[0].edges, by_hand.bodies[i].shapes[0].edges);
    }
}

TEST(Repeat, EmptyRangesMakeNothing) {
    const std::string text = "stickslip: 1\nlet: {n: 1}\nbodies:\n  b-{i}: {repeat: {i: RANGE}, mass: 1, inertia: 1}\n";
    const auto with = [&](const std::string& range) {
        std::string filled = text;
        return filled.replace(filled.find("RANGE"), 5, range);
    };
    EXPECT_EQ(read(with("0")).bodies.size(), 0u);
    EXPECT_EQ(read(with("2..n")).bodies.size(), 0u);
    EXPECT_EQ(read(with("-1..n")).bodies.size(), 3u);
    EXPECT_EQ(read(with("-1..n")).bodies[0].name, "b--1");
    EXPECT_EQ(read(with("n")).bodies[0].name, "b-1");
    EXPECT_EQ(read(with("\"n + 2^2\"")).bodies.size(), 5u);
}

TEST(Grid, LastIndexRunsFastestAndRangesMayUseEarlierOnes) {
    const Scene scene = read(R"yaml(stickslip: 1
let: {rows: 3}
bodies:
  stone-{k}-{i}: {grid: {k: rows, i: 1..rows - k + 1}, pose: [i + k/2, 0, k], mass: 1, inertia: 1}
)yaml");
    std::vector<std::string> names;
    for (const Scene::Body& body : scene.bodies) names.push_back(body.name);
    EXPECT_EQ(names,
              (std::vector<std::string>{"stone-1-1", "stone-1-2", "stone-1-3", "stone-2-1", "stone-2-2", "stone-3-1"}));
    EXPECT_EQ(scene.bodies[4].pose.position, Vec3(3, 0, 2));
}

TEST(Grid, EverySecondRowOfTheWallIsShiftedByHalfABrick) {
    const Scene scene = read_scene(std::string(STICKSLIP_SCENES) + "/brick-wall.yaml");
    const auto brick = [&](int row, int column) {
        const Scene::Name name{fmt::format("brick-{}-{}", row, column), {}};
        return scene.bodies[body_index(scene, name)].pose.position;
    };
    EXPECT_EQ(scene.bodies.size(), 3 * 4 + 2u);
    EXPECT_NEAR(std::abs(brick(2, 1).x() - brick(1, 1).x()), 0.13, 1e-15);
    EXPECT_NEAR(brick(3, 1).x(), brick(1, 1).x(), 1e-15);
    EXPECT_NEAR(brick(1, 2).x() - brick(1, 1).x(), 0.26, 1e-15);
    EXPECT_NEAR(brick(3, 4).z() - brick(1, 4).z(), 0.13, 1e-15);
}

TEST(Repeat, SetReachesCountsTemplatesAndCopies) {
    EXPECT_EQ(read(chain, set("n", "7")).bodies.size(), 9u);
    EXPECT_EQ(read(chain, set("n", "7")).joints.back().name, "pin-07");
    EXPECT_EQ(read(chain, set("bodies.link-2.mass", "3")).bodies[2].mass, 3);
    EXPECT_EQ(read(chain, set("bodies.link-2.mass", "i*5")).bodies[2].mass, 10);
    EXPECT_EQ(read(chain, set("bodies.link-3.shapes.0.box.1", "i*l")).bodies[3].shapes[0].edges.y(), 1.5);
    EXPECT_EQ(read(chain, set("bodies.link-{i}.mass", "i")).bodies[3].mass, 3);
    EXPECT_EQ(read(chain, set("bodies.link-{i}.repeat.i", "0..n")).bodies[1].name, "link-0");
    EXPECT_EQ(read(chain, set("joints.pin-03.ball.at", "[9, 0, 0]")).joints[1].at, Vec3(9, 0, 0));
    EXPECT_EQ(read(chain, set("forces.push-2.load.from", "k")).loads[1].from, 2);
    EXPECT_EQ(read(chain, set("bodies.tail.mass", "7")).bodies.back().mass, 7);
    // One copy beats its template, in whatever order they are given.
    const OptionValues both = {{"bodies.link-2.mass", "3", {}}, {"bodies.link-{i}.mass", "8", {}}};
    EXPECT_EQ(read(chain, both).bodies[2].mass, 3);
    EXPECT_EQ(read(chain, both).bodies[3].mass, 8);
    // A whole section from outside may hold templates too.
    EXPECT_EQ(read("stickslip: 1\nlet: {n: 2}", set("bodies", "{\"b-{i}\": {repeat: {i: n}, mass: 1, inertia: 1}}"))
                  .bodies.size(),
              2u);
}

TEST(Repeat, WhatIsWrongWithACopyIsToldWithItsIndex) {
    struct Case {
        const char *key, *text, *expected;
    };
    const Case cases[] = {
        {"bodies.link-{i}.mass", "i - 3",
         "--set bodies.link-{i}.mass: expected a number > 0 [kg], found 'i - 3' (where i = 1)"},
        {"bodies.link-9.mass", "2", "--set bodies.link-9.mass: no body 'link-9', did you mean 'link-1'?"},
        {"bodies.link-2.mas", "2", "--set bodies.link-2.mas: body 'link-2' has no key 'mas', did you mean 'mass'?"},
        {"bodies.link-2.repeat", "{i: 3}", "--set bodies.link-2.repeat: body 'link-2' is no template"},
        {"n", "2.5", "test.yaml:5:26: expected a whole number, found 'n' = 2.5"},
        {"n", "-1", "test.yaml:5:26: expected a count >= 0, found 'n' = -1"},
        {"n", "0", "test.yaml:8:28: the range '2..n' runs backwards: 2..0"},
        {"n", "1e9", "test.yaml:5:26: asks for more than 1000000 copies"},
        {"n", "3", "test.yaml:10:43: no body 'link-4'"},
        {"i", "3", "--set i: no parameter 'i'"},
        {"let.i", "3", "--set let.i: no parameter 'i'"},
    };
    for (const Case& c : cases)
        EXPECT_EQ(message(chain, set(c.key, c.text)).find(c.expected), 0u)
            << c.key << "=" << c.text << " said: " << message(chain, set(c.key, c.text));
    EXPECT_NE(message(chain, set("n", "3")).find("(where k = 2)"), std::string::npos);
}

TEST(Repeat, AbsurdCountsAreRefusedAtOnce) {
    const auto start = std::chrono::steady_clock::now();
    const auto refused = [&](const std::string& ranges, const std::string& more = "mass: 1, inertia: 1") {
        return message("stickslip: 1\nbodies:\n  \"b-{i}-{j}-{k}\": {grid: " + ranges + ", " + more + "}\n");
    };
    EXPECT_NE(refused("{i: 1e9, j: 1, k: 1}").find("more than 1000000 copies"), std::string::npos);
    EXPECT_NE(refused("{i: 1000, j: 1000, k: 1000}").find("more than 1000000 copies"), std::string::npos);
    EXPECT_NE(refused("{i: 1000000, j: 1000000, k: 0}").find("more than 1000000 copies"), std::string::npos);
    EXPECT_NE(refused("{i: 1e300, j: 1, k: 1}").find("expected a whole number"), std::string::npos);
    EXPECT_NE(refused("{i: -1e9..1e9, j: 1, k: 1}").find("more than 1000000 copies"), std::string::npos);
    // Few copies of something large.
    const std::string large = "mass: 1, inertia: 1, com: " + std::string(1u << 20, '9');
    EXPECT_NE(refused("{i: 900, j: 1, k: 1}", large).find("too many values"), std::string::npos);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
}

TEST(Parameters, MayUseEachOtherInAnyOrder) {
    const Scene scene = read("stickslip: 1\nlet: {a: b + 1, b: 2*c, c: 5, d: =a/b}\n");
    ASSERT_EQ(scene.parameters.size(), 4u);
    EXPECT_EQ(scene.parameters[0].name, "a");
    EXPECT_EQ(scene.parameters[0].value, 11);
    EXPECT_EQ(scene.parameters[3].value, 1.1);
    // A long chain, the last first.
    std::string text = "stickslip: 1\nlet:\n";
    for (int i = 3000; i > 0; --i) text += fmt::format("  p{}: p{} + 1\n", i, i - 1);
    EXPECT_EQ(read(text + "  p0: 0\n").parameters[0].value, 3000);
    EXPECT_EQ(message("stickslip: 1\nlet: {a: c, b: 1, c: d + b, d: a}\n"),
              "test.yaml:2:32: parameters need each other in a circle: a -> c -> d -> a");
    EXPECT_EQ(message("stickslip: 1\nlet: {a: 2*a}\n"),
              "test.yaml:2:10: parameters need each other in a circle: a -> a");
    EXPECT_NE(message("stickslip: 1\nlet: {a: 2*mi, mu: 1}\n").find("test.yaml:2:10: "), std::string::npos);
    EXPECT_NE(message("stickslip: 1\nlet: {a: 2*mi, mu: 1}\n").find("no parameter 'mi', did you mean 'mu'?"),
              std::string::npos);
}

TEST(Formula, ModAndFloorTellRowsApart) {
    for (int k = -3; k < 4; ++k) {
        const std::string n = std::to_string(k);
        EXPECT_EQ(evaluate_number("mod(" + n + ", 2)", {{}}, {}), (k % 2 + 2) % 2) << k;
        EXPECT_EQ(evaluate_number("floor(" + n + "/2)", {{}}, {}), std::floor(k / 2.0)) << k;
    }
}

}  // namespace
}  // namespace stickslip
