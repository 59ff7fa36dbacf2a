// All points within `radius` of a segment of `length` along z, centred at the origin of its frame: a cylinder with
// half a ball on either end. With m_c = pi r^2 l of the cylinder and m_b = 4/3 pi r^3 of the two halves,
//
//   I_z = m_c r^2/2 + 2/5 m_b r^2
//   I_x = I_y = m_c (r^2/4 + l^2/12) + m_b (2/5 r^2 + l^2/4 + 3/8 l r)
//
// Its features: vertex 0 and 1 are the cap centres at z = -l/2 and +l/2, edge 0 the segment between them.
#pragma once

#include "geometry/bounds.hpp"
#include "geometry/mass_properties.hpp"

namespace stickslip {

struct Capsule {
    double radius = 0;  // [m]
    double length = 0;  // [m] between the cap centres; the whole is longer by two radii

    static constexpr const char* name = "capsule";
    static constexpr const char* summary = "cylinder along z with round caps: radius, length between the cap centres";
};

void check(const Capsule& capsule);  // throws Error on impossible sizes; length 0 is a sphere and refused
MassProperties unit_density_mass(const Capsule& capsule);
double farthest_distance(const Capsule& capsule, const Vec3& from);
Aabb world_bounds(const Capsule& capsule, const Pose& pose);
double half_thickness(const Capsule& capsule);  // [m] radius of the largest ball inside

}  // namespace stickslip
