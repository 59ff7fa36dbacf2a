// The joints, each a list of row pieces. To add one: a line in the table and its pieces below.
#include "model/joints/pieces.hpp"

namespace stickslip {

const std::vector<JointEntry>& joint_table() {
    static const std::vector<JointEntry> table{
        {JointKind::fixed, "fixed", 6, 3, "no motion between a and b"},
        {JointKind::ball, "ball", 3, 2, "a point of a stays on a point of b"},
        {JointKind::revolute, "revolute", 5, 2, "turns about `axis` through `at`"},
        {JointKind::prismatic, "prismatic", 5, 2, "slides along `axis`, does not turn"},
        {JointKind::distance, "distance", 1, 1, "points at_a and at_b stay `length` apart"},
    };
    return table;
}

std::vector<Piece> joint_pieces(const Joint& joint, const std::optional<std::array<int, 2>>& plane) {
    const auto x_a = joint.axes_a.col(0), y_a = joint.axes_a.col(1), z_a = joint.axes_a.col(2);
    const auto x_b = joint.axes_b.col(0), y_b = joint.axes_b.col(1), z_b = joint.axes_b.col(2);
    std::vector<Piece> pieces;
    const auto point = [&](const Vec3& d) { pieces.push_back({PieceKind::world_point, d, Vec3::Zero()}); };
    const auto carried = [&](const Vec3& d) { pieces.push_back({PieceKind::carried_point, d, Vec3::Zero()}); };
    const auto angle = [&](const Vec3& e, const Vec3& f) { pieces.push_back({PieceKind::right_angle, e, f}); };
    const auto points_meet = [&] {
        if (plane) {
            for (const int axis : *plane) point(Vec3::Unit(axis));
        } else {
            for (int axis = 0; axis < 3; ++axis) point(Vec3::Unit(axis));
        }
    };

    switch (joint.kind) {
        case JointKind::fixed:
            points_meet();
            if (plane) {
                // One angle, measured between axes that lie in the plane; z is the plane's normal (see scene builder).
                angle(x_a, y_b);
            } else {
                angle(x_a, y_b);
                angle(y_a, z_b);
                angle(z_a, x_b);
            }
            break;
        case JointKind::ball: points_meet(); break;
        case JointKind::revolute:
            points_meet();
            if (!plane) {
                angle(x_a, z_b);
                angle(y_a, z_b);
            }
            break;
        case JointKind::prismatic:
            // z is the sliding axis; in a plane y is its normal and x the in-plane direction across the slide.
            carried(x_a);
            if (plane) {
                angle(x_a, z_b);
            } else {
                carried(y_a);
                angle(x_a, y_b);
                angle(y_a, z_b);
                angle(z_a, x_b);
            }
            break;
        case JointKind::distance: pieces.push_back({PieceKind::distance, Vec3::Zero(), Vec3::Zero()}); break;
    }
    return pieces;
}

}  // namespace stickslip
