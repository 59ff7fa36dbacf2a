#include "geometry/shape.hpp"

#include <utility>

namespace stickslip {

Pose placed(const Pose& outer, const Pose& inner) {
    return {outer * inner.position, (outer.attitude * inner.attitude).normalized()};
}

const char* shape_name(const Geometry& geometry) {
    return std::visit([](const auto& g) { return g.name; }, geometry);
}

void check_shape(const Shape& shape) {
    std::visit([](const auto& g) { check(g); }, *shape.geometry);
}

bool has_mass(const Shape& shape) { return !std::holds_alternative<HalfSpace>(*shape.geometry); }

MassProperties mass_properties(const Shape& shape) {
    return std::visit([&](const auto& g) { return moved(unit_density_mass(g), shape.pose_B); }, *shape.geometry);
}

MassProperties mass_properties(std::span<const Shape> shapes) {
    MassProperties sum;
    for (const Shape& shape : shapes) sum = joined(sum, mass_properties(shape));
    return sum;
}

double bounding_radius(const Shape& shape, const Vec3& centre_B) {
    const Vec3 from = shape.pose_B.attitude.conjugate() * (centre_B - shape.pose_B.position);
    return std::visit([&](const auto& g) { return farthest_distance(g, from); }, *shape.geometry);
}

double half_thickness(const Shape& shape) {
    return std::visit([](const auto& g) { return half_thickness(g); }, *shape.geometry);
}

Aabb world_bounds(const Shape& shape, const Pose& body_pose) {
    const Pose pose = placed(body_pose, shape.pose_B);
    return std::visit([&](const auto& g) { return world_bounds(g, pose); }, *shape.geometry);
}

namespace {

template <std::size_t... Kind>
std::vector<ShapeEntry> list_kinds(std::index_sequence<Kind...>) {
    return {{std::variant_alternative_t<Kind, Geometry>::name, std::variant_alternative_t<Kind, Geometry>::summary}...};
}

}  // namespace

const std::vector<ShapeEntry>& shape_table() {
    static const std::vector<ShapeEntry> table = list_kinds(std::make_index_sequence<shape_kinds>());
    return table;
}

}  // namespace stickslip
