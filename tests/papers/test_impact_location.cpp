// [Haddouni 2015, 2.1.1.2, after Janin & Lamarque 2001]: what the location of impacts leaves of the order of a method, on the driven
// oscillator before a stop, whose motion is known in closed form; docs/schemes.md has these orders.
#include "smooth_methods.hpp"
#include "stickslip/mechanism.hpp"

namespace stickslip::analytic {
namespace {

struct Gate {
    const char *scheme, *location;
    double order;
    int coarsest;  // steps 2^-coarsest and three halvings
};

long of_impacts(const RunSummary& summary) {
    return std::count_if(summary.events.begin(), summary.events.end(),
                         [](const Event& event) { return event.kind == EventKind::impact; });
}

// The error depends on where in their steps the impacts fall, in im3 as by chance: the geometric mean over many starts is smooth in h.
RunErrors mean_errors(const Gate& gate, double h) {
    constexpr int starts = 40;
    double q = 0, v = 0;  // sums of logarithms
    for (int k = 0; k < starts; ++k) {
        Set set{{"run.scheme", gate.scheme}, {"scheme.location", gate.location}};
        set("run.step", h)("v0", -0.3 + 0.015 * k)("run.end", 12.5);
        Simulation simulation(mechanism("impact-oscillator", set));
        const RunSummary end = simulation.run();
        EXPECT_EQ(end.end, RunEnd::finished) << end.reason;
        EXPECT_GE(of_impacts(end), 2);
        const State exact = simulation.model().exact(end.t);
        q += std::log((end.q - exact.q).norm()) / starts;
        v += std::log((end.v - exact.v).norm()) / starts;
    }
    return {.q = std::exp(q), .v = std::exp(v)};
}

class ImpactLocation : public ::testing::TestWithParam<Gate> {};

TEST_P(ImpactLocation, LeavesTheOrderThatTheThesisSays) {
    const Gate& gate = GetParam();
    std::vector<double> q, v;
    for (int k = 0; k < 4; ++k) {
        const RunErrors errors = mean_errors(gate, std::ldexp(1, -gate.coarsest - k));
        q.push_back(errors.q);
        v.push_back(errors.v);
    }
    const std::string numbers = note(std::string(gate.scheme) + "_" + gate.location, q);
    std::printf("[ location ] %-7s %-5s order of q %.2f, of v %.2f; errors of q %.1e .. %.1e\n", gate.scheme,
                gate.location, observed_order(q), observed_order(v), q.front(), q.back());
    EXPECT_NEAR(observed_order(q), gate.order, 0.3) << numbers;
    EXPECT_NEAR(observed_order(v), gate.order, 0.3) << numbers;
}

INSTANTIATE_TEST_SUITE_P(
    Methods, ImpactLocation,
    ::testing::Values(Gate{"rattle", "im1", 2, 4}, Gate{"rattle", "im2", 2, 4}, Gate{"rattle", "exact", 2, 4},
                      Gate{"hem3", "im1", 2, 5}, Gate{"hem3", "im2", 3, 5}, Gate{"hem3", "im3", 3, 4},
                      Gate{"hem3", "exact", 3, 4}, Gate{"rk4", "im1", 2, 5}, Gate{"rk4", "im2", 3, 5},
                      Gate{"rk4", "im3", 4, 4}, Gate{"rk4", "exact", 4, 4}, Gate{"dopri5", "im1", 2, 5},
                      Gate{"dopri5", "im2", 3, 5}, Gate{"dopri5", "im3", 5, 3}, Gate{"dopri5", "exact", 5, 3}),
    [](const auto& item) { return std::string(item.param.scheme) + "_" + item.param.location; });

// The impact acts where the estimate says, so bodies overlap by its error; located exactly they do not.
TEST(ImpactEstimates, LeaveAnOverlapOfTheirOrder) {
    const auto overlap = [](const char* location, double h) {
        Set set{{"run.scheme", "dopri5"}, {"scheme.location", location}};
        set("run.step", h);
        return Simulation(mechanism("impact-oscillator", set)).run().gap_violation_max;
    };
    EXPECT_LT(overlap("exact", 0.1), 1e-12);
    EXPECT_GT(overlap("im1", 0.1), 1e-5);
    EXPECT_LT(overlap("im1", 0.1), 0.1 * 0.1);
    EXPECT_LT(overlap("im1", 0.0125), 0.0125 * 0.0125);
    EXPECT_LT(overlap("im2", 0.0125), 0.0125 * 0.0125 * 0.0125);
}

// Impacts that accumulate, rest against the stop, and the drive lets go again: three times in 30 s.
TEST(ImpactOscillator, RestsAgainstTheStopWhileTheDrivePresses) {
    Set set{{"run.scheme", "dopri5"}};
    set("e", 0.4)("Omega", 0.5)("x_max", 0.1)("run.step", 0.0625)("run.end", 30.0);
    for (const char* location : {"exact", "im1", "im2", "im3"}) {
        Set at = set;
        at("scheme.location", location);
        Simulation simulation(mechanism("impact-oscillator", at));
        const RunSummary end = simulation.run();
        ASSERT_EQ(end.end, RunEnd::finished) << end.reason;
        const State exact = simulation.model().exact(30);
        const double error = std::abs(end.q[0] - exact.q[0]);
        EXPECT_LT(error, std::string(location) == "exact" ? 1e-8 : 1e-2) << location;
        if (std::string(location) == "exact") {
            int rests = 0;
            for (const Event& event : end.events) rests += event.kind == EventKind::accumulation;
            EXPECT_EQ(rests, 3);
        }
    }
    const OptionValues values{{"e", "0.4", {}}, {"Omega", "0.5", {}}, {"x_max", "0.1", {}}};
    const auto exact = make_mechanism("impact-oscillator", values).exact;
    EXPECT_EQ(exact(1.5).q[0], 0.1);
    EXPECT_EQ(exact(1.5).v[0], 0);
    EXPECT_LT(exact(5).q[0], 0.1);
}

}  // namespace
}  // namespace stickslip::analytic
