#include "stickslip/policy.hpp"

#include <fmt/format.h>

namespace stickslip {

const char* to_string(Policy policy) {
    switch (policy) {
        case Policy::degrade: return "degrade";
        case Policy::certify: return "certify";
        case Policy::budget: return "budget";
    }
    return "?";
}

std::string to_string(const StepBudget& budget) {
    std::string text;
    if (budget.ms) text = fmt::format("ms={}", *budget.ms);
    if (budget.factorisations)
        text += fmt::format("{}factorisations={}", text.empty() ? "" : " ", *budget.factorisations);
    return text;
}

}  // namespace stickslip
