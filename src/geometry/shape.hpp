// Shapes and their placement in a body. A new shape is one file with `name`, `summary`, `check`,
// `unit_density_mass`, `farthest_distance`, `half_thickness` and `world_bounds`, and one word in `Geometry`; what it
// touches exactly is told by collision/pair_table.cpp.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "geometry/bounds.hpp"
#include "geometry/box.hpp"
#include "geometry/capsule.hpp"
#include "geometry/half_space.hpp"
#include "geometry/hull.hpp"
#include "geometry/mass_properties.hpp"
#include "geometry/sphere.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

using Geometry = std::variant<Sphere, Box, Capsule, HalfSpace, Hull>;
inline constexpr std::size_t shape_kinds = std::variant_size_v<Geometry>;

// A geometry that copies of a shape share: systems edited from one another and the finder refer to one and the same, however
// large it is.
class SharedGeometry {
public:
    SharedGeometry() : data_(std::make_shared<const Geometry>()) {}
    template <class Kind>
    requires std::constructible_from<Geometry, Kind> SharedGeometry(Kind kind)
        : data_(std::make_shared<const Geometry>(std::move(kind))) {}  // NOLINT: Box is a geometry
    const Geometry& operator*() const { return *data_; }
    operator const Geometry&() const { return *data_; }  // NOLINT

private:
    std::shared_ptr<const Geometry> data_;
};

struct Shape {
    SharedGeometry geometry;
    Pose pose_B;  // of the shape's frame in the body
};

// The pose of a frame that sits at `inner` in a frame that sits at `outer`; the attitude is renormalised.
Pose placed(const Pose& outer, const Pose& inner);

const char* shape_name(const Geometry& geometry);
// Throws Error when a size is not positive or not finite.
void check_shape(const Shape& shape);
bool has_mass(const Shape& shape);
// At unit density, in the body frame. Throws Error for a half-space.
MassProperties mass_properties(const Shape& shape);
MassProperties mass_properties(std::span<const Shape> shapes);
// [m] Radius of the ball about `centre_B` that holds the shape; infinite for a half-space.
double bounding_radius(const Shape& shape, const Vec3& centre_B);
// [m] Half the smallest extent: an overlap beyond it has no side any more. Infinite for a half-space.
double half_thickness(const Shape& shape);
// Of the shape on a body with this pose; infinite for a half-space.
Aabb world_bounds(const Shape& shape, const Pose& body_pose);

// What `stickslip list shapes` prints.
struct ShapeEntry {
    const char* name;
    const char* summary;
};
const std::vector<ShapeEntry>& shape_table();

}  // namespace stickslip
