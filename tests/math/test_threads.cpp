// Results do not depend on the number of threads.
#include <gtest/gtest.h>

#include <random>

#include "base/parallel.hpp"
#include "math/block_lu.hpp"

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

// A cubic lattice of 1000 bodies: long runs of columns before the dense end, shared out row by row.
TEST_F(ThreadCount, TheFactorsOfALatticeHaveTheSameBits) {
    constexpr int n = 10;
    std::vector<BlockLu::Edge> edges;
    for (int i = 0; i < n * n * n; ++i) {
        if (i % n + 1 < n) edges.push_back({i, i + 1});
        if (i / n % n + 1 < n) edges.push_back({i, i + n});
        if (i + n * n < n * n * n) edges.push_back({i, i + n * n});
    }
    expect_same_bits(n * n * n, edges);
}

}  // namespace
}  // namespace stickslip
