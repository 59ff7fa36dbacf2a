// Overlap is pushed out of positions, at the end of a step.
#pragma once

#include <vector>

#include "base/fields.hpp"
#include "math/node_groups.hpp"
#include "solvers/nsgs.hpp"
#include "solvers/work_meter.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

enum class Overlap { push, leave };  // in the order of the option's words

// The option of a scheme that chooses it.
inline Choice overlaps() { return {{"push", "leave"}, 0}; }
inline constexpr const char* overlap_help =
    "what overlaps at the end of a step is pushed out of positions, velocities stay; or left as it is";

// Its scratch, and what it did in the step at hand.
struct PushOut {
    NsgsSolver sweeps;                  // for bodies without joints
    WorkMeter meter;                    // of the sweeps
    ContactRows found;                  // all contacts at the end of the step,
    const ContactRows* rows = nullptr;  // or those of its start, if no time is left to find them
    std::vector<double> gap;            // per contact of `rows` [m], at the end of the step
    double look_time = 0;               // [s] per contact: what it takes to find them and to fill a move, which itself ends when it must,
    double looked_until = 0;            // [s] by the clock of the thread: when that was done; 0: there was nothing to move
    std::vector<double> push;  // per contact [m]: the move asked of it; 0: it only must not be pushed in further
    NodeGroups groups;         // of nodes that are moved together
    std::vector<char> moves;   // per node that stands for a group: it is pushed
    bool arrives = true;       // written by the scheme: a contact that has no row in the step may overlap at its end
    double deepest = 0;        // [m] overlap that was to be pushed out; 0: none
    double now = 0;            // [m] of the move at hand,
    double excess = 0;         // [m] more than it may keep, and
    ContactId where;           // its contact
    bool squeezed = false;     // the bodies cannot be moved apart: others leave them too little room
    bool deep = false;         // and that is visible
};

// Moves x.q out of the overlaps that its own velocities will not clear, and books the energy of that as regularisation; to be
// called when the step of length h is booked, after project() and hold_limits(). Never fails: what cannot be moved stays.
void push_out(const System& system, Solver& solver, double h, State& x, Step& s, PushOut& w);

}  // namespace stickslip
