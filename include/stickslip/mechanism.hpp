// The library of classical problems, in the coordinates of the literature.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stickslip/options.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

struct Mechanism {
    LagrangianModel model;
    State state;         // at t = 0
    double end = 1;      // [s] of the published or reference run
    double step = 1e-3;  // [s] a sensible one
    // The solution in closed form for t >= 0, to rounding, the right value at jumps; null where there is none.
    std::function<State(double t)> exact{};
};

struct MechanismEntry {
    const char* name;
    const char* paper;
    const char* summary;
    std::vector<FieldInfo> (*parameters)();
    Mechanism (*make)(const OptionValues& values);  // throws Error on unknown or senseless parameters
};

const std::vector<MechanismEntry>& mechanisms();
Mechanism make_mechanism(const std::string& name, const OptionValues& values = {}, Place place = {});

}  // namespace stickslip
