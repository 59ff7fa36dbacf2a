// Edits: what may change between two steps, through Simulation::edit or as `actions` of a scene.
//
//   simulation.edit(Edit::cut("cable"));            a joint, spring, torsion spring or bushing goes
//   simulation.edit(Edit::attach(joint));           a joint comes, at the poses of now: `at` and `axis` in W now
//   simulation.edit(Edit::remove("box"));           a body goes, with its joints and springs
//   simulation.edit(Edit::add("box"));              a declared body that is not there comes (back)
//   simulation.edit(Edit::add(body));               a new body comes
//   simulation.edit(Edit::drive("hinge", 2.0));     a motor gets another speed; see the members for more
//
// Nothing is renumbered: shapes, joints and springs keep their ids, so contacts of others keep their warm starts. A body that
// goes keeps its place in q and v and rests there. Things declared in a scene and its actions have their places from the
// start; a body or joint angle that is new makes q and v longer, and records keep the columns they began with.
//
// A joint or spring is there while both its bodies are, until it is cut; one that waits for a body is made when that comes, at
// the poses of then. Loads and drag act while their body is there. Energy that comes or goes with bodies and springs is
// booked as `edits`. A rigid joint must be closed when it is made, or the edit is refused; if its velocities
// disagree, they are made to agree by an inelastic impact of everything connected, booked as `impact_loss`.
#pragma once

#include <utility>

#include "stickslip/scene.hpp"

namespace stickslip {

struct Edit {
    enum class Kind { add, remove, attach, cut, drive };

    Kind kind = Kind::cut;
    Scene::Name name;  // of the body (add, remove), joint (attach, cut, drive) or spring (cut)

    // add: a body that was not declared before; or a declared one, placed otherwise than declared.
    std::optional<Scene::Body> body;
    std::optional<Pose> pose;                        // of the body frame in W
    std::optional<Vec3> velocity, angular_velocity;  // [m/s], [rad/s] in W

    std::optional<Scene::Joint> joint;  // attach

    // drive: what is given changes, the rest stays.
    std::string coordinate;                         // of the joint; empty: its only one
    std::optional<Scene::Formula> speed, position;  // [m/s, rad/s], [m, rad] of t: one of them makes or turns a motor
    std::optional<double> max_effort;               // [N, N m] of the motor
    std::optional<double> time_constant;            // [s] of a position motor
    std::optional<double> friction;                 // [N, N m]
    std::optional<Scene::Formula> brake;            // [N, N m] of t

    Place place;

    static Edit add(std::string declared) { return of(Kind::add, std::move(declared)); }
    static Edit add(Scene::Body body) {
        Edit edit = of(Kind::add, body.name);
        edit.body = std::move(body);
        return edit;
    }
    static Edit remove(std::string body) { return of(Kind::remove, std::move(body)); }
    static Edit attach(Scene::Joint joint) {
        Edit edit = of(Kind::attach, joint.name);
        edit.joint = std::move(joint);
        return edit;
    }
    static Edit cut(std::string joint_or_spring) { return of(Kind::cut, std::move(joint_or_spring)); }
    static Edit drive(std::string joint) { return of(Kind::drive, std::move(joint)); }
    static Edit drive(std::string joint, double speed) {
        Edit edit = of(Kind::drive, std::move(joint));
        edit.speed = constant(speed);
        return edit;
    }
    // A formula that is a number.
    static Scene::Formula constant(double x);

private:
    static Edit of(Kind kind, std::string name) {
        Edit edit;
        edit.kind = kind;
        edit.name.text = std::move(name);
        return edit;
    }
};

const char* to_string(Edit::Kind kind);  // "add", ...

}  // namespace stickslip
