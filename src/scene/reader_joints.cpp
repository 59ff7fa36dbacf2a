// Joints, springs and loads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

void read_joints(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    check_map(node, "joints");
    const ValueReader values(scene.parameters);
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        Scene::Joint joint;
        joint.name = node.keys[i];
        joint.place = node.key_place(i);
        check_name(joint.name, "joint", joint.place);
        const YamlNode& item = node.children[i];
        joint.kind = static_cast<Scene::Joint::Kind>(read_kind(item, fmt::format("joint '{}'", joint.name), "joint"));
        joint.kind_place = item.key_place(0);
        const MapReader map(item.children[0], fmt::format("{} joint '{}'", to_string(joint.kind), joint.name),
                            fmt::format("{}-joint", to_string(joint.kind)));
        joint.a = read_body_name(map.need("a"), scene);
        joint.b = read_body_name(map.need("b"), scene);
        if (joint.a.text == joint.b.text)
            throw Error(fmt::format("{} joins '{}' with itself", map.what(), joint.a.text), joint.b.place);
        check_movable(scene, joint.a, joint.b, map.what());
        read_anchor(map, values, joint);
        if (joint.kind == Scene::Joint::Kind::revolute || joint.kind == Scene::Joint::Kind::prismatic)
            read_axis(map, values, scene, joint);
        if (joint.kind == Scene::Joint::Kind::distance)
            if (const YamlNode* length = map.find("length")) joint.length = values.positive(*length, "m");
        if (const YamlNode* collide = map.find("collide")) joint.collide = values.truth(*collide);
        scene.joints.push_back(joint);
    }
}

void read_forces(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    check_map(node, "forces");
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const std::string& name = node.keys[i];
        check_name(name, "force", node.key_place(i));
        const YamlNode& item = node.children[i];
        if (read_kind(item, fmt::format("force '{}'", name), "force") == 0)
            scene.springs.push_back(read_spring(name, item.children[0], node.key_place(i), scene));
        else
            scene.loads.push_back(read_load(name, item.children[0], node.key_place(i), scene));
    }
}

}  // namespace stickslip
