// From YAML to Scene: included files, --set on the tree, parameters, copies of templates, then the sections in the
// order in which they refer to each other.
#include "scene/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scene/expand.hpp"
#include "scene/fields.hpp"

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
    const std::vector<std::string> scene_keys = scene_map("scene").keys(), run_keys = scene_map("run").keys();
    const YamlNode* let = root.find("let");
    if (path.size() == 1 && let && let->find(key)) return {"let", key};
    if (contains(run_keys, path[0])) path.insert(path.begin(), "run");
    if (contains(scene_keys, path[0])) return path;
    if (path.size() > 1) {
        std::vector<std::string> valid = scene_keys;
        valid.insert(valid.end(), run_keys.begin(), run_keys.end());
        throw unknown_name("key", path[0], valid, place);
    }
    std::vector<std::string> valid = let ? let->keys : std::vector<std::string>();
    valid.insert(valid.end(), run_keys.begin(), run_keys.end());
    throw unknown_name("parameter", key, valid, place);
}

// Whether the path names something that only copying a template can make.
bool names_a_copy(const YamlNode& root, const std::vector<std::string>& path) {
    const YamlNode* section = may_hold_templates(path[0]) && path.size() > 1 ? root.find(path[0]) : nullptr;
    return section && !section->find(path[1]) &&
           std::any_of(section->children.begin(), section->children.end(), is_template);
}

// Things that do not exist cannot be made by naming one of their keys.
void check_thing(const YamlNode& root, const std::vector<std::string>& path, const Place& place) {
    if (path[0] == "include")
        throw Error("included files are read before --set changes the scene; change the file", place);
    if (path.size() < 2) return;
    const SceneField* section = scene_map("scene").find(path[0]);
    if (section->form != Form::named && section->form != Form::parameters) return;
    const YamlNode* node = root.find(path[0]);
    if (node && node->find(path[1])) return;
    throw unknown_name(section->form == Form::named ? section->of : "parameter", path[1],
                       node ? node->keys : std::vector<std::string>(), place);
}

std::vector<std::string> names_of_bodies(const Scene& scene) {
    std::vector<std::string> names;
    for (const Scene::Body& body : scene.bodies) names.push_back(body.name);
    names.emplace_back("ground");
    return names;
}

}  // namespace

OptionValues apply_overrides(YamlNode& root, const OptionValues& overrides) {
    OptionValues later;
    for (const OptionValue& given : overrides) {
        const std::string origin = given.place.file.empty() ? "--set " + given.key : given.place.file;
        const Place place{origin, 0, 0};
        const std::vector<std::string> path = resolve(root, given.key, place);
        if (names_a_copy(root, path)) {
            later.push_back(given);
            continue;
        }
        check_thing(root, path, place);
        // Another scheme does not take the options of the old one, but the step is everybody's.
        if (path == std::vector<std::string>{"run", "scheme"}) {
            YamlNode* run = root.find("run");
            const YamlNode* scheme = run ? run->find("scheme") : nullptr;
            if (const YamlNode* step = scheme ? scheme->find("step") : nullptr; step && !run->find("step")) {
                YamlNode kept = *step;
                const YamlNode::KeyPlace key{kept.line, kept.column, kept.file};
                run->add("step", key, std::move(kept));
            }
        }
        override_yaml(root, path, given.text, origin);
    }
    return later;
}

