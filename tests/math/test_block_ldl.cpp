// Block LDL' is judged by the matrix it was given, recomputed from a dense copy, and by Eigen's sparse LDL'.
#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>

#include "math/block_ldl.hpp"
#include "math/block_systems.hpp"
#include "support/count_malloc.hpp"

using namespace stickslip;
using namespace stickslip::testing;

namespace {

// Random blocks on the pattern; nodes of sign +1 get a positive definite diagonal, the others a negative one.
MatX fill(BlockLdl& ldl, const Nodes& nodes, const std::vector<signed char>& signs, std::vector<BlockLdl::Edge> edges,
          unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto any = [&](int rows, int columns) {
        MatX m(rows, columns);
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) m(i, j) = uniform(random);
        return m;
    };
    ldl.analyse(nodes, signs, edges);
    MatX K = MatX::Zero(nodes.nv(), nodes.nv());
    for (const auto& e : edges) {
        const MatX block = any(nodes.dof(e.b), nodes.dof(e.a));
        K.block(nodes.start[e.b], nodes.start[e.a], nodes.dof(e.b), nodes.dof(e.a)) = block;
        K.block(nodes.start[e.a], nodes.start[e.b], nodes.dof(e.a), nodes.dof(e.b)) = block.transpose();
        Eigen::Map<MatX>(ldl.block(e.b, e.a), nodes.dof(e.b), nodes.dof(e.a)) = block;
    }
    for (int n = 0; n < nodes.size(); ++n) {
        const int i = nodes.start[n], d = nodes.dof(n);
        const MatX root = any(d, d);
        const double sign = signs.empty() ? 1 : signs[n];
        // Dominant over the neighbours of the same sign, so that the two diagonal blocks of K are definite.
        double dominant = 0.1;
        for (const auto& e : edges) {
            if (e.a != n && e.b != n) continue;
            const int other = e.a == n ? e.b : e.a;
            if (signs.empty() || signs[other] == signs[n]) dominant += 6;
        }
        K.block(i, i, d, d) = sign * (root * root.transpose() + dominant * MatX::Identity(d, d));
        Eigen::Map<MatX>(ldl.diagonal(n), d, d) = K.block(i, i, d, d);
    }
    return K;
}

double relative_error(const BlockLdl& ldl, const MatX& K) {
    VecX x(K.rows());
    for (int i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + 3 * i);
    VecX y = K * x;
    const double scale = y.norm();
    ldl.solve(y.data());
    return (K * (y - x)).norm() / scale;
}

std::vector<std::vector<BlockLdl::Edge>> graphs() {
    std::vector<std::vector<BlockLdl::Edge>> result(5);
    for (int i = 0; i + 1 < 12; ++i) result[0].push_back({i, i + 1});
    result[1] = result[0];
    result[1].push_back({0, 11});
    for (int i = 1; i < 12; ++i) result[2].push_back({0, i});
    for (int i = 0; i < 12; ++i) {
        if (i % 4 != 3) result[3].push_back({i, i + 1});
        if (i + 4 < 12) result[3].push_back({i, i + 4});
    }
    for (int i = 0; i < 12; ++i)
        for (int j = i + 1; j < 12; ++j) result[4].push_back({i, j});
    return result;
}

Nodes sizes(int kind) {
    Nodes nodes;
    for (int i = 0; i < 12; ++i) nodes.add(kind == 0 ? 6 : kind == 1 ? 3 : kind == 2 ? 1 + i % 6 : 1 + i);
    return nodes;
}

}  // namespace

TEST(BlockLdl, SolvesChainsRingsStarsGridsAndFullGraphsOfEverySize) {
    BlockLdl ldl;
    unsigned seed = 1;
    for (int kind = 0; kind < 4; ++kind) {
        for (const auto& edges : graphs()) {
            const MatX K = fill(ldl, sizes(kind), {}, edges, seed++);
            ASSERT_TRUE(ldl.factor().ok) << "sizes " << kind;
            EXPECT_LT(relative_error(ldl, K), 1e-13);
        }
    }
}

TEST(BlockLdl, SolvesQuasiDefiniteMatricesWhereverTheNegativeNodesSit) {
    BlockLdl ldl;
    std::mt19937 random(3);
    for (int trial = 0; trial < 60; ++trial) {
        std::vector<signed char> signs;
        for (int i = 0; i < 12; ++i) signs.push_back(random() % 3 == 0 ? -1 : 1);
        const MatX K = fill(ldl, sizes(trial % 4), signs, graphs()[trial % 5], static_cast<unsigned>(trial));
        ASSERT_TRUE(ldl.factor().ok) << "trial " << trial;
        EXPECT_LT(relative_error(ldl, K), 1e-12) << "trial " << trial;
    }
}

