// Scene -> System, initial state and how to run it.
#include <fmt/format.h>

#include <algorithm>

#include "base/fields.hpp"
#include "scene/builder.hpp"
#include "stickslip/load.hpp"

namespace stickslip {

namespace {

// A solver that cannot take the scene's cone is wrong input, not something to find out in the first step.
void check_cone(const Scene& scene) {
    if (scene.plane != Scene::Plane::none || scene.contacts.facets > 0) return;  // intervals and polygons
    const bool friction =
        std::any_of(scene.materials.begin(), scene.materials.end(), [](const auto& m) { return m.friction > 0; }) ||
        std::any_of(scene.contacts.pairs.begin(), scene.contacts.pairs.end(),
                    [](const auto& p) { return p.friction.value_or(0) > 0; });
    for (const SolverEntry& entry : solvers()) {
        if (scene.run.solver.name == entry.name && !entry.disc && friction)
            throw Error(
                fmt::format(
                    "solver '{}' does not take the disc cone: set contacts.cone: {{polygon: 8}}, or use auto or nsgs",
                    entry.name),
                scene.run.solver.place);
    }
}

}  // namespace

void require_tolerance(const OptionValues& solver_options) {
    constexpr double largest = 1;  // [m/s]
    for (const OptionValue& option : solver_options) {
        if (option.key != "tol") continue;
        const double tol = parse_number(option.text, option.place);
        if (!(tol > 0 && tol <= largest))
            throw Error(fmt::format("expected a tolerance > 0 and at most {} m/s, got '{}'", largest, option.text),
                        option.place);
    }
}

void require_budget(const RunSettings& run, const Place& place) {
    const StepBudget& budget = run.budget;
    if (budget.ms && !(*budget.ms > 0 && *budget.ms < infinity))
        throw Error(fmt::format("budget: ms: expected a number > 0 [ms], found {}", *budget.ms), place);
    if (budget.factorisations &&
        !(*budget.factorisations >= 1 && *budget.factorisations == std::floor(*budget.factorisations)))
        throw Error(
            fmt::format("budget: factorisations: expected a whole number >= 1, found {}", *budget.factorisations),
            place);
    if (budget.limited() && run.policy != Policy::budget)
        throw Error(fmt::format("a budget is given, but the policy is {}: add policy: budget, or leave the budget out",
                                to_string(run.policy)),
                    place);
}

Model build_model(const Scene& scene) {
    validate_scene(scene);
    std::unique_ptr<MultibodySystem> system;
    Model model;
    model.editor = make_editor(scene, system);
    for (const Scene::Action& action : scene.actions) model.actions.push_back({action.at, action.edit});
    std::vector<Vec3> velocity, angular_velocity;
    for (const Scene::Body& body : scene.bodies) {
        velocity.push_back(body.velocity);
        angular_velocity.push_back(body.angular_velocity);
    }
    model.state = system->initial_state(velocity, angular_velocity);
    if (model.state.v.size() == 0) throw Error("no body of the scene can move", Place{scene.file, 1, 1});
    model.system = std::move(system);
    model.source = scene.text;
    const Scene::Run& run = scene.run;
    check_cone(scene);
    require_tolerance(run.solver.options);
    model.run.scheme = {run.scheme.name, run.scheme.options, run.scheme.place};
    if (run.step) model.run.scheme.options.push_back({"step", run.step->text, run.step->place});
    model.run.solver = {run.solver.name, run.solver.options, run.solver.place};
    model.run.tolerances = run.tolerances;
    model.run.policy = run.policy;
    model.run.budget = run.budget;
    require_budget(model.run, run.place);
    if (run.end) model.run.end = *run.end;
    model.run.record_every = run.record.every.value_or(0);
    model.run.csv = run.record.csv;
    return model;
}

}  // namespace stickslip
