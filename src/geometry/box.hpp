// A cuboid centred at the origin of its frame, edges along the axes: volume 8 abc for half extents (a, b, c),
// inertia m/3 (b^2 + c^2) about x and so on.
//
// Its features are numbered once, and contact ids are made of these numbers:
//   face    2 axis + (1 if on the positive side)
//   vertex  bit i is set if the coordinate along axis i is positive
//   edge    4 axis + 2 bits: the signs of the other two coordinates, in the order axis + 1, axis + 2 (cyclic)
#pragma once

#include "geometry/bounds.hpp"
#include "geometry/mass_properties.hpp"

namespace stickslip {

struct Box {
    Vec3 half = Vec3::Zero();  // [m] half extents

    static constexpr const char* name = "box";
    static constexpr const char* summary = "cuboid about the origin: three edge lengths";
};

void check(const Box& box);
MassProperties unit_density_mass(const Box& box);
double farthest_distance(const Box& box, const Vec3& from);
Aabb world_bounds(const Box& box, const Pose& pose);
double half_thickness(const Box& box);  // [m] radius of the largest ball inside

namespace box_features {

constexpr int face(int axis, bool positive) { return 2 * axis + (positive ? 1 : 0); }
// The edge along `axis` on the positive or negative sides of the other two axes.
constexpr int edge(int axis, bool next_positive, bool last_positive) {
    return 4 * axis + (next_positive ? 1 : 0) + (last_positive ? 2 : 0);
}
constexpr double sign(bool positive) { return positive ? 1.0 : -1.0; }
constexpr bool positive(int vertex, int axis) { return (vertex >> axis & 1) != 0; }
inline Vec3 vertex(const Box& box, int v) {
    return {sign(positive(v, 0)) * box.half.x(), sign(positive(v, 1)) * box.half.y(),
            sign(positive(v, 2)) * box.half.z()};
}

}  // namespace box_features
}  // namespace stickslip
