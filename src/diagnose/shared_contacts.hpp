// Contacts that share their load in more ways than one: a box on four corners. With the active rows of an island (bodies that touch
// or are joined), stacked as H: all of them where a contact sticks, the normal where it slips, and the rigid rows of joints,
//
//   rank H < rows of H    another set of forces has the same effect, as long as it stays in the cones
//
// The motion is the same for all of them. Left out: islands of more than `max_rows` rows, which are judged by counting alone.
#pragma once

#include <string>
#include <vector>

#include "stickslip/problem.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

// The contacts of such islands in a solved problem, by number. Allocates: once per run, not per step.
std::vector<int> shared_contacts(const StepProblem& problem, const StepSolution& solution);

}  // namespace stickslip
