#include "scene/check_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/joints/joint.hpp"
#include "scene/reader.hpp"
#include "scene/standing.hpp"

namespace stickslip {

namespace {

using Kind = Scene::Joint::Kind;

void demand(bool fine, const std::string& message, const Place& place) {
    if (!fine) throw Error(message, place);
}

void check_shape(const Scene& scene, const Scene::Body& body, const Scene::Shape& shape) {
    material_index(scene, shape.material);
    const Place& place = shape.place;
    const bool sphere = shape.kind == Scene::Shape::Kind::sphere, box = shape.kind == Scene::Shape::Kind::box;
    demand(!sphere || (shape.radius > 0 && std::isfinite(shape.radius)),
           fmt::format("a sphere of body '{}' needs a radius > 0 [m]", body.name), place);
    demand(!box || ((shape.edges.array() > 0).all() && shape.edges.allFinite()),
           fmt::format("a box of body '{}' needs edges > 0 [m]", body.name), place);
    const bool capsule = shape.kind == Scene::Shape::Kind::capsule;
    demand(!capsule || (shape.radius > 0 && shape.length > 0 && std::isfinite(shape.radius + shape.length)),
           fmt::format("a capsule of body '{}' needs a radius and a length > 0 [m]", body.name), place);
    if (shape.kind != Scene::Shape::Kind::half_space) return;
    demand(body.fixed, fmt::format("body '{}' must be fixed to carry a half-space", body.name), place);
    demand(std::abs(shape.normal.norm() - 1) < 1e-9, "the normal of a half-space must be a unit vector", place);
}

void check_body(const Scene& scene, const Scene::Body& body) {
    const Place& place = body.place;
    check_name(body.name, "body", place);
    demand(body.pose.position.allFinite() && std::abs(body.pose.attitude.norm() - 1) < 1e-6 &&
               body.velocity.allFinite() && body.angular_velocity.allFinite(),
           fmt::format("body '{}' needs a finite pose and velocity, and a unit quaternion", body.name), place);
    for (const Scene::Shape& shape : body.shapes) check_shape(scene, body, shape);
    if (body.fixed) return;
    const auto positive = [](const std::optional<double>& x) { return x && *x > 0 && std::isfinite(*x); };
    demand(body.mass.has_value() != body.density.has_value() && (positive(body.mass) || positive(body.density)),
           fmt::format("body '{}' needs a mass or a density > 0, not both", body.name), place);
    demand(!body.density || !body.shapes.empty(),
           fmt::format("body '{}' has a density but no shapes to fill with it", body.name), place);
    if (body.inertia) {
        const Mat3& J = *body.inertia;
        demand(J.allFinite() && J.isApprox(J.transpose()) && J(0, 0) > 0 && J(0, 0) * J(1, 1) - J(0, 1) * J(0, 1) > 0 &&
                   J.determinant() > 0,
               fmt::format("the inertia of body '{}' must be symmetric and positive", body.name), place);
    }
}

void check_drive(const Scene::Joint& joint, const Scene::Drive& drive) {
    const Place& place = drive.place.file.empty() ? joint.place : drive.place;
    demand(drive.coordinate >= 0 && drive.coordinate < std::ssize(joint_coordinates(joint.kind)),
           fmt::format("joint '{}' has no coordinate number {}", joint.name, drive.coordinate), place);
    demand(drive.lower < drive.upper, fmt::format("the lower limit of '{}' must be below the upper one", joint.name),
           place);
    demand(joint.kind == Kind::distance || (drive.start >= drive.lower && drive.start <= drive.upper),
           fmt::format("joint '{}' starts outside its limits", joint.name), place);
    demand(!drive.motor || (drive.motor->time_constant > 0 && drive.motor->most.value_or(0) >= 0),
           fmt::format("the motor of '{}' needs a time constant > 0 and a largest force >= 0", joint.name), place);
}

void check_joint(const Scene& scene, const Scene::Joint& joint) {
    const Place& place = joint.place;
    check_name(joint.name, "joint", place);
    const JointEntry& entry = joint_entry(static_cast<JointKind>(joint.kind));
    demand(scene.plane == Scene::Plane::none || entry.rows_in_plane > 0,
           fmt::format("a {} joint needs space, the scene is in a plane", entry.name), place);
    if (joint.kind == Kind::gear || joint.kind == Kind::rack_pinion) {
        joint_index(scene, joint.first);
        joint_index(scene, joint.second);
        gear_coordinates(scene, joint, static_cast<int>(scene.joints.size()));
        demand(joint.ratio != 0 && std::isfinite(joint.ratio),
               fmt::format("joint '{}' needs a finite ratio other than zero", joint.name), place);
        demand(joint.drives.empty(), fmt::format("joint '{}' is a gear, which has no drives", joint.name), place);
        return;
    }
    body_index(scene, joint.a);
    body_index(scene, joint.b);
    demand(joint.a.text != joint.b.text, fmt::format("joint '{}' joins '{}' with itself", joint.name, joint.a.text),
           place);
    check_movable(scene, joint.a, joint.b, fmt::format("joint '{}'", joint.name));
    if (joint.kind == Kind::point_on_curve) {
        demand(joint.at.has_value() != joint.at_b.has_value() && !joint.at_a && joint.drives.empty(),
               fmt::format("joint '{}' needs 'at' or 'at_b', and has no drives", joint.name), place);
        Curve(joint.points, joint.closed);  // throws if they make no curve
        return;
    }
    demand(joint.at_a.has_value() == joint.at_b.has_value() && !(joint.at && joint.at_a) &&
               (joint.at || joint.at_a || joint.kind == Kind::fixed),
           fmt::format("joint '{}' needs 'at', or both 'at_a' and 'at_b'", joint.name), place);
    demand(joint.kind != Kind::distance || joint.at_a,
           fmt::format("distance joint '{}' needs 'at_a' and 'at_b'", joint.name), place);
    demand(std::abs(joint.axis.norm() - 1) < 1e-9, fmt::format("the axis of '{}' must be a unit vector", joint.name),
           place);
    demand(joint.kind != Kind::universal ||
               (std::abs(joint.axis_b.norm() - 1) < 1e-9 && std::abs(joint.axis.dot(joint.axis_b)) < 1e-6),
           fmt::format("the axes of '{}' must be unit vectors at right angles", joint.name), place);
    demand(!joint.length || *joint.length > 0, fmt::format("joint '{}' needs a length > 0 [m]", joint.name), place);
    for (const Scene::Drive& drive : joint.drives) check_drive(joint, drive);
}

}  // namespace

void check_edit(const Scene& scene, const Edit& edit) {
    if (edit.body) check_body(scene, *edit.body);
    demand(!edit.pose || (edit.pose->position.allFinite() && std::abs(edit.pose->attitude.norm() - 1) < 1e-6),
           "expected a finite pose with a unit quaternion", edit.place);
    for (const std::optional<Vec3>& x : {edit.velocity, edit.angular_velocity})
        demand(!x || x->allFinite(), "expected finite velocities", edit.place);
    demand(edit.kind != Edit::Kind::attach || edit.joint.has_value(), "attaching needs a joint", edit.place);
    if (edit.joint) check_joint(scene, *edit.joint);
    demand(edit.kind != Edit::Kind::drive || edit.speed || edit.position || edit.most || edit.time_constant ||
               edit.friction || edit.brake,
           fmt::format("driving '{}' has nothing to change", edit.name.text), edit.place);
    demand(edit.most.value_or(0) >= 0 && edit.friction.value_or(0) >= 0 && edit.time_constant.value_or(1) > 0,
           "a largest force and friction must be >= 0, a time constant > 0", edit.place);
}

}  // namespace stickslip
