// From YAML to Scene: --set on the tree, then the sections in the order in which they refer to each other.
#include "scene/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scene/formula.hpp"

namespace stickslip {

namespace {

std::vector<std::string> split(const std::string& path) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', start)) {
        parts.push_back(path.substr(start, dot - start));
        start = dot + 1;
    }
    parts.push_back(path.substr(start));
    return parts;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

// The path of --set in the file: parameters and the keys of `run` may be given without their section.
std::vector<std::string> resolve(const YamlNode& root, const std::string& key, const Place& place) {
    std::vector<std::string> path = split(key);
    const YamlNode* let = root.find("let");
    if (path.size() == 1 && let && let->find(key)) return {"let", key};
    if (contains(run_keys, path[0])) path.insert(path.begin(), "run");
    if (contains(scene_keys, path[0])) {
        // Things that do not exist cannot be made by naming one of their keys.
        const std::vector<std::pair<const char*, const char*>> named = {{"bodies", "body"},
                                                                        {"joints", "joint"},
                                                                        {"forces", "force"},
                                                                        {"materials", "material"},
                                                                        {"let", "parameter"}};
        for (const auto& [section, what] : named) {
            if (path[0] != section || path.size() < 2) continue;
            const YamlNode* node = root.find(section);
            if (!node || !node->find(path[1]))
                throw unknown_name(what, path[1], node ? node->keys : std::vector<std::string>(), place);
        }
        return path;
    }
    if (path.size() > 1) {
        std::vector<std::string> valid = scene_keys;
        valid.insert(valid.end(), run_keys.begin(), run_keys.end());
        throw unknown_name("key", path[0], valid, place);
    }
    std::vector<std::string> valid = let ? let->keys : std::vector<std::string>();
    valid.insert(valid.end(), run_keys.begin(), run_keys.end());
    throw unknown_name("parameter", key, valid, place);
}

std::vector<std::string> names_of_bodies(const Scene& scene) {
    std::vector<std::string> names;
    for (const Scene::Body& body : scene.bodies) names.push_back(body.name);
    names.emplace_back("ground");
    return names;
}

}  // namespace

void apply_overrides(YamlNode& root, const OptionValues& overrides) {
    for (const OptionValue& given : overrides) {
        const std::vector<std::string> path = resolve(root, given.key, {"--set " + given.key, 0, 0});
        // Another scheme does not take the options of the old one, but the step is everybody's.
        if (path == std::vector<std::string>{"run", "scheme"}) {
            YamlNode* run = root.find("run");
            const YamlNode* scheme = run ? run->find("scheme") : nullptr;
            if (const YamlNode* step = scheme ? scheme->find("step") : nullptr; step && !run->find("step")) {
                const YamlNode kept = *step;
                run->keys.emplace_back("step");
                run->key_places.emplace_back(kept.line, kept.column);
                run->children.push_back(kept);
            }
        }
        override_yaml(root, path, given.text, given.key);
    }
}

void read_parameters(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    if (node.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected a map of parameters, {{name: number}}, found {}", node.describe()),
                    node.place());
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const std::string& name = node.keys[i];
        const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
        const auto fine = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
        if (name.empty() || name.size() > 60 || !letter(name[0]) || !std::all_of(name.begin(), name.end(), fine))
            throw Error(
                fmt::format("expected a parameter's name of letters, digits and _, found '{}'", name.substr(0, 60)),
                node.key_place(i));
        if (is_formula_word(name))
            throw Error(fmt::format("'{}' has a meaning in formulas, choose another name", name), node.key_place(i));
        // Earlier parameters may be used in later ones.
        const double value = ValueReader(scene.parameters).number(node.children[i]);
        scene.parameters.push_back({name, value, node.key_place(i)});
    }
}

int body_index(const Scene& scene, const Scene::Name& name) {
    if (name.text == "ground") return -1;
    for (std::size_t i = 0; i < scene.bodies.size(); ++i)
        if (scene.bodies[i].name == name.text) return static_cast<int>(i);
    throw unknown_name("body", name.text, names_of_bodies(scene), name.place);
}

