#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "solvers/lemke_pivots.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Random;

double violation(const MatX& M, const ConstRef& q, const ConstRef& z) {
    const VecX w = M * z + q;
    double worst = 0;
    for (int i = 0; i < q.size(); ++i)
        worst = std::max({worst, -z[i], -w[i], std::min(std::abs(z[i]), std::abs(w[i]))});
    return worst;
}

// All 2^n complementary bases: is there any solution?
int count_solutions(const MatX& M, const VecX& q) {
    const int n = static_cast<int>(q.size());
    int found = 0;
    for (int mask = 0; mask < (1 << n); ++mask) {
        MatX B = MatX::Identity(n, n);  // w - M z = q
        for (int j = 0; j < n; ++j)
            if (mask >> j & 1) B.col(j) = -M.col(j);
        const Eigen::FullPivLU<MatX> lu(B);
        if (!lu.isInvertible()) continue;
        if (lu.solve(q).minCoeff() >= -1e-10) ++found;
    }
    return found;
}

TEST(LemkePivots, TwoByTwoByHand) {
    MatX M(2, 2);
    M << 2, 1, 1, 2;
    VecX q(2);
    RowVec z;
    q << -5, -6;
    LemkePivots pivots;
    ASSERT_EQ(pivots.solve(M, q, 100, z), LemkePivots::Outcome::solved);
    EXPECT_NEAR(z[0], 4.0 / 3, 1e-15);
    EXPECT_NEAR(z[1], 7.0 / 3, 1e-15);
    q << 1, -4;
    ASSERT_EQ(pivots.solve(M, q, 100, z), LemkePivots::Outcome::solved);
    EXPECT_NEAR(z[0], 0, 1e-15);
    EXPECT_NEAR(z[1], 2, 1e-15);
    q << 1, 0;
    ASSERT_EQ(pivots.solve(M, q, 100, z), LemkePivots::Outcome::solved);
    EXPECT_EQ(z.norm(), 0);
    EXPECT_EQ(pivots.pivots(), 0);
}

TEST(LemkePivots, ContradictionEndsOnARay) {
    MatX M(2, 2);  // u1 = p1 - p2 - 1 >= 0 and u2 = p2 - p1 - 1 >= 0 add up to -2 >= 0
    M << 1, -1, -1, 1;
    LemkePivots pivots;
    RowVec z;
    EXPECT_EQ(pivots.solve(M, VecX::Constant(2, -1.0), 100, z), LemkePivots::Outcome::ray);
}

// Murty's matrix makes Lemke's path exponential in general; small ones must still end right.
TEST(LemkePivots, MurtysTriangleIsSolved) {
    for (int n = 2; n <= 10; ++n) {
        MatX M = MatX::Identity(n, n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < i; ++j) M(i, j) = 2;
        const VecX q = VecX::Constant(n, -1.0);
        LemkePivots pivots;
        RowVec z;
        ASSERT_EQ(pivots.solve(M, q, 5000, z), LemkePivots::Outcome::solved);
        EXPECT_LT(violation(M, q, z), 1e-12);
        EXPECT_NEAR(z[0], 1, 1e-12);
    }
}

TEST(LemkePivots, PivotLimitIsKept) {
    MatX M(2, 2);
    M << 2, 1, 1, 2;
    VecX q(2);
    RowVec z;
    q << -5, -6;  // both contacts close: two pivots at least
    LemkePivots pivots;
    EXPECT_EQ(pivots.solve(M, q, 1, z), LemkePivots::Outcome::pivot_limit);
    EXPECT_EQ(pivots.pivots(), 1);
}

// Tiny problems of every kind against enumeration: wherever Lemke says solved it is one, and with a positive
// semidefinite matrix (possibly singular, possibly with a skew part) it says ray only when none exists.
TEST(LemkePivots, AgreesWithEnumerationOfAllBases) {
    Random random(11);
    int rays = 0, solved = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const int n = 1 + random.below(6), rank = 1 + random.below(n);
        const MatX root = random.matrix(n, rank), twist = random.matrix(n, n);
        const MatX M = root * root.transpose() + (trial % 2) * 0.5 * (twist - twist.transpose());
        VecX q = random.vector(n);
        if (trial % 3 == 0)
            for (int i = 0; i < n; ++i)
                if (random.below(2)) q[i] = 0;
        if (trial % 5 == 0) q = VecX::Constant(n, -1.0);
        LemkePivots pivots;
        RowVec z;
        const LemkePivots::Outcome outcome = pivots.solve(M, q, 1000, z);
        if (outcome == LemkePivots::Outcome::solved) {
            EXPECT_LT(violation(M, q, z), 1e-9 * (1 + z.norm()));
            ++solved;
        } else {
            EXPECT_EQ(outcome, LemkePivots::Outcome::ray);
            EXPECT_EQ(count_solutions(M, q), 0) << "trial " << trial;
            ++rays;
        }
    }
    EXPECT_GT(rays, 50);
    EXPECT_GT(solved, 200);
}

// All ties at once: copies of one row, zero offsets.
TEST(LemkePivots, CopiesOfOneContactDoNotCycle) {
    for (int n : {2, 5, 20, 60}) {
        const MatX M = MatX::Ones(n, n);
        RowVec z;
        LemkePivots pivots;
        ASSERT_EQ(pivots.solve(M, VecX::Constant(n, -1.0), 1000, z), LemkePivots::Outcome::solved);
        EXPECT_NEAR(z.sum(), 1, 1e-14);
        EXPECT_GE(z.minCoeff(), 0);
    }
}

}  // namespace
}  // namespace stickslip
