// A convex polytope as a shape: the hull of points or of the corners of a mesh.
#pragma once

#include "geometry/polytope.hpp"

namespace stickslip {

struct Hull {
    Polytope polytope;
    Vec3 centre = Vec3::Zero();  // [m] of its volume
    double inner = 0;            // [m] radius of the ball about the centre that touches the nearest face
    double size = 0;             // [m] half of its largest extent along an axis of its frame

    Hull() = default;
    explicit Hull(Polytope faces);

    static constexpr const char* name = "hull";
    static constexpr const char* summary = "convex hull of points";
};

void check(const Hull& hull);
MassProperties unit_density_mass(const Hull& hull);
double farthest_distance(const Hull& hull, const Vec3& from);
Aabb world_bounds(const Hull& hull, const Pose& pose);
double half_thickness(const Hull& hull);  // [m] radius of a ball inside

}  // namespace stickslip
