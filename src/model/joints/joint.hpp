// Joints between two bodies, as data. A joint is a list of row pieces that must vanish (pieces.hpp), and of coordinates
// that say how far it has moved: the angle of a hinge, the way of a slide. Limits, motors, brakes, dry friction and
// torsion springs act on one coordinate each and are one row each; gears tie two coordinates together.
//
// Angles count turns, and a point on a curve stays on its branch. That needs a memory, and a System has none: the counted
// angle, or the parameter on the curve, is an entry of q behind the bodies, carried along by advance().
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/forces/time_function.hpp"
#include "model/joints/curve.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

struct Joint;
struct Piece;    // pieces.hpp
struct Freedom;  // bodies.hpp

// A coordinate of a joint.
struct JointCoordinate {
    enum class Measure { angle, slide, length };  // [rad], [m] along the axis, [m] between two points
    const char* name;
    Measure measure;
    const char* text = "";  // what it is, for joints with several
    bool turns() const { return measure == Measure::angle; }
};

// A kind of joint as data: its rows, its coordinates, and what a scene must say about it.
struct JointKind {
    // Where the joint is. `point`: one point, given in W or in both bodies. `frame`: the same, or the origin of b's frame. `ends`:
    // two points that need not meet. `curve`: a point of b on a curve of a. `none`: it has no bodies of its own.
    enum class Anchor { point, frame, ends, curve, none };
    // `turn`: in a plane the axis is the normal. `slide`: in a plane the axis lies in it. `pair`: one of a, one of b.
    enum class Axes { none, turn, slide, pair };
    // Whether a coordinate is a multiple of another: of two other joints (gears), or of two of its own (screws).
    enum class Tie { none, angle_to_angle, slide_to_angle, own_slide_to_angle };

    const char* name = "";
    int rows_in_space = 0, rows_in_plane = 0;  // 0 in the plane: not for planar scenes
    Anchor anchor = Anchor::point;
    Axes axes = Axes::none;
    Tie tie = Tie::none;
    std::vector<JointCoordinate> coordinates{};  // in the order of Drive::coordinate
    // The rows that must vanish, and the coordinates; null if there are none, or rows of its own (curve.hpp, ties).
    std::vector<Piece> (*rows)(const Joint& joint, const Freedom& freedom) = nullptr;
    std::vector<Piece> (*measures)(const Joint& joint) = nullptr;
    const char* leaves = "";   // "leaves one turn", for the list of kinds
    const char* summary = "";  // for `stickslip list` and the docs,
    const char* frees = "";    // what it leaves free,
    const char* example = "";  // and a line of a scene,
    const char* check = "";    // and a motion with a closed form, if the page has one

    bool is_gear() const { return tie == Tie::angle_to_angle || tie == Tie::slide_to_angle; }
    bool is_curve() const { return anchor == Anchor::curve; }
};
const std::vector<JointKind>& joint_table();
const JointKind* find_joint_kind(std::string_view name);  // null if there is none
const JointKind& joint_kind(std::string_view name);       // throws Error that names the nearest

// Holds the coordinate at a speed or a position with at most `most` force.
struct Motor {
    bool position = false;  // target is a position [m, rad], else a speed [m/s, rad/s]
    TimeFunction target;
    double time_constant = 0;      // [s] a position is approached as exp(-t/time_constant)
    double max_effort = infinity;  // [N, N m]
};

// What acts on one coordinate of a joint.
struct Drive {
    int coordinate = 0;
    double lower = -infinity, upper = infinity;  // [m, rad] limits
    double restitution = 0;                      // of the limits
    std::optional<Motor> motor;
    std::optional<TimeFunction> friction, brake;  // [N, N m] largest force
    // A torsion spring: [N/m, N m/rad], [N s/m, N m s/rad], [m, rad].
    double stiffness = 0, damping = 0, rest = 0;
    std::string spring_name;
    std::uint32_t spring_id = 0;  // among springs and bushings
    bool has_limits() const { return lower > -infinity || upper < infinity; }
    bool has_spring() const { return stiffness > 0 || damping > 0; }
};

struct Joint {
    std::string name;
    const JointKind* kind = nullptr;  // an entry of joint_table()
    std::uint32_t id = 0;             // never renumbered by an edit
    int a = -1, b = -1;               // bodies; -1 is the ground
    Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();
    // Columns x, y, z; z is the joint axis. Equal in W when the joint is made; for `universal` z of axes_a is the axis of a and
    // x of axes_b the axis of b.
    Mat3 axes_a = Mat3::Identity(), axes_b = Mat3::Identity();
    double length = 0;                   // [m] distance joint; tie: value of the row at t = 0
    bool rigid = true;                   // false: only the limits act (a rope)
    std::array<double, 2> offset{};      // coordinate = measured + offset
    std::shared_ptr<const Curve> curve;  // point_on_curve: in the axes of a, from its centre of mass
    std::vector<Drive> drives;
    // False: cut, or attached later. It keeps its id and the places of its angles in q, and acts on nothing.
    bool present = true;
    // of a tie: one coordinate - ratio * another = length, both joints by their ids; of a screw both are itself
    std::array<std::uint32_t, 2> of{};
    std::array<int, 2> of_coordinate{};
    double ratio = 1;
};

}  // namespace stickslip
