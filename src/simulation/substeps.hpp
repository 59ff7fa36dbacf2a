// Sub-steps of policy `degrade`: a step that could not be certified is taken back and tried as 2, then as 4 steps of the same scheme,
// which is given a nearer end. Shorter steps have smaller impulses, other contacts and a better guess, so that solvers that failed
// often succeed. The best attempt is taken: the one with the fewest steps that are not certified, and among those the smallest
// residual relative to its tolerance. Its parts are steps like all others: recorded, booked and judged one by one.
//
// Islands of more than some hundred contacts are not tried. An attempt costs seven solves and mostly fails where the one before failed. After one that left a step uncertified the
// next 2 steps are not tried in parts, then 4, 8 .. 32.
#pragma once

#include <functional>
#include <string>

#include "simulation/checkpoint.hpp"
#include "simulation/safe_steps.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

// What lives on from step to step, and is in snapshots.
struct SubstepMemory {
    double from = 0, to = 0;  // [s] the step that is being taken in parts,
    int parts = 1;            // and how many they are; 1: none is
    int pause = 0;            // steps to come that are not tried in parts,
    int last_pause = 0;       // and how many they were after the last attempt; 0: it helped

    template <class F>
    void fields(F&& f) {
        f(from);
        f(to);
        f(parts);
        f(pause);
        f(last_pause);
    }
    bool sound() const { return parts >= 1 && parts <= 4 && from <= to && pause >= 0 && last_pause >= 0; }
};

class Substeps {
public:
    // Empty, or why the step just taken is no mechanics; attempts with such a step are the last to be taken.
    using WrongMotion = std::function<std::string(const StepReport&)>;

    // Takes the next part of a step that is being taken in parts. False if none is.
    bool go_on(const SteppedRun& run, StepReport& report);
    // A whole step has been taken and is certified.
    void rest();
    // `report` is of a whole step, just taken from the checkpoint up to `t_limit` at most and not certified. Leaves the run after
    // the first part of the best attempt, or after the whole step where that is the best, and its report.
    void improve(const SteppedRun& run, const Checkpoint& start, double t_limit, const WrongMotion& wrong,
                 StepReport& report);

    // One step, of which nothing passes through anything.
    StepReport whole(const SteppedRun& run, const Checkpoint& start, double t_limit) { return safe_.take(run, start, t_limit); }

    SubstepMemory memory;
    long helped = 0;  // steps that were certified in parts

private:
    struct Attempt {
        int parts = 1;
        bool wrong = false;
        int uncertified = 0;
        double residual = 0;  // largest, relative to its tolerance
        void see(const StepReport& report);
        bool better_than(const Attempt& other) const;
    };
    double next_end(double t) const;
    StepReport part(const SteppedRun& run);
    Attempt attempt(int parts, const SteppedRun& run, const WrongMotion& wrong, StepReport& spent);

    SafeSteps safe_;
    Checkpoint part_start_;
};

}  // namespace stickslip
