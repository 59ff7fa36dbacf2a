// Loads, drives and brakes that change faster than the steps of a run. Schemes that take the mean of loads over a step say themselves how well they
// know it; for the others the load is looked at inside the step, at the q and v of its start, and must lie on the parabola through its
// values at the ends and in the middle. Drives are imposed at the end of a step, so that what they do in between is lost in all schemes.
#pragma once

#include <string>

#include "stickslip/scheme.hpp"

namespace stickslip {

class LoadWatch {
public:
    void see(const System& system, const Step& step, bool averages);

    // Steps in which something was too fast, and in the first of them
    long steps() const { return steps_; }
    double t() const { return t_; }                  // [s] when,
    double h() const { return h_; }                  // [s] how long it was,
    const std::string& who() const { return who_; }  // and what was fast

private:
    bool hasty_load(const System& system, const Step& step);
    void note(const Step& step, std::string who);

    long steps_ = 0;
    double t_ = 0, h_ = 0;
    std::string who_;
    Forces forces_;
    VecX first_, middle_, last_, size_;
};

}  // namespace stickslip
