// One contact: a pair of body-fixed features with its own smooth signed gap phi(q), its frame, and what is needed
// to differentiate them along a motion.
//
// Every shape surface is a core (point, line or plane) with a radius around it, and a gap is taken between cores:
//
//   point_plane   phi = m.(Q - y) - r              m the plane's normal
//   point_line    phi = |(I - e e')(Q - y)| - r_a - r_b    e the line's direction
//   point_point   phi = |Q_a - Q_b| - r_a - r_b
//   line_line     phi = n.(Q_a - Q_b) - r_a - r_b,  n = +-(e_a x e_b)/|e_a x e_b|, the sign such that n goes from b to a
//
// With Q_a, Q_b the nearest points of the cores and n from b to a, each has Q_a - Q_b = (phi + r_a + r_b) n, and
// therefore exactly  dphi/dt = n.(v_A(P) - v_B(P))  for body-fixed points at any P on the line through Q_a, Q_b.
// P is taken midway between the two surfaces:  P = Q_a - (r_a + phi/2) n = Q_b + (r_b + phi/2) n.
//
// The distance between two solids is the minimum over such gaps and has kinks; the gaps have none.
#pragma once

#include <cstdint>

#include "stickslip/types.hpp"

namespace stickslip {

enum class GapKind : std::uint8_t { point_plane, point_line, point_point, line_line };

// Collider a has the lower id of the two; ids order the colliders.
struct ContactPoint {
    ContactId id;
    int body_a = -1, body_b = -1;          // -1: ground
    int collider_a = -1, collider_b = -1;  // indices in the CollisionModel
    Vec3 position = Vec3::Zero();          // [m] P, in W
    Vec3 normal = Vec3::UnitZ();           // n from b to a, in W
    Vec3 tangent = Vec3::UnitX();          // t1, in W; t2 = n x t1
    double gap = 0;                        // [m] phi

    // The cores, for contact_rates().
    GapKind kind = GapKind::point_plane;
    bool point_on_b = false;            // point_plane and point_line: the point belongs to b
    Vec3 core_a = Vec3::Zero();         // [m] Q_a, in W
    Vec3 core_b = Vec3::Zero();         // [m] Q_b, in W
    Vec3 edge_a = Vec3::Zero();         // unit direction of a's line, where it has one
    Vec3 edge_b = Vec3::Zero();         // and of b's
    double radius_a = 0, radius_b = 0;  // [m]
};

// Motion of a body, world frame.
struct Twist {
    Vec3 origin = Vec3::Zero();   // [m] centre of mass
    Vec3 linear = Vec3::Zero();   // [m/s] velocity of the body point there
    Vec3 angular = Vec3::Zero();  // [rad/s]
};

inline Vec3 velocity_at(const Twist& twist, const Vec3& point) {
    return twist.linear + twist.angular.cross(point - twist.origin);
}

// d/dt of P and n when the bodies move with these twists. The frame turns as little as it can: t1' = -n (n'.t1).
struct ContactRates {
    Vec3 position_rate = Vec3::Zero();  // [m/s]
    Vec3 normal_rate = Vec3::Zero();    // [1/s]
};
ContactRates contact_rates(const ContactPoint& contact, const Twist& a, const Twist& b);

// t1 of a new contact: the world axis least aligned with n, projected onto the tangent plane.
Vec3 first_tangent(const Vec3& normal);
// t1 of a contact that had `previous` before: projected onto the new tangent plane, so the frame turns least.
Vec3 transported_tangent(const Vec3& previous, const Vec3& normal);

// The same contact seen with a and b exchanged.
ContactPoint exchanged(const ContactPoint& contact);

// Feature ids: for each side the kind of feature in the two highest bits and its number on the part.
enum class FeatureKind : std::uint32_t { surface = 0, face = 1, edge = 2, vertex = 3 };
constexpr std::uint32_t side_code(FeatureKind kind, int index = 0) {
    return static_cast<std::uint32_t>(kind) << 30 | static_cast<std::uint32_t>(index);
}
constexpr FeatureKind feature_kind(std::uint32_t side) { return static_cast<FeatureKind>(side >> 30); }
constexpr std::uint32_t feature_number(std::uint32_t side) { return side & 0x3fffffffu; }
constexpr SidePair feature_code(std::uint32_t side_a, std::uint32_t side_b) { return {side_a, side_b}; }

}  // namespace stickslip
