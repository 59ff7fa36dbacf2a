// Newton on the cones: what sweeps cannot reach.
#include <gtest/gtest.h>

#include "solvers/cone_newton.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using namespace stickslip::testing;

TEST(ConeNewton, TippingTowerWithAHeavyTopIsSolvedFromNothing) {
    for (const int facets : {0, 6}) {
        BoxStack stack;
        stack.boxes = 20;
        stack.facets = facets;
        stack.masses.assign(20, 1.0);
        stack.masses[19] = 1000;
        stack.push = Vec3(1000, 500, 0);  // beyond m g / 39: it turns about the lowest edge
        const StepProblem problem = stack.problem();
        ConeNewtonSolver solver;
        StepSolution x;
        const SolveReport report = solver.solve(problem, x);
        EXPECT_EQ(report.status, Status::ok);
        EXPECT_LT(residual(problem, x).max(), 1e-12);
        EXPECT_EQ(x.p[0], 0);          // the far corner of the base is free
        EXPECT_GT(x.v[6 * 19], 1e-5);  // the top moves with the push
    }
}

TEST(ConeNewton, AlmostAllRandomProblemsWithoutAnyHelp) {
    RandomProblem random;
    random.mass_low = 1e-2;
    random.mass_high = 1e2;
    random.polygons_only = false;
    random.nodes = 8;
    random.contacts = 16;
    ConeNewtonSolver solver;
    int solved = 0;
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        const StepProblem problem = random.problem(seed);
        StepSolution x;
        const bool ok = solver.solve(problem, x).status == Status::ok;
        EXPECT_EQ(ok, residual(problem, x).max() <= default_tolerance);
        solved += ok;
    }
    EXPECT_GE(solved, 198);
}

TEST(ConeNewton, ComplianceOfNormalAndTangentsMayDiffer) {
    // One contact of a unit mass, S_N and S_T given: (1 + S_N) p_N = 1, and p_T at its bound or (1 + S_T) p_T = 0.2.
    for (const double S_T : {0.0, 4.0}) {
        ProblemBuilder b;
        b.node(MatX::Identity(3, 3), Vec3(-1, 0.2, 0));
        b.node(MatX::Identity(3, 3), Vec3(-1, 0.2, 0));  // twice: no shortcut for one node
        for (int n = 0; n < 2; ++n) b.contact_rows(3, {{n, Mat3::Identity()}}, 0.2, 0);
        StepProblem problem = b.problem();
        problem.S.vec() << 1, S_T, S_T, 1, S_T, S_T;
        ConeNewtonSolver solver;
        StepSolution x;
        ASSERT_EQ(solver.solve(problem, x).status, Status::ok);
        EXPECT_NEAR(x.p[0], 0.5, 1e-12);
        EXPECT_NEAR(x.p[1], -std::min(0.1, 0.2 / (1 + S_T)), 1e-12);
    }
}

TEST(ConeNewton, RoundsUsedUpAreTold) {
    BoxStack stack;
    stack.facets = 0;
    stack.push = Vec3(30, 0, 0);
    ConeNewtonOptions options;
    options.max_rounds = 0;
    ConeNewtonSolver solver(options);
    StepSolution x;
    const SolveReport report = solver.solve(stack.problem(), x);
    EXPECT_EQ(report.status, Status::not_converged);
    EXPECT_STRNE(report.reason, "");
}
