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

// d(angle)/dt of a body at R0 exp(angle) that turns with omega in its own axes: the inverse of the tangent of exp,
//   omega + angle x omega / 2 + c angle x (angle x omega),   c = (1 - (a/2) cot(a/2)) / a^2,  a = |angle| < 2 pi
// [Hairer, Lubich & Wanner, Geometric Numerical Integration, III.4].
inline Vec3 rate_of_rotation_vector(const Vec3& angle, const Vec3& omega) {
    const double a2 = angle.squaredNorm(), a = std::sqrt(a2);
    // The series below 0.02: its next term is 2e-16 there, and the quotient has lost digits.
    const double c = a > 0.02 ? (1 - (a / 2) / std::tan(a / 2)) / a2 : (1 + a2 * (1.0 / 60 + a2 / 2520)) / 12;
    const Vec3 cross = angle.cross(omega);
    return omega + 0.5 * cross + c * angle.cross(cross);
}

// q <- q * exp(angle_B), renormalised. No rotation leaves the bits alone, so that what sticks stays put.
inline void rotate_in_body(double* q, const Vec3& angle_B) {
    if (angle_B.x() == 0 && angle_B.y() == 0 && angle_B.z() == 0) return;
    write_quaternion((read_quaternion(q) * rotation_by(angle_B)).normalized(), q);
}

}  // namespace stickslip
