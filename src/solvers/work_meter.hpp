// Counts what a solve has cost, in factorisations of its step matrix, and says when its budget is used up. Sweeps and back
// substitutions count as shares of a factorisation, so that the count follows the time on problems of any size.
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
    // Multiplications of one factorisation, and how many of them there may be in all, whatever the budget.
    void limit(double factorisation, double multiplications) {
        unit_ = std::max(factorisation, 1.0);
        most_ = std::min(most_, multiplications / unit_);
    }
    void add(double factorisations) { spent_ += factorisations; }
    // Back substitutions and sweeps run over memory once: a multiplication costs several of a factorisation.
    void add_slow(double multiplications) { spent_ += slow * multiplications / unit_; }
    double left() const { return most_ - spent_; }  // factorisations
    // To be asked before each unit of work, with its multiplications if it is a factorisation: one that could not end in time is not begun.
    bool used_up(double multiplications = 0) const {
        return spent_ >= most_ ||
               (budget_.deadline < infinity && processor_time() + seconds * multiplications >= budget_.deadline);
    }

private:
    static constexpr double seconds = 4e-10;  // per multiplication of a factorisation, on a slow core
    static constexpr double slow = 4;  // measured on walls of 500 contacts and piles of 1000 spheres

    Budget budget_;
    double spent_ = 0, most_ = infinity, unit_ = 1e5;
};

inline constexpr double contact_work = 150;  // multiplications of one contact in a sweep, or in the products around a back substitution

}  // namespace stickslip
