// The kinds of joints, each a list of row pieces and of coordinates. To add one: an entry in the table.
#include "model/bodies.hpp"
#include "model/joints/pieces.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

using Pieces = std::vector<Piece>;

Piece point(const Vec3& d) { return {.kind = PieceKind::world_point, .d = d}; }
Piece carried(const Vec3& d) { return {.kind = PieceKind::carried_point, .d = d}; }
Piece right(const Vec3& e, const Vec3& f) { return {.kind = PieceKind::right_angle, .d = e, .f = f}; }

Pieces operator+(Pieces a, const Pieces& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// The axes of a joint, in a and in b.
struct JointAxes {
    explicit JointAxes(const Joint& j)
        : x_a(j.axes_a.col(0)),
          y_a(j.axes_a.col(1)),
          z_a(j.axes_a.col(2)),
          x_b(j.axes_b.col(0)),
          y_b(j.axes_b.col(1)),
          z_b(j.axes_b.col(2)) {}
    Vec3 x_a, y_a, z_a, x_b, y_b, z_b;
};

Pieces points_meet(const Freedom& freedom) {
    Pieces pieces;
    for (const Vec3& direction : freedom.moves) pieces.push_back(point(direction));
    return pieces;
}

Pieces axes_stay_parallel(const JointAxes& at) { return {right(at.x_a, at.z_b), right(at.y_a, at.z_b)}; }

Pieces fixed_rows(const Joint& joint, const Freedom& freedom) {
    const JointAxes at(joint);
    // In a plane one angle, measured between axes that lie in the plane; z is its normal (see scene builder).
    if (freedom.normal) return points_meet(freedom) + Pieces{right(at.x_a, at.y_b)};
    return points_meet(freedom) + Pieces{right(at.x_a, at.y_b), right(at.y_a, at.z_b), right(at.z_a, at.x_b)};
}

Pieces ball_rows(const Joint&, const Freedom& freedom) { return points_meet(freedom); }

Pieces revolute_rows(const Joint& joint, const Freedom& freedom) {
    return freedom.normal ? points_meet(freedom) : points_meet(freedom) + axes_stay_parallel(JointAxes(joint));
}

// z is the sliding axis; in a plane y is its normal and x the in-plane direction across the slide.
Pieces prismatic_rows(const Joint& joint, const Freedom& freedom) {
    const JointAxes at(joint);
    if (freedom.normal) return {carried(at.x_a), right(at.x_a, at.z_b)};
    return {carried(at.x_a), carried(at.y_a), right(at.x_a, at.y_b), right(at.y_a, at.z_b), right(at.z_a, at.x_b)};
}

Pieces cylindrical_rows(const Joint& joint, const Freedom&) {
    const JointAxes at(joint);
    return Pieces{carried(at.x_a), carried(at.y_a)} + axes_stay_parallel(at);
}

Pieces universal_rows(const Joint& joint, const Freedom& freedom) {
    const JointAxes at(joint);
    return points_meet(freedom) + Pieces{right(at.z_a, at.x_b)};
}

Pieces planar_rows(const Joint& joint, const Freedom&) {
    const JointAxes at(joint);
    return Pieces{carried(at.z_a)} + axes_stay_parallel(at);
}

Pieces distance_rows(const Joint&, const Freedom&) { return {{.kind = PieceKind::distance}}; }

Piece angle(const Joint& joint) {
    const JointAxes at(joint);
    return {.kind = PieceKind::turn, .d = at.x_a, .f = at.x_b, .e = at.y_a};
}
Piece slide(const Joint& joint) { return carried(joint.axes_a.col(2)); }

Pieces angle_alone(const Joint& joint) { return {angle(joint)}; }
Pieces slide_alone(const Joint& joint) { return {slide(joint)}; }
Pieces angle_and_slide(const Joint& joint) { return {angle(joint), slide(joint)}; }
// The cross turns in a about z_a and carries the axis x_b; b turns about x_b: seen from b, z_a turns back.
Pieces two_angles(const Joint& joint) {
    const JointAxes at(joint);
    return {angle(joint), {.kind = PieceKind::turn, .d = at.z_b, .f = at.z_a, .e = -at.y_b, .swapped = true}};
}
Pieces length_alone(const Joint&) { return {{.kind = PieceKind::distance}}; }

std::vector<JointKind> make_table() {
    using Anchor = JointKind::Anchor;
    using Axes = JointKind::Axes;
    using Tie = JointKind::Tie;
    using Measure = JointCoordinate::Measure;
    return {
        {.name = "fixed",
         .rows_in_space = 6,
         .rows_in_plane = 3,
         .anchor = Anchor::frame,
         .rows = fixed_rows,
         .leaves = "leaves nothing free",
         .summary = "no motion between a and b",
         .frees = "nothing",
         .example = "weld: {fixed: {a: base, b: arm}}"},
        {.name = "ball",
         .rows_in_space = 3,
         .rows_in_plane = 2,
         .rows = ball_rows,
         .leaves = "leaves three turns",
         .summary = "a point of a stays on a point of b",
         .frees = "three rotations (in a plane: one)",
         .example = "hip: {ball: {a: base, b: arm, at: [0, 0, 1]}}"},
        {.name = "revolute",
         .rows_in_space = 5,
         .rows_in_plane = 2,
         .axes = Axes::turn,
         .coordinates = {{"angle", Measure::angle}},
         .rows = revolute_rows,
         .measures = angle_alone,
         .leaves = "leaves one turn",
         .summary = "turns about `axis` through `at`",
         .frees = "one rotation",
         .example = "hinge: {revolute: {a: base, b: arm, at: [0, 0, 1], axis: [0, 1, 0], limits: [-1, 1], motor: "
                    "{speed: 2, max_torque: 5}}}"},
        {.name = "prismatic",
         .rows_in_space = 5,
         .rows_in_plane = 2,
         .axes = Axes::slide,
         .coordinates = {{"slide", Measure::slide}},
         .rows = prismatic_rows,
         .measures = slide_alone,
         .leaves = "leaves one shift",
         .summary = "slides along `axis`, does not turn",
         .frees = "one translation",
         .example = "rail: {prismatic: {a: base, b: arm, at: [0, 0, 1], axis: [1, 0, 0], limits: {lower: -0.2, upper: "
                    "0.2, restitution: 0.5}, friction: 3}}"},
        {.name = "cylindrical",
         .rows_in_space = 4,
         .axes = Axes::slide,
         .coordinates = {{"angle", Measure::angle, "what acts on the turn"},
                         {"slide", Measure::slide, "what acts on the shift"}},
         .rows = cylindrical_rows,
         .measures = angle_and_slide,
         .leaves = "leaves one turn and one shift along the same axis",
         .summary = "turns about `axis` and slides along it",
         .frees = "one rotation and one translation along the same axis",
         .example = "rod: {cylindrical: {a: base, b: arm, at: [0, 0, 1], axis: [1, 0, 0], slide: {limits: [0, 0.3]}, "
                    "angle: {friction: 0.1}}}"},
        {.name = "screw",
         .rows_in_space = 5,
         .axes = Axes::slide,
         .tie = Tie::own_slide_to_angle,
         .coordinates = {{"angle", Measure::angle, "what acts on the turn"},
                         {"slide", Measure::slide, "what acts on the shift"}},
         .rows = cylindrical_rows,
         .measures = angle_and_slide,
         .leaves = "leaves one turn, with a shift in proportion along the same axis",
         .summary = "turns about `axis` and slides along it by `pitch` per turn",
         .frees = "one rotation, with the translation that belongs to it",
         .example = "nut: {screw: {a: base, b: arm, at: [0, 0, 1], axis: [0, 0, 1], pitch: 0.01, angle: {friction: "
                    "0.1}, slide: {limits: [-1, 1]}}}",
         .check = "A nut of mass m and moment of inertia I about the axis, on a fixed vertical screw without friction, "
                  "falls with the acceleration g / (1 + I / (m k^2)), where k = pitch / (2 pi) is the way per radian. "
                  "A torque M about the axis balances an axial force M / k."},
        {.name = "universal",
         .rows_in_space = 4,
         .axes = Axes::pair,
         .coordinates = {{"first", Measure::angle, "what acts on the turn about `axis`"},
                         {"second", Measure::angle, "what acts on the turn about `axis_b`"}},
         .rows = universal_rows,
         .measures = two_angles,
         .leaves = "leaves two turns, about axes at right angles",
         .summary = "cardan joint: turns about `axis` of a and `axis_b` of b, at right angles",
         .frees = "two rotations",
         .example = "cardan: {universal: {a: base, b: arm, at: [0, 0, 1], axis: [0, 1, 0], axis_b: [0, 0, 1], second: "
                    "{limits: [-0.5, 0.5]}}}"},
        {.name = "planar",
         .rows_in_space = 3,
         .axes = Axes::slide,
         .rows = planar_rows,
         .leaves = "leaves two shifts and the turn across them",
         .summary = "slides in the plane across `axis` and turns about it",
         .frees = "two translations and one rotation",
         .example = "table: {planar: {a: base, b: arm, at: [0, 0, 1], axis: [0, 0, 1]}}"},
        {.name = "distance",
         .rows_in_space = 1,
         .rows_in_plane = 1,
         .anchor = Anchor::ends,
         .coordinates = {{"length", Measure::length}},
         .rows = distance_rows,
         .measures = length_alone,
         .leaves = "keeps the distance of two points, or bounds it",
         .summary = "points at_a and at_b stay `length` apart, or within `limits`: a rope or a strut",
         .frees = "everything but the distance",
         .example = "rope: {distance: {a: base, b: arm, at_a: [0, 0, 1], limits: [0, 2]}}"},
        {.name = "point-on-curve",
         .rows_in_space = 2,
         .rows_in_plane = 1,
         .anchor = Anchor::curve,
         .leaves = "keeps a point of b on a curve of a",
         .summary = "a point of b stays on a smooth curve through `points` of a",
         .frees = "the way along the curve and all rotations",
         .example = "track: {point-on-curve: {a: base, b: arm, at: [0.5, 0, 1], points: [[-1, 0, 1.2], [0.5, 0, 1], "
                    "[1, 0.5, 1.1], [2, 0, 1.5]]}}"},
        {.name = "gear",
         .rows_in_space = 1,
         .rows_in_plane = 1,
         .anchor = Anchor::none,
         .tie = Tie::angle_to_angle,
         .leaves = "ties the angles of two joints",
         .summary = "angle of joint `first` = `ratio` times angle of joint `second`",
         .frees = "all but one of the two joints' freedoms",
         .example = "mesh: {gear: {first: wheel_1, second: wheel_2, ratio: -2}}"},
        {.name = "rack-pinion",
         .rows_in_space = 1,
         .rows_in_plane = 1,
         .anchor = Anchor::none,
         .tie = Tie::slide_to_angle,
         .leaves = "ties the slide of a joint to the angle of another",
         .summary = "slide of joint `rack` = `radius` times angle of joint `pinion`",
         .frees = "all but one of the two joints' freedoms",
         .example = "steering: {rack-pinion: {rack: rail, pinion: wheel_1, radius: 0.02}}"},
    };
}

}  // namespace

const std::vector<JointKind>& joint_table() {
    static const std::vector<JointKind> table = make_table();
    return table;
}

const JointKind* find_joint_kind(std::string_view name) {
    for (const JointKind& kind : joint_table())
        if (kind.name == name) return &kind;
    return nullptr;
}

const JointKind& joint_kind(std::string_view name) {
    if (const JointKind* kind = find_joint_kind(name)) return *kind;
    std::vector<std::string> names;
    for (const JointKind& kind : joint_table()) names.emplace_back(kind.name);
    throw unknown_name("kind of joint", name, names);
}

std::vector<Piece> joint_pieces(const Joint& joint, const Freedom& freedom) {
    return joint.rigid && joint.kind->rows ? joint.kind->rows(joint, freedom) : Pieces{};
}

std::vector<Piece> joint_coordinates(const Joint& joint) {
    return joint.kind->measures ? joint.kind->measures(joint) : Pieces{};
}

}  // namespace stickslip
