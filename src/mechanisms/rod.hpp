// A massless rod between two points of the plane as a row in metres: g = (|d|^2 - L^2)/(2 L), d = p_b - p_a.
//
//   G v = d.d'/L      dG/dt v = |d'|^2/L
//
// The papers write |d|^2 - L^2; their joint errors are 2 L times these.
#pragma once

#include "stickslip/types.hpp"

namespace stickslip {

// Indices of the points' first coordinate in q; a = -1 is the origin.
struct Rod {
    int a, b;
    double length;  // [m]

    Vec2 between(const VecX& x) const {
        const Vec2 end = x.segment<2>(b);
        return a < 0 ? end : Vec2(end - x.segment<2>(a));
    }
    double value(const VecX& q) const { return (between(q).squaredNorm() - length * length) / (2 * length); }
    void jacobian(const VecX& q, Eigen::Ref<MatX> row) const {
        const Vec2 d = between(q) / length;
        row.block<1, 2>(0, b) = d.transpose();
        if (a >= 0) row.block<1, 2>(0, a) = -d.transpose();
    }
    double bias(const VecX& v) const { return between(v).squaredNorm() / length; }
};

}  // namespace stickslip
