// From a name to something that runs: `scenes/x.yaml`, `scene:x`, `mechanism:x`.
#pragma once

#include <string>

#include "stickslip/scene.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

// Builds the system of a scene. Throws Error where the scene does not fit together (open joints, ...).
Model build_model(const Scene& scene);

// MODEL of the command line, with `--set` overrides: for a mechanism KEY is a parameter, or scheme.X, solver.X,
// run.end, run.record.every.
Model load_model(const std::string& spec, const OptionValues& overrides = {});

// The file of MODEL: a scene file or `scene:NAME`. A mechanism has none.
std::string scene_file(const std::string& spec);

// The part of Model::source that decides the mechanics; the rest says how it was run. Two runs of the same model may
// differ in the rest, and one may go on from the other.
std::string mechanics_of(const std::string& source);

// Throws Error unless `tol` among the options of a solver, if it is there, is a tolerance: positive and at most 1 m/s. A
// larger one would call everything certified.
void require_tolerance(const OptionValues& solver_options);
// Throws Error unless the numbers of a budget make sense and its policy is the one that has a budget.
void require_budget(const RunSettings& run, const Place& place = {});

// What `stickslip list` tells of joints, shapes and scenes.
struct NamedSummary {
    std::string name, summary;
};
// The shipped scenes that `scene:NAME` finds, sorted, with the first line of their head.
std::vector<NamedSummary> list_scenes();
std::vector<NamedSummary> list_joints();
std::vector<NamedSummary> list_shapes();

}  // namespace stickslip
