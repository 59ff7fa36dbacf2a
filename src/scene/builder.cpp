// The parts of a model. Everything body-fixed is moved from the body frame to the centre of mass here,
// and nowhere else.
#include "scene/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "scene/formula.hpp"
#include "scene/reader.hpp"

namespace stickslip {

namespace {

// A shape of the scene as geometry, by its kind.
Geometry geometry_of(const Scene::Shape& shape) {
    if (shape.kind == Sphere::name) return Sphere{shape.radius};
    if (shape.kind == Box::name) return Box{shape.edges / 2};
    if (shape.kind == Capsule::name) return Capsule{shape.radius, shape.length};
    if (shape.kind == HalfSpace::name) return HalfSpace{shape.normal, shape.offset};
    if (shape.kind == Hull::name) {
        std::vector<Vec3> points = shape.points;
        for (Vec3& point : points) point *= shape.scale;
        return Hull(convex_hull(points));
    }
    throw unknown_name("kind of shape", shape.kind, {}, shape.place);
}

Shape build_shape(const Scene::Shape& shape, const Vec3& com) {
    Shape built;
    built.pose_B = shape.pose;
    built.pose_B.position -= com;
    try {
        built.geometry = geometry_of(shape);
    } catch (const Error& error) {
        throw error.place().line > 0 ? error : Error(error.what(), shape.place);
    }
    return built;
}

RigidBody build_body(const Scene::Body& body) {
    RigidBody built;
    built.name = body.name;
    built.fixed = body.fixed;
    std::vector<Shape> solids;
    for (const Scene::Shape& shape : body.shapes) {
        const Shape solid = build_shape(shape, Vec3::Zero());
        if (has_mass(solid)) solids.push_back(solid);
    }
    MassProperties of_shapes;
    if (!solids.empty()) of_shapes = mass_properties(solids);
    built.com = body.com.value_or(of_shapes.centroid);
    built.pose = {body.pose * built.com, body.pose.attitude.normalized()};
    if (body.fixed) return built;
    built.mass = body.mass ? *body.mass : *body.density * of_shapes.mass;
    if (body.inertia) {
        built.inertia = *body.inertia;
    } else {
        if (solids.empty())
            throw Error(fmt::format("body '{}' needs `inertia`, or shapes with volume to take it from", body.name),
                        body.place);
        const double density = built.mass / of_shapes.mass;
        built.inertia = density * of_shapes.inertia + parallel_axis(built.mass, of_shapes.centroid - built.com);
    }
    for (const Shape& solid : solids) built.radius = std::max(built.radius, bounding_radius(solid, built.com));
    return built;
}

// Right-handed axes whose z is the given direction.
Mat3 axes_with_z(const Vec3& z, const Vec3& y_wish) {
    Mat3 axes;
    axes.col(2) = z.normalized();
    Vec3 y = y_wish - axes.col(2) * axes.col(2).dot(y_wish);
    axes.col(1) = y.normalized();
    axes.col(0) = axes.col(1).cross(axes.col(2));
    return axes;
}

TimeFunction function(const Scene::Formula& formula) {
    if (formula.value) return TimeFunction::constant(*formula.value);
    const std::string place = formula.place.text();
    return TimeFunction::of(compile_formula(formula),
                            fmt::format("{}'{}'", place.empty() ? place : place + ": ", formula.text),
                            compile_switches(formula));
}

Drive build_drive(const Scene::Drive& drive) {
    Drive built;
    built.coordinate = drive.coordinate;
    built.lower = drive.lower;
    built.upper = drive.upper;
    built.restitution = drive.restitution;
    if (drive.motor) {
        const Scene::Drive::Motor& motor = *drive.motor;
        built.motor = Motor{motor.position.has_value(), function(motor.position ? *motor.position : *motor.speed),
                            motor.time_constant, motor.max_effort.value_or(infinity)};
    }
    if (drive.friction) built.friction = TimeFunction::constant(*drive.friction);
    if (drive.brake) built.brake = function(*drive.brake);
    return built;
}

Load build_load(const Scene& scene, const Scene::Load& load, const MultibodyModel& model) {
    Load built;
    built.name = load.name;
    built.body = body_index(scene, load.body);
    if (load.at) built.point = *load.at - model.bodies[built.body].com;
    built.from = load.from;
    built.until = load.until;
    for (int i = 0; i < 3; ++i) {
        if (!load.table.empty()) {
            std::vector<std::pair<double, double>> entries;
            for (const Scene::Load::Row& row : load.table) entries.emplace_back(row.t, row.force[i]);
            built.force[i] =
                TimeFunction::table(std::move(entries), load.interpolation == Scene::Load::Interpolation::step);
        } else {
            built.force[i] = function(load.force[i]);
        }
        built.torque[i] = function(load.torque[i]);
    }
    return built;
}

// The entry with this index, the next one if it is new.
template <class T>
T& entry(std::vector<T>& list, int index) {
    if (index == static_cast<int>(list.size())) list.emplace_back();
    return list[index];
}

}  // namespace

Builder::Builder(const Scene& scene, const Standing& standing, const Placement& placement, MultibodyModel& model)
    : scene_(scene), standing_(standing), placement_(placement), model_(model) {
    if (scene.plane != Scene::Plane::none) normal_ = Vec3::Unit(plane_normal(scene.plane));
}

void Builder::make_everything() {
    model_.gravity = scene_.gravity;
    model_.facets = scene_.contacts.facets;
    if (scene_.plane == Scene::Plane::xy) model_.plane = {0, 1};
    if (scene_.plane == Scene::Plane::xz) model_.plane = {0, 2};
    if (scene_.plane == Scene::Plane::yz) model_.plane = {1, 2};
    make_materials();
    for (int i = 0; i < std::ssize(scene_.bodies); ++i) make_body(i);
    for (int i = 0; i < std::ssize(scene_.joints); ++i) make_joint(i);
    for (int i = 0; i < std::ssize(scene_.springs); ++i) make_spring(i);
    for (int i = 0; i < std::ssize(scene_.bushings); ++i) make_bushing(i);
    for (const Scene::Drag& drag : scene_.drags)
        model_.drags.push_back({drag.name, body_index(scene_, drag.body), drag.linear, drag.quadratic, drag.angular});
    for (const Scene::Load& load : scene_.loads) model_.loads.push_back(build_load(scene_, load, model_));
    ignore_joined({});
}

void Builder::ignore_joined(const std::vector<std::pair<int, int>>& also) {
    auto& ignored = model_.collision.ignored_bodies;
    ignored = also;
    for (std::size_t j = 0; j < model_.joints.size(); ++j) {
        const Joint& joint = model_.joints[j];
        if (joint.present && !joint.kind->is_gear() && !scene_.joints[j].collide)
            ignored.push_back(std::minmax(joint.a, joint.b));
    }
    std::sort(ignored.begin(), ignored.end());
    ignored.erase(std::unique(ignored.begin(), ignored.end()), ignored.end());
}

void Builder::make_materials() {
    const int n = static_cast<int>(scene_.materials.size());
    model_.materials = n;
    for (const Scene::Material& a : scene_.materials)
        for (const Scene::Material& b : scene_.materials)
            model_.surface.push_back({std::sqrt(a.friction * b.friction), std::max(a.restitution, b.restitution),
                                      std::max(a.tangential_restitution, b.tangential_restitution)});
    for (const Scene::Pair& pair : scene_.contacts.pairs) {
        const int a = material_index(scene_, pair.a), b = material_index(scene_, pair.b);
        for (const int k : {a * n + b, b * n + a}) {
            if (pair.friction) model_.surface[k].friction = *pair.friction;
            if (pair.restitution) model_.surface[k].restitution = *pair.restitution;
            if (pair.tangential_restitution) model_.surface[k].tangential_restitution = *pair.tangential_restitution;
        }
    }
}

void Builder::make_body(int index) {
    const Scene::Body& body = scene_.bodies[index];
    RigidBody built = build_body(body);
    built.present = standing_.body(index);
    if (model_.plane && !body.fixed) check_planar(body, built);
    for (std::size_t i = 0; i < body.shapes.size() && index == std::ssize(model_.bodies); ++i) {
        const auto id = static_cast<std::uint32_t>(model_.collision.colliders.size());
        model_.collision.colliders.push_back({id, index, build_shape(body.shapes[i], built.com)});
        model_.material.push_back(material_index(scene_, body.shapes[i].material));
        model_.collider_names.push_back(body.shapes.size() == 1 ? body.name : fmt::format("{}.{}", body.name, i));
    }
    entry(model_.bodies, index) = std::move(built);
}

void Builder::check_planar(const Scene::Body& body, const RigidBody& built) const {
    const Quat& R = built.pose.attitude;
    const Vec3 tilt = R.vec() - normal_ * normal_.dot(R.vec());
    if (tilt.norm() > 1e-12)
        throw Error(fmt::format("body '{}' is turned out of the plane {}", body.name, to_string(scene_.plane)),
                    body.place);
    if (std::abs(body.velocity.dot(normal_)) > 0 ||
        (body.angular_velocity - normal_ * normal_.dot(body.angular_velocity)).norm() > 0)
        throw Error(fmt::format("body '{}' moves out of the plane {}", body.name, to_string(scene_.plane)), body.place);
}

// A point of the body frame, seen from the centre of mass.
Vec3 Builder::from_com(int body, const Vec3& point) const {
    return body < 0 ? point : Vec3(point - model_.bodies[body].com);
}

Pose Builder::centre(int body) const {
    const Pose at = frame(body);
    return body < 0 ? at : Pose{at * model_.bodies[body].com, at.attitude};
}

Vec3 Builder::in_frame(int body, const Vec3& world) const {
    const Pose pose = frame(body);
    return pose.attitude.normalized().conjugate() * (world - pose.position);
}

Mat3 Builder::axes_in(int body, const Mat3& axes) const {
    return frame(body).attitude.normalized().conjugate().toRotationMatrix() * axes;
}

void Builder::make_joint(int index) {
    const Scene::Joint& joint = scene_.joints[index];
    Joint& built = entry(model_.joints, index);
    built = {};
    built.name = joint.name;
    built.kind = &joint_kind(joint.kind);
    built.id = static_cast<std::uint32_t>(index);
    built.present = standing_.joint(index) == Standing::Is::there;
    if (built.kind->is_gear()) return make_gear(joint, index, built);
    built.a = body_index(scene_, joint.a);
    built.b = body_index(scene_, joint.b);
    make_drives(index);
    for (const Scene::Drive& drive : joint.drives) built.offset[drive.coordinate] += drive.start;
    if (built.kind->tie == JointKind::Tie::own_slide_to_angle) tie_to_itself(joint, built);
    if (!built.present) return;
    if (built.kind->is_curve()) return make_curve(joint, built);
    Vec3 at_a, at_b;
    if (joint.at) {
        at_a = in_frame(built.a, *joint.at);
        at_b = in_frame(built.b, *joint.at);
    } else if (joint.at_a || built.kind->anchor == JointKind::Anchor::ends) {
        at_a = joint.at_a.value_or(Vec3::Zero());
        at_b = joint.at_b.value_or(Vec3::Zero());
    } else {
        const int seat = built.b >= 0 ? built.b : built.a;
        at_a = in_frame(built.a, frame(seat).position);
        at_b = in_frame(built.b, frame(seat).position);
    }
    const Vec3 apart = in_world(built.b, at_b) - in_world(built.a, at_a);
    built.point_a = from_com(built.a, at_a);
    built.point_b = from_com(built.b, at_b);
    if (built.kind->anchor == JointKind::Anchor::ends) make_length(joint, apart, built);
    // World axes of now, carried by each body.
    const Mat3 axes = joint_axes(joint);
    built.axes_a = axes_in(built.a, axes);
    built.axes_b = axes_in(built.b, axes);
    check_closed(joint, opening(built));
    for (std::size_t c = 0; c < built.kind->coordinates.size(); ++c)
        if (built.kind->coordinates[c].measure == JointCoordinate::Measure::slide)
            built.offset[c] -= joint.axis.dot(apart);
}

// slide = pitch/(2 pi) angle, from what both are at the start.
void Builder::tie_to_itself(const Scene::Joint& joint, Joint& built) const {
    built.of = {built.id, built.id};
    for (int c = 0; c < std::ssize(built.kind->coordinates); ++c)
        built.of_coordinate[built.kind->coordinates[c].turns() ? 1 : 0] = c;
    built.ratio = joint.pitch / (2 * std::numbers::pi);
    built.length = built.offset[built.of_coordinate[0]] - built.ratio * built.offset[built.of_coordinate[1]];
}

void Builder::make_curve(const Scene::Joint& joint, Joint& built) const {
    const Vec3 at_b = joint.at ? in_frame(built.b, *joint.at) : *joint.at_b;
    built.point_b = from_com(built.b, at_b);
    std::vector<Vec3> points;
    for (const Vec3& point : joint.points) points.push_back(from_com(built.a, point));
    const Quat turn_a = frame(built.a).attitude.normalized();
    if (model_.plane) {
        for (const Vec3& point : joint.points)
            if (std::abs(normal_.dot(turn_a * (point - joint.points.front()))) > 1e-9)
                throw Error(
                    fmt::format("the curve of joint '{}' leaves the plane {}", joint.name, to_string(scene_.plane)),
                    joint.place);
    }
    built.curve = std::make_shared<const Curve>(points, joint.closed, turn_a.conjugate() * normal_);
    const Vec3 point = from_com(built.a, in_frame(built.a, in_world(built.b, at_b)));
    built.offset[0] = built.curve->nearest(point);
    Vec3 off = point - built.curve->at(built.offset[0]).c;
    if (model_.plane) off -= turn_a.conjugate() * normal_ * normal_.dot(turn_a * off);
    check_closed(joint, off.norm());
}

void Builder::make_drives(int index) {
    const Scene::Joint& joint = scene_.joints[index];
    Joint& built = model_.joints[index];
    built.drives.clear();
    for (const Scene::Drive& drive : joint.drives) built.drives.push_back(build_drive(drive));
    for (std::size_t i = 0; i < scene_.torsion_springs.size(); ++i) {
        const Scene::TorsionSpring& spring = scene_.torsion_springs[i];
        if (joint_index(scene_, spring.joint) != index) continue;
        Drive& drive = built.drives.emplace_back();
        const bool gone = standing_.torsion_spring(static_cast<int>(i)) == Standing::Is::gone;
        drive.coordinate = spring.coordinate;
        drive.stiffness = gone ? 0 : spring.stiffness;
        drive.damping = gone ? 0 : spring.damping;
        drive.rest = spring.rest;
        drive.spring_name = spring.name;
        drive.spring_id = static_cast<std::uint32_t>(scene_.springs.size() + i);
    }
}

void Builder::make_length(const Scene::Joint& joint, const Vec3& apart, Joint& built) const {
    built.length = joint.length.value_or(apart.norm());
    built.rigid = joint.drives.empty();
    for (const Scene::Drive& drive : joint.drives)
        if (apart.norm() < drive.lower - 1e-9 || apart.norm() > drive.upper + 1e-9)
            throw Error(fmt::format("distance joint '{}' is {:.6g} m long at t = {:.6g}, outside its limits [{}, {}]",
                                    joint.name, apart.norm(), placement_.t, drive.lower, drive.upper),
                        drive.limits_place);
    if (built.rigid && built.length <= 0)
        throw Error(fmt::format("distance joint '{}' has length zero: use a ball joint", joint.name), joint.place);
}

// [m] How far the points of a joint are from where its rows want them. In a plane too, all three directions count.
double Builder::opening(const Joint& joint) const {
    const JointFrames at = joint_frames(centre(joint.a), centre(joint.b), joint.point_a, joint.point_b);
    double sum = 0;
    const Freedom in_space{{Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()}, std::nullopt};
    for (const Piece& piece : joint_pieces(joint, in_space)) {
        if (piece.kind == PieceKind::right_angle || piece.kind == PieceKind::turn) continue;
        const double value = evaluate(piece, at, joint.length).value;
        sum += value * value;
    }
    return std::sqrt(sum);
}

void Builder::make_gear(const Scene::Joint& gear, int index, Joint& built) {
    const int first = last_joint(scene_, gear.first.text, index), second = last_joint(scene_, gear.second.text, index);
    const auto [c1, c2] = gear_coordinates(scene_, gear, index);
    built.of = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)};
    built.of_coordinate = {c1, c2};
    built.ratio = gear.ratio;
    if (built.present) built.length = placement_.coordinate(first, c1) - gear.ratio * placement_.coordinate(second, c2);
}

