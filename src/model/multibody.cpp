// Bodies: mass, forces, motion on the manifold, energies, names. Rows are in multibody_rows.cpp.
#include "model/multibody.hpp"

#include <algorithm>
#include <cmath>

#include "math/so3.hpp"

namespace stickslip {

MultibodySystem::MultibodySystem(MultibodyModel model) : model_(std::move(model)) {
    if (model_.plane) {
        // The normal is a x b for xy and yz; "xz" names its axes against the right-handed order, so the positive
        // normal y is z x x.
        const auto [a, b] = *model_.plane;
        plane_a_ = Vec3::Unit(a);
        plane_b_ = Vec3::Unit(b);
        plane_n_ = Vec3::Unit(3 - a - b);
        model_.collision.plane_normal = plane_n_;
    }
    // Colliders of bodies that are not there are left out; ids, and names by ids, stay.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < model_.collision.colliders.size(); ++i) {
        if (!there(model_.collision.colliders[i].body)) continue;
        if (kept != i) model_.collision.colliders[kept] = model_.collision.colliders[i];
        model_.material[kept++] = model_.material[i];
    }
    model_.collision.colliders.resize(kept);
    model_.material.resize(kept);
    model_.collision.identity = std::make_shared<const char>();
    model_.collision.fixed.clear();
    for (const RigidBody& body : model_.bodies) {
        model_.collision.fixed.push_back(body.fixed);
        q_start_.push_back(nq_);
        node_.push_back(body.fixed ? -1 : nodes_.size());
        if (body.fixed) continue;
        nodes_.add(model_.plane ? 3 : 6);
        nq_ += model_.plane ? 3 : 7;
    }
    plan_rows();
    measure_bodies();
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
    for (const Counted& counted : counted_)
        x.q[counted.place] = model_.joints[counted.joint].offset[counted.coordinate];
    advance(x.q, VecX::Zero(nv()));
    return x;
}

void MultibodySystem::place_body(int body, const Pose& pose, const Vec3& velocity, const Vec3& angular_velocity,
                                 State& x) const {
    const int n = node(body);
    if (n < 0) return;
    double* q = x.q.data() + q_start_[body];
    double* v = x.v.data() + nodes_.start[n];
    if (model_.plane) {
        const Quat& R = pose.attitude;
        q[0] = plane_a_.dot(pose.position);
        q[1] = plane_b_.dot(pose.position);
        q[2] = 2 * std::atan2(R.vec().dot(plane_n_), R.w());
        v[0] = plane_a_.dot(velocity);
        v[1] = plane_b_.dot(velocity);
        v[2] = plane_n_.dot(angular_velocity);
    } else {
        Eigen::Map<Vec3>{q} = pose.position;
        write_quaternion(pose.attitude.normalized(), q + 3);
        Eigen::Map<Vec3>{v} = velocity;
        Eigen::Map<Vec3>{v + 3} = pose.attitude.conjugate() * angular_velocity;
    }
}

// Bodies are only ever appended, so theirs is the head of q and v.
State MultibodySystem::carry_over(const MultibodySystem& before, const State& x) const {
    State y;
    y.t = x.t;
    y.q.setZero(nq());
    y.v.setZero(nv());
    const int bodies = before.nq_ - static_cast<int>(before.counted_.size());
    y.q.head(bodies) = x.q.head(bodies);
    y.v.head(before.nv()) = x.v;
    for (const Counted& counted : counted_) {
        const Joint& joint = model_.joints[counted.joint];
        const int old = before.joint_index(joint.id);
        const bool known = old >= 0 && before.count_place_[old][counted.coordinate] >= 0;
        const bool same = old >= 0 && before.model_.joints[old].present == joint.present;
        y.q[counted.place] = known && (same || !joint.present) ? x.q[before.count_place_[old][counted.coordinate]]
                                                               : joint.offset[counted.coordinate];
    }
    return y;
}

Pose MultibodySystem::pose(int body, const VecX& q) const {
    if (body < 0) return {};
    const RigidBody& data = model_.bodies[body];
    if (data.fixed) return data.pose;
    const double* x = q.data() + q_start_[body];
    if (!model_.plane) return {Vec3(x[0], x[1], x[2]), read_quaternion(x + 3)};
    // The out-of-plane position stays where the scene put it.
    const Vec3 out = plane_n_ * plane_n_.dot(data.pose.position);
    return {out + plane_a_ * x[0] + plane_b_ * x[1], Quat(Eigen::AngleAxisd(x[2], plane_n_))};
}

