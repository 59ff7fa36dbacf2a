// A multibody model as data: bodies, what connects them, what acts on them, and their shapes.
//
// All body-fixed points here are relative to the centre of mass, in the axes of the body frame.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "collision/finder.hpp"
#include "model/forces/time_function.hpp"
#include "model/joints/joint.hpp"
#include "model/rigid_bodies.hpp"

namespace stickslip {

struct Spring {
    std::string name;
    std::uint32_t id = 0;  // of the springs and bushings together; never renumbered by an edit
    int a = -1, b = -1;
    Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();
    double stiffness = 0;  // [N/m]
    double damping = 0;    // [N s/m]
    double length = 0;     // [m] unloaded
    bool present = true;   // false: cut, or waits for a body
};

// Three springs along and three about the axes of a, small angles (they enter by their sines).
struct Bushing {
    std::string name;
    std::uint32_t id = 0;
    int a = -1, b = -1;
    Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();
    Mat3 axes_a = Mat3::Identity(), axes_b = Mat3::Identity();  // equal in W at t = 0
    std::array<double, 6> stiffness{};                          // [N/m] x 3, [N m/rad] x 3
    std::array<double, 6> damping{};                            // [N s/m] x 3, [N m s/rad] x 3
    bool present = true;
};

// Force -(linear + quadratic |v|) v at the centre of mass and torque -angular omega.
struct Drag {
    std::string name;
    int body = -1;
    double linear = 0;     // [N s/m]
    double quadratic = 0;  // [N s^2/m^2]
    double angular = 0;    // [N m s/rad]
};

struct Load {
    std::string name;
    int body = -1;
    Vec3 point = Vec3::Zero();                  // where the force acts, body-fixed
    std::array<TimeFunction, 3> force, torque;  // [N], [N m] in W
    double from = -infinity, until = infinity;  // [s] acts on [from, until)
};

struct SurfacePair {
    double friction = 0, restitution = 0, tangential_restitution = 0;
};

struct MultibodyModel : RigidBodies {
    std::vector<Joint> joints;  // sorted by id
    // The joint angles kept in q, in their order: those of the model that was edited keep theirs, new ones go behind.
    std::vector<std::pair<std::uint32_t, int>> counted;  // joint id, coordinate
    std::vector<Spring> springs;
    std::vector<Bushing> bushings;
    std::vector<Drag> drags;
    std::vector<Load> loads;
    Vec3 gravity = Vec3::Zero();  // [m/s^2]
    CollisionModel collision;
    std::vector<int> material;  // of each collider
    int materials = 0;
    std::vector<SurfacePair> surface;  // materials x materials
    std::vector<std::string> collider_names;
    int facets = 0;  // cone of spatial contacts: 0 disc
};

}  // namespace stickslip