Mat3 Builder::joint_axes(const Scene::Joint& joint) const {
    using Axes = JointKind::Axes;
    const JointKind& kind = joint_kind(joint.kind);
    Vec3 any = Vec3::UnitX();
    if (std::abs(joint.axis.x()) > 0.6) any = Vec3::UnitY();
    if (kind.axes == Axes::pair) {  // z is the axis of a, x that of b
        Mat3 axes;
        axes << joint.axis_b, joint.axis.cross(joint.axis_b), joint.axis;
        return axes;
    }
    if (!model_.plane) return axes_with_z(joint.axis, any);
    const int first = (*model_.plane)[0];
    if (kind.axes == Axes::none) return axes_with_z(normal_, Vec3::Unit(first));
    const bool turns = kind.axes == Axes::turn;
    if (turns ? joint.axis.cross(normal_).norm() > 1e-9 : std::abs(joint.axis.dot(normal_)) > 1e-9)
        throw Error(fmt::format("in the plane {} the axis of {} joint '{}' must {}", to_string(scene_.plane), kind.name,
                                joint.name, turns ? "be the plane's normal" : "lie in the plane"),
                    joint.place);
    return turns ? axes_with_z(joint.axis, Vec3::Unit(first)) : axes_with_z(joint.axis, normal_);
}

