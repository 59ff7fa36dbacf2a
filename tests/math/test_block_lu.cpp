// Block LU is judged by the matrix it was given: K x = b is recomputed from a dense copy.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "math/block_lu.hpp"
#include "support/allocations.hpp"

using namespace stickslip;

namespace {

// Random blocks on the pattern: K = sum over edges J' J + antisymmetric part + mass, so its symmetric part is
// positive definite; `stiffness` scales the J' J part as contact penalties do.
MatX fill(BlockLu& lu, const Nodes& nodes, std::vector<BlockLu::Edge> edges, double stiffness, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto any = [&](int rows, int columns) {
        MatX m(rows, columns);
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) m(i, j) = uniform(random);
        return m;
    };
    lu.analyse(nodes, edges);
    MatX K = MatX::Zero(nodes.nv(), nodes.nv());
    const auto add = [&](int a, int b, const MatX& block) {
        K.block(nodes.start[a], nodes.start[b], nodes.dof(a), nodes.dof(b)) += block;
        double* to = a == b ? lu.diagonal(a) : lu.pair(a, b).ab;
        Eigen::Map<MatX>(to, nodes.dof(a), nodes.dof(b)) += block;
    };
    for (int n = 0; n < nodes.size(); ++n) {
        const MatX skew = any(nodes.dof(n), nodes.dof(n));
        add(n, n, MatX::Identity(nodes.dof(n), nodes.dof(n)) * (1 + 0.1 * n) + skew - skew.transpose());
    }
    for (const auto& e : edges) {
        const MatX J_a = any(3, nodes.dof(e.a)), J_b = any(3, nodes.dof(e.b));
        add(e.a, e.a, stiffness * J_a.transpose() * J_a);
        add(e.a, e.b, stiffness * J_a.transpose() * J_b);
        add(e.b, e.a, stiffness * J_b.transpose() * J_a);
        add(e.b, e.b, stiffness * J_b.transpose() * J_b);
    }
    return K;
}

double relative_error(BlockLu& lu, const MatX& K) {
    VecX x(K.rows());
    for (int i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + 3 * i);
    VecX y = K * x;
    const double scale = y.norm();
    lu.solve(y.data());
    return (K * (y - x)).norm() / scale;
}

}  // namespace

TEST(BlockLu, SolvesChainsRingsStarsAndGrids) {
    std::vector<std::vector<BlockLu::Edge>> graphs(5);
    for (int i = 0; i + 1 < 12; ++i) graphs[0].push_back({i, i + 1});
    graphs[1] = graphs[0];
    graphs[1].push_back({0, 11});
    for (int i = 1; i < 12; ++i) graphs[2].push_back({0, i});
    for (int i = 0; i < 12; ++i) {
        if (i % 4 != 3) graphs[3].push_back({i, i + 1});
        if (i + 4 < 12) graphs[3].push_back({i, i + 4});
    }
    for (int i = 0; i < 12; ++i)
        for (int j = i + 1; j < 12; ++j) graphs[4].push_back({i, j});
    Nodes spatial, planar, mixed;
    for (int i = 0; i < 12; ++i) {
        spatial.add(6);
        planar.add(3);
        mixed.add(i % 3 == 0 ? 6 : i % 3 == 1 ? 3 : 1 + i);
    }
    BlockLu lu;
    unsigned seed = 1;
    for (const auto& nodes : {spatial, planar, mixed}) {
        for (const auto& edges : graphs) {
            const MatX K = fill(lu, nodes, edges, 10.0, seed++);
            ASSERT_TRUE(lu.factor());
            EXPECT_LT(relative_error(lu, K), 1e-12);
        }
    }
}

TEST(BlockLu, StiffPenaltiesKeepABackwardStableSolution) {
    Nodes nodes;
    std::vector<BlockLu::Edge> edges;
    for (int i = 0; i < 20; ++i) {
        nodes.add(6);
        if (i > 0) edges.push_back({i - 1, i});
    }
    BlockLu lu;
    const MatX K = fill(lu, nodes, edges, 1e8, 7);
    ASSERT_TRUE(lu.factor());
    EXPECT_LT(relative_error(lu, K), 1e-12);
}