Twist MultibodySystem::twist(int body, const VecX& q, const VecX& v) const {
    const Pose at = pose(body, q);
    Twist twist{at.position, Vec3::Zero(), Vec3::Zero()};
    const int n = node(body);
    if (n < 0) return twist;
    const double* u = v.data() + nodes_.start[n];
    if (model_.plane) {
        twist.linear = plane_a_ * u[0] + plane_b_ * u[1];
        twist.angular = plane_n_ * u[2];
    } else {
        twist.linear = Vec3(u[0], u[1], u[2]);
        twist.angular = at.attitude * Vec3(u[3], u[4], u[5]);
    }
    return twist;
}

void MultibodySystem::mass(const VecX&, BlockMatrix& M) const {
    M.shape_diagonal(nodes_);
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
        const RigidBody& body = model_.bodies[b];
        if (body.fixed) continue;
        double* block = M.values.data() + M.diagonal[node_[b]];
        if (model_.plane) {
            block[0] = block[4] = body.mass;
            block[8] = plane_n_.dot(body.inertia * plane_n_);
        } else {
            for (int i = 0; i < 3; ++i) block[7 * i] = body.mass;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) block[6 * (3 + j) + 3 + i] = body.inertia(i, j);
        }
    }
}

void MultibodySystem::forces(double t, const VecX& q, const VecX& v, Forces& k) const {
    k.potential.setZero(nv());
    k.applied.setZero(nv());
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
        const RigidBody& body = model_.bodies[b];
        if (body.fixed || !body.present) continue;
        double* f = k.potential.data() + nodes_.start[node_[b]];
        const Vec3 weight = body.mass * model_.gravity;
        if (model_.plane) {
            f[0] = plane_a_.dot(weight);
            f[1] = plane_b_.dot(weight);
        } else {
            Eigen::Map<Vec3>{f} = weight;
        }
    }
    for (const Load& load : model_.loads) {
        const int n = node(load.body);
        if (n < 0 || !there(load.body) || t < load.from || t >= load.until) continue;
        const Mat3 R = pose(load.body, q).attitude.toRotationMatrix();
        const Vec3 force(load.force[0](t), load.force[1](t), load.force[2](t));
        const Vec3 torque =
            Vec3(load.torque[0](t), load.torque[1](t), load.torque[2](t)) + (R * load.point).cross(force);
        double row[6];
        write_row(R, force, torque, row);
        for (int i = 0; i < nodes_.dof(n); ++i) k.applied[nodes_.start[n] + i] += row[i];
    }
    const int d = model_.plane ? 2 : 3;
    for (const Drag& drag : model_.drags) {
        const int n = node(drag.body);
        if (n < 0 || !there(drag.body)) continue;
        const auto u = v.segment(nodes_.start[n], nodes_.dof(n));
        auto f = k.applied.segment(nodes_.start[n], nodes_.dof(n));
        f.head(d) -= (drag.linear + drag.quadratic * u.head(d).norm()) * u.head(d);
        f.tail(nodes_.dof(n) - d) -= drag.angular * u.tail(nodes_.dof(n) - d);
    }
}

void MultibodySystem::add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const {
    if (model_.plane) return;
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
        const RigidBody& body = model_.bodies[b];
        if (body.fixed) continue;
        const double* u = v.data() + nodes_.start[node_[b]] + 3;
        if (u[0] == 0 && u[1] == 0 && u[2] == 0) continue;
        A.block(node_[b]).bottomRightCorner<3, 3>() += s * hat(body.inertia * Vec3(u[0], u[1], u[2]));
    }
}

void MultibodySystem::look_ahead(const VecX& v, double h, ContactFinder& finder) const {
    finder.reach.assign(model_.bodies.size(), 0.0);
    const double fall = model_.gravity.norm() * h * h;
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
        const int n = node_[b];
        if (n < 0) continue;
        const auto u = v.segment(nodes_.start[n], nodes_.dof(n));
        const int d = model_.plane ? 2 : 3;
        const double speed = u.head(d).norm() + u.tail(nodes_.dof(n) - d).norm() * model_.bodies[b].radius;
        // Twice the way at constant speed: forces may add the same again before a contact must be known.
        finder.reach[b] = 2 * h * speed + fall;
    }
}

void MultibodySystem::advance(VecX& q, const VecX& dq) const {
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
        const int n = node_[b];
        if (n < 0) continue;
        double* x = q.data() + q_start_[b];
        const double* d = dq.data() + nodes_.start[n];
        for (int i = 0; i < 3; ++i) x[i] += d[i];
        if (!model_.plane) rotate_in_body(x + 3, Vec3(d[3], d[4], d[5]));
    }
    recount(q);
}

