// Mechanisms whose mass matrix varies, and the chain of balls, against their references: four-bar linkage, slider-crank with
// play in its guide. All steps divide the times of the references.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

class Linkages : public ::testing::TestWithParam<std::string> {
protected:
    bool euler() const { return GetParam() == "euler"; }
    Set with(double h) const { return Set{{"scheme.name", GetParam()}}("run.step", h); }
};

void advance_to(Simulation& simulation, double t, double h) {
    while (simulation.state().t < t - h / 2) ASSERT_TRUE(simulation.advance());
    ASSERT_NEAR(simulation.state().t, t, 1e-9);
}

TEST(FourBar, StartsAsItsReferenceAndItsForcesAreThose) {
    const std::vector<double> start = Reference("four-bar").rows("start")[0];
    Simulation simulation(mechanism("four-bar", Set()("run.step", 1e-7)("scheme.stabilisation", 0)));
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(simulation.state().q[i], start[i], 1e-15);
    ASSERT_TRUE(simulation.advance());
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(simulation.state().v[i] / 1e-7, start[3 + i], 1e-5);
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(simulation.step().reactions[i] / 1e-7, start[6 + i], 1e-5);
}

// The schemes that take M at the start of the step have the first order where M varies; then two runs extrapolate to the motion
// of the reference.
TEST_P(Linkages, FourBarTurnsAsItsReference) {
    const Reference reference("four-bar");
    std::vector<double> errors, energies, extrapolated;
    std::vector<VecX> before;
    for (int k = 12; k <= 15; ++k) {
        const double h = std::ldexp(1, -k);
        Simulation simulation(mechanism("four-bar", with(h)));
        double worst = 0, energy_error = 0, better = 0;
        std::vector<VecX> now;
        for (const std::vector<double>& state : reference.rows("state")) {
            if (state[0] < 0.2 || state[0] > 1) continue;
            advance_to(simulation, state[0], h);
            const State& x = simulation.state();
            const Vec3 exact(state[1], state[2], state[3]);
            now.push_back(x.q);
            worst = std::max({worst, (x.q - exact).norm(), (x.v - Vec3(state[4], state[5], state[6])).norm() / 10});
            if (!before.empty()) better = std::max(better, (2 * x.q - before[now.size() - 1] - exact).norm());
            const Energies& energy = simulation.step().ledger.now();
            energy_error =
                std::max({energy_error, std::abs(energy.kinetic - state[9]), std::abs(energy.potential - state[10])});
        }
        errors.push_back(worst);
        energies.push_back(energy_error);
        if (!before.empty()) extrapolated.push_back(better);
        before = now;
    }
    const std::string numbers =
        note("errors", errors) + "; " + note("energies", energies) + "; " + note("extrapolated", extrapolated);
    if (GetParam() ==
        "moreau-jean") {  // order two, and no regular first term to extrapolate: Newton's loop is not always needed
        EXPECT_GT(observed_order(errors), 1.6) << numbers;
        EXPECT_GT(observed_order(energies), 1.7) << numbers;
        EXPECT_LT(errors.back(), 1e-6) << numbers;
        return;
    }
    EXPECT_GT(observed_order(errors), 0.85) << numbers;
    EXPECT_GT(observed_order(energies), 0.85) << numbers;
    EXPECT_GT(observed_order(extrapolated), 1.7) << numbers;
    EXPECT_LT(extrapolated.back(), 1e-4) << numbers;
}

// The torque is the only load, and its work is known from the angle; Coriolis forces are none, though M changes the kinetic
// energy. What the scheme loses vanishes with the step.
TEST_P(Linkages, LedgerBooksTheTorqueAndNotTheCoriolisForces) {
    std::vector<double> works, losses;
    for (int k = 12; k <= 14; ++k) {
        const RunSummary end = run(mechanism("four-bar", with(std::ldexp(1, -k))("run.end", 1.0)));
        works.push_back(std::abs(end.flows.applied_work - 6 * (end.q[0] - 1.0471975511965979)));
        losses.push_back(std::abs(end.flows.scheme_loss));
    }
    const std::string numbers = note("works", works) + "; " + note("losses", losses);
    EXPECT_GT(observed_order(works), 0.85) << numbers;
    EXPECT_GT(observed_order(losses), 0.7) << numbers;
    EXPECT_LT(std::abs(2 * works[2] - works[1]), 1e-3) << numbers;  // in the limit, of 3 J
}

// Nobody drives the slider-crank: no work, and the energy that is lost goes into impacts and friction.
TEST(SliderCrankClearance, LosesItsEnergyToImpactsAndFriction) {
    std::vector<double> works, losses;
    for (const double h :
         {5e-6, 2.5e-6, 1.25e-6}) {  // longer ones miss whole impacts: their errors are of no order yet
        const RunSummary end = run(mechanism("slider-crank-clearance", Set()("run.step", h)("run.end", 0.1)));
        works.push_back(std::abs(end.flows.applied_work));
        losses.push_back(std::abs(end.flows.scheme_loss));
    }
    const std::string numbers = note("works", works) + "; " + note("losses", losses);
    EXPECT_GT(observed_order(works), 0.85) << numbers;
    EXPECT_GT(observed_order(losses), 0.85) << numbers;
}

