// Separating axes of two boxes [Gottschalk, Lin, Manocha 1996]: for a unit axis L and d = c_a - c_b,
//
//   separation(L) = |L.d| - sum_k h_ak |L.A_k| - sum_k h_bk |L.B_k|
//
// over the 3 + 3 face normals and the 9 cross products of edges. The largest is positive if and only if the boxes
// are apart; if they overlap, minus it is the least depth.
#pragma once

#include <array>

#include "collision/pair_table.hpp"

namespace stickslip {

struct PlacedBox {
    Vec3 half;    // [m]
    Vec3 centre;  // [m] in W
    Mat3 axes;    // columns: the axes in W
};
inline PlacedBox placed_box(const PlacedShape& shape) {
    return {std::get<Box>(*shape.geometry).half, shape.position, shape.rotation};
}

struct BoxSeparation {
    std::array<double, 6> face{};      // [m] along the axes of a, then of b
    int best_face = -1;                // into `face`
    Vec3 face_normal = Vec3::UnitZ();  // its axis, from b to a
    double edge = -infinity;           // [m] the largest along a cross product
    double largest = -infinity;        // [m] of all, whatever is preferred
    int edge_axis_a = -1, edge_axis_b = -1;
    Vec3 edge_normal = Vec3::Zero();  // from b to a
};

// Edges of the two boxes at a smaller angle than this [rad] count as parallel. Their cross product is too weak a
// normal: a tilt of one box by t turns it by t / angle.
inline constexpr double parallel_edges = 1e-4;

// Returns false as soon as one axis separates by more than the cutoff. `preference` [m]: an axis must win by this
// much over those before it (a's faces, then b's), so that rounding does not choose between equals.
bool separate(const PlacedBox& a, const PlacedBox& b, const PairQuery& query, double preference, BoxSeparation& s);

}  // namespace stickslip
