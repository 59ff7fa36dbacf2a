// Two links, one hinged to the ground and the other to its end, in their absolute angles phi1, phi2 from the horizontal; y up:
//
//   M = [J1, k cos(phi1 - phi2); ., J2],   U = w1 sin phi1 + w2 sin phi2,   c = k sin(phi2 - phi1) (v2^2, -v1^2)
//
// c are the forces of -dM/dt v + d(v'Mv/2)/dq. What hangs on the second link only changes the five numbers.
#pragma once

#include <cmath>

#include "stickslip/types.hpp"

namespace stickslip {

struct TwoLinks {
    double J1, J2;  // [kg m^2] about the pivot with all that the link carries, and of the second link about its hinge
    double k;       // [kg m^2] coupling: first moment of what the second link moves, times the length of the first
    double w1, w2;  // [N m] weight times arm of each

    void mass(const VecX& q, MatX& M) const {
        M(0, 0) = J1;
        M(1, 1) = J2;
        M(0, 1) = M(1, 0) = k * std::cos(q[0] - q[1]);
    }
    void coriolis(const VecX& q, const VecX& v, VecX& c) const {
        const double s = k * std::sin(q[1] - q[0]);
        c[0] = s * v[1] * v[1];
        c[1] = -s * v[0] * v[0];
    }
    double potential(const VecX& q) const { return w1 * std::sin(q[0]) + w2 * std::sin(q[1]); }
    void potential_force(const VecX& q, VecX& f) const {
        f[0] = -w1 * std::cos(q[0]);
        f[1] = -w2 * std::cos(q[1]);
    }
    // K = -dk/dq and C = -dk/dv of the two together.
    void slopes(const VecX& q, const VecX& v, MatX& K, MatX& C) const {
        const double s = k * std::sin(q[1] - q[0]), c = k * std::cos(q[1] - q[0]);
        const double first = c * v[0] * v[0], second = c * v[1] * v[1];
        K(0, 0) = second - w1 * std::sin(q[0]);
        K(0, 1) = -second;
        K(1, 0) = -first;
        K(1, 1) = first - w2 * std::sin(q[1]);
        C(0, 1) = -2 * s * v[1];
        C(1, 0) = 2 * s * v[0];
    }
};

inline Vec3 direction(double angle) { return {std::cos(angle), std::sin(angle), 0}; }
inline Vec3 left_of(double angle) { return {-std::sin(angle), std::cos(angle), 0}; }  // d direction / d angle
inline Quat about_z(double angle) { return {std::cos(angle / 2), 0, 0, std::sin(angle / 2)}; }

}  // namespace stickslip
