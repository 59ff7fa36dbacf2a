#include "geometry/sphere.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "stickslip/error.hpp"

namespace stickslip {

void check(const Sphere& sphere) {
    if (!(sphere.radius > 0) || !std::isfinite(sphere.radius))
        throw Error(fmt::format("the radius of a sphere must be positive, got {}", sphere.radius));
}

MassProperties unit_density_mass(const Sphere& sphere) {
    const double r = sphere.radius;
    const double volume = 4.0 / 3.0 * std::numbers::pi * r * r * r;
    return {volume, Vec3::Zero(), 0.4 * volume * r * r * Mat3::Identity()};
}

double farthest_distance(const Sphere& sphere, const Vec3& from) { return from.norm() + sphere.radius; }

Aabb world_bounds(const Sphere& sphere, const Pose& pose) {
    const Vec3 r = Vec3::Constant(sphere.radius);
    return {pose.position - r, pose.position + r};
}

double half_thickness(const Sphere& sphere) { return sphere.radius; }

}  // namespace stickslip
