// A ball about the origin of its frame: volume 4/3 pi r^3, inertia 2/5 m r^2 about every axis.
#pragma once

#include "geometry/bounds.hpp"
#include "geometry/mass_properties.hpp"

namespace stickslip {

struct Sphere {
    double radius = 0;  // [m]

    static constexpr const char* name = "sphere";
    static constexpr const char* summary = "ball about the origin: radius";
};

void check(const Sphere& sphere);                                  // throws Error on impossible sizes
MassProperties unit_density_mass(const Sphere& sphere);            // in the frame of the shape
double farthest_distance(const Sphere& sphere, const Vec3& from);  // [m] max |x - from| over the solid
Aabb world_bounds(const Sphere& sphere, const Pose& pose);
double half_thickness(const Sphere& sphere);  // [m] radius of the largest ball inside

}  // namespace stickslip
