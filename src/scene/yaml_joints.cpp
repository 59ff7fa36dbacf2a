// Joints from YAML and into it.
#include <fmt/format.h>

#include "model/joints/joint.hpp"
#include "scene/fields.hpp"
#include "scene/validate.hpp"

namespace stickslip {

Scene::Joint read_joint(const std::string& name, const Place& place, const YamlNode& item, const Scene& scene) {
    Scene::Joint joint;
    joint.name = name;
    joint.place = place;
    check_name(joint.name, "joint", joint.place);
    joint.kind = scene_map("joint").kinds()[read_kind(item, fmt::format("joint '{}'", joint.name), "joint")];
    joint.kind_place = item.key_place(0);
    check_kind_in_plane(scene, joint);
    const JointKind& kind = joint_kind(joint.kind);
    const MapReader map(item.children[0], what_of(joint), map_of(joint).name);
    read_fields(map, scene, joint);
    const Where at(map, place, joint);
    // In a plane there is one axis to turn about.
    if (kind.axes == JointKind::Axes::turn && !at.gives(&joint.axis)) {
        const int normal = plane_normal(scene.plane);
        if (normal < 0) map.need(at.name(&joint.axis));
        joint.axis = Vec3::Unit(normal);
    }
    if (kind.anchor == JointKind::Anchor::ends) {
        if (!joint.at_a) joint.at_a = Vec3::Zero();
        if (!joint.at_b) joint.at_b = Vec3::Zero();
    }
    read_drives(map, scene, joint);
    check_joint(scene, joint, static_cast<int>(scene.joints.size()), at);
    return joint;
}

YamlNode write_joint(const Scene::Joint& joint) {
    YamlNode map = empty_map(), kind = empty_map();
    write_fields(map_of(joint), joint, map);
    write_drives(joint, map);
    put(kind, joint.kind, std::move(map));
    return kind;
}

void read_joints(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    check_things(node, "joints");
    for (std::size_t i = 0; i < node.keys.size(); ++i)
        scene.joints.push_back(read_joint(node.keys[i], node.key_place(i), node.children[i], scene));
}

YamlNode write_joints(const Scene& scene) {
    YamlNode section = empty_map();
    for (const Scene::Joint& joint : scene.joints) put(section, joint.name, write_joint(joint));
    return section.keys.empty() ? YamlNode{} : section;
}

}  // namespace stickslip
