// Rotations: the only place that knows how quaternions are laid out in q (w, x, y, z).
#pragma once

#include <cmath>

#include "stickslip/types.hpp"

namespace stickslip {

// [a]x with [a]x b = a x b.
inline Mat3 hat(const Vec3& a) {
    Mat3 m;
    m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
    return m;
}

inline Quat read_quaternion(const double* q) { return {q[0], q[1], q[2], q[3]}; }

inline void write_quaternion(const Quat& a, double* q) {
    q[0] = a.w();
    q[1] = a.x();
    q[2] = a.y();
    q[3] = a.z();
}

// The rotation by the vector `angle` (axis times angle [rad]).
inline Quat rotation_by(const Vec3& angle) {
    const double a = angle.norm();
    // sin(a/2)/a by its series below 1e-4: the quotient loses digits there and the series is exact to rounding.
    const double s = a > 1e-4 ? std::sin(a / 2) / a : 0.5 - a * a / 48;
    return {a > 1e-4 ? std::cos(a / 2) : 1 - a * a / 8, s * angle.x(), s * angle.y(), s * angle.z()};
}

// q <- q * exp(angle_B), renormalised. No rotation leaves the bits alone, so that what sticks stays put.
inline void rotate_in_body(double* q, const Vec3& angle_B) {
    if (angle_B.x() == 0 && angle_B.y() == 0 && angle_B.z() == 0) return;
    write_quaternion((read_quaternion(q) * rotation_by(angle_B)).normalized(), q);
}

}  // namespace stickslip
