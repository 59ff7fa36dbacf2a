#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "problems/convert/elimination.hpp"
#include "problems/convert/to_delassus.hpp"
#include "problems/convert/to_lcp.hpp"
#include "stickslip/error.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

RandomProblem jointed() {
    RandomProblem maker;
    maker.joints = 4;
    maker.mass_low = 0.1;
    maker.mass_high = 10;
    maker.skew = 0.3;
    return maker;
}

// The contact velocities that p causes, from the whole linear system [A -G'; G T] at once (least squares, because
// joints may repeat).
VecX contact_velocities(const StepProblem& problem, const VecX& p) {
    const MatX A = problem.A.dense(), G = problem.joints.jacobian.dense(problem.nodes()),
               H = problem.contacts.jacobian.dense(problem.nodes());
    const Eigen::Index nv = A.rows(), m = G.rows();
    MatX K = MatX::Zero(nv + m, nv + m);
    K.topLeftCorner(nv, nv) = A;
    K.topRightCorner(nv, m) = -G.transpose();
    K.bottomLeftCorner(m, nv) = G;
    K.bottomRightCorner(m, m) = problem.T.vec().asDiagonal();
    VecX rhs(nv + m);
    rhs << problem.r + H.transpose() * p, problem.b.vec();
    const VecX v = Eigen::CompleteOrthogonalDecomposition<MatX>(K).solve(rhs).head(nv);
    return H * v + VecX(problem.S.vec().cwiseProduct(p)) + problem.c.vec();
}

TEST(ToDelassus, GivesTheVelocitiesOfTheWholeSystem) {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        StepProblem problem = jointed().problem(seed);
        Random random(seed + 500);
        problem.c = random.vector(static_cast<int>(problem.c.size()));
        problem.S = 0.1 * random.vector(static_cast<int>(problem.S.size())).cwiseAbs();
        if (seed % 2) problem.T = 0.1 * random.vector(static_cast<int>(problem.T.size())).cwiseAbs();
        const DelassusProblem delassus = to_delassus(problem);
        EXPECT_EQ(delassus.W.nodes.start, problem.contacts.jacobian.row);
        const VecX p = random.vector(static_cast<int>(problem.c.size()));
        const MatX W = delassus.W.dense();
        const VecX u = W * p + delassus.q, expected = contact_velocities(problem, p);
        EXPECT_LT((u - expected).norm(), 1e-9 * (1 + expected.norm())) << "seed " << seed;
        // work of the contacts on the system is never negative
        EXPECT_GE(p.dot(W * p), -1e-12 * p.squaredNorm() * W.norm());
    }
}

TEST(ToDelassus, CoupledNodesShareTheirInverse) {
    ProblemBuilder build;
    build.node(2 * MatX::Identity(1, 1), VecX::Zero(1));
    build.node(3 * MatX::Identity(1, 1), VecX::Constant(1, 1.0));
    build.couple(0, 1, MatX::Constant(1, 1, -1.0));
    build.couple(1, 0, MatX::Constant(1, 1, -1.0));
    build.contact_rows(1, {{0, MatX::Identity(1, 1)}}, 0, 0);
    const DelassusProblem delassus = to_delassus(build.problem());
    EXPECT_NEAR(delassus.W.block(0)(0, 0), 3.0 / 5, 1e-15);  // [[2, -1], [-1, 3]]^-1 = [[3, 1], [1, 2]] / 5
    EXPECT_NEAR(delassus.q[0], 1.0 / 5, 1e-15);
}

TEST(ToDelassus, ContactOnALockedBodyCannotMove) {
    ProblemBuilder build;
    const int body = build.body(1e-3, Vec3(1, 2, 3) * 1e-4, Vec3(1, 2, 3), Vec3::Zero(), Vec3(1, 1, 1));
    build.point_joint(body, -1, Vec3(0.3, 0.1, -0.2), Vec3::Zero());
    build.turn_joint(body, -1, Mat3::Identity());
    build.turn_joint(body, -1, Mat3::Identity());  // said twice
    build.contact(body, -1, Vec3(0.7, -0.4, 0.9), Vec3::Zero(), 0.5, 8);
    const StepProblem problem = build.problem();
    Elimination elimination;
    elimination.compute(problem);
    EXPECT_EQ(elimination.redundant(), 3);
    EXPECT_LT(elimination.W().norm(), 1e-20);
    EXPECT_EQ(elimination.q().norm(), 0);
}

