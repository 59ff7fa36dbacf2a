#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <cstring>
#include <numbers>

#include "solvers/lemke.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

SolveReport solve(const StepProblem& problem, StepSolution& solution) {
    LemkeSolver solver;
    const SolveReport report = solver.solve(problem, solution);
    const Residual check = residual(problem, solution);  // the report must not flatter
    EXPECT_EQ(report.residual.max(), check.max());
    return report;
}

double sum_of_components(const StepSolution& solution, int component) {
    double sum = 0;
    for (Eigen::Index k = component; k < solution.p.size(); k += 3) sum += solution.p[k];
    return sum;
}

TEST(Lemke, BoxAtRestIsCarriedByItsCorners) {
    const BoxOnPlane scene;
    StepSolution solution;
    const SolveReport report = solve(scene.problem(), solution);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_LT(report.residual.max(), 1e-16);
    EXPECT_LT(solution.v.norm(), 1e-16);
    EXPECT_NEAR(sum_of_components(solution, 0), scene.mass * 9.81 * scene.step, 1e-16);
}

TEST(Lemke, BoxPushedBelowFrictionStaysExactly) {
    BoxOnPlane scene;
    scene.force = Vec3(5, -3, 0);  // 5.8 N against an inscribed octagon of 0.5 * 19.62 cos(pi/8) = 9.06 N
    StepSolution solution;
    const SolveReport report = solve(scene.problem(), solution);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_LT(solution.v.norm(), 1e-16);
    EXPECT_NEAR(sum_of_components(solution, 1), -5e-3, 1e-16);
    EXPECT_NEAR(sum_of_components(solution, 2), 3e-3, 1e-16);
}

TEST(Lemke, BoxPushedAboveFrictionAcceleratesByTheDifference) {
    BoxOnPlane scene;
    scene.force = Vec3(15, 0, 0);  // along a corner of the octagon: the full mu acts
    StepSolution solution;
    const SolveReport report = solve(scene.problem(), solution);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_NEAR(solution.v[0], scene.step * (15 / scene.mass - scene.mu * 9.81), 1e-17);
    EXPECT_LT(solution.v.tail(5).norm(), 1e-16);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(solution.modes[i], solution.p[3 * i] > 0 ? ContactMode::slip : ContactMode::open);
}

TEST(Lemke, BoxThrownUpLeavesTheGround) {
    BoxOnPlane scene;
    scene.velocity = Vec3(0.3, 0, 0.5);
    StepSolution solution;
    const SolveReport report = solve(scene.problem(), solution);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_EQ(solution.p.norm(), 0);
    for (const ContactMode mode : solution.modes) EXPECT_EQ(mode, ContactMode::open);
}

TEST(Lemke, OffsetMakesABallBounce) {
    ProblemBuilder build;
    build.node(2.0 * MatX::Identity(1, 1), VecX::Constant(1, 2.0 * -3.0));  // m = 2, v- = -3
    build.contact_rows(1, {{0, MatX::Identity(1, 1)}}, 0, 0);
    StepProblem problem = build.problem();
    problem.c[0] = 0.5 * -3.0;  // Newton: u+ >= -e u-
    StepSolution solution;
    EXPECT_EQ(solve(problem, solution).status, Status::ok);
    EXPECT_NEAR(solution.v[0], 1.5, 1e-15);
    EXPECT_NEAR(solution.p[0], 2 * 4.5, 1e-15);
}

TEST(Lemke, CompliantContactYieldsByItsCompliance) {
    ProblemBuilder build;
    build.node(2.0 * MatX::Identity(1, 1), VecX::Constant(1, -6.0));
    build.contact_rows(1, {{0, MatX::Identity(1, 1)}}, 0, 0);
    StepProblem problem = build.problem();
    problem.S[0] = 0.25;
    StepSolution solution;
    EXPECT_EQ(solve(problem, solution).status, Status::ok);
    EXPECT_NEAR(solution.p[0], 3.0 / (0.5 + 0.25), 1e-15);
}

TEST(Lemke, DiscInSpaceIsRefusedByName) {
    BoxOnPlane scene;
    scene.facets = 0;
    StepSolution solution;
    const SolveReport report = solve(scene.problem(), solution);
    EXPECT_EQ(report.status, Status::infeasible);
    EXPECT_NE(std::strstr(report.reason, "polygon"), nullptr);
    EXPECT_NE(std::strstr(report.reason, "nsgs"), nullptr);
}

