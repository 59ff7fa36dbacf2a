// Joints that say the same thing twice: doors on more hinges than needed, loops that are mobile only by their dimensions.
// They must move as the mechanics says, be certified by every solver, and give the smallest reactions.
#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "analytic/runs.hpp"

namespace stickslip::analytic {
namespace {

// The smallest lambda with the same G' lambda, from all rigid rows at once by singular values; `gap` separates those of
// redundant rows, which drift makes as large as itself.
VecX pseudo_inverse_reactions(const StepProblem& problem, const RowVec& lambda, double gap) {
    const MatX G = problem.joints.jacobian.dense(problem.nodes());
    std::vector<int> rigid;
    for (int i = 0; i < problem.joints.size(); ++i)
        if (problem.joints.kind[i] == RowKind::holonomic) rigid.push_back(i);
    MatX Gt(G.cols(), static_cast<Eigen::Index>(rigid.size()));
    VecX given(Gt.cols());
    for (Eigen::Index k = 0; k < Gt.cols(); ++k) {
        Gt.col(k) = G.row(rigid[k]).transpose();
        given[k] = lambda[rigid[k]];
    }
    Eigen::JacobiSVD<MatX> svd(Gt, Eigen::ComputeThinU | Eigen::ComputeThinV);
    svd.setThreshold(gap);
    VecX all = lambda.vec();
    const VecX smallest = svd.solve(Gt * given);
    for (Eigen::Index k = 0; k < smallest.size(); ++k) all[rigid[k]] = smallest[k];
    return all;
}

// Reactions of the step just taken and lambda of its one stage, as row, largest difference relative to the largest.
double distance_from_pseudo_inverse(const Step& step, double gap) {
    const VecX expected = pseudo_inverse_reactions(step.problem, step.solution.lambda, gap);
    return (step.reactions.vec() - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

std::string door(const std::vector<double>& heights) {
    std::string text = R"(stickslip: 1
contacts: {cone: {polygon: 8}}
bodies:
  door: {mass: 30, shapes: [{box: [1, 0.05, 2]}], velocity: [0, 1, 0], angular_velocity: [0, 0, 2]}
joints:
)";
    for (std::size_t i = 0; i < heights.size(); ++i)
        text += "  hinge-" + std::to_string(i + 1) + ": {revolute: {a: ground, b: door, at: [-0.5, 0, " +
                text_of(heights[i]) + "], axis: [0, 0, 1]}}\n";
    return text + "run: {step: 1e-3, end: 1}\n";
}

TEST(RedundantJoints, EqualHingesOfADoorCarryEqualShares) {
    const RunSummary alone = run(scene_text(door({0})));
    for (const std::string solver : {"auto", "lemke", "nsgs"}) {
        for (const std::vector<double>& heights : {std::vector<double>{-0.8, 0.8}, std::vector<double>{-0.8, 0, 0.8}}) {
            Simulation simulation(scene_text(door(heights), Set{{"run.solver", solver}}));
            const auto n = static_cast<int>(heights.size());
            while (simulation.advance()) {
                const Step& step = simulation.step();
                // rows of a hinge: the point's force along x, y, z, then two moments
                const double weight = 30 * g * 1e-3;  // [N s] per step
                for (int k = 0; k < n; ++k)
                    ASSERT_NEAR(step.reactions[5 * k + 2], weight / n, 1e-10 * weight) << solver << ", hinge " << k + 1;
                // Centripetal force and the door's inertia act at half height: in the mean each hinge has its share.
                const double x = step.reactions[0] + step.reactions[5 * (n - 1)];
                const double y = step.reactions[1] + step.reactions[5 * (n - 1) + 1];
                double sum_x = 0, sum_y = 0;
                for (int k = 0; k < n; ++k) {
                    sum_x += step.reactions[5 * k];
                    sum_y += step.reactions[5 * k + 1];
                }
                ASSERT_NEAR(x, 2 * sum_x / n, 1e-9 * weight);
                ASSERT_NEAR(y, 2 * sum_y / n, 1e-9 * weight);
                ASSERT_LE(distance_from_pseudo_inverse(step, 1e-3), 1e-9);
            }
            EXPECT_EQ(simulation.state().t, 1) << solver;
            const RunSummary summary = simulation.run();
            EXPECT_EQ(summary.redundant.size(), static_cast<std::size_t>(5 * (n - 1)));
            EXPECT_EQ(summary.redundant.front(), "hinge-2 row 1");
            EXPECT_EQ(summary.not_unique.size(), static_cast<std::size_t>(n));
            // and the door moves as on one hinge
            EXPECT_LE((simulation.state().q - alone.q).cwiseAbs().maxCoeff(), 1e-10);
            EXPECT_LE((simulation.state().v - alone.v).cwiseAbs().maxCoeff(), 1e-10);
        }
    }
}

TEST(RedundantJoints, OneHingeAndAChainHaveNone) {
    const RunSummary summary = run(scene_text(door({0.3}), Set{{"run.end", "1e-2"}}));
    EXPECT_TRUE(summary.redundant.empty() && summary.not_unique.empty());
    EXPECT_TRUE(run(scene("chain-10", Set{{"run.end", "1e-2"}})).redundant.empty());
    EXPECT_TRUE(run(scene("four-bar", Set{{"run.end", "1e-2"}})).redundant.empty());
}

// Three equal cranks carry a coupler, all joints spatial hinges: rank 23 of 30 rows. The coupler moves without turning, so
// phi'' = -g/l (M + 3 m/2)/(M + m) sin phi for cranks of mass m (rods) and a coupler of mass M.
const char* const swing = R"(stickslip: 1
let: {phi: 1, l: 0.5}
gravity: [0, 0, -9.81]
contacts: {cone: {polygon: 8}}
bodies:
  crank-1: {pose: {at: [-1 + l/2*sin(phi), 0, -l/2*cos(phi)], rpy_deg: [0, -phi*180/pi, 0]}, mass: 2, inertia: [2*l^2/12, 2*l^2/12, 1e-3]}
  crank-2: {pose: {at: [l/2*sin(phi), 0, -l/2*cos(phi)], rpy_deg: [0, -phi*180/pi, 0]}, mass: 2, inertia: [2*l^2/12, 2*l^2/12, 1e-3]}
  crank-3: {pose: {at: [1 + l/2*sin(phi), 0, -l/2*cos(phi)], rpy_deg: [0, -phi*180/pi, 0]}, mass: 2, inertia: [2*l^2/12, 2*l^2/12, 1e-3]}
  coupler: {pose: [l*sin(phi), 0, -l*cos(phi)], mass: 5, inertia: [0.1, 2, 2]}
joints:
  foot-1: {revolute: {a: ground, b: crank-1, at: [-1, 0, 0], axis: [0, 1, 0]}}
  foot-2: {revolute: {a: ground, b: crank-2, at: [0, 0, 0], axis: [0, 1, 0]}}
  foot-3: {revolute: {a: ground, b: crank-3, at: [1, 0, 0], axis: [0, 1, 0]}}
  head-1: {revolute: {a: crank-1, b: coupler, at: [-1 + l*sin(phi), 0, -l*cos(phi)], axis: [0, 1, 0]}}
  head-2: {revolute: {a: crank-2, b: coupler, at: [l*sin(phi), 0, -l*cos(phi)], axis: [0, 1, 0]}}
  head-3: {revolute: {a: crank-3, b: coupler, at: [1 + l*sin(phi), 0, -l*cos(phi)], axis: [0, 1, 0]}}
run: {scheme: {name: moreau-jean, theta: 1, stabilisation: 1}, step: 1e-3, end: 10}
)";

double swing_angle(double t) {
    const double l = 0.5, m = 2, M = 5, rate = g / l * (M + 1.5 * m) / (M + m), h = 1e-5;
    double phi = 1, omega = 0;
    const auto slope = [&](double x) { return -rate * std::sin(x); };
    for (long n = std::lround(t / h); n > 0; --n) {  // Runge-Kutta of order four
        const double k1 = slope(phi), k2 = slope(phi + h / 2 * omega), k3 = slope(phi + h / 2 * omega + h * h / 4 * k1),
                     k4 = slope(phi + h * omega + h * h / 2 * k2);
        phi += h * omega + h * h / 6 * (k1 + k2 + k3);
        omega += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return phi;
}

TEST(RedundantJoints, ThreeCranksSwingLikeOnePendulumWithEverySolver) {
    const double exact = 0.5 * std::sin(swing_angle(10));
    for (const std::string solver : {"auto", "lemke", "nsgs"}) {
        std::vector<double> errors;
        for (const double h : {1e-3, 5e-4, 2.5e-4}) {
            const RunSummary summary = run(scene_text(swing, Set{{"run.solver", solver}}("run.step", h)));
            EXPECT_EQ(summary.redundant.size(), 7u);
            EXPECT_EQ(summary.not_unique.size(), 6u);
            errors.push_back(std::abs(summary.q[21] - exact));
        }
        EXPECT_GE(observed_order(errors), 0.9) << note(solver, errors);
    }
}

TEST(RedundantJoints, ReactionsOfThreeCranksAreThoseOfThePseudoInverse) {
    Simulation simulation(scene_text(swing, Set{{"run.end", "1"}}));
    while (simulation.advance()) ASSERT_LE(distance_from_pseudo_inverse(simulation.step(), 1e-3), 1e-7);
    EXPECT_EQ(simulation.state().t, 1);
}

// A locomotive: two wheels coupled by two rods at right angles. Each rod alone has dead points, where the other leads; one
// of the twelve rows of the planar model is redundant, but not always the same. The rods translate, so nothing changes the speed.
TEST(RedundantJoints, RodsOfALocomotiveLeadEachOtherOverTheirDeadPoints) {
    const std::string text = R"(stickslip: 1
plane: xz
gravity: [0, 0, 0]
contacts: {cone: {polygon: 8}}
let: {w: 6, r: 0.4}
bodies:
  front: {pose: [1, 0, 0], mass: 100, inertia: 8, angular_velocity: [0, w, 0]}
  rear: {pose: [-1, 0, 0], mass: 100, inertia: 8, angular_velocity: [0, w, 0]}
  rod-1: {pose: [r, 0, 0], mass: 20, inertia: 5, velocity: [0, 0, -w*r]}
  rod-2: {pose: [0, 0, r], mass: 20, inertia: 5, velocity: [w*r, 0, 0]}
joints:
  axle-1: {revolute: {a: ground, b: front, at: [1, 0, 0]}}
  axle-2: {revolute: {a: ground, b: rear, at: [-1, 0, 0]}}
  pin-1: {revolute: {a: front, b: rod-1, at: [1 + r, 0, 0]}}
  pin-2: {revolute: {a: rear, b: rod-1, at: [-1 + r, 0, 0]}}
  pin-3: {revolute: {a: front, b: rod-2, at: [1, 0, r]}}
  pin-4: {revolute: {a: rear, b: rod-2, at: [-1, 0, r]}}
run: {scheme: {name: moreau-jean, theta: 1, stabilisation: 1}, step: 1e-3, end: 5}
)";
    for (const std::string solver : {"auto", "lemke", "nsgs"}) {
        Simulation simulation(scene_text(text, Set{{"run.solver", solver}}));
        double worst = 0;  // [rad] between the wheels
        while (simulation.advance())
            worst = std::max(worst, std::abs(simulation.state().q[2] - simulation.state().q[5]));
        const RunSummary summary = simulation.run();
        EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
        EXPECT_EQ(summary.redundant.size(), 1u);
        EXPECT_LE(worst, 1e-4) << solver;
        EXPECT_NEAR(simulation.state().v[2], 6, 0.05) << solver;
        EXPECT_GT(simulation.state().q[2], 28) << solver;  // nearly five turns
    }
}

TEST(RedundantJoints, BricardsMechanismFollowsItsReferenceForTenSeconds) {
    const std::string file = STICKSLIP_TEST_DATA "/scenes/bricard.yaml";
    const Reference reference("bricard");
    for (const std::string solver : {"auto", "lemke", "nsgs"}) {
        std::vector<double> errors;
        for (const double h : {2e-3, 1e-3, 5e-4}) {
            Simulation simulation(load_model(file, Set{{"run.solver", solver}}("run.step", h)));
            double worst = 0;
            std::size_t next = 0;
            const auto& rows = reference.rows("com");
            while (simulation.advance()) {
                const State& x = simulation.state();
                if (next == rows.size() || x.t < rows[next][0] - 1e-9) continue;
                ASSERT_NEAR(x.t, rows[next][0], 1e-9);
                for (int b = 0; b < 5; ++b)
                    for (int k = 0; k < 3; ++k)
                        worst = std::max(worst, std::abs(x.q[7 * b + k] - rows[next][1 + 3 * b + k]));
                ++next;
            }
            EXPECT_EQ(next, rows.size()) << solver;
            const RunSummary summary = simulation.run();
            EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
            EXPECT_TRUE(summary.certified);
            EXPECT_EQ(summary.redundant.size(), 1u);
            EXPECT_EQ(summary.not_unique.size(), 6u);
            errors.push_back(worst);
        }
        EXPECT_GE(observed_order(errors), 0.95) << note(solver, errors);
    }
}

TEST(RedundantJoints, ReactionsOfBricardAreThoseOfThePseudoInverse) {
    Simulation simulation(load_model(STICKSLIP_TEST_DATA "/scenes/bricard.yaml", Set{{"run.end", "1.5"}}));
    // up to the drift of the joints, 2e-6 here, by which the rows are independent after all
    while (simulation.advance()) ASSERT_LE(distance_from_pseudo_inverse(simulation.step(), 1e-3), 2e-5);
    EXPECT_EQ(simulation.state().t, 1.5);
}

// A bolt that comes in while the door swings doubles a hinge. The rows are searched again, and a resumed run finds the same.
TEST(RedundantJoints, AHingeAttachedOnTheWayIsFoundAndResumedToTheSameBits) {
    const std::string text = door({-0.8}) +
                             "actions: [{at: 0.3, attach: {second: {revolute: {a: ground, b: door, at: [-0.5, 0, 0.8], "
                             "axis: [0, 0, 1]}}}}]\n";
    const Set stabilised{{"run.scheme", "{name: moreau-jean, theta: 1, stabilisation: 1}"}};
    Simulation through(scene_text(text, stabilised)), resumed(scene_text(text, stabilised));
    while (through.state().t < 0.5 && through.advance()) {
    }
    resumed.restore(through.snapshot());
    const RunSummary one = through.run(), two = resumed.run();
    EXPECT_EQ(one.end, RunEnd::finished) << one.reason;
    EXPECT_EQ(one.redundant.size(), 5u);
    EXPECT_EQ(one.not_unique, (std::vector<std::string>{"hinge-1", "second"}));
    EXPECT_EQ(one.redundant, two.redundant);
    EXPECT_EQ(one.hash, two.hash);
    EXPECT_EQ(through.step().reactions, resumed.step().reactions);
    // Both carry half the weight, up to the drift with which the second found the door.
    EXPECT_LE(one.joint_violation.position_max, 1e-5);
    EXPECT_NEAR(through.step().reactions[2], through.step().reactions[7],
                30 * g * 1e-3 * one.joint_violation.position_max);
}

}  // namespace
}  // namespace stickslip::analytic
