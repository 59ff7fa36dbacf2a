// What acts on the coordinates of a joint (limits, motor, friction, brake), from YAML and into it.
#include <fmt/format.h>

#include "model/joints/joint.hpp"
#include "scene/fields.hpp"
#include "scene/validate.hpp"

namespace stickslip {

namespace {

// [lower, upper], or {lower, upper, restitution}.
void read_limits(const YamlNode& node, const Scene& scene, const std::string& what, Scene::Drive& drive) {
    drive.limits_place = node.place();
    if (node.kind == YamlNode::Kind::map) {
        read_fields(MapReader(node, "the limits of " + what, "limits"), scene, drive);
        return;
    }
    if (node.kind != YamlNode::Kind::list || node.children.size() != 2)
        throw Error(
            fmt::format("expected limits [lower, upper] or {{lower: ..., upper: ..., restitution: ...}}, found {}",
                        node.describe()),
            node.place());
    const ValueReader values(scene.parameters);
    drive.lower = values.bound(node.children[0]);
    drive.upper = values.bound(node.children[1]);
}

// The keys of one coordinate, from the joint's own map or from a map of the coordinate.
Scene::Drive read_drive(const MapReader& map, const Scene& scene, const Scene::Joint& joint, int coordinate) {
    Scene::Drive drive;
    drive.coordinate = coordinate;
    drive.place = map.place();
    read_fields(map, scene, drive);
    if (const YamlNode* limits = map.find("limits")) read_limits(*limits, scene, map.what(), drive);
    if (const YamlNode* motor = map.find("motor")) {
        const MapReader keys(*motor, "the motor of " + map.what(),
                             map_of_motor(coordinate_turns(joint.kind, coordinate)));
        Scene::Drive::Motor given;
        read_fields(keys, scene, given);
        drive.motor = given;
    }
    check_drive(joint, drive, Where(map, joint.place, drive));
    return drive;
}

void write_drive(const SceneMap& listed, const Scene::Joint& joint, const Scene::Drive& drive, YamlNode& map) {
    write_fields(listed, drive, map);
    if (drive.lower > -infinity || drive.upper < infinity || drive.restitution != 0) {
        YamlNode limits = empty_map();
        write_fields(scene_map("limits"), drive, limits);
        put(map, "limits", std::move(limits));
    }
    if (drive.motor) {
        YamlNode motor = empty_map();
        write_fields(scene_map(map_of_motor(coordinate_turns(joint.kind, drive.coordinate))), *drive.motor, motor);
        put(map, "motor", std::move(motor));
    }
}

bool acts(const Scene::Drive& drive) {
    return drive.start != 0 || drive.lower > -infinity || drive.upper < infinity || drive.motor || drive.friction ||
           drive.brake;
}

}  // namespace

std::string map_of_drive(const JointKind& kind, int coordinate) {
    if (kind.coordinates.size() == 1) return std::string(kind.name) + "-joint";
    return kind.coordinates[coordinate].turns() ? "turning" : "sliding";
}

std::string map_of_motor(bool turning) { return turning ? "turning-motor" : "sliding-motor"; }

void read_drives(const MapReader& map, const Scene& scene, Scene::Joint& joint) {
    const JointKind& kind = joint_kind(joint.kind);
    for (int c = 0; c < std::ssize(kind.coordinates); ++c) {
        const auto read = [&](const MapReader& keys) {
            Scene::Drive drive = read_drive(keys, scene, joint, c);
            if (acts(drive)) joint.drives.push_back(std::move(drive));
        };
        if (kind.coordinates.size() == 1)
            read(map);
        else if (const YamlNode* node = map.find(kind.coordinates[c].name))
            read(MapReader(*node, what_of(joint, c), map_of_drive(kind, c)));
    }
}

void write_drives(const Scene::Joint& joint, YamlNode& map) {
    const JointKind& kind = joint_kind(joint.kind);
    for (const Scene::Drive& drive : joint.drives) {
        const SceneMap& listed = scene_map(map_of_drive(kind, drive.coordinate));
        if (kind.coordinates.size() == 1) {
            write_drive(listed, joint, drive, map);
            continue;
        }
        YamlNode keys = empty_map();
        write_drive(listed, joint, drive, keys);
        put(map, kind.coordinates[drive.coordinate].name, std::move(keys));
    }
}

std::optional<int> read_coordinate(const MapReader& map, const Scene& scene, const Scene::Joint& joint) {
    const YamlNode* node = map.find("coordinate");
    const std::vector<std::string> names = joint_coordinates(joint.kind);
    if (!node || names.empty()) return std::nullopt;
    return ValueReader(scene.parameters).choice(*node, "coordinate", names);
}

void write_coordinate(const std::string& name, YamlNode& map) { put(map, "coordinate", scalar(name)); }

bool coordinate_turns(const std::string& kind, int coordinate) {
    return joint_kind(kind).coordinates[coordinate].turns();
}

int joint_index(const Scene& scene, const Scene::Name& name) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < scene.joints.size(); ++i) {
        if (scene.joints[i].name == name.text) return static_cast<int>(i);
        names.push_back(scene.joints[i].name);
    }
    throw unknown_name("joint", name.text, names, name.place);
}

std::vector<std::string> joint_coordinates(const std::string& kind) {
    std::vector<std::string> names;
    for (const JointCoordinate& coordinate : joint_kind(kind).coordinates) names.emplace_back(coordinate.name);
    return names;
}

}  // namespace stickslip
