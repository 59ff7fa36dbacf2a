// A joint as data: the list of its row pieces and coordinates in body axes (row_pieces.hpp has their mathematics).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/joints/joint.hpp"
#include "model/joints/row_pieces.hpp"

namespace stickslip {

// One scalar function of the two bodies of a joint or spring.
enum class PieceKind { world_point, carried_point, right_angle, distance, turn };
struct Piece {
    PieceKind kind = PieceKind::distance;
    Vec3 d =
        Vec3::Zero();  // world_point: direction in W; carried_point: in a; right_angle: the axis e in a; turn: x in a
    Vec3 f = Vec3::Zero();  // right_angle: the axis f in b; turn: the pointer f in b
    Vec3 e = Vec3::Zero();  // turn: y in a
    bool swapped = false;   // turn of a seen from b, counted the other way: x, y in b and f in a
};

// What a piece needs of its two bodies at q.
struct JointFrames {
    Pose a, b;
    PointPair points;
};
JointFrames joint_frames(const Pose& a, const Pose& b, const Vec3& point_a, const Vec3& point_b);

RowPiece evaluate(const Piece& piece, const JointFrames& at, double length);
double evaluate_value(const Piece& piece, const JointFrames& at, double length);  // the same without the gradient
double evaluate_bias(const Piece& piece, const JointFrames& at, const Twist& a, const Twist& b);

// The rows that must vanish. z of a joint's axes is the joint axis. Where bodies turn about one normal alone: for `fixed` z is it, for
// `prismatic` y is. Empty for gears and for joints of which only the limits act.
std::vector<Piece> joint_pieces(const Joint& joint, const Freedom& freedom);
// The coordinates, in the order of the table.
std::vector<Piece> joint_coordinates(const Joint& joint);

// The six rows of a bushing: the way of b's point in the axes of a, then the sines of the small angles about them.
std::vector<Piece> bushing_pieces(const Mat3& axes_a, const Mat3& axes_b);

}  // namespace stickslip
