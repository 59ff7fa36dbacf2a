// Table 4.2 of the thesis: on the slider-crank with play the hybrid scheme takes longer steps than Moreau-Jean under step control.
// Play, masses and speeds after Flores, Leine & Glocker 2010; the thesis prints no parameters of its own.
#include <gtest/gtest.h>

#include <cmath>

#include "analytic/runs.hpp"

namespace stickslip {
namespace {

using analytic::mechanism;
using analytic::note;
using analytic::Set;
using testing::Reference;

RunSummary clearance(const std::string& scheme, double tol, double end) {
    return analytic::run(
        mechanism("slider-crank-clearance", Set{{"run.scheme", scheme}}("scheme.tol", tol)("run.end", end)));
}

TEST(Table42, HybridStepsAreLongerThanThoseOfAdaptiveMoreauJean) {
    for (const auto& [tol, end] : {std::pair{1e-4, 0.2}, {1e-6, 0.2}, {1e-8, 0.02}}) {
        const double hybrid = end / static_cast<double>(clearance("hybrid", tol, end).steps);
        // Step control by halves [Fig. 2.3]: each accepted pair is two steps.
        const double stepping = 0.5 * end / static_cast<double>(clearance("moreau-jean", tol, end).steps);
        EXPECT_GE(hybrid, 2.5 * stepping) << tol << " " << note("average step", {hybrid, stepping});
    }
}

// Angles and rates at 0.05 s, after the first accumulation; the mechanism is sensitive, and time-stepping over the accumulations
// leaves an error of its own (h_min) that the tolerance does not reach.
TEST(Table42, HybridTendsToTheReference) {
    const Reference reference("slider-crank-clearance");
    const std::vector<double>& state = reference.row("state", {0.4, 0.01, 0.05});
    std::vector<double> errors;
    for (const double tol : {1e-4, 1e-6, 1e-8}) {
        const RunSummary summary = clearance("hybrid", tol, 0.05);
        errors.push_back(std::hypot(summary.q[0] - state[3], summary.q[1] - state[4]));
        EXPECT_GT(summary.event_count, 0);
    }
    EXPECT_LT(errors[0], 1e-3) << note("errors", errors);
    EXPECT_LT(errors[2], 1e-5) << note("errors", errors);
    EXPECT_LT(errors[2], errors[0]) << note("errors", errors);
}

}  // namespace
}  // namespace stickslip
