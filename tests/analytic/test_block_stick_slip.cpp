// A block under the push 8 cos t: slips in short phases, sticks in between. As a mechanism in its own coordinates
// and as a box of the scene library on four corners.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

Model block(bool as_box, const std::string& scheme, double h) {
    const Set set{{"scheme.name", scheme}, {"run.step", text_of(h)}};
    return as_box ? scene("block-stick-slip", set) : mechanism("block-stick-slip", set);
}

class BlockStickSlip : public ::testing::TestWithParam<std::tuple<std::string, bool>> {
protected:
    std::string scheme() const { return std::get<0>(GetParam()); }
    bool as_box() const { return std::get<1>(GetParam()); }
};

// The slips are rounded to steps, which scatters the error of single step sizes when it is of second order; so the order
// is judged over four halvings.
TEST_P(BlockStickSlip, ErrorAfterTenSecondsAtLeastHalvesWithTheStep) {
    const Reference reference("block-stick-slip");
    const double travel = reference.row("state", {10})[1] - 3;
    std::vector<double> errors;
    for (int k = 7; k <= 11; ++k) {
        Model model = block(as_box(), scheme(), std::ldexp(1, -k));
        const double start = model.state.q[0];
        errors.push_back(std::abs(run(std::move(model)).q[0] - start - travel));
    }
    const std::string numbers = note("errors", errors);
    EXPECT_LT(errors.back(), 2e-5) << numbers;
    if (scheme() == "moreau-jean") {
        // theta = 1/2 and a constant normal force: better than the first order it promises.
        EXPECT_GT(observed_order(errors), 1.5) << numbers;
    } else {
        for (std::size_t k = 1; k < errors.size(); ++k) EXPECT_NEAR(errors[k - 1] / errors[k], 2, 0.3) << numbers;
    }
}

// Velocities inside the phases, not only the sum of the slips.
TEST_P(BlockStickSlip, StatesOnTheWayConvergeToTheClosedForm) {
    const Reference reference("block-stick-slip");
    std::vector<double> errors;
    for (const double h : {0.005, 0.0025, 0.00125}) {
        Simulation simulation(block(as_box(), scheme(), h));
        const double start = simulation.state().q[0];
        double worst = 0;
        for (const std::vector<double>& state : reference.rows("state")) {
            while (simulation.state().t < state[0] - h / 2) ASSERT_TRUE(simulation.advance());
            ASSERT_NEAR(simulation.state().t, state[0], 1e-9);
            worst = std::max({worst, std::abs(simulation.state().q[0] - start - (state[1] - 3)),
                              std::abs(simulation.state().v[0] - state[2])});
        }
        errors.push_back(worst);
    }
    const std::string numbers = note("errors", errors);
    EXPECT_LT(errors.back(), 2 * 0.00125 * 0.152) << numbers;  // h times the largest acceleration (8 - 7.848), twice
    EXPECT_GT(observed_order(errors), 0.7) << numbers;
}

TEST_P(BlockStickSlip, DoesNotCreepWhileItMustStick) {
    const Reference reference("block-stick-slip");
    for (const double h : {0.01, 0.003, 0.001}) {
        Simulation simulation(block(as_box(), scheme(), h));
        VecX before = simulation.state().q;
        double way = 0;
        int counted = 0;
        while (simulation.advance()) {
            const Step& step = simulation.step();
            const VecX& now = simulation.state().q;
            for (const std::vector<double>& phase : reference.rows("phase")) {
                if (phase[0] != 0 || step.t0 < phase[1] + 2 * h || step.t1 > phase[2] - 2 * h) continue;
                way += (now - before).norm();
                ++counted;
            }
            before = now;
        }
        const std::string numbers = note("way_at_" + text_of(h), {way});
        EXPECT_GT(counted * h, 7.5) << "the phases of sticking last 7.92 s";
        EXPECT_LT(way, 1e-12) << numbers;
    }
}

TEST(BlockStickSlipImplicit, ErrorHalvesWithTheStepAtThetaOne) {
    const double travel = Reference("block-stick-slip").row("state", {2})[1] - 3;
    for (const bool as_box : {false, true}) {
        std::vector<double> errors;
        for (int k = 7; k <= 11; ++k) {
            Model model = block(as_box, "moreau-jean", std::ldexp(1, -k));
            model.run.scheme.options.push_back({"theta", "1", {}});
            model.run.end = 2;
            const double start = model.state.q[0];
            errors.push_back(std::abs(run(std::move(model)).q[0] - start - travel));
        }
        EXPECT_NEAR(observed_order(errors), 1, 0.1) << note(as_box ? "box" : "mechanism", errors);
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, BlockStickSlip,
                         ::testing::Combine(::testing::ValuesIn(velocity_level_schemes()), ::testing::Bool()),
                         [](const auto& each) {
                             return word_of(std::get<0>(each.param)) +
                                    (std::get<1>(each.param) ? "_box" : "_mechanism");
                         });

}  // namespace
}  // namespace stickslip::analytic
