// One contact alone, with numbers that have overflowed: an answer of some kind, never a loop without an end.
#include <gtest/gtest.h>

#include <limits>

#include "solvers/local/contact_solve.hpp"

namespace stickslip {
namespace {

TEST(ContactSolve, NumbersBeyondAllBoundsGetAnAnswer) {
    constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double size : {infinite, nan, 1e308, 1e200, 1e-308, 0.0, -1.0}) {
        for (const double across : {0.0, size, -size}) {
            for (const int facets : {0, 2, 4, 8}) {
                for (const int dim : {1, 2, 3}) {
                    double W[9], p[3] = {1, 0.5, -0.5};
                    for (int i = 0; i < dim * dim; ++i) W[i] = i % (dim + 1) == 0 ? size : across;
                    const double q[3] = {-1, 0.3, -2};
                    const ContactMode mode = solve_contact(dim, 0.7, facets, W, q, p);
                    EXPECT_LE(mode, ContactMode::slip);
                }
            }
        }
    }
}

}  // namespace
}  // namespace stickslip
