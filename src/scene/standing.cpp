#include "scene/standing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/joints/joint.hpp"
#include "scene/reader.hpp"

namespace stickslip {

namespace {

bool is_gear(const Scene::Joint& joint) { return joint_kind(joint.kind).is_gear(); }
// A length is driven only where the scene gave it a drive: else it is held.
bool is_distance(const Scene::Joint& joint) { return joint_kind(joint.kind).anchor == JointKind::Anchor::ends; }

const Place& place_of(const Edit& edit) { return edit.name.place.file.empty() ? edit.place : edit.name.place; }

Scene::Drive* drive_of(Scene::Joint& joint, int coordinate) {
    for (Scene::Drive& drive : joint.drives)
        if (drive.coordinate == coordinate) return &drive;
    return nullptr;
}

Scene::Drive& make_drive(Scene::Joint& joint, int coordinate) {
    if (Scene::Drive* drive = drive_of(joint, coordinate)) return *drive;
    Scene::Drive& drive = joint.drives.emplace_back();
    drive.coordinate = coordinate;
    return drive;
}

}  // namespace

const char* to_string(Edit::Kind kind) {
    switch (kind) {
        case Edit::Kind::add: return "add";
        case Edit::Kind::remove: return "remove";
        case Edit::Kind::attach: return "attach";
        case Edit::Kind::cut: return "cut";
        case Edit::Kind::drive: return "drive";
    }
    return "?";
}

int last_joint(const Scene& scene, const std::string& name, int end) {
    for (int j = end - 1; j >= 0; --j)
        if (scene.joints[j].name == name) return j;
    return -1;
}

int driven_coordinate(const Scene::Joint& joint, const Edit& edit) {
    const std::vector<std::string> names = joint_coordinates(joint.kind);
    if (names.empty() || (is_distance(joint) && joint.drives.empty()))
        throw Error(fmt::format("joint '{}' has nothing to drive: it is a {} joint{}", joint.name, joint.kind,
                                names.empty() ? "" : " of fixed length"),
                    place_of(edit));
    if (edit.coordinate.empty()) {
        if (names.size() == 1) return 0;
        throw Error(
            fmt::format("joint '{}' has several coordinates: say coordinate: {}", joint.name, fmt::join(names, " or ")),
            place_of(edit));
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == edit.coordinate) return static_cast<int>(i);
    throw unknown_name(fmt::format("coordinate of joint '{}'", joint.name), edit.coordinate, names, edit.place);
}

DeclaredScene declare_all(const Scene& scene) {
    DeclaredScene all{scene, {}, static_cast<int>(scene.joints.size())};
    add_default_material(all.scene);
    for (const Scene::Action& action : scene.actions) {
        const Edit& edit = *action.edit;
        all.joint.push_back(-1);
        if (edit.kind == Edit::Kind::attach) {
            all.joint.back() = static_cast<int>(all.scene.joints.size());
            all.scene.joints.push_back(*edit.joint);
        }
    }
    for (const Scene::Action& action : scene.actions) {
        if (action.edit->kind != Edit::Kind::drive) continue;
        for (Scene::Joint& joint : all.scene.joints) {
            const std::vector<std::string> names = joint_coordinates(joint.kind);
            if (joint.name != action.edit->name.text || is_distance(joint)) continue;
            for (std::size_t c = 0; c < names.size(); ++c)
                if (action.edit->coordinate == names[c] || (names.size() == 1 && action.edit->coordinate.empty()))
                    make_drive(joint, static_cast<int>(c));
        }
    }
    return all;
}

Standing::Standing(const DeclaredScene& declared) {
    const Scene& scene = declared.scene;
    for (const Scene::Body& body : scene.bodies) body_.push_back(body.present);
    joint_.assign(scene.joints.size(), Is::waiting);
    std::fill(joint_.begin() + declared.first_reserved, joint_.end(), Is::reserved);
    spring_.assign(scene.springs.size(), Is::waiting);
    torsion_.assign(scene.torsion_springs.size(), Is::waiting);
    bushing_.assign(scene.bushings.size(), Is::waiting);
    Changes from_the_start;
    wake(scene, from_the_start);
}

std::vector<Standing::Is>& Standing::list(What what) {
    switch (what) {
        case What::joint: return joint_;
        case What::spring: return spring_;
        case What::torsion_spring: return torsion_;
        default: return bushing_;
    }
}

// Whether the bodies and joints that it hangs on are there.
bool Standing::has_all(const Scene& scene, What what, int index) const {
    const auto i = static_cast<std::size_t>(index);
    const auto both = [&](const Scene::Name& a, const Scene::Name& b) {
        return body(body_index(scene, a)) && body(body_index(scene, b));
    };
    const auto joint_there = [&](const Scene::Name& name, int before) {
        const int j = last_joint(scene, name.text, before);
        return j >= 0 && joint_[j] == Is::there;
    };
    switch (what) {
        case What::joint: {
            const Scene::Joint& joint = scene.joints[i];
            if (!is_gear(joint)) return both(joint.a, joint.b);
            return joint_there(joint.first, index) && joint_there(joint.second, index);
        }
        case What::spring: return both(scene.springs[i].a, scene.springs[i].b);
        case What::torsion_spring: return joint_[joint_index(scene, scene.torsion_springs[i].joint)] == Is::there;
        case What::bushing: return both(scene.bushings[i].a, scene.bushings[i].b);
        case What::body: break;
    }
    return true;
}

void Standing::wake(const Scene& scene, Changes& changes) {
    for (const What what : {What::joint, What::spring, What::torsion_spring, What::bushing}) {
        std::vector<Is>& all = list(what);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i] != Is::waiting || !has_all(scene, what, static_cast<int>(i))) continue;
            all[i] = Is::there;
            changes.push_back({what, static_cast<int>(i), true});
        }
    }
}

