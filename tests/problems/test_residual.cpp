#include <gtest/gtest.h>

#include <cmath>

#include "problems/cones.hpp"
#include "stickslip/problem.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

StepSolution zero_solution(const StepProblem& problem) {
    StepSolution solution;
    solution.size_to(problem);
    return solution;
}

// Four corners share the weight: v = 0, p_N = m g h / 4.
TEST(Residual, BoxAtRestOnFourCornersHasNone) {
    const BoxOnPlane scene;
    const StepProblem problem = scene.problem();
    StepSolution solution = zero_solution(problem);
    for (int i = 0; i < 4; ++i) solution.p[3 * i] = scene.mass * 9.81 * scene.step / 4;
    EXPECT_LT(residual(problem, solution).max(), 1e-16);
}

TEST(Residual, ForgottenWeightShowsAsTheFallingVelocity) {
    const BoxOnPlane scene;
    const StepProblem problem = scene.problem();
    StepSolution solution = zero_solution(problem);
    const Residual still = residual(problem, solution);
    EXPECT_NEAR(still.dynamics, 9.81 * scene.step, 1e-15);  // the balance misses g h
    EXPECT_EQ(still.contacts, 0);
    solution.v[2] = -9.81 * scene.step;
    const Residual falling = residual(problem, solution);
    EXPECT_LT(falling.dynamics, 1e-16);
    EXPECT_NEAR(falling.contacts, 9.81 * scene.step, 1e-15);  // the corners sink with g h
}

TEST(Residual, SlidingBoxIsJudgedByItsOwnCone) {
    // push along a direction between two corners of a square cone
    BoxOnPlane scene;
    scene.velocity = Vec3(2, 1, 0);
    const double load = scene.mass * 9.81 * scene.step / 4;
    for (int facets : {0, 4}) {
        scene.facets = facets;
        const StepProblem problem = scene.problem();
        StepSolution solution = zero_solution(problem);
        // the ground has n = z, so t1 = x and t2 = y; friction against the motion, inside the tilting limit
        Vec2 friction = facets == 0 ? Vec2(-scene.velocity.head<2>().normalized()) : Vec2(-1, 0);
        friction *= scene.mu * load;
        // moments about the centre of mass: shift the normal loads so that the box does not turn
        const double pitch = 4 * friction.x() * scene.edges.z() / 2 / (4 * scene.edges.x() / 2);
        const double roll = 4 * friction.y() * scene.edges.z() / 2 / (4 * scene.edges.y() / 2);
        for (int i = 0; i < 4; ++i) {
            const double p_N = load - (i & 1 ? 1 : -1) * pitch - (i & 2 ? 1 : -1) * roll;
            ASSERT_GT(p_N, 0);
            solution.p.segment(3 * i, 3) << p_N, friction * p_N / load;
        }
        // the friction's moments about z cancel only for equal loads; a rolling turn stays for the disc
        solution.v = problem.r;
        problem.contacts.jacobian.add_transpose_product(problem.nodes(), solution.p, solution.v);
        for (int k = 0; k < 6; ++k) solution.v[k] /= problem.A.block(0)(k, k);
        const Residual result = residual(problem, solution);
        EXPECT_LT(result.dynamics, 1e-15);
        EXPECT_LT(result.contacts, facets == 4 ? 1e-15 : 1e-4);
        // the other cone calls the same point wrong
        StepProblem other = problem;
        other.contacts.facets.assign(4, facets == 0 ? 4 : 0);
        EXPECT_GT(residual(other, solution).contacts, 1e-3);
    }
}

TEST(Residual, BoxedRowIsRightInsideAndAtBothBounds) {
    ProblemBuilder build;
    build.node(2.0 * MatX::Identity(1, 1), VecX::Constant(1, 3.0));
    build.joint_rows(1, {{0, MatX::Identity(1, 1)}});
    StepProblem problem = build.problem();
    problem.b[0] = 1.0;  // motor target [m/s]; free flight is 1.5
    const auto judge = [&](double lambda, double lower, double upper) {
        problem.lower[0] = lower;
        problem.upper[0] = upper;
        StepSolution solution = zero_solution(problem);
        solution.lambda[0] = lambda;
        solution.v[0] = (3.0 + lambda) / 2.0;
        return residual(problem, solution);
    };
    EXPECT_EQ(judge(-1.0, -2, 2).max(), 0);      // v = 1: target reached
    EXPECT_EQ(judge(-0.5, -0.5, 0.5).max(), 0);  // brake saturates, v > target, w >= 0 at lower
    EXPECT_NEAR(judge(0.5, -0.5, 0.5).joints, 0.5,
                1e-15);  // w = 0.75 at upper: step back across the box, 1 / rho = 1/2
    EXPECT_NEAR(judge(0.0, -0.5, 0.5).joints, 0.25, 1e-15);
    EXPECT_NEAR(judge(-0.7, -0.5, 0.5).joints, 0.1, 1e-15);  // outside the box by 0.2
    EXPECT_NEAR(judge(0.0, -infinity, infinity).joints, 0.5, 1e-15);
}

