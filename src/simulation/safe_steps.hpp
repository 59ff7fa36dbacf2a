// Steps in which nothing passes through anything: a step is cut before two bodies could meet and be apart again inside it, and taken
// again, shorter, if bodies turn out to have moved so much faster than at its start that they could have. Whatever scheme takes it
// then sees at the end of a step what happened on the way: located schemes find the time of it, time-stepping ones a row or an
// overlap that is pushed out. A step that its scheme asks to have back is taken again too, shorter. Bounds from speeds and sizes make it free for slow bodies (collision/passing.hpp).
#pragma once

#include <vector>

#include "collision/passing.hpp"
#include "simulation/checkpoint.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

// The run as its steps see it.
struct SteppedRun {
    const System& system;
    const Scheme& scheme;
    Solver& solver;
    State& state;
    Step& step;
};

class SafeSteps {
public:
    // `start` holds the state from which the step is taken.
    StepReport take(const SteppedRun& run, const Checkpoint& start, double t_limit);

private:
    double limit(const SteppedRun& run, double t_limit);
    double moved_safely(const SteppedRun& run, double h);
    double first_clip(const SteppedRun& run, double h);

    std::vector<ContactId> held_;
    VecX mean_, none_;  // none_ stays empty: no acceleration
    VecX rate_;
};

}  // namespace stickslip
