// Block LU is judged by the matrix it was given: K x = b is recomputed from a dense copy.
#include <gtest/gtest.h>

#include <random>

#include "math/block_lu.hpp"

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
