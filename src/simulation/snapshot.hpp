// State, step memory, ledger and edits as bytes. Numbers are copied bit by bit; the format is of this build only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulation/growth_watch.hpp"
#include "simulation/substeps.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

// An edit that has been made: which one, and where. Making the same edits at the same states gives the same model.
struct MadeEdit {
    bool action = true;       // of the model, else given by Simulation::edit
    std::uint32_t index = 0;  // among the actions, or among those given
    State at;                 // just before

    template <class F>
    void fields(F&& f) {
        f(action);
        f(index);
        f(at.t);
        f(at.q);
        f(at.v);
    }
};

// What the loop itself remembers from step to step.
struct LoopMemory {
    SubstepMemory substeps;
    double inexact_energy = 0;  // [J] InexactEnergy::sum
    GrowthWatch::Memory growth;
};

// `scheme` is the name of the one that prepared the step.
std::vector<std::uint8_t> write_snapshot(const std::string& scheme, const State& state, Step& step, long steps,
                                         const LoopMemory& loop, const std::vector<MadeEdit>& edits);
// Throws Error when the bytes are not a snapshot of this scheme. `trial` is a workspace of it on
// which its memory is tried. The state is for the model after these edits: `fits` is called with them
// before anything of state, step and steps is changed, and may throw.
void read_snapshot(const std::vector<std::uint8_t>& bytes, const std::string& scheme, SchemeWork& trial, State& state,
                   Step& step, long& steps, LoopMemory& loop,
                   const std::function<void(const std::vector<MadeEdit>& edits, const State& state)>& fits);

}  // namespace stickslip
