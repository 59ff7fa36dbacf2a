// How far a placed shape reaches along a direction, and whether it holds a point.
#pragma once

#include "collision/pair_table.hpp"

namespace stickslip {

// [m] max n.x over the shape, n a unit vector; infinite for a half-space but along its normal.
double extent(const PlacedShape& shape, const Vec3& n);
// Whether the point is in the shape, or outside by at most `tolerance` [m].
bool holds(const PlacedShape& shape, const Vec3& point, double tolerance);

}  // namespace stickslip
