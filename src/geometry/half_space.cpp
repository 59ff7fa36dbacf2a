#include "geometry/half_space.hpp"

#include <cmath>

#include "stickslip/error.hpp"

namespace stickslip {

void check(const HalfSpace& half_space) {
    if (!half_space.normal.allFinite() || !(half_space.normal.norm() > 0))
        throw Error("the normal of a half-space must not be zero");
    if (!std::isfinite(half_space.offset)) throw Error("the offset of a half-space must be a finite number");
}

MassProperties unit_density_mass(const HalfSpace&) {
    throw Error("a half-space has no mass: make its body fixed, or give the body its mass and inertia");
}

double farthest_distance(const HalfSpace&, const Vec3&) { return infinity; }

Aabb world_bounds(const HalfSpace&, const Pose&) { return {Vec3::Constant(-infinity), Vec3::Constant(infinity)}; }

double half_thickness(const HalfSpace&) { return infinity; }

}  // namespace stickslip
