// Which corners of a box face a plane.
#pragma once

#include "geometry/box.hpp"

namespace stickslip {

// Whether corner `v` of a box may touch a plane with outward normal m (in the frame of the box) before its
// neighbours do. An edge leaving the corner towards the plane more steeply than asin(0.85) hides it: a corner high
// above others cannot be the first to arrive within a step. At 0.7 (45 degrees) the corners of a box standing on
// an edge, and at 0.58 of one standing on a corner, would come and go with rounding; at 1 the far face of a thin
// plate would be seen through the plate.
inline bool exposed(int v, const Vec3& m) {
    constexpr double steepest = 0.85;
    for (int axis = 0; axis < 3; ++axis)
        if (box_features::sign(box_features::positive(v, axis)) * m[axis] > steepest) return false;
    return true;
}

}  // namespace stickslip