TEST(ToDelassus, BoxedRowsAreRefused) {
    StepProblem problem = jointed().problem(1);
    problem.upper[2] = 5;
    EXPECT_THROW(to_delassus(problem), Error);
}

TEST(Elimination, RecoversVelocitiesThatTheJointsAllow) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        StepProblem problem = jointed().problem(seed);
        problem.lower[1] = -1;  // row 1 is kept
        problem.upper[1] = 2;
        Elimination elimination;
        elimination.compute(problem);
        ASSERT_EQ(elimination.boxed(), std::vector<int>{1});
        const VecX x = Random(seed).vector(elimination.kept());
        StepSolution solution;
        solution.size_to(problem);
        elimination.recover(problem, x, solution);
        EXPECT_EQ(solution.lambda[1], x[0]);
        EXPECT_EQ(solution.p.vec(), x.tail(x.size() - 1));
        EXPECT_LT(residual(problem, solution).dynamics, 1e-13);
        VecX w(problem.joints.size());
        RowVec y;
        problem.joints.jacobian.product(problem.nodes(), solution.v, w);
        for (const int j : elimination.free()) EXPECT_NEAR(w[j], 0, 1e-12);
        elimination.velocities(problem, solution, y);
        EXPECT_LT((y.vec() - elimination.W() * x - elimination.q().vec()).norm(), 1e-10 * (1 + y.norm()));
    }
}

TEST(ToLcp, SlacksFollowFromTheContactVelocities) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        StepProblem problem = jointed().problem(seed);
        Random random(seed + 70);
        problem.c = random.vector(static_cast<int>(problem.c.size()));
        problem.lower[0] = -0.3;                          // one-sided
        problem.upper[1] = 0.8;                           // one-sided, from above
        problem.lower[2] = 0.5, problem.upper[2] = 0.75;  // two-sided
        problem.lower[3] = problem.upper[3] = 0.25;       // a given impulse
        Elimination elimination;
        elimination.compute(problem);
        Lcp lcp;
        to_lcp(problem, elimination, lcp);
        const VecX z = random.vector(lcp.size()).cwiseAbs();
        RowVec x, w;
        lcp.impulses(z, x);
        EXPECT_DOUBLE_EQ(x[3], 0.25);
        EXPECT_GE(x[0], -0.3);
        EXPECT_LE(x[1], 0.8);
        lcp.slacks(z, elimination.W() * x.vec() + elimination.q().vec(), w);
        const MatX M = lcp.M.dense();
        EXPECT_LT((w.vec() - M * z - lcp.q.vec()).norm(), 1e-11 * (1 + w.norm()));
        EXPECT_GE(z.dot(M * z), 0);  // copositive
    }
}

TEST(ToLcp, ScalesContactsToOrderOneWhateverTheMass) {
    for (const double mass : {1e-6, 1.0, 1e6}) {
        BoxOnPlane scene;
        scene.mass = mass;
        Elimination elimination;
        const StepProblem problem = scene.problem();
        elimination.compute(problem);
        Lcp lcp;
        to_lcp(problem, elimination, lcp);
        ASSERT_EQ(lcp.size(), 4 * 10);
        const MatX M = lcp.M.dense();
        EXPECT_NEAR((M(0, 0) + M(1, 1) + M(3, 3)) / 3, 1, 1e-12);  // n, corner on t1, corner on t2
    }
}

TEST(ToLcp, DiscsInSpaceAreRefused) {
    BoxOnPlane scene;
    scene.facets = 0;
    const StepProblem problem = scene.problem();
    Elimination elimination;
    elimination.compute(problem);
    Lcp lcp;
    EXPECT_THROW(to_lcp(problem, elimination, lcp), Error);
}

}  // namespace
}  // namespace stickslip
