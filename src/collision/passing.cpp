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
// Steps of the search for a clip: thirds, then halves. With 25 what is overlapped for 4e-5 of the time in question is found.
constexpr int clip_rounds = 25;
// Of the time from the first overlap to one that is known: steps end there. Near the deepest point nothing approaches any more.
constexpr double clip_depth = 0.2;

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
            if constexpr (std::is_same_v<Kind, Hull>) {
                double away = 0;
                for (const Vec3& v : g.polytope.vertices) away = std::max(away, in.cross(v).norm());
                return away;
            }
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
    part.centre = motion.twist.origin;
    part.drift = motion.twist.linear;
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
        thin_.clear();
        body_.clear();
        bodied_ = true;
        for (const Collider& collider : model.colliders) {
            thin_.push_back(half_thickness(collider.shape));
            body_.push_back(collider.body);
            bodied_ = bodied_ && collider.body >= 0;
            thinnest_ = std::min(thinnest_, thin_.back());
        }
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
        if (const auto* hull = std::get_if<Hull>(&*shape->geometry))
            for (const Polytope::Face& face : hull->polytope.faces) both_ways(shape->rotation * face.normal);
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

void PassingGuard::move(Part& part, double t) {
    const double speed = part.spin.norm();
    Mat3 turn = Mat3::Identity();
    if (speed > 0) turn = Eigen::AngleAxisd(t * speed, part.spin / speed).toRotationMatrix();
    if (part.swing > 0) {
        const Vec3 arm = turn * (part.shape.position - part.centre);
        part.centre += t * part.drift + (t * t / 2) * part.acceleration;
        part.drift += t * part.acceleration;
        part.shape.position = part.centre + arm;
        part.velocity = part.drift + part.spin.cross(arm);
    } else {
        part.shape.position += t * part.velocity + (t * t / 2) * part.acceleration;
        part.velocity += t * part.acceleration;
    }
    if (speed > 0) part.shape.rotation = turn * part.shape.rotation;
}

void PassingGuard::turn_back(Part& part) {
    part.velocity = -part.velocity;
    part.drift = -part.drift;
    part.spin = -part.spin;
}

// From where they are, then from where the safe time has taken them, and so on: from afar no direction may tell their sides for all
// of the step that bodies need to fly past an edge.
double PassingGuard::meeting_time(Part a, Part b, double h, Round round) {
    double left = h;
    for (int k = 0; k < max_advances; ++k) {
        const double safe = pair_time({a, b, 0.0, 0.0, 0.0, Vec3::Zero()}, left);
        if (safe > left) return infinity;
        if (!(safe > least_advance * h) || (round == Round::stop && (a.swing > 0 || b.swing > 0))) break;
        left -= safe;
        move(a, safe);
        move(b, safe);
    }
    return h - left;
}

bool PassingGuard::passes_by(const CollisionModel& model, int a, int b, double h) {
    return meeting_time(part(model, a), part(model, b), h, Round::stop) == infinity;
}

double PassingGuard::pair_gap(Part a, Part b, double t) {
    move(a, t);
    move(b, t);
    contacts_.clear();
    find_pair_contacts(a.shape, b.shape, {.cutoff = infinity}, contacts_);
    double least = infinity;
    for (const ContactPoint& contact : contacts_) least = std::min(least, contact.gap);
    return least;
}

