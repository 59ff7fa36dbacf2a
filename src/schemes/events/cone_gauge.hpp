// The friction that a section of size mu p_N must at least have to hold p_T: |p_T| for the disc, its gauge for a polygon.
#pragma once

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"

namespace stickslip {

inline double cone_gauge(const Vec2& p, int dim, int facets) {
    if (dim == 2 || facets == 0) return p.norm();
    if (facets == 2) return std::abs(p[0]);
    const Polygon& section = polygon(facets);
    double most = 0;
    for (const Vec2& outward : section.outward) most = std::max(most, outward.dot(p) / section.apothem);
    return most;
}

}  // namespace stickslip
