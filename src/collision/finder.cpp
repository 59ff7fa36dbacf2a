#include "collision/finder.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// Candidates of one part of the narrow phase. If fewer, taking a part costs more than it has to do; if more, threads wait for each other.
constexpr int part_size = 48;

}  // namespace

int CollisionModel::collider_index(std::uint32_t id) const {
    if (id < colliders.size() && colliders[id].id == id) return static_cast<int>(id);  // nothing was ever taken out
    const auto found = std::lower_bound(colliders.begin(), colliders.end(), id,
                                        [](const Collider& c, std::uint32_t wanted) { return c.id < wanted; });
    return found != colliders.end() && found->id == id ? static_cast<int>(found - colliders.begin()) : -1;
}

void ContactFinder::find_candidates(const CollisionModel& model, std::span<const Pose> body_poses) {
    place_all(model, body_poses);
    update_candidates(model, too_many_);
}

void ContactFinder::evaluate(const CollisionModel& model, std::span<const Pose> body_poses) {
    place_all(model, body_poses);
    update_candidates(model, false);
    narrow(model);
    if (seams_ && !inner_edges && contacts_.size() > 1) drop_inner_contacts(model);
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

// Candidates from .. to - 1. Returns how many of them are far apart.
std::size_t ContactFinder::narrow(const CollisionModel& model, int from, int to, std::vector<ContactPoint>& contacts) const {
    std::size_t far = 0;
    for (int k = from; k < to; ++k) {
        const auto& [a, b] = candidates_[k];
        if (near(placed_[a], placed_[b]))
            pair_contacts(model, a, b, placed_[a], placed_[b], contacts);
        else
            ++far;
    }
    return far;
}

// In parts, one behind the other: no pair knows of another, so that the list is the same.
void ContactFinder::narrow(const CollisionModel& model) {
    contacts_.clear();
    const int pairs = static_cast<int>(candidates_.size()), parts = (pairs + part_size - 1) / part_size;
    std::size_t far = 0;
    if (threads() == 1 || parts <= 1) {
        far = narrow(model, 0, pairs, contacts_);
    } else {
        found_.resize(std::max(found_.size(), static_cast<std::size_t>(parts)));
        in_parallel(parts, [&](int k) {
            found_[k].contacts.clear();
            found_[k].far = narrow(model, k * part_size, std::min(pairs, (k + 1) * part_size), found_[k].contacts);
        });
        for (int k = 0; k < parts; ++k) {
            contacts_.insert(contacts_.end(), found_[k].contacts.begin(), found_[k].contacts.end());
            far += found_[k].far;
        }
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
