#include "geometry/box.hpp"

#include <fmt/format.h>

#include "stickslip/error.hpp"

namespace stickslip {

void check(const Box& box) {
    if (!(box.half.minCoeff() > 0) || !box.half.allFinite())
        throw Error(fmt::format("the edges of a box must be positive, got {} {} {}", 2 * box.half.x(), 2 * box.half.y(),
                                2 * box.half.z()));
}

MassProperties unit_density_mass(const Box& box) {
    const double volume = 8 * box.half.prod();
    const Vec3 square = box.half.cwiseAbs2();
    const Vec3 inertia = volume / 3 * (Vec3::Constant(square.sum()) - square);
    return {volume, Vec3::Zero(), inertia.asDiagonal()};
}

double farthest_distance(const Box& box, const Vec3& from) { return (from.cwiseAbs() + box.half).norm(); }

Aabb world_bounds(const Box& box, const Pose& pose) {
    const Vec3 reach = pose.attitude.toRotationMatrix().cwiseAbs() * box.half;
    return {pose.position - reach, pose.position + reach};
}

double half_thickness(const Box& box) { return box.half.minCoeff(); }

}  // namespace stickslip
