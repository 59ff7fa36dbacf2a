// A convex polytope by its corners, edges and faces, in a frame of its own. Contact ids are made of the numbers of these features.
#pragma once

#include <span>
#include <vector>

#include "geometry/bounds.hpp"
#include "geometry/mass_properties.hpp"

namespace stickslip {

struct Polytope {
    struct Face {
        Vec3 normal;       // unit, outward
        double offset;     // [m] normal . x on the face
        int first, count;  // its corners, counter-clockwise seen from outside: loops[first] .. loops[first + count - 1]
    };
    struct Edge {
        int from, to;     // vertices
        int left, right;  // faces: the loop of `left` goes from `from` to `to`, that of `right` back
    };
    std::vector<Vec3> vertices;  // [m]
    std::vector<Face> faces;
    std::vector<int> loops;
    std::vector<int> sides;  // edges of faces: sides[first + k] joins corner k of the face with the next
    std::vector<Edge> edges;
    std::vector<int> spokes;       // edges that end in a vertex,
    std::vector<int> first_spoke;  // those of vertex v: spokes[first_spoke[v]] .. spokes[first_spoke[v + 1] - 1]

    std::span<const int> loop(int face) const {
        return {loops.data() + faces[face].first, static_cast<std::size_t>(faces[face].count)};
    }
    std::span<const int> sides_of(int face) const {
        return {sides.data() + faces[face].first, static_cast<std::size_t>(faces[face].count)};
    }
    std::span<const int> spokes_of(int vertex) const {
        return {spokes.data() + first_spoke[vertex],
                static_cast<std::size_t>(first_spoke[vertex + 1] - first_spoke[vertex])};
    }
    int other_end(int edge, int vertex) const { return edges[edge].from == vertex ? edges[edge].to : edges[edge].from; }
};

// From corners and the loops of the faces, which must be those of a convex solid: normals, edges and who is whose neighbour. Throws Error
// where an edge has not two faces.
Polytope make_polytope(std::vector<Vec3> vertices, const std::vector<std::vector<int>>& loops);

// The cube of edge 2 about the origin, with the features of box.hpp: a box is this, scaled.
const Polytope& unit_cube();

// The least convex solid that holds the points (qhull). Faces that lie in one plane up to 1e-7 of the size are one face, so that a point may be
// out by some 1e-7 of it. Throws Error where there are
// fewer than four points, or all lie in a plane, or some are not finite.
Polytope convex_hull(std::span<const Vec3> points);

MassProperties unit_density_mass(const Polytope& polytope);

}  // namespace stickslip
