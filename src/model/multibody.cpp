// The parts of a multibody system put together: motion on the manifold, energies, names. Rows are in multibody_rows.cpp, forces in
// multibody_forces.cpp.
#include "model/multibody.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collision/passing.hpp"

namespace stickslip {

MultibodySystem::MultibodySystem(MultibodyModel model)
    : model_(std::move(model)),
      bodies_(make_rigid_bodies(model_)),
      connections_(std::make_unique<Connections>(model_, *bodies_)) {
    nodes_ = bodies_->nodes();
    model_.collision.plane_normal = bodies_->freedom().normal;
    leave_out_absent_colliders();
    model_.collision.identity = std::make_shared<const char>();
    for (const Collider& collider : model_.collision.colliders) half_thickness_.push_back(half_thickness(collider.shape));
    model_.collision.fixed.clear();
    for (const RigidBody& body : model_.bodies) model_.collision.fixed.push_back(body.fixed);
}

// Ids, and names by ids, stay.
void MultibodySystem::leave_out_absent_colliders() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < model_.collision.colliders.size(); ++i) {
        if (!bodies_->present(model_.collision.colliders[i].body)) continue;
        if (kept != i) model_.collision.colliders[kept] = model_.collision.colliders[i];
        model_.material[kept++] = model_.material[i];
    }
    model_.collision.colliders.resize(kept);
    model_.material.resize(kept);
}

State MultibodySystem::initial_state(const std::vector<Vec3>& velocity,
                                     const std::vector<Vec3>& angular_velocity) const {
    State x;
    x.q.setZero(nq());
    x.v.setZero(nv());
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
        const RigidBody& body = model_.bodies[b];
        place_body(static_cast<int>(b), body.pose, body.present ? velocity[b] : Vec3::Zero(),
                   body.present ? angular_velocity[b] : Vec3::Zero(), x);
    }
    connections_->start(x.q);
    advance(x.q, VecX::Zero(nv()));
    return x;
}

// Bodies are only ever appended, so theirs is the head of q and v.
State MultibodySystem::carry_over(const MultibodySystem& before, const State& x) const {
    State y;
    y.t = x.t;
    y.q.setZero(nq());
    y.v.setZero(nv());
    const int bodies = before.bodies_->nq();
    y.q.head(bodies) = x.q.head(bodies);
    y.v.head(before.nv()) = x.v;
    connections_->carry_over(*before.connections_, x.q, y.q);
    return y;
}

void MultibodySystem::mass(const VecX&, BlockMatrix& M) const { bodies_->mass(M); }

void MultibodySystem::add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const {
    bodies_->add_gyroscopic(s, v, A);
}

bool MultibodySystem::is_body_in_space(int node) const {
    return node < bodies_->nodes().size() && !bodies_->freedom().normal;
}

void MultibodySystem::look_ahead(const VecX& v, double h, ContactFinder& finder) const {
    finder.reach.assign(model_.bodies.size(), 0.0);
    const double fall = model_.gravity.norm() * h * h;
    for (int b = 0; b < bodies_->size(); ++b) {
        if (node(b) < 0) continue;
        const double speed = bodies_->greatest_speed(b, v, model_.bodies[b].radius);
        // Twice the way at constant speed: forces may add the same again before a contact must be known.
        finder.reach[b] = 2 * h * speed + fall;
    }
}

namespace {

// Of the acceleration at hand: it may grow in the step.
constexpr double growth = 2;

const VecX no_rate;

}  // namespace

// Whether something gets so far in h that it could pass through something; fills guard.reach. An empty `rate` is none.
bool MultibodySystem::far_moving(const VecX& v, const VecX& rate, double h, PassingGuard& guard) const {
    const CollisionModel& collision = model_.collision;
    if (collision.colliders.empty()) return false;
    const double fall = model_.gravity.norm();
    guard.reach.assign(model_.bodies.size(), 0.0);
    for (int b = 0; b < bodies_->size(); ++b) {
        if (node(b) < 0) continue;
        const double radius = model_.bodies[b].radius, speed = bodies_->greatest_speed(b, v, radius);
        const double gain = (rate.size() > 0 ? growth * bodies_->greatest_speed(b, rate, radius) : 0.0) + fall;
        guard.reach[b] = h * (speed + gain * h / 2);
    }
    return !guard.quiet(collision);
}

void MultibodySystem::place_for(const VecX& q, const VecX& v, const VecX& rate, double share,
                                PassingGuard& guard) const {
    guard.poses.resize(model_.bodies.size());
    guard.motions.assign(model_.bodies.size(), BodyMotion{});
    for (int b = 0; b < bodies_->size(); ++b) {
        guard.poses[b] = pose(b, q);
        if (node(b) < 0) continue;
        guard.motions[b] = {bodies_->twist(b, q, v), Vec3::Zero(), true};
        if (rate.size() > 0) guard.motions[b].acceleration = share * bodies_->twist(b, q, rate).linear;
    }
}

double MultibodySystem::safe_time(const VecX& q, const VecX& v, const VecX& rate, std::span<const ContactId> held,
                                  double horizon, PassingGuard& guard) const {
    if (!far_moving(v, rate, horizon, guard)) return horizon;
    place_for(q, v, rate, guard.clips ? 1.0 : growth, guard);
    if (guard.clips) return guard.first_clip(model_.collision, held, horizon);
    return guard.safe_time(model_.collision, model_.gravity, held, horizon);
}