void Builder::check_closed(const Scene::Joint& joint, double error) const {
    // Larger than what rounding of written poses leaves, smaller than what anyone would call closed.
    if (error > 1e-6)
        throw Error(fmt::format("joint '{}' is not closed at t = {:.6g}: its points are {:.3g} m apart", joint.name,
                                placement_.t, error),
                    joint.place);
}

void Builder::make_spring(int index) {
    const Scene::Spring& spring = scene_.springs[index];
    Spring& built = entry(model_.springs, index);
    built.name = spring.name;
    built.id = static_cast<std::uint32_t>(index);
    built.present = standing_.spring(index) == Standing::Is::there;
    built.a = body_index(scene_, spring.a);
    built.b = body_index(scene_, spring.b);
    built.point_a = from_com(built.a, spring.at_a);
    built.point_b = from_com(built.b, spring.at_b);
    built.stiffness = spring.stiffness;
    built.damping = spring.damping;
    built.length = spring.length.value_or((in_world(built.b, spring.at_b) - in_world(built.a, spring.at_a)).norm());
}

void Builder::make_bushing(int index) {
    const Scene::Bushing& bushing = scene_.bushings[index];
    Bushing& built = entry(model_.bushings, index);
    built.name = bushing.name;
    built.id = static_cast<std::uint32_t>(scene_.springs.size() + scene_.torsion_springs.size()) +
               static_cast<std::uint32_t>(index);
    built.present = standing_.bushing(index) == Standing::Is::there;
    built.a = body_index(scene_, bushing.a);
    built.b = body_index(scene_, bushing.b);
    built.point_a = from_com(built.a, in_frame(built.a, bushing.at));
    built.point_b = from_com(built.b, in_frame(built.b, bushing.at));
    built.axes_a = axes_in(built.a, Mat3::Identity());
    built.axes_b = axes_in(built.b, Mat3::Identity());
    for (int i = 0; i < 6; ++i) {
        built.stiffness[i] = bushing.stiffness[i];
        built.damping[i] = bushing.damping[i];
    }
}

}  // namespace stickslip
