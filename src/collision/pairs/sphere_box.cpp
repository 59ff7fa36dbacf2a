// A ball and a box: one gap, of the centre to the nearest feature of the box (face, edge or corner), chosen by the
// region the centre is in. The gaps of neighbouring regions agree in value and slope on their border. A centre
// inside the box is measured from the nearest face.
#include <cmath>

#include "collision/gaps.hpp"
#include "collision/pair_table.hpp"
#include "collision/pairs/ball_box.hpp"

namespace stickslip {

using namespace box_features;

namespace {

// A centre outside by less than this share of the smallest half extent counts as over the face: smaller than
// rounding, and a ball resting over an edge changes its id; much larger, and the gap is wrong by its square.
constexpr double region_border = 1e-9;

// Inside: the face with the least depth, the first of equals (up to rounding). Planar scenes have no faces across.
int nearest_face(const Box& box, const Vec3& x, const Mat3& R, const Vec3* plane_normal) {
    int best = -1;
    double best_height = -infinity;
    for (int f = 0; f < 6; ++f) {
        const int axis = f / 2;
        if (plane_normal != nullptr && std::abs(R.col(axis).dot(*plane_normal)) > 0.5) continue;
        const double height = sign(f % 2 != 0) * x[axis] - box.half[axis];
        if (best < 0 || height > best_height + region_border * box.half.minCoeff()) {
            best = f;
            best_height = height;
        }
    }
    return best;
}

}  // namespace

ContactPoint ball_box_gap(const Vec3& Q, double radius, const PlacedShape& b, const PairQuery& query) {
    const auto& box = std::get<Box>(*b.geometry);
    const Mat3& R = b.rotation;
    const Vec3 x = R.transpose() * (Q - b.position);

    // Per axis: beyond the positive face +1, beyond the negative -1, between them 0.
    const double tolerance = region_border * box.half.minCoeff();
    int side[3];
    int outside = 0;
    for (int i = 0; i < 3; ++i) {
        side[i] = x[i] > box.half[i] + tolerance ? 1 : x[i] < -box.half[i] - tolerance ? -1 : 0;
        if (side[i] != 0) ++outside;
    }

    ContactPoint c;
    std::uint32_t code = 0;
    if (outside <= 1) {
        int f = -1;
        for (int i = 0; i < 3; ++i)
            if (side[i] != 0) f = face(i, side[i] > 0);
        if (f < 0) f = nearest_face(box, x, R, query.plane_normal);
        const int axis = f / 2;
        const Vec3 m = sign(f % 2 != 0) * R.col(axis);
        c = point_plane_gap(Q, radius, b.position + box.half[axis] * m, m);
        code = side_code(FeatureKind::face, f);
    } else {
        Vec3 corner_S = Vec3::Zero();
        for (int i = 0; i < 3; ++i) corner_S[i] = side[i] * box.half[i];
        const Vec3 corner = b.position + R * corner_S;
        const Vec3 fallback = R * Vec3(side[0], side[1], side[2]).normalized();
        if (outside == 2) {
            const int axis = side[0] == 0 ? 0 : side[1] == 0 ? 1 : 2;
            c = point_line_gap(Q, radius, corner, R.col(axis), fallback);
            code = side_code(FeatureKind::edge, edge(axis, side[(axis + 1) % 3] > 0, side[(axis + 2) % 3] > 0));
        } else {
            c = point_point_gap(Q, radius, corner, 0, fallback);
            const int v = (side[0] > 0 ? 1 : 0) | (side[1] > 0 ? 2 : 0) | (side[2] > 0 ? 4 : 0);
            code = side_code(FeatureKind::vertex, v);
        }
    }
    c.id.feature = feature_code(side_code(FeatureKind::surface), code);
    return c;
}

void sphere_box(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                std::vector<ContactPoint>& contacts) {
    const ContactPoint c = ball_box_gap(a.position, std::get<Sphere>(*a.geometry).radius, b, query);
    if (c.gap <= query.cutoff) contacts.push_back(c);
}

}  // namespace stickslip
