// What acts on the coordinates of a joint: limits, motor, friction, brake; and the gears between joints.
#include <fmt/format.h>

#include <cmath>

#include "model/joints/joint.hpp"
#include "scene/formula.hpp"
#include "scene/reader.hpp"

namespace stickslip {

namespace {

using Kind = Scene::Joint::Kind;

bool turns(Kind kind, int coordinate) { return coordinate_turns(kind, coordinate); }

Scene::Formula read_formula(const YamlNode& node, const ValueReader& values) {
    return read_drive_formula(node, values, 0);
}

double limit(const YamlNode& node, const ValueReader& values) {
    for (const char* text : {".inf", "+.inf", ".Inf", ".INF"})
        if (node.kind == YamlNode::Kind::scalar && node.text == text) return infinity;
    if (node.kind == YamlNode::Kind::scalar && (node.text == "-.inf" || node.text == "-.Inf" || node.text == "-.INF"))
        return -infinity;
    return values.number(node);
}

// [lower, upper], or {lower, upper, restitution}.
void read_limits(const YamlNode& node, const ValueReader& values, const std::string& what, Scene::Drive& drive) {
    drive.limits_place = node.place();
    if (node.kind == YamlNode::Kind::map) {
        const MapReader map(node, "the limits of " + what, "limits");
        if (!map.find("lower") && !map.find("upper"))
            throw Error(fmt::format("{} needs 'lower' or 'upper'", map.what()), map.place());
        if (const YamlNode* lower = map.find("lower")) drive.lower = limit(*lower, values);
        if (const YamlNode* upper = map.find("upper")) drive.upper = limit(*upper, values);
        if (const YamlNode* e = map.find("restitution")) drive.restitution = values.fraction(*e);
    } else {
        if (node.kind != YamlNode::Kind::list || node.children.size() != 2)
            throw Error(
                fmt::format("expected limits [lower, upper] or {{lower: ..., upper: ..., restitution: ...}}, found {}",
                            node.describe()),
                node.place());
        drive.lower = limit(node.children[0], values);
        drive.upper = limit(node.children[1], values);
    }
    if (!(drive.lower < drive.upper))
        throw Error(
            fmt::format("the lower limit must be below the upper one, found {} and {}", drive.lower, drive.upper),
            node.place());
}

Scene::Drive::Motor read_motor(const YamlNode& node, const ValueReader& values, const std::string& what, bool turning) {
    const char* most = turning ? "max_torque" : "max_force";
    const MapReader map(node, "the motor of " + what, turning ? "turning-motor" : "sliding-motor");
    Scene::Drive::Motor motor;
    map.not_both("speed", "position");
    motor.position = map.find("position") != nullptr;
    if (!motor.position && !map.find("speed"))
        throw Error(fmt::format("{} needs 'speed' or 'position'", map.what()), map.place());
    motor.target = read_formula(map.need(motor.position ? "position" : "speed"), values);
    if (const YamlNode* force = map.find(most)) motor.most = values.not_negative(*force, turning ? "N m" : "N");
    if (const YamlNode* tau = map.find("time_constant")) {
        if (!motor.position) throw Error("'time_constant' belongs to a 'position'", map.key_place("time_constant"));
        motor.time_constant = values.positive(*tau, "s");
    }
    return motor;
}

// The keys of one coordinate, from the joint's own map or from a map of the coordinate.
Scene::Drive read_drive(const MapReader& map, const ValueReader& values, const Scene::Joint& joint, int coordinate) {
    Scene::Drive drive;
    drive.coordinate = coordinate;
    drive.place = map.place();
    const bool turning = turns(joint.kind, coordinate);
    if (const YamlNode* start = map.find("start")) drive.start = values.number(*start);
    if (const YamlNode* limits = map.find("limits")) read_limits(*limits, values, map.what(), drive);
    if (const YamlNode* motor = map.find("motor")) drive.motor = read_motor(*motor, values, map.what(), turning);
    if (const YamlNode* friction = map.find("friction"))
        drive.friction = values.not_negative(*friction, turning ? "N m" : "N");
    if (const YamlNode* brake = map.find("brake")) drive.brake = read_formula(*brake, values);
    if (joint.kind != Kind::distance && (drive.start < drive.lower || drive.start > drive.upper))
        throw Error(fmt::format("{} starts at {}, outside its limits [{}, {}]", map.what(), drive.start, drive.lower,
                                drive.upper),
                    drive.limits_place);
    return drive;
}

bool acts(const Scene::Drive& drive) {
    return drive.start != 0 || drive.lower > -infinity || drive.upper < infinity || drive.motor || drive.friction ||
           drive.brake;
}

// The one coordinate of this kind that the joint has.
int only(const Scene& scene, const Scene::Name& name, int end, bool turning, const char* wanted) {
    int index = end - 1;
    while (scene.joints[index].name != name.text) --index;
    const Scene::Joint& joint = scene.joints[index];
    int found = -1;
    const int count = static_cast<int>(joint_coordinates(joint.kind).size());
    for (int c = 0; c < count; ++c)
        if (turns(joint.kind, c) == turning && joint.kind != Kind::distance && joint.kind != Kind::universal) found = c;
    if (found < 0)
        throw Error(
            fmt::format("expected a {} joint, but '{}' is a {} joint", wanted, name.text, to_string(joint.kind)),
            name.place);
    return found;
}

}  // namespace

void read_drives(const MapReader& map, const ValueReader& values, Scene::Joint& joint) {
    const std::vector<std::string> coordinates = joint_coordinates(joint.kind);
    if (coordinates.size() == 1) {
        Scene::Drive drive = read_drive(map, values, joint, 0);
        if (acts(drive)) joint.drives.push_back(std::move(drive));
        if (joint.kind == Kind::distance && joint.length && !joint.drives.empty())
            throw Error(
                fmt::format("{} has a fixed 'length', so nothing can act on it: leave 'length' out", map.what()),
                map.key_place("length"));
        return;
    }
    for (int c = 0; c < static_cast<int>(coordinates.size()); ++c) {
        const std::string& name = coordinates[c];
        const YamlNode* node = map.find(name.c_str());
        if (!node) continue;
        const MapReader of_coordinate(*node, fmt::format("'{}' of {}", name, map.what()),
                                      turns(joint.kind, c) ? "turning" : "sliding");
        Scene::Drive drive = read_drive(of_coordinate, values, joint, c);
        if (acts(drive)) joint.drives.push_back(std::move(drive));
    }
}

bool coordinate_turns(Kind kind, int coordinate) {
    return kind == Kind::revolute || kind == Kind::universal || (kind == Kind::cylindrical && coordinate == 0);
}

Scene::Formula read_drive_formula(const YamlNode& node, const ValueReader& values, double t) {
    Scene::Formula formula = values.formula(node);
    const double start = compile_formula(formula)(t);
    if (!std::isfinite(start))
        throw Error(fmt::format("the formula '{}' is {} at t = {:.6g}", node.text, start, t), node.place());
    return formula;
}

std::pair<int, int> gear_coordinates(const Scene& scene, const Scene::Joint& gear, int end) {
    if (gear.kind == Kind::gear)
        return {only(scene, gear.first, end, true, "revolute or cylindrical"),
                only(scene, gear.second, end, true, "revolute or cylindrical")};
    return {only(scene, gear.first, end, false, "prismatic or cylindrical"),
            only(scene, gear.second, end, true, "revolute or cylindrical")};
}

void read_gear(const MapReader& map, const ValueReader& values, const Scene& scene, Scene::Joint& joint) {
    const bool rack = joint.kind == Kind::rack_pinion;
    const auto name = [&](const char* key) {
        const YamlNode& node = map.need(key);
        Scene::Name of{values.word(node, "the name of a joint"), node.place()};
        joint_index(scene, of);
        return of;
    };
    joint.first = name(rack ? "rack" : "first");
    joint.second = name(rack ? "pinion" : "second");
    const auto [c1, c2] = gear_coordinates(scene, joint, static_cast<int>(scene.joints.size()));
    if (joint.first.text == joint.second.text && c1 == c2)
        throw Error(fmt::format("{} couples '{}' with itself", map.what(), joint.first.text), joint.second.place);
    const YamlNode& ratio = map.need(rack ? "radius" : "ratio");
    joint.ratio = values.number(ratio);
    if (joint.ratio == 0 || !std::isfinite(joint.ratio))
        throw Error(fmt::format("the {} must be a finite number other than zero", rack ? "radius" : "ratio"),
                    ratio.place());
}

int joint_index(const Scene& scene, const Scene::Name& name) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < scene.joints.size(); ++i) {
        if (scene.joints[i].name == name.text) return static_cast<int>(i);
        names.push_back(scene.joints[i].name);
    }
    throw unknown_name("joint", name.text, names, name.place);
}

std::vector<std::string> joint_coordinates(Scene::Joint::Kind kind) {
    const auto& names = joint_entry(static_cast<JointKind>(kind)).coordinates;
    return {names.begin(), names.end()};
}

const char* to_string(Scene::Joint::Kind kind) {
    const auto i = static_cast<std::size_t>(kind);
    return i < joint_table().size() ? joint_table()[i].name : "?";
}

}  // namespace stickslip
