// What a run does with steps that cannot be certified, and what a step may cost.
#pragma once

#include <optional>
#include <string>

namespace stickslip {

enum class Policy {
    degrade,  // such a step goes down a ladder: stronger solvers, sub-steps, the best point; it is taken, counted and listed
    certify,  // such a step is refused, and its problem is kept as a file
    budget    // every step gets a fixed amount of work; what that leaves is taken, counted and listed
};
const char* to_string(Policy policy);

// What a step may cost under policy `budget`. Without numbers only the limits of the solver itself hold.
struct StepBudget {
    std::optional<double> ms;              // [ms] > 0 of processor time: the result then depends on the machine
    std::optional<double> factorisations;  // whole number >= 1, of every solve and island
    bool limited() const { return ms || factorisations; }
};
std::string to_string(const StepBudget& budget);  // "ms=10 factorisations=20"; empty without numbers

}  // namespace stickslip
