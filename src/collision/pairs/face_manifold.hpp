// What counts as over a face, as one point, as parallel: the tolerances by which boxes and hulls choose their contacts.
#pragma once

namespace stickslip {

// All lengths below are shares of `size`, the larger extent of the smaller of the two.
//
// Of two axes the later must win by this. If smaller, rounding changes the reference face of resting bodies.
inline constexpr double axis_preference = 1e-6;
// Corners count as over a face up to this far outside. It must exceed twice parallel_edges: edges that are too
// parallel to be crossed must have their ends counted instead, or nearly aligned boxes lose their corners.
inline constexpr double face_border = 2.5e-4;
// Contacts nearer than this are one; must exceed the diagonal displacement of corners at the angle parallel_edges.
inline constexpr double one_point = 1e-3;
// Crossing edges in a face contact push along the face normal up to this cosine (18 degrees): beyond, the edges are
// too parallel for the tilt, and the corners carry.
inline constexpr double nearly_face = 0.95;
// Gaps that differ by less are equal. If smaller, resting boxes get another contact where an edge crosses close to a
// corner; if larger, boxes that touch there are seen too late, or too early.
inline constexpr double equal_gaps = 1e-9;
// A crossing is kept while its normal leaves the normal cones of the two edges by no more than this angle [rad].
inline constexpr double edge_cone_tolerance = 0.1;

}  // namespace stickslip
