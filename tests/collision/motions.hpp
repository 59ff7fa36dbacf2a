// Random placements and constant-twist motions for the collision tests.
#pragma once

#include <random>
#include <vector>

#include "collision/pair_table.hpp"
#include "math/so3.hpp"

namespace stickslip {

class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    double uniform(double lower, double upper) { return std::uniform_real_distribution<double>(lower, upper)(engine_); }
    Vec3 vector(double scale) {
        const double x = uniform(-scale, scale), y = uniform(-scale, scale), z = uniform(-scale, scale);
        return {x, y, z};
    }
    Quat attitude() {
        std::normal_distribution<double> normal;
        const double w = normal(engine_), x = normal(engine_), y = normal(engine_), z = normal(engine_);
        return Quat(w, x, y, z).normalized();
    }

private:
    std::mt19937 engine_;
};

// The pose after time t: the origin moves straight, the frame turns about the fixed vector `angular`.
inline Pose after(const Pose& pose, const Twist& twist, double t) {
    return {pose.position + t * twist.linear, (rotation_by(t * twist.angular) * pose.attitude).normalized()};
}

inline PlacedShape at(const Geometry& geometry, const Pose& pose) {
    return {&geometry, pose.position, pose.attitude.toRotationMatrix()};
}

inline std::vector<ContactPoint> contacts_of(const Geometry& a, const Pose& pose_a, const Geometry& b,
                                             const Pose& pose_b, double cutoff) {
    std::vector<ContactPoint> contacts;
    PairQuery query;
    query.cutoff = cutoff;
    find_pair_contacts(at(a, pose_a), at(b, pose_b), query, contacts);
    return contacts;
}

inline const ContactPoint* with_feature(const std::vector<ContactPoint>& contacts, const SidePair& feature) {
    for (const ContactPoint& contact : contacts)
        if (contact.id.feature == feature) return &contact;
    return nullptr;
}

}  // namespace stickslip