void Standing::cut_loose(const Scene& scene, Changes& changes) {
    for (const What what : {What::joint, What::spring, What::torsion_spring, What::bushing}) {
        std::vector<Is>& all = list(what);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i] != Is::there || has_all(scene, what, static_cast<int>(i))) continue;
            all[i] = Is::gone;
            changes.push_back({what, static_cast<int>(i), false});
        }
    }
}

std::vector<Standing::Change> Standing::apply(Scene& scene, const Edit& edit, double t, int reserved) {
    Changes changes;
    switch (edit.kind) {
        case Edit::Kind::add: add(scene, edit, t, changes); break;
        case Edit::Kind::remove: remove(scene, edit, t, changes); break;
        case Edit::Kind::attach: attach(scene, edit, t, reserved, changes); break;
        case Edit::Kind::cut: cut(scene, edit, t, changes); break;
        case Edit::Kind::drive: drive(scene, edit, t, changes); break;
    }
    return changes;
}

void Standing::add(Scene& scene, const Edit& edit, double t, Changes& changes) {
    int index = 0;
    if (edit.body) {
        for (const Scene::Body& body : scene.bodies)
            if (body.name == edit.body->name || edit.body->name == "ground")
                throw Error(fmt::format("there is a body '{}' already: a new one needs another name", edit.body->name),
                            place_of(edit));
        index = static_cast<int>(scene.bodies.size());
        scene.bodies.push_back(*edit.body);
        body_.push_back(0);
    } else {
        index = body_index(scene, {edit.name.text, place_of(edit)});
        if (body(index))
            throw Error(fmt::format("body '{}' is there already at t = {:.6g} s", edit.name.text, t), place_of(edit));
    }
    const auto i = static_cast<std::size_t>(index);
    Scene::Body& body = scene.bodies[i];
    if (edit.pose) body.pose = *edit.pose;
    if (edit.velocity) body.velocity = *edit.velocity;
    if (edit.angular_velocity) body.angular_velocity = *edit.angular_velocity;
    if (body.fixed && (!body.velocity.isZero(0) || !body.angular_velocity.isZero(0)))
        throw Error(fmt::format("body '{}' is fixed, it cannot have a velocity", body.name), place_of(edit));
    body_[i] = 1;
    changes.push_back({What::body, index, true});
    wake(scene, changes);
}

void Standing::remove(const Scene& scene, const Edit& edit, double t, Changes& changes) {
    const int index = body_index(scene, {edit.name.text, place_of(edit)});
    if (index < 0) throw Error("the ground cannot be removed", place_of(edit));
    if (!body(index))
        throw Error(fmt::format("body '{}' is not there at t = {:.6g} s, so it cannot be removed", edit.name.text, t),
                    place_of(edit));
    body_[index] = 0;
    changes.push_back({What::body, index, false});
    cut_loose(scene, changes);
}

