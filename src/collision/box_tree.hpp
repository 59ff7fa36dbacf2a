// A tree of boxes, to find which of many overlap: built from the top by halving the boxes along the axis on which their
// centres are spread most, in a time n log n, and refitted in a time n when some of them have changed.
//
// Boxes of very different sizes (a floor under gravel) are put into subtrees of their own first, by powers of eight:
// a large box would otherwise stretch every node above it, and small ones would be tested in vain.
// Nodes lie in depth-first order: what is behind a node begins at `behind`, so a walk needs no stack, and the later partners of
// a leaf are found by a walk that starts right after it. The boxes of a leaf lie side by side, so that one box is compared
// with all of them at once, and what is found is written without branches: they would mostly be guessed wrong.
// Which pairs are found depends on the boxes alone, never on the shape of the tree.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "geometry/bounds.hpp"

namespace stickslip {

inline bool overlap(const Aabb& x, const Aabb& y) {
    const int meets = static_cast<int>(x.lower[0] <= y.upper[0]) & static_cast<int>(y.lower[0] <= x.upper[0]) &
                      static_cast<int>(x.lower[1] <= y.upper[1]) & static_cast<int>(y.lower[1] <= x.upper[1]) &
                      static_cast<int>(x.lower[2] <= y.upper[2]) & static_cast<int>(y.lower[2] <= x.upper[2]);
    return meets != 0;
}

class BoxTree {
public:
    // The boxes with these numbers. An empty box (lower = infinity, upper = -infinity) may be among them: it overlaps nothing.
    void build(std::span<const Aabb> boxes, std::span<const int> members);
    void refit(std::span<const Aabb> boxes);  // the same members, with boxes anywhere

    // Every two members whose boxes overlap, once, in no order that means anything. Valid until the next question.
    std::span<const std::pair<int, int>> all_pairs();
    // The pairs (own, j) with every member j whose box overlaps this one. Valid until the next question.
    std::span<const std::pair<int, int>> pairs_with(const Aabb& box, int own);

private:
    static constexpr int leaf_size = 8;  // boxes; fewer: more nodes to walk, more: more pairs compared in vain
    struct Node {
        Aabb box;
        int behind;        // the node after this one's subtree
        int first, count;  // its members in items_; count = 0: not a leaf
        int leaf;          // its boxes in leaves_
    };
    struct Leaf {  // the places of absent boxes are empty ones
        double lower[3][leaf_size];
        double upper[3][leaf_size];
        int member[leaf_size];
    };
    struct Item {
        Vec3 centre;
        int member;
        int size_class;
    };
    void add_nodes(int first, int count);
    int split(int first, int count);
    void compare(const Aabb& box, int own, const Leaf& leaf, int from);
    void pairs_behind(int node);

    std::vector<Node> nodes_;
    std::vector<Leaf> leaves_;
    std::vector<Item> items_;  // in the order of the leaves
    std::vector<std::pair<int, int>> found_;
    std::size_t found_count_ = 0;
};

}  // namespace stickslip
