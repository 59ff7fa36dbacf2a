// Scene -> System and initial state. Everything body-fixed is moved from the body frame to the centre of mass here,
// and nowhere else.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "base/paths.hpp"
#include "model/multibody.hpp"
#include "scene/formula.hpp"
#include "scene/reader.hpp"
#include "stickslip/load.hpp"

namespace stickslip {

namespace {

Shape build_shape(const Scene::Shape& shape, const Vec3& com) {
    Shape built;
    built.pose_B = shape.pose;
    built.pose_B.position -= com;
    switch (shape.kind) {
        case Scene::Shape::Kind::sphere: built.geometry = Sphere{shape.radius}; break;
        case Scene::Shape::Kind::box: built.geometry = Box{shape.edges / 2}; break;
        case Scene::Shape::Kind::capsule: built.geometry = Capsule{shape.radius, shape.length}; break;
        case Scene::Shape::Kind::half_space: built.geometry = HalfSpace{shape.normal, shape.offset}; break;
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

class Builder {
public:
    explicit Builder(const Scene& scene) : scene_(scene) {
        model_.gravity = scene.gravity;
        model_.facets = scene.contacts.facets;
        if (scene.plane == Scene::Plane::xy) model_.plane = {0, 1};
        if (scene.plane == Scene::Plane::xz) model_.plane = {0, 2};
        if (scene.plane == Scene::Plane::yz) model_.plane = {1, 2};
        if (model_.plane) normal_ = Vec3::Unit(3 - (*model_.plane)[0] - (*model_.plane)[1]);
        materials();
        for (const Scene::Body& body : scene.bodies) add_body(body);
        for (const Scene::Joint& joint : scene.joints) add_joint(joint);
        for (const Scene::Spring& spring : scene.springs) add_spring(spring);
        for (const Scene::TorsionSpring& spring : scene.torsion_springs) add_torsion_spring(spring);
        for (const Scene::Bushing& bushing : scene.bushings) add_bushing(bushing);
        for (const Scene::Drag& drag : scene.drags) add_drag(drag);
        for (const Scene::Load& load : scene.loads) add_load(load);
        auto& ignored = model_.collision.ignored_bodies;
        std::sort(ignored.begin(), ignored.end());
        ignored.erase(std::unique(ignored.begin(), ignored.end()), ignored.end());
    }

    MultibodyModel take() { return std::move(model_); }

private:
    void materials() {
        const int n = static_cast<int>(scene_.materials.size());
        model_.materials = n;
        for (const Scene::Material& a : scene_.materials)
            for (const Scene::Material& b : scene_.materials)
                model_.surface.push_back({std::sqrt(a.friction * b.friction), std::max(a.restitution, b.restitution)});
        for (const Scene::Pair& pair : scene_.contacts.pairs) {
            const int a = material_index(scene_, pair.a), b = material_index(scene_, pair.b);
            for (const int k : {a * n + b, b * n + a}) {
                if (pair.friction) model_.surface[k].friction = *pair.friction;
                if (pair.restitution) model_.surface[k].restitution = *pair.restitution;
            }
        }
    }

    void add_body(const Scene::Body& body) {
        RigidBody built = build_body(body);
        if (model_.plane && !body.fixed) check_planar(body, built);
        for (std::size_t i = 0; i < body.shapes.size(); ++i) {
            const auto id = static_cast<std::uint32_t>(model_.collision.colliders.size());
            model_.collision.colliders.push_back(
                {id, static_cast<int>(model_.bodies.size()), build_shape(body.shapes[i], built.com)});
            model_.material.push_back(material_index(scene_, body.shapes[i].material));
            model_.collider_names.push_back(body.shapes.size() == 1 ? body.name : fmt::format("{}.{}", body.name, i));
        }
        model_.bodies.push_back(std::move(built));
    }

    void check_planar(const Scene::Body& body, const RigidBody& built) const {
        const Quat& R = built.pose.attitude;
        const Vec3 tilt = R.vec() - normal_ * normal_.dot(R.vec());
        if (tilt.norm() > 1e-12)
            throw Error(fmt::format("body '{}' is turned out of the plane {}", body.name, to_string(scene_.plane)),
                        body.place);
        if (std::abs(body.velocity.dot(normal_)) > 0 ||
            (body.angular_velocity - normal_ * normal_.dot(body.angular_velocity)).norm() > 0)
            throw Error(fmt::format("body '{}' moves out of the plane {}", body.name, to_string(scene_.plane)),
                        body.place);
    }

    // Pose of a body's own frame at t = 0.
    Pose frame(int body) const { return body < 0 ? Pose{} : scene_.bodies[static_cast<std::size_t>(body)].pose; }
    // A point of the body frame, seen from the centre of mass.
    Vec3 from_com(int body, const Vec3& point) const {
        return body < 0 ? point : Vec3(point - model_.bodies[static_cast<std::size_t>(body)].com);
    }
    Vec3 in_frame(int body, const Vec3& world) const {
        const Pose pose = frame(body);
        return pose.attitude.normalized().conjugate() * (world - pose.position);
    }
    Vec3 in_world(int body, const Vec3& point) const { return frame(body) * point; }

    void add_joint(const Scene::Joint& joint) {
        Joint built;
        built.name = joint.name;
        built.kind = static_cast<JointKind>(joint.kind);
        built.id = static_cast<std::uint32_t>(model_.joints.size());
        if (built.kind == JointKind::gear || built.kind == JointKind::rack_pinion) {
            add_gear(joint, std::move(built));
            return;
        }
        built.a = body_index(scene_, joint.a);
        built.b = body_index(scene_, joint.b);
        if (built.kind == JointKind::point_on_curve) {
            add_curve(joint, std::move(built));
            return;
        }
        Vec3 at_a, at_b;
        if (joint.at) {
            at_a = in_frame(built.a, *joint.at);
            at_b = in_frame(built.b, *joint.at);
        } else if (joint.at_a) {
            at_a = *joint.at_a;
            at_b = *joint.at_b;
        } else {
            const int seat = built.b >= 0 ? built.b : built.a;
            at_a = in_frame(built.a, frame(seat).position);
            at_b = in_frame(built.b, frame(seat).position);
        }
        const Vec3 apart = in_world(built.b, at_b) - in_world(built.a, at_a);
        built.point_a = from_com(built.a, at_a);
        built.point_b = from_com(built.b, at_b);
        check_anchors(joint, apart, built);
        // World axes at t = 0, carried by each body.
        const Mat3 axes = joint_axes(joint);
        built.axes_a = frame(built.a).attitude.normalized().conjugate().toRotationMatrix() * axes;
        built.axes_b = frame(built.b).attitude.normalized().conjugate().toRotationMatrix() * axes;
        for (const Scene::Drive& drive : joint.drives) {
            built.drives.push_back(build_drive(drive));
            built.offset[static_cast<std::size_t>(drive.coordinate)] += drive.start;
        }
        if (built.kind == JointKind::prismatic) built.offset[0] -= joint.axis.dot(apart);
        if (built.kind == JointKind::cylindrical) built.offset[1] -= joint.axis.dot(apart);
        if (!joint.collide) model_.collision.ignored_bodies.push_back(std::minmax(built.a, built.b));
        model_.joints.push_back(std::move(built));
    }

    void add_curve(const Scene::Joint& joint, Joint built) {
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
        if (!joint.collide) model_.collision.ignored_bodies.push_back(std::minmax(built.a, built.b));
        model_.joints.push_back(std::move(built));
    }

    // Points that must meet do, up to what rounding of written poses leaves.
    void check_anchors(const Scene::Joint& joint, const Vec3& apart, Joint& built) const {
        using Kind = Scene::Joint::Kind;
        switch (joint.kind) {
            case Kind::distance:
                built.length = joint.length.value_or(apart.norm());
                built.rigid = joint.drives.empty();
                for (const Scene::Drive& drive : joint.drives)
                    if (apart.norm() < drive.lower - 1e-9 || apart.norm() > drive.upper + 1e-9)
                        throw Error(
                            fmt::format("distance joint '{}' is {:.6g} m long at t = 0, outside its limits [{}, {}]",
                                        joint.name, apart.norm(), drive.lower, drive.upper),
                            drive.limits_place);
                if (!built.rigid) return;
                if (built.length <= 0)
                    throw Error(fmt::format("distance joint '{}' has length zero: use a ball joint", joint.name),
                                joint.place);
                return check_closed(joint, std::abs(apart.norm() - built.length));
            case Kind::prismatic:
            case Kind::cylindrical: return check_closed(joint, (apart - joint.axis * joint.axis.dot(apart)).norm());
            case Kind::planar: return check_closed(joint, std::abs(joint.axis.dot(apart)));
            default: check_closed(joint, apart.norm());
        }
    }

    Drive build_drive(const Scene::Drive& drive) const {
        Drive built;
        built.coordinate = drive.coordinate;
        built.lower = drive.lower;
        built.upper = drive.upper;
        built.restitution = drive.restitution;
        if (drive.motor) {
            built.motor = Motor{drive.motor->position, function(drive.motor->target), drive.motor->time_constant,
                                drive.motor->most.value_or(infinity)};
        }
        if (drive.friction) built.friction = TimeFunction::constant(*drive.friction);
        if (drive.brake) built.brake = function(*drive.brake);
        return built;
    }

    void add_gear(const Scene::Joint& gear, Joint built) {
        const int first = joint_index(scene_, gear.first), second = joint_index(scene_, gear.second);
        const auto [c1, c2] = gear_coordinates(scene_, gear);
        built.of = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)};
        built.of_coordinate = {c1, c2};
        built.ratio = gear.ratio;
        const auto start = [&](int joint, int coordinate) {
            for (const Scene::Drive& drive : scene_.joints[static_cast<std::size_t>(joint)].drives)
                if (drive.coordinate == coordinate) return drive.start;
            return 0.0;
        };
        built.length = start(first, c1) - gear.ratio * start(second, c2);
        model_.joints.push_back(std::move(built));
    }

    Mat3 joint_axes(const Scene::Joint& joint) const {
        using Kind = Scene::Joint::Kind;
        Vec3 any = Vec3::UnitX();
        if (std::abs(joint.axis.x()) > 0.6) any = Vec3::UnitY();
        if (joint.kind == Kind::universal) {  // z is the axis of a, x that of b
            Mat3 axes;
            axes << joint.axis_b, joint.axis.cross(joint.axis_b), joint.axis;
            return axes;
        }
        if (!model_.plane) return axes_with_z(joint.axis, any);
        const int first = (*model_.plane)[0];
        switch (joint.kind) {
            case Kind::revolute:
                if (joint.axis.cross(normal_).norm() > 1e-9)
                    throw Error(
                        fmt::format("in the plane {} the axis of revolute joint '{}' must be the plane's normal",
                                    to_string(scene_.plane), joint.name),
                        joint.place);
                return axes_with_z(joint.axis, Vec3::Unit(first));
            case Kind::prismatic:
                if (std::abs(joint.axis.dot(normal_)) > 1e-9)
                    throw Error(fmt::format("in the plane {} the axis of prismatic joint '{}' must lie in the plane",
                                            to_string(scene_.plane), joint.name),
                                joint.place);
                return axes_with_z(joint.axis, normal_);
            default: return axes_with_z(normal_, Vec3::Unit(first));
        }
    }

    void check_closed(const Scene::Joint& joint, double error) const {
        // Larger than what rounding of written poses leaves, smaller than what anyone would call closed.
        if (error > 1e-6)
            throw Error(
                fmt::format("joint '{}' is not closed at t = 0: its points are {:.3g} m apart", joint.name, error),
                joint.place);
    }

    void add_spring(const Scene::Spring& spring) {
        Spring built;
        built.name = spring.name;
        built.id = elements_++;
        built.a = body_index(scene_, spring.a);
        built.b = body_index(scene_, spring.b);
        built.point_a = from_com(built.a, spring.at_a);
        built.point_b = from_com(built.b, spring.at_b);
        built.stiffness = spring.stiffness;
        built.damping = spring.damping;
        built.length = spring.length.value_or((in_world(built.b, spring.at_b) - in_world(built.a, spring.at_a)).norm());
        model_.springs.push_back(std::move(built));
    }

    void add_torsion_spring(const Scene::TorsionSpring& spring) {
        Joint& joint = model_.joints[static_cast<std::size_t>(joint_index(scene_, spring.joint))];
        Drive drive;
        drive.coordinate = spring.coordinate;
        drive.stiffness = spring.stiffness;
        drive.damping = spring.damping;
        drive.rest = spring.rest;
        drive.spring_name = spring.name;
        drive.spring_id = elements_++;
        joint.drives.push_back(std::move(drive));
    }

    void add_bushing(const Scene::Bushing& bushing) {
        Bushing built;
        built.name = bushing.name;
        built.id = elements_++;
        built.a = body_index(scene_, bushing.a);
        built.b = body_index(scene_, bushing.b);
        built.point_a = from_com(built.a, in_frame(built.a, bushing.at));
        built.point_b = from_com(built.b, in_frame(built.b, bushing.at));
        built.axes_a = frame(built.a).attitude.normalized().conjugate().toRotationMatrix();
        built.axes_b = frame(built.b).attitude.normalized().conjugate().toRotationMatrix();
        for (int i = 0; i < 6; ++i) {
            built.stiffness[static_cast<std::size_t>(i)] = bushing.stiffness[i];
            built.damping[static_cast<std::size_t>(i)] = bushing.damping[i];
        }
        model_.bushings.push_back(std::move(built));
    }

    void add_drag(const Scene::Drag& drag) {
        model_.drags.push_back({drag.name, body_index(scene_, drag.body), drag.linear, drag.quadratic, drag.angular});
    }

    void add_load(const Scene::Load& load) {
        Load built;
        built.name = load.name;
        built.body = body_index(scene_, load.body);
        built.point = load.at ? from_com(built.body, *load.at) : Vec3::Zero();
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
        model_.loads.push_back(std::move(built));
    }

    static TimeFunction function(const Scene::Formula& formula) {
        return formula.value ? TimeFunction::constant(*formula.value) : TimeFunction::of(compile_formula(formula));
    }

    const Scene& scene_;
    MultibodyModel model_;
    Vec3 normal_ = Vec3::Zero();
    std::uint32_t elements_ = 0;  // springs and bushings so far
};

// A solver that cannot take the scene's cone is wrong input, not something to find out in the first step.
void check_cone(const Scene& scene) {
    if (scene.plane != Scene::Plane::none || scene.contacts.facets > 0) return;  // intervals and polygons
    const bool friction =
        std::any_of(scene.materials.begin(), scene.materials.end(), [](const auto& m) { return m.friction > 0; }) ||
        std::any_of(scene.contacts.pairs.begin(), scene.contacts.pairs.end(),
                    [](const auto& p) { return p.friction.value_or(0) > 0; });
    for (const SolverEntry& entry : solvers()) {
        if (scene.run.solver.name == entry.name && !entry.disc && friction)
            throw Error(
                fmt::format(
                    "solver '{}' does not take the disc cone: set contacts.cone: {{polygon: 8}}, or use auto or nsgs",
                    entry.name),
                scene.run.solver.place);
    }
}

}  // namespace

Model build_model(const Scene& scene) {
    auto system = std::make_unique<MultibodySystem>(Builder(scene).take());
    std::vector<Vec3> velocity, angular_velocity;
    for (const Scene::Body& body : scene.bodies) {
        velocity.push_back(body.velocity);
        angular_velocity.push_back(body.angular_velocity);
    }
    Model model;
    model.state = system->initial_state(velocity, angular_velocity);
    if (model.state.v.size() == 0) throw Error("no body of the scene can move", Place{scene.file, 1, 1});
    model.system = std::move(system);
    model.source = scene.text;
    const Scene::Run& run = scene.run;
    check_cone(scene);
    model.run.scheme = {run.scheme.name, run.scheme.options, run.scheme.place};
    if (run.step) model.run.scheme.options.push_back({"step", run.step->text, run.step->place});
    model.run.solver = {run.solver.name, run.solver.options, run.solver.place};
    model.run.certify = run.policy == Scene::Policy::certify;
    if (run.end) model.run.end = *run.end;
    model.run.record_every = run.record.every.value_or(0);
    model.run.csv = run.record.csv;
    return model;
}

}  // namespace stickslip
