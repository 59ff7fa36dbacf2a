#include <gtest/gtest.h>

#include <cstring>

#include "solvers/block_pivot.hpp"
#include "support/piles.hpp"

namespace stickslip {
namespace {

using namespace testing;

TEST(BlockPivot, BoxThatSlidesNeedsAFewLinearSolvesAndNoPivot) {
    BoxOnPlane scene;
    scene.force = Vec3(15, 4, 0);
    StepSolution solution;
    BlockPivotSolver solver;
    const StepProblem problem = scene.problem();
    const SolveReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_LT(residual(problem, solution).max(), 1e-14);
}

// A frictionless pile with compliance is a P-matrix: the least-index rule ends, Lemke is not asked.
TEST(BlockPivot, FrictionlessCompliantPilesEndWithoutLemke) {
    for (const int dim : {2, 3})
        for (const int n : {10, 40, 100})
            for (std::uint32_t seed = 0; seed < 3; ++seed) {
                Pile pile;
                pile.dim = dim;
                pile.contacts = n;
                pile.mu = 0;
                StepProblem problem = pile.problem(seed);
                problem.S.setConstant(1e-3);
                StepSolution solution;
                BlockPivotSolver solver;
                const SolveReport report = solver.solve(problem, solution);
                EXPECT_EQ(report.status, Status::ok);
                EXPECT_STREQ(report.solver, "block-pivot");
                EXPECT_EQ(solver.work().pivots, 0);
                EXPECT_LT(residual(problem, solution).max(), 1e-10);
            }
}

// With friction nothing is promised but that the answer solves the step problem, whoever gave it.
TEST(BlockPivot, PilesWithFrictionAreSolvedIfNeedBeByLemke) {
    int alone = 0, all = 0;
    for (const auto& [dim, facets] : {std::pair{2, 2}, {3, 4}, {3, 6}, {3, 8}})
        for (const int n : {5, 10, 20, 50})
            for (std::uint32_t seed = 0; seed < 3; ++seed)
                for (const bool joints : {false, true}) {
                    Pile pile;
                    pile.dim = dim;
                    pile.facets = facets;
                    pile.contacts = n;
                    pile.joints = joints;
                    const StepProblem problem = pile.problem(seed);
                    StepSolution solution;
                    BlockPivotSolver solver;
                    const SolveReport report = solver.solve(problem, solution);
                    EXPECT_EQ(report.status, Status::ok) << report.reason;
                    EXPECT_LT(residual(problem, solution).max(), 1e-10);
                    if (dim == 3 && n <= 10) {
                        EXPECT_EQ(solver.work().pivots, 0) << facets << " facets, " << n << " contacts, seed " << seed;
                    }
                    alone += solver.work().pivots == 0;
                    ++all;
                }
    std::printf("%d of %d without a pivot of Lemke's\n", alone, all);
    EXPECT_GT(alone, all / 3);
}

TEST(BlockPivot, RandomRedundantBoxedProblemsAreAllSolved) {
    for (std::uint32_t i = 0; i < 200; ++i) {
        RandomProblem maker;
        maker.nodes = 1 + static_cast<int>(i % 6);
        maker.contacts = 1 + static_cast<int>(i % 17);
        maker.joints = 4;
        maker.repeat = 0.4 * (i % 3);
        maker.skew = i % 2 ? 0.5 : 0.0;
        StepProblem problem = maker.problem(300 + i);
        Random random(i);
        for (Eigen::Index j = 0; j < problem.b.size(); ++j) {
            problem.T[j] = 0.1;
            problem.b[j] = random.normal();
            problem.lower[j] = -random.uniform(0, 2);
            problem.upper[j] = random.uniform(0, 2);
        }
        StepSolution solution;
        BlockPivotSolver solver;
        const SolveReport report = solver.solve(problem, solution);
        EXPECT_EQ(report.status, Status::ok) << i << " " << report.reason;
        EXPECT_LT(residual(problem, solution).max(), 1e-9) << i;
    }
}

TEST(BlockPivot, WithoutRoundsItIsLemke) {
    BlockPivotOptions options;
    options.max_rounds = 0;
    BlockPivotSolver solver(options);
    Pile pile;
    const StepProblem problem = pile.problem(1);
    StepSolution solution;
    const SolveReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_STREQ(report.solver, "lemke");
    EXPECT_GT(solver.work().pivots, 10);
}

TEST(BlockPivot, DiscsAreRefusedByName) {
    BoxOnPlane scene;
    scene.facets = 0;
    StepSolution solution;
    BlockPivotSolver solver;
    const SolveReport report = solver.solve(scene.problem(), solution);
    EXPECT_EQ(report.status, Status::infeasible);
    EXPECT_NE(std::strstr(report.reason, "block-pivot"), nullptr);
}

}  // namespace
}  // namespace stickslip
