// The inelastic impact that makes velocities agree with joints that have just been made.
#pragma once

#include <cstdint>
#include <vector>

#include "schemes/parts/parts.hpp"

namespace stickslip {

struct Snap {
    bool needed = false;  // false: the velocities agreed already and have not been touched
    double speed = 0;     // [m/s, rad/s] largest |G v| of the new rows before
    double impulse = 0;   // [N s, N m s] largest impulse of the new rows
};

// Solves the impact at x in s, changes x.v and books it. `old_groups` are the ids of the bilateral groups that were there before.
Snap snap_shut(const System& system, Solver& solver, const std::vector<std::uint32_t>& old_groups, State& x, Step& s,
               StepReport& report);

}  // namespace stickslip
