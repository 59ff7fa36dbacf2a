// Scenes made by a program, without any file: they build, and what is wrong with them is refused with the name of the thing.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/fields.hpp"
#include "scene/fields.hpp"
#include "scene/listing.hpp"
#include "stickslip/edit.hpp"
#include "stickslip/load.hpp"

namespace stickslip {
namespace {

Scene::Body crate(const std::string& name, double x) {
    Scene::Body body;
    body.name = name;
    body.mass = 2;
    body.pose.position = Vec3(x, 0, 1);
    Scene::Shape shape;
    shape.kind = "box";
    shape.edges = Vec3(0.1, 0.2, 0.3);
    body.shapes.push_back(shape);
    return body;
}

Scene hinged() {
    Scene scene;
    scene.bodies = {crate("crate", 0), crate("other", 1)};
    Scene::Joint joint;
    joint.name = "hinge";
    joint.kind = "revolute";
    joint.a.text = "crate";
    joint.b.text = "other";
    joint.at = Vec3(0.5, 0, 1);
    joint.axis = Vec3::UnitY();
    scene.joints.push_back(joint);
    Scene::Spring spring;
    spring.name = "line";
    spring.a.text = "ground";
    spring.b.text = "crate";
    spring.stiffness = 10;
    scene.springs.push_back(spring);
    Scene::Load load;
    load.name = "push";
    load.body.text = "other";
    load.force[0] = {"2*t", {}, std::nullopt};
    scene.loads.push_back(load);
    scene.run.end = 0.01;
    return scene;
}

TEST(Validate, AHandMadeSceneRunsWithTheDefaultMaterial) {
    const Scene scene = hinged();
    EXPECT_TRUE(scene.materials.empty());
    Simulation simulation(build_model(scene));
    EXPECT_EQ(simulation.run().end, RunEnd::finished);
    // And it is one that a file can hold.
    Simulation again(build_model(read_scene_text(write_scene(scene), "written.yaml")));
    again.run();
    EXPECT_EQ(simulation.state().q, again.state().q);
}

std::string refusal(const std::function<void(Scene&)>& spoil) {
    Scene scene = hinged();
    spoil(scene);
    try {
        build_model(scene);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

struct Wrong {
    std::function<void(Scene&)> spoil;
    const char* expected;
};

TEST(Validate, WhatAFileMayNotSayAProgramMayNotSayEither) {
    const double nan = std::nan("");
    const auto drive = [](auto change) { return [change](Scene& s) { change(s.joints[0].drives.emplace_back()); }; };
    const Wrong cases[] = {
        {[](Scene& s) { s.bodies[0].mass = -2; }, "body 'crate': mass: expected a number > 0 [kg], found -2"},
        {[&](Scene& s) { s.bodies[0].mass = nan; }, "body 'crate': mass: expected a number > 0 [kg], found nan"},
        {[](Scene& s) { s.bodies[0].mass.reset(); }, "body 'crate' can move, so it needs 'mass' or 'density'"},
        {[](Scene& s) { s.bodies[0].density = 5; }, "body 'crate' has both 'mass' and 'density'"},
        {[](Scene& s) { s.bodies[1].name = "crate"; }, "the body 'crate' is given twice"},
        {[](Scene& s) { s.bodies[1].name = "ground"; }, "the body 'ground' always exists"},
        {[](Scene& s) { s.bodies[1].name = "a b"; }, "expected a name of letters, digits, - and _ for a body"},
        {[](Scene& s) { s.bodies[0].inertia = Mat3::Zero(); }, "body 'crate': inertia: the inertia must be positive"},
        {[](Scene& s) { s.bodies[0].inertia = Vec3(1, 1, 5).asDiagonal(); }, "at most the sum of the other two"},
        {[](Scene& s) { s.bodies[0].pose.attitude.w() = 2; }, "body 'crate': pose: expected a finite pose"},
        {[&](Scene& s) { s.bodies[0].velocity[1] = nan; }, "body 'crate': velocity: expected three finite numbers"},
        {[](Scene& s) { s.bodies[0].shapes[0].kind = "bx"; },
         "body 'crate': no kind of shape 'bx', did you mean 'box'?"},
        {[](Scene& s) { s.bodies[0].shapes[0].edges[1] = 0; },
         "a box of body 'crate': box: expected three numbers > 0"},
        {[](Scene& s) { s.bodies[0].shapes[0].material.text = "stel"; },
         "a box of body 'crate': material: no material 'stel'"},
        {[](Scene& s) { s.bodies[0].shapes[0].kind = "half-space"; }, "body 'crate' must be fixed to carry it"},
        {[](Scene& s) { s.bodies[0].shapes.clear(); }, "body 'crate' has no shapes, so it needs 'inertia'"},
        {[](Scene& s) {
             s.bodies[0].fixed = true;
             s.bodies[0].velocity[0] = 1;
         },
         "body 'crate' is fixed, it cannot have the key 'velocity'"},
        {[](Scene& s) { s.joints[0].kind = "revolut"; },
         "joint 'hinge': no kind of joint 'revolut', did you mean 'revolute'?"},
        {[](Scene& s) { s.joints[0].b.text = "othr"; },
         "revolute joint 'hinge': b: no body 'othr', did you mean 'other'?"},
        {[](Scene& s) { s.joints[0].a.text = ""; }, "revolute joint 'hinge': a: a name is needed"},
        {[](Scene& s) { s.joints[0].b.text = "crate"; }, "revolute joint 'hinge' joins 'crate' with itself"},
        {[](Scene& s) { s.joints[0].axis = Vec3(0, 2, 0); }, "revolute joint 'hinge': axis: expected a unit vector"},
        {[](Scene& s) { s.joints[0].at.reset(); }, "revolute joint 'hinge' needs the key 'at'"},
        {[](Scene& s) { s.joints[0].at_a = Vec3::Zero(); }, "revolute joint 'hinge' has both 'at' and 'at_a'"},
        {[](Scene& s) { s.joints.push_back(s.joints[0]); }, "the joint 'hinge' is given twice"},
        {drive([](Scene::Drive& d) { d.coordinate = 1; }), "revolute joint 'hinge' has no coordinate number 1"},
        {drive([](Scene::Drive& d) { d.lower = 1; }),
         "revolute joint 'hinge' starts at 0, outside its limits [1, inf]"},
        {drive([](Scene::Drive& d) { d.lower = 1, d.upper = -1; }), "the lower limit must be below the upper one"},
        {drive([](Scene::Drive& d) { d.motor.emplace(); }), "the motor of revolute joint 'hinge' needs 'speed' or"},
        {drive([](Scene::Drive& d) {
             d.motor.emplace().speed = Edit::constant(1);
             d.motor->max_effort = -1;
         }),
         "the motor of revolute joint 'hinge': max_torque: expected a number >= 0 [N m], found -1"},
        {drive([](Scene::Drive& d) { d.friction = -1; }),
         "revolute joint 'hinge': friction: expected a number >= 0 [N m], found -1"},
        {[](Scene& s) {
             s.joints[0].kind = "screw";
             s.joints[0].pitch = 0;
         },
         "screw joint 'hinge': pitch: expected a finite number other than zero [m], found 0"},
        {[](Scene& s) {
             s.joints[0].kind = "gear";
             s.joints[0].at.reset();
             s.joints[0].first.text = s.joints[0].second.text = "hinge";
         },
         "must stand before the gear"},
        {[](Scene& s) { s.springs[0].stiffness = -1; }, "spring 'line': stiffness: expected a number >= 0 [N/m]"},
        {[](Scene& s) { s.springs[0].b.text = "ground"; }, "spring 'line' acts on 'ground', which cannot move"},
        {[](Scene& s) { s.springs[0].name = "push"; }, "the force 'push' is given twice"},
        {[](Scene& s) { s.loads[0].force[0].value = 0; }, "load 'push': force: the formula '2*t' depends on t"},
        {[](Scene& s) { s.loads[0].force[0].text = "2*("; }, "load 'push': force: expected a number or a formula"},
        {[](Scene& s) { s.loads[0].until = s.loads[0].from = 1; }, "'until' must come after 'from'"},
        {[](Scene& s) {
             s.loads[0].table = {{1, Vec3::Zero()}};
         },
         "'force' and 'table'"},
        {[](Scene& s) {
             for (Scene::Formula& f : s.loads[0].force) f = {};
             s.loads[0].table = {{1, Vec3::Zero()}, {1, Vec3::Zero()}};
         },
         "load 'push': table: times must increase: 1 after 1"},
        {[&](Scene& s) { s.gravity[0] = nan; }, "the scene: gravity: expected three finite numbers"},
        {[](Scene& s) { s.plane = Scene::Plane::xy; }, "revolute axis in the plane xy must be along z"},
        {[](Scene& s) { s.contacts.facets = 5; }, "contacts: expected an even number of facets"},
        {[](Scene& s) {
             s.materials.push_back({"ice", -1, 0, {}, 0});
         },
         "material 'ice': friction: expected a number >= 0"},
        {[](Scene& s) { s.run.end = -1; }, "run: end: expected a number > 0 [s], found -1"},
        {[](Scene& s) {
             s.actions.push_back({1, std::make_shared<const Edit>(Edit::cut("lin")), {}});
         },
         "did you mean 'line'?"},
        {[](Scene& s) {
             s.actions.push_back({1, nullptr, {}});
         },
         "an action needs an edit"},
    };
    for (const Wrong& wrong : cases) {
        const std::string text = refusal(wrong.spoil);
        EXPECT_NE(text.find(wrong.expected), std::string::npos) << "said: " << text << "\nexpected: " << wrong.expected;
    }
}

// A scene that was read knows where its things stand, also after a program changed them.
TEST(Validate, ChangedScenesAreRefusedAtThePlaceOfTheThing) {
    Scene scene = read_scene_text("stickslip: 1\nbodies:\n  p: {mass: 1, inertia: 1}\n", "x.yaml");
    scene.bodies[0].mass = -1;
    try {
        build_model(scene);
        ADD_FAILURE() << "was built";
    } catch (const Error& e) {
        EXPECT_STREQ(e.what(), "x.yaml:3:3: body 'p': mass: expected a number > 0 [kg], found -1");
    }
}

// The defaults that docs and schema name are those of the structs.
template <class T>
int compare_defaults(const SceneMap& map) {
    int compared = 0;
    const T object{};
    for (const SceneField& field : map.fields) {
        if (!field.member.owner || *field.member.owner != typeid(T)) continue;
        const Slot slot = field.member.slot(const_cast<T*>(&object));
        const bool plain =
            field.without.find_first_not_of("0123456789.-") == std::string::npos && !field.without.empty();
        if (const auto* x = std::get_if<double*>(&slot); x && plain) {
            EXPECT_EQ(**x, parse_number(field.without, {})) << map.name << "." << field.key;
            ++compared;
        }
        if (const auto* x = std::get_if<bool*>(&slot)) {
            EXPECT_EQ(**x, field.without == "true") << map.name << "." << field.key;
            ++compared;
        }
    }
    return compared;
}

TEST(Validate, DefaultsOfTheListingAreThoseOfTheStructs) {
    int compared = 0;
    for (const SceneMap& map : scene_maps())
        compared += compare_defaults<Scene::Material>(map) + compare_defaults<Scene::Body>(map) +
                    compare_defaults<Scene::Shape>(map) + compare_defaults<Scene::Joint>(map) +
                    compare_defaults<Scene::Drive>(map) + compare_defaults<Scene::Drive::Motor>(map) +
                    compare_defaults<Scene::Spring>(map) + compare_defaults<Scene::TorsionSpring>(map) +
                    compare_defaults<Scene::Drag>(map) + compare_defaults<Scene::Record>(map);
    EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace stickslip
