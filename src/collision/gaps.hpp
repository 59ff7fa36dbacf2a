// The four gaps of contact_point.hpp as functions: features in, contact out. Normals come out from b to a.
#pragma once

#include <cmath>

#include "collision/contact_point.hpp"

namespace stickslip {

// Point `Q` with `radius` on side a, plane through `y` with outward normal `m` on side b.
inline ContactPoint point_plane_gap(const Vec3& Q, double radius, const Vec3& y, const Vec3& m) {
    const double height = m.dot(Q - y);
    ContactPoint c;
    c.kind = GapKind::point_plane;
    c.normal = m;
    c.gap = height - radius;
    c.core_a = Q;
    c.core_b = Q - height * m;
    c.radius_a = radius;
    c.position = Q - (radius + c.gap / 2) * m;
    return c;
}

// Point `Q` with `radius` on side a, line through `y` along the unit vector `e` with `line_radius` on side b. On the
// line itself the normal is `fallback`, a unit vector across the line.
inline ContactPoint point_line_gap(const Vec3& Q, double radius, const Vec3& y, const Vec3& e, const Vec3& fallback,
                                   double line_radius = 0) {
    const Vec3 foot = y + e * e.dot(Q - y);
    const Vec3 across = Q - foot;
    const double distance = across.norm();
    ContactPoint c;
    c.kind = GapKind::point_line;
    c.normal = distance > 0 ? Vec3(across / distance) : fallback;
    c.gap = distance - radius - line_radius;
    c.core_a = Q;
    c.core_b = foot;
    c.edge_b = e;
    c.radius_a = radius;
    c.radius_b = line_radius;
    c.position = Q - (radius + c.gap / 2) * c.normal;
    return c;
}

inline ContactPoint point_point_gap(const Vec3& Q_a, double radius_a, const Vec3& Q_b, double radius_b,
                                    const Vec3& fallback) {
    const Vec3 across = Q_a - Q_b;
    const double distance = across.norm();
    ContactPoint c;
    c.kind = GapKind::point_point;
    c.normal = distance > 0 ? Vec3(across / distance) : fallback;
    c.gap = distance - radius_a - radius_b;
    c.core_a = Q_a;
    c.core_b = Q_b;
    c.radius_a = radius_a;
    c.radius_b = radius_b;
    c.position = Q_a - (radius_a + c.gap / 2) * c.normal;
    return c;
}

// Lines through `y_a` along `e_a` and through `y_b` along `e_b`, unit vectors, not parallel, with radii around them;
// the normal is the one of the two with normal.towards_a >= 0.
inline ContactPoint line_line_gap(const Vec3& y_a, const Vec3& e_a, const Vec3& y_b, const Vec3& e_b,
                                  const Vec3& towards_a, double radius_a = 0, double radius_b = 0) {
    const Vec3 cross = e_a.cross(e_b);
    const double square = cross.squaredNorm();
    const Vec3 n = cross / (cross.dot(towards_a) >= 0 ? std::sqrt(square) : -std::sqrt(square));
    const Vec3 apart = y_b - y_a;  // Q_a - Q_b = s e_a - t e_b - apart = (phi + r_a + r_b) n
    ContactPoint c;
    c.kind = GapKind::line_line;
    c.normal = n;
    c.gap = -n.dot(apart) - radius_a - radius_b;
    c.core_a = y_a + e_a * (apart.cross(e_b).dot(cross) / square);
    c.core_b = y_b + e_b * (apart.cross(e_a).dot(cross) / square);
    c.edge_a = e_a;
    c.edge_b = e_b;
    c.radius_a = radius_a;
    c.radius_b = radius_b;
    c.position = (c.core_a + c.core_b + (radius_b - radius_a) * n) / 2;
    return c;
}

}  // namespace stickslip
