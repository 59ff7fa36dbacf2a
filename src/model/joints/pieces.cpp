#include "model/joints/pieces.hpp"

namespace stickslip {

JointFrames joint_frames(const Pose& a, const Pose& b, const Vec3& point_a, const Vec3& point_b) {
    const Vec3 r_a = a.attitude * point_a, r_b = b.attitude * point_b;
    return {a, b, {r_a, r_b, b.position + r_b - a.position - r_a}};
}

RowPiece evaluate(const Piece& piece, const JointFrames& at, double length) {
    const Quat &A = at.a.attitude, &B = at.b.attitude;
    switch (piece.kind) {
        case PieceKind::world_point: return world_point(at.points, piece.d);
        case PieceKind::carried_point: return carried_point(at.points, A * piece.d);
        case PieceKind::right_angle: return right_angle(A * piece.d, B * piece.f);
        case PieceKind::turn: {
            if (!piece.swapped) return turn(A * piece.d, A * piece.e, B * piece.f);
            const RowPiece seen = turn(B * piece.d, B * piece.e, A * piece.f);
            return {-seen.value, {-seen.b.f, -seen.b.tau}, {-seen.a.f, -seen.a.tau}};
        }
        case PieceKind::distance: break;
    }
    return distance(at.points, length);
}

double evaluate_value(const Piece& piece, const JointFrames& at, double length) {
    const Quat &A = at.a.attitude, &B = at.b.attitude;
    switch (piece.kind) {
        case PieceKind::world_point: return piece.d.dot(at.points.delta);
        case PieceKind::carried_point: return (A * piece.d).dot(at.points.delta);
        case PieceKind::right_angle: return (A * piece.d).dot(B * piece.f);
        case PieceKind::turn: return evaluate(piece, at, length).value;
        case PieceKind::distance: break;
    }
    return at.points.delta.norm() - length;
}

double evaluate_bias(const Piece& piece, const JointFrames& at, const Twist& a, const Twist& b) {
    const Quat &A = at.a.attitude, &B = at.b.attitude;
    switch (piece.kind) {
        case PieceKind::world_point: return world_point_bias(at.points, piece.d, a, b);
        case PieceKind::carried_point: return carried_point_bias(at.points, A * piece.d, a, b);
        case PieceKind::right_angle: return right_angle_bias(A * piece.d, B * piece.f, a, b);
        case PieceKind::turn:
            return piece.swapped ? -turn_bias(B * piece.d, B * piece.e, A * piece.f, b, a)
                                 : turn_bias(A * piece.d, A * piece.e, B * piece.f, a, b);
        case PieceKind::distance: break;
    }
    return distance_bias(at.points, a, b);
}

std::vector<Piece> bushing_pieces(const Mat3& axes_a, const Mat3& axes_b) {
    std::vector<Piece> pieces;
    for (int i = 0; i < 3; ++i) pieces.push_back({.kind = PieceKind::carried_point, .d = axes_a.col(i)});
    // b turned by phi about axis i: axis j of b gets the component sin(phi) along axis k of a, (i, j, k) cyclic
    for (int i = 0; i < 3; ++i)
        pieces.push_back({.kind = PieceKind::right_angle, .d = axes_a.col((i + 2) % 3), .f = axes_b.col((i + 1) % 3)});
    return pieces;
}

}  // namespace stickslip
