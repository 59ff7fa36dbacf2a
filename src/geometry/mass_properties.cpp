#include "geometry/mass_properties.hpp"

namespace stickslip {

Mat3 parallel_axis(double mass, const Vec3& d) {
    return mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
}

MassProperties scaled(const MassProperties& part, double density) {
    return {density * part.mass, part.centroid, density * part.inertia};
}

MassProperties moved(const MassProperties& part, const Pose& pose) {
    const Mat3 R = pose.attitude.toRotationMatrix();
    return {part.mass, pose * part.centroid, R * part.inertia * R.transpose()};
}

MassProperties joined(const MassProperties& a, const MassProperties& b) {
    const double mass = a.mass + b.mass;
    if (!(mass > 0)) return {};
    const Vec3 centroid = (a.mass * a.centroid + b.mass * b.centroid) / mass;
    return {mass, centroid,
            a.inertia + parallel_axis(a.mass, a.centroid - centroid) + b.inertia +
                parallel_axis(b.mass, b.centroid - centroid)};
}

}  // namespace stickslip