TEST(Lemke, IntervalsAndFrictionlessDiscsAreTaken) {
    // a planar block (x, z, angle) sliding on two points with one tangent each, and a disc with mu = 0
    ProblemBuilder build;
    const double h = 1e-3, mass = 3;
    MatX block = MatX::Zero(3, 3);
    block.diagonal() << mass, mass, 0.1;
    build.node(block, block * Vec3(0.4, 0, 0) + h * Vec3(0, -mass * 9.81, 0));
    for (const double x : {-0.5, 0.5}) {
        MatX J(2, 3);
        J << 0, 1, x, 1, 0, 0.1;
        build.contact_rows(2, {{0, J}}, 0.3, 0);
    }
    build.body(1.0, Vec3::Ones(), Vec3(1, 2, -1), Vec3::Zero());
    build.contact(1, -1, Vec3::Zero(), Vec3::Zero(), 0.0, 0);
    StepSolution solution;
    EXPECT_EQ(solve(build.problem(), solution).status, Status::ok);
    EXPECT_NEAR(solution.v[0], 0.4 - h * 0.3 * 9.81, 1e-15);
    EXPECT_LT((solution.v.tail(6).head(3) - Vec3(1, 2, 0)).norm(), 1e-15);
}

TEST(Lemke, RepeatedJointsAndRestingContactsShareTheLoad) {
    // a table top on four corners, held at its centre by the same vertical joint three times
    BoxOnPlane scene;
    ProblemBuilder build;
    build.body(scene.mass, box_inertia(scene.mass, scene.edges), Vec3::Zero(),
               scene.step * Vec3(1, 0, -scene.mass * 9.81));
    for (int i = 0; i < 4; ++i)
        build.contact(0, -1, 0.5 * Vec3(i & 1 ? 0.4 : -0.4, i & 2 ? 0.3 : -0.3, -0.2), Vec3::Zero(), 0.5, 8);
    for (int copy = 0; copy < 3; ++copy) build.point_joint(0, -1, Vec3::Zero(), Vec3::Zero());
    StepSolution solution;
    const SolveReport report = solve(build.problem(), solution);
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_LT(report.residual.max(), 1e-15);
    EXPECT_LT(solution.v.norm(), 1e-15);
    double carried = sum_of_components(solution, 0);
    for (int copy = 0; copy < 3; ++copy) carried += solution.lambda[3 * copy + 2];
    EXPECT_NEAR(carried, scene.mass * 9.81 * scene.step, 1e-15);
    EXPECT_LT(solution.lambda.cwiseAbs().maxCoeff(), 1);  // no large impulses against each other
}

TEST(Lemke, MotorReachesItsTargetOrSaturates) {
    ProblemBuilder build;
    build.node(2.0 * MatX::Identity(1, 1), VecX::Zero(1));
    build.joint_rows(1, {{0, MatX::Identity(1, 1)}});
    StepProblem problem = build.problem();
    problem.b[0] = 1.5;  // wants lambda = 3
    for (const double limit : {0.5, 2.9, 3.1, 50.0, 1e9}) {
        for (const double sign : {1.0, -1.0}) {
            problem.b[0] = 1.5 * sign;
            problem.lower[0] = -limit;
            problem.upper[0] = limit;
            StepSolution solution;
            const SolveReport report = solve(problem, solution);
            EXPECT_EQ(report.status, Status::ok);
            EXPECT_NEAR(solution.lambda[0], sign * std::min(3.0, limit), 1e-14);
        }
    }
}

TEST(Lemke, FarBoundsCountOnlyWhenTheyAreReached) {
    // bounds far above the momentum at hand, yet a target that needs more than they give
    ProblemBuilder build;
    build.node(MatX::Identity(1, 1), VecX::Constant(1, 1e-3));
    build.joint_rows(1, {{0, MatX::Identity(1, 1)}});
    StepProblem problem = build.problem();
    problem.b[0] = 100;
    problem.lower[0] = -10;
    problem.upper[0] = 10;
    StepSolution solution;
    EXPECT_EQ(solve(problem, solution).status, Status::ok);
    EXPECT_NEAR(solution.lambda[0], 10, 1e-14);
}