// Parameters may use each other in any order, so that those of an including file can use, and be used by, those of an
// included one. Depth first with a stack of our own: a file may hold a hundred thousand of them in one chain.
void read_parameters(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    if (node.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected a map of parameters, {{name: number}}, found {}", node.describe()),
                    node.place());
    const std::size_t n = node.keys.size();
    std::map<std::string, std::size_t> position;
    for (std::size_t i = 0; i < n; ++i) {
        check_parameter_name(node.keys[i], "a parameter's", node.key_place(i));
        scene.parameters.push_back({node.keys[i], 0, node.key_place(i)});
        position.emplace(node.keys[i], i);
    }
    enum class Mark : char { untouched, open, done };
    std::vector<Mark> marks(n, Mark::untouched);
    std::vector<std::size_t> stack;
    for (std::size_t start = 0; start < n; ++start) {
        if (marks[start] != Mark::done) stack.push_back(start);
        while (!stack.empty()) {
            const std::size_t i = stack.back();
            const YamlNode& value = node.children[i];
            marks[i] = Mark::open;
            bool ready = true;
            for (const std::string& word :
                 value.kind == YamlNode::Kind::scalar ? words_of(value.text) : std::vector<std::string>()) {
                const auto needed = position.find(word);
                if (needed == position.end() || marks[needed->second] == Mark::done) continue;
                if (marks[needed->second] == Mark::open) {
                    const auto first = std::find(stack.begin(), stack.end(), needed->second);
                    std::string circle;
                    for (auto k = first; k != stack.end(); ++k) circle += node.keys[*k] + " -> ";
                    throw Error("parameters need each other in a circle: " + circle + word, value.place());
                }
                stack.push_back(needed->second);
                ready = false;
                break;
            }
            if (!ready) continue;
            scene.parameters[i].value = ValueReader(scene.parameters).number(value);
            marks[i] = Mark::done;
            stack.pop_back();
        }
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

namespace {

// Things one by one, so that what is wrong with a copy says with which.
void read_things(YamlNode* section, Scene& scene, void (*read)(const YamlNode&, Scene&)) {
    if (!section) return;
    if (section->kind != YamlNode::Kind::map) return read(*section, scene);
    for (std::size_t i = 0; i < section->keys.size(); ++i) {
        YamlNode one;
        one.kind = YamlNode::Kind::map;
        one.file = section->file;
        one.add(std::move(section->keys[i]), std::move(section->key_places[i]), std::move(section->children[i]));
        tell_copy(one.children[0], [&] { read(one, scene); });
    }
}

}  // namespace

Scene read_scene_within(const std::string& text, const std::string& name, const OptionValues& overrides,
                        const SceneLimits& limits) {
    Scene scene;
    scene.file = name;
    scene.overrides = overrides;
    YamlNode root = read_with_includes(text, name, limits, scene.text);
    const OptionValues of_copies = apply_overrides(root, overrides);
    if (const YamlNode* let = root.find("let")) read_parameters(*let, scene);
    const ValueReader values(scene.parameters);

    const YamlNode* version = root.find("stickslip");
    if (!version) throw Error("the scene needs the key 'stickslip'", root.place());
    if (values.number(*version) != 1)
        throw Error(fmt::format("expected 'stickslip: 1' (the version of the format), found {}", version->describe()),
                    version->place());
    read_members(MapReader(root, "the scene", "scene"), scene_map("scene").fields, scene, 0, typeid(Scene), &scene);

    expand_templates(root, scene.parameters, limits);
    apply_overrides(root, of_copies);

    const YamlNode nothing;
    const YamlNode* materials = root.find("materials");
    read_materials(materials ? *materials : nothing, scene);
    if (const YamlNode* contacts = root.find("contacts")) read_contacts(*contacts, scene);
    read_things(root.find("bodies"), scene, read_bodies);
    read_things(root.find("joints"), scene, read_joints);
    read_things(root.find("forces"), scene, read_forces);
    if (const YamlNode* actions = root.find("actions")) read_actions(*actions, scene);
    if (const YamlNode* run = root.find("run")) read_run(*run, scene);
    return scene;
}

std::string write_scene(const Scene& scene) {
    YamlNode root = empty_map(), let = empty_map();
    put(root, "stickslip", scalar("1"));
    for (const Scene::Parameter& parameter : scene.parameters) put(let, parameter.name, number_node(parameter.value));
    const auto section = [&](const char* key, YamlNode node) {
        if (node.kind != YamlNode::Kind::null) put(root, key, std::move(node));
    };
    if (!let.keys.empty()) section("let", std::move(let));
    write_fields(scene_map("scene"), scene, root);
    section("materials", write_materials(scene));
    section("contacts", write_contacts(scene));
    section("bodies", write_bodies(scene));
    section("joints", write_joints(scene));
    section("forces", write_forces(scene));
    section("actions", write_actions(scene));
    section("run", write_run(scene));
    return write_yaml(root);
}

Scene read_scene_text(const std::string& text, const std::string& name, const OptionValues& overrides) {
    return read_scene_within(text, name, overrides, {});
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

}  // namespace stickslip
