// Fixed modes solved directly: exactness of stiction, redundancy, changes of mode.
#include <gtest/gtest.h>

#include "solvers/mode_solve.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using namespace stickslip::testing;

namespace {

StepSolution guess(const StepProblem& problem, ContactMode mode) {
    StepSolution x;
    x.size_to(problem);
    for (ContactMode& m : x.modes) m = mode;
    x.warm = true;
    return x;
}

double normal_sum(const StepProblem& problem, const StepSolution& x, int from = 0, int count = 1 << 20) {
    double sum = 0;
    for (int i = from; i < std::min(problem.contacts.size(), from + count); ++i)
        sum += x.p[problem.contacts.jacobian.row[i]];
    return sum;
}

}  // namespace

TEST(ModeSolve, BoxOnFourCornersRestsToRoundingWhateverTheGuess) {
    for (const int facets : {0, 4, 8}) {
        for (const ContactMode mode : {ContactMode::stick, ContactMode::slip}) {
            BoxOnPlane box;
            box.facets = facets;
            const StepProblem problem = box.problem();
            StepSolution x = guess(problem, mode);
            ModeSolver solver;
            Residual res;
            ASSERT_TRUE(solver.improve(problem, x, 1e-9, res));
            EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-15 * 9.81e-3);
            EXPECT_NEAR(normal_sum(problem, x), box.mass * 9.81 * box.step, 1e-15);
            for (const ContactMode m : x.modes) EXPECT_EQ(m, ContactMode::stick);
        }
    }
}

TEST(ModeSolve, WrongModesAreCorrected) {
    BoxOnPlane box;
    box.facets = 0;
    box.force = Vec3(20, 3, 0);  // above the limit mu m g = 9.81 N
    const StepProblem problem = box.problem();
    for (const ContactMode mode : {ContactMode::stick, ContactMode::slip}) {
        StepSolution x = guess(problem, mode);
        ModeSolver solver;
        Residual res;
        EXPECT_TRUE(solver.improve(problem, x, 1e-12, res));
        for (const ContactMode m : x.modes) EXPECT_EQ(m, ContactMode::slip);
    }
    box.force = Vec3(0, 0, 30);  // more than the weight: it lifts
    const StepProblem lifting = box.problem();
    StepSolution x = guess(lifting, ContactMode::stick);
    ModeSolver solver;
    Residual res;
    EXPECT_TRUE(solver.improve(lifting, x, 1e-12, res));
    EXPECT_EQ(x.p.cwiseAbs().maxCoeff(), 0);
    for (const ContactMode m : x.modes) EXPECT_EQ(m, ContactMode::open);
}

TEST(ModeSolve, StackOfTwentyCarriesItsWeightAtEveryFloor) {
    BoxStack stack;
    stack.boxes = 20;
    stack.facets = 0;
    const StepProblem problem = stack.problem();
    StepSolution x = guess(problem, ContactMode::stick);
    ModeSolver solver;
    Residual res;
    ASSERT_TRUE(solver.improve(problem, x, 1e-9, res));
    EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-15 * 9.81e-3);
    for (int n = 0; n < 20; ++n) EXPECT_NEAR(normal_sum(problem, x, 4 * n, 4), (20 - n) * 9.81e-3, 1e-14);
}

TEST(ModeSolve, RedundantImpulsesAreMovedBackIntoTheCone) {
    // A guess whose nearest equilibrium has pulling corners: diagonal corners loaded, the others negative.
    BoxOnPlane box;
    box.facets = 0;
    const StepProblem problem = box.problem();
    StepSolution x = guess(problem, ContactMode::stick);
    const double weight = box.mass * 9.81 * box.step;
    x.p[0] = x.p[9] = weight;
    x.p[3] = x.p[6] = -weight / 2;
    ModeSolver solver;
    Residual res;
    ASSERT_TRUE(solver.improve(problem, x, 1e-12, res));
    for (int i = 0; i < 4; ++i) EXPECT_GE(x.p[3 * i], 0);
    EXPECT_NEAR(normal_sum(problem, x), weight, 1e-14);
    EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-15 * 9.81e-3);
}

TEST(ModeSolve, TwoIdenticalBallJointsHoldLikeOne) {
    const auto build = [](int joints) {
        ProblemBuilder b;
        const int arm =
            b.body(3, box_inertia(3, Vec3(1, 0.2, 0.2)), Vec3(0.1, 0.2, -0.3), Vec3(0, 0, -0.03), Vec3(1, 2, 3));
        const int end = b.body(1, box_inertia(1, Vec3(1, 0.2, 0.2)), Vec3(0, 0, -0.3), Vec3(0, 0, -0.01));
        for (int k = 0; k < joints; ++k) {
            b.point_joint(arm, -1, Vec3(-0.5, 0, 0), Vec3::Zero());
            b.point_joint(end, arm, Vec3(-0.5, 0, 0), Vec3(0.5, 0, 0));
        }
        b.contact(end, -1, Vec3(0.5, 0.1, -0.1), Vec3::Zero(), 0.4, 0);
        b.contact(end, -1, Vec3(0.5, -0.1, -0.1), Vec3::Zero(), 0.4, 0);
        return b.problem();
    };
    const StepProblem once = build(1), twice = build(2);
    StepSolution x = guess(once, ContactMode::stick), y = guess(twice, ContactMode::stick);
    ModeSolver solver;
    Residual res;
    ASSERT_TRUE(solver.improve(once, x, 1e-12, res));
    ASSERT_TRUE(solver.improve(twice, y, 1e-12, res));
    EXPECT_LT((x.v - y.v).cwiseAbs().maxCoeff(), 1e-13);
    for (int k = 0; k < 6; ++k) EXPECT_NEAR(x.lambda[k], y.lambda[k] + y.lambda[k + 6], 1e-12);
}

TEST(ModeSolve, NeverLeavesSomethingWorse) {
    RandomProblem random;
    random.polygons_only = false;
    ModeSolver solver;
    solver.max_rounds = 1;
    Random noise(5);
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        const StepProblem problem = random.problem(seed);
        StepSolution x = guess(problem, seed % 2 ? ContactMode::stick : ContactMode::open);
        x.v = noise.vector(problem.nodes().nv());
        const double before = residual(problem, x).max();
        Residual res;
        const bool ok = solver.improve(problem, x, 1e-9, res);
        EXPECT_LE(residual(problem, x).max(), before);
        EXPECT_EQ(residual(problem, x).max(), res.max());
        EXPECT_EQ(ok, res.max() <= 1e-9);
    }
}

TEST(ModeSolve, BodiesWithoutRowsFly) {
    ProblemBuilder b;
    b.body(2, Vec3(1, 2, 3), Vec3(1, 2, 3), Vec3(0, 0, -1), Vec3(0.1, 0.2, 0.3));
    const StepProblem problem = b.problem();
    StepSolution x = guess(problem, ContactMode::open);
    ModeSolver solver;
    Residual res;
    EXPECT_TRUE(solver.improve(problem, x, 1e-14, res));
    EXPECT_NEAR(x.v[2], 2.5, 1e-15);
    EXPECT_NEAR(x.v[5], 0.3, 1e-15);
}
