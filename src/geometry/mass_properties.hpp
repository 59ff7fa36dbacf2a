// Volume integrals of a solid of constant density:
//
//   mass = int rho dV,   centroid = (1/mass) int rho x dV,   inertia = int rho (|r|^2 I - r r') dV,  r = x - centroid
//
// With rho = 1 the mass is the volume. Parts are joined by Huygens and Steiner's parallel axes:
// inertia = sum inertia_i + mass_i (|d_i|^2 I - d_i d_i'),  d_i = centroid_i - centroid.
#pragma once

#include "stickslip/types.hpp"

namespace stickslip {

struct MassProperties {
    double mass = 0;               // [kg], or [m^3] at unit density
    Vec3 centroid = Vec3::Zero();  // [m]
    Mat3 inertia = Mat3::Zero();   // [kg m^2] about the centroid, in the axes of the frame; or [m^5]
};

MassProperties scaled(const MassProperties& part, double density);
// Of the same solid, seen from the frame in which its own frame has this pose.
MassProperties moved(const MassProperties& part, const Pose& pose);
// Of both together; where they overlap, the volume counts twice.
MassProperties joined(const MassProperties& a, const MassProperties& b);
// m (|d|^2 I - d d'): what a mass at d adds to the inertia about the origin.
Mat3 parallel_axis(double mass, const Vec3& d);

}  // namespace stickslip
