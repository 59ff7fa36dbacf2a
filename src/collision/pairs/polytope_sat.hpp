// Separating axes of two convex polytopes: for a unit axis n from b to a
//
//   separation(n) = min over a of n.x - max over b of n.x
//
// is largest, over all n, on the normal of a face or on the product of two edges whose arcs cross on the Gauss map: the arc between the
// normals of the faces of an edge of a, and that of an edge of b turned about [Gregorius 2013]. The largest is positive only if they are
// apart (then their distance may be larger, from corner to corner); if they overlap, minus it is the least depth.
#pragma once

#include "collision/pairs/placed_polytope.hpp"

namespace stickslip {

struct PolytopeSeparation {
    double face = -infinity;           // [m] the largest along a normal,
    bool of_a = true;                  // of a face of a, or of b,
    int best_face = -1;                // this one:
    Vec3 face_normal = Vec3::UnitZ();  // it or its opposite, from b to a
    double edge = -infinity;           // [m] the largest along a product of edges,
    int edge_a = -1, edge_b = -1;      // these:
    Vec3 edge_normal = Vec3::Zero();   // from b to a
    double largest = -infinity;        // [m] of all, whatever is preferred
};

// Returns false as soon as one axis separates by more than the cutoff. `preference` [m]: an axis must win by this much over those before it (a's
// faces, then b's), so that rounding does not choose between equals.
bool separate(const PlacedPolytope& a, const PlacedPolytope& b, const PairQuery& query, double preference, PolytopeSeparation& s);

}  // namespace stickslip
