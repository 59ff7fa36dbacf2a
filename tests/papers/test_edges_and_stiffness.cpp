// Contacts that pass from a curve to a plane [Haddouni 4.3.3.4], and the flexible slider-crank of Table 3.5, against references.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analytic/runs.hpp"

namespace stickslip {
namespace {

using analytic::mechanism;
using analytic::note;
using analytic::Set;
using testing::Reference;

class Edge : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

// One event `edge` at its time, the velocity goes through it, the force jumps as the curvature does, and the contacts of both
// faces are never there together.
TEST_P(Edge, ForceJumpsAndVelocityDoesNot) {
    const auto& [model, scheme] = GetParam();
    const Reference reference(model);
    const std::vector<double>& edge = reference.rows("edge").front();
    for (const double step : {0.005, 0.0025, 0.001}) {
        SCOPED_TRACE(step);
        Model loaded = mechanism(model, Set{{"run.scheme", scheme}}("run.step", step));
        Simulation run(std::move(loaded));
        int edges = 0;
        double before = 0, after = 0, last = 0, x_after = 1;
        Vec2 velocity = Vec2::Zero();
        while (run.advance()) {
            const Step& s = run.step();
            ASSERT_LE(s.contacts.size(), 1u);
            if (edges == 1 && x_after > 0) {
                after = s.contacts.at(0).force[0];
                x_after = run.state().q[0];
            }
            for (const Event& event : s.events) {
                if (event.kind != EventKind::edge) continue;
                ++edges;
                EXPECT_NEAR(event.t, edge[0], 1e-8);
                before = s.contacts.empty() ? last : s.contacts[0].force[0];
                velocity = run.state().v;
            }
            if (!s.contacts.empty()) last = s.contacts[0].force[0];
        }
        EXPECT_EQ(edges, 1);
        EXPECT_NEAR(before, edge[3], 1e-8 * edge[3] * 10);
        EXPECT_NEAR(velocity[0], edge[1], 1e-8);
        EXPECT_NEAR(velocity[1], edge[2], 1e-8);
        // On the plane the force is constant; on the parabola it is edge[4]/(1 + x^2)^2 (curvature 1).
        const double curve = model == "plane-parabola" ? std::pow(1 + x_after * x_after, 2) : 1.0;
        EXPECT_NEAR(after * curve, edge[4], 1e-7);
        const std::vector<double>& final = reference.rows("state").back();
        ASSERT_NEAR(run.state().t, final[0], 1e-12);
        EXPECT_NEAR(run.state().q[0], final[1], 1e-7);
        EXPECT_NEAR(run.state().q[1], final[2], 1e-7);
    }
}

INSTANTIATE_TEST_SUITE_P(Papers, Edge,
                         ::testing::Combine(::testing::Values("parabola-plane", "plane-parabola"),
                                            ::testing::Values("hem5", "phem56", "dopri5")),
                         [](const auto& test) {
                             std::string name = std::get<0>(test.param) + "_" + std::get<1>(test.param);
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

struct Crank {
    long accepted = 0, rejected = 0;
    double error = 0;  // of the rigid coordinates and the deformations, largest at the reference times
};

Crank crank(const std::string& scheme, double tol, const Set& more = {}) {
    Set set{{"run.scheme", scheme}, {"scheme.safety", "0.85"}, {"run.end", "0.05"}};
    set("scheme.tol", tol);
    OptionValues values = set;
    for (const OptionValue& value : static_cast<const OptionValues&>(more)) values.push_back(value);
    Simulation run(mechanism("flexible-slider-crank", values));
    const Reference reference("flexible-slider-crank");
    Crank result;
    State x;
    while (run.advance()) {
        const Step& s = run.step();
        for (const std::vector<double>& state : reference.rows("state")) {
            if (!(state[0] > s.t0 && state[0] <= s.t1)) continue;
            s.at(*run.model().system, state[0], x);
            for (int i = 0; i < 7; ++i) result.error = std::max(result.error, std::abs(x.q[i] - state[i + 1]));
        }
    }
    const RunSummary summary = run.run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    result.accepted = summary.steps;
    result.rejected = summary.rejected;
    return result;
}

// Table 3.5. Explicit methods are bound by the stability limit of the rod's longitudinal mode whatever the tolerance; the implicit
// one is not.
TEST(Table35, ImplicitStepsAreFewAndExplicitOnesAreBoundByStability) {
    const Crank alpha = crank("generalized-alpha", 1e-4, Set{{"scheme.index", "2"}});
    EXPECT_LT(alpha.accepted, 500) << note("alpha", {double(alpha.accepted), double(alpha.rejected), alpha.error});
    EXPECT_LT(alpha.error, 1e-2);
    for (const std::string scheme : {"hem5", "phem56"}) {
        const Crank loose = crank(scheme, 1e-4), tight = crank(scheme, 1e-8);
        SCOPED_TRACE(note(scheme, {double(loose.accepted), loose.error, double(tight.accepted), tight.error}));
        EXPECT_GT(loose.accepted, 3 * alpha.accepted);
        EXPECT_LT(tight.accepted, 4 * loose.accepted);  // four decades of tolerance cost a factor of 6.3 elsewhere
        EXPECT_LT(tight.error, 1e-5);                   // a thousand steps at the rim of stability
    }
}

// The reference is met to the tolerance: errors fall with it.
TEST(Table35, ErrorsFallWithTheTolerance) {
    std::vector<double> errors;
    for (const double tol : {1e-4, 1e-6, 1e-8})
        errors.push_back(crank("generalized-alpha", tol, Set{{"scheme.index", "2"}}).error);
    EXPECT_LT(errors[1], 0.3 * errors[0]) << note("errors", errors);
    EXPECT_LT(errors[2], 0.3 * errors[1]) << note("errors", errors);
}

}  // namespace
}  // namespace stickslip
