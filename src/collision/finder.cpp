#include "collision/finder.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/error.hpp"

namespace stickslip {

int CollisionModel::collider_index(std::uint32_t id) const {
    const auto found = std::lower_bound(colliders.begin(), colliders.end(), id,
                                        [](const Collider& c, std::uint32_t wanted) { return c.id < wanted; });
    return found != colliders.end() && found->id == id ? static_cast<int>(found - colliders.begin()) : -1;
}

void ContactFinder::find_candidates(const CollisionModel& model, std::span<const Pose> body_poses) {
    place_all(model, body_poses);
    if (too_many_ || !candidates_hold(model)) sweep(model);
}

void ContactFinder::evaluate(const CollisionModel& model, std::span<const Pose> body_poses) {
    place_all(model, body_poses);
    if (!candidates_hold(model)) sweep(model);
    narrow(model);
    orient(model);
}

void ContactFinder::find(const CollisionModel& model, std::span<const Pose> body_poses) {
    found_for_.reset();
    placed_margin_ = -1;
    evaluate(model, body_poses);
}

void ContactFinder::place(const Collider& collider, const Pose& body_pose, Placed& at) const {
    const Pose pose = placed(body_pose, collider.shape.pose_B);
    at.shape = {&*collider.shape.geometry, pose.position, pose.attitude.toRotationMatrix()};
    at.bounds = std::visit([&](const auto& g) { return world_bounds(g, pose); }, *collider.shape.geometry);
    at.size = (at.bounds.upper - at.bounds.lower).norm() / 2;
    at.reach = reach_of(collider.body);
    at.bounds.lower.array() -= margin / 2 + at.reach;
    at.bounds.upper.array() += margin / 2 + at.reach;
}

bool ContactFinder::already_placed(const CollisionModel& model, std::span<const Pose> body_poses) const {
    if (placed_margin_ != margin || body_poses.data() != body_poses_.data()) return false;
    for (std::size_t i = 0; i < placed_.size(); ++i)
        if (placed_[i].reach != reach_of(model.colliders[i].body)) return false;
    return true;
}

void ContactFinder::place_all(const CollisionModel& model, std::span<const Pose> body_poses) {
    SS_ASSERT(reach.empty() || reach.size() == body_poses.size(), "one reach per body, or none");
    if (already_placed(model, body_poses)) return;
    placed_.resize(model.colliders.size());
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const Collider& collider = model.colliders[i];
        SS_ASSERT(collider.body < static_cast<int>(body_poses.size()), "every collider sits on a body with a pose");
        SS_ASSERT(i == 0 || model.colliders[i - 1].id < collider.id, "colliders are sorted by id");
        place(collider, collider.body < 0 ? Pose{} : body_poses[collider.body], placed_[i]);
    }
    placed_margin_ = body_poses.data() == body_poses_.data() ? margin : -1;
}

namespace {

bool may_touch(const CollisionModel& model, int body_a, int body_b) {
    if (body_a == body_b) return false;
    if (model.is_fixed(body_a) && model.is_fixed(body_b)) return false;
    const std::pair<int, int> bodies = std::minmax(body_a, body_b);
    return !std::binary_search(model.ignored_bodies.begin(), model.ignored_bodies.end(), bodies);
}

bool overlap(const Aabb& x, const Aabb& y) {
    return !(x.lower.array() > y.upper.array()).any() && !(y.lower.array() > x.upper.array()).any();
}

// Whether the box comes nearer than `cutoff` to the half-space.
bool reaches(const Aabb& box, const PlacedShape& half_space, double cutoff) {
    const auto& plane = std::get<HalfSpace>(*half_space.geometry);
    const Vec3 m = half_space.rotation * plane.normal;
    const Vec3 lowest = (m.array() > 0).select(box.lower, box.upper);
    return m.dot(lowest - half_space.position) <= plane.offset + cutoff * m.norm();
}

}  // namespace

// Boxes that meet now met when the candidates were found, if both lie inside their regions. Half-spaces on bodies that move
// are candidates with everything.
bool ContactFinder::candidates_hold(const CollisionModel& model) const {
    if (found_for_ != model.identity || region_.size() != placed_.size()) return false;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const Aabb& box = placed_[i].bounds;
        const bool inside = (box.lower.array() >= region_[i].lower.array()).all() &&
                            (box.upper.array() <= region_[i].upper.array()).all();
        if (!inside) return false;
    }
    return true;
}

void ContactFinder::sweep(const CollisionModel& model) {
    ++counts.finds;
    candidates_.clear();
    candidates_.reserve(8 * placed_.size());  // more than slack adds, so that it does not grow in later steps
    pair_.reserve(64);                        // more than two shapes have: the first gap may be asked for late in a run
    order_.clear();
    unbounded_.clear();
    found_for_ = model.identity;
    too_many_ = false;

    // Smaller slack, and candidates are found anew before a step ends; larger, and more of them are far apart. A body moves
    // by half its reach in a step.
    region_.resize(placed_.size());
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const double slack = margin / 2 + 2 * placed_[i].reach;
        region_[i].lower = placed_[i].bounds.lower.array() - slack;
        region_[i].upper = placed_[i].bounds.upper.array() + slack;
    }

    // Sweep along the axis on which the colliders are spread most.
    Vec3 sum = Vec3::Zero(), square = Vec3::Zero();
    int bounded = 0;
    for (const Placed& at : placed_) {
        if (!std::isfinite(at.size)) continue;
        sum += at.shape.position;
        square += at.shape.position.cwiseAbs2();
        ++bounded;
    }
    int axis = 0;
    if (bounded > 0) (square - sum.cwiseAbs2() / bounded).maxCoeff(&axis);

    for (int i = 0; i < static_cast<int>(placed_.size()); ++i) {
        if (std::isinf(placed_[i].size))
            unbounded_.push_back(i);
        else if (std::isfinite(placed_[i].size))  // a body lost to NaN touches nothing; its state is reported elsewhere
            order_.emplace_back(region_[i].lower[axis], i);
    }
    std::sort(order_.begin(), order_.end());
    const auto consider = [&](int i, int j) {
        if (may_touch(model, model.colliders[i].body, model.colliders[j].body))
            candidates_.push_back(std::minmax(i, j));
    };
    for (std::size_t first = 0; first < order_.size(); ++first) {
        const int i = order_[first].second;
        const double upper = region_[i].upper[axis];
        for (std::size_t other = first + 1; other < order_.size() && order_[other].first <= upper; ++other)
            if (overlap(region_[i], region_[order_[other].second])) consider(i, order_[other].second);
    }
    for (const int plane : unbounded_) {
        const bool moves = !model.is_fixed(model.colliders[plane].body);
        for (const auto& [lower, other] : order_)
            if (moves || reaches(region_[other], placed_[plane].shape, margin / 2 + placed_[plane].reach))
                consider(plane, other);
    }
    std::sort(candidates_.begin(), candidates_.end());
}

