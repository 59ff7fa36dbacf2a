// A number that depends on time: a constant, a table, or any function of t (scene files give formulas).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/forces/jump_search.hpp"

namespace stickslip {

class TimeFunction {
public:
    TimeFunction() = default;
    static TimeFunction constant(double value);
    // Pairs (t, value) with increasing t; before the first and after the last the end values hold. Stepwise tables
    // take the value of the last entry at or before t.
    static TimeFunction table(std::vector<std::pair<double, double>> entries, bool stepwise);
    // `origin` names it where its value is no number: its text and place. `branches` tell where it may jump (jump_search.hpp).
    static TimeFunction of(std::function<double(double t)> f, std::string origin = {},
                           std::vector<JumpSearch::Branch> branches = {});

    double operator()(double t) const;
    // Empty, or its origin and value where that is not finite.
    std::string undefined(double t) const;
    // d/dt; zero across a jump.
    double rate(double t) const;
    // First corner or jump of a table after t; infinity if none.
    double next_discontinuity(double t) const;
    // First jump of a function after t; infinity if none. Tables have theirs above.
    double next_jump(double t) const;
    // Whether it is a function, whose course between two times is not known from its values there.
    bool curved() const { return static_cast<bool>(f_); }
    // Whether its values at t0, t1 and in the middle do not tell its course between them.
    bool hasty(double t0, double t1) const;

private:
    double value_ = 0;
    bool stepwise_ = false;
    std::vector<std::pair<double, double>> entries_;
    std::function<double(double)> f_;
    std::string origin_;
    std::shared_ptr<JumpSearch> jumps_;  // of f_, where it may jump; shared by copies
};

}  // namespace stickslip
