// Runs know nothing of each other: nested in a callback, stepped in turn, or in two threads at once, each comes to the same bits as
// alone. Every scheme, on joints, impacts and friction, in the coordinates of the literature and as bodies.
#include <gtest/gtest.h>

#include <thread>

#include "stickslip/load.hpp"
#include "stickslip/mechanism.hpp"
#include "support/families.hpp"
#include "support/models.hpp"

namespace stickslip {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::set;

constexpr int steps = 24;  // of each run

// A box that slides and tips into a wall, and two hinged bars that strike the floor: contacts and joints from the first steps on.
const char* const bodies = R"(
stickslip: 1
materials: {default: {friction: 0.4, restitution: 0.3}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  wall: {fixed: true, pose: [1, 0, 0], shapes: [{box: [0.2, 4, 4]}]}
  box: {pose: [0.38, 0, 0.5], mass: 2, shapes: [{box: [1, 1, 1]}], velocity: [2, 0, 0]}
  rod: {pose: [-3, 0, 0.52], mass: 1, shapes: [{sphere: 0.5}], angular_velocity: [0, 2, 0]}
  bar: {pose: [-4, 0, 2], mass: 1, shapes: [{box: [0.1, 0.1, 1]}]}
joints:
  pin: {revolute: {a: ground, b: bar, at: [-4, 0, 2.5], axis: [0, 1, 0]}}
  tie: {distance: {a: bar, b: rod, at_a: [0, 0, -0.5], at_b: [0, 0, 0.5]}}
run: {step: 2e-3, end: 1}
)";

const char* const courses[] = {"bodies", "mechanism:double-pendulum-wall", "mechanism:slider-crank-clearance"};

Model model_of(const std::string& course, const std::string& scheme) {
    const OptionValues values{set("run.scheme", scheme)};
    return course == "bodies" ? build_model(read_scene_text(bodies, "bodies.yaml", values))
                              : load_model(course, values);
}

Bytes walk(Simulation& simulation) {
    for (int i = 0; i < steps; ++i) EXPECT_TRUE(simulation.advance()) << simulation.run().reason;
    return simulation.snapshot();
}

Bytes alone(const std::string& course, const std::string& scheme) {
    Simulation simulation(model_of(course, scheme));
    return walk(simulation);
}

class Independence : public ::testing::TestWithParam<testing::SchemeFamily> {
protected:
    // Every scheme of the family on every course, beside a guest: the next course with the same scheme, and one of another kind.
    template <class Body>
    void for_each_pair(const Body& body) {
        for (const std::string& scheme : GetParam().schemes)
            for (std::size_t i = 0; i < std::size(courses); ++i)
                for (const std::string& other : {scheme, std::string(scheme == "hem5" ? "moreau-jean" : "hem5")}) {
                    const std::string course = courses[i], guest = courses[(i + 1) % std::size(courses)];
                    SCOPED_TRACE(scheme + " on " + course + ", beside it " + other + " on " + guest);
                    body(course, scheme, guest, other);
                }
    }
};

TEST_P(Independence, RunNestedInTheWatcherOfAnother) {
    for_each_pair(
        [](const std::string& course, const std::string& scheme, const std::string& guest, const std::string& other) {
            const Bytes expected = alone(course, scheme), expected_inside = alone(guest, other);
            Simulation outer(model_of(course, scheme));
            int solves = 0;
            outer.watch_solves([&](const SolvedProblem&) {
                if (++solves % 3 != 1 || solves > 13) return;
                EXPECT_TRUE(alone(guest, other) == expected_inside) << "inside solve " << solves;
            });
            EXPECT_TRUE(walk(outer) == expected);
            EXPECT_GT(solves, 0);
        });
}

// A force that runs a simulation of its own: nothing of the outer step may lie where the inner one writes.
TEST_P(Independence, RunNestedInAForceOfAnother) {
    for (const std::string& scheme : GetParam().schemes) {
        for (const std::string& other : {scheme, std::string(scheme == "hem5" ? "moreau-jean" : "hem5")}) {
            SCOPED_TRACE(scheme + ", in its force " + other);
            const Bytes expected_inside = alone("mechanism:slider-crank-clearance", other);
            long calls = 0;
            const auto run = [&](bool nested) {
                Model model = load_model("mechanism:double-pendulum-wall", {set("run.scheme", scheme)});
                LagrangianModel pendulum = make_mechanism("double-pendulum-wall").model;
                pendulum.potential_force = [&, nested, force = pendulum.potential_force](const VecX& q, VecX& k) {
                    force(q, k);
                    if (++calls % 50 != 20 || !nested) return;
                    EXPECT_TRUE(alone("mechanism:slider-crank-clearance", other) == expected_inside);
                };
                model.system = make_lagrangian_system(std::move(pendulum));
                Simulation simulation(std::move(model));
                return walk(simulation);
            };
            const Bytes expected = run(false);
            EXPECT_TRUE(run(true) == expected);
            EXPECT_GT(calls, 40);
        }
    }
}

TEST_P(Independence, RunsSteppedInTurn) {
    for_each_pair(
        [](const std::string& course, const std::string& scheme, const std::string& guest, const std::string& other) {
            Simulation one(model_of(course, scheme)), two(model_of(guest, other));
            for (int i = 0; i < steps; ++i) {
                ASSERT_TRUE(one.advance());
                ASSERT_TRUE(two.advance());
            }
            EXPECT_TRUE(one.snapshot() == alone(course, scheme));
            EXPECT_TRUE(two.snapshot() == alone(guest, other));
        });
}

TEST_P(Independence, RunsInTwoThreads) {
    for_each_pair(
        [](const std::string& course, const std::string& scheme, const std::string& guest, const std::string& other) {
            Bytes one, two;
            std::thread beside([&] { two = alone(guest, other); });
            one = alone(course, scheme);
            beside.join();
            EXPECT_TRUE(one == alone(course, scheme));
            EXPECT_TRUE(two == alone(guest, other));
        });
}

// A simulation that began in one thread goes on in another.
TEST_P(Independence, RunThatChangesItsThread) {
    for (const std::string& scheme : GetParam().schemes)
        for (const std::string course : courses) {
            SCOPED_TRACE(scheme + " on " + course);
            Simulation simulation(model_of(course, scheme));
            for (int i = 0; i < steps / 2; ++i) ASSERT_TRUE(simulation.advance());
            std::thread([&] {
                for (int i = steps / 2; i < steps; ++i) EXPECT_TRUE(simulation.advance());
            }).join();
            EXPECT_TRUE(simulation.snapshot() == alone(course, scheme));
        }
}

INSTANTIATE_TEST_SUITE_P(Laws, Independence, ::testing::ValuesIn(testing::scheme_families()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stickslip
