// Sums and factors of block matrices with and without couplings, against dense copies.
#include <gtest/gtest.h>

#include "math/block_factors.hpp"
#include "support/allocations.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Random;

Nodes three_nodes() {
    Nodes nodes;
    for (const int dof : {3, 6, 2}) nodes.add(dof);
    return nodes;
}

// Diagonal blocks and these couplings, filled at random.
BlockMatrix random_matrix(const std::vector<std::pair<int, int>>& couplings, Random& random) {
    BlockMatrix A;
    A.shape_diagonal(three_nodes());
    for (const auto& [row, column] : couplings) A.add_coupling(row, column);
    for (double& x : A.values) x = random.normal();
    return A;
}

TEST(BlockMatrix, SumHasTheCouplingsOfBoth) {
    Random random(1);
    const std::vector<std::vector<std::pair<int, int>>> patterns{
        {}, {{0, 1}, {1, 0}}, {{1, 0}, {0, 1}}, {{2, 0}, {0, 2}, {1, 2}}, {{0, 1}, {1, 0}, {2, 1}, {1, 2}}};
    for (const auto& a : patterns) {
        for (const auto& b : patterns) {
            for (const auto& c : patterns) {
                BlockMatrix A = random_matrix(a, random);
                const BlockMatrix B = random_matrix(b, random), C = random_matrix(c, random);
                const MatX once = A.dense() + 0.5 * B.dense();
                A.add(0.5, B);
                EXPECT_LT((A.dense() - once).norm(), 1e-14 * once.norm());
                const MatX twice = once - 0.25 * (B.dense() + 3 * C.dense());
                A.add(-0.25, B, 3, C);
                EXPECT_LT((A.dense() - twice).norm(), 1e-14 * twice.norm());
            }
        }
    }
}

TEST(BlockMatrix, SumOfEqualPatternsIsTakenEntryByEntry) {
    Random random(2);
    BlockMatrix A = random_matrix({{0, 1}}, random);
    const BlockMatrix B = random_matrix({{0, 1}}, random), C = random_matrix({{0, 1}}, random);
    AlignedDoubles expected = A.values;
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += 0.1 * (B.values[i] + 0.7 * C.values[i]);
    A.add(0.1, B, 0.7, C);
    EXPECT_EQ(A.values, expected);
}

TEST(BlockMatrix, SumAllocatesNothingOnceItHasMetThePattern) {
    Random random(3);
    const BlockMatrix M = random_matrix({}, random), K = random_matrix({{0, 1}, {1, 0}}, random);
    BlockMatrix A = M;
    A.add(1, K);
    const long before = testing::allocations;
    for (int step = 0; step < 3; ++step) {
        A = M;
        A.add(1, K);
    }
    EXPECT_EQ(testing::allocations, before);
}

// Contacts between bodies of the sizes that have kernels of their own, of others, and of both.
TEST(BlockRows, ProductsAreThoseOfTheDenseMatrix) {
    Random random(5);
    Nodes nodes;
    for (const int dof : {6, 6, 3, 2, 5, 6}) nodes.add(dof);
    BlockRows J;
    for (const auto& [dim, touched] : std::vector<std::pair<int, std::vector<int>>>{
             {3, {0, 1}}, {3, {5}}, {3, {0, 2}}, {2, {0, 5}}, {1, {2, 3}}, {3, {3, 4}}, {3, {1, 5, 0}}, {3, {}}, {6, {0, 5}}}) {
        J.begin_group(dim);
        for (const int node : touched) {
            auto block = J.add_block(node, nodes.dof(node));
            for (Eigen::Index k = 0; k < block.size(); ++k) block.data()[k] = random.normal();
        }
    }
    VecX v(nodes.nv()), p(J.rows()), y(nodes.nv());
    for (VecX* x : {&v, &p, &y})
        for (double& entry : *x) entry = random.normal();
    const MatX full = J.dense(nodes);
    VecX u = VecX::Constant(J.rows(), 7);  // what was there before is of no account
    J.product(nodes, v, u);
    EXPECT_LT((u - full * v).cwiseAbs().maxCoeff(), 1e-13);
    const VecX expected = y + full.transpose() * p;
    J.add_transpose_product(nodes, p, y);
    EXPECT_LT((y - expected).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(BlockFactors, SolveWithAndWithoutCouplings) {
    Random random(4);
    BlockFactors factors;
    for (const bool coupled : {false, true, false}) {
        BlockMatrix A = random_matrix(
            coupled ? std::vector<std::pair<int, int>>{{0, 1}, {1, 0}, {2, 0}} : std::vector<std::pair<int, int>>{},
            random);
        for (int n = 0; n < A.nodes.size(); ++n) A.block(n).diagonal().array() += 20;
        ASSERT_TRUE(factors.factor(A));
        EXPECT_EQ(factors.coupled(), coupled);
        const VecX b = random.vector(A.nodes.nv());
        VecX x = b;
        factors.solve(x.data());
        EXPECT_LT((A.dense() * x - b).norm(), 1e-13 * b.norm());
    }
}

TEST(BlockFactors, SingularMatrixIsTold) {
    BlockMatrix A;
    A.shape_diagonal(three_nodes());
    BlockFactors factors;
    EXPECT_FALSE(factors.factor(A));
}

}  // namespace
}  // namespace stickslip
