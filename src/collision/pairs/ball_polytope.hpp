// The gap of a ball on side a to a polytope on side b: one, of the centre to the nearest face, edge or corner.
#pragma once

#include "collision/pairs/placed_polytope.hpp"

namespace stickslip {

ContactPoint ball_polytope_gap(const Vec3& Q, double radius, const PlacedPolytope& b, const PairQuery& query);

}  // namespace stickslip
