#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>

#include "math/min_norm.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Random;

// Against the pseudo-inverse of another code, for every rank, symmetric and not.
TEST(MinNorm, IsThePseudoInverseForEveryRank) {
    for (int n = 1; n <= 12; ++n) {
        for (int rank = 0; rank <= n; ++rank) {
            Random random(static_cast<unsigned>(100 * n + rank));
            const MatX left = random.matrix(n, rank), right = n % 2 == 0 ? left : random.matrix(n, rank);
            WorkMat K;
            K = MatX(left * right.transpose());
            MinNorm solver;
            solver.factor(K, 1e-12);
            ASSERT_EQ(solver.rank(), rank);
            const VecX b = random.vector(n);
            VecX x = b;
            solver.solve(x.data());
            Eigen::CompleteOrthogonalDecomposition<MatX> other;
            other.setThreshold(1e-12);
            other.compute(MatX(K));
            const VecX expected = other.solve(b);
            EXPECT_LT((x - expected).norm(), 1e-9 * (1 + expected.norm())) << n << " " << rank;
        }
    }
}

TEST(MinNorm, NamesTheCopyOfAColumn) {
    Random random(7);
    const MatX rows = random.matrix(4, 6);
    MatX G(5, 6);
    G << rows, rows.row(2);
    WorkMat K;
    K = MatX(G * G.transpose());
    MinNorm solver;
    solver.factor(K, 1e-12);
    ASSERT_EQ(solver.rank(), 4);
    EXPECT_TRUE(solver.dependent(0) == 2 || solver.dependent(0) == 4);
}

TEST(MinNorm, KeepsItsMemoryAndForgetsTheLastProblem) {
    MinNorm solver;
    WorkMat K;
    K = MatX(MatX::Ones(5, 5));
    solver.factor(K, 1e-12);
    K = MatX(2 * MatX::Identity(2, 2));
    solver.factor(K, 1e-12);
    VecX x = Vec2(4, 6);
    solver.solve(x.data());
    EXPECT_EQ(x, VecX(Vec2(2, 3)));
}

}  // namespace
}  // namespace stickslip
