// Two carts with spring, damper, floor friction and a stopper, against event-located solutions in 60 digits. With a damper that
// is stiff for the step the two schemes tend to different limits: euler to the plastic impact of the pair, moreau-jean to
// the pair that rebounds with e, as if jointed.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

struct Case {
    double gamma, delta;
};

// Largest errors of the two positions at the 16 reference times; `n` steps between two of them.
Vec2 carts_error(const std::string& scheme, double theta, const Case& c, int n) {
    const Reference reference("two-carts");
    const std::vector<double>& start = reference.row("case", {c.gamma, c.delta});
    const std::vector<double>& first = reference.row("state", {c.gamma, c.delta});
    const double h = first[2] / n;
    Set set = Set{{"scheme.name", scheme}}("run.step", h)("gamma", c.gamma)("delta", c.delta)("x1_0", start[2])(
        "x2_0", start[3])("v1_0", start[4])("v2_0", start[5]);
    // Overlap is left, as in the published scheme: with it pushed out the observed order is 0.849 in one case.
    if (scheme == "moreau-jean") set("scheme.theta", theta)("scheme.overlap", "leave");
    Simulation simulation(mechanism("two-carts", set));
    Vec2 worst = Vec2::Zero();
    for (const std::vector<double>& state : reference.rows("state")) {
        if (state[0] != c.gamma || state[1] != c.delta) continue;
        while (simulation.state().t < state[2] - 1e-9)
            if (!simulation.advance()) return Vec2::Constant(infinity);
        for (int i = 0; i < 2; ++i) worst[i] = std::max(worst[i], std::abs(simulation.state().q[i] - state[3 + i]));
    }
    return worst;
}

// Where in a step an impact or reversal falls changes the error: the worst of `samples` steps around each size is what halves.
struct Halving {
    std::vector<double> both, second;  // of both carts, of the second alone
};

Halving errors_by_halving(const std::string& scheme, double theta, const Case& c, int samples) {
    Halving errors;
    for (int n = 64; n <= 512; n *= 2) {
        Vec2 worst = Vec2::Zero();
        for (int i = 0; i < samples; ++i)
            worst = worst.cwiseMax(carts_error(scheme, theta, c, n + i * n / (3 * samples)));
        errors.both.push_back(worst.maxCoeff());
        errors.second.push_back(worst[1]);
    }
    return errors;
}

struct Rule {
    const char* scheme;
    double theta;  // of moreau-jean
};
const std::vector<Rule> rules{{"moreau-jean", 0.5}, {"moreau-jean", 1}, {"euler", 0}};

TEST(TwoCarts, ConvergeWithFirstOrderWhileTheStepSeesTheDamper) {
    for (const Case& c : {Case{100, 100}, Case{100, 10}}) {
        for (const Rule& rule : rules) {
            const std::vector<double> errors = errors_by_halving(rule.scheme, rule.theta, c, 8).both;
            const std::string numbers =
                note("errors_" + std::string(rule.scheme) + text_of(rule.theta) + "_" + text_of(c.delta), errors);
            EXPECT_GT(observed_order(errors), 0.85) << numbers;
            EXPECT_LT(errors.back(), 5e-3) << numbers;
        }
    }
}

// A stiff spring makes cart 1 swing by v sqrt(m/gamma), faster than the steps for gamma = 1e6: its phase is then lost, but
// not the way of cart 2, which the damper drags behind.
TEST(TwoCarts, MidpointRuleConvergesForStiffSprings) {
    for (const double gamma : {1e4, 1e6}) {
        const Halving errors = errors_by_halving("moreau-jean", 0.5, {gamma, 10}, 8);
        const std::string numbers =
            note("both_" + text_of(gamma), errors.both) + "; " + note("second_" + text_of(gamma), errors.second);
        EXPECT_GT(observed_order(gamma < 1e5 ? errors.both : errors.second), 0.85) << numbers;
        EXPECT_LT(errors.second.back(), 1e-4) << numbers;
        EXPECT_LT(errors.both[0], 3 * 3 / std::sqrt(gamma)) << numbers;
    }
}

// Largest distance at the reference times to one of the two limits of infinite damping; delta = 1e6, which no step here sees.
double distance_to_limit(const std::string& scheme, const std::string& limit, int n) {
    const Reference reference("two-carts");
    const double h = 0.25 / n;
    Simulation simulation(mechanism("two-carts", Set{{"scheme.name", scheme}}("run.step", h)("delta", 1e6)));
    double worst = 0;
    for (const std::vector<double>& state : reference.rows(limit)) {
        while (simulation.state().t < state[0] - 1e-9)
            if (!simulation.advance()) return infinity;
        for (int i = 0; i < 2; ++i) worst = std::max(worst, std::abs(simulation.state().q[i] - state[1 + i]));
    }
    return worst;
}

TEST(TwoCarts, LockedByTheDamperTheyHitPlasticallyOrAsOneBody) {
    for (const std::string& scheme : velocity_level_schemes()) {
        const bool euler = scheme == "euler";
        std::vector<double> near, far;
        for (int n = 128; n <= 1024; n *= 2) {
            double worst = 0, nearest = infinity;
            for (int i = 0; i < 4; ++i) {
                worst = std::max(worst, distance_to_limit(scheme, euler ? "locked" : "jointed", n + i * n / 12));
                nearest = std::min(nearest, distance_to_limit(scheme, euler ? "jointed" : "locked", n + i * n / 12));
            }
            near.push_back(worst);
            far.push_back(nearest);
        }
        const std::string numbers = note("near_" + scheme, near) + "; " + note("far_" + scheme, far);
        // Moreau-Jean leaves its limit again when the step begins to see the damper, at 1e-6 s.
        if (euler) {
            EXPECT_GT(observed_order(near), 0.85) << numbers;
        }
        for (std::size_t k = 1; k < near.size(); ++k) EXPECT_LT(near[k], far[k] / 5) << numbers;
    }
}

}  // namespace
}  // namespace stickslip::analytic
