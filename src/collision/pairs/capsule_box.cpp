// A capsule and a box. While the axis of the capsule is outside of the box, their distance is the least of
//
//   ends of the axis to the nearest feature of the box   point_plane, point_line, point_point (see sphere_box.cpp)
//   corners of the box to the axis                       point_line
//   edges of the box crossing the axis                   line_line
//
// and each of these gaps must stay positive by itself, so all that are near are told, corners and edges only where
// the normal is one of theirs. A capsule on a face rests on its two ends, one that overhangs on an end and the rim, a
// long one across a box on two rims.
//
// An axis that enters the box (deeper than the radius) is measured along the axis of least depth among the faces and
// the products of the edges with it (box_sat.hpp, for a segment): by its ends under the face, or against the edge.
#include <algorithm>

#include "collision/pairs/ball_box.hpp"
#include "collision/pairs/box_sat.hpp"
#include "collision/pairs/segment.hpp"

namespace stickslip {

using namespace box_features;

namespace {

struct Separation {
    double distance = -infinity;  // [m] of the axis; negative: depth
    int face = -1;                // or
    int edge_axis = -1;           // of the product with the capsule's axis
    Vec3 edge_normal = Vec3::Zero();
};

class CapsuleBox {
public:
    CapsuleBox(const PlacedShape& capsule, const PlacedShape& box_shape, const PairQuery& pair_query,
               std::vector<ContactPoint>& contacts)
        : shape(box_shape),
          query(pair_query),
          box(placed_box(box_shape)),
          s(capsule),
          centre_S(box.axes.transpose() * (s.centre - box.centre)),
          axis_S(box.axes.transpose() * s.axis),
          list(pair_query.cutoff, 1e-3 * std::min(s.half, box.half.minCoeff()), segment_border * s.radius, contacts) {}

    void find();

private:
    Separation separate() const;
    // In a planar scene nothing parts along the normal of the plane.
    bool across_plane(const Vec3& unit) const {
        return query.plane_normal != nullptr && std::abs(unit.dot(*query.plane_normal)) > 0.5;
    }
    Vec3 edge_centre(int axis, bool next_positive, bool last_positive) const {
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        return box.centre + sign(next_positive) * box.half[u] * box.axes.col(u) +
               sign(last_positive) * box.half[v] * box.axes.col(v);
    }
    bool nearly_parallel(int axis) const {
        const double sine = Vec3(box.axes.col(axis)).cross(s.axis).norm();
        return sine * std::min(s.half, box.half[axis]) < parallel_lines * s.radius;
    }
    void ends();
    void corners();
    void edges();
    void inside(const Separation& separation);

