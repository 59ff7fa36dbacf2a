// Everything behind a plane: normal.x <= offset in the frame of the shape. It has no mass and no bound.
#pragma once

#include "geometry/bounds.hpp"
#include "geometry/mass_properties.hpp"

namespace stickslip {

struct HalfSpace {
    Vec3 normal = Vec3::UnitZ();  // outward; any length, `offset` is in the same measure
    double offset = 0;            // [m] if the normal is a unit vector

    static constexpr const char* name = "half-space";
    static constexpr const char* summary = "everything behind a plane, without mass: normal, offset";
};

void check(const HalfSpace& half_space);
[[noreturn]] MassProperties unit_density_mass(const HalfSpace& half_space);  // throws Error: there is none
double farthest_distance(const HalfSpace& half_space, const Vec3& from);     // infinity
Aabb world_bounds(const HalfSpace& half_space, const Pose& pose);            // infinite
double half_thickness(const HalfSpace& half_space);                          // [m] radius of the largest ball inside

}  // namespace stickslip
