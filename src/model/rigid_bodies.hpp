// Rigid bodies as data, in space or in a plane.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/bodies.hpp"

namespace stickslip {

struct RigidBody {
    std::string name;
    bool fixed = false;
    double mass = 0;              // [kg]
    Mat3 inertia = Mat3::Zero();  // [kg m^2] about the centre of mass, in body axes
    Vec3 com = Vec3::Zero();      // [m] of the body's own frame, for reporting its pose
    Pose pose;                    // at t = 0: centre of mass and attitude (fixed bodies stay there)
    double radius = 0;            // [m] bound of its shapes about the centre of mass
    // False: not there now, but added later or removed before. It keeps its place in q and v, so that records, warm
    // starts and other bodies do not notice; it rests, weighs nothing and touches nobody.
    bool present = true;
};

struct RigidBodies {
    std::vector<RigidBody> bodies;
    std::optional<std::array<int, 2>> plane;  // the two axes (0 x, 1 y, 2 z) of a planar scene
};

// Refers to the data, which must stay where it is.
std::unique_ptr<Bodies> make_rigid_bodies(const RigidBodies& data);

}  // namespace stickslip
