// Materials, contacts, bodies and their shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scene/reader.hpp"

namespace stickslip {

namespace {

// A capsule is round: all that matters in a plane is where its axis goes, along the plane or across it.
void check_axis_in_plane(const Scene& scene, const Quat& attitude, const Place& place) {
    const int normal = plane_normal(scene.plane);
    if (normal < 0) return;
    Vec3 axis = attitude * Vec3::UnitZ();
    const double across = std::abs(axis[normal]);
    axis[normal] = 0;
    if (std::min(across, axis.norm()) > 1e-9)
        throw Error(fmt::format("the axis of a capsule in the plane {} must lie in the plane or be along {}",
                                to_string(scene.plane), "xyz"[normal]),
                    place);
}

Scene::Shape read_shape(const YamlNode& node, const Scene& scene, const std::string& body) {
    const ValueReader values(scene.parameters);
    const MapReader map(node, fmt::format("a shape of body '{}'", body), "shape");
    Scene::Shape shape;
    shape.place = node.place();

    int kinds = 0;
    if (const YamlNode* radius = map.find("sphere")) {
        ++kinds;
        shape.kind = Scene::Shape::Kind::sphere;
        shape.radius = values.positive(*radius, "m");
    }
    if (const YamlNode* edges = map.find("box")) {
        ++kinds;
        shape.kind = Scene::Shape::Kind::box;
        shape.edges = values.vector(*edges);
        for (const YamlNode& edge : edges->children) values.positive(edge, "m");
    }
    if (const YamlNode* capsule = map.find("capsule")) {
        ++kinds;
        shape.kind = Scene::Shape::Kind::capsule;
        const MapReader keys(*capsule, "a capsule", "capsule");
        shape.radius = values.positive(keys.need("radius"), "m");
        shape.length = values.positive(keys.need("length"), "m");
    }
    if (const YamlNode* half = map.find("half-space")) {
        ++kinds;
        shape.kind = Scene::Shape::Kind::half_space;
        const MapReader keys(*half, "a half-space", "half-space");
        shape.normal = values.direction(keys.need("normal"), "normal");
        if (const YamlNode* offset = keys.find("offset")) shape.offset = values.number(*offset);
    }
    if (kinds != 1)
        throw Error(fmt::format("expected one of sphere, box, capsule, half-space in a shape of body '{}', found {}",
                                body, kinds == 0 ? "none" : "several"),
                    node.place());

    if (const YamlNode* material = map.find("material")) shape.material = read_material_name(*material, scene);
    if (const YamlNode* pose = map.find("pose")) {
        shape.pose = values.pose(*pose);
        if (shape.kind == Scene::Shape::Kind::capsule)
            check_axis_in_plane(scene, shape.pose.attitude, pose->place());
        else
            check_attitude_in_plane(scene, shape.pose.attitude, pose->place());
    }
    return shape;
}

// What a body that moves must have, and what makes no sense on one that does not.
void check_mass(const Scene::Body& body, const MapReader& map) {
    map.not_both("mass", "density");
    const bool solid = std::any_of(body.shapes.begin(), body.shapes.end(),
                                   [](const Scene::Shape& s) { return s.kind != Scene::Shape::Kind::half_space; });
    if (body.fixed) {
        for (const char* key : {"velocity", "angular_velocity"})
            if (map.find(key))
                throw Error(fmt::format("body '{}' is fixed, it cannot have the key '{}'", body.name, key),
                            map.key_place(key));
        return;
    }
    for (const Scene::Shape& shape : body.shapes)
        if (shape.kind == Scene::Shape::Kind::half_space)
            throw Error(fmt::format("a half-space has no finite mass: body '{}' must be fixed to carry it", body.name),
                        shape.place);
    if (!body.mass && !body.density)
        throw Error(fmt::format("body '{}' can move, so it needs 'mass' or 'density' (or fixed: true)", body.name),
                    body.place);
    if (body.density && !solid)
        throw Error(fmt::format("body '{}' has a density but no shapes to fill with it", body.name),
                    map.key_place("density"));
    if (!body.inertia && !solid)
        throw Error(fmt::format("body '{}' has no shapes, so it needs 'inertia'", body.name), body.place);
}

Scene::Body read_body(const std::string& name, const YamlNode& node, const Place& place, const Scene& scene) {
    const ValueReader values(scene.parameters);
    const MapReader map(node, fmt::format("body '{}'", name), "body");
    Scene::Body body;
    body.name = name;
    body.place = place;
    if (const YamlNode* fixed = map.find("fixed")) body.fixed = values.truth(*fixed);
    if (const YamlNode* pose = map.find("pose")) {
        body.pose = values.pose(*pose);
        check_attitude_in_plane(scene, body.pose.attitude, pose->place());
    }
    if (const YamlNode* com = map.find("com")) body.com = values.vector(*com);
    if (const YamlNode* mass = map.find("mass")) body.mass = values.positive(*mass, "kg");
    if (const YamlNode* density = map.find("density")) body.density = values.positive(*density, "kg/m^3");
    if (const YamlNode* inertia = map.find("inertia")) body.inertia = values.inertia(*inertia);
    if (const YamlNode* shapes = map.find("shapes")) {
        if (shapes->kind != YamlNode::Kind::list)
            throw Error(fmt::format("expected a list of shapes, found {}", shapes->describe()), shapes->place());
        for (const YamlNode& shape : shapes->children) {
            body.shapes.push_back(read_shape(shape, scene, name));
            const Scene::Shape& last = body.shapes.back();
            if (last.kind == Scene::Shape::Kind::half_space)
                check_in_plane(scene, body.pose.attitude * (last.pose.attitude * last.normal),
                               "the normal of the half-space", last.place);
        }
    }
    if (const YamlNode* velocity = map.find("velocity")) body.velocity = read_velocity(*velocity, scene);
    if (const YamlNode* omega = map.find("angular_velocity"))
        body.angular_velocity = read_angular_velocity(*omega, scene);
    if (const YamlNode* present = map.find("present")) body.present = values.truth(*present);
    check_mass(body, map);
    return body;
}

}  // namespace

void check_attitude_in_plane(const Scene& scene, const Quat& attitude, const Place& place) {
    const int normal = plane_normal(scene.plane);
    if (normal < 0) return;
    Vec3 across = attitude.vec();
    across[normal] = 0;
    if (across.norm() > 1e-9)
        throw Error(fmt::format("a rotation in the plane {} must be about {}", to_string(scene.plane), "xyz"[normal]),
                    place);
}

Vec3 read_velocity(const YamlNode& node, const Scene& scene) {
    const Vec3 velocity = ValueReader(scene.parameters).vector(node);
    check_in_plane(scene, velocity, "the velocity", node.place());
    return velocity;
}

Vec3 read_angular_velocity(const YamlNode& node, const Scene& scene) {
    const Vec3 omega = ValueReader(scene.parameters).vector(node);
    if (const int normal = plane_normal(scene.plane); normal >= 0) {
        Vec3 across = omega;
        across[normal] = 0;
        if (across.norm() > 0)
            throw Error(fmt::format("an angular velocity in the plane {} must be about {}", to_string(scene.plane),
                                    "xyz"[normal]),
                        node.place());
    }
    return omega;
}

void read_materials(const YamlNode& node, Scene& scene) {
    const ValueReader values(scene.parameters);
    if (node.kind != YamlNode::Kind::null) {
        if (node.kind != YamlNode::Kind::map)
            throw Error(fmt::format("expected a map of materials, found {}", node.describe()), node.place());
        for (std::size_t i = 0; i < node.keys.size(); ++i) {
            check_name(node.keys[i], "material", node.key_place(i));
            const MapReader map(node.children[i], fmt::format("material '{}'", node.keys[i]), "material");
            Scene::Material material;
            material.name = node.keys[i];
            material.place = node.key_place(i);
            if (const YamlNode* friction = map.find("friction"))
                material.friction = values.not_negative(*friction, "-");
            if (const YamlNode* restitution = map.find("restitution"))
                material.restitution = values.fraction(*restitution);
            if (const YamlNode* tangential = map.find("tangential_restitution"))
                material.tangential_restitution = values.fraction(*tangential);
            scene.materials.push_back(material);
        }
    }
    const auto is_default = [](const Scene::Material& m) { return m.name == "default"; };
    if (std::none_of(scene.materials.begin(), scene.materials.end(), is_default))
        scene.materials.push_back({"default", 0.5, 0, {}, 0});
}

void read_contacts(const YamlNode& node, Scene& scene) {
    const ValueReader values(scene.parameters);
    const MapReader map(node, "contacts", "contacts");
    scene.contacts.place = node.place();
    if (const YamlNode* cone = map.find("cone")) {
        if (cone->kind == YamlNode::Kind::scalar && cone->text == "polygon")
            throw Error("expected the number of facets, as in {polygon: 8}", cone->place());
        if (cone->kind == YamlNode::Kind::map) {
            const MapReader polygon(*cone, "a cone", "cone");
            const YamlNode& facets = polygon.need("polygon");
            scene.contacts.facets = values.whole(facets);
            // 1000: the error of the polygon is then 5e-6, and the problem 1000 unknowns per contact.
            if (scene.contacts.facets < 4 || scene.contacts.facets % 2 != 0 || scene.contacts.facets > 1000)
                throw Error(
                    fmt::format("expected an even number of facets from 4 to 1000, found {}", scene.contacts.facets),
                    facets.place());
        } else {
            values.choice(*cone, "cone", {"disc", "polygon"});
        }
    }
    if (const YamlNode* pairs = map.find("pairs")) {
        if (pairs->kind != YamlNode::Kind::list)
            throw Error(fmt::format("expected a list of pairs, found {}", pairs->describe()), pairs->place());
        for (const YamlNode& item : pairs->children) {
            const MapReader keys(item, "a pair", "pair");
            Scene::Pair pair;
            pair.place = item.place();
            pair.a = read_material_name(keys.need("a"), scene);
            pair.b = read_material_name(keys.need("b"), scene);
            if (const YamlNode* friction = keys.find("friction")) pair.friction = values.not_negative(*friction, "-");
            if (const YamlNode* restitution = keys.find("restitution"))
                pair.restitution = values.fraction(*restitution);
            if (const YamlNode* tangential = keys.find("tangential_restitution"))
                pair.tangential_restitution = values.fraction(*tangential);
            for (const Scene::Pair& other : scene.contacts.pairs)
                if ((other.a.text == pair.a.text && other.b.text == pair.b.text) ||
                    (other.a.text == pair.b.text && other.b.text == pair.a.text))
                    throw Error(fmt::format("the pair {}, {} is given twice", pair.a.text, pair.b.text), pair.place);
            scene.contacts.pairs.push_back(pair);
        }
    }
}

void read_bodies(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    if (node.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected a map of bodies, {{name: {{...}}}}, found {}", node.describe()),
                    node.place());
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        if (node.keys[i] == "ground")
            throw Error("the body 'ground' always exists and cannot be given; choose another name, with fixed: true",
                        node.key_place(i));
        check_name(node.keys[i], "body", node.key_place(i));
        scene.bodies.push_back(read_body(node.keys[i], node.children[i], node.key_place(i), scene));
    }
}

}  // namespace stickslip