TEST(BlockLu, ChainsAndTreesGetNoFill) {
    Nodes nodes;
    std::vector<BlockLu::Edge> edges;
    for (int i = 0; i < 63; ++i) {
        nodes.add(3);
        if (i > 0) edges.push_back({(i - 1) / 2, i});
    }
    BlockLu lu;
    lu.analyse(nodes, edges);
    EXPECT_EQ(lu.fill_blocks(), 62);
}

TEST(BlockLu, SamePatternCanBeRefilledAndDoubleEdgesDoNotMatter) {
    Nodes nodes;
    for (int i = 0; i < 5; ++i) nodes.add(6);
    const std::vector<BlockLu::Edge> edges{{3, 4}, {0, 1}, {1, 2}, {0, 4}};
    BlockLu lu;
    for (unsigned seed = 1; seed < 5; ++seed) {
        const MatX K = fill(lu, nodes, edges, 1.0, seed);
        ASSERT_TRUE(lu.factor());
        EXPECT_LT(relative_error(lu, K), 1e-12);
    }
    std::vector<BlockLu::Edge> repeated{{0, 1}, {0, 1}, {0, 4}, {1, 2}, {3, 4}, {0, 4}};
    lu.analyse(nodes, repeated);
    EXPECT_EQ(repeated.size(), 4u);
}

TEST(BlockLu, SingularBlockIsToldNotSolved) {
    Nodes nodes;
    nodes.add(3);
    std::vector<BlockLu::Edge> none;
    BlockLu lu;
    lu.analyse(nodes, none);
    EXPECT_FALSE(lu.factor());
    Nodes empty;
    lu.analyse(empty, none);
    EXPECT_TRUE(lu.factor());
}

namespace {

std::vector<BlockLu::Edge> complete(int n, int from = 0) {
    std::vector<BlockLu::Edge> edges;
    for (int i = from; i < n; ++i)
        for (int j = i + 1; j < n; ++j) edges.push_back({i, j});
    return edges;
}

// A cube of bodies, each touching those next to it, diagonals of the faces included: the middle fills in.
std::vector<BlockLu::Edge> heap(int side) {
    std::vector<BlockLu::Edge> edges;
    const auto number = [&](int x, int y, int z) { return x + side * (y + side * z); };
    for (int z = 0; z < side; ++z)
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x)
                for (int d = 1; d < 27; ++d) {
                    const int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
                    if (std::abs(dx) + std::abs(dy) + std::abs(dz) > 2) continue;
                    const int u = x + dx, v = y + dy, w = z + dz;
                    if (u < 0 || v < 0 || w < 0 || u >= side || v >= side || w >= side) continue;
                    const int a = number(x, y, z), b = number(u, v, w);
                    if (a < b) edges.push_back({a, b});
                }
    return edges;
}

// What a factor without a tail would hold: all pairs of a complete graph.
int pairs(int n) { return n * (n - 1) / 2; }

}  // namespace

// From 60 rows on what is left of a complete graph is one dense matrix; panels have 32 columns. Sizes on both sides of
// each border.
TEST(BlockLu, CompleteGraphsOfEverySizeAreSolved) {
    for (const int dof : {1, 2, 3, 5, 6, 12}) {
        for (const int rows : {24, 58, 60, 63, 64, 65, 95, 96, 97, 130}) {
            const int n = rows / dof;
            Nodes nodes;
            for (int i = 0; i < n; ++i) nodes.add(dof);
            BlockLu lu;
            const MatX K = fill(lu, nodes, complete(n), 10.0, static_cast<unsigned>(rows));
            EXPECT_EQ(lu.fill_blocks(), nodes.nv() >= 60 ? 0 : pairs(n)) << "the tail has no blocks";
            ASSERT_TRUE(lu.factor());
            EXPECT_LT(relative_error(lu, K), 1e-12) << dof << " x " << n;
        }
    }
}

