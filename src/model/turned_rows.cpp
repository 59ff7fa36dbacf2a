// The rows of connections for a move that has q in its middle: Jacobians alone, for the values of rows() at another place.
#include <array>

#include "model/connections.hpp"

namespace stickslip {

// A point of a body that turns by an angle a between the ends of a move goes along the chord, 2 sin(a/2) of its radius, and not a.
double Connections::chord_of_arc(int body, const VecX& q, const VecX& move) const {
    return 1 - bodies_.twist(body, q, move).angular.squaredNorm() / 24;
}

void Connections::turn_rows(const VecX& q, const VecX& move, BilateralRows& joints) const {
    std::array<RowPiece, 6> piece;
    BlockRows& rows = joints.jacobian;
    rows.clear();
    for (const Group& group : groups_) {
        rows.begin_group(group_size(group));
        if (group.source == Source::joint) {
            const Joint& joint = model_.joints[group.index];
            const std::vector<Piece>& pieces = pieces_[group.index];
            const JointFrames at = frames(joint, q);
            const double share_a = chord_of_arc(joint.a, q, move), share_b = chord_of_arc(joint.b, q, move);
            for (std::size_t i = 0; i < pieces.size(); ++i) {
                piece[i] = evaluate(pieces[i], at, 0);
                if (pieces[i].kind != PieceKind::world_point) continue;
                piece[i].a.tau *= share_a;
                piece[i].b.tau *= share_b;
            }
            add_blocks(joint.a, joint.b, q, static_cast<int>(pieces.size()), piece.data(), rows);
        } else if (group.source == Source::element) {
            const Element& element = elements_[group.index];
            const JointFrames at = frames(element.a, element.b, element.point_a, element.point_b, q);
            for (std::size_t i = 0; i < element.pieces.size(); ++i) piece[i] = evaluate(element.pieces[i], at, 0);
            add_blocks(element.a, element.b, q, static_cast<int>(element.pieces.size()), piece.data(), rows);
        } else if (group.source == Source::curve) {
            add_curve_blocks(group.index, on_curve(group.index, q, nullptr, nullptr), q, rows);
        } else if (group.source == Source::gear) {
            add_gear_blocks(model_.joints[group.index], q, rows);
        } else {
            const Joint& joint = model_.joints[group.index];
            const int number = joint.drives[group.drive].coordinate;
            piece[0] = evaluate(coordinates_[group.index][number], frames(joint, q), 0);
            add_blocks(joint.a, joint.b, q, 1, piece.data(), rows);
        }
    }
}

}  // namespace stickslip
