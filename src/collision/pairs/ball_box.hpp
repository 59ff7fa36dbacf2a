// The gap of a ball and a box, for balls and for whatever ends in one.
#pragma once

#include "collision/pair_table.hpp"

namespace stickslip {

// The ball about `Q` on side a against the nearest feature of the box on side b (see sphere_box.cpp); the feature id
// names the box's feature, and `surface` for the ball.
ContactPoint ball_box_gap(const Vec3& Q, double radius, const PlacedShape& box, const PairQuery& query);

}  // namespace stickslip
