// Size decides nothing: a scene scaled a thousandfold up or down in length takes the same decisions, in as many steps, with the
// tolerances that follow from its bodies. Powers of two give the same bits, shifted; with powers of ten rounding differs and must
// decide nothing either. The tolerance of the solver is scaled with the speeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "stickslip/load.hpp"
#include "support/models.hpp"
#include "support/scaled_scene.hpp"

namespace stickslip {
namespace {

using testing::set;

struct Small {
    const char* name;
    const char* text;
    std::vector<std::string> schemes = {};  // empty: all of them
    friend std::ostream& operator<<(std::ostream& out, const Small& small) { return out << small.name; }
};

// Impacts, rest, slip, stick, rolling, limits and joints within some hundred steps.
const Small scenes[] = {
    {"bounces", R"(
stickslip: 1
materials: {default: {friction: 0.3, restitution: 0.6}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.15], mass: 2, shapes: [{sphere: 0.1}], velocity: [0.5, 0, 0]}
run: {step: 2e-3, end: 0.8}
)"},
    {"slide", R"(
stickslip: 1
materials: {default: {friction: 0.4}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.1], mass: 2, shapes: [{sphere: 0.1}], velocity: [0.6, 0.2, 0]}
run: {step: 2e-3, end: 0.25}
)"},
    // Until it rattles between two corners: impacts follow each other so closely then that rounding decides how many there are.
    {"tumble",
     R"(
stickslip: 1
materials: {default: {friction: 0.5, restitution: 0.2}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box:
    pose: {at: [0, 0, 0.25], rpy_deg: [10, 25, 0]}
    mass: 2
    shapes: [{box: [0.3, 0.2, 0.2]}]
    velocity: [1, 0, 0]
run: {step: 2e-3, end: 0.23}
)"},
    // So hard to turn that it hardly rolls.
    {"stick-slip",
     R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  slider: {pose: [0, 0, 0.1], mass: 1, inertia: 0.5, shapes: [{sphere: 0.1}]}
forces:
  push: {load: {body: slider, force: [8*sin(12*t), 0, 0]}}
run: {step: 2e-3, end: 0.6}
)",
     // All but rattle: where slip begins its Newton's method may fail, and rounding decides whether it does.
     {"moreau-jean", "euler", "stewart-trinkle", "schatzman-paoli", "trapezoidal", "alpha-gamma",
      "linear-implicit-euler", "hem5", "hybrid", "phem56", "generalized-alpha", "hem4", "hem3", "dopri5", "rkf45",
      "rk4"}},
    {"linkage",
     R"(
stickslip: 1
materials: {default: {friction: 0.3, restitution: 0.4}}
bodies:
  floor: {fixed: true, pose: [0, 0, -0.55], shapes: [{half-space: {normal: [0, 0, 1]}}]}
  arm: {pose: [0.2, 0, 0], mass: 1, shapes: [{box: [0.4, 0.05, 0.05]}]}
  bob: {pose: [0.5, 0, 0], mass: 0.5, shapes: [{sphere: 0.06}]}
joints:
  hinge: {revolute: {a: ground, b: arm, at: [0, 0, 0], axis: [0, 1, 0], limits: {lower: -2, upper: 1.2, restitution: 0.3}}}
  wrist: {ball: {a: arm, b: bob, at: [0.4, 0, 0]}}
forces:
  tie: {spring: {a: ground, at_a: [0.5, 0, 0.4], b: bob, at_b: [0, 0, 0], stiffness: 20, damping: 0.1, length: 0.3}}
run: {step: 2e-3, end: 0.8}
)",
     // All but generalized-alpha: its Newton's method measures angles of joints as lengths and stops one round later.
     {"moreau-jean", "euler", "stewart-trinkle", "schatzman-paoli", "trapezoidal", "alpha-gamma",
      "linear-implicit-euler", "hem5", "hybrid", "phem56", "rattle", "hem4", "hem3", "dopri5", "rkf45", "rk4"}}};

// What is compared of a step: in units of the original scene.
struct StepTaken {
    double t;
    std::vector<BodyState> bodies;
    std::vector<Event> events;
};

