// Two boxes. The axis of largest separation (box_sat.hpp) tells what can touch:
//
//   edges   one line_line gap between the two supporting edges, if no face axis comes near in separation;
//   faces   the face F_a of a and the face F_b of b that look at each other give, seen along the normal,
//             corners of b over F_a and corners of a over F_b   point_plane
//             edges of F_a crossing edges of F_b                line_line
//           which are the corners of the common polygon, each with its own gap. Points that fall together are one,
//           the first kind named above wins; but a crossing that is nearer than the corner beside it stays too.
//
// So equal boxes stacked exactly have 4 contacts, turned by 45 degrees about the normal 8, at any small tilt, apart
// or overlapping. Every gap reported belongs to features that really lie over each other, so that a negative gap
// means overlap: corners and edges count as over something up to a little outside of it, but not if their gap is then
// less than the boxes are apart, or more than twice as deep as they overlap.
//
// Left out: boxes that are apart with a corner or parallel edge nearest to an edge or corner (neither lies over a
// face). Their distance would be a gap too, but its slope forbids to pass by, and boxes sliding over a floor of
// boxes would catch on the seams. They are seen as soon as they overlap.
#include <algorithm>
#include <cmath>

#include "collision/gaps.hpp"
#include "collision/pair_table.hpp"
#include "collision/pairs/box_corners.hpp"
#include "collision/pairs/box_sat.hpp"
#include "collision/pairs/face_manifold.hpp"

namespace stickslip {

using namespace box_features;

namespace {

// A face of a box: outward along axis, the edges along u and v.
struct Face {
    int axis, u, v;
    bool positive_side;
    Vec3 outward;
    Vec3 centre;

    Face(const PlacedBox& box, int face_axis, bool on_positive_side)
        : axis(face_axis),
          u((face_axis + 1) % 3),
          v((face_axis + 2) % 3),
          positive_side(on_positive_side),
          outward(sign(on_positive_side) * box.axes.col(face_axis)),
          centre(box.centre + box.half[face_axis] * outward) {}
    std::uint32_t code() const { return side_code(FeatureKind::face, face(axis, positive_side)); }
};

Face face_towards(const PlacedBox& box, const Vec3& direction) {
    const Vec3 along = box.axes.transpose() * direction;
    int axis = 0;
    for (int i = 1; i < 3; ++i)
        if (std::abs(along[i]) > std::abs(along[axis]) + axis_preference) axis = i;
    return {box, axis, along[axis] > 0};
}

// An edge of a box: along `axis`, through `centre`.
struct Edge {
    int axis;
    std::uint32_t code;
    Vec3 centre;

    Edge(const PlacedBox& box, int edge_axis, bool next_positive, bool last_positive)
        : axis(edge_axis),
          code(side_code(FeatureKind::edge, edge(edge_axis, next_positive, last_positive))),
          centre(box.centre + sign(next_positive) * box.half[(edge_axis + 1) % 3] * box.axes.col((edge_axis + 1) % 3) +
                 sign(last_positive) * box.half[(edge_axis + 2) % 3] * box.axes.col((edge_axis + 2) % 3)) {}
};

// The edge along `axis` on face `f`, on its positive or negative side.
Edge edge_of(const PlacedBox& box, const Face& f, int axis, bool positive_side) {
    const bool next_is_face = (axis + 1) % 3 == f.axis;
    return {box, axis, next_is_face ? f.positive_side : positive_side, next_is_face ? positive_side : f.positive_side};
}

class Manifold {
public:
    Manifold(const PlacedBox& box_a, const PlacedBox& box_b, const PairQuery& pair_query,
             std::vector<ContactPoint>& list)
        : a(box_a),
          b(box_b),
          query(pair_query),
          contacts(list),
          first(list.size()),
          size(std::min(box_a.half.maxCoeff(), box_b.half.maxCoeff())) {}

    void find();

private:
    bool keeps_area() const;
    void corners_over_face(bool corners_of_b, const Face& f);
    void crossing_edges(const Face& f_a, const Face& f_b);
    void supporting_edges();
    void add_crossing(const Edge& e_a, const Edge& e_b, const Vec3& normal);
    void add(const ContactPoint& c, const SidePair& feature);