// An independent computation with dense matrices, random data, nonsymmetric A.
TEST(Residual, AgreesWithDenseRecomputation) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        RandomProblem maker;
        maker.skew = 0.3;
        maker.polygons_only = false;
        maker.largest_node = 7;
        StepProblem problem = maker.problem(seed);
        Random random(seed + 1000);
        problem.S = random.vector(static_cast<int>(problem.S.size())).cwiseAbs();
        problem.T = random.vector(static_cast<int>(problem.T.size())).cwiseAbs();
        problem.c = random.vector(static_cast<int>(problem.c.size()));
        problem.b = random.vector(static_cast<int>(problem.b.size()));
        if (problem.lower.size() > 0) problem.lower[0] = -0.1;
        StepSolution solution = zero_solution(problem);
        solution.v = random.vector(problem.nodes().nv());
        solution.lambda = random.vector(static_cast<int>(problem.b.size()));
        solution.p = random.vector(static_cast<int>(problem.c.size()));
        const Residual got = residual(problem, solution);

        const MatX A = problem.A.dense(), G = problem.joints.jacobian.dense(problem.nodes()),
                   H = problem.contacts.jacobian.dense(problem.nodes());
        const VecX lambda = solution.lambda.vec(), p = solution.p.vec();
        const MatX inverse = A.inverse();  // block diagonal: no couplings here
        const VecX balance = inverse * (A * solution.v - G.transpose() * lambda - H.transpose() * p - problem.r);
        EXPECT_NEAR(got.dynamics, balance.lpNorm<Eigen::Infinity>(), 1e-11 * (1 + got.dynamics));
        double joints = 0, contacts = 0;
        for (int j = 0; j < lambda.size(); ++j) {
            const double rho = 1 / (G.row(j).dot(inverse * G.row(j).transpose()) + problem.T[j]);
            const double w = G.row(j).dot(solution.v) + problem.T[j] * lambda[j] - problem.b[j];
            joints = std::max(
                joints,
                std::abs(lambda[j] - std::clamp(lambda[j] - rho * w, problem.lower[j], problem.upper[j])) / rho);
        }
        const VecX u = H * solution.v + VecX(problem.S.vec().cwiseProduct(p)) + problem.c.vec();
        for (int i = 0; i < problem.contacts.size(); ++i) {
            const int first = problem.contacts.jacobian.row[i], dim = problem.contacts.jacobian.dim(i);
            const MatX H_i = H.middleRows(first, dim);
            const MatX W_ii = H_i * inverse * H_i.transpose() + MatX(VecX(problem.S.segment(first, dim)).asDiagonal());
            const double rho = dim / W_ii.trace();
            const double mu = problem.contacts.friction[i];
            const int facets = problem.contacts.facets[i];
            VecX x = u.segment(first, dim);
            x[0] += mu * section_support(dim, facets, x.data());
            x = p.segment(first, dim) - rho * x;
            project_cone(dim, mu, facets, x.data());
            contacts = std::max(contacts, (p.segment(first, dim) - x).norm() / rho);
        }
        EXPECT_NEAR(got.joints, joints, 1e-11 * (1 + joints));
        EXPECT_NEAR(got.contacts, contacts, 1e-11 * (1 + contacts));
        EXPECT_EQ(got.max(), std::max({got.dynamics, got.joints, got.contacts}));
    }
}

TEST(Residual, NotANumberAnywhereIsNeverCertified) {
    RandomProblem maker;
    const StepProblem problem = maker.problem(7);
    const StepSolution clean = zero_solution(problem);
    EXPECT_TRUE(std::isfinite(residual(problem, clean).max()));
    for (const double bad : {std::nan(""), infinity}) {
        StepSolution solution = clean;
        solution.v[problem.nodes().nv() - 1] = bad;
        EXPECT_FALSE(residual(problem, solution).max() < 1e300);
        solution = clean;
        solution.p[solution.p.size() - 1] = bad;
        EXPECT_FALSE(residual(problem, solution).max() < 1e300);
        solution = clean;
        solution.lambda[0] = bad;
        EXPECT_FALSE(residual(problem, solution).max() < 1e300);
        StepProblem broken = problem;
        broken.c[0] = bad;
        EXPECT_FALSE(residual(broken, clean).max() < 1e300);
        broken = problem;
        broken.b[0] = bad;
        EXPECT_FALSE(residual(broken, clean).max() < 1e300);
    }
}

TEST(Residual, RowWithoutMassBehindItIsStillJudged) {
    ProblemBuilder build;
    build.node(MatX::Identity(3, 3), VecX::Zero(3));
    build.contact_rows(1, {{0, MatX::Zero(1, 3)}}, 0.0, 0);
    build.joint_rows(1, {{0, MatX::Zero(1, 3)}});
    StepProblem problem = build.problem();
    problem.c[0] = -0.25;
    problem.b[0] = 0.5;
    const Residual result = residual(problem, zero_solution(problem));
    EXPECT_EQ(result.contacts, 0.25);
    EXPECT_EQ(result.joints, 0.5);
}

}  // namespace
}  // namespace stickslip
