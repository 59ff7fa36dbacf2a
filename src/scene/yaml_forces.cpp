// Springs, drag and loads, from YAML and into it.
#include <fmt/format.h>

#include <algorithm>

#include "scene/fields.hpp"
#include "scene/validate.hpp"

namespace stickslip {

namespace {

// A kind of force: how messages name it, and the list of the scene that holds it.
template <class T>
struct ForceKind {
    const char* map;  // its key, and its map in the listing
    std::vector<T> Scene::*list;
};
constexpr std::tuple force_kinds{
    ForceKind<Scene::Spring>{"spring", &Scene::springs},
    ForceKind<Scene::TorsionSpring>{"torsion-spring", &Scene::torsion_springs},
    ForceKind<Scene::Bushing>{"bushing", &Scene::bushings},
    ForceKind<Scene::Drag>{"drag", &Scene::drags},
    ForceKind<Scene::Load>{"load", &Scene::loads},
};

template <class F>
void for_each_kind(F&& f) {
    std::apply([&](const auto&... kind) { (f(kind), ...); }, force_kinds);
}

template <class T>
void read_own(const MapReader& map, const Scene& scene, T& force) {
    read_fields(map, scene, force);
}

// The coordinate is a name of the joint's; the struct has its number.
void read_own(const MapReader& map, const Scene& scene, Scene::TorsionSpring& spring) {
    read_fields(map, scene, spring);
    const Scene::Joint& joint = scene.joints[joint_index(scene, spring.joint)];
    spring.coordinate = read_coordinate(map, scene, joint).value_or(0);
}

// Formulas must be finite where the load begins to act.
void read_own(const MapReader& map, const Scene& scene, Scene::Load& load) {
    double from = 0;
    if (const YamlNode* node = map.find("from")) from = std::max(0.0, ValueReader(scene.parameters).number(*node));
    read_fields(map, scene, load, from);
}

template <class T>
void write_own(const Scene&, const T&, YamlNode&) {}

void write_own(const Scene& scene, const Scene::TorsionSpring& spring, YamlNode& map) {
    const std::vector<std::string> names = joint_coordinates(scene.joints[joint_index(scene, spring.joint)].kind);
    if (spring.coordinate > 0) write_coordinate(names[spring.coordinate], map);
}

}  // namespace

void check_forces(const Scene& scene) {
    for_each_kind([&](const auto& kind) {
        for (const auto& force : scene.*kind.list) {
            const std::string what = what_of_force(kind.map, force.name);
            check_name(force.name, "force", force.place);
            check_fields(scene_map(kind.map), scene, what, force.place, force);
            check_force(scene, force, Where(what, force.place, scene_map(kind.map), force));
        }
    });
}

void read_forces(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    check_things(node, "forces");
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const std::string& name = node.keys[i];
        const Place place = node.key_place(i);
        check_name(name, "force", place);
        const YamlNode& item = node.children[i];
        const std::string chosen =
            scene_map("force").kinds()[read_kind(item, fmt::format("force '{}'", name), "force")];
        for_each_kind([&](const auto& kind) {
            if (chosen != kind.map) return;
            const MapReader map(item.children[0], what_of_force(kind.map, name), kind.map);
            auto& force = (scene.*kind.list).emplace_back();
            force.name = name;
            force.place = place;
            read_own(map, scene, force);
            check_force(scene, force, Where(map, place, force));
        });
    }
}

YamlNode write_forces(const Scene& scene) {
    YamlNode section = empty_map();
    for_each_kind([&](const auto& kind) {
        for (const auto& force : scene.*kind.list) {
            YamlNode map = empty_map(), of_kind = empty_map();
            write_fields(scene_map(kind.map), force, map);
            write_own(scene, force, map);
            put(of_kind, kind.map, std::move(map));
            put(section, force.name, std::move(of_kind));
        }
    });
    return section.keys.empty() ? YamlNode{} : section;
}

}  // namespace stickslip
