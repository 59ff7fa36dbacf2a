// The joints, each a list of row pieces. To add one: a line in the table, its pieces and its coordinates below.
#include "model/bodies.hpp"
#include "model/joints/pieces.hpp"

namespace stickslip {

const std::vector<JointEntry>& joint_table() {
    using K = JointKind;
    static const std::vector<JointEntry> table{
        {K::fixed, "fixed", 6, 3, {}, "no motion between a and b", "nothing", "weld: {fixed: {a: base, b: arm}}"},
        {K::ball,
         "ball",
         3,
         2,
         {},
         "a point of a stays on a point of b",
         "three rotations (in a plane: one)",
         "hip: {ball: {a: base, b: arm, at: [0, 0, 1]}}"},
        {K::revolute,
         "revolute",
         5,
         2,
         {"angle"},
         "turns about `axis` through `at`",
         "one rotation",
         "hinge: {revolute: {a: base, b: arm, at: [0, 0, 1], axis: [0, 1, 0], limits: [-1, 1], motor: {speed: 2, "
         "max_torque: 5}}}"},
        {K::prismatic,
         "prismatic",
         5,
         2,
         {"slide"},
         "slides along `axis`, does not turn",
         "one translation",
         "rail: {prismatic: {a: base, b: arm, at: [0, 0, 1], axis: [1, 0, 0], limits: {lower: -0.2, upper: 0.2, "
         "restitution: 0.5}, friction: 3}}"},
        {K::cylindrical,
         "cylindrical",
         4,
         0,
         {"angle", "slide"},
         "turns about `axis` and slides along it",
         "one rotation and one translation along the same axis",
         "rod: {cylindrical: {a: base, b: arm, at: [0, 0, 1], axis: [1, 0, 0], slide: {limits: [0, 0.3]}, angle: "
         "{friction: 0.1}}}"},
        {K::universal,
         "universal",
         4,
         0,
         {"first", "second"},
         "cardan joint: turns about `axis` of a and `axis_b` of b, at right angles",
         "two rotations",
         "cardan: {universal: {a: base, b: arm, at: [0, 0, 1], axis: [0, 1, 0], axis_b: [0, 0, 1], second: {limits: "
         "[-0.5, 0.5]}}}"},
        {K::planar,
         "planar",
         3,
         0,
         {},
         "slides in the plane across `axis` and turns about it",
         "two translations and one rotation",
         "table: {planar: {a: base, b: arm, at: [0, 0, 1], axis: [0, 0, 1]}}"},
        {K::distance,
         "distance",
         1,
         1,
         {"length"},
         "points at_a and at_b stay `length` apart, or within `limits`: a rope or a strut",
         "everything but the distance",
         "rope: {distance: {a: base, b: arm, at_a: [0, 0, 1], limits: [0, 2]}}"},
        {K::point_on_curve,
         "point-on-curve",
         2,
         1,
         {},
         "a point of b stays on a smooth curve through `points` of a",
         "the way along the curve and all rotations",
         "track: {point-on-curve: {a: base, b: arm, at: [0.5, 0, 1], points: [[-1, 0, 1.2], [0.5, 0, 1], [1, 0.5, "
         "1.1], [2, 0, 1.5]]}}"},
        {K::gear,
         "gear",
         1,
         1,
         {},
         "angle of joint `first` = `ratio` times angle of joint `second`",
         "all but one of the two joints' freedoms",
         "mesh: {gear: {first: wheel_1, second: wheel_2, ratio: -2}}"},
        {K::rack_pinion,
         "rack-pinion",
         1,
         1,
         {},
         "slide of joint `rack` = `radius` times angle of joint `pinion`",
         "all but one of the two joints' freedoms",
         "steering: {rack-pinion: {rack: rail, pinion: wheel_1, radius: 0.02}}"},
    };
    return table;
}

const JointEntry& joint_entry(JointKind kind) { return joint_table()[static_cast<std::size_t>(kind)]; }

std::vector<Piece> joint_pieces(const Joint& joint, const Freedom& freedom) {
    const auto x_a = joint.axes_a.col(0), y_a = joint.axes_a.col(1), z_a = joint.axes_a.col(2);
    const auto x_b = joint.axes_b.col(0), y_b = joint.axes_b.col(1), z_b = joint.axes_b.col(2);
    std::vector<Piece> pieces;
    if (!joint.rigid) return pieces;
    const auto point = [&](const Vec3& d) { pieces.push_back({.kind = PieceKind::world_point, .d = d}); };
    const auto carried = [&](const Vec3& d) { pieces.push_back({.kind = PieceKind::carried_point, .d = d}); };
    const auto angle = [&](const Vec3& e, const Vec3& f) {
        pieces.push_back({.kind = PieceKind::right_angle, .d = e, .f = f});
    };
    const auto points_meet = [&] {
        for (const Vec3& direction : freedom.moves) point(direction);
    };
    const auto axes_stay_parallel = [&] {
        angle(x_a, z_b);
        angle(y_a, z_b);
    };

    switch (joint.kind) {
        case JointKind::fixed:
            points_meet();
            angle(x_a, y_b);
            // In a plane one angle, measured between axes that lie in the plane; z is its normal (see scene builder).
            if (!freedom.normal) {
                angle(y_a, z_b);
                angle(z_a, x_b);
            }
            break;
        case JointKind::ball: points_meet(); break;
        case JointKind::revolute:
            points_meet();
            if (!freedom.normal) axes_stay_parallel();
            break;
        case JointKind::prismatic:
            // z is the sliding axis; in a plane y is its normal and x the in-plane direction across the slide.
            carried(x_a);
            if (freedom.normal) {
                angle(x_a, z_b);
            } else {
                carried(y_a);
                angle(x_a, y_b);
                angle(y_a, z_b);
                angle(z_a, x_b);
            }
            break;
        case JointKind::cylindrical:
            carried(x_a);
            carried(y_a);
            axes_stay_parallel();
            break;
        case JointKind::universal:
            points_meet();
            angle(z_a, x_b);
            break;
        case JointKind::planar:
            carried(z_a);
            axes_stay_parallel();
            break;
        case JointKind::distance: pieces.push_back({.kind = PieceKind::distance}); break;
        case JointKind::point_on_curve:  // rows of its own: curve.hpp
        case JointKind::gear:
        case JointKind::rack_pinion: break;
    }
    return pieces;
}

std::vector<Piece> joint_coordinates(const Joint& joint) {
    const auto x_a = joint.axes_a.col(0), y_a = joint.axes_a.col(1), z_a = joint.axes_a.col(2);
    const auto x_b = joint.axes_b.col(0), y_b = joint.axes_b.col(1), z_b = joint.axes_b.col(2);
    const Piece angle{.kind = PieceKind::turn, .d = x_a, .f = x_b, .e = y_a};
    const Piece slide{.kind = PieceKind::carried_point, .d = z_a};
    switch (joint.kind) {
        case JointKind::revolute: return {angle};
        case JointKind::prismatic: return {slide};
        case JointKind::cylindrical: return {angle, slide};
        // The cross turns in a about z_a and carries the axis x_b; b turns about x_b: seen from b, z_a turns back.
        case JointKind::universal:
            return {angle, {.kind = PieceKind::turn, .d = z_b, .f = z_a, .e = -y_b, .swapped = true}};
        case JointKind::distance: return {{.kind = PieceKind::distance}};
        default: return {};
    }
}

}  // namespace stickslip