TEST(Lemke, OneSidedLimitPushesButNeverPulls) {
    ProblemBuilder build;
    build.node(2.0 * MatX::Identity(1, 1), VecX::Zero(1));
    build.joint_rows(1, {{0, MatX::Identity(1, 1)}});
    StepProblem problem = build.problem();
    for (const double v0 : {-1.0, 1.0}) {
        problem.r[0] = 2 * v0;
        problem.lower[0] = 0;
        problem.upper[0] = infinity;
        StepSolution solution;
        EXPECT_EQ(solve(problem, solution).status, Status::ok);
        EXPECT_NEAR(solution.v[0], std::max(v0, 0.0), 1e-15);
        problem.lower[0] = -infinity;
        problem.upper[0] = 0;
        StepSolution mirrored;
        EXPECT_EQ(solve(problem, mirrored).status, Status::ok);
        EXPECT_NEAR(mirrored.v[0], std::min(v0, 0.0), 1e-15);
    }
}

TEST(Lemke, ContradictingContactsAreCalledInfeasible) {
    ProblemBuilder build;  // a bead between two walls that both move in
    build.node(MatX::Identity(1, 1), VecX::Zero(1));
    build.contact_rows(1, {{0, MatX::Identity(1, 1)}}, 0, 0);
    build.contact_rows(1, {{0, -MatX::Identity(1, 1)}}, 0, 0);
    StepProblem problem = build.problem();
    problem.c.vec() << -1, -1;
    StepSolution solution;
    const SolveReport report = solve(problem, solution);
    EXPECT_EQ(report.status, Status::infeasible);
    EXPECT_NE(std::strlen(report.reason), 0u);
}

TEST(Lemke, PivotLimitIsReported) {
    LemkeOptions options;
    options.max_pivots = 2;
    LemkeSolver solver(options);
    BoxStack scene;
    scene.push = Vec3(3, 1, 0);
    StepSolution solution;
    const SolveReport report = solver.solve(scene.problem(), solution);
    // the polish may find the answer all the same; else the limit is named
    EXPECT_EQ(report.status, report.residual.max() <= 1e-9 ? Status::ok : Status::not_converged);
    EXPECT_LE(report.iterations, 2);
}

TEST(Lemke, EmptyProblemsAndFreeFlightAreSolved) {
    ProblemBuilder build;
    build.body(2.0, Vec3::Ones(), Vec3(1, 2, 3), Vec3::Zero());
    StepSolution solution;
    EXPECT_EQ(solve(build.problem(), solution).status, Status::ok);
    EXPECT_LT((solution.v.head(3) - Vec3(1, 2, 3)).norm(), 1e-15);
    StepSolution nothing;
    EXPECT_EQ(solve(ProblemBuilder().problem(), nothing).status, Status::ok);
}

// Heavy on light, light on heavy, pushed and not: 800 variables, all tangential offsets zero.
TEST(Lemke, TallStackOfMassRatioThousandStands) {
    for (const std::vector<double>& masses : {std::vector<double>{1, 1000}, {1000, 1}, {1}}) {
        BoxStack scene;
        scene.boxes = 20;
        scene.masses = masses;
        double mass = 0;
        for (int n = 0; n < scene.boxes; ++n) mass += masses[static_cast<std::size_t>(n) % masses.size()];
        for (const double push : {0.0, 2.0}) {
            scene.push = push * Vec3(1, 0.4, 0);
            StepSolution solution;
            const SolveReport report = solve(scene.problem(), solution);
            EXPECT_EQ(report.status, Status::ok);
            EXPECT_LT(report.residual.max(), 1e-12);
            double carried = 0;
            for (int i = 0; i < 4; ++i) carried += solution.p[3 * i];
            EXPECT_NEAR(carried, mass * 9.81 * scene.step, mass * 1e-12);
            // a push of 2 N can tip or slide none of the boxes of 1 kg and more
            EXPECT_LT(solution.v.norm(), 1e-11);
        }
    }
}