TEST(BlockLu, SizesFromOneToTwelveMixInFrontOfAndInsideATail) {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        std::mt19937 random(seed);
        Nodes nodes;
        const int n = 40;
        for (int i = 0; i < n; ++i) nodes.add(1 + static_cast<int>(random() % 12));
        // chains in front, hanging from a core where everything touches
        std::vector<BlockLu::Edge> edges = complete(n, 24);
        for (int i = 0; i < 24; ++i) edges.push_back({i, i % 3 == 2 ? 24 + static_cast<int>(random() % 16) : i + 1});
        BlockLu lu;
        const MatX K = fill(lu, nodes, edges, 10.0, seed);
        EXPECT_LT(lu.fill_blocks(), pairs(16)) << "there is a tail";
        ASSERT_TRUE(lu.factor());
        EXPECT_LT(relative_error(lu, K), 1e-12) << seed;
    }
}

TEST(BlockLu, HeapsAreSolvedAndPivotsInTheTailWork) {
    for (const int side : {3, 4, 5}) {
        Nodes nodes;
        for (int i = 0; i < side * side * side; ++i) nodes.add(i % 7 == 0 ? 3 : 6);
        BlockLu lu;
        for (const double stiffness : {0.0, 1.0, 1e6}) {
            const MatX K = fill(lu, nodes, heap(side), stiffness, 5);
            ASSERT_TRUE(lu.factor());
            EXPECT_LT(relative_error(lu, K), 1e-12) << side << " " << stiffness;
        }
    }
    // A permutation has zeros where the tail begins: only exchanges of rows over the whole of it help.
    const int n = 80;
    Nodes nodes;
    for (int i = 0; i < n; ++i) nodes.add(1);
    std::vector<BlockLu::Edge> edges = complete(n);
    BlockLu lu;
    lu.analyse(nodes, edges);
    for (int i = 0; i < n; ++i) {
        const int j = (i + 37) % n;
        *lu.pair(i, j).ab += 1 + 0.01 * i;
    }
    ASSERT_TRUE(lu.factor());
    VecX x(n);
    for (int i = 0; i < n; ++i) x[i] = (1 + 0.01 * i) * std::cos(1.0 * ((i + 37) % n));
    lu.solve(x.data());
    for (int i = 0; i < n; ++i) EXPECT_NEAR(x[i], std::cos(1.0 * i), 1e-14);
}

TEST(BlockLu, ColumnsSolvedAtOnceHaveTheBitsOfOneByOne) {
    for (const int side : {2, 4}) {
        Nodes nodes;
        for (int i = 0; i < side * side * side; ++i) nodes.add(i % 5 == 0 ? 3 : 6);
        BlockLu lu;
        fill(lu, nodes, heap(side), 3.0, 11);
        ASSERT_TRUE(lu.factor());
        const MatX right = MatX::NullaryExpr(nodes.nv(), 3, [](auto i, auto j) { return std::sin(2.0 + static_cast<double>(5 * i + 7 * j)); });
        for (int columns = 1; columns <= BlockLu::max_columns; ++columns) {
            MatX together = right.leftCols(columns), alone = together;
            lu.solve(together.data(), columns);
            for (int c = 0; c < columns; ++c) lu.solve(alone.col(c).data());
            EXPECT_EQ(together, alone) << side << " " << columns;
        }
    }
}

TEST(BlockLu, SingularTailsAreToldAndTheNextMatrixIsSolved) {
    Nodes nodes;
    const int n = 24;
    for (int i = 0; i < n; ++i) nodes.add(6);
    BlockLu lu;
    const auto edges = complete(n);
    for (const int zero : {0, 40, 143}) {  // in the first, a later and the last panel
        MatX K = fill(lu, nodes, edges, 1.0, 3);
        for (int a = 0; a < n; ++a) {
            for (int b = 0; b < n; ++b) {
                double* block = a == b ? lu.diagonal(a) : lu.pair(a, b).ab;
                for (int r = 0; r < 6; ++r)
                    for (int c = 0; c < 6; ++c)
                        if (6 * a + r == zero || 6 * b + c == zero) block[r + 6 * c] = 0;
            }
        }
        EXPECT_FALSE(lu.factor()) << zero;
        K = fill(lu, nodes, edges, 1.0, 3);
        lu.diagonal(zero / 6)[0] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_FALSE(lu.factor()) << "NaN";
        K = fill(lu, nodes, edges, 1.0, 4);
        ASSERT_TRUE(lu.factor());
        EXPECT_LT(relative_error(lu, K), 1e-12);
    }
}

