// Groups of nodes against reachability in a random graph, walked edge by edge.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "math/node_groups.hpp"

namespace stickslip {
namespace {

TEST(NodeGroups, AreWhatEdgesReachAndTheLowestStandsForThem) {
    for (int seed = 1; seed <= 30; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const int n = 40;
        std::vector<std::pair<int, int>> edges(static_cast<std::size_t>(seed));
        for (auto& [a, b] : edges) {
            a = static_cast<int>(random() % n);
            b = static_cast<int>(random() % n);
        }
        NodeGroups groups;
        groups.reset(n);
        for (const auto& [a, b] : edges) groups.join(a, b);
        std::vector<int> lowest(n);
        for (int i = 0; i < n; ++i) lowest[i] = i;
        for (int round = 0; round < n; ++round)
            for (const auto& [a, b] : edges) lowest[a] = lowest[b] = std::min(lowest[a], lowest[b]);
        for (int i = 0; i < n; ++i) EXPECT_EQ(groups.root_of(i), lowest[i]) << seed;
    }
}

}  // namespace
}  // namespace stickslip
