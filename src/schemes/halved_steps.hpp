// Step control by halved steps, for any scheme whose step may have any length. See halved_steps.cpp.
#pragma once

#include <functional>

#include "schemes/parts/step_start.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct HalvedSteps {
    double tol = 0;                  // [m, rad] error of q allowed per step, absolute, 2-norm over the coordinates
    double first_step = 1e-3;        // [s]
    double smallest_step = 1e-7;     // [s] taken whatever its error
    double longest_step = infinity;  // [s]
    double order = 1;                // p of h_opt = 0.9 h (tol/error)^(1/p)
};

// The start of the step, to which trials go back, and the first of two halves. Kept for its memory.
struct HalvedWork {
    double next_step = 0;  // [s] wanted by step control, remembered from step to step; 0: none yet
    double pushed = 0;     // [m] written by the scheme: the deepest overlap that it pushed out of in a trial; 0: none
    StepStart start;
    std::vector<ContactId> id;  // sorted: contacts at the start
    std::vector<double> gap;    // [m]
    BilateralRows end_joints;   // rows at the end
    ContactRows end_contacts;
    VecX q_full;  // nq: the end of the single step
    Forces forces;
    VecX load;  // nv: second difference of the forces in time
    std::vector<ContactRecord> contacts;
    std::vector<Event> events;
    RowVec reactions;
};

// Takes a step of length h from x, never past t_limit.
using OneStep = std::function<StepReport(double h, double t_limit)>;

// Two halves of the longest step that keeps the tolerance, as one step. `one` moves x and writes s.
StepReport halved_step(const System& system, const HalvedSteps& control, const OneStep& one, State& x, double t_limit,
                       Step& s, HalvedWork& k);

}  // namespace stickslip
