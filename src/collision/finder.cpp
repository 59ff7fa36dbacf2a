#include "collision/finder.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/error.hpp"

namespace stickslip {

void ContactFinder::find(const CollisionModel& model, std::span<const Pose> body_poses) {
    SS_ASSERT(reach.empty() || reach.size() == body_poses.size(), "one reach per body, or none");
    contacts_.clear();
    place(model, body_poses);
    sweep(model);
    narrow(model);
    orient(model);
}

void ContactFinder::place(const CollisionModel& model, std::span<const Pose> body_poses) {
    placed_.resize(model.colliders.size());
    for (std::size_t i = 0; i < placed_.size(); ++i) {
        const Collider& collider = model.colliders[i];
        SS_ASSERT(collider.body < static_cast<int>(body_poses.size()), "every collider sits on a body with a pose");
        SS_ASSERT(i == 0 || model.colliders[i - 1].id < collider.id, "colliders are sorted by id");
        const auto body = static_cast<std::size_t>(collider.body);
        const Pose pose = placed(collider.body < 0 ? Pose{} : body_poses[body], collider.shape.pose_B);
        Placed& at = placed_[i];
        at.shape = {&collider.shape.geometry, pose.position, pose.attitude.toRotationMatrix()};
        at.bounds = std::visit([&](const auto& g) { return world_bounds(g, pose); }, collider.shape.geometry);
        at.size = (at.bounds.upper - at.bounds.lower).norm() / 2;
        at.reach = collider.body < 0 || reach.empty() ? 0.0 : reach[body];
        at.bounds.lower.array() -= margin / 2 + at.reach;
        at.bounds.upper.array() += margin / 2 + at.reach;
    }
}

namespace {

bool may_touch(const CollisionModel& model, int body_a, int body_b) {
    if (body_a == body_b) return false;
    const auto fixed = [&](int body) { return body < 0 || (!model.fixed.empty() && model.fixed[body] != 0); };
    if (fixed(body_a) && fixed(body_b)) return false;
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

}  // namespace

void ContactFinder::sweep(const CollisionModel& model) {
    pairs_.clear();
    order_.clear();
    unbounded_.clear();

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
            order_.emplace_back(placed_[i].bounds.lower[axis], i);
    }
    std::sort(order_.begin(), order_.end());
    for (std::size_t first = 0; first < order_.size(); ++first) {
        const double upper = placed_[order_[first].second].bounds.upper[axis];
        for (std::size_t other = first + 1; other < order_.size() && order_[other].first <= upper; ++other)
            test_bounds(model, order_[first].second, order_[other].second);
    }
    for (const int plane : unbounded_) {
        for (const auto& [lower, other] : order_) {
            if (!reaches(placed_[other].bounds, placed_[plane].shape, margin / 2 + placed_[plane].reach)) continue;
            if (may_touch(model, model.colliders[plane].body, model.colliders[other].body))
                pairs_.push_back(std::minmax(plane, other));
        }
    }
    std::sort(pairs_.begin(), pairs_.end());
}

void ContactFinder::test_bounds(const CollisionModel& model, int i, int j) {
    const Aabb& x = placed_[i].bounds;
    const Aabb& y = placed_[j].bounds;
    if ((x.lower.array() > y.upper.array()).any() || (y.lower.array() > x.upper.array()).any()) return;
    if (may_touch(model, model.colliders[i].body, model.colliders[j].body)) pairs_.push_back(std::minmax(i, j));
}

void ContactFinder::narrow(const CollisionModel& model) {
    PairQuery query;
    query.plane_normal = model.plane_normal ? &*model.plane_normal : nullptr;
    for (const auto& [a, b] : pairs_) {
        const std::size_t first = contacts_.size();
        query.cutoff = margin + placed_[a].reach + placed_[b].reach;
        find_pair_contacts(placed_[a].shape, placed_[b].shape, query, contacts_);
        // Mirror images coincide up to rounding; two corners nearer than this are one corner to any mechanism.
        if (model.plane_normal) {
            const Placed& bounded = std::isinf(placed_[a].size) ? placed_[b] : placed_[a];
            flatten(*model.plane_normal, model.plane_normal->dot(bounded.shape.position), first,
                    1e-6 * std::min(placed_[a].size, placed_[b].size));
        }
        for (std::size_t i = first; i < contacts_.size(); ++i) {
            ContactPoint& contact = contacts_[i];
            contact.id.a = model.colliders[a].id;
            contact.id.b = model.colliders[b].id;
            contact.body_a = model.colliders[a].body;
            contact.body_b = model.colliders[b].body;
            contact.collider_a = a;
            contact.collider_b = b;
        }
    }
}

// Keeps one contact of those that coincide seen along the plane's normal; moves points and normals into the plane.
void ContactFinder::flatten(const Vec3& plane_normal, double plane_offset, std::size_t first, double tolerance) {
    // Below this sine of the angle to the plane's normal a contact pushes across the plane, where nothing can move.
    constexpr double across = 1e-3;
    std::size_t kept = first;
    for (std::size_t i = first; i < contacts_.size(); ++i) {
        ContactPoint contact = contacts_[i];
        contact.normal -= plane_normal * plane_normal.dot(contact.normal);
        const double length = contact.normal.norm();
        if (length < across) continue;
        contact.normal /= length;
        for (Vec3* point : {&contact.position, &contact.core_a, &contact.core_b})
            *point += (plane_offset - plane_normal.dot(*point)) * plane_normal;
        const auto coincides = [&](const ContactPoint& other) {
            return (contact.position - other.position).norm() <= tolerance;
        };
        const auto begin = contacts_.begin();
        const auto end = begin + static_cast<std::ptrdiff_t>(kept);
        if (std::any_of(begin + static_cast<std::ptrdiff_t>(first), end, coincides)) continue;
        contacts_[kept++] = contact;
    }
    contacts_.resize(kept);
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
