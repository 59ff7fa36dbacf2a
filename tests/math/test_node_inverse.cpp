#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "math/node_inverse.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

TEST(NodeInverse, TimesTheBlockIsTheIdentity) {
    testing::Random random(3);
    Nodes nodes;
    for (const int d : {6, 3, 1, 6, 9, 2, 3}) nodes.add(d);
    BlockMatrix A;
    A.shape_diagonal(nodes);
    for (int n = 0; n < nodes.size(); ++n) {
        const int d = nodes.dof(n);
        const MatX root = random.matrix(d, d), twist = random.matrix(d, d);
        A.block(n) = MatX::Identity(d, d) + root * root.transpose() + twist - twist.transpose();  // gyroscopic
    }
    NodeInverse inverse;
    inverse.factor(A);
    const VecX x = random.vector(nodes.nv());
    VecX y(nodes.nv());
    inverse.apply(x, y);
    for (int n = 0; n < nodes.size(); ++n) {
        const int d = nodes.dof(n), i = nodes.start[n];
        EXPECT_LT((A.block(n) * inverse.block(n) - MatX::Identity(d, d)).norm(), 1e-12);
        EXPECT_LT((A.block(n) * y.segment(i, d) - x.segment(i, d)).norm(), 1e-12 * x.norm());
        EXPECT_NEAR(inverse.quadratic(n, x.data() + i), x.segment(i, d).dot(y.segment(i, d)), 1e-12 * x.squaredNorm());
    }
}

// Several bodies in one node, as Lagrangian systems have them: blocks of their own, or points.
TEST(NodeInverse, BodiesThatShareANodeStayApart) {
    testing::Random random(5);
    for (const int d : {1, 4}) {
        Nodes nodes;
        nodes.add(5 * d);
        BlockMatrix A;
        A.shape_diagonal(nodes);
        for (int b = 0; b < 5; ++b) {
            const MatX root = random.matrix(d, d), twist = random.matrix(d, d);
            A.block(0).block(b * d, b * d, d, d) =
                MatX::Identity(d, d) + root * root.transpose() + twist - twist.transpose();
        }
        NodeInverse inverse;
        inverse.factor(A);
        EXPECT_LT((A.block(0) * inverse.block(0) - MatX::Identity(5 * d, 5 * d)).norm(), 1e-13);
        VecX row = random.vector(5 * d);
        row.head(2 * d).setZero();
        EXPECT_NEAR(inverse.quadratic(0, row.data()), row.dot(inverse.block(0) * row), 1e-13);
        A.block(0)(d, d) = std::numeric_limits<double>::quiet_NaN();
        inverse.factor(A);
        EXPECT_FALSE(inverse.block(0).allFinite());
    }
}

// Outside the promise of a positive symmetric part the answer must still be right, or visibly none.
TEST(NodeInverse, IndefiniteBlocksArePivotedAndSingularOnesShow) {
    Nodes nodes;
    nodes.add(3);
    nodes.add(6);
    BlockMatrix A;
    A.shape_diagonal(nodes);
    A.block(0) << 0, 1, 0, 1, 0, 0, 0, 0, -2;
    A.block(1).setIdentity();
    A.block(1)(4, 4) = 0;
    NodeInverse inverse;
    inverse.factor(A);
    EXPECT_LT((A.block(0) * inverse.block(0) - Mat3::Identity()).norm(), 1e-15);
    EXPECT_FALSE(inverse.block(1).allFinite());
}

}  // namespace
}  // namespace stickslip
