// Differences of states, and the order they fall with.
#pragma once

#include <limits>
#include <vector>

#include "stickslip/study.hpp"
#include "stickslip/system.hpp"

namespace stickslip::study {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();  // a number that nothing could be said of

// First index in q of each unit quaternion.
std::vector<int> quaternions(const System& system, const VecX& q);

struct Difference {
    double norm = 0, largest = 0;  // NaN when nothing could be compared
};
// Entries of `reference` that are NaN are not known and left out.
Difference difference(const VecX& x, const VecX& reference);
// The same, with each quaternion of x given the sign that is nearer.
Difference difference(const VecX& q, const VecX& reference, const std::vector<int>& quaternions);

// p of y = C x^p by least squares in logarithms; NaN with fewer than two different x. What is not positive is left out.
double fitted_order(const std::vector<double>& x, const std::vector<double>& y);

// Fills ratio and orders of the rows, which of them are fitted, and the fitted orders of the study. `scale` is the size of q.
void fill_orders(Convergence& study, double scale);

}  // namespace stickslip::study