struct Course {
    std::vector<StepTaken> steps;
    std::string refused;
};

Course walk(const Small& small, const std::string& scheme, double length, int max_steps) {
    Scene scene = read_scene_text(small.text, small.name, {set("run.scheme", scheme)});
    const testing::SceneScale scale(length);
    scale.apply(scene);
    const double speed = std::max(1.0, scale.L / scale.T);  // of small ones angles turn fast: less would be rounding
    scene.run.solver.options.push_back({"tol", fmt::format("{:.17g}", speed * default_tolerance), {}});
    Simulation simulation(build_model(scene));
    Course course;
    while (static_cast<int>(course.steps.size()) < max_steps && simulation.advance()) {
        StepTaken& taken = course.steps.emplace_back();
        taken.t = simulation.state().t / scale.T;
        taken.events = simulation.step().events;
        const System& system = *simulation.model().system;
        for (int i = 0; i < static_cast<int>(system.body_names().size()); ++i) {
            BodyState body = system.body_state(i, simulation.state().q, simulation.state().v);
            body.pose.position /= scale.L;
            body.velocity *= scale.T / scale.L;
            body.angular_velocity *= scale.T;
            taken.bodies.push_back(body);
        }
    }
    const RunSummary summary = simulation.run();
    if (summary.end == RunEnd::refused) course.refused = summary.reason;
    return course;
}

std::string text_of(const std::vector<Event>& events) {
    std::string text;
    for (const Event& event : events)
        text += fmt::format("{} {}-{} ", to_string(event.kind), event.contact.a, event.contact.b);
    return text;
}

double distance(const StepTaken& one, const StepTaken& other) {
    double sum = std::abs(one.t - other.t);
    for (std::size_t i = 0; i < one.bodies.size(); ++i)
        sum += (one.bodies[i].pose.position - other.bodies[i].pose.position).norm() +
               (one.bodies[i].velocity - other.bodies[i].velocity).norm() +
               (one.bodies[i].angular_velocity - other.bodies[i].angular_velocity).norm();
    return sum;
}

// Empty, or where the courses part.
std::string parting(const Course& one, const Course& other) {
    std::string first;
    for (std::size_t i = 0; i < std::min(one.steps.size(), other.steps.size()); ++i) {
        const StepTaken &a = one.steps[i], &b = other.steps[i];
        if (const double d = distance(a, b); d > 0 && first.empty())
            first = fmt::format("first other bits after step {} at t = {:.6g} s, by {:.2g}; ", i + 1, a.t, d);
        if (text_of(a.events) != text_of(b.events))
            return fmt::format("{}step {} at t = {:.9g} s ({:.9g} s) has events [{}] instead of [{}]", first, i + 1,
                               a.t, b.t, text_of(b.events), text_of(a.events));
    }
    if (one.steps.size() != other.steps.size() || one.refused.empty() != other.refused.empty())
        return fmt::format("{}{} steps instead of {}; {}", first, other.steps.size(), one.steps.size(), other.refused);
    if (!first.empty() && std::getenv("STICKSLIP_SCALING_BITS")) return first;
    return {};
}

class Scaling : public ::testing::TestWithParam<Small> {};

TEST_P(Scaling, TakesTheSameDecisions) {
    for (const SchemeEntry& scheme : schemes()) {
        const std::vector<std::string>& only = GetParam().schemes;
        if (!only.empty() && std::find(only.begin(), only.end(), scheme.name) == only.end()) continue;
        SCOPED_TRACE(std::string(scheme.name) + " on " + GetParam().name);
        const Course original = walk(GetParam(), scheme.name, 1, 500);
        EXPECT_TRUE(original.refused.empty()) << original.refused;
        for (const double length : {0x1p-10, 0x1p10, 1e-3, 1e3}) {
            const std::string parts = parting(original, walk(GetParam(), scheme.name, length, 500));
            EXPECT_TRUE(parts.empty()) << "lengths x " << length << ": " << parts;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Laws, Scaling, ::testing::ValuesIn(scenes), [](const auto& test) {
    std::string name = test.param.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace stickslip
