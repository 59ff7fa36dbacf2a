// Newton's loop of moreau-jean [Haddouni, A.3] on forces that change their slope within a step: a stiff cubic spring,
//
//   x'' = -s x^3,   U = s x^4/4,   period 7.4163 / (a sqrt(s)) for the amplitude a
//
// whose theta rule v+ = v - h s ((1-th) x^3 + th x+^3) is written out here once more and must hold.
#include <gtest/gtest.h>

#include <cmath>

#include "analytic/runs.hpp"

namespace stickslip {
namespace {

using namespace analytic;

constexpr double stiffness = 4e4;  // [N/m^3]

Model cubic_spring(const OptionValues& options, double end, bool floor_below = false, double drag = 0) {
    LagrangianModel model;
    model.name = "cubic spring";
    model.coordinates = {"x"};
    model.nv = 1;
    model.constant_mass = MatX::Constant(1, 1, 1.0);
    model.potential = [](const VecX& q) { return stiffness * std::pow(q[0], 4) / 4; };
    model.potential_force = [](const VecX& q, VecX& k) { k[0] = -stiffness * std::pow(q[0], 3); };
    model.applied = [=](double, const VecX&, const VecX& v, VecX& k) { k[0] = -drag * v[0] * std::abs(v[0]); };
    model.slopes = [=](double, const VecX& q, const VecX& v, MatX& K, MatX& C) {
        K(0, 0) = 3 * stiffness * q[0] * q[0];
        C(0, 0) = 2 * drag * std::abs(v[0]);
    };
    if (floor_below) {
        LagrangianModel::Contact wall;
        wall.name = "wall";
        wall.restitution = 0.5;
        wall.gap = [](const VecX& q) { return q[0] + 0.5; };
        wall.jacobian = [](const VecX&, MatX& H) { H(0, 0) = 1; };
        wall.bias = [](const VecX&, const VecX&, VecX&) {};
        model.contacts.push_back(wall);
    }
    Model whole;
    whole.name = "cubic spring";
    whole.system = make_lagrangian_system(std::move(model));
    whole.state = {0, VecX::Constant(1, 1.0), VecX::Zero(1)};
    whole.run.scheme = {"moreau-jean", options, {}};
    whole.run.end = end;
    return whole;
}

// Largest violation of the theta rule over the run [m/s], with the impulse of the wall where there is one.
double worst_rule(Model model, double h, double th, double drag, RunSummary* summary = nullptr, int* passes = nullptr) {
    Simulation simulation(std::move(model));
    double worst = 0, x = simulation.state().q[0], v = simulation.state().v[0];
    const auto force = [&](double at, double speed) {
        return -stiffness * std::pow(at, 3) - drag * speed * std::abs(speed);
    };
    while (simulation.advance()) {
        const double x1 = simulation.state().q[0], v1 = simulation.state().v[0];
        double impulse = 0;
        for (const ContactRecord& contact : simulation.step().contacts) impulse += contact.impulse[0];
        const double scale = 1 + std::abs(v) + std::abs(v1);
        worst = std::max(worst, std::abs(v1 - v - h * ((1 - th) * force(x, v) + th * force(x1, v1)) - impulse) / scale);
        EXPECT_NEAR(x1 - x, h * ((1 - th) * v + th * v1), 1e-14 * (1 + std::abs(x) + std::abs(x1)));
        x = x1;
        v = v1;
    }
    const RunSummary end = simulation.run();
    EXPECT_TRUE(end.certified) << end.reason;
    EXPECT_LE(std::abs(end.imbalance), 1e-12 * end.energy_scale);
    if (summary) *summary = end;
    if (passes) *passes = static_cast<int>(end.solves);
    return worst;
}

OptionValues options(double h, double th, const char* tol, const char* most) {
    return Set{{"newton_tol", tol}, {"newton_max", most}}("step", h)("theta", th);
}

TEST(NewtonLoop, TheThetaRuleHoldsToRoundingWithIt) {
    const double h = 0x1p-7;
    for (const double th : {0.5, 0.75, 1.0}) {
        for (const bool wall : {false, true}) {
            for (const double drag : {0.0, 0.3}) {
                SCOPED_TRACE("theta " + text_of(th) + (wall ? ", wall" : "") + ", drag " + text_of(drag));
                EXPECT_LT(worst_rule(cubic_spring(options(h, th, "1e-13", "50"), 2, wall, drag), h, th, drag), 1e-12);
                EXPECT_GT(worst_rule(cubic_spring(options(h, th, "1e-13", "1"), 2, wall, drag), h, th, drag), 1e-2);
            }
        }
    }
}

// theta = 1/2 keeps the energy of a spring bounded near its value if the rule holds (it is the trapezoidal rule, which is
// conjugate to a symplectic one); the linearised rule takes it away.
TEST(NewtonLoop, WithoutItAStiffeningSpringLosesItsEnergy) {
    const double h = 0x1p-9, start = stiffness / 4;
    const auto range = [&](const char* passes) {
        Simulation simulation(cubic_spring(options(h, 0.5, "1e-9", passes), 2));
        std::pair<double, double> energy{infinity, 0};
        while (simulation.advance()) {
            const Energies now = simulation.step().ledger.now();
            energy.first = std::min(energy.first, (now.kinetic + now.potential) / start);
            energy.second = std::max(energy.second, (now.kinetic + now.potential) / start);
        }
        return energy;
    };
    const auto with = range("50"), without = range("1");
    EXPECT_GT(with.first, 0.999);
    EXPECT_LT(with.second, 1.1);
    EXPECT_LT(without.first, 0.3);
}

// A linear force is solved at once; a mild one needs no second solve at the default tolerance; a stiff one does.
TEST(NewtonLoop, PassesAreTakenOnlyWhereTheyAreNeeded) {
    RunSummary summary;
    const double h = 0x1p-7;
    worst_rule(cubic_spring(options(h, 0.5, "1e-6", "20"), 1), h, 0.5, 0, &summary);
    EXPECT_GT(summary.solves, 2 * summary.steps);
    EXPECT_LT(summary.solves, 8 * summary.steps);
    for (const std::string& text : summary.warnings) EXPECT_EQ(text.find("newton_max"), text.npos) << text;
    const double fine = 0x1p-17;
    worst_rule(cubic_spring(options(fine, 0.5, "1e-6", "20"), 0x1p-7), fine, 0.5, 0, &summary);
    EXPECT_EQ(summary.solves, summary.steps);
}

TEST(NewtonLoop, SaysWhenItDidNotConverge) {
    RunSummary summary;
    const double h = 0x1p-9;  // with longer steps it flies apart
    worst_rule(cubic_spring(options(h, 0.5, "1e-13", "2"), 1), h, 0.5, 0, &summary);
    ASSERT_FALSE(summary.warnings.empty());
    EXPECT_NE(summary.warnings.back().find("newton_max"), std::string::npos) << summary.warnings.back();
}

}  // namespace
}  // namespace stickslip
