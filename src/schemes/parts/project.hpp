// Constraint stabilisation by projection, at the end of a step.
#pragma once

#include "base/fields.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

enum class Projection { off, positions, both };  // in the order of the option's words

// The option of a scheme that chooses it.
inline Choice projections() { return {{"off", "positions", "both"}, 0}; }
inline constexpr const char* projection_help =
    "moves the end of each step back onto the joints in the metric of the mass matrix: positions, or velocities too";

// Solves s.correction.problem for the move of least |move|_M that its b and c ask for, multiplied by `scale` so that the tolerance of the
// solver is relative to the error; the move, multiplied too, is s.correction.solution.v. False: not solved.
bool solve_move(Solver& solver, double scale, Step& s);

// Moves x onto the joints and books the energy of that as regularisation; to be called when the step is booked, before
// hold_limits. Contacts are respected: none is pushed into overlap or approach. Nothing to do where nothing has drifted.
void project(const System& system, Solver& solver, const Choice& what, State& x, Step& s);
// The same for the velocities alone.
void project_speeds(const System& system, Solver& solver, State& x, Step& s);

}  // namespace stickslip