void Standing::attach(Scene& scene, const Edit& edit, double t, int reserved, Changes& changes) {
    const Scene::Joint& joint = *edit.joint;
    for (std::size_t j = 0; j < scene.joints.size(); ++j)
        if (scene.joints[j].name == joint.name && (joint_[j] == Is::there || joint_[j] == Is::waiting))
            throw Error(fmt::format("there is a joint '{}' already at t = {:.6g} s", joint.name, t), place_of(edit));
    const int index = reserved >= 0 ? reserved : static_cast<int>(scene.joints.size());
    if (reserved < 0) {
        scene.joints.push_back(joint);
        joint_.push_back(Is::reserved);
    }
    if (is_gear(joint)) {
        for (const Scene::Name* name : {&joint.first, &joint.second}) {
            const int j = last_joint(scene, name->text, index);
            if (j < 0 || joint_[j] != Is::there)
                throw Error(fmt::format("joint '{}' needs joint '{}', which is not there at t = {:.6g} s", joint.name,
                                        name->text, t),
                            name->place);
        }
    } else {
        for (const Scene::Name* name : {&joint.a, &joint.b})
            if (!body(body_index(scene, *name)))
                throw Error(fmt::format("joint '{}' needs body '{}', which is not there at t = {:.6g} s", joint.name,
                                        name->text, t),
                            name->place);
    }
    joint_[index] = Is::there;
    changes.push_back({What::joint, index, true});
}

void Standing::cut(const Scene& scene, const Edit& edit, double t, Changes& changes) {
    struct Found {
        What what;
        int index;
        Is is;
    };
    std::vector<Found> found;
    std::vector<std::string> names;
    const auto look = [&](What what, const auto& things) {
        const std::vector<Is>& all = list(what);
        for (std::size_t i = 0; i < things.size(); ++i) {
            names.push_back(things[i].name);
            if (things[i].name == edit.name.text) found.push_back({what, static_cast<int>(i), all[i]});
        }
    };
    look(What::joint, scene.joints);
    look(What::spring, scene.springs);
    look(What::torsion_spring, scene.torsion_springs);
    look(What::bushing, scene.bushings);
    if (found.empty()) throw unknown_name("joint or spring", edit.name.text, names, place_of(edit));
    std::vector<Found> there;
    std::copy_if(found.begin(), found.end(), std::back_inserter(there),
                 [](const Found& f) { return f.is == Is::there; });
    if (there.size() > 1)
        throw Error(fmt::format("'{}' is a joint and a spring: rename one of them", edit.name.text), place_of(edit));
    if (there.empty()) {
        const auto any = [&](Is is) {
            return std::any_of(found.begin(), found.end(), [&](const Found& f) { return f.is == is; });
        };
        throw Error(fmt::format("'{}' is not there at t = {:.6g} s, so it cannot be cut: it {}", edit.name.text, t,
                                any(Is::gone)      ? "went before"
                                : any(Is::waiting) ? "waits for a body"
                                                   : "is attached later"),
                    place_of(edit));
    }
    list(there[0].what)[there[0].index] = Is::gone;
    changes.push_back({there[0].what, there[0].index, false});
    cut_loose(scene, changes);
}

void Standing::drive(Scene& scene, const Edit& edit, double t, Changes& changes) {
    std::vector<std::string> names;
    int index = -1;
    for (std::size_t j = 0; j < scene.joints.size(); ++j) {
        names.push_back(scene.joints[j].name);
        if (names.back() == edit.name.text && (index < 0 || joint_[j] == Is::there)) index = static_cast<int>(j);
    }
    if (index < 0) throw unknown_name("joint", edit.name.text, names, place_of(edit));
    if (joint(index) != Is::there)
        throw Error(fmt::format("joint '{}' is not there at t = {:.6g} s, so it cannot be driven", edit.name.text, t),
                    place_of(edit));
    Scene::Joint& joint = scene.joints[index];
    Scene::Drive& drive = make_drive(joint, driven_coordinate(joint, edit));
    if (edit.speed && edit.position)
        throw Error(fmt::format("joint '{}' cannot be driven at a speed and to a position at once", joint.name),
                    place_of(edit));
    if (edit.speed || edit.position) {
        if (!drive.motor) drive.motor = Scene::Drive::Motor{};
        drive.motor->speed = edit.speed;
        drive.motor->position = edit.position;
    }
    if ((edit.max_effort || edit.time_constant) && !drive.motor)
        throw Error(fmt::format("joint '{}' has no motor: give it a 'speed' or a 'position' too", joint.name),
                    place_of(edit));
    if (edit.max_effort) drive.motor->max_effort = edit.max_effort;
    if (edit.time_constant) {
        if (!drive.motor->position)
            throw Error(
                fmt::format("a time constant belongs to a position, the motor of '{}' holds a speed", joint.name),
                place_of(edit));
        drive.motor->time_constant = *edit.time_constant;
    }
    if (edit.friction) drive.friction = edit.friction;
    if (edit.brake) drive.brake = edit.brake;
    changes.push_back({What::joint, index, true});
}

}  // namespace stickslip
