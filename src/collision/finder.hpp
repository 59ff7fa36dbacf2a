// Finds the contacts of all colliders that are nearer than the margin, with stable ids and frames.
//
// Broad phase: sort and sweep over world boxes, grown by what the bodies may travel; half-spaces against all.
// Narrow phase: the exact pairs of pair_table.cpp. Contacts come out sorted by id (collider a < collider b, feature).
//
// Planar scenes (plane_normal set, shapes symmetric about the plane): contacts of one pair that coincide seen along
// the normal of the plane are one contact, the one with the lowest feature; P and n lie in the plane, through the
// centres of the shapes, and t1 = plane normal x n.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collision/contact_point.hpp"
#include "collision/pair_table.hpp"
#include "geometry/shape.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

struct Collider {
    std::uint32_t id = 0;  // never renumbered by an edit
    int body = -1;         // -1: ground
    Shape shape;
};

struct CollisionModel {
    std::vector<Collider> colliders;                  // sorted by id
    std::vector<std::pair<int, int>> ignored_bodies;  // sorted pairs a < b (-1: ground) that never touch
    std::vector<char> fixed;                          // per body: fixed bodies never collide with each other
    std::optional<Vec3> plane_normal;                 // unit, of a planar scene
};

class ContactFinder {
public:
    // [m] Contacts farther apart than margin + reach[a] + reach[b] are not reported. Smaller and resting contacts
    // drop out of the list between steps, with their frames and warm starts; larger and solvers carry contacts that
    // will not close.
    double margin = 1e-3;
    std::vector<double> reach;  // [m] per body, how far it may travel in this step; empty: zero

    // Per edge of the system: the side on which contacts are, 1 or -1, while a step must not see beyond it; 0 or missing: where
    // the configuration is (System::edge_value).
    std::vector<signed char> sides;

    // Poses of the body frames. Uses the memory of tangents, does not change it.
    void find(const CollisionModel& model, std::span<const Pose> body_poses);
    std::span<const ContactPoint> contacts() const { return contacts_; }

    // The tangents found last become the memory that the next find() transports.
    void commit_frames();
    struct Frames {
        std::vector<ContactId> id;  // sorted
        std::vector<Vec3> tangent;  // t1 in W
    };
    const Frames& frames() const { return frames_; }
    void set_frames(const Frames& frames) { frames_ = frames; }  // copies into the memory at hand

private:
    struct Placed {
        PlacedShape shape;
        Aabb bounds;       // grown by half the margin and the reach of the body
        double reach = 0;  // [m]
        double size = 0;   // [m] half diagonal of the world box, infinite for half-spaces
    };
    void place(const CollisionModel& model, std::span<const Pose> body_poses);
    void sweep(const CollisionModel& model);
    void test_bounds(const CollisionModel& model, int i, int j);
    void narrow(const CollisionModel& model);
    void flatten(const Vec3& plane_normal, double plane_offset, std::size_t first, double tolerance);
    void orient(const CollisionModel& model);

    std::vector<ContactPoint> contacts_;
    Frames frames_;
    // Scratch, kept between calls for its capacity.
    std::vector<Placed> placed_;
    std::vector<std::pair<double, int>> order_;  // lower bound along the sweep axis, collider
    std::vector<int> unbounded_;
    std::vector<std::pair<int, int>> pairs_;  // colliders i < j whose world boxes meet
};

}  // namespace stickslip
