#include "collision/box_tree.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

bool is_empty(const Aabb& box) { return !(box.lower[0] <= box.upper[0]); }

// Powers of eight of the longest side; boxes of one class differ by less than that.
int size_class_of(const Aabb& box) {
    const double longest = (box.upper - box.lower).maxCoeff();
    if (is_empty(box) || !(longest > 0)) return -1000;
    return static_cast<int>(std::floor(std::ilogb(longest) / 3.0));
}

void include(Aabb& box, const Aabb& other) {
    box.lower = box.lower.cwiseMin(other.lower);
    box.upper = box.upper.cwiseMax(other.upper);
}

}  // namespace

void BoxTree::build(std::span<const Aabb> boxes, std::span<const int> members) {
    items_.clear();
    for (const int i : members) {
        const Vec3 centre = is_empty(boxes[i]) ? Vec3(Vec3::Zero()) : Vec3((boxes[i].lower + boxes[i].upper) / 2);
        items_.push_back({centre, i, size_class_of(boxes[i])});
    }
    nodes_.clear();
    leaves_.clear();
    // Never more, however the sizes are spread; and more pairs than piles have.
    nodes_.reserve(2 * items_.size());
    leaves_.reserve(items_.size());
    found_.resize(std::max(found_.size(), 10 * items_.size() + leaf_size));
    if (!items_.empty()) add_nodes(0, static_cast<int>(items_.size()));
    refit(boxes);
}

void BoxTree::add_nodes(int first, int count) {
    const std::size_t own = nodes_.size();
    nodes_.push_back({Aabb{}, 0, first, 0, -1});
    if (count <= leaf_size) {
        nodes_[own].count = count;
        nodes_[own].leaf = static_cast<int>(leaves_.size());
        leaves_.emplace_back();
    } else {
        const int left = split(first, count);
        add_nodes(first, left);
        add_nodes(first + left, count - left);
    }
    nodes_[own].behind = static_cast<int>(nodes_.size());
}

// How many of the items become the first half; they are put in front. Ties go by number.
int BoxTree::split(int first, int count) {
    const auto begin = items_.begin() + first, end = begin + count;
    Vec3 lower = begin->centre, upper = begin->centre;
    int smallest = begin->size_class, largest = begin->size_class;
    for (auto item = begin; item != end; ++item) {
        lower = lower.cwiseMin(item->centre);
        upper = upper.cwiseMax(item->centre);
        smallest = std::min(smallest, item->size_class);
        largest = std::max(largest, item->size_class);
    }
    if (smallest != largest) {
        const auto small = [&](const Item& item) { return item.size_class == smallest; };
        return static_cast<int>(std::partition(begin, end, small) - begin);
    }
    int axis = 0;
    (upper - lower).maxCoeff(&axis);
    std::nth_element(begin, begin + count / 2, end, [axis](const Item& x, const Item& y) {
        return x.centre[axis] != y.centre[axis] ? x.centre[axis] < y.centre[axis] : x.member < y.member;
    });
    return count / 2;
}

void BoxTree::refit(std::span<const Aabb> boxes) {
    // Children stand behind their parent.
    for (std::size_t n = nodes_.size(); n-- > 0;) {
        Node& node = nodes_[n];
        node.box = Aabb{};
        if (node.count == 0) {
            const Node& left = nodes_[n + 1];
            include(node.box, left.box);
            include(node.box, nodes_[left.behind].box);
            continue;
        }
        Leaf& leaf = leaves_[node.leaf];
        for (int i = 0; i < leaf_size; ++i) {
            leaf.member[i] = i < node.count ? items_[node.first + i].member : -1;
            const Aabb box = i < node.count ? boxes[leaf.member[i]] : Aabb{};
            include(node.box, box);
            for (int k = 0; k < 3; ++k) {
                leaf.lower[k][i] = box.lower[k];
                leaf.upper[k][i] = box.upper[k];
            }
        }
    }
}

// Appends (own, j) for the boxes j of the leaf, in places from `from` on, that overlap this one.
void BoxTree::compare(const Aabb& box, int own, const Leaf& leaf, int from) {
    if (found_.size() < found_count_ + leaf_size) found_.resize(2 * found_count_ + leaf_size);
    const double x0 = box.lower[0], y0 = box.lower[1], z0 = box.lower[2];
    const double x1 = box.upper[0], y1 = box.upper[1], z1 = box.upper[2];
    std::int64_t hit[leaf_size];
    for (int j = 0; j < leaf_size; ++j)
        hit[j] = static_cast<std::int64_t>(leaf.lower[0][j] <= x1) & static_cast<std::int64_t>(x0 <= leaf.upper[0][j]) &
                 static_cast<std::int64_t>(leaf.lower[1][j] <= y1) & static_cast<std::int64_t>(y0 <= leaf.upper[1][j]) &
                 static_cast<std::int64_t>(leaf.lower[2][j] <= z1) & static_cast<std::int64_t>(z0 <= leaf.upper[2][j]);
    std::pair<int, int>* const to = found_.data() + found_count_;
    std::int64_t count = 0;
    for (int j = from; j < leaf_size; ++j) {
        to[count] = {own, leaf.member[j]};
        count += hit[j];
    }
    found_count_ += static_cast<std::size_t>(count);
}

// The pairs of the members of a leaf with each other and with those of later leaves.
void BoxTree::pairs_behind(int node) {
    const Leaf& own = leaves_[nodes_[node].leaf];
    const Aabb around = nodes_[node].box;
    const int count = nodes_[node].count;
    Aabb box[leaf_size];
    for (int i = 0; i < count; ++i) {
        box[i].lower = Vec3(own.lower[0][i], own.lower[1][i], own.lower[2][i]);
        box[i].upper = Vec3(own.upper[0][i], own.upper[1][i], own.upper[2][i]);
        compare(box[i], own.member[i], own, i + 1);
    }
    for (int k = node + 1, end = static_cast<int>(nodes_.size()); k < end;) {
        const Node& other = nodes_[k];
        if (!overlap(around, other.box)) {
            k = other.behind;
            continue;
        }
        for (int i = 0; i < count && other.count > 0; ++i)
            if (overlap(box[i], other.box)) compare(box[i], own.member[i], leaves_[other.leaf], 0);
        ++k;
    }
}

std::span<const std::pair<int, int>> BoxTree::all_pairs() {
    found_count_ = 0;
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n)
        if (nodes_[n].count > 0) pairs_behind(n);
    return {found_.data(), found_count_};
}

std::span<const std::pair<int, int>> BoxTree::pairs_with(const Aabb& box, int own) {
    found_count_ = 0;
    for (int k = 0, end = static_cast<int>(nodes_.size()); k < end;) {
        const Node& node = nodes_[k];
        if (!overlap(box, node.box)) {
            k = node.behind;
            continue;
        }
        if (node.count > 0) compare(box, own, leaves_[node.leaf], 0);
        ++k;
    }
    return {found_.data(), found_count_};
}

}  // namespace stickslip
