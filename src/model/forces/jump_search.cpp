#include "model/forces/jump_search.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/types.hpp"

namespace stickslip {

namespace {

constexpr double grid_length = 1e-4;     // [s] If longer, fast square waves lose switches; if shorter, searching costs more than steps.
constexpr double searched_ahead = 10;    // [s] searched on the grid; beyond it, by ever longer strides,
constexpr double stride_growth = 1.05;   // which find what happens once
constexpr double latest_jump = 1e7;      // [s]
constexpr std::size_t most_kept = 8192;  // jumps; beyond it the older half is forgotten

// Branches are numbers like 0, 1, floor(x): equal or not. What is no number differs from nothing.
bool branches_differ(double a, double b) { return a != b && !std::isnan(a) && !std::isnan(b); }

}  // namespace

JumpSearch::JumpSearch(std::vector<Branch> branches) : branches_(std::move(branches)) {
    jumps_.reserve(most_kept);
    found_.reserve(branches_.size());
    before_.resize(branches_.size());
    now_.resize(branches_.size());
}

// The first double above `low` at which the branch is no longer that of `low`, if it changes once between them.
double JumpSearch::change_between(const Branch& branch, double low, double high) const {
    const double old = branch(low);
    for (;;) {
        const double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) return high;
        (branches_differ(branch(middle), old) ? high : low) = middle;
    }
}

void JumpSearch::search_until(double t) {
    for (std::size_t i = 0; i < branches_.size(); ++i) before_[i] = branches_[i](until_);
    while (until_ < t) {
        const double next = (std::floor(until_ / grid_length + 0.5) + 1) * grid_length;
        found_.clear();
        for (std::size_t i = 0; i < branches_.size(); ++i) {
            now_[i] = branches_[i](next);
            if (branches_differ(now_[i], before_[i])) found_.push_back(change_between(branches_[i], until_, next));
        }
        std::sort(found_.begin(), found_.end());
        for (const double jump : found_)
            if (jumps_.empty() || jump > jumps_.back()) jumps_.push_back(jump);
        before_.swap(now_);
        until_ = next;
        if (jumps_.size() < most_kept - found_.capacity()) continue;
        from_ = jumps_[most_kept / 2];
        jumps_.erase(jumps_.begin(), jumps_.begin() + most_kept / 2);
    }
}

double JumpSearch::far_jump(double from) const {
    double first = infinity;
    for (const Branch& branch : branches_) {
        const double old = branch(from);
        for (double stride = searched_ahead; from + stride < std::min(latest_jump, first); stride *= stride_growth)
            if (branches_differ(branch(from + stride), old)) {
                first = std::min(first, change_between(branch, from, from + stride));
                break;
            }
    }
    return first;
}

double JumpSearch::next(double t) {
    const std::lock_guard lock(mutex_);
    if (until_ == from_ || t < from_ || t > until_ + searched_ahead) {
        jumps_.clear();
        from_ = until_ = std::floor(t / grid_length) * grid_length;
    }
    for (;;) {
        const auto after = std::upper_bound(jumps_.begin(), jumps_.end(), t);
        if (after != jumps_.end()) return *after;
        if (until_ >= t + searched_ahead / 2) {
            if (far_from_ != until_) far_ = far_jump(until_);
            far_from_ = until_;
            return far_;
        }
        search_until(std::min(until_ + searched_ahead / 100, t + searched_ahead));
    }
}

}  // namespace stickslip
