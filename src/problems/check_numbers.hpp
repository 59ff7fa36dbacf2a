// What the numbers of a stored problem must be before anything is computed with them. A file is input: it may be damaged,
// or made by another program. Every refusal is an Error that names array and entry.
#pragma once

#include <span>
#include <string>

#include "stickslip/error.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

// Sizes beyond this overflow when a few of them are multiplied; below, solvers may fail but do not hang.
inline constexpr double largest_number = 1e100;

void check_finite(std::span<const double> x, const std::string& name, const std::string& path);
void check_not_negative(std::span<const double> x, const std::string& name, const std::string& path);

// The symmetric part of A, node by node, and as a whole where nodes are coupled and there are at most so many velocities.
inline constexpr int largest_factored = 20000;
void check_positive_definite(const BlockMatrix& A, const std::string& name, const std::string& path);

// All numbers of a problem whose sizes and offsets have been checked.
void check_numbers(const StepProblem& problem, const std::string& path);
void check_numbers(const StepSolution& guess, const std::string& path);

}  // namespace stickslip
