// Counts what a solve has cost, in factorisations of its step matrix, and says when its budget is used up. Sweeps and back
// substitutions count as shares of a factorisation, so that the count follows the time on problems of any size: the unit of both is a
// multiplication of a back substitution (StepSystem::cost), some 0.4 ns on any machine whose memory has to be waited for.
#pragma once

#include <algorithm>

#include "stickslip/solver.hpp"

namespace stickslip {

class WorkMeter {
public:
    void start(const Budget& budget) {
        budget_ = budget;
        spent_ = 0;
        most_ = static_cast<double>(budget.factorisations);
    }
    // The cost of one factorisation, and how much all may cost, whatever the budget.
    void limit(double factorisation, double cost) {
        unit_ = std::max(factorisation, 1.0);
        most_ = std::min(most_, cost / unit_);
    }
    void add(double factorisations) { spent_ += factorisations; }
    void add_work(double cost) { spent_ += cost / unit_; }  // of back substitutions and sweeps
    double left() const { return most_ - spent_; }  // factorisations
    // To be asked before each unit of work, with its cost if it is a factorisation: one that could not end in time is not begun.
    bool used_up(double cost = 0) const {
        return spent_ >= most_ || (budget_.deadline < infinity && processor_time() + seconds * cost >= budget_.deadline);
    }

private:
    static constexpr double seconds = 6e-10;  // per unit of cost, on a slow core

    Budget budget_;
    double spent_ = 0, most_ = infinity, unit_ = 1e5;
};

inline constexpr double contact_work = 400;  // of one contact in a sweep, or in the products around a back substitution

}  // namespace stickslip
