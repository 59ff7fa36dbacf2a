#include "collision/passing.hpp"

#include <algorithm>
#include <cmath>

#include "collision/extent.hpp"

namespace stickslip {

namespace {

// Of half the thickness of the thinner shape: the overlap of bodies at rest on each other. What is deeper is not apart any more.
constexpr double resting_share = 0.05;
// Safe times in a row, and of the step the shortest of them, before bodies are taken to meet. If fewer, what flies past at a grazing
// angle is hit; each costs as much as finding the contacts of the pair.
constexpr int max_advances = 40;
constexpr double least_advance = 1e-6;

// [m] How far the core of the shape reaches from the axis through its centre; that of a half-space never ends, and is not looked at.
double core_reach(const PlacedShape& shape, const Vec3& axis) {
    const Vec3 in = shape.rotation.transpose() * axis;  // a unit vector
    return std::visit(
        [&](const auto& g) {
            using Kind = std::decay_t<decltype(g)>;
            if constexpr (std::is_same_v<Kind, Box>) {
                const double away = (g.half.array() * (1 - in.array().square()).max(0).sqrt()).sum();
                return std::min(away, g.half.norm());
            }
            if constexpr (std::is_same_v<Kind, Capsule>) return std::hypot(in.x(), in.y()) * g.length / 2;
            return 0.0;
        },
        *shape.geometry);
}

// [s] t of c t + a t^2/2 = way.
double time_for(double way, double c, double a) {
    const double root = c + std::sqrt(c * c + 2 * a * way);
    return root > 0 ? 2 * way / root : infinity;
}

}  // namespace

PassingGuard::Part PassingGuard::part(const CollisionModel& model, int collider) const {
    const Collider& of = model.colliders[collider];
    Part part;
    const Pose pose = placed(of.body < 0 ? Pose{} : poses[of.body], of.shape.pose_B);
    part.shape = {&*of.shape.geometry, pose.position, pose.attitude.toRotationMatrix()};
    if (of.body < 0 || !motions[of.body].moves) return part;
    const BodyMotion& motion = motions[of.body];
    part.velocity = velocity_at(motion.twist, pose.position);
    part.acceleration = motion.acceleration;
    part.spin = motion.twist.angular;
    if (const double speed = part.spin.norm(); speed > 0) part.reach = core_reach(part.shape, part.spin / speed);
    part.swing = part.spin.squaredNorm() * (pose.position - motion.twist.origin).norm();
    return part;
}

const PassingGuard::Part& PassingGuard::part_at(const CollisionModel& model, int collider) {
    if (!has_part_[collider]) parts_[collider] = part(model, collider);
    has_part_[collider] = 1;
    return parts_[collider];
}

bool PassingGuard::quiet(const CollisionModel& model) {
    if (measured_ != model.identity) {
        measured_ = model.identity;
        thinnest_ = infinity;
        for (const Collider& collider : model.colliders)
            thinnest_ = std::min(thinnest_, half_thickness(collider.shape));
    }
    double farthest = 0;
    for (const double way : reach) farthest = std::max(farthest, way);
    return 2 * farthest <= slack_share * thinnest_;
}

void PassingGuard::try_direction(const Pair& pair, const Vec3& n, double& best) {
    const double apart = -extent(pair.a.shape, -n) - extent(pair.b.shape, n);
    if (!(apart > -pair.overlap)) return;
    const double c = std::max(-n.dot(pair.a.velocity - pair.b.velocity), 0.0) +
                     pair.a.reach * n.cross(pair.a.spin).norm() + pair.b.reach * n.cross(pair.b.spin).norm();
    const double known = std::abs(n.dot(pair.a.acceleration - pair.b.acceleration));
    const double a = std::max(known, pair.gravity * std::abs(n.dot(pair.down))) + pair.a.swing + pair.b.swing;
    best = std::max(best, time_for(std::max(apart, 0.0) + pair.slack, c, a));
}

// Where no direction tells their sides, in the time they may go as far as L in any.
double PassingGuard::pair_time(const Pair& pair, double enough) {
    const double speed = (pair.a.velocity - pair.b.velocity).norm() + pair.a.reach * pair.a.spin.norm() +
                         pair.b.reach * pair.b.spin.norm();
    double best = pair.slack > 0 ? time_for(pair.slack, speed, pair.gravity + pair.a.swing + pair.b.swing) : 0.0;
    if (best > enough) return best;
    const auto both_ways = [&](const Vec3& n) {
        try_direction(pair, n, best);
        try_direction(pair, -n, best);
    };
    for (const PlacedShape* shape : {&pair.a.shape, &pair.b.shape}) {
        if (std::holds_alternative<Box>(*shape->geometry))
            for (int axis = 0; axis < 3; ++axis) both_ways(shape->rotation.col(axis));
        if (const auto* plane = std::get_if<HalfSpace>(&*shape->geometry))
            both_ways(shape->rotation * plane->normal.normalized());
    }
    const Vec3 line = pair.a.shape.position - pair.b.shape.position;
    if (const double length = line.norm(); length > 0) try_direction(pair, line / length, best);
    if (best > enough) return best;
    contacts_.clear();
    find_pair_contacts(pair.a.shape, pair.b.shape, {.cutoff = infinity}, contacts_);
    for (const ContactPoint& contact : contacts_) try_direction(pair, contact.normal, best);
    return best;
}

double PassingGuard::nearness(const CollisionModel& model, int a, int b) {
    return resting_share * std::min(half_thickness(model.colliders[a].shape), half_thickness(model.colliders[b].shape));
}

// From where they are, then from where the safe time has taken them, and so on: from afar no direction may tell their sides for all
// of the step that bodies need to fly past an edge.
bool PassingGuard::passes_by(const CollisionModel& model, int a, int b, double h) {
    Part x = part(model, a), y = part(model, b);
    double left = h;
    for (int k = 0; k < max_advances; ++k) {
        const double safe = pair_time({x, y, 0.0, 0.0, 0.0, Vec3::Zero()}, left);
        if (safe > left) return true;
        // They meet; or a shape goes round the centre of its body, on a path that is not followed.
        if (!(safe > least_advance * h) || x.swing > 0 || y.swing > 0) return false;
        left -= safe;
        for (Part* part : {&x, &y}) {
            part->shape.position += safe * part->velocity;
            if (const double speed = part->spin.norm(); speed > 0)
                part->shape.rotation =
                    Eigen::AngleAxisd(safe * speed, part->spin / speed).toRotationMatrix() * part->shape.rotation;
        }
    }
    return false;
}

double PassingGuard::way(const CollisionModel& model, int collider) const {
    const int body = model.colliders[collider].body;
    return body < 0 ? 0.0 : reach[body];
}

double PassingGuard::safe_time(const CollisionModel& model, const Vec3& gravity, std::span<const ContactId> held,
                               double horizon) {
    const double fall = gravity.norm();
    finder_.reach = reach;
    finder_.find_candidates(model, poses);
    parts_.resize(model.colliders.size());
    has_part_.assign(parts_.size(), 0);
    for (const auto& [i, j] : finder_.candidates()) {
        const double thin = std::min(half_thickness(model.colliders[i].shape), half_thickness(model.colliders[j].shape));
        const double slack = slack_share * thin;
        if (way(model, i) + way(model, j) <= slack || !finder_.near(i, j)) continue;
        const Part &a = part_at(model, i), &b = part_at(model, j);
        const ContactId first{ContactKind::shapes, model.colliders[i].id, model.colliders[j].id, {}, {}};
        const auto at = std::lower_bound(held.begin(), held.end(), first);
        const bool is_held = at != held.end() && at->kind == first.kind && at->a == first.a && at->b == first.b;
        const Pair pair{a,
                        b,
                        slack,
                        is_held ? std::max(slack, resting_share * thin) : resting_share * thin,
                        is_held ? 0.0 : fall,
                        fall > 0 ? Vec3(gravity / fall) : Vec3::Zero().eval()};
        horizon = std::min(horizon, pair_time(pair, horizon));
    }
    return horizon;
}

}  // namespace stickslip
