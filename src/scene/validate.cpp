// Checks of bodies, joints and forces, whether they come from a file or from a program.
#include "scene/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/joints/joint.hpp"
#include "scene/standing.hpp"

namespace stickslip {

namespace {

// A vector of the plane.
void check_in_plane(const Scene& scene, const Vec3& x, const std::string& what, const Where& at, const Place& place) {
    const int normal = plane_normal(scene.plane);
    // 1e-9: what rounding of angles in degrees leaves behind.
    if (normal < 0 || std::abs(x[normal]) <= 1e-9 * std::max(1.0, x.norm())) return;
    throw at.error(fmt::format("{} leaves the plane {}: its {} component is {}", what, to_string(scene.plane),
                               "xyz"[normal], x[normal]),
                   place);
}

Vec3 across(const Vec3& x, int normal) {
    Vec3 part = x;
    part[normal] = 0;
    return part;
}

void check_attitude(const Scene& scene, const Quat& attitude, const Where& at, const Place& place) {
    const int normal = plane_normal(scene.plane);
    if (normal < 0 || across(attitude.vec(), normal).norm() <= 1e-9) return;
    throw at.error(fmt::format("a rotation in the plane {} must be about {}", to_string(scene.plane), "xyz"[normal]),
                   place);
}

void check_turning(const Scene& scene, const Vec3& omega, const Where& at, const Place& place) {
    const int normal = plane_normal(scene.plane);
    if (normal < 0 || across(omega, normal).norm() == 0) return;
    throw at.error(
        fmt::format("an angular velocity in the plane {} must be about {}", to_string(scene.plane), "xyz"[normal]),
        place);
}

// What a body that moves must have, and what makes no sense on one that does not.
void check_mass(const Scene::Body& body, const Where& at) {
    const auto is_solid = [](const Scene::Shape& shape) { return known_shape_kind(shape).solid; };
    const bool solid = std::any_of(body.shapes.begin(), body.shapes.end(), is_solid);
    if (body.fixed) {
        for (const Vec3* speed : {&body.velocity, &body.angular_velocity})
            if (at.gives(speed) || !speed->isZero(0))
                throw at.error(
                    fmt::format("body '{}' is fixed, it cannot have the key '{}'", body.name, at.name(speed)),
                    at.key(speed));
        return;
    }
    for (const Scene::Shape& shape : body.shapes)
        if (!is_solid(shape))
            throw at.error(
                fmt::format("a {} has no finite mass: body '{}' must be fixed to carry it", shape.kind, body.name),
                shape.place);
    if (!body.mass && !body.density)
        throw at.error(fmt::format("body '{}' can move, so it needs '{}' or '{}' (or fixed: true)", body.name,
                                   at.name(&body.mass), at.name(&body.density)));
    if (body.density && !solid)
        throw at.error(fmt::format("body '{}' has a density but no shapes to fill with it", body.name),
                       at.key(&body.density));
    if (!body.inertia && !solid)
        throw at.error(fmt::format("body '{}' has no shapes, so it needs '{}'", body.name, at.name(&body.inertia)));
}

// The coordinate of this measure, if the kind has one and not several; else -1.
int only(const JointKind& kind, JointCoordinate::Measure measure) {
    int found = -1, count = 0;
    for (int c = 0; c < std::ssize(kind.coordinates); ++c) {
        if (kind.coordinates[c].measure != measure) continue;
        found = c;
        ++count;
    }
    return count == 1 ? found : -1;
}

// "a, b or c"
std::string alternatives(std::vector<std::string> words) {
    const std::string last = words.back();
    words.pop_back();
    return words.empty() ? last : fmt::format("{} or {}", fmt::join(words, ", "), last);
}

std::string kinds_with(const std::function<bool(const JointKind&)>& fits) {
    std::vector<std::string> names;
    for (const JointKind& kind : joint_table())
        if (fits(kind)) names.emplace_back(kind.name);
    return alternatives(std::move(names));
}

int coupled(const Scene& scene, const Scene::Name& name, int end, JointCoordinate::Measure measure) {
    const int index = last_joint(scene, name.text, end);
    if (index < 0) joint_index(scene, name);  // tells the names that there are
    if (index < 0)
        throw Error(fmt::format("joint '{}' must stand before the gear that couples it", name.text), name.place);
    const Scene::Joint& joint = scene.joints[index];
    if (const int found = only(joint_kind(joint.kind), measure); found >= 0) return found;
    throw Error(
        fmt::format("expected a {} joint, but '{}' is a {} joint",
                    kinds_with([&](const JointKind& kind) { return only(kind, measure) >= 0; }), name.text, joint.kind),
        name.place);
}

void check_axes(const Scene& scene, const Scene::Joint& joint, const JointKind& kind, const Where& at) {
    using Axes = JointKind::Axes;
    const int normal = plane_normal(scene.plane);
    if (kind.axes == Axes::pair && std::abs(joint.axis.dot(joint.axis_b)) > 1e-6)
        throw at.error(fmt::format("the two axes of a {} joint must be at right angles", kind.name),
                       at.value(&joint.axis_b));
    if (kind.axes == Axes::slide)
        check_in_plane(scene, joint.axis, fmt::format("the axis of the {} joint", kind.name), at,
                       at.value(&joint.axis));
    if (kind.axes == Axes::turn && normal >= 0 && std::abs(joint.axis[normal]) < 1 - 1e-9)
        throw at.error(
            fmt::format("a {} axis in the plane {} must be along {}", kind.name, to_string(scene.plane), "xyz"[normal]),
            at.value(&joint.axis));
}

}  // namespace

std::string what_of(const Scene::Joint& joint) { return fmt::format("{} joint '{}'", joint.kind, joint.name); }

std::string what_of(const Scene::Joint& joint, int coordinate) {
    const JointKind& kind = joint_kind(joint.kind);
    if (kind.coordinates.size() == 1) return what_of(joint);
    return fmt::format("'{}' of {}", kind.coordinates[coordinate].name, what_of(joint));
}

std::string what_of_force(const std::string& map, const std::string& name) {
    std::string words = map;
    std::replace(words.begin(), words.end(), '-', ' ');
    return fmt::format("{} '{}'", words, name);
}

const SceneMap& map_of(const Scene::Joint& joint) { return scene_map(joint.kind + "-joint"); }

const SceneMap& map_of(Edit::Kind kind) { return scene_map(std::string("action-") + to_string(kind)); }

const std::vector<std::string>& edit_verbs() {
    static const std::vector<std::string> verbs = [] {
        std::vector<std::string> words;
        for (int k = 0; k <= static_cast<int>(Edit::Kind::drive); ++k)
            words.emplace_back(to_string(static_cast<Edit::Kind>(k)));
        return words;
    }();
    return verbs;
}

const ShapeKind& known_shape_kind(const Scene::Shape& shape) {
    if (const ShapeKind* kind = find_shape_kind(shape.kind)) return *kind;
    std::vector<std::string> names;
    for (const ShapeKind& kind : shape_kinds_of_scenes()) names.push_back(kind.name());
    throw unknown_name("kind of shape", shape.kind, names, shape.place);
}

const SceneFields& common_keys_of_shapes() {
    static const SceneFields common = [] {
        SceneFields fields = scene_map("shape").fields;
        std::erase_if(fields, [](const SceneField& field) { return find_shape_kind(field.key) != nullptr; });
        return fields;
    }();
    return common;
}

void check_things(const YamlNode& node, const char* what) {
    if (node.kind != YamlNode::Kind::map)
        throw Error(fmt::format("expected a map of {}, {{name: {{kind: {{...}}}}}}, found {}", what, node.describe()),
                    node.place());
}

void check_body_name(const std::string& name, const Place& place) {
    if (name == "ground")
        throw Error("the body 'ground' always exists and cannot be given; choose another name, with fixed: true",
                    place);
    check_name(name, "body", place);
}

void check_pair(const Scene& scene, std::size_t index) {
    const std::vector<Scene::Pair>& pairs = scene.contacts.pairs;
    const Scene::Pair& pair = pairs[index];
    for (std::size_t i = 0; i < index; ++i)
        if ((pairs[i].a.text == pair.a.text && pairs[i].b.text == pair.b.text) ||
            (pairs[i].a.text == pair.b.text && pairs[i].b.text == pair.a.text))
            throw Error(fmt::format("the pair {}, {} is given twice", pair.a.text, pair.b.text), pair.place);
}

std::string wrong_with_facets(int facets) {
    // 1000: the error of the polygon is then 5e-6, and the problem 1000 unknowns per contact.
    if (facets >= 4 && facets % 2 == 0 && facets <= 1000) return "";
    return fmt::format("expected an even number of facets from 4 to 1000, found {}", facets);
}

void check_shape(const Scene& scene, const Scene::Body& body, const Scene::Shape& shape, const Where& at) {
    const ShapeKind& kind = known_shape_kind(shape);
    const int normal = plane_normal(scene.plane);
    if (normal < 0) return;
    if (!kind.solid)
        check_in_plane(scene, body.pose.attitude * (shape.pose.attitude * shape.normal),
                       fmt::format("the normal of the {}", shape.kind), at, shape.place);
    if (!kind.round) return check_attitude(scene, shape.pose.attitude, at, at.value(&shape.pose));
    // All that matters of a round shape is where its axis goes, along the plane or across it.
    const Vec3 axis = shape.pose.attitude * Vec3::UnitZ();
    if (std::min(std::abs(axis[normal]), across(axis, normal).norm()) > 1e-9)
        throw at.error(fmt::format("the axis of a {} in the plane {} must lie in the plane or be along {}", shape.kind,
                                   to_string(scene.plane), "xyz"[normal]),
                       at.value(&shape.pose));
}

void check_body(const Scene& scene, const Scene::Body& body, const Where& at) {
    check_attitude(scene, body.pose.attitude, at, at.value(&body.pose));
    check_in_plane(scene, body.velocity, "the velocity", at, at.value(&body.velocity));
    check_turning(scene, body.angular_velocity, at, at.value(&body.angular_velocity));
    check_mass(body, at);
}

void check_movable(const Scene& scene, const Scene::Name& a, const Scene::Name& b, const std::string& what) {
    const auto fixed = [&](const Scene::Name& name) {
        const int i = body_index(scene, name);
        return i < 0 || scene.bodies[i].fixed;
    };
    if (!fixed(a) || !fixed(b)) return;
    if (a.text == b.text) throw Error(fmt::format("{} acts on '{}', which cannot move", what, a.text), a.place);
    throw Error(fmt::format("{} connects '{}' and '{}', neither of which can move", what, a.text, b.text), b.place);
}

// Kinds that a planar scene cannot hold: their freedoms leave the plane.
void check_kind_in_plane(const Scene& scene, const Scene::Joint& joint) {
    const JointKind& kind = joint_kind(joint.kind);
    if (scene.plane == Scene::Plane::none || kind.rows_in_plane > 0) return;
    const auto one_freedom = [](const JointKind& k) {
        return k.rows_in_plane > 0 && (k.axes == JointKind::Axes::turn || k.axes == JointKind::Axes::slide);
    };
    throw Error(fmt::format("a {} joint needs space, the scene is in the plane {}: use {}", kind.name,
                            to_string(scene.plane), kinds_with(one_freedom)),
                joint.kind_place);
}

std::pair<int, int> gear_coordinates(const Scene& scene, const Scene::Joint& gear, int end) {
    using Measure = JointCoordinate::Measure;
    const bool slides = joint_kind(gear.kind).tie == JointKind::Tie::slide_to_angle;
    return {coupled(scene, gear.first, end, slides ? Measure::slide : Measure::angle),
            coupled(scene, gear.second, end, Measure::angle)};
}

void check_joint(const Scene& scene, const Scene::Joint& joint, int end, const Where& at) {
    const JointKind& kind = joint_kind(joint.kind);
    check_kind_in_plane(scene, joint);
    for (const std::optional<Vec3>* anchor : {&joint.at, &joint.at_a, &joint.at_b})
        if (*anchor && !at.name(anchor)) throw at.error(fmt::format("{} cannot be placed so", at.what()));
    if (kind.is_gear()) {
        const auto [c1, c2] = gear_coordinates(scene, joint, end);
        if (joint.first.text == joint.second.text && c1 == c2)
            throw at.error(fmt::format("{} couples '{}' with itself", at.what(), joint.first.text), joint.second.place);
        if (!joint.drives.empty()) throw at.error(fmt::format("{} has no coordinate to act on", at.what()));
        return;
    }
    if (joint.a.text == joint.b.text)
        throw at.error(fmt::format("{} joins '{}' with itself", at.what(), joint.a.text), joint.b.place);
    check_movable(scene, joint.a, joint.b, at.what());
    check_axes(scene, joint, kind, at);
    if (kind.is_curve()) try {
            Curve(joint.points, joint.closed);
        } catch (const Error& error) {
            throw at.error(error.what(), at.value(&joint.points));
        }
    if (joint.length && !joint.drives.empty())
        throw at.error(fmt::format("{0} has a fixed '{1}', so nothing can act on it: leave '{1}' out", at.what(),
                                   at.name(&joint.length)),
                       at.key(&joint.length));
}

void check_drive(const Scene::Joint& joint, const Scene::Drive& drive, const Where& at) {
    if (!(drive.lower < drive.upper))
        throw at.error(
            fmt::format("the lower limit must be below the upper one, found {} and {}", drive.lower, drive.upper),
            drive.limits_place);
    const bool length = joint_kind(joint.kind).anchor == JointKind::Anchor::ends;
    if (!length && (drive.start < drive.lower || drive.start > drive.upper))
        throw at.error(fmt::format("{} starts at {}, outside its limits [{}, {}]", at.what(), drive.start, drive.lower,
                                   drive.upper),
                       drive.limits_place);
}

void check_force(const Scene& scene, const Scene::Spring& spring, const Where& at) {
    check_movable(scene, spring.a, spring.b, at.what());
}

void check_force(const Scene& scene, const Scene::TorsionSpring& spring, const Where& at) {
    const Scene::Joint& joint = scene.joints[joint_index(scene, spring.joint)];
    const JointKind& kind = joint_kind(joint.kind);
    if (kind.coordinates.empty() || kind.anchor == JointKind::Anchor::ends)
        throw at.error(fmt::format("a {} joint has no angle or slide for a spring", joint.kind), spring.joint.place);
    if (spring.coordinate < 0 || spring.coordinate >= std::ssize(kind.coordinates))
        throw at.error(fmt::format("joint '{}' has no coordinate number {}", joint.name, spring.coordinate));
}

void check_force(const Scene& scene, const Scene::Bushing& bushing, const Where& at) {
    if (bushing.a.text == bushing.b.text)
        throw at.error(fmt::format("{} joins '{}' with itself", at.what(), bushing.a.text), bushing.b.place);
    check_movable(scene, bushing.a, bushing.b, at.what());
}

void check_force(const Scene& scene, const Scene::Drag& drag, const Where& at) {
    check_movable(scene, drag.body, drag.body, at.what());
}

void check_force(const Scene& scene, const Scene::Load& load, const Where& at) {
    check_movable(scene, load.body, load.body, at.what());
    if (!(load.from < load.until))
        throw at.error(fmt::format("'{}' must come after '{}', found {} and {}", at.name(&load.until),
                                   at.name(&load.from), load.until, load.from),
                       at.key(&load.until));
}

// Where an edit puts a body.
void check_placement(const Scene& scene, const Edit& edit, const Where& at) {
    if (edit.pose) check_attitude(scene, edit.pose->attitude, at, at.value(&edit.pose));
    if (edit.velocity) check_in_plane(scene, *edit.velocity, "the velocity", at, at.value(&edit.velocity));
    if (edit.angular_velocity) check_turning(scene, *edit.angular_velocity, at, at.value(&edit.angular_velocity));
}

bool changes_drive(const Edit& edit) {
    return edit.speed || edit.position || edit.brake || edit.max_effort || edit.time_constant || edit.friction;
}

void walk_actions(const Scene& scene) {
    DeclaredScene declared = declare_all(scene);
    Standing standing(declared);
    for (std::size_t i = 0; i < scene.actions.size(); ++i)
        standing.apply(declared.scene, *scene.actions[i].edit, scene.actions[i].at, declared.joint[i]);
}

}  // namespace stickslip