    const PlacedShape& shape;
    const PairQuery& query;
    const PlacedBox box;
    const Segment s;
    const Vec3 centre_S, axis_S;  // of the capsule, in the frame of the box
    ContactList list;
};

void CapsuleBox::find() {
    const Separation separation = separate();
    if (separation.distance > query.cutoff + s.radius) return;
    if (separation.distance > 0) {
        ends();
        corners();
        edges();
    } else {
        inside(separation);
    }
}

Separation CapsuleBox::separate() const {
    const double preference = segment_border * box.half.minCoeff();
    Separation best;
    for (int k = 0; k < 3; ++k) {
        if (across_plane(box.axes.col(k))) continue;
        const double distance = std::abs(centre_S[k]) - box.half[k] - s.half * std::abs(axis_S[k]);
        if (!(distance > best.distance + preference)) continue;
        best.distance = distance;
        best.face = face(k, centre_S[k] > 0);
    }
    for (int k = 0; k < 3; ++k) {
        if (nearly_parallel(k)) continue;
        const int u = (k + 1) % 3, v = (k + 2) % 3;
        const Vec3 L_S = Vec3::Unit(k).cross(axis_S).normalized();
        const Vec3 L = box.axes * L_S;
        if (across_plane(L)) continue;
        const double along = L_S.dot(centre_S);
        const double distance = std::abs(along) - box.half[u] * std::abs(L_S[u]) - box.half[v] * std::abs(L_S[v]);
        if (!(distance > best.distance + preference)) continue;
        best.distance = distance;
        best.face = -1;
        best.edge_axis = k;
        best.edge_normal = along < 0 ? Vec3(-L) : L;
    }
    return best;
}

void CapsuleBox::ends() {
    for (int i = 0; i < 2; ++i) {
        const ContactPoint c = ball_box_gap(s.end(i), s.radius, shape, query);
        list.add(c, feature_code(capsule_end(i), c.id.feature.b));
    }
}

void CapsuleBox::corners() {
    if (query.plane_normal != nullptr) return;  // edges across the plane stand for them
    for (int v = 0; v < 8; ++v) {
        const Vec3 corner_S = vertex(Box{box.half}, v);
        const double along = axis_S.dot(corner_S - centre_S);
        if (!s.holds(along)) continue;
        // From the corner to the axis, within the octant of the corner.
        const Vec3 out = centre_S + along * axis_S - corner_S;
        const double distance = out.norm();
        bool mine = distance > 0;
        for (int k = 0; k < 3; ++k)
            if (sign(positive(v, k)) * out[k] <
                -distance * (cone_rounding + segment_cone_tolerance * std::abs(axis_S[k])))
                mine = false;
        if (!mine) continue;
        const ContactPoint c = point_line_gap(box.centre + box.axes * corner_S, 0, s.centre, s.axis,
                                              unit_across(s.axis, box.centre - s.centre, nullptr), s.radius);
        list.add(exchanged(c), feature_code(capsule_side, side_code(FeatureKind::vertex, v)));
    }
}

void CapsuleBox::edges() {
    for (int k = 0; k < 3; ++k) {
        if (nearly_parallel(k)) continue;
        const Vec3 along_edge = box.axes.col(k), next = box.axes.col((k + 1) % 3), last = box.axes.col((k + 2) % 3);
        for (int side = 0; side < 4; ++side) {
            const bool next_positive = (side & 1) != 0, last_positive = (side & 2) != 0;
            const Vec3 middle = edge_centre(k, next_positive, last_positive);
            const ContactPoint c = line_line_gap(s.centre, s.axis, middle, along_edge, s.centre - middle, s.radius, 0);
            if (sign(next_positive) * next.dot(c.normal) < -segment_cone_tolerance) continue;
            if (sign(last_positive) * last.dot(c.normal) < -segment_cone_tolerance) continue;
            if (across_plane(c.normal)) continue;
            if (!s.holds(s.along(c.core_a))) continue;
            if (std::abs(along_edge.dot(c.core_b - middle)) > box.half[k] * (1 + segment_border)) continue;
            list.add(c,
                     feature_code(capsule_side, side_code(FeatureKind::edge, edge(k, next_positive, last_positive))));
        }
    }
}

void CapsuleBox::inside(const Separation& separation) {
    if (separation.face >= 0) {
        const int k = separation.face / 2;
        const Vec3 m = sign(separation.face % 2 != 0) * box.axes.col(k);
        for (int i = 0; i < 2; ++i)
            list.add(point_plane_gap(s.end(i), s.radius, box.centre + box.half[k] * m, m),
                     feature_code(capsule_end(i), side_code(FeatureKind::face, separation.face)));
        return;
    }
    const int k = separation.edge_axis;
    const Vec3& n = separation.edge_normal;
    const bool next_positive = n.dot(box.axes.col((k + 1) % 3)) > 0,
               last_positive = n.dot(box.axes.col((k + 2) % 3)) > 0;
    list.add(
        line_line_gap(s.centre, s.axis, edge_centre(k, next_positive, last_positive), box.axes.col(k), n, s.radius, 0),
        feature_code(capsule_side, side_code(FeatureKind::edge, edge(k, next_positive, last_positive))));
}

}  // namespace

void capsule_box(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                 std::vector<ContactPoint>& contacts) {
    if (is_disc(a, query)) {
        const Geometry disc = disc_of(a);
        sphere_box({&disc, a.position, a.rotation}, b, query, contacts);
        return;
    }
    CapsuleBox(a, b, query, contacts).find();
}

}  // namespace stickslip