bool ContactFinder::near(const Placed& x, const Placed& y) const {
    if (std::isinf(x.size)) return reaches(y.bounds, x.shape, margin / 2 + x.reach);
    if (std::isinf(y.size)) return reaches(x.bounds, y.shape, margin / 2 + y.reach);
    return overlap(x.bounds, y.bounds);
}

void ContactFinder::narrow(const CollisionModel& model) {
    contacts_.clear();
    std::size_t far = 0;
    for (const auto& [a, b] : candidates_) {
        if (near(placed_[a], placed_[b]))
            pair_contacts(model, a, b, placed_[a], placed_[b], contacts_);
        else
            ++far;
    }
    // Testing this many boxes in vain costs about as much as a broad phase.
    too_many_ = far > 8 * placed_.size();
}

namespace {

// Keeps one contact of those that coincide seen along the plane's normal; moves points and normals into the plane.
void flatten(const Vec3& plane_normal, double plane_offset, double tolerance, std::size_t first,
             std::vector<ContactPoint>& contacts) {
    // Below this sine of the angle to the plane's normal a contact pushes across the plane, where nothing can move.
    constexpr double across = 1e-3;
    std::size_t kept = first;
    for (std::size_t i = first; i < contacts.size(); ++i) {
        ContactPoint contact = contacts[i];
        contact.normal -= plane_normal * plane_normal.dot(contact.normal);
        const double length = contact.normal.norm();
        if (length < across) continue;
        contact.normal /= length;
        for (Vec3* point : {&contact.position, &contact.core_a, &contact.core_b})
            *point += (plane_offset - plane_normal.dot(*point)) * plane_normal;
        const auto coincides = [&](const ContactPoint& other) {
            return (contact.position - other.position).norm() <= tolerance;
        };
        const auto begin = contacts.begin();
        const auto end = begin + static_cast<std::ptrdiff_t>(kept);
        if (std::any_of(begin + static_cast<std::ptrdiff_t>(first), end, coincides)) continue;
        contacts[kept++] = contact;
    }
    contacts.resize(kept);
}

}  // namespace

void ContactFinder::pair_contacts(const CollisionModel& model, int a, int b, const Placed& x, const Placed& y,
                                  std::vector<ContactPoint>& contacts) const {
    PairQuery query;
    query.plane_normal = model.plane_normal ? &*model.plane_normal : nullptr;
    query.cutoff = margin + x.reach + y.reach;
    const std::size_t first = contacts.size();
    find_pair_contacts(x.shape, y.shape, query, contacts);
    // Mirror images coincide up to rounding; two corners nearer than this are one corner to any mechanism.
    if (model.plane_normal) {
        const Placed& bounded = std::isinf(x.size) ? y : x;
        flatten(*model.plane_normal, model.plane_normal->dot(bounded.shape.position), 1e-6 * std::min(x.size, y.size),
                first, contacts);
    }
    for (std::size_t i = first; i < contacts.size(); ++i) {
        ContactPoint& contact = contacts[i];
        contact.id.a = model.colliders[a].id;
        contact.id.b = model.colliders[b].id;
        contact.body_a = model.colliders[a].body;
        contact.body_b = model.colliders[b].body;
        contact.collider_a = a;
        contact.collider_b = b;
    }
}

double ContactFinder::gap(const CollisionModel& model, int a, int b, const Pose& pose_a, const Pose& pose_b,
                          const ContactId& id) {
    Placed x, y;
    place(model.colliders[a], pose_a, x);
    place(model.colliders[b], pose_b, y);
    if (!near(x, y)) return infinity;
    pair_.clear();
    pair_contacts(model, a, b, x, y, pair_);
    for (const ContactPoint& contact : pair_)
        if (contact.id == id) return contact.gap;
    return infinity;
}

void ContactFinder::orient(const CollisionModel& model) {
    std::size_t old = 0;
    for (ContactPoint& contact : contacts_) {
        if (model.plane_normal) {
            contact.tangent = model.plane_normal->cross(contact.normal);
            continue;
        }
        while (old < frames_.id.size() && frames_.id[old] < contact.id) ++old;
        const bool known = old < frames_.id.size() && frames_.id[old] == contact.id;
        contact.tangent =
            known ? transported_tangent(frames_.tangent[old], contact.normal) : first_tangent(contact.normal);
    }
}

void ContactFinder::commit_frames() {
    frames_.id.clear();
    frames_.tangent.clear();
    for (const ContactPoint& contact : contacts_) {
        frames_.id.push_back(contact.id);
        frames_.tangent.push_back(contact.tangent);
    }
}

}  // namespace stickslip
