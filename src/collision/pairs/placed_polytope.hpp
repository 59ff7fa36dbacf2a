// A box or hull where it is now, as a polytope.
#pragma once

#include <cmath>

#include "collision/pair_table.hpp"
#include "geometry/polytope.hpp"

namespace stickslip {

struct PlacedPolytope {
    const Polytope& form;
    Vec3 scale;     // of the coordinates of `form`: the half extents of a box, which is a scaled cube, else 1
    Vec3 position;  // [m] in W
    Mat3 rotation;
    double size;  // [m] half of its largest extent

    Vec3 vertex(int v) const { return position + rotation * scale.cwiseProduct(form.vertices[v]); }
    Vec3 normal(int f) const { return rotation * form.faces[f].normal; }
    Vec3 corner(int f) const { return vertex(form.loops[form.faces[f].first]); }  // a point of the face
    Vec3 along(int e) const {  // unit, from one end of the edge to the other
        return (rotation * scale.cwiseProduct(form.vertices[form.edges[e].to] - form.vertices[form.edges[e].from])).normalized();
    }
    int vertices() const { return static_cast<int>(form.vertices.size()); }
    int edges() const { return static_cast<int>(form.edges.size()); }
    int faces() const { return static_cast<int>(form.faces.size()); }
};

inline PlacedPolytope placed_polytope(const PlacedShape& shape) {
    if (const Box* box = std::get_if<Box>(&*shape.geometry))
        return {unit_cube(), box->half, shape.position, shape.rotation, box->half.maxCoeff()};
    const auto& hull = std::get<Hull>(*shape.geometry);
    return {hull.polytope, Vec3::Ones(), shape.position, shape.rotation, hull.size};
}

// [m] The least of n . x over the polytope.
inline double lowest(const PlacedPolytope& p, const Vec3& n) {
    const Vec3 in = p.scale.cwiseProduct(p.rotation.transpose() * n);
    double least = infinity;
    for (const Vec3& v : p.form.vertices) least = std::min(least, in.dot(v));
    return least + n.dot(p.position);
}

// Whether vertex `v` may touch a plane with outward normal m before its neighbours do: as box_corners.hpp tells of boxes.
inline bool exposed(const PlacedPolytope& p, int v, const Vec3& m) {
    constexpr double steepest = 0.85;
    const Vec3 in = p.scale.cwiseProduct(p.rotation.transpose() * m);
    for (const int e : p.form.spokes_of(v)) {
        const Vec3 edge = p.form.vertices[p.form.other_end(e, v)] - p.form.vertices[v];
        if (in.dot(edge) < -steepest * p.scale.cwiseProduct(edge).norm()) return false;
    }
    return true;
}

}  // namespace stickslip
