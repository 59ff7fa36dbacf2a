// The broad phase of the finder: regions, and the pairs of them that overlap.
//
// The candidates depend on when each collider left its region, but what is reported does not: boxes that meet now lie inside
// regions that overlap, and the narrow phase drops the pairs whose boxes do not meet.
#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"

namespace stickslip {

namespace {

// From this share of moved colliders on, all regions are made anew: that costs about as much as asking the tree for each of
// these, and leaves a better tree.
constexpr double many_moved = 0.25;

constexpr double farthest = 1e300;  // [m]

bool may_touch(const CollisionModel& model, int body_a, int body_b) {
    if (body_a == body_b) return false;
    if (model.is_fixed(body_a) && model.is_fixed(body_b)) return false;
    if (model.ignored_bodies.empty()) return true;
    const std::pair<int, int> bodies = std::minmax(body_a, body_b);
    return !std::binary_search(model.ignored_bodies.begin(), model.ignored_bodies.end(), bodies);
}

// Whether the box comes nearer than `cutoff` to the half-space.
bool reaches(const Aabb& box, const PlacedShape& half_space, double cutoff) {
    const auto& plane = std::get<HalfSpace>(*half_space.geometry);
    const Vec3 m = half_space.rotation * plane.normal;
    const Vec3 lowest = (m.array() > 0).select(box.lower, box.upper);
    return m.dot(lowest - half_space.position) <= plane.offset + cutoff * m.norm();
}

bool is_inside(const Aabb& box, const Aabb& region) {
    return (box.lower.array() >= region.lower.array()).all() && (box.upper.array() <= region.upper.array()).all();
}

}  // namespace

bool ContactFinder::near(const Placed& x, const Placed& y) const {
    if (std::isinf(x.size)) return reaches(y.bounds, x.shape, margin / 2 + x.reach);
    if (std::isinf(y.size)) return reaches(x.bounds, y.shape, margin / 2 + y.reach);
    return overlap(x.bounds, y.bounds);
}

// Makes the candidates hold for where the colliders are now; all of them `anew` if asked, else of those that moved too far.
void ContactFinder::update_candidates(const CollisionModel& model, bool anew) {
    const std::size_t colliders = placed_.size();
    anew = anew || found_for_ != model.identity || found_margin_ != margin || region_.size() != colliders;
    if (!anew) {
        collect_moved();
        if (moved_.empty()) return;
        moved_since_build_ += moved_.size();
        // A tree in which every box has changed once is likely to be worse than a new one.
        anew = static_cast<double>(moved_.size()) > many_moved * static_cast<double>(colliders) ||
               moved_since_build_ > colliders;
    }
    ++counts.finds;
    if (anew)
        find_all_pairs(model);
    else
        find_moved_pairs(model);
}

void ContactFinder::collect_moved() {
    moved_.clear();
    for (std::size_t i = 0; i < placed_.size(); ++i)
        if (!is_inside(placed_[i].bounds, region_[i])) moved_.push_back(static_cast<int>(i));
}

void ContactFinder::set_region(int i) {
    const Placed& at = placed_[i];
    if (std::isnan(at.size)) {  // a body lost to NaN touches nothing; its state is reported elsewhere
        region_[i] = Aabb{};
        return;
    }
    // Smaller slack, and candidates are found anew before a step ends; larger, and more of them are far apart. A body moves
    // by half its reach in a step.
    const double slack = margin / 2 + 2 * at.reach;
    region_[i].lower = at.bounds.lower.array() - slack;
    region_[i].upper = at.bounds.upper.array() + slack;
    if (std::isinf(at.size)) return;
    // Kept finite: a region without end would also meet the places of the tree that hold no box.
    region_[i].lower = region_[i].lower.array().max(-farthest);
    region_[i].upper = region_[i].upper.array().min(farthest);
}

// Half-spaces on bodies that move are candidates with everything.
void ContactFinder::find_plane_pairs(const CollisionModel& model, int plane, int other) {
    const int body = model.colliders[plane].body;
    if (std::isnan(placed_[other].size) || !may_touch(model, body, model.colliders[other].body)) return;
    const bool moves = !model.is_fixed(body);
    if (moves || reaches(region_[other], placed_[plane].shape, margin / 2 + placed_[plane].reach))
        fresh_.push_back(std::minmax(plane, other));
}

void ContactFinder::find_all_pairs(const CollisionModel& model) {
    const std::size_t colliders = placed_.size();
    fresh_.reserve(8 * colliders);  // more than slack adds, so that it does not grow in later steps
    pair_start_.reserve(colliders + 1);
    moved_.reserve(colliders);
    pair_.reserve(64);  // more than two shapes have: the first gap may be asked for late in a run
    if (found_for_ != model.identity) seams_ = has_seams(model);
    found_for_ = model.identity;
    found_margin_ = margin;
    too_many_ = false;
    moved_since_build_ = 0;

    bounded_.clear();
    unbounded_.clear();
    region_.resize(colliders);
    has_moved_.assign(colliders, 0);
    for (int i = 0; i < static_cast<int>(colliders); ++i) {
        set_region(i);
        (std::isinf(placed_[i].size) ? unbounded_ : bounded_).push_back(i);
    }
    tree_.build(region_, bounded_);
    fresh_.clear();
    for (const auto& [i, j] : tree_.all_pairs())
        if (may_touch(model, model.colliders[i].body, model.colliders[j].body)) fresh_.push_back(std::minmax(i, j));
    for (const int plane : unbounded_)
        for (const int other : bounded_) find_plane_pairs(model, plane, other);
    // What later steps use is made as large now.
    for (auto* pairs : {&candidates_, &merged_}) pairs->reserve(fresh_.capacity());
    pair_other_.reserve(fresh_.capacity());
    sort_fresh();
    candidates_.swap(fresh_);
}

void ContactFinder::find_moved_pairs(const CollisionModel& model) {
    for (const int i : moved_) {
        set_region(i);
        has_moved_[i] = 1;
    }
    tree_.refit(region_);
    fresh_.clear();
    for (const int i : moved_) {
        for (const auto& [own, j] : tree_.pairs_with(region_[i], i)) {
            if (has_moved_[j] != 0 && j <= i) continue;  // found from j, or i itself
            if (may_touch(model, model.colliders[i].body, model.colliders[j].body))
                fresh_.push_back(std::minmax(i, j));
        }
        for (const int plane : unbounded_) find_plane_pairs(model, plane, i);
    }
    sort_fresh();
    std::erase_if(candidates_,
                  [&](const CandidatePair& pair) { return (has_moved_[pair.first] | has_moved_[pair.second]) != 0; });
    merged_.clear();
    std::merge(candidates_.begin(), candidates_.end(), fresh_.begin(), fresh_.end(), std::back_inserter(merged_));
    candidates_.swap(merged_);
    for (const int i : moved_) has_moved_[i] = 0;
}

// By the first collider in one pass, then each one's few partners: linear in the number of pairs.
void ContactFinder::sort_fresh() {
    if (fresh_.size() < placed_.size()) {
        std::sort(fresh_.begin(), fresh_.end());
        return;
    }
    pair_start_.assign(placed_.size() + 1, 0);
    for (const auto& [i, j] : fresh_) ++pair_start_[i + 1];
    for (std::size_t i = 0; i < placed_.size(); ++i) pair_start_[i + 1] += pair_start_[i];
    pair_other_.resize(fresh_.size());
    for (const auto& [i, j] : fresh_) pair_other_[pair_start_[i]++] = j;
    int from = 0;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const int to = pair_start_[i];  // its start was moved to its end
        std::sort(pair_other_.begin() + from, pair_other_.begin() + to);
        for (; from < to; ++from) fresh_[from] = {static_cast<int>(i), pair_other_[from]};
    }
}

}  // namespace stickslip
