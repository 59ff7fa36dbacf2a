// Joints, springs and loads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/joints/joint.hpp"
#include "scene/formula.hpp"
#include "scene/reader.hpp"

namespace stickslip {

namespace {

void check_map(const YamlNode& node, const char* what) {
    if (node.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected a map of {}, {{name: {{kind: {{...}}}}}}, found {}", what, node.describe()),
                    node.place());
}

// `at` in the world, or `at_a` and `at_b` in the bodies.
void read_anchor(const MapReader& map, const ValueReader& values, Scene::Joint& joint) {
    if (const YamlNode* at = map.find("at")) joint.at = values.vector(*at);
    if (const YamlNode* at = map.find("at_a")) joint.at_a = values.vector(*at);
    if (const YamlNode* at = map.find("at_b")) joint.at_b = values.vector(*at);
    if (joint.kind == Scene::Joint::Kind::point_on_curve) {
        map.not_both("at", "at_b");
        if (!joint.at && !joint.at_b)
            throw Error(fmt::format("{} needs the key 'at' (in the world) or 'at_b' (in the frame of b)", map.what()),
                        map.place());
        return;
    }
    map.not_both("at", "at_a");
    map.not_both("at", "at_b");
    if (joint.kind == Scene::Joint::Kind::distance) {
        if (!joint.at_a) joint.at_a = Vec3::Zero();
        if (!joint.at_b) joint.at_b = Vec3::Zero();
        return;
    }
    if (joint.at_a.has_value() != joint.at_b.has_value())
        throw Error(fmt::format("{} needs both 'at_a' and 'at_b', or 'at'", map.what()),
                    map.key_place(joint.at_a ? "at_a" : "at_b"));
    if (!joint.at && !joint.at_a && joint.kind != Scene::Joint::Kind::fixed)
        throw Error(
            fmt::format("{} needs the key 'at' (in the world), or 'at_a' and 'at_b' (in the bodies)", map.what()),
            map.place());
}

void read_axis(const MapReader& map, const ValueReader& values, const Scene& scene, Scene::Joint& joint) {
    const int normal = plane_normal(scene.plane);
    if (joint.kind == Scene::Joint::Kind::universal) {
        joint.axis = values.direction(map.need("axis"), "axis");
        const YamlNode& other = map.need("axis_b");
        joint.axis_b = values.direction(other, "axis_b");
        if (std::abs(joint.axis.dot(joint.axis_b)) > 1e-6)
            throw Error("the two axes of a universal joint must be at right angles", other.place());
        return;
    }
    const bool revolute = joint.kind == Scene::Joint::Kind::revolute;
    if (revolute && normal >= 0 && !map.find("axis")) {
        joint.axis = Vec3::Unit(normal);
        return;
    }
    const YamlNode& axis = map.need("axis");
    joint.axis = values.direction(axis, "axis");
    if (normal < 0) return;
    if (!revolute) check_in_plane(scene, joint.axis, "the axis of the prismatic joint", axis.place());
    if (revolute && std::abs(joint.axis[normal]) < 1 - 1e-9)
        throw Error(
            fmt::format("a revolute axis in the plane {} must be along {}", to_string(scene.plane), "xyz"[normal]),
            axis.place());
}

// Kinds that a planar scene cannot hold: their freedoms leave the plane.
void check_plane(const Scene& scene, const Scene::Joint& joint) {
    const JointEntry& entry = joint_entry(static_cast<JointKind>(joint.kind));
    if (scene.plane == Scene::Plane::none || entry.rows_in_plane > 0) return;
    throw Error(fmt::format("a {} joint needs space, the scene is in the plane {}: use revolute or prismatic",
                            entry.name, to_string(scene.plane)),
                joint.kind_place);
}

void read_curve(const MapReader& map, const ValueReader& values, Scene::Joint& joint) {
    const YamlNode& points = map.need("points");
    if (points.kind != YamlNode::Kind::list)
        throw Error(fmt::format("expected points [[x, y, z], ...] of the curve, found {}", points.describe()),
                    points.place());
    for (const YamlNode& point : points.children) joint.points.push_back(values.vector(point));
    if (const YamlNode* closed = map.find("closed")) joint.closed = values.truth(*closed);
    try {
        Curve(joint.points, joint.closed);
    } catch (const Error& error) {
        throw Error(error.what(), points.place());
    }
}

bool has_axis(Scene::Joint::Kind kind) {
    using Kind = Scene::Joint::Kind;
    return kind == Kind::revolute || kind == Kind::prismatic || kind == Kind::cylindrical || kind == Kind::universal ||
           kind == Kind::planar;
}

Scene::Spring read_spring(const std::string& name, const YamlNode& node, const Place& place, const Scene& scene) {
    const ValueReader values(scene.parameters);
    const MapReader map(node, fmt::format("spring '{}'", name), "spring");
    Scene::Spring spring;
    spring.name = name;
    spring.place = place;
    spring.a = read_body_name(map.need("a"), scene);
    spring.b = read_body_name(map.need("b"), scene);
    check_movable(scene, spring.a, spring.b, map.what());
    if (const YamlNode* at = map.find("at_a")) spring.at_a = values.vector(*at);
    if (const YamlNode* at = map.find("at_b")) spring.at_b = values.vector(*at);
    if (!map.find("stiffness") && !map.find("damping"))
        throw Error(fmt::format("{} needs 'stiffness' or 'damping'", map.what()), map.place());
    if (const YamlNode* stiffness = map.find("stiffness")) spring.stiffness = values.not_negative(*stiffness, "N/m");
    if (const YamlNode* damping = map.find("damping")) spring.damping = values.not_negative(*damping, "N s/m");
    if (const YamlNode* length = map.find("length")) spring.length = values.not_negative(*length, "m");
    return spring;
}

Scene::TorsionSpring read_torsion_spring(const std::string& name, const YamlNode& node, const Place& place,
                                         const Scene& scene) {
    const ValueReader values(scene.parameters);
    const MapReader map(node, fmt::format("torsion spring '{}'", name), "torsion-spring");
    Scene::TorsionSpring spring;
    spring.name = name;
    spring.place = place;
    const YamlNode& joint = map.need("joint");
    spring.joint = {values.word(joint, "the name of a joint"), joint.place()};
    const Scene::Joint& on = scene.joints[joint_index(scene, spring.joint)];
    const std::vector<std::string> coordinates = joint_coordinates(on.kind);
    if (coordinates.empty() || on.kind == Scene::Joint::Kind::distance)
        throw Error(fmt::format("a {} joint has no angle or slide for a spring", to_string(on.kind)), joint.place());
    if (const YamlNode* coordinate = map.find("coordinate"))
        spring.coordinate = values.choice(*coordinate, "coordinate", coordinates);
    if (!map.find("stiffness") && !map.find("damping"))
        throw Error(fmt::format("{} needs 'stiffness' or 'damping'", map.what()), map.place());
    if (const YamlNode* stiffness = map.find("stiffness"))
        spring.stiffness = values.not_negative(*stiffness, "N m/rad");
    if (const YamlNode* damping = map.find("damping")) spring.damping = values.not_negative(*damping, "N m s/rad");
    if (const YamlNode* rest = map.find("rest")) spring.rest = values.number(*rest);
    return spring;
}

// One number for all three axes, three numbers, or for both kinds six.
Vec6 read_six(const YamlNode& node, const ValueReader& values) {
    const std::vector<double> x =
        values.numbers(node, {6}, "six numbers: along x, y, z [N/m] and about x, y, z [N m/rad]");
    for (std::size_t i = 0; i < 6; ++i)
        if (!(x[i] >= 0)) throw Error("expected numbers that are not negative", node.place());
    return Eigen::Map<const Vec6>(x.data());
}

Scene::Bushing read_bushing(const std::string& name, const YamlNode& node, const Place& place, const Scene& scene) {
    const ValueReader values(scene.parameters);
    const MapReader map(node, fmt::format("bushing '{}'", name), "bushing");
    Scene::Bushing bushing;
    bushing.name = name;
    bushing.place = place;
    bushing.a = read_body_name(map.need("a"), scene);
    bushing.b = read_body_name(map.need("b"), scene);
    if (bushing.a.text == bushing.b.text)
        throw Error(fmt::format("{} joins '{}' with itself", map.what(), bushing.a.text), bushing.b.place);
    check_movable(scene, bushing.a, bushing.b, map.what());
    bushing.at = values.vector(map.need("at"));
    bushing.stiffness = read_six(map.need("stiffness"), values);
    if (const YamlNode* damping = map.find("damping")) bushing.damping = read_six(*damping, values);
    return bushing;
}

Scene::Drag read_drag(const std::string& name, const YamlNode& node, const Place& place, const Scene& scene) {
    const ValueReader values(scene.parameters);
    const MapReader map(node, fmt::format("drag '{}'", name), "drag");
    Scene::Drag drag;
    drag.name = name;
    drag.place = place;
    drag.body = read_body_name(map.need("body"), scene);
    check_movable(scene, drag.body, drag.body, map.what());
    if (!map.find("linear") && !map.find("quadratic") && !map.find("angular"))
        throw Error(fmt::format("{} needs 'linear', 'quadratic' or 'angular'", map.what()), map.place());
    if (const YamlNode* x = map.find("linear")) drag.linear = values.not_negative(*x, "N s/m");
    if (const YamlNode* x = map.find("quadratic")) drag.quadratic = values.not_negative(*x, "N s^2/m^2");
    if (const YamlNode* x = map.find("angular")) drag.angular = values.not_negative(*x, "N m s/rad");
    return drag;
}

void read_components(const YamlNode& node, const ValueReader& values, double from, Scene::Formula (&components)[3]) {
    if (node.kind != YamlNode::Kind::list || node.children.size() != 3)
        throw Error(
            fmt::format("expected 3 numbers or formulas of t, like [\"8*cos(t)\", 0, 0], found {}", node.describe()),
            node.place());
    for (std::size_t k = 0; k < 3; ++k) {
        components[k] = values.formula(node.children[k]);
        const double t = std::max(from, 0.0);
        const double value = compile_formula(components[k])(t);
        if (!std::isfinite(value))
            throw Error(fmt::format("the formula '{}' is {} at t = {}", node.children[k].text, value, t),
                        node.children[k].place());
    }
}

std::vector<Scene::Load::Row> read_table(const YamlNode& node, const ValueReader& values) {
    if (node.kind != YamlNode::Kind::list || node.children.empty())
        throw Error(fmt::format("expected rows [[t, fx, fy, fz], ...], found {}", node.describe()), node.place());
    std::vector<Scene::Load::Row> rows;
    for (const YamlNode& item : node.children) {
        const std::vector<double> x = values.numbers(item, {4}, "a row [t, fx, fy, fz]");
        if (!rows.empty() && x[0] <= rows.back().t)
            throw Error(fmt::format("times must increase: {} after {}", x[0], rows.back().t), item.place());
        rows.push_back({x[0], Vec3(x[1], x[2], x[3])});
    }
    return rows;
}

Scene::Load read_load(const std::string& name, const YamlNode& node, const Place& place, const Scene& scene) {
    const ValueReader values(scene.parameters);
    const MapReader map(node, fmt::format("load '{}'", name), "load");
    Scene::Load load;
    load.name = name;
    load.place = place;
    load.body = read_body_name(map.need("body"), scene);
    check_movable(scene, load.body, load.body, map.what());
    if (const YamlNode* at = map.find("at")) load.at = values.vector(*at);
    if (const YamlNode* from = map.find("from")) load.from = values.number(*from);
    if (const YamlNode* until = map.find("until")) load.until = values.number(*until);
    if (!(load.from < load.until))
        throw Error(fmt::format("'until' must come after 'from', found {} and {}", load.until, load.from),
                    map.key_place("until"));

    map.not_both("force", "table");
    if (!map.find("force") && !map.find("table") && !map.find("torque"))
        throw Error(fmt::format("{} needs 'force', 'torque' or 'table'", map.what()), map.place());
    if (const YamlNode* force = map.find("force")) read_components(*force, values, load.from, load.force);
    if (const YamlNode* torque = map.find("torque")) read_components(*torque, values, load.from, load.torque);
    if (const YamlNode* table = map.find("table")) load.table = read_table(*table, values);
    if (const YamlNode* interpolation = map.find("interpolation")) {
        if (load.table.empty()) throw Error("'interpolation' belongs to a 'table'", map.key_place("interpolation"));
        load.interpolation =
            static_cast<Scene::Load::Interpolation>(values.choice(*interpolation, "interpolation", {"linear", "step"}));
    }
    return load;
}

}  // namespace

Scene::Joint read_joint(const std::string& name, const Place& place, const YamlNode& item, const Scene& scene) {
    const ValueReader values(scene.parameters);
    Scene::Joint joint;
    joint.name = name;
    joint.place = place;
    check_name(joint.name, "joint", joint.place);
    joint.kind = static_cast<Scene::Joint::Kind>(read_kind(item, fmt::format("joint '{}'", joint.name), "joint"));
    joint.kind_place = item.key_place(0);
    check_plane(scene, joint);
    const MapReader map(item.children[0], fmt::format("{} joint '{}'", to_string(joint.kind), joint.name),
                        fmt::format("{}-joint", to_string(joint.kind)));
    if (joint.kind == Scene::Joint::Kind::gear || joint.kind == Scene::Joint::Kind::rack_pinion) {
        read_gear(map, values, scene, joint);
        return joint;
    }
    joint.a = read_body_name(map.need("a"), scene);
    joint.b = read_body_name(map.need("b"), scene);
    if (joint.a.text == joint.b.text)
        throw Error(fmt::format("{} joins '{}' with itself", map.what(), joint.a.text), joint.b.place);
    check_movable(scene, joint.a, joint.b, map.what());
    read_anchor(map, values, joint);
    if (has_axis(joint.kind)) read_axis(map, values, scene, joint);
    if (joint.kind == Scene::Joint::Kind::distance)
        if (const YamlNode* length = map.find("length")) joint.length = values.positive(*length, "m");
    if (joint.kind == Scene::Joint::Kind::point_on_curve) read_curve(map, values, joint);
    read_drives(map, values, joint);
    if (const YamlNode* collide = map.find("collide")) joint.collide = values.truth(*collide);
    return joint;
}

void read_joints(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    check_map(node, "joints");
    for (std::size_t i = 0; i < node.keys.size(); ++i)
        scene.joints.push_back(read_joint(node.keys[i], node.key_place(i), node.children[i], scene));
}

void read_forces(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    check_map(node, "forces");
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const std::string& name = node.keys[i];
        const Place place = node.key_place(i);
        check_name(name, "force", place);
        const YamlNode& item = node.children[i];
        const int kind = read_kind(item, fmt::format("force '{}'", name), "force");
        const YamlNode& body = item.children[0];
        if (kind == 0) scene.springs.push_back(read_spring(name, body, place, scene));
        if (kind == 1) scene.torsion_springs.push_back(read_torsion_spring(name, body, place, scene));
        if (kind == 2) scene.bushings.push_back(read_bushing(name, body, place, scene));
        if (kind == 3) scene.drags.push_back(read_drag(name, body, place, scene));
        if (kind == 4) scene.loads.push_back(read_load(name, body, place, scene));
    }
}

}  // namespace stickslip
