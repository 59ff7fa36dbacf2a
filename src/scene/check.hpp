// The parts of the audit: each looks at one kind of thing and adds what it finds.
#pragma once

#include "model/multibody.hpp"
#include "stickslip/check.hpp"
#include "stickslip/load.hpp"

namespace stickslip {

// What the scene says, without mechanics.
void check_units(const Scene& scene, const MultibodyModel& model, Audit& audit);
void check_inertia(const Scene& scene, const MultibodyModel& model, Audit& audit);
void check_limits(const Scene& scene, Audit& audit);
void check_unused(const Scene& scene, Audit& audit);
void check_step_size(const Scene& scene, const MultibodyModel& model, const RunSettings& run, Audit& audit);

// What the rows at t = 0 say. `scene` gives the places; null for mechanisms.
void check_rows(const Scene* scene, const Model& model, Audit& audit);

// [s] The step size of a run: as asked for, else the scheme's default.
double run_step(const RunSettings& run);

// "a, b and c", the first few of many.
std::string enumeration(const std::vector<std::string>& names);

}  // namespace stickslip
