#include "geometry/hull.hpp"

#include <algorithm>
#include <utility>

#include "stickslip/error.hpp"

namespace stickslip {

Hull::Hull(Polytope faces) : polytope(std::move(faces)) {
    centre = unit_density_mass(polytope).centroid;
    inner = infinity;
    for (const Polytope::Face& face : polytope.faces) inner = std::min(inner, face.offset - face.normal.dot(centre));
    const Aabb box = world_bounds(*this, Pose{});
    size = (box.upper - box.lower).maxCoeff() / 2;
}

void check(const Hull& hull) {
    if (hull.polytope.vertices.empty()) throw Error("a hull has no points");
    if (!(hull.inner > 0)) throw Error("a hull has no volume");
}

MassProperties unit_density_mass(const Hull& hull) { return unit_density_mass(hull.polytope); }

double farthest_distance(const Hull& hull, const Vec3& from) {
    double farthest = 0;
    for (const Vec3& v : hull.polytope.vertices) farthest = std::max(farthest, (v - from).norm());
    return farthest;
}

Aabb world_bounds(const Hull& hull, const Pose& pose) {
    Aabb box;
    const Mat3 R = pose.attitude.toRotationMatrix();
    for (const Vec3& v : hull.polytope.vertices) {
        const Vec3 x = R * v;
        box.lower = box.lower.cwiseMin(x);
        box.upper = box.upper.cwiseMax(x);
    }
    box.lower += pose.position;
    box.upper += pose.position;
    return box;
}

double half_thickness(const Hull& hull) { return hull.inner; }

}  // namespace stickslip
