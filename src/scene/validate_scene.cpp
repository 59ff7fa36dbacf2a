// Scenes and edits that a program made, judged as files are: the values of all members by the listing, then the checks of
// validate.cpp. What is wrong is told with the name of the thing, and with its place if it was read from a file once.
#include <fmt/format.h>

#include <set>

#include "model/joints/joint.hpp"
#include "scene/validate.hpp"

namespace stickslip {

namespace {

// Throws what `check` throws; an error without a place gets the name of the thing in front.
template <class F>
void about(const std::string& what, F&& check) {
    try {
        check();
    } catch (const Error& e) {
        const std::string message = e.what();
        if (!e.place().file.empty() || message.find(what) != std::string::npos) throw;
        throw Error(what + ": " + message, e.place());
    }
}

template <class T>
void check_names(const std::vector<T>& things, const char* what, std::set<std::string>& names) {
    for (const T& thing : things)
        if (!names.insert(thing.name).second)
            throw Error(fmt::format("the {} '{}' is given twice", what, thing.name), thing.place);
}

void check_all_names(const Scene& scene) {
    std::set<std::string> materials, bodies, joints, forces;
    check_names(scene.materials, "material", materials);
    check_names(scene.bodies, "body", bodies);
    check_names(scene.joints, "joint", joints);
    check_names(scene.springs, "force", forces);
    check_names(scene.torsion_springs, "force", forces);
    check_names(scene.bushings, "force", forces);
    check_names(scene.drags, "force", forces);
    check_names(scene.loads, "force", forces);
}

void check_contacts(const Scene& scene) {
    for (const Scene::Material& material : scene.materials) {
        check_name(material.name, "material", material.place);
        check_fields(scene_map("material"), scene, fmt::format("material '{}'", material.name), material.place,
                     material);
    }
    const Scene::Contacts& contacts = scene.contacts;
    if (contacts.facets != 0)
        if (const std::string wrong = wrong_with_facets(contacts.facets); !wrong.empty())
            throw Error("contacts: " + wrong, contacts.place);
    for (std::size_t i = 0; i < contacts.pairs.size(); ++i) {
        const Scene::Pair& pair = contacts.pairs[i];
        check_fields(scene_map("pair"), scene, fmt::format("the pair {}, {}", pair.a.text, pair.b.text), pair.place,
                     pair);
        check_pair(scene, i);
    }
}

void check_made_body(const Scene& scene, const Scene::Body& body) {
    const std::string what = fmt::format("body '{}'", body.name);
    check_body_name(body.name, body.place);
    check_fields(scene_map("body"), scene, what, body.place, body);
    for (const Scene::Shape& shape : body.shapes) {
        about(what, [&] { known_shape_kind(shape); });
        const ShapeKind& kind = known_shape_kind(shape);
        const std::string named = fmt::format("a {} of body '{}'", shape.kind, body.name);
        const Place& place = shape.place.file.empty() ? body.place : shape.place;
        check_members(kind.keys.empty() ? SceneFields{kind.field} : kind.keys, scene, named, place,
                      typeid(Scene::Shape), &shape);
        check_members(common_keys_of_shapes(), scene, named, place, typeid(Scene::Shape), &shape);
        check_shape(scene, body, shape, Where(named, place, scene_map("shape"), shape));
    }
    check_body(scene, body, Where(what, body.place, scene_map("body"), body));
}

void check_made_drives(const Scene& scene, const Scene::Joint& joint) {
    const JointKind& kind = joint_kind(joint.kind);
    std::set<int> driven;
    for (const Scene::Drive& drive : joint.drives) {
        const Place& place = drive.place.file.empty() ? joint.place : drive.place;
        if (drive.coordinate < 0 || drive.coordinate >= std::ssize(kind.coordinates))
            throw Error(fmt::format("{} has no coordinate number {}", what_of(joint), drive.coordinate), place);
        const std::string what = what_of(joint, drive.coordinate);
        if (!driven.insert(drive.coordinate).second) throw Error(fmt::format("{} is driven twice", what), place);
        const SceneMap& map = scene_map(map_of_drive(kind, drive.coordinate));
        check_fields(map, scene, what, place, drive);
        check_members(scene_map("limits").fields, scene, "the limits of " + what, place, typeid(Scene::Drive), &drive);
        if (drive.motor)
            check_fields(scene_map(map_of_motor(kind.coordinates[drive.coordinate].turns())), scene,
                         "the motor of " + what, place, *drive.motor);
        check_drive(joint, drive, Where(what, place, map, drive));
    }
}

void check_made_joint(const Scene& scene, const Scene::Joint& joint, int end) {
    check_name(joint.name, "joint", joint.place);
    about(fmt::format("joint '{}'", joint.name), [&] { joint_kind(joint.kind); });
    const std::string what = what_of(joint);
    about(what, [&] {
        check_fields(map_of(joint), scene, what, joint.place, joint);
        check_made_drives(scene, joint);
        check_joint(scene, joint, end, Where(what, joint.place, map_of(joint), joint));
    });
}

void check_actions(const Scene& scene) {
    Scene known = scene;  // with the joints attached so far
    double last = 0;
    for (const Scene::Action& action : scene.actions) {
        if (!action.edit) throw Error("an action needs an edit", action.place);
        const std::string what = fmt::format("the action on '{}'", action.edit->name.text);
        check_fields(map_of(action.edit->kind), scene, what, action.place, action);
        if (action.at < last) throw Error(what + ": actions must stand in the order of their times", action.place);
        last = action.at;
        check_edit(known, *action.edit);
        if (action.edit->joint) known.joints.push_back(*action.edit->joint);
    }
    walk_actions(scene);
}

}  // namespace

void check_edit(const Scene& scene, const Edit& edit) {
    const std::string what = fmt::format("{} '{}'", to_string(edit.kind), edit.name.text);
    check_fields(map_of(edit.kind), scene, what, edit.place, edit);
    check_placement(scene, edit, Where(what, edit.place, map_of(edit.kind), edit));
    if (edit.body) check_made_body(scene, *edit.body);
    if (edit.kind == Edit::Kind::attach && !edit.joint) throw Error("attaching needs a joint", edit.place);
    if (edit.joint) check_made_joint(scene, *edit.joint, static_cast<int>(scene.joints.size()));
    if (edit.kind == Edit::Kind::drive && !changes_drive(edit))
        throw Error(fmt::format("driving '{}' has nothing to change", edit.name.text), edit.place);
}

void validate_scene(const Scene& scene) {
    check_fields(scene_map("scene"), scene, "the scene", {scene.file, 0, 0}, scene);
    check_all_names(scene);
    check_contacts(scene);
    for (const Scene::Body& body : scene.bodies) check_made_body(scene, body);
    for (int j = 0; j < std::ssize(scene.joints); ++j) check_made_joint(scene, scene.joints[j], j);
    check_forces(scene);
    check_fields(scene_map("run"), scene, "run", scene.run.place, scene.run);
    check_fields(scene_map("record"), scene, "record", scene.run.place, scene.run.record);
    if (!scene.actions.empty()) check_actions(scene);
}

}  // namespace stickslip
