// How a step notices that something changes between its ends faster than it can see.
#pragma once

#include <array>

namespace stickslip {

// Shares of a step at which loads are looked at, besides its ends and its middle. No two distances are alike, so that no oscillation is
// at the same phase at all of them.
inline constexpr std::array<double, 9> unseen_places = {0.0713, 0.1489, 0.2311, 0.3407, 0.4229, 0.6143, 0.7321, 0.8467, 0.9351};
// Share of the largest value by which it may be elsewhere there than the values of the ends tell. If smaller, ordinary steps are
// warned of; if larger, loads are taken wrongly by more than errors of the step.
inline constexpr double unseen_share = 0.05;

// The parabola through three values at 0, 1/2 and 1.
inline double parabola(double c, double first, double middle, double last) {
    return first + c * (4 * middle - 3 * first - last + c * (2 * first - 4 * middle + 2 * last));
}

}  // namespace stickslip
