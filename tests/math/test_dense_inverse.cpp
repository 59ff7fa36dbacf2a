#include <gtest/gtest.h>

#include <cmath>

#include "math/dense_inverse.hpp"
#include "math/sparse_square.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Random;

TEST(DenseInverse, TimesTheMatrixIsOneForSizesAroundThePanels) {
    Random random(5);
    DenseInverse inverse;
    WorkMat result;
    for (const int n : {1, 2, 31, 32, 33, 64, 65, 130}) {
        const MatX A = random.matrix(n, n);
        inverse.matrix() = A;
        ASSERT_TRUE(inverse.factor());
        result.resize(n + 3, n + 3);  // the corner of a larger one
        inverse.invert(result);
        const double error = (A * result.topLeftCorner(n, n) - MatX::Identity(n, n)).cwiseAbs().maxCoeff();
        EXPECT_LT(error, 1e-10) << n;
    }
}

TEST(DenseInverse, ZeroPivotsAreExchangedAndSingularMatricesRefused) {
    DenseInverse inverse;
    WorkMat result;
    MatX A(2, 2);
    A << 0, 2, 4, 0;
    inverse.matrix() = A;
    ASSERT_TRUE(inverse.factor());
    result.resize(2, 2);
    inverse.invert(result);
    EXPECT_EQ(result(0, 1), 0.25);
    EXPECT_EQ(result(1, 0), 0.5);
    inverse.matrix() = MatX(MatX::Zero(40, 40));
    EXPECT_FALSE(inverse.factor());
    inverse.matrix() = MatX(MatX::Constant(2, 2, std::nan("")));
    EXPECT_FALSE(inverse.factor());
}

TEST(SparseSquare, ColumnsRowsAndGatheredPartsAgreeWithTheDenseMatrix) {
    Random random(8);
    MatX A = random.matrix(30, 30);
    for (int j = 0; j < 30; ++j)
        for (int i = 0; i < 30; ++i)
            if (random.below(3) > 0) A(i, j) = 0;
    SparseSquare sparse, part;
    sparse.assign(A);
    EXPECT_EQ(sparse.dense(), A);
    MatX by_rows = MatX::Zero(30, 30);
    for (int i = 0; i < 30; ++i) {
        const SparseSquare::Line line = sparse.row(i);
        for (int k = 0; k < line.count; ++k) by_rows(i, line.index[k]) = line.value[k];
    }
    EXPECT_EQ(by_rows, A);

    const std::vector<int> chosen{3, 4, 11, 29};
    std::vector<int> place(30, -1);
    for (std::size_t i = 0; i < chosen.size(); ++i) place[chosen[i]] = static_cast<int>(i);
    part.gather(sparse, chosen, place);
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) EXPECT_EQ(part.dense()(i, j), A(chosen[i], chosen[j]));
}

}  // namespace
}  // namespace stickslip
