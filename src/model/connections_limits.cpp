// How far drift may go before the mechanics is another one than the scene describes:
//
//   contact   overlap <= half the thickness of the thinner shape; deeper, the other side is nearer
//   joint     |g| <= half the reach of the smaller body, and 0.5 rad for axes and gears
//
// Below, drift is told as a warning. Left out: limits of joints, which schemes do not let be passed, and Lagrangian
// systems, whose sizes nobody knows.
#include <algorithm>
#include <cmath>

#include "model/multibody.hpp"

namespace stickslip {

double MultibodySystem::overlap_limit(const ContactId& id) const {
    if (id.kind == ContactKind::limit) return infinity;
    const auto limit = [&](std::uint32_t shape) {
        const int collider = model_.collision.collider_index(shape);
        return collider < 0 ? infinity : half_thickness_[collider];
    };
    return std::min(limit(id.a), limit(id.b));
}

// How far a body reaches from its centre of mass: its shapes, its mass (radius of gyration), the points where joints hold
// it, the length of the rods it hangs on. Whichever is largest: a body may have any of them alone.
void Connections::measure_bodies() {
    reach_.assign(model_.bodies.size(), infinity);
    for (std::size_t b = 0; b < reach_.size(); ++b) {
        const RigidBody& body = model_.bodies[b];
        if (body.fixed) continue;
        const double gyration = body.mass > 0 ? std::sqrt(body.inertia.diagonal().maxCoeff() / body.mass) : 0;
        reach_[b] = std::max(body.radius, gyration);
    }
    for (const Joint& joint : model_.joints) {
        const bool rod = joint.kind->anchor == JointKind::Anchor::ends;
        const auto reach = [&](int body, const Vec3& point) {
            if (body < 0) return;
            double& most = reach_[body];
            most = std::max({most, point.norm(), rod ? joint.length : 0.0});
        };
        if (!joint.curve) reach(joint.a, joint.point_a);  // a curve has no point on a
        reach(joint.b, joint.point_b);
    }
}

double Connections::opening_limit(std::uint32_t joint, int row) const {
    // A hinge opened by half its body's size, or turned out of its axis by 30 degrees, no longer constrains the body.
    constexpr double share = 0.5;       // of the reach of the smaller body
    constexpr double max_turned = 0.5;  // [rad]; rows of axes are sines
    const int j = joint_index(joint & joint_id_mask);
    if (j < 0) return infinity;
    const auto size = [&](const Joint& of) {
        const auto reach = [&](int body) { return body < 0 ? infinity : reach_[body]; };
        return std::min(reach(of.a), reach(of.b));
    };
    const Joint& data = model_.joints[j];
    if (static_cast<Source>(joint >> source_shift) == Source::gear) {
        const int first = joint_index(data.of[0]), second = joint_index(data.of[1]);
        if (first < 0 || second < 0) return infinity;
        const auto f = static_cast<std::size_t>(first), s = static_cast<std::size_t>(second);
        if (coordinates_[f][data.of_coordinate[0]].kind == PieceKind::turn) return max_turned;
        return share * std::min(size(model_.joints[f]), size(model_.joints[s]));
    }
    const auto& pieces = pieces_[j];
    const bool axis = !data.curve && row < std::ssize(pieces) &&
                      (pieces[row].kind == PieceKind::right_angle || pieces[row].kind == PieceKind::turn);
    return axis ? max_turned : share * size(data);
}

}  // namespace stickslip
