// The start of a step, so that the loop can take the step back whatever scheme took it: all that a snapshot holds, but as it lies in
// memory. Kept before every step, so it allocates nothing after the first steps.
#pragma once

#include "schemes/parts/step_start.hpp"
#include "simulation/field_bytes.hpp"

namespace stickslip {

class Checkpoint {
public:
    void keep(const State& now, Step& step) {
        start_.keep(now, step);
        scheme_.begin();
        step.scheme_work->remembered(scheme_);
        scheme_.end();
    }
    void go_back(State& now, Step& step) const {
        start_.go_back(now, step);
        FieldReader reader(scheme_.written);
        step.scheme_work->remembered(reader);
    }
    const State& state() const { return start_.x; }

private:
    StepStart start_;
    FieldWriter scheme_;
};

}  // namespace stickslip
