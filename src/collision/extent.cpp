#include "collision/extent.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

double extent(const PlacedShape& shape, const Vec3& n) {
    const Vec3 in = shape.rotation.transpose() * n;
    const double centre = n.dot(shape.position);
    return std::visit(
        [&](const auto& g) {
            using Kind = std::decay_t<decltype(g)>;
            if constexpr (std::is_same_v<Kind, Sphere>) return centre + g.radius;
            if constexpr (std::is_same_v<Kind, Box>) return centre + in.cwiseAbs().dot(g.half);
            if constexpr (std::is_same_v<Kind, Capsule>) return centre + g.radius + std::abs(in.z()) * g.length / 2;
            if constexpr (std::is_same_v<Kind, Hull>) {
                double farthest = -infinity;
                for (const Vec3& v : g.polytope.vertices) farthest = std::max(farthest, in.dot(v));
                return centre + farthest;
            }
            if constexpr (std::is_same_v<Kind, HalfSpace>) {
                const double length = g.normal.norm();
                return in.dot(g.normal) > (1 - 1e-12) * length ? centre + g.offset / length : infinity;
            }
        },
        *shape.geometry);
}

bool holds(const PlacedShape& shape, const Vec3& point, double tolerance) {
    const Vec3 in = shape.rotation.transpose() * (point - shape.position);
    return std::visit(
        [&](const auto& g) {
            using Kind = std::decay_t<decltype(g)>;
            if constexpr (std::is_same_v<Kind, Sphere>) return in.norm() <= g.radius + tolerance;
            if constexpr (std::is_same_v<Kind, Box>) return (in.cwiseAbs() - g.half).maxCoeff() <= tolerance;
            if constexpr (std::is_same_v<Kind, Capsule>) {
                const Vec3 core(0, 0, std::clamp(in.z(), -g.length / 2, g.length / 2));
                return (in - core).norm() <= g.radius + tolerance;
            }
            if constexpr (std::is_same_v<Kind, Hull>)
                return std::all_of(g.polytope.faces.begin(), g.polytope.faces.end(),
                                   [&](const auto& face) { return face.normal.dot(in) - face.offset <= tolerance; });
            if constexpr (std::is_same_v<Kind, HalfSpace>)
                return in.dot(g.normal) - g.offset <= tolerance * g.normal.norm();
        },
        *shape.geometry);
}

}  // namespace stickslip