void MultibodySystem::chart_rate(const VecX& u, const VecX& v, VecX& rate) const {
    rate = v;
    if (model_.plane) return;
    for (int n = 0; n < nodes_.size(); ++n) {
        const int at = nodes_.start[n] + 3;
        rate.segment<3>(at) = rate_of_rotation_vector(u.segment<3>(at), v.segment<3>(at));
    }
}

void MultibodySystem::recount(VecX& q) const {
    for (const Counted& counted : counted_) {
        const Joint& joint = model_.joints[counted.joint];
        if (!joint.present) continue;
        q[counted.place] = joint.curve ? parameter(counted.joint, q) : coordinate(counted.joint, counted.coordinate, q);
    }
}

Energies MultibodySystem::energies(double, const VecX& q, const VecX& v) const {
    Energies e;
    for (std::size_t b = 0; b < model_.bodies.size(); ++b) {
        const RigidBody& body = model_.bodies[b];
        if (body.fixed || !body.present) continue;
        const double* u = v.data() + nodes_.start[node_[b]];
        const Vec3 w = model_.plane ? Vec3(plane_n_ * u[2]) : Vec3(u[3], u[4], u[5]);
        const double speed2 = u[0] * u[0] + u[1] * u[1] + (model_.plane ? 0.0 : u[2] * u[2]);
        e.kinetic += 0.5 * (body.mass * speed2 + w.dot(body.inertia * w));
        e.potential -= body.mass * model_.gravity.dot(pose(static_cast<int>(b), q).position);
    }
    for (const Element& element : elements_) {
        const JointFrames at = frames(element.a, element.b, element.point_a, element.point_b, q);
        for (std::size_t i = 0; i < element.pieces.size(); ++i) {
            if (element.stiffness[i] == 0) continue;
            const double x = evaluate(element.pieces[i], at, element.length).value;
            e.elastic += 0.5 * element.stiffness[i] * x * x;
        }
    }
    for (const Group& group : groups_) {
        if (group.source != Source::torsion) continue;
        const Drive& drive = model_.joints[group.index].drives[group.drive];
        const double x = coordinate(group.index, drive.coordinate, q) - drive.rest;
        e.elastic += 0.5 * drive.stiffness * x * x;
    }
    return e;
}

double MultibodySystem::next_discontinuity(double t) const {
    double next = infinity;
    for (const Load& load : model_.loads) {
        if (!there(load.body)) continue;
        for (const double edge : {load.from, load.until})
            if (edge > t) next = std::min(next, edge);
        for (int i = 0; i < 3; ++i)
            next = std::min({next, load.force[i].next_discontinuity(t), load.torque[i].next_discontinuity(t)});
    }
    for (const Joint& joint : model_.joints) {
        if (!joint.present) continue;
        for (const Drive& drive : joint.drives) {
            if (drive.motor) next = std::min(next, drive.motor->target.next_discontinuity(t));
            if (drive.brake) next = std::min(next, drive.brake->next_discontinuity(t));
        }
    }
    return next;
}

std::vector<std::string> MultibodySystem::coordinate_names() const {
    static const char* axis[] = {"x", "y", "z"};
    std::vector<std::string> names;
    for (const RigidBody& body : model_.bodies) {
        if (body.fixed) continue;
        if (model_.plane) {
            for (const int i : *model_.plane) names.push_back(body.name + "." + axis[i]);
            names.push_back(body.name + ".angle");
        } else {
            for (const char* part : {"x", "y", "z", "qw", "qx", "qy", "qz"}) names.push_back(body.name + "." + part);
        }
    }
    for (const Counted& counted : counted_) {
        const Joint& joint = model_.joints[counted.joint];
        const auto& coordinates = joint_entry(joint.kind).coordinates;
        names.push_back(joint.name + "." +
                        (joint.kind == JointKind::point_on_curve ? "way" : coordinates[counted.coordinate]));
    }
    return names;
}

std::vector<std::string> MultibodySystem::body_names() const {
    std::vector<std::string> names;
    for (const RigidBody& body : model_.bodies) names.push_back(body.name);
    return names;
}

BodyState MultibodySystem::body_state(int body, const VecX& q, const VecX& v) const {
    const Twist motion = twist(body, q, v);
    Pose frame = pose(body, q);
    frame.position = frame * (-model_.bodies[body].com);
    return {frame, motion.linear, motion.angular, there(body)};
}

std::string MultibodySystem::contact_name(const ContactId& id) const {
    if (id.kind == ContactKind::limit) return limit_name(id);
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