TEST(Lemke, RandomRedundantProblemsAreAllSolved) {
    for (std::uint32_t i = 0; i < 400; ++i) {
        RandomProblem maker;  // masses over six decades
        maker.nodes = 1 + static_cast<int>(i % 6);
        maker.contacts = 1 + static_cast<int>(i % 17);
        maker.joints = static_cast<int>(i % 4);
        maker.repeat = 0.4 * (i % 3);
        StepSolution solution;
        const SolveReport report = solve(maker.problem(i), solution);
        EXPECT_EQ(report.status, Status::ok) << i << " " << report.reason;
        EXPECT_LT(report.residual.max(), 1e-9) << i;
    }
}

TEST(Lemke, GyroscopicProblemsAreAllSolved) {
    for (std::uint32_t i = 0; i < 200; ++i) {
        RandomProblem maker;
        maker.contacts = 1 + static_cast<int>(i % 15);
        maker.repeat = 0.4;
        maker.skew = i % 2 ? 0.5 : 3.0;  // W unsymmetric, its symmetric part positive semidefinite
        StepSolution solution;
        const SolveReport report = solve(maker.problem(5000 + i), solution);
        EXPECT_EQ(report.status, Status::ok) << i << " " << report.reason;
    }
}

TEST(Lemke, BoxedCompliantMovingProblemsAreAllSolved) {
    for (std::uint32_t i = 0; i < 200; ++i) {
        RandomProblem maker;
        maker.contacts = 4 + static_cast<int>(i % 12);
        maker.joints = 6;
        StepProblem problem = maker.problem(9000 + i);
        Random random(i);
        for (Eigen::Index k = 0; k < problem.c.size(); ++k) {
            problem.c[k] = random.normal();
            problem.S[k] = random.log_uniform(1e-4, 1);
        }
        for (Eigen::Index j = 0; j < problem.b.size(); ++j) {
            problem.b[j] = random.normal();
            problem.T[j] = 0.1;
            const int kind = random.below(5);
            if (kind == 0) problem.lower[j] = -random.uniform(0, 2);
            if (kind == 1) problem.upper[j] = random.uniform(0, 2);
            if (kind >= 2) problem.lower[j] = random.uniform(-1, 1);
            if (kind >= 2) problem.upper[j] = problem.lower[j] + random.uniform(0, 2);
        }
        StepSolution solution;
        const SolveReport report = solve(problem, solution);
        EXPECT_EQ(report.status, Status::ok) << i << " " << report.reason;
    }
}

// Painleve: a steep rod sliding towards its lean with so much friction that pressing the tip raises the pressure. No
// acceleration is consistent; the step problem has one solution, the jam in which the tip stops at once.
TEST(Lemke, PainleveRodJams) {
    const double mass = 1, half = 1, mu = 2.0, h = 1e-3;
    for (const double angle : {0.9, 1.0, 1.1, 1.2}) {
        const double c = std::cos(angle), s = std::sin(angle);
        ASSERT_LT(1 + 3 * c * c - mu * 3 * s * c, 0);  // m (W_NN + mu W_NT)
        ProblemBuilder build;
        MatX block = MatX::Zero(3, 3);
        block.diagonal() << mass, mass, mass * half * half / 3;
        build.node(block, block * Vec3(-5, 0, 0) + h * Vec3(0, -mass * 9.81, 0));
        MatX J(2, 3);  // tip at -half (c, s) from the centre
        J << 0, 1, -half * c, 1, 0, half * s;
        build.contact_rows(2, {{0, J}}, mu, 0);
        StepSolution solution;
        const SolveReport report = solve(build.problem(), solution);
        EXPECT_EQ(report.status, Status::ok) << angle;
        EXPECT_LT((J * solution.v).norm(), 1e-14);
        EXPECT_GT(solution.p[0], 1.0);  // an impulse, although nothing collides
    }
}