void MultibodySystem::leave_out_passed(const VecX& q, const VecX& v, double h, const ContactRows& contacts,
                                       std::vector<char>& wanted, PassingGuard& guard) const {
    guard.foreseen = true;
    if (!far_moving(v, no_rate, h, guard)) return;
    place_for(q, v, no_rate, 0, guard);
    const CollisionModel& collision = model_.collision;
    for (int i = 0; i < contacts.size(); ++i) {
        const ContactId& id = contacts.id[i];
        if (!wanted[i] || id.kind != ContactKind::shapes) continue;
        const int a = collision.collider_index(id.a), b = collision.collider_index(id.b);
        // What is as near as this may be pressed together in the step by forces.
        if (contacts.gap[i] <= guard.nearness(collision, a, b) + model_.gravity.norm() * h * h) continue;
        if (guard.passes_by(collision, a, b, h)) wanted[i] = 0;
    }
}

void MultibodySystem::advance(VecX& q, const VecX& dq) const {
    bodies_->advance(q, dq);
    connections_->recount(q);
}

void MultibodySystem::chart_rate(const VecX& u, const VecX& v, VecX& rate) const { bodies_->chart_rate(u, v, rate); }

Energies MultibodySystem::energies(double, const VecX& q, const VecX& v) const {
    return {bodies_->kinetic_energy(v), bodies_->potential_energy(model_.gravity, q), connections_->elastic_energy(q)};
}

std::string MultibodySystem::undefined(double t) const {
    for (const Load& load : model_.loads) {
        if (!acts(load, t)) continue;
        for (int i = 0; i < 3; ++i)
            for (const TimeFunction* function : {&load.force[i], &load.torque[i]})
                if (std::string no = function->undefined(t); !no.empty())
                    return fmt::format("load '{}': {}", load.name, no);
    }
    return connections_->undefined(t);
}

double MultibodySystem::next_discontinuity(double t) const {
    double next = connections_->next_discontinuity(t);
    for (const Load& load : model_.loads) {
        if (!bodies_->present(load.body)) continue;
        for (const double edge : {load.from, load.until})
            if (edge > t) next = std::min(next, edge);
        for (int i = 0; i < 3; ++i)
            next = std::min({next, load.force[i].next_discontinuity(t), load.torque[i].next_discontinuity(t)});
    }
    return next;
}

double MultibodySystem::next_jump(double t) const {
    double next = connections_->next_jump(t);
    for (const Load& load : model_.loads) {
        if (!bodies_->present(load.body)) continue;
        for (int i = 0; i < 3; ++i) next = std::min({next, load.force[i].next_jump(t), load.torque[i].next_jump(t)});
    }
    return next;
}

bool MultibodySystem::loads_vary() const {
    const auto varies = [](const Load& load) {
        const auto curved = [](const TimeFunction& f) { return f.curved(); };
        return std::any_of(load.force.begin(), load.force.end(), curved) ||
               std::any_of(load.torque.begin(), load.torque.end(), curved);
    };
    return std::any_of(model_.loads.begin(), model_.loads.end(), varies);
}

std::string MultibodySystem::hasty_drive(double t0, double t1) const { return connections_->hasty_drive(t0, t1); }

double MultibodySystem::opening_limit(std::uint32_t joint, int row) const {
    return connections_->opening_limit(joint, row);
}

std::vector<std::string> MultibodySystem::coordinate_names() const {
    std::vector<std::string> names;
    bodies_->add_names(names);
    connections_->add_names(names);
    return names;
}

std::vector<std::string> MultibodySystem::body_names() const {
    std::vector<std::string> names;
    for (const RigidBody& body : model_.bodies) names.push_back(body.name);
    return names;
}

BodyState MultibodySystem::body_state(int body, const VecX& q, const VecX& v) const {
    const Twist motion = bodies_->twist(body, q, v);
    Pose frame = pose(body, q);
    frame.position = frame * (-model_.bodies[body].com);
    return {frame, motion.linear, motion.angular, bodies_->present(body)};
}

std::string MultibodySystem::joint_name(std::uint32_t id) const { return connections_->joint_name(id); }

std::string MultibodySystem::subject_name(const Subject& subject) const {
    if (subject.kind == SubjectKind::none) return "nothing";
    if (subject.kind != SubjectKind::body) return connections_->subject_name(subject);
    return subject.id < model_.bodies.size() ? model_.bodies[subject.id].name : "body";
}

std::string MultibodySystem::contact_name(const ContactId& id) const {
    if (id.kind == ContactKind::limit) return connections_->limit_name(id);
    const auto name = [&](std::uint32_t shape) {
        return shape < model_.collider_names.size() ? model_.collider_names[shape] : "shape " + std::to_string(shape);
    };
    // The feature of each side: s surface, f face, e edge, v vertex, and its number on the shape.
    const auto side = [](std::uint32_t code) {
        return "sfev"[static_cast<int>(feature_kind(code))] + std::to_string(feature_number(code));
    };
    return name(id.a) + "/" + name(id.b) + ":" + side(id.feature.a) + "/" + side(id.feature.b);
}

}  // namespace stickslip
