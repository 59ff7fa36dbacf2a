// The part of a factorisation, and of every solve with it, that threads can share: subtrees of the elimination tree. What is eliminated
// in one is felt by its ancestors alone, so that
//
//   1. each part is eliminated by itself, as far as its own rows,
//   2. each row behind the parts takes what they leave it, part after part,
//   3. the rows behind the parts follow one after the other.
//
// A solve walks the same way, and back. It needs three meetings of the threads; by levels of the tree, of which a pile of 1000 has
// hundreds, they waited longer than they worked. Parts are chosen by the pattern alone and each number is computed in one order: bits do not depend
// on the number of threads.
#include <algorithm>
#include <atomic>

#include "math/block_lu.hpp"

namespace stickslip {

namespace {

// Numbers of the factors below which there are no parts: a solve then takes less than some tens of microseconds.
constexpr double least_split = 1e5;
// Parts, more than most machines have cores for them: who is done with a small one takes another.
constexpr std::size_t most_parts = 8;
// Of the factors: what one subtree may have at most. The larger, the longer threads wait for the one that has it; the smaller, the more is left
// behind the parts. What is best differs from pile to pile.
constexpr double largest_subtrees[] = {0.5, 0.35, 0.25, 0.15};

}  // namespace

// Whole subtrees of at most `largest` are dealt out, heaviest first, each to the part that has least. part_of_: per turn, -1 behind all.
// Returns the numbers that two threads work through, one beside the other.
double BlockLu::find_parts(double largest) {
    roots_.clear();
    part_of_.assign(static_cast<std::size_t>(tail_first_) + 1, -1);
    double behind = 0;
    for (int k = 0; k < tail_first_; ++k) {
        if (!(weight_[k] <= largest))
            behind += own_weight(k);
        else if (parent(k) == tail_first_ || !(weight_[parent(k)] <= largest))
            roots_.push_back(k);
    }
    std::stable_sort(roots_.begin(), roots_.end(), [&](int a, int b) { return weight_[a] > weight_[b]; });
    double load[most_parts] = {};
    for (const int root : roots_) {
        double* const least = std::min_element(load, load + most_parts);
        *least += weight_[root];
        part_of_[root] = static_cast<int>(least - load);
    }
    for (int k = tail_first_ - 1; k >= 0; --k)
        if (part_of_[k] < 0) part_of_[k] = part_of_[parent(k)];
    double first = 0, second = 0;
    for (const double of_part : load) (first <= second ? first : second) += of_part;
    return behind + std::max(first, second);
}

// The parent of turn k in the elimination tree; tail_first_: none, or the tail.
int BlockLu::parent(int k) const {
    return column_[k] < column_[k + 1] ? std::min(row_[column_[k]], tail_first_) : tail_first_;
}

double BlockLu::own_weight(int k) const { return 36 + 72.0 * (column_[k + 1] - column_[k]); }

// Part after part, then what is behind them, each in the order it had: ancestors stay behind, so that nothing else fills in.
void BlockLu::reorder_by_parts() {
    std::vector<int>&new_turn = mark_, &old_turn = child_;
    new_turn.resize(static_cast<std::size_t>(nodes_.size()));
    old_turn.clear();
    const auto take = [&](int part) {
        for (int k = 0; k < tail_first_; ++k)
            if (part_of_[k] == part) old_turn.push_back(k);
    };
    for (int part = 0; part < static_cast<int>(most_parts); ++part) {
        take(part);
        if (static_cast<int>(old_turn.size()) > part_.back()) part_.push_back(static_cast<int>(old_turn.size()));
    }
    top_first_ = part_.back();
    take(-1);
    for (int k = 0; k < tail_first_; ++k) new_turn[old_turn[k]] = k;
    for (int k = tail_first_; k < nodes_.size(); ++k) new_turn[k] = k;

    old_column_.assign(column_.begin(), column_.end());
    old_row_.assign(row_.begin(), row_.end());
    for (int k = 0, at = 0; k < tail_first_; ++k) {
        for (int e = old_column_[old_turn[k]]; e < old_column_[old_turn[k] + 1]; ++e)
            row_[at++] = new_turn[old_row_[e]];
        column_[k + 1] = at;
    }
    sibling_.assign(elimination_.begin(), elimination_.end());
    for (int k = 0; k < tail_first_; ++k) elimination_[k] = sibling_[old_turn[k]];
    for (int k = 0; k < nodes_.size(); ++k) turn_[elimination_[k]] = k;
}

void BlockLu::list_behind_parts() {
    inner_end_.resize(static_cast<std::size_t>(top_first_));
    behind_first_.assign(static_cast<std::size_t>(nodes_.size() - top_first_) + 1, 0);
    for (int k = 0; k < top_first_; ++k) {
        const auto begin = row_.begin() + column_[k], end = row_.begin() + column_[k + 1];
        inner_end_[k] = static_cast<int>(std::lower_bound(begin, end, top_first_) - row_.begin());
        for (int e = inner_end_[k]; e < column_[k + 1]; ++e) ++behind_first_[row_[e] - top_first_ + 1];
    }
    for (std::size_t i = 1; i < behind_first_.size(); ++i) behind_first_[i] += behind_first_[i - 1];
    behind_.resize(static_cast<std::size_t>(behind_first_.back()));
    sibling_.assign(behind_first_.begin(), behind_first_.end());
    for (int k = 0; k < top_first_; ++k)
        for (int e = inner_end_[k]; e < column_[k + 1]; ++e) behind_[sibling_[row_[e] - top_first_]++] = {k, e};
}

void BlockLu::split() {
    part_.assign(1, 0);
    top_first_ = 0;
    behind_first_.assign(1, 0);
    // Blocks of other sizes are factored one by one.
    for (int n = 0; n < nodes_.size(); ++n)
        if (nodes_.dof(n) != 6) return;
    const double all = 36.0 * tail_first_ + 72.0 * static_cast<double>(row_.size());
    if (all < least_split) return;
    weight_.assign(static_cast<std::size_t>(tail_first_) + 1, 0.0);
    for (int k = 0; k < tail_first_; ++k) {
        weight_[k] += own_weight(k);
        weight_[parent(k)] += weight_[k];
    }
    double best = 0, least = infinity;
    for (const double share : largest_subtrees) {
        const double time = find_parts(share * all);
        if (!(time < least)) continue;
        least = time;
        best = share;
    }
    find_parts(best * all);
    reorder_by_parts();
    list_behind_parts();
}

bool BlockLu::factor_parts() {
    std::atomic<bool> regular{true};
    each_part([&](int first, int stop) {
        for (int k = first; k < stop && regular;) {
            const int end = run_end_[k];
            if (!factor_run(k, end, false)) regular = false;
            for (int e = column_[end - 1]; e < inner_end_[end - 1]; ++e) eliminate_row(k, end, e - column_[end - 1]);
            k = end;
        }
    });
    if (!regular) return false;
    each_behind_parts([&](int k, int e) {
        const bool starts_run = k == 0 || run_end_[k - 1] == k;
        const int end = run_end_[k];
        if (starts_run) eliminate_row(k, end, e - column_[k] - (end - 1 - k));
    });
    return true;
}

}  // namespace stickslip
