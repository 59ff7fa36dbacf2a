#include "math/free_turn.hpp"

#include <Eigen/LU>
#include <cmath>

#include "math/so3.hpp"

namespace stickslip {

namespace {

constexpr double small_turn = 1e-4;  // [rad] the trapezoidal rule leaves 1e-13 of the momentum there
constexpr double part_turn = 0.05;   // [rad] of one part of the method of order four: errors of 1e-9 per radian
constexpr double large_turn =
    2;  // [rad] beyond, the rotation vector of the whole turn may be another than that of the way
constexpr double rounding = 1e-13;  // of |J omega| |omega|: a torque below is none

Vec3 rotation_vector(const Quat& R) {
    const double sine = R.vec().norm();
    return sine > 0 ? Vec3(2 * std::atan2(sine, R.w()) / sine * R.vec()) : Vec3::Zero();
}

}  // namespace

bool turn_freely(const Mat3& inertia, double h, const Vec3& omega, FreeTurn& turn) {
    const double way = omega.norm() * h;
    if (!(way > small_turn && way <= large_turn)) return false;
    const Vec3 momentum = inertia * omega;
    if (!(momentum.cross(omega).norm() > rounding * momentum.norm() * omega.norm())) return false;

    const Mat3 inverse = inertia.inverse();
    const auto rate = [&](const Vec3& w) { return Vec3(inverse * (inertia * w).cross(w)); };
    const int parts = static_cast<int>(std::ceil(way / part_turn));
    const double dt = h / parts;
    Vec3 w = omega, k1 = rate(w);
    Quat R = Quat::Identity();
    for (int part = 0; part < parts; ++part) {
        // Runge's and Kutta's classical method for omega,
        const Vec3 k2 = rate(w + dt / 2 * k1), k3 = rate(w + dt / 2 * k2), k4 = rate(w + dt * k3);
        const Vec3 end = w + dt / 6 * (k1 + 2 * (k2 + k3) + k4), last = rate(end);
        // and for R the first two terms of Magnus' series, with Simpson's rule on the cubic through both ends.
        const Vec3 middle = 0.5 * (w + end) + dt / 8 * (k1 - last);
        const Vec3 angle = dt / 6 * (w + 4 * middle + end) + dt * dt / 12 * w.cross(end);
        R = R * rotation_by(angle);
        w = end;
        k1 = last;
    }
    turn.omega = w * std::sqrt(omega.dot(momentum) / w.dot(inertia * w));  // energy is constant too
    turn.angle = rotation_vector(R.normalized());
    return true;
}

}  // namespace stickslip
