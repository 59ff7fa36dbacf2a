// Roots in a bracket, by Boost's TOMS 748.
#pragma once

#include <boost/math/tools/toms748_solve.hpp>
#include <cstdint>

namespace stickslip {

// The end with f <= 0 of a bracket around a root of f, where f(a) > 0 >= f(b); its width is at most 2^-bits of the root.
template <class F>
double bracketed_root(F&& f, double a, double b, double f_a, double f_b, int bits = 50) {
    if (f_b == 0) return b;
    std::uintmax_t evaluations = 100;
    const auto [low, high] = boost::math::tools::toms748_solve(
        f, a, b, f_a, f_b, boost::math::tools::eps_tolerance<double>(bits), evaluations);
    return a < b ? high : low;
}

}  // namespace stickslip
