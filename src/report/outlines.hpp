// What a body looks like from the side: shapes projected along an axis of the world.
#pragma once

#include <memory>
#include <vector>

#include "geometry/shape.hpp"
#include "plot/views.hpp"
#include "stickslip/record.hpp"

namespace stickslip {

// The two axes of the world (0 x, 1 y, 2 z) that lie in the picture.
struct ViewAxes {
    int right = 0, up = 2;
    plot::Point operator()(const Vec3& x) const { return {x[right], x[up]}; }
};

// Convex hull, counter-clockwise.
std::vector<plot::Point> hull(std::vector<plot::Point> points);

// The outline of a shape on a body with this pose. Boxes and balls are exact; of any other shape the tangents in 64
// directions are, which its bounds tell. Half-spaces have no outline: see ground_of.
std::vector<plot::Outline> outlines_of(const Shape& shape, const Pose& body, const ViewAxes& axes, int colour);
// A half-space whose edge is seen from the side. False if it is not one or is seen from above.
bool ground_of(const Shape& shape, const Pose& body, const ViewAxes& axes, plot::Ground& ground);

}  // namespace stickslip