// The gap of convex shapes that go straight is convex in time: its least value is found by thirds, where they begin to overlap by halves.
double PassingGuard::clip_time(const Part& a, const Part& b, double h) {
    const double first = meeting_time(a, b, h, Round::follow);
    if (!(first > 0) || first == infinity) return infinity;
    Part a_back = a, b_back = b;
    for (Part* part : {&a_back, &b_back}) {
        move(*part, h);
        turn_back(*part);
    }
    const double last = h - meeting_time(a_back, b_back, h, Round::follow);
    double from = first, to = last;
    for (int k = 0; k < clip_rounds && from < to; ++k) {
        const double third = (to - from) / 3, x = from + third, y = to - third;
        const double at_x = pair_gap(a, b, x), at_y = pair_gap(a, b, y);
        if (std::min(at_x, at_y) < 0) {
            double apart = first, inside = at_x < 0 ? x : y;
            for (int i = 0; i < clip_rounds; ++i) {
                const double middle = 0.5 * (apart + inside);
                (pair_gap(a, b, middle) < 0 ? inside : apart) = middle;
            }
            // They part again later than this by at least as much as there is left of thirds: they still approach a little way on.
            return inside + clip_depth * (to - inside);
        }
        (at_x < at_y ? to : from) = at_x < at_y ? y : x;
    }
    return infinity;
}

double PassingGuard::closing(int i, int j, double h) const {
    const int p = body_[i], q = body_[j];
    Vec3 u = Vec3::Zero();
    double turns = 0;
    if (p >= 0 && motions[p].moves) {
        u = motions[p].twist.linear;
        turns = turns_[p];
    }
    if (q >= 0 && motions[q].moves) {
        u -= motions[q].twist.linear;
        turns += turns_[q];
    }
    return h * u.norm() + turns;
}

// Pairs that may meet, as seen by who moves with the mean velocity of the bodies if less is gone so: of a heap that falls few pairs are left.
void PassingGuard::find_pairs(const CollisionModel& model, double h) {
    const std::size_t bodies = reach.size();
    Vec3 mean = Vec3::Zero();
    for (const BodyMotion& motion : motions) mean += motion.twist.linear / static_cast<double>(bodies);
    turns_.resize(bodies);
    drifting_.resize(bodies);
    double at_rest = 0, drifting = 0;
    for (std::size_t b = 0; b < bodies; ++b) {
        const Vec3& v = motions[b].twist.linear;
        turns_[b] = std::max(reach[b] - h * v.norm(), 0.0);
        drifting_[b] = h * (v - mean).norm() + turns_[b];
        at_rest += reach[b];
        drifting += drifting_[b];
    }
    finder_.reach = drifting < at_rest && bodied_ ? drifting_ : reach;
    finder_.find_candidates(model, poses);
    parts_.resize(model.colliders.size());
    has_part_.assign(parts_.size(), 0);
}

bool PassingGuard::is_held(const CollisionModel& model, int i, int j, std::span<const ContactId> held) {
    const ContactId first{ContactKind::shapes, model.colliders[i].id, model.colliders[j].id, {}, {}};
    const auto at = std::lower_bound(held.begin(), held.end(), first);
    return at != held.end() && at->kind == first.kind && at->a == first.a && at->b == first.b;
}

double PassingGuard::first_clip(const CollisionModel& model, std::span<const ContactId> held, double h) {
    find_pairs(model, h);
    double first = h;
    for (const auto& [i, j] : finder_.candidates()) {
        if (!finder_.near(i, j) || is_held(model, i, j, held)) continue;
        first = std::min(first, clip_time(part_at(model, i), part_at(model, j), h));
    }
    return first;
}

double PassingGuard::safe_time(const CollisionModel& model, const Vec3& gravity, std::span<const ContactId> held,
                               double horizon) {
    const double fall = gravity.norm(), farthest = horizon;
    find_pairs(model, horizon);
    for (const auto& [i, j] : finder_.candidates()) {
        const double thin = std::min(thin_[i], thin_[j]), slack = slack_share * thin;
        if (closing(i, j, farthest) <= slack || !finder_.near(i, j)) continue;
        const Part &a = part_at(model, i), &b = part_at(model, j);
        const bool touch = is_held(model, i, j, held);
        const Pair pair{a,
                        b,
                        slack,
                        touch ? std::max(slack, resting_share * thin) : resting_share * thin,
                        touch ? 0.0 : fall,
                        fall > 0 ? Vec3(gravity / fall) : Vec3::Zero().eval()};
        horizon = std::min(horizon, pair_time(pair, horizon));
    }
    return horizon;
}

}  // namespace stickslip
