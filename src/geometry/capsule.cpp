#include "geometry/capsule.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "stickslip/error.hpp"

namespace stickslip {

void check(const Capsule& capsule) {
    if (!(capsule.radius > 0) || !std::isfinite(capsule.radius))
        throw Error(fmt::format("the radius of a capsule must be positive, got {}", capsule.radius));
    if (!(capsule.length > 0) || !std::isfinite(capsule.length))
        throw Error(fmt::format("the length of a capsule must be positive, got {}; without length it is a sphere",
                                capsule.length));
}

MassProperties unit_density_mass(const Capsule& capsule) {
    const double r = capsule.radius, l = capsule.length;
    const double cylinder = std::numbers::pi * r * r * l;
    const double ball = 4.0 / 3.0 * std::numbers::pi * r * r * r;
    const double along = cylinder * r * r / 2 + 0.4 * ball * r * r;
    const double across = cylinder * (r * r / 4 + l * l / 12) + ball * (0.4 * r * r + l * l / 4 + 0.375 * l * r);
    return {cylinder + ball, Vec3::Zero(), Vec3(across, across, along).asDiagonal()};
}

double farthest_distance(const Capsule& capsule, const Vec3& from) {
    return Vec3(from.x(), from.y(), std::abs(from.z()) + capsule.length / 2).norm() + capsule.radius;
}

Aabb world_bounds(const Capsule& capsule, const Pose& pose) {
    const Vec3 axis = pose.attitude * Vec3::UnitZ();
    const Vec3 reach = (capsule.length / 2 * axis.cwiseAbs()).array() + capsule.radius;
    return {pose.position - reach, pose.position + reach};
}

double half_thickness(const Capsule& capsule) { return capsule.radius; }

}  // namespace stickslip