TEST(FourBar, RefusesLoopsThatDoNotClose) {
    EXPECT_THROW(mechanism("four-bar", Set{{"d", "1.2"}}), Error);
    EXPECT_THROW(mechanism("four-bar", Set{{"l3", "3"}}), Error);
    EXPECT_THROW(mechanism("four-bar", Set{{"d", "0.3"}, {"phi1_0", "0"}}), Error);
    // Open and crossed, long and short: the loop is closed wherever it can be.
    for (const char* angle : {"-2", "-0.5", "0", "0.5", "1.5", "3"}) {
        const Model model = mechanism("four-bar", Set{{"phi1_0", angle}, {"l2", "0.8"}, {"l3", "0.6"}});
        EXPECT_EQ(model.state.v.norm(), 0);
    }
}

// Before the impacts of the chain accumulate its places follow the reference with the first order; then it rests, with the
// weight of all that lies above on every contact.
TEST(ThreeBallChain, BouncesAsItsReferenceAndComesToRest) {
    const Reference reference("three-ball-chain");
    std::vector<double> errors, rest;
    for (const double h : {1e-3, 1e-4, 1e-5}) {
        Simulation simulation(mechanism("three-ball-chain", Set()("run.step", h)("run.end", 0.75)));
        double worst = 0;
        for (const std::vector<double>& state : reference.rows("state")) {
            if (state[0] > 0.75) break;
            advance_to(simulation, state[0], h);
            const double error = (simulation.state().q - Vec3(state[1], state[2], state[3])).norm();
            if (state[0] < 0.55)
                worst = std::max(worst, error);
            else
                rest.push_back(error);
        }
        errors.push_back(worst);
        EXPECT_NEAR(simulation.state().v.norm(), 0, 1e-12);
        const std::vector<double> force = reference.rows("force")[0];
        ASSERT_EQ(simulation.step().contacts.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(simulation.step().contacts[i].impulse[0] / h, force[i], 1e-9);
    }
    const std::string numbers = note("errors", errors) + "; " + note("rest", rest);
    EXPECT_NEAR(std::log10(errors.front() / errors.back()) / 2, 1, 0.3) << numbers;
    EXPECT_LT(errors.back(), 1e-4) << numbers;
    EXPECT_LT(rest.back(), 1e-4) << numbers;
}

TEST(ThreeBallChain, RefusesBallsThatOverlapAtTheStart) {
    EXPECT_THROW(mechanism("three-ball-chain", Set{{"z1_0", "0.05"}}), Error);
    EXPECT_THROW(mechanism("three-ball-chain", Set{{"z2_0", "0.7"}}), Error);
    EXPECT_THROW(mechanism("three-ball-chain", Set{{"R", "0.3"}}), Error);
}

// Two corners strike at once; the reference keeps the slider level. Moreau-Jean follows it through impacts, their accumulation, contact
// and take-off. Smooth parts are of the second order: what is left is where in its step each impact falls, which no two runs share.
TEST(SliderCrankClearance, StrikesItsGuideAsTheReference) {
    const Reference reference("slider-crank-clearance");
    for (const auto& [e, mu] : {std::pair{0.4, 0.01}, std::pair{0.4, 0.0}, std::pair{0.1, 0.0}, std::pair{0.0, 0.01}}) {
        std::vector<double> errors, energies;
        for (const double h : {1e-5, 1e-6}) {
            Simulation simulation(
                mechanism("slider-crank-clearance", Set()("run.step", h)("eN", e)("mu", mu)("run.end", 0.1)));
            double worst = 0, energy_error = 0;
            int states = 0;
            for (const std::vector<double>& state : reference.rows("state")) {
                if (state[0] != e || state[1] != mu || state[2] > 0.1 + 1e-9) continue;
                advance_to(simulation, state[2], h);
                const Vec3 exact(state[3], state[4], 0);
                ++states;
                worst = std::max(worst, (simulation.state().q - exact).norm());
                const Energies& energy = simulation.step().ledger.now();
                energy_error = std::max(energy_error, std::abs(energy.kinetic + energy.potential - state[7]));
            }
            ASSERT_EQ(states, 8);
            errors.push_back(worst);
            energies.push_back(energy_error);
        }
        const std::string numbers = note("errors", errors) + "; " + note("energies", energies);
        EXPECT_LT(errors.front(), 3e-3) << e << " " << mu << " " << numbers;
        EXPECT_LT(errors.back(), 3e-4) << e << " " << mu << " " << numbers;
        EXPECT_LT(energies.front(), 1e-2) << e << " " << mu << " " << numbers;
        EXPECT_LT(energies.back(), 1e-3) << e << " " << mu << " " << numbers;
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Linkages, ::testing::ValuesIn(velocity_level_schemes()),
                         [](const auto& each) { return word_of(each.param); });

}  // namespace
}  // namespace stickslip::analytic
