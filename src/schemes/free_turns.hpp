// Bodies of a step that nothing touches, holds or turns. Their spin is not left to the rule of the step, which keeps energy but changes angular
// momentum by the square of the turn of a step: tumbling bodies in a heap at 1/60 s lost and gained several percent of it.
#pragma once

#include <vector>

#include "math/free_turn.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

class FreeTurns {
public:
    // Finds them, for a step of h from v whose rows, A, r and impulses are filled, and asks for their spins at its end in place of what the rule
    // would give them. `sloped`: s.terms.stiffness and damping are filled too.
    void fill(const System& system, double h, const VecX& v, bool sloped, Step& s);
    // Puts their turns into the move of the step.
    void turn(VecX& dq) const;

private:
    void find_tied(const StepProblem& problem);

    struct Turn {
        int first;  // its first angular velocity in v
        Vec3 angle;
    };
    std::vector<char> tied_;  // per node: rows or couplings reach it
    std::vector<Turn> turns_;
};

}  // namespace stickslip
