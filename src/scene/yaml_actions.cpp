// Actions, edits at their times, from YAML and into it. They are read in the order in which they happen, each against what is
// there then, so that a name that is not there yet, or not any more, is told when the scene is read.
#include <fmt/format.h>

#include <algorithm>

#include "scene/fields.hpp"
#include "scene/standing.hpp"
#include "scene/validate.hpp"

namespace stickslip {

namespace {

struct Entry {
    const YamlNode* node;
    double at;  // [s]
};

// What stands under the verbs differs, so the keys are checked by verb.
MapReader open(const YamlNode& node, Edit::Kind kind) { return {node, "an action", map_of(kind).name}; }

Edit::Kind read_verb(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected an action like {{at: 2, cut: cable}}, found {}", node.describe()),
                    node.place());
    const std::vector<std::string>& verbs = edit_verbs();
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
    std::vector<std::string> keys;
    for (int k = 0; k < std::ssize(verbs); ++k)
        for (const std::string& key : map_of(static_cast<Edit::Kind>(k)).keys())
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    for (std::size_t i = 0; i < node.keys.size(); ++i)
        if (std::find(keys.begin(), keys.end(), node.keys[i]) == keys.end())
            throw unknown_name("key of an action", node.keys[i], keys, node.key_place(i));
    throw Error(fmt::format("an action needs one of {}", fmt::join(verbs, ", ")), node.place());
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

const Scene::Joint& driven_joint(const Scene& scene, const Edit& edit) {
    const int index = last_joint(scene, edit.name.text, static_cast<int>(scene.joints.size()));
    if (index < 0) joint_index(scene, edit.name);  // tells the names that there are
    return scene.joints[index];
}

// A motor that turns has a largest torque, one that slides a largest force: of the two keys one is meant.
std::pair<const char*, const char*> keys_of_max_effort(const Scene::Joint& joint, const Edit& edit) {
    return coordinate_turns(joint.kind, driven_coordinate(joint, edit)) ? std::pair("max_torque", "max_force")
                                                                        : std::pair("max_force", "max_torque");
}

void read_drive(const MapReader& map, const Scene& scene, double t, Edit& edit) {
    const Scene::Joint& joint = driven_joint(scene, edit);
    if (const std::optional<int> coordinate = read_coordinate(map, scene, joint))
        edit.coordinate = joint_coordinates(joint.kind)[*coordinate];
    const auto [most, other] = keys_of_max_effort(joint, edit);
    if (map.find(other)) {
        const bool turning = coordinate_turns(joint.kind, driven_coordinate(joint, edit));
        throw Error(fmt::format("joint '{}' {}: expected '{}', found '{}'", joint.name, turning ? "turns" : "slides",
                                most, other),
                    map.key_place(other));
    }
    read_fields(map, scene, edit, t);
    std::vector<std::string> changes;
    for (const SceneField& field : map.listed().fields)
        if (field.member.owner && *field.member.owner == typeid(Edit) && field.key != other)
            changes.push_back(field.key);
    if (!changes_drive(edit))
        throw Error(fmt::format("driving '{}' needs one of {}", joint.name, fmt::join(changes, ", ")), map.place());
}

Edit read_edit(const Entry& entry, const Scene& scene) {
    Edit edit;
    edit.kind = read_verb(*entry.node);
    edit.place = entry.node->place();
    const MapReader map = open(*entry.node, edit.kind);
    const YamlNode& subject = map.need(to_string(edit.kind));
    if (edit.kind == Edit::Kind::attach) {
        read_attach(subject, scene, edit);
        return edit;
    }
    const bool body = edit.kind == Edit::Kind::add || edit.kind == Edit::Kind::remove;
    edit.name = {
        ValueReader(scene.parameters).word(subject, body ? "the name of a body" : "the name of a joint or spring"),
        subject.place()};
    if (edit.kind == Edit::Kind::drive) read_drive(map, scene, entry.at, edit);
    if (edit.kind == Edit::Kind::add) read_fields(map, scene, edit);
    check_placement(scene, edit, Where(map, edit.place, edit));
    return edit;
}

YamlNode write_edit(const Scene& scene, const Scene::Action& action) {
    const Edit& edit = *action.edit;
    if (edit.body)
        throw Error(
            fmt::format("an action that adds the new body '{}' cannot be written: declare it with present: false",
                        edit.body->name),
            action.place);
    YamlNode map = empty_map(), subject = scalar(edit.name.text);
    if (edit.joint) {
        subject = empty_map();
        put(subject, edit.joint->name, write_joint(*edit.joint));
    }
    write_fields(map_of(edit.kind), action, map);
    put(map, to_string(edit.kind), std::move(subject));
    if (!edit.coordinate.empty()) write_coordinate(edit.coordinate, map);
    YamlNode keys = empty_map();
    write_fields(map_of(edit.kind), edit, keys);
    const char* other = edit.max_effort ? keys_of_max_effort(driven_joint(scene, edit), edit).second : "";
    for (std::size_t i = 0; i < keys.keys.size(); ++i)
        if (keys.keys[i] != other) put(map, keys.keys[i], keys.children[i]);
    return map;
}

}  // namespace

void read_actions(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    if (node.kind != YamlNode::Kind::list)
        throw Error(fmt::format("expected a list of actions, [{{at: 2, cut: cable}}, ...], found {}", node.describe()),
                    node.place());
    std::vector<Entry> entries;
    for (const YamlNode& item : node.children) {
        const MapReader map = open(item, read_verb(item));
        Scene::Action action;
        read_fields(map, scene, action);
        entries.push_back({&item, action.at});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) { return x.at < y.at; });

    Scene known = scene;  // with the joints attached so far
    for (const Entry& entry : entries) {
        const auto edit = std::make_shared<const Edit>(read_edit(entry, known));
        if (edit->joint) known.joints.push_back(*edit->joint);
        scene.actions.push_back({entry.at, edit, entry.node->place()});
    }
    walk_actions(scene);
}

YamlNode write_actions(const Scene& scene) {
    YamlNode section;
    Scene known = scene;
    for (const Scene::Action& action : scene.actions) {
        section.kind = YamlNode::Kind::list;
        section.children.push_back(write_edit(known, action));
        if (action.edit->joint) known.joints.push_back(*action.edit->joint);
    }
    return section;
}

}  // namespace stickslip
