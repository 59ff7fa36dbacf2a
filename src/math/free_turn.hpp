// A rigid body that nothing turns, over a step of any length: its angular momentum is constant, which no rule of second order keeps at the
// steps in which heaps and machines are run.
//
//   J omega' = (J omega) x omega,   R' = R hat(omega)      in the axes of the body
#pragma once

#include "stickslip/types.hpp"

namespace stickslip {

struct FreeTurn {
    Vec3 omega = Vec3::Zero();  // [rad/s] at the end
    Vec3 angle = Vec3::Zero();  // [rad] rotation vector of the turn
};

// From omega, for the time h. False, and nothing is said, where omega does not change (principal axes, spheres), where the turn is so small that
// any rule will do, and where it is a third of a revolution and more, for which steps are too long anyway.
bool turn_freely(const Mat3& inertia, double h, const Vec3& omega, FreeTurn& turn);

}  // namespace stickslip
