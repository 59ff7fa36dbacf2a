// Inner edges are not felt. Where shapes that do not move against each other share faces (tiles of one floor, the parts of a body), the point
// of a contact on one of them may lie on another that reaches farther along its normal: then the plane of the contact does not bound
// the whole of them, and what slides over the seam would be stopped by an edge that nobody can touch.
//
// With Q the point on shape j and n the normal out of it, the contact is left out if another shape k of the same body, or fixed like j, has Q in
// it and max over k of n.x > n.Q. On a flush floor that leaves the face below a ball and drops the edge of the next tile; at a real edge no
// other shape holds Q.
#include <algorithm>
#include <cmath>

#include "collision/extent.hpp"
#include "collision/finder.hpp"

namespace stickslip {

namespace {

constexpr double touching = 1e-7;  // of half the thickness: shapes as near as this share a face
constexpr double beyond = 1e-10;   // of it: a shape that reaches so far over a plane does not lie behind it

bool has_edges(const Geometry& geometry) { return std::holds_alternative<Box>(geometry) || std::holds_alternative<Hull>(geometry); }

}  // namespace

// Whether collider k covers the contact on its side `own`, whose point is Q and whose outward normal is n.
bool ContactFinder::covers(const CollisionModel& model, int own, int k, const Vec3& Q, const Vec3& n) const {
    const int body = model.colliders[own].body, other = model.colliders[k].body;
    if (k == own || (body != other && !(model.is_fixed(body) && model.is_fixed(other)))) return false;
    const double thickness = half_thickness(model.colliders[k].shape);
    if (!std::isfinite(thickness)) return false;
    const PlacedShape& shape = placed_[k].shape;
    return holds(shape, Q, touching * thickness) && extent(shape, n) - n.dot(Q) > beyond * thickness;
}

// Whether shapes that do not move against each other could share faces: those of one body, or of two fixed ones.
bool ContactFinder::has_seams(const CollisionModel& model) {
    shapes_.assign(model.fixed.size() + 1, 0);
    boxes_.assign(model.fixed.size() + 1, 0);
    bool any = false;
    for (const Collider& collider : model.colliders) {
        if (!std::isfinite(half_thickness(collider.shape))) continue;
        const std::size_t of = model.is_fixed(collider.body) ? 0 : static_cast<std::size_t>(collider.body) + 1;
        if (of >= shapes_.size()) continue;
        ++shapes_[of];
        boxes_[of] += has_edges(*collider.shape.geometry);
        any = any || (shapes_[of] > 1 && boxes_[of] > 0);
    }
    return any;
}

// Whether other shapes could share a face with this one. Most bodies of a heap are one shape: looking at all contacts for each of theirs took a
// ninth of the steps of stacks beside a few fixed boxes.
bool ContactFinder::may_have_seam(const CollisionModel& model, int collider) const {
    const int body = model.colliders[collider].body;
    const std::size_t of = model.is_fixed(body) ? 0 : static_cast<std::size_t>(body) + 1;
    return of < shapes_.size() && shapes_[of] > 1;
}

void ContactFinder::drop_inner_contacts(const CollisionModel& model) {
    const auto inner = [&](const ContactPoint& contact) {
        for (const bool on_a : {true, false}) {
            const int own = on_a ? contact.collider_a : contact.collider_b, mover = on_a ? contact.collider_b : contact.collider_a;
            if (!may_have_seam(model, own) || !has_edges(*placed_[own].shape.geometry)) continue;
            const Vec3 n = on_a ? Vec3(-contact.normal) : contact.normal;
            const Vec3 Q = on_a ? contact.core_a : contact.core_b;
            // Who covers it is near the same mover.
            for (const ContactPoint& near : contacts_) {
                if (near.collider_a == mover && covers(model, own, near.collider_b, Q, n)) return true;
                if (near.collider_b == mover && covers(model, own, near.collider_a, Q, n)) return true;
            }
        }
        return false;
    };
    inner_.resize(contacts_.size());
    for (std::size_t i = 0; i < contacts_.size(); ++i) inner_[i] = inner(contacts_[i]);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        if (inner_[i]) continue;
        if (kept != i) contacts_[kept] = contacts_[i];
        ++kept;
    }
    contacts_.resize(kept);
}

}  // namespace stickslip
