// Nodes that rows hold together (union-find): each group is stood for by its lowest node.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "stickslip/blocks.hpp"

namespace stickslip {

class NodeGroups {
public:
    // Every node for itself.
    void reset(int nodes) {
        parent_.resize(static_cast<std::size_t>(nodes));
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    int size() const { return static_cast<int>(parent_.size()); }
    int root_of(int node) {
        while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
        return node;
    }
    void join(int a, int b) {
        a = root_of(a);
        b = root_of(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }
    // The nodes of a group of rows.
    void join(const BlockRows& rows, int group) {
        const auto blocks = rows.blocks_of(group);
        for (const BlockRows::Block& block : blocks) join(blocks[0].node, block.node);
    }
    void join(const BlockRows& rows) {
        for (int g = 0; g < rows.groups(); ++g) join(rows, g);
    }

private:
    std::vector<int> parent_;  // per node: towards the lowest
};

}  // namespace stickslip
