// Constraint stabilisation by projection in the mass metric [Haddouni, (2.12), (2.13)].
#include <gtest/gtest.h>

#include <cmath>

#include "collision/finder.hpp"
#include "stickslip/load.hpp"
#include "stickslip/simulation.hpp"
#include "support/models.hpp"

namespace stickslip {
namespace {

using testing::set;

struct Drift {
    double position = 0, speed = 0, overlap = 0;  // largest at the ends of steps
};

Drift drift_of(const Simulation& simulation) {
    static ContactFinder finder;
    const System& system = *simulation.model().system;
    const State& x = simulation.state();
    BilateralRows joints;
    ContactRows contacts;
    system.look_ahead(x.v, 0, finder);
    system.rows(x.t, x.q, finder, joints, contacts);
    VecX Gv(joints.size());
    joints.jacobian.product(system.nodes(), x.v, Gv);
    Drift drift;
    for (int i = 0; i < joints.size(); ++i) {
        if (joints.kind[i] != RowKind::holonomic) continue;
        drift.position = std::max(drift.position, std::abs(joints.value[i]));
        drift.speed = std::max(drift.speed, std::abs(Gv[i]));
    }
    for (const double gap : contacts.gap) drift.overlap = std::max(drift.overlap, -gap);
    return drift;
}

class ProjectedJoints : public ::testing::TestWithParam<const char*> {};

// Pendulum, double pendulum with impacts, loops with and without redundant rows, a chain: joints stay shut and their speeds
// zero, the ledger closes, and what projection did is booked.
TEST_P(ProjectedJoints, StayShutToRoundingAndTheLedgerCloses) {
    const std::string scenes = STICKSLIP_SCENES;
    for (const std::string& model :
         {std::string("mechanism:pendulum"), std::string("mechanism:double-pendulum-wall"), scenes + "/four-bar.yaml",
          scenes + "/slider-crank.yaml", scenes + "/chain-10.yaml"}) {
        SCOPED_TRACE(model);
        double free_drift = 0;
        for (const char* projection : {"off", "positions", "both"}) {
            std::vector options{set("run.scheme", GetParam()), set("scheme.projection", projection),
                                set("run.end", "0.5")};
            // By itself it leaves joints open by 1e-11 m: nothing would be left to project.
            if (std::string(GetParam()) == "moreau-jean") options.push_back(set("scheme.stabilisation", "0"));
            Simulation simulation(load_model(model, options));
            Drift worst;
            while (simulation.advance()) {
                const Drift drift = drift_of(simulation);
                worst.position = std::max(worst.position, drift.position);
                worst.speed = std::max(worst.speed, drift.speed);
            }
            const EnergyLedger& ledger = simulation.step().ledger;
            EXPECT_NEAR(simulation.state().t, 0.5, 1e-9);
            EXPECT_LT(std::abs(ledger.imbalance()), 1e-11 * ledger.scale()) << projection;
            const std::string kind = projection;
            if (kind == "off") {
                free_drift = worst.position;
                EXPECT_GT(worst.position, std::string(GetParam()) == "moreau-jean" ? 1e-10 : 1e-6)
                    << "nothing to project";
                continue;
            }
            EXPECT_LT(worst.position, 1e-12) << projection;
            EXPECT_NE(ledger.flows().regularisation_loss, 0) << projection;
            if (kind == "both") {
                EXPECT_LT(worst.speed, 1e-11);
            }
        }
        EXPECT_GT(free_drift, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Schemes, ProjectedJoints, ::testing::Values("moreau-jean", "euler"),
                         [](const auto& item) { return std::string(item.param) == "euler" ? "euler" : "moreau_jean"; });

// The pendulum of 1 m from the horizontal, in its angle, by the classical Runge-Kutta method.
Vec2 swing(double t) {
    const int n = 20000;
    const double h = t / n;
    Vec2 y(std::acos(0.0), 0);
    const auto f = [](const Vec2& x) { return Vec2(x[1], -9.81 * std::sin(x[0])); };
    for (int i = 0; i < n; ++i) {
        const Vec2 k1 = f(y), k2 = f(y + 0.5 * h * k1), k3 = f(y + 0.5 * h * k2), k4 = f(y + h * k3);
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return y;
}

TEST(Projection, KeepsTheOrderAndMakesTheErrorSmaller) {
    const Vec2 end = swing(1.5);
    const Vec2 exact(std::sin(end[0]), -std::cos(end[0]));
    for (const char* scheme : {"moreau-jean", "euler"}) {
        std::vector<double> off, both;
        for (const char* h : {"4e-3", "2e-3", "1e-3", "5e-4"}) {
            for (const char* projection : {"off", "both"}) {
                Simulation simulation(
                    load_model("mechanism:pendulum", {set("scheme.name", scheme), set("scheme.projection", projection),
                                                      set("run.step", h), set("run.end", "1.5")}));
                const RunSummary summary = simulation.run();
                (std::string(projection) == "off" ? off : both).push_back((summary.q.head<2>() - exact).norm());
            }
        }
        const double order = std::log2(both[0] / both[3]) / 3, without = std::log2(off[0] / off[3]) / 3;
        std::printf("%-12s off %.2e (order %.2f), both %.2e (order %.2f)\n", scheme, off[3], without, both[3], order);
        EXPECT_GT(order, std::min(without, 1.0) - 0.1);
        // Of the second order without it, with joint errors of 1e-8 m: moreau-jean has nothing to gain.
        if (without > 1.5) continue;
        EXPECT_LT(both[3], off[3]);
    }
}

// A point on the floor z >= 0 and a joint x + z = -d that starts open by d: the nearest point on the joint lies below the floor,
// so the move goes along it.
TEST(Projection, DoesNotPushAContactIntoOverlap) {
    for (const char* scheme : {"moreau-jean", "euler"}) {
        SCOPED_TRACE(scheme);
        const double d = 1e-3;
        LagrangianModel point;
        point.name = "point";
        point.coordinates = {"x", "z"};
        point.nv = 2;
        point.constant_mass = MatX::Identity(2, 2);
        point.joints = 1;
        point.joint_value = [d](double, const VecX& q, VecX& g) { g[0] = q[0] + q[1] + d; };
        point.joint_jacobian = [](double, const VecX&, MatX& G) { G.setOnes(); };
        point.joint_bias = [](double, const VecX&, const VecX&, VecX& c) { c.setZero(); };
        LagrangianModel::Contact floor;
        floor.name = "floor";
        floor.gap = [](const VecX& q) { return q[1]; };
        floor.jacobian = [](const VecX&, MatX& H) { H(0, 1) = 1; };
        floor.bias = [](const VecX&, const VecX&, VecX& c) { c.setZero(); };
        for (const bool with_floor : {true, false}) {
            LagrangianModel copy = point;
            if (with_floor) copy.contacts.push_back(floor);
            Model model;
            model.name = "point";
            model.state = {0, VecX::Zero(2), VecX::Zero(2)};
            model.system = make_lagrangian_system(std::move(copy));
            model.run.scheme = {scheme, {{"projection", "both", {}}}, {}};
            Simulation simulation(std::move(model));
            ASSERT_TRUE(simulation.advance());
            const VecX& q = simulation.state().q;
            EXPECT_NEAR(q[0], with_floor ? -d : -d / 2, 1e-13);
            EXPECT_NEAR(q[1], with_floor ? 0 : -d / 2, 1e-13);
        }
    }
}

}  // namespace
}  // namespace stickslip