int material_index(const Scene& scene, const Scene::Name& name) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < scene.materials.size(); ++i) {
        if (scene.materials[i].name == name.text) return static_cast<int>(i);
        names.push_back(scene.materials[i].name);
    }
    throw unknown_name("material", name.text, names, name.place);
}

Scene::Name read_body_name(const YamlNode& node, const Scene& scene) {
    const Scene::Name name{ValueReader(scene.parameters).word(node, "the name of a body"), node.place()};
    body_index(scene, name);
    return name;
}

Scene::Name read_material_name(const YamlNode& node, const Scene& scene) {
    const Scene::Name name{ValueReader(scene.parameters).word(node, "the name of a material"), node.place()};
    material_index(scene, name);
    return name;
}

void check_movable(const Scene& scene, const Scene::Name& a, const Scene::Name& b, const std::string& what) {
    const auto fixed = [&](const Scene::Name& name) {
        const int i = body_index(scene, name);
        return i < 0 || scene.bodies[static_cast<std::size_t>(i)].fixed;
    };
    if (!fixed(a) || !fixed(b)) return;
    if (a.text == b.text) throw Error(fmt::format("{} acts on '{}', which cannot move", what, a.text), a.place);
    throw Error(fmt::format("{} connects '{}' and '{}', neither of which can move", what, a.text, b.text), b.place);
}

Scene read_scene_text(const std::string& text, const std::string& name, const OptionValues& overrides) {
    YamlNode root = parse_yaml(text, name);
    if (root.kind == YamlNode::Kind::null)
        throw Error("the scene is empty, expected 'stickslip: 1' and bodies", root.place());
    if (root.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected a map of keys (stickslip, bodies, run, ...), found {}", root.describe()),
                    root.place());
    const MapReader as_written(root, "the scene",
                               {"stickslip", "let", "gravity", "plane", "materials", "contacts", "bodies", "joints",
                                "forces", "actions", "run"});
    apply_overrides(root, overrides);

    Scene scene;
    scene.file = name;
    scene.text = text;
    scene.overrides = overrides;
    if (const YamlNode* let = root.find("let")) read_parameters(*let, scene);
    const ValueReader values(scene.parameters);

    const YamlNode& version = as_written.need("stickslip");
    if (values.number(version) != 1)
        throw Error(fmt::format("expected 'stickslip: 1' (the version of the format), found {}", version.describe()),
                    version.place());
    if (const YamlNode* gravity = root.find("gravity")) scene.gravity = values.vector(*gravity);
    if (const YamlNode* plane = root.find("plane"))
        scene.plane = static_cast<Scene::Plane>(1 + values.choice(*plane, "plane", {"xy", "xz", "yz"}));

    const YamlNode nothing;
    const auto section = [&](const char* key) -> const YamlNode& {
        const YamlNode* node = root.find(key);
        return node ? *node : nothing;
    };
    read_materials(section("materials"), scene);
    if (const YamlNode* contacts = root.find("contacts")) read_contacts(*contacts, scene);
    read_bodies(section("bodies"), scene);
    read_joints(section("joints"), scene);
    read_forces(section("forces"), scene);
    read_actions(section("actions"), scene);
    read_run(section("run"), scene);
    return scene;
}

Scene read_scene(const std::string& file, const OptionValues& overrides) {
    return read_scene_text(read_text_file(file), file, overrides);
}

const char* to_string(Scene::Plane plane) {
    switch (plane) {
        case Scene::Plane::none: return "none";
        case Scene::Plane::xy: return "xy";
        case Scene::Plane::xz: return "xz";
        case Scene::Plane::yz: return "yz";
    }
    return "?";
}

const char* to_string(Scene::Shape::Kind kind) {
    switch (kind) {
        case Scene::Shape::Kind::sphere: return "sphere";
        case Scene::Shape::Kind::box: return "box";
        case Scene::Shape::Kind::half_space: return "half-space";
    }
    return "?";
}

const char* to_string(Scene::Policy policy) { return policy == Scene::Policy::certify ? "certify" : "budget"; }

}  // namespace stickslip