TEST(BlockLu, TwoFactorisationsHaveTheSameBitsAndOnePatternAllocatesOnce) {
    Nodes nodes, other;
    const int side = 4;
    for (int i = 0; i < side * side * side; ++i) {
        nodes.add(6);
        other.add(3);
    }
    const auto edges = heap(side);
    BlockLu first, second;
    fill(second, other, edges, 2.0, 8);  // another past
    ASSERT_TRUE(second.factor());
    VecX x = VecX::LinSpaced(nodes.nv(), -1, 1), y = x;
    fill(first, nodes, edges, 2.0, 9);
    fill(second, nodes, edges, 2.0, 9);
    ASSERT_TRUE(first.factor() && second.factor());
    first.solve(x.data());
    second.solve(y.data());
    EXPECT_EQ(x, y);

    std::vector<BlockLu::Edge> work = edges;
    const long before = stickslip::testing::allocations.load();
    first.analyse(nodes, work);
    for (int i = 0; i < nodes.size(); ++i)
        for (int k = 0; k < 6; ++k) first.diagonal(i)[7 * k] = 100;
    for (const auto& e : edges) first.pair(e.a, e.b).ab[0] = first.pair(e.a, e.b).ba[7] = 1;
    const bool regular = first.factor();
    first.solve(x.data());
    EXPECT_EQ(stickslip::testing::allocations.load(), before);
    EXPECT_TRUE(regular);
}

// Piles large enough to be cut into parts, against the matrix.
TEST(BlockLu, LargePilesAreSolvedInParts) {
    for (const int side : {6, 7}) {
        Nodes nodes;
        for (int i = 0; i < side * side * side; ++i) nodes.add(6);
        BlockLu lu;
        const MatX K = fill(lu, nodes, heap(side), 1e4, static_cast<unsigned>(side));
        EXPECT_GT(lu.parts(), 1);
        ASSERT_TRUE(lu.factor());
        EXPECT_LT(relative_error(lu, K), 1e-11);
        MatX x = MatX::Random(nodes.nv(), 3), y = K * x;
        lu.solve(y.data(), 3);
        EXPECT_LT((K * (y - x)).norm(), 1e-11 * (K * x).norm()) << "three columns at once";
    }
}

// Parts only change the order: what fills in stays. Small piles, and bodies of other sizes, have none.
TEST(BlockLu, SmallPilesAndPlanarOnesHaveNoParts) {
    for (const int dof : {3, 6}) {
        const int side = dof == 3 ? 7 : 3;
        Nodes nodes;
        for (int i = 0; i < side * side * side; ++i) nodes.add(dof);
        BlockLu lu;
        std::vector<BlockLu::Edge> edges = heap(side);
        lu.analyse(nodes, edges);
        EXPECT_EQ(lu.parts(), 0);
    }
}

// A body without mass in one of the parts.
TEST(BlockLu, SingularBlockInAPartIsTold) {
    Nodes nodes;
    const int side = 7;
    for (int i = 0; i < side * side * side; ++i) nodes.add(6);
    BlockLu lu;
    fill(lu, nodes, heap(side), 1.0, 1);
    ASSERT_TRUE(lu.factor());
    fill(lu, nodes, heap(side), 1.0, 1);
    for (int k = 0; k < 36; ++k) lu.diagonal(0)[k] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(lu.factor());
    fill(lu, nodes, heap(side), 1.0, 1);
    EXPECT_TRUE(lu.factor());
}