TEST(BlockLdl, AgreesWithEigensSparseFactorOnAChainOfHinges) {
    const RowSystem s = chain(100, true, false, 1e-3);
    const int n = s.A.nodes.size();
    Nodes nodes = s.A.nodes;
    std::vector<signed char> signs(static_cast<std::size_t>(n), 1);
    std::vector<BlockLdl::Edge> edges;
    for (int g = 0; g < s.G.groups(); ++g) {
        nodes.add(s.G.dim(g));
        signs.push_back(-1);
        for (const auto& block : s.G.blocks_of(g)) edges.push_back({block.node, n + g});
    }
    BlockLdl ldl;
    ldl.analyse(nodes, signs, edges);
    const MatX K = s.dense();
    for (int i = 0; i < nodes.size(); ++i)
        Eigen::Map<MatX>(ldl.diagonal(i), nodes.dof(i), nodes.dof(i)) =
            K.block(nodes.start[i], nodes.start[i], nodes.dof(i), nodes.dof(i));
    for (const auto& e : edges)
        Eigen::Map<MatX>(ldl.block(e.b, e.a), nodes.dof(e.b), nodes.dof(e.a)) =
            K.block(nodes.start[e.b], nodes.start[e.a], nodes.dof(e.b), nodes.dof(e.a));
    ASSERT_TRUE(ldl.factor().ok);
    VecX x(K.rows());
    x << s.r, s.b;
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> eigen(K.sparseView());
    const VecX other = eigen.solve(x);
    ldl.solve(x.data());
    EXPECT_LT((x - other).norm(), 1e-11 * other.norm());
}

TEST(BlockLdl, ChainsAndTreesGetNoFill) {
    Nodes nodes;
    std::vector<BlockLdl::Edge> edges;
    for (int i = 0; i < 63; ++i) {
        nodes.add(3);
        if (i > 0) edges.push_back({(i - 1) / 2, i});
    }
    BlockLdl ldl;
    ldl.analyse(nodes, {}, edges);
    EXPECT_EQ(ldl.fill_blocks(), 62);
}

TEST(BlockLdl, StarOfManyJointsStaysSparse) {
    // A thousand bodies hang from one: rows must not wait for the middle body, or they all couple.
    Nodes nodes;
    std::vector<signed char> signs;
    std::vector<BlockLdl::Edge> edges;
    const int leaves = 1000;
    for (int i = 0; i <= leaves; ++i) {
        nodes.add(6);
        signs.push_back(1);
    }
    for (int i = 1; i <= leaves; ++i) {
        nodes.add(5);
        signs.push_back(-1);
        edges.push_back({0, leaves + i});
        edges.push_back({i, leaves + i});
    }
    BlockLdl ldl;
    ldl.analyse(nodes, signs, edges);
    EXPECT_LE(ldl.fill_blocks(), 2 * leaves);
}

TEST(BlockLdl, PartialRefactorisationHasTheBitsOfAFullOne) {
    std::mt19937 random(11);
    BlockLdl part, full;
    for (int trial = 0; trial < 40; ++trial) {
        const Nodes nodes = sizes(trial % 4);
        std::vector<signed char> signs;
        for (int i = 0; i < 12; ++i) signs.push_back(trial % 2 && random() % 3 == 0 ? -1 : 1);
        auto edges = graphs()[trial % 5];
        MatX K = fill(part, nodes, signs, edges, static_cast<unsigned>(trial));
        ASSERT_TRUE(part.factor().ok);
        std::sort(edges.begin(), edges.end());
        for (int change = 0; change < 4; ++change) {
            const int node = static_cast<int>(random() % 12u);
            part.diagonal(node)[0] *= 1.5;
            part.touch(node);
            const auto e = edges[random() % edges.size()];
            part.block(e.b, e.a)[0] *= 0.5;
            part.touch(e.b, e.a);
            ASSERT_TRUE(part.refactor().ok);
            const int columns = part.refactored();

            full.analyse(nodes, signs, edges);
            for (int n = 0; n < 12; ++n) std::copy_n(part.diagonal(n), nodes.dof(n) * nodes.dof(n), full.diagonal(n));
            for (const auto& f : edges)
                std::copy_n(part.block(f.b, f.a), nodes.dof(f.b) * nodes.dof(f.a), full.block(f.b, f.a));
            ASSERT_TRUE(full.factor().ok);
            EXPECT_EQ(full.refactored(), 12);
            EXPECT_LE(columns, 12);
            VecX x = VecX::LinSpaced(nodes.nv(), -1, 2), y = x;
            part.solve(x.data());
            full.solve(y.data());
            EXPECT_TRUE((x.array() == y.array()).all()) << "trial " << trial;
        }
    }
}

