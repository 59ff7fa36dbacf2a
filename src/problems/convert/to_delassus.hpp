// A step problem as a Delassus problem u = W p + q: velocities and bilateral rows eliminated.
#pragma once

#include "stickslip/problem.hpp"

namespace stickslip {

// Throws Error when a bilateral row has a finite bound: a Delassus problem has contacts only.
DelassusProblem to_delassus(const StepProblem& problem);

}  // namespace stickslip
