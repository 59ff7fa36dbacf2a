// Actions: edits at their times. They are read in the order in which they happen, each against what is there then, so that
// a name that is not there yet, or not any more, is told when the scene is read.
#include <fmt/format.h>

#include <algorithm>

#include "scene/reader.hpp"
#include "scene/standing.hpp"

namespace stickslip {

namespace {

const std::vector<std::string> verbs{"add", "remove", "attach", "cut", "drive"};  // in the order of Edit::Kind

struct Entry {
    const YamlNode* node;
    double at;  // [s]
};

// What stands under the verbs differs, so the keys are checked by verb.
MapReader open(const YamlNode& node, Edit::Kind kind) {
    return {node, "an action", std::string("action-") + to_string(kind)};
}

Edit::Kind read_verb(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected an action like {{at: 2, cut: cable}}, found {}", node.describe()),
                    node.place());
    int found = -1;
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const auto verb = std::find(verbs.begin(), verbs.end(), node.keys[i]);
        if (verb == verbs.end()) continue;
        if (found >= 0)
            throw Error(fmt::format("an action does one thing, found '{}' and '{}'", verbs[found], node.keys[i]),
                        node.key_place(i));
        found = static_cast<int>(verb - verbs.begin());
    }
    if (found >= 0) return static_cast<Edit::Kind>(found);
    // A mistyped verb is the key that nobody knows.
    std::vector<std::string> keys{"at",       "pose",       "velocity",  "angular_velocity", "coordinate", "speed",
                                  "position", "max_torque", "max_force", "time_constant",    "friction",   "brake"};
    keys.insert(keys.end(), verbs.begin(), verbs.end());
    for (std::size_t i = 0; i < node.keys.size(); ++i)
        if (std::find(keys.begin(), keys.end(), node.keys[i]) == keys.end())
            throw unknown_name("key of an action", node.keys[i], keys, node.key_place(i));
    throw Error(fmt::format("an action needs one of {}", fmt::join(verbs, ", ")), node.place());
}

void read_add(const MapReader& map, const ValueReader& values, const Scene& scene, Edit& edit) {
    if (const YamlNode* pose = map.find("pose")) {
        edit.pose = values.pose(*pose);
        check_attitude_in_plane(scene, edit.pose->attitude, pose->place());
    }
    if (const YamlNode* velocity = map.find("velocity")) edit.velocity = read_velocity(*velocity, scene);
    if (const YamlNode* omega = map.find("angular_velocity"))
        edit.angular_velocity = read_angular_velocity(*omega, scene);
}

// {name: {kind: {...}}} with one name.
void read_attach(const YamlNode& node, const Scene& scene, Edit& edit) {
    if (node.kind != YamlNode::Kind::map || node.keys.size() != 1)
        throw Error(
            fmt::format("expected a joint as under `joints`, {{name: {{kind: {{...}}}}}}, found {}", node.describe()),
            node.place());
    edit.joint = read_joint(node.keys[0], node.key_place(0), node.children[0], scene);
    edit.name = {node.keys[0], node.key_place(0)};
}

void read_drive(const MapReader& map, const ValueReader& values, const Scene& scene, double t, Edit& edit) {
    const int index = last_joint(scene, edit.name.text, static_cast<int>(scene.joints.size()));
    if (index < 0) joint_index(scene, edit.name);  // tells the names that there are
    const Scene::Joint& joint = scene.joints[index];
    if (const YamlNode* coordinate = map.find("coordinate")) {
        const std::vector<std::string> names = joint_coordinates(joint.kind);
        if (!names.empty()) edit.coordinate = names[values.choice(*coordinate, "coordinate", names)];
    }
    const bool turning = coordinate_turns(joint.kind, driven_coordinate(joint, edit));
    const char* most = turning ? "max_torque" : "max_force";
    if (const char* other = turning ? "max_force" : "max_torque"; map.find(other))
        throw Error(fmt::format("joint '{}' {}: expected '{}', found '{}'", joint.name, turning ? "turns" : "slides",
                                most, other),
                    map.key_place(other));
    map.not_both("speed", "position");
    if (const YamlNode* x = map.find("speed")) edit.speed = read_drive_formula(*x, values, t);
    if (const YamlNode* x = map.find("position")) edit.position = read_drive_formula(*x, values, t);
    if (const YamlNode* x = map.find("brake")) edit.brake = read_drive_formula(*x, values, t);
    if (const YamlNode* x = map.find(most)) edit.most = values.not_negative(*x, turning ? "N m" : "N");
    if (const YamlNode* x = map.find("time_constant")) edit.time_constant = values.positive(*x, "s");
    if (const YamlNode* x = map.find("friction")) edit.friction = values.not_negative(*x, turning ? "N m" : "N");
    if (!edit.speed && !edit.position && !edit.brake && !edit.most && !edit.time_constant && !edit.friction)
        throw Error(fmt::format("driving '{}' needs one of speed, position, {}, time_constant, friction, brake",
                                joint.name, most),
                    map.place());
}

Edit read_edit(const Entry& entry, const Scene& scene) {
    const ValueReader values(scene.parameters);
    Edit edit;
    edit.kind = read_verb(*entry.node);
    edit.place = entry.node->place();
    const MapReader map = open(*entry.node, edit.kind);
    const YamlNode& subject = map.need(to_string(edit.kind));
    if (edit.kind == Edit::Kind::attach) {
        read_attach(subject, scene, edit);
        return edit;
    }
    edit.name = {values.word(subject, edit.kind == Edit::Kind::add || edit.kind == Edit::Kind::remove
                                          ? "the name of a body"
                                          : "the name of a joint or spring"),
                 subject.place()};
    if (edit.kind == Edit::Kind::add) read_add(map, values, scene, edit);
    if (edit.kind == Edit::Kind::drive) read_drive(map, values, scene, entry.at, edit);
    return edit;
}

}  // namespace

void read_actions(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    if (node.kind != YamlNode::Kind::list)
        throw Error(fmt::format("expected a list of actions, [{{at: 2, cut: cable}}, ...], found {}", node.describe()),
                    node.place());
    const ValueReader values(scene.parameters);
    std::vector<Entry> entries;
    for (const YamlNode& item : node.children) {
        open(item, read_verb(item));
        const YamlNode* at = item.find("at");
        if (!at) throw Error("an action needs the key 'at' [s]", item.place());
        entries.push_back({&item, values.not_negative(*at, "s")});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) { return x.at < y.at; });

    Scene known = scene;  // with the joints attached so far
    for (const Entry& entry : entries) {
        const auto edit = std::make_shared<const Edit>(read_edit(entry, known));
        if (edit->joint) known.joints.push_back(*edit->joint);
        scene.actions.push_back({entry.at, edit, entry.node->place()});
    }
    DeclaredScene declared = declare_all(scene);
    Standing standing(declared);
    for (std::size_t i = 0; i < scene.actions.size(); ++i)
        standing.apply(declared.scene, *scene.actions[i].edit, scene.actions[i].at, declared.joint[i]);
}

}  // namespace stickslip