TEST(BlockLdl, AChangeNearTheRootOfALongChainTouchesFewColumns) {
    Nodes nodes;
    std::vector<BlockLdl::Edge> edges;
    for (int i = 0; i < 1000; ++i) {
        nodes.add(6);
        if (i > 0) edges.push_back({i - 1, i});
    }
    BlockLdl ldl;
    ldl.analyse(nodes, {}, edges);
    for (int i = 0; i < 1000; ++i)
        for (int k = 0; k < 6; ++k) ldl.diagonal(i)[7 * k] = 3;
    for (int i = 1; i < 1000; ++i) ldl.block(i, i - 1)[0] = -1;
    ASSERT_TRUE(ldl.factor().ok);
    int fewest = 1000, most = 0;
    for (int i = 0; i < 1000; ++i) {
        ldl.touch(i);
        ASSERT_TRUE(ldl.refactor().ok);
        fewest = std::min(fewest, ldl.refactored());
        most = std::max(most, ldl.refactored());
    }
    EXPECT_EQ(fewest, 1);
    EXPECT_LE(most, 1000);
    ASSERT_TRUE(ldl.refactor().ok);
    EXPECT_EQ(ldl.refactored(), 0);
}

TEST(BlockLdl, WrongSignsAndRoundingPivotsAreToldWithTheirNode) {
    Nodes nodes;
    nodes.add(3);
    nodes.add(2);
    nodes.add(2);
    std::vector<BlockLdl::Edge> edges{{0, 1}, {0, 2}};
    BlockLdl ldl;
    const std::vector<signed char> signs{1, -1, -1};
    const auto fill_rows = [&](double second) {
        ldl.analyse(nodes, signs, edges);
        for (int k = 0; k < 3; ++k) ldl.diagonal(0)[4 * k] = 0.7 + k;
        Eigen::Map<MatX> G1(ldl.block(1, 0), 2, 3), G2(ldl.block(2, 0), 2, 3);
        G1 << 1, 0.3, 0.2, 0, 1, 0.1;
        G2 << 0.1, second, 1, 1.1, 1.3 + second, 0.3;  // the last row is a combination when second = 0
    };
    fill_rows(0);
    BlockLdl::Status status = ldl.factor();  // T = 0, four rows on three velocities
    EXPECT_FALSE(status.ok);
    EXPECT_TRUE(status.node == 1 || status.node == 2);
    for (const int n : {1, 2})
        for (int k = 0; k < 2; ++k) ldl.diagonal(n)[3 * k] = -1e-6;
    EXPECT_TRUE(ldl.factor().ok);
    for (int k = 0; k < 2; ++k) ldl.diagonal(2)[3 * k] = 1e3;
    status = ldl.factor();
    EXPECT_FALSE(status.ok);
    EXPECT_EQ(status.node, 2);
    EXPECT_GT(status.pivot, 0);
    ldl.diagonal(0)[0] = -1;
    EXPECT_EQ(ldl.factor().node, 0);
    ldl.diagonal(0)[0] = NAN;
    EXPECT_EQ(ldl.factor().node, 0);
    fill_rows(0);
    for (const int n : {1, 2})
        for (int k = 0; k < 2; ++k) ldl.diagonal(n)[3 * k] = -1e-6;
    EXPECT_TRUE(ldl.refactor().ok);  // after a failure everything is computed again
}

TEST(BlockLdl, EmptyMatrixAndNodesWithoutSizeAreSolved) {
    BlockLdl ldl;
    Nodes nodes;
    std::vector<BlockLdl::Edge> edges;
    ldl.analyse(nodes, {}, edges);
    EXPECT_TRUE(ldl.factor().ok);
    ldl.solve(nullptr);
    nodes.add(0);
    nodes.add(2);
    edges = {{0, 1}};
    ldl.analyse(nodes, {}, edges);
    ldl.diagonal(1)[0] = 2;
    ldl.diagonal(1)[3] = 4;
    EXPECT_TRUE(ldl.factor().ok);
    double x[2] = {2, 2};
    ldl.solve(x);
    EXPECT_EQ(x[0], 1);
    EXPECT_EQ(x[1], 0.5);
}

TEST(BlockLdl, KnownAndSmallerPatternsAllocateNothing) {
    BlockLdl ldl;
    Nodes large, small;
    std::vector<BlockLdl::Edge> edges, fewer, work;
    for (int i = 0; i < 200; ++i) {
        large.add(6);
        if (i < 150) small.add(6);
        if (i > 0) edges.push_back({i - 1, i});
        if (i >= 14) edges.push_back({i - 14, i});
        if (i > 0 && i < 150) fewer.push_back({i - 1, i});
    }
    const auto run = [&](const Nodes& nodes, const std::vector<BlockLdl::Edge>& from) {
        work.assign(from.begin(), from.end());
        ldl.analyse(nodes, {}, work);
        for (int i = 0; i < nodes.size(); ++i)
            for (int k = 0; k < 6; ++k) ldl.diagonal(i)[7 * k] = 10;
        for (const auto& e : from) ldl.block(e.b, e.a)[0] = 1;
        return ldl.factor().ok;
    };
    ASSERT_TRUE(run(large, edges));
    const long before = allocations.load();
    ASSERT_TRUE(run(large, edges));
    ASSERT_TRUE(run(small, fewer));
    ASSERT_TRUE(run(large, edges));
    EXPECT_EQ(allocations.load(), before);
}
