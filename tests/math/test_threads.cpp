// Results do not depend on the number of threads.
#include <gtest/gtest.h>

#include <random>

#include "base/parallel.hpp"
#include "math/block_lu.hpp"
#include "math/group_products.hpp"
#include "math/node_inverse.hpp"

namespace stickslip {
namespace {

struct ThreadCount : testing::Test {
    ~ThreadCount() override { set_threads(1); }
};

TEST_F(ThreadCount, EveryPartIsDoneOnce) {
    for (const int count : {1, 2, 3, 7}) {
        set_threads(count);
        EXPECT_EQ(threads(), count);
        std::vector<int> done(100, 0);
        in_parallel(100, [&](int k) { done[k] += 1; });
        EXPECT_EQ(done, std::vector<int>(100, 1));
    }
    set_threads(0);
    EXPECT_EQ(threads(), 1);
}

// A deadline that is told to all means the same to each, and who waits for others has not gained time.
TEST_F(ThreadCount, ClocksGoOnFromThatOfTheCaller) {
    const auto work_until = [](double end) {
        while (processor_time() < end) {
        }
    };
    set_threads(2);
    work_until(processor_time() + 0.02);
    const double start = processor_time();
    std::atomic<int> waiting{2};
    std::vector<double> began(2), ended(2);
    in_parallel(2, [&](int k) {
        began[k] = processor_time();
        for (--waiting; waiting > 0;) std::this_thread::yield();  // one part for each thread
        work_until(start + (k == 0 ? 0.005 : 0.015));
        ended[k] = processor_time();
    });
    const double end = processor_time();
    for (const double t : began) {
        EXPECT_GE(t, start);
        EXPECT_LT(t, start + 0.002);
    }
    EXPECT_GE(end, *std::max_element(ended.begin(), ended.end()));
    EXPECT_LT(end, *std::max_element(ended.begin(), ended.end()) + 0.002);
}

// x of K x = b with numbers of no pattern and a heavy diagonal.
VecX solved(int bodies, const std::vector<BlockLu::Edge>& edges, int count) {
    constexpr int dof = 6;
    set_threads(count);
    Nodes nodes;
    for (int i = 0; i < bodies; ++i) nodes.add(dof);
    BlockLu lu;
    std::vector<BlockLu::Edge> sorted = edges;
    lu.analyse(nodes, sorted);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> value(-1, 1);
    for (int i = 0; i < bodies; ++i) {
        for (int k = 0; k < dof * dof; ++k) lu.diagonal(i)[k] = value(random);
        for (int k = 0; k < dof; ++k) lu.diagonal(i)[k * (dof + 1)] += 50;
    }
    for (const BlockLu::Edge& e : edges) {
        const BlockLu::Pair pair = lu.pair(e.a, e.b);
        for (int k = 0; k < dof * dof; ++k) pair.ab[k] = value(random), pair.ba[k] = value(random);
    }
    EXPECT_TRUE(lu.factor());
    VecX x = VecX::LinSpaced(nodes.nv(), -1, 1);
    lu.solve(x.data());
    return x;
}

void expect_same_bits(int bodies, const std::vector<BlockLu::Edge>& edges) {
    const VecX one = solved(bodies, edges, 1);
    EXPECT_TRUE(one.allFinite());
    for (const int count : {2, 3, 8}) EXPECT_TRUE(solved(bodies, edges, count) == one) << count << " threads";
}

// A pile in which everybody touches everybody: one dense matrix of 900 rows, well above what is shared out.
TEST_F(ThreadCount, TheFactorsOfALargePileHaveTheSameBits) {
    constexpr int bodies = 150;
    std::vector<BlockLu::Edge> edges;
    for (int i = 0; i < bodies; ++i)
        for (int j = i + 1; j < bodies; ++j) edges.push_back({i, j});
    expect_same_bits(bodies, edges);
}

std::vector<BlockLu::Edge> lattice(int n) {
    std::vector<BlockLu::Edge> edges;
    for (int i = 0; i < n * n * n; ++i) {
        if (i % n + 1 < n) edges.push_back({i, i + 1});
        if (i / n % n + 1 < n) edges.push_back({i, i + n});
        if (i + n * n < n * n * n) edges.push_back({i, i + n * n});
    }
    return edges;
}

// A cubic lattice of 1000 bodies: parts of the elimination tree, long runs of columns behind them, and the dense end.
TEST_F(ThreadCount, TheFactorsOfALatticeHaveTheSameBits) { expect_same_bits(1000, lattice(10)); }

// Contacts between any two of 400 bodies, or of one body and the floor.
BlockRows many_contacts(const Nodes& nodes, int count) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> value(-1, 1);
    BlockRows rows;
    for (int g = 0; g < count; ++g) {
        rows.begin_group(1 + g % 3);
        const int a = static_cast<int>(random()) & 255, b = 256 + (static_cast<int>(random()) & 127);
        for (const int node : {a, b}) {
            if (node == b && g % 5 == 0) continue;
            auto block = rows.add_block(node, nodes.dof(node));
            for (int i = 0; i < block.rows(); ++i)
                for (int j = 0; j < block.cols(); ++j) block(i, j) = value(random);
        }
    }
    return rows;
}

// Bodies of 6, 3, 2 and 4 velocities: each has code of its own.
TEST_F(ThreadCount, ProductsOfManyRowsHaveTheSameBits) {
    Nodes nodes;
    for (int i = 0; i < 400; ++i) nodes.add(i % 7 == 0 ? 3 : i % 7 == 1 ? 2 : i % 7 == 2 ? 4 : 6);
    const BlockRows rows = many_contacts(nodes, 2000);
    const VecX v = VecX::LinSpaced(nodes.nv(), -1, 2), p = VecX::LinSpaced(rows.rows(), -3, 1);
    const MatX dense = rows.dense(nodes);
    VecX once, transposed = VecX::Ones(nodes.nv());
    rows.add_transpose_product(nodes, p, transposed);
    EXPECT_LT((transposed - VecX::Ones(nodes.nv()) - dense.transpose() * p).norm(), 1e-12 * transposed.norm());
    for (const int count : {1, 2, 4}) {
        set_threads(count);
        VecX u = VecX::Constant(rows.rows(), 7);
        rows.product(nodes, v, u);
        if (count == 1) once = u;
        EXPECT_TRUE(u == once) << count << " threads";
        EXPECT_LT((u - dense * v).norm(), 1e-13 * u.norm());
        BlockColumns columns;
        columns.list(rows, nodes.size());
        VecX y = VecX::Ones(nodes.nv());
        each_in_parallel(nodes.size(), 10, [&](int n) { columns.add_transpose_product(rows, nodes, n, p.data(), y.data()); });
        EXPECT_TRUE(y == transposed) << "body by body, " << count << " threads";
    }
}

// Among bodies whose inverse is found in place, one that needs pivoting and one without rotation.
TEST_F(ThreadCount, InversesOfMassesAreFoundByAnyNumberOfThreads) {
    BlockMatrix A;
    Nodes nodes;
    for (int i = 0; i < 1000; ++i) nodes.add(i == 500 ? 5 : i % 9 == 0 ? 3 : 6);
    A.shape_diagonal(nodes);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> value(-1, 1);
    for (double& x : A.values) x = value(random);
    for (int n = 0; n < nodes.size(); ++n)
        if (n != 700) A.block(n) += 8 * MatX::Identity(nodes.dof(n), nodes.dof(n));
    const VecX x = VecX::LinSpaced(nodes.nv(), -1, 1);
    VecX once;
    for (const int count : {1, 2, 4}) {
        set_threads(count);
        NodeInverse inverse;
        inverse.factor(A);
        VecX y(nodes.nv()), back = VecX::Zero(nodes.nv());
        inverse.apply(x, y);
        A.add_product(1, y, back);
        EXPECT_LT((back - x).norm(), 1e-10 * x.norm());
        if (count == 1) once = y;
        EXPECT_TRUE(y == once) << count << " threads";
    }
}

}  // namespace
}  // namespace stickslip
