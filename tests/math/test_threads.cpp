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

// A pile in which everybody touches everybody: one dense matrix of 900 rows, well above what is shared out.
TEST_F(ThreadCount, TheFactorsOfALargePileHaveTheSameBits) {
    constexpr int bodies = 150, dof = 6;
    Nodes nodes;
    std::vector<BlockLu::Edge> edges;
    for (int i = 0; i < bodies; ++i) nodes.add(dof);
    for (int i = 0; i < bodies; ++i)
        for (int j = i + 1; j < bodies; ++j) edges.push_back({i, j});
    const auto solved = [&](int count) {
        set_threads(count);
        BlockLu lu;
        lu.analyse(nodes, edges);
        std::mt19937 random(7);
        std::uniform_real_distribution<double> value(-1, 1);
        for (int i = 0; i < bodies; ++i) {
            for (int k = 0; k < dof * dof; ++k) lu.diagonal(i)[k] = value(random);
            for (int k = 0; k < dof; ++k) lu.diagonal(i)[k * (dof + 1)] += 50;
            for (int j = i + 1; j < bodies; ++j) {
                const BlockLu::Pair pair = lu.pair(i, j);
                for (int k = 0; k < dof * dof; ++k) pair.ab[k] = value(random), pair.ba[k] = value(random);
            }
        }
        EXPECT_TRUE(lu.factor());
        VecX x = VecX::LinSpaced(nodes.nv(), -1, 1);
        lu.solve(x.data());
        return x;
    };
    const VecX one = solved(1);
    EXPECT_TRUE(one.allFinite());
    for (const int count : {2, 3, 8}) EXPECT_TRUE(solved(count) == one) << count << " threads";
}

}  // namespace
}  // namespace stickslip