    const PlacedBox& a;
    const PlacedBox& b;
    const PairQuery& query;
    std::vector<ContactPoint>& contacts;
    const std::size_t first;
    const double size;  // [m]
    BoxSeparation separation;
    Mat3 reference_axes;  // of the box that owns the best face axis
    Vec3 merge;           // [m] along the reference axes
    double lowest = 0;    // [m] what is deeper comes from a corner or edge beside what it should lie over
};

void Manifold::find() {
    if (!separate(a, b, query, axis_preference * size, separation)) return;
    const int best = separation.best_face;
    const double by_face = separation.face[best];
    const PlacedBox& reference = best < 3 ? a : b;
    const PlacedBox& incident = best < 3 ? b : a;
    reference_axes = reference.axes;
    const Vec3 incident_extent = (reference.axes.transpose() * incident.axes).cwiseAbs() * incident.half;
    merge = (0.25 * reference.half.cwiseMin(incident_extent)).cwiseMin(one_point * size);

    lowest = separation.largest * (separation.largest > 0 ? 1 : 2) - equal_gaps * size;

    // Edges alone, if the faces lag behind by more than may close within the step.
    const double lag = separation.edge - by_face;
    const bool edges_only = lag > std::max(one_point * size, query.cutoff);
    const bool steep = lag > axis_preference * size && separation.edge_normal.dot(separation.face_normal) < nearly_face;
    if (edges_only || steep) supporting_edges();
    if (edges_only || !keeps_area()) return;

    const Vec3& n = separation.face_normal;
    const Face f_a = best < 3 ? Face(a, best, n.dot(a.axes.col(best)) < 0) : face_towards(a, -n);
    const Face f_b = best < 3 ? face_towards(b, n) : Face(b, best - 3, n.dot(b.axes.col(best - 3)) > 0);
    corners_over_face(true, f_a);
    corners_over_face(false, f_b);
    crossing_edges(f_a, f_b);
}

// Whether the boxes overlap, seen along the reference normal, by more than the border tolerance. Otherwise they
// meet in a seam: a box sliding level with the next one must not run into its side.
bool Manifold::keeps_area() const {
    const int best = separation.best_face;
    const PlacedBox& reference = best < 3 ? a : b;
    const PlacedBox& incident = best < 3 ? b : a;
    for (int k = 0; k < 3; ++k) {
        if (k == best % 3) continue;
        const double extent = (incident.axes.transpose() * reference.axes.col(k)).cwiseAbs().dot(incident.half);
        const double seam = std::min(face_border * size, 0.01 * std::min(reference.half[k], extent));
        if (separation.face[best < 3 ? k : k + 3] > -seam) return false;
    }
    return true;
}

void Manifold::corners_over_face(bool corners_of_b, const Face& f) {
    const PlacedBox& owner = corners_of_b ? a : b;
    const PlacedBox& other = corners_of_b ? b : a;
    const Vec3 m_other = other.axes.transpose() * f.outward;
    const double slack_u = std::min(face_border * size, 0.1 * owner.half[f.u]);
    const double slack_v = std::min(face_border * size, 0.1 * owner.half[f.v]);
    for (int v = 0; v < 8; ++v) {
        if (!exposed(v, m_other)) continue;
        const Vec3 Q = other.centre + other.axes * vertex(Box{other.half}, v);
        const Vec3 x = owner.axes.transpose() * (Q - owner.centre);
        if (std::abs(x[f.u]) > owner.half[f.u] + slack_u || std::abs(x[f.v]) > owner.half[f.v] + slack_v) continue;
        const ContactPoint c = point_plane_gap(Q, 0, f.centre, f.outward);
        const std::uint32_t code = side_code(FeatureKind::vertex, v);
        if (corners_of_b)
            add(exchanged(c), feature_code(f.code(), code));
        else
            add(c, feature_code(code, f.code()));
    }
}

void Manifold::crossing_edges(const Face& f_a, const Face& f_b) {
    const int axes_a[2] = {f_a.u, f_a.v}, axes_b[2] = {f_b.u, f_b.v};
    for (int p = 0; p < 2; ++p) {
        for (int q = 0; q < 2; ++q) {
            const Vec3 cross = Vec3(a.axes.col(axes_a[p])).cross(Vec3(b.axes.col(axes_b[q])));
            const double sine = cross.norm();
            if (sine < parallel_edges) continue;
            const double along = cross.dot(separation.face_normal) / sine;
            if (std::abs(along) < nearly_face) continue;
            const Vec3 n = cross / (along > 0 ? sine : -sine);
            // Sides of the faces whose edges have n (of b) and -n (of a) in their normal cones.
            for (int i = 0; i < 2; ++i) {
                if (-n.dot(a.axes.col(axes_a[1 - p])) * sign(i != 0) < -edge_cone_tolerance) continue;
                for (int j = 0; j < 2; ++j) {
                    if (n.dot(b.axes.col(axes_b[1 - q])) * sign(j != 0) < -edge_cone_tolerance) continue;
                    add_crossing(edge_of(a, f_a, axes_a[p], i != 0), edge_of(b, f_b, axes_b[q], j != 0), n);
                }
            }
        }
    }
}

void Manifold::supporting_edges() {
    const Vec3& n = separation.edge_normal;
    const int i = separation.edge_axis_a, j = separation.edge_axis_b;
    const Vec3 n_a = a.axes.transpose() * n, n_b = b.axes.transpose() * n;
    add_crossing({a, i, n_a[(i + 1) % 3] < 0, n_a[(i + 2) % 3] < 0}, {b, j, n_b[(j + 1) % 3] > 0, n_b[(j + 2) % 3] > 0},
                 n);
}

// The two edges, if they cross seen along their common normal.
void Manifold::add_crossing(const Edge& e_a, const Edge& e_b, const Vec3& normal) {
    const Vec3 along_a = a.axes.col(e_a.axis), along_b = b.axes.col(e_b.axis);
    const ContactPoint c = line_line_gap(e_a.centre, along_a, e_b.centre, along_b, normal);
    const double half_a = a.half[e_a.axis], half_b = b.half[e_b.axis];
    if (std::abs(along_a.dot(c.core_a - e_a.centre)) > half_a + std::min(face_border * size, 0.1 * half_a)) return;
    if (std::abs(along_b.dot(c.core_b - e_b.centre)) > half_b + std::min(face_border * size, 0.1 * half_b)) return;
    add(c, feature_code(e_a.code, e_b.code));
}

void Manifold::add(const ContactPoint& c, const SidePair& feature) {
    if (!(c.gap <= query.cutoff) || c.gap < lowest) return;
    // Corners of one box are never merged among themselves; everything else gives way to what is there, except edges
    // that cross beside a corner and touch before it does.
    const bool corner = c.kind == GapKind::point_plane;
    for (std::size_t i = first; i < contacts.size(); ++i) {
        if (corner && contacts[i].kind == GapKind::point_plane && contacts[i].point_on_b == c.point_on_b) continue;
        if (!corner && c.gap < contacts[i].gap - equal_gaps * size) continue;
        Vec3 apart = (reference_axes.transpose() * (c.position - contacts[i].position)).cwiseAbs();
        apart[separation.best_face % 3] = 0;
        if ((apart.array() <= merge.array()).all()) return;
    }
    contacts.push_back(c);
    contacts.back().id.feature = feature;
}

// In a plane the thickness across it means nothing. Made equal, corners meet faces and not edges.
void make_equally_thick(const Vec3& plane_normal, PlacedBox& a, PlacedBox& b) {
    int across[2];
    double thickness = infinity;
    PlacedBox* const boxes[2] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
        (boxes[i]->axes.transpose() * plane_normal).cwiseAbs().maxCoeff(&across[i]);
        for (int k = 0; k < 3; ++k)
            if (k != across[i]) thickness = std::min(thickness, boxes[i]->half[k]);
    }
    for (int i = 0; i < 2; ++i) boxes[i]->half[across[i]] = thickness;
}

}  // namespace

void box_box(const PlacedShape& shape_a, const PlacedShape& shape_b, const PairQuery& query,
             std::vector<ContactPoint>& contacts) {
    PlacedBox a = placed_box(shape_a), b = placed_box(shape_b);
    if (query.plane_normal != nullptr) make_equally_thick(*query.plane_normal, a, b);
    Manifold(a, b, query, contacts).find();
}

}  // namespace stickslip
