// Points of plane linkages in relative angles: a sum of arms, each fixed in a link whose absolute angle is a = q[i] + q[j]:
//
//   r = along e(a) + across n(a),   e = (cos a, sin a),  n = de/da
//   dr/dt = a' dr/da,   d2r/dt2 = -a'^2 r  at constant rates
//
// and the angle at which two links meet.
#pragma once

#include <algorithm>
#include <cmath>

#include "stickslip/types.hpp"

namespace stickslip {

struct Arm {
    double along, across;  // [m] in the link's own axes
    int i, j = -1;         // the link's angle; j = -1: q[i] alone

    double angle(const VecX& x) const { return x[i] + (j < 0 ? 0 : x[j]); }  // of q, and of v its rate
    Vec2 at(const VecX& q) const {
        const double c = std::cos(angle(q)), s = std::sin(angle(q));
        return {along * c - across * s, along * s + across * c};
    }
    Vec2 slope(const VecX& q) const {  // dr/da
        const Vec2 r = at(q);
        return {-r[1], r[0]};
    }
};

// Two links of lengths a and b from the origin to `to`: whether they reach, and the direction of the first, with their hinge to
// the left (side 1) or right (-1) of the way.
inline bool reaches(const Vec2& to, double a, double b) {
    const double length = to.norm();
    return length > 0 && length <= a + b && length >= std::abs(a - b);
}
inline Vec2 first_of_two(const Vec2& to, double a, double b, double side) {
    const double length = to.norm();
    // Law of cosines; the square of the sine is negative only by rounding.
    const double cosine = (a * a + length * length - b * b) / (2 * a * length);
    const double sine = side * std::sqrt(std::max(0.0, 1 - cosine * cosine));
    const Vec2 e = to / length;
    return a * Vec2(cosine * e[0] - sine * e[1], cosine * e[1] + sine * e[0]);
}

}  // namespace stickslip
