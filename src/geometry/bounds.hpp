// Axis-aligned box in the world frame, the currency of the broad phase.
#pragma once

#include "stickslip/types.hpp"

namespace stickslip {

struct Aabb {
    Vec3 lower = Vec3::Constant(infinity);   // [m]
    Vec3 upper = Vec3::Constant(-infinity);  // [m]
};

}  // namespace stickslip
