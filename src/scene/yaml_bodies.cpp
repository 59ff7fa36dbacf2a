// Materials, contacts, bodies and their shapes, from YAML and into it.
#include <fmt/format.h>

#include <algorithm>

#include "scene/fields.hpp"
#include "scene/validate.hpp"

namespace stickslip {

namespace {

// The kind of a shape is the one key of the map that names one.
const ShapeKind& read_shape_kind(const MapReader& map, const std::string& body) {
    std::vector<const ShapeKind*> found;
    std::vector<std::string> names;
    for (const ShapeKind& kind : shape_kinds_of_scenes()) {
        names.push_back(kind.name());
        if (map.find(kind.name().c_str())) found.push_back(&kind);
    }
    if (found.size() == 1) return *found[0];
    throw Error(fmt::format("expected one of {} in a shape of body '{}', found {}", fmt::join(names, ", "), body,
                            found.empty() ? "none" : "several"),
                map.place());
}

Scene::Shape read_shape(const YamlNode& node, const Scene& scene, const Scene::Body& body) {
    const MapReader map(node, fmt::format("a shape of body '{}'", body.name), "shape");
    Scene::Shape shape;
    shape.place = node.place();
    const ShapeKind& kind = read_shape_kind(map, body.name);
    shape.kind = kind.name();
    if (kind.field.form == Form::map) {
        const MapReader keys(*map.find(kind.name().c_str()), "a " + kind.name(), kind.field.of);
        read_fields(keys, scene, shape);
    }
    read_fields(map, scene, shape);
    check_shape(scene, body, shape, Where(map, shape.place, shape));
    return shape;
}

YamlNode write_shape(const Scene::Shape& shape) {
    YamlNode map = empty_map(), own = empty_map();
    const ShapeKind& kind = known_shape_kind(shape);
    const Scene::Shape defaults;
    const bool opens = kind.field.form == Form::map;
    write_members(opens ? kind.keys : SceneFields{kind.field}, typeid(Scene::Shape), &shape, &defaults,
                  opens ? own : map);
    if (opens) put(map, kind.name(), std::move(own));
    write_members(common_keys_of_shapes(), typeid(Scene::Shape), &shape, &defaults, map);
    return map;
}

Scene::Body read_body(const std::string& name, const YamlNode& node, const Place& place, const Scene& scene) {
    const MapReader map(node, fmt::format("body '{}'", name), "body");
    Scene::Body body;
    body.name = name;
    body.place = place;
    read_fields(map, scene, body);
    if (const YamlNode* shapes = map.find("shapes")) {
        if (shapes->kind != YamlNode::Kind::list)
            throw Error(fmt::format("expected a list of shapes, found {}", shapes->describe()), shapes->place());
        for (const YamlNode& shape : shapes->children) body.shapes.push_back(read_shape(shape, scene, body));
    }
    check_body(scene, body, Where(map, place, body));
    return body;
}

void read_cone(const YamlNode& cone, Scene& scene) {
    const ValueReader values(scene.parameters);
    if (cone.kind == YamlNode::Kind::scalar && cone.text == "polygon")
        throw Error("expected the number of facets, as in {polygon: 8}", cone.place());
    if (cone.kind != YamlNode::Kind::map) {
        values.choice(cone, "cone", {"disc", "polygon"});
        return;
    }
    const YamlNode& facets = MapReader(cone, "a cone", "cone").need("polygon");
    scene.contacts.facets = values.whole(facets);
    if (const std::string wrong = wrong_with_facets(scene.contacts.facets);
        is_disc(scene.contacts.facets) || !wrong.empty())
        throw Error(wrong.empty() ? wrong_with_facets(2) : wrong, facets.place());
}

}  // namespace

void add_default_material(Scene& scene) {
    const auto is_default = [](const Scene::Material& m) { return m.name == default_material; };
    if (std::any_of(scene.materials.begin(), scene.materials.end(), is_default)) return;
    scene.materials.emplace_back().name = default_material;
}

void read_materials(const YamlNode& node, Scene& scene) {
    if (node.kind != YamlNode::Kind::null) {
        if (node.kind != YamlNode::Kind::map)
            throw Error(fmt::format("expected a map of materials, found {}", node.describe()), node.place());
        for (std::size_t i = 0; i < node.keys.size(); ++i) {
            check_name(node.keys[i], "material", node.key_place(i));
            const MapReader map(node.children[i], fmt::format("material '{}'", node.keys[i]), "material");
            Scene::Material material;
            material.name = node.keys[i];
            material.place = node.key_place(i);
            read_fields(map, scene, material);
            scene.materials.push_back(material);
        }
    }
    add_default_material(scene);
}

YamlNode write_materials(const Scene& scene) {
    YamlNode section = empty_map();
    for (const Scene::Material& material : scene.materials) {
        YamlNode map = empty_map();
        write_fields(scene_map("material"), material, map);
        put(section, material.name, std::move(map));
    }
    return section;
}

void read_contacts(const YamlNode& node, Scene& scene) {
    const MapReader map(node, "contacts", "contacts");
    scene.contacts.place = node.place();
    if (const YamlNode* cone = map.find("cone")) read_cone(*cone, scene);
    const YamlNode* pairs = map.find("pairs");
    if (!pairs) return;
    if (pairs->kind != YamlNode::Kind::list)
        throw Error(fmt::format("expected a list of pairs, found {}", pairs->describe()), pairs->place());
    for (const YamlNode& item : pairs->children) {
        const MapReader keys(item, "a pair", "pair");
        Scene::Pair pair;
        pair.place = item.place();
        read_fields(keys, scene, pair);
        scene.contacts.pairs.push_back(pair);
        check_pair(scene, scene.contacts.pairs.size() - 1);
    }
}

YamlNode write_contacts(const Scene& scene) {
    YamlNode section = empty_map();
    if (scene.contacts.facets > 0) {
        YamlNode cone = empty_map();
        put(cone, "polygon", scalar(fmt::format("{}", scene.contacts.facets)));
        put(section, "cone", std::move(cone));
    }
    YamlNode pairs;
    pairs.kind = YamlNode::Kind::list;
    for (const Scene::Pair& pair : scene.contacts.pairs) {
        YamlNode map = empty_map();
        write_fields(scene_map("pair"), pair, map);
        pairs.children.push_back(std::move(map));
    }
    if (!pairs.children.empty()) put(section, "pairs", std::move(pairs));
    return section.keys.empty() ? YamlNode{} : section;
}

void read_bodies(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    if (node.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected a map of bodies, {{name: {{...}}}}, found {}", node.describe()),
                    node.place());
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        check_body_name(node.keys[i], node.key_place(i));
        scene.bodies.push_back(read_body(node.keys[i], node.children[i], node.key_place(i), scene));
    }
}

YamlNode write_bodies(const Scene& scene) {
    YamlNode section = empty_map();
    for (const Scene::Body& body : scene.bodies) {
        YamlNode map = empty_map(), shapes;
        write_fields(scene_map("body"), body, map);
        shapes.kind = YamlNode::Kind::list;
        for (const Scene::Shape& shape : body.shapes) shapes.children.push_back(write_shape(shape));
        if (!body.shapes.empty()) put(map, "shapes", std::move(shapes));
        put(section, body.name, std::move(map));
    }
    return section.keys.empty() ? YamlNode{} : section;
}

}  // namespace stickslip