// One spatial contact with a square cone and one without friction: 7 variables, all 128 bases enumerated with the
// plain matrix of the paper. The answer must be among the solutions found there.
TEST(Lemke, AnswerIsAmongTheEnumeratedSolutions) {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        Random random(seed);
        ProblemBuilder build;
        build.node(MatX::Identity(3, 3) * random.log_uniform(0.1, 10), random.vector(3));
        build.contact_rows(3, {{0, random.matrix(3, 3)}}, random.uniform(0.1, 1.5), 4);
        build.contact_rows(1, {{0, random.matrix(1, 3)}}, 0, 0);
        const StepProblem problem = build.problem();
        StepSolution solution;
        ASSERT_EQ(solve(problem, solution).status, Status::ok);

        const MatX H = problem.contacts.jacobian.dense(problem.nodes());
        const double mass = problem.A.block(0)(0, 0), mu = problem.contacts.friction[0];
        MatX J(6, 3);  // n1, four directions, n2
        J << H.row(0), H.row(1), H.row(2), -H.row(1), -H.row(2), H.row(3);
        MatX M = MatX::Zero(7, 7);
        M.topLeftCorner(6, 6) = J * J.transpose() / mass;
        M(6, 0) = mu;
        for (int j = 1; j <= 4; ++j) {
            M(j, 6) = 1;
            M(6, j) = -1;
        }
        VecX q = VecX::Zero(7);
        q.head(6) = J * problem.r / mass;
        double nearest = infinity;
        for (int mask = 0; mask < 128; ++mask) {
            MatX B = MatX::Identity(7, 7);
            for (int j = 0; j < 7; ++j)
                if (mask >> j & 1) B.col(j) = -M.col(j);
            const Eigen::FullPivLU<MatX> lu(B);
            if (!lu.isInvertible()) continue;
            const VecX x = lu.solve(q);
            if (x.minCoeff() < -1e-12) continue;
            VecX z = VecX::Zero(6);
            for (int j = 0; j < 6; ++j)
                if (mask >> j & 1) z[j] = x[j];
            nearest = std::min(nearest, ((problem.r + J.transpose() * z) / mass - solution.v).norm());
        }
        EXPECT_LT(nearest, 1e-12) << seed;
    }
}

TEST(Lemke, SeparateIslandsAreSolvedAsIfAlone) {
    BoxOnPlane scene;
    scene.force = Vec3(15, 4, 0);
    StepSolution alone;
    solve(scene.problem(), alone);
    ProblemBuilder build;
    for (int n = 0; n < 3; ++n) {
        build.body(scene.mass, box_inertia(scene.mass, scene.edges), Vec3::Zero(),
                   scene.step * (scene.force - scene.mass * Vec3(0, 0, 9.81)));
        for (int i = 0; i < 4; ++i)
            build.contact(n, -1, 0.5 * Vec3(i & 1 ? 0.4 : -0.4, i & 2 ? 0.3 : -0.3, -0.2), Vec3::Zero(), scene.mu, 8);
    }
    StepSolution together;
    EXPECT_EQ(solve(build.problem(), together).status, Status::ok);
    for (int n = 0; n < 3; ++n) EXPECT_LT((together.v.segment(6 * n, 6) - alone.v).norm(), 1e-15);
}

TEST(Lemke, WarmStartNeedsNoPivots) {
    BoxStack scene;
    scene.boxes = 10;
    scene.push = Vec3(1, 0.5, 0);
    StepProblem problem = scene.problem();
    StepSolution solution;
    EXPECT_GT(solve(problem, solution).iterations, 20);
    EXPECT_TRUE(solution.warm);
    problem.r *= 1.001;
    LemkeOptions options;
    options.max_pivots = 0;
    LemkeSolver lazy(options);
    EXPECT_EQ(lazy.solve(problem, solution).status, Status::ok);
    EXPECT_LT(residual(problem, solution).max(), 1e-9);
}

TEST(Lemke, SameProblemSameBits) {
    RandomProblem maker;
    maker.contacts = 14;
    const StepProblem problem = maker.problem(77);
    StepSolution first, second;
    solve(problem, first);
    LemkeSolver used;
    StepSolution other;
    used.solve(maker.problem(78), other);  // a solver with a past
    used.solve(problem, second);
    EXPECT_EQ(first.v, second.v);
    EXPECT_EQ(first.p, second.p);
    EXPECT_EQ(first.lambda, second.lambda);
}

TEST(Lemke, NotANumberIsReportedNotThrown) {
    StepProblem problem = BoxOnPlane().problem();
    problem.r[2] = std::nan("");
    LemkeSolver solver;
    StepSolution solution;
    EXPECT_NE(solver.solve(problem, solution).status, Status::ok);
}

}  // namespace
}  // namespace stickslip
