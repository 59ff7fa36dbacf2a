// The pieces joints are made of. Each piece is one scalar function g of two bodies, with its gradient as wrenches
// on the bodies (f on the velocity of the centre of mass, tau on the angular velocity, all in W) and its bias:
//
//   dg/dt   = f_a.v_a + tau_a.w_a + f_b.v_b + tau_b.w_b
//   d2g/dt2 = the same with accelerations + bias(v, w)
//
// Constant body-frame angular velocity is constant world angular velocity (d(R w_B)/dt = w x w = 0), so bias
// is the second derivative along constant twists.
#pragma once

#include <algorithm>
#include <cmath>

#include "collision/contact_point.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

struct Wrench {
    Vec3 f = Vec3::Zero(), tau = Vec3::Zero();
};

struct RowPiece {
    double value = 0;  // g [m] or [-]
    Wrench a, b;
};

// A point of each body, seen from the centres of mass: r in W.
struct PointPair {
    Vec3 r_a, r_b;
    Vec3 delta;  // p_b - p_a
};

inline Vec3 centripetal(const Vec3& w, const Vec3& r) { return w.cross(w.cross(r)); }

inline Vec3 delta_rate(const PointPair& p, const Twist& a, const Twist& b) {
    return b.linear + b.angular.cross(p.r_b) - a.linear - a.angular.cross(p.r_a);
}

inline Vec3 delta_bias(const PointPair& p, const Twist& a, const Twist& b) {
    return centripetal(b.angular, p.r_b) - centripetal(a.angular, p.r_a);
}

// g = d.(p_b - p_a), d fixed in W.
inline RowPiece world_point(const PointPair& p, const Vec3& d) {
    return {d.dot(p.delta), {-d, -p.r_a.cross(d)}, {d, p.r_b.cross(d)}};
}
inline double world_point_bias(const PointPair& p, const Vec3& d, const Twist& a, const Twist& b) {
    return d.dot(delta_bias(p, a, b));
}

// g = d.(p_b - p_a), d fixed in a.
inline RowPiece carried_point(const PointPair& p, const Vec3& d) {
    return {d.dot(p.delta), {-d, -p.r_a.cross(d) + d.cross(p.delta)}, {d, p.r_b.cross(d)}};
}
inline double carried_point_bias(const PointPair& p, const Vec3& d, const Twist& a, const Twist& b) {
    return d.dot(delta_bias(p, a, b)) + 2 * a.angular.cross(d).dot(delta_rate(p, a, b)) +
           centripetal(a.angular, d).dot(p.delta);
}

// g = e.f, e fixed in a, f fixed in b: the angle between them stays a right one.
inline RowPiece right_angle(const Vec3& e, const Vec3& f) {
    const Vec3 n = e.cross(f);
    return {e.dot(f), {Vec3::Zero(), n}, {Vec3::Zero(), -n}};
}
inline double right_angle_bias(const Vec3& e, const Vec3& f, const Twist& a, const Twist& b) {
    return centripetal(a.angular, e).dot(f) + 2 * a.angular.cross(e).dot(b.angular.cross(f)) +
           e.dot(centripetal(b.angular, f));
}

// g = |p_b - p_a| - length. Coinciding points have no direction; the x axis is taken, the row then still opposes
// motion along it.
inline RowPiece distance(const PointPair& p, double length) {
    const double d = p.delta.norm();
    const Vec3 n = d > 1e-12 ? Vec3(p.delta / d) : Vec3::UnitX();
    RowPiece piece = world_point(p, n);
    piece.value = d - length;
    return piece;
}
inline double distance_bias(const PointPair& p, const Twist& a, const Twist& b) {
    const double d = p.delta.norm();
    if (d <= 1e-12) return 0;
    const Vec3 n = p.delta / d, rate = delta_rate(p, a, b);
    const double along = n.dot(rate);
    return n.dot(delta_bias(p, a, b)) + (rate.squaredNorm() - along * along) / d;
}

// The angle theta = atan2(y.f, x.f) of f, fixed in b, about the axis x cross y of a; x, y fixed in a, all unit vectors.
// With c = x.f and s = y.f from right_angle() above, r^2 = c^2 + s^2:
//   theta'  = (c s' - s c')/r^2
//   theta'' = (c s'' - s c'')/r^2 - 2 (c c' + s s')(c s' - s c')/r^4
// f along the axis has no angle; r^2 is kept from zero so that such a row is zero and not NaN.
inline RowPiece turn(const Vec3& x, const Vec3& y, const Vec3& f) {
    const RowPiece c = right_angle(x, f), s = right_angle(y, f);
    const double r2 = std::max(c.value * c.value + s.value * s.value, 1e-300);
    const Vec3 tau = (c.value * s.a.tau - s.value * c.a.tau) / r2;
    return {std::atan2(s.value, c.value), {Vec3::Zero(), tau}, {Vec3::Zero(), -tau}};
}
inline double turn_bias(const Vec3& x, const Vec3& y, const Vec3& f, const Twist& a, const Twist& b) {
    const RowPiece c = right_angle(x, f), s = right_angle(y, f);
    const Vec3 w = a.angular - b.angular;
    const double r2 = std::max(c.value * c.value + s.value * s.value, 1e-300);
    const double dc = c.a.tau.dot(w), ds = s.a.tau.dot(w);
    const double first = c.value * ds - s.value * dc;
    return (c.value * right_angle_bias(y, f, a, b) - s.value * right_angle_bias(x, f, a, b)) / r2 -
           2 * (c.value * dc + s.value * ds) * first / (r2 * r2);
}

}  // namespace stickslip
