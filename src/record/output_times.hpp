// When a row is recorded: the initial state, then every multiple of `every` that a step covers, then the final state.
// Steps are never shortened for it; the step's own interpolant gives the state inside.
#pragma once

#include <cmath>

#include "stickslip/scheme.hpp"

namespace stickslip {

class OutputTimes {
public:
    void begin(double every, double t) {
        every_ = every;
        if (every > 0) next_ = std::floor((t + slack(t)) / every) + 1;
    }

    // Calls row(state) for each output time t0 < t_k <= t1; with every == 0 once, for the end of the step. `state` is
    // the end of the step. Returns whether the last row was the end.
    template <class Row>
    bool sample(const System& system, const State& state, const Step& step, Row&& row) {
        if (!(every_ > 0)) {
            row(state);
            return true;
        }
        bool at_end = false;
        while (next_ * every_ <= step.t1 + slack(step.t1)) {
            const double t = next_ * every_;
            next_ += 1;
            at_end = t >= step.t1 - slack(step.t1);
            if (at_end) {
                row(state);
            } else {
                step.at(system, t, between_);
                row(static_cast<const State&>(between_));
            }
        }
        return at_end;
    }

private:
    // Steps of 1e-3 added up 1e7 times miss their multiple by less than this. With more slack a row would be taken
    // from the step before the one that covers it.
    double slack(double t) const { return 1e-9 * every_ + 1e-12 * std::abs(t); }

    double every_ = 0;  // [s]
    double next_ = 1;   // k of the next output time; a double, exact to 2^53
    State between_;
};

}  // namespace stickslip
