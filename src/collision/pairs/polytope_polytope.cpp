// Two polytopes, of which one at least is a hull, by the rules for two boxes (box_box.cpp): the axis of largest separation (polytope_sat.hpp)
// tells whether two edges meet, one line_line gap, or two faces that look at each other: then corners of each over the face of the
// other, and the sides of the two faces that cross, which are the corners of the common polygon, each with its own gap.
#include <algorithm>
#include <cmath>

#include "collision/gaps.hpp"
#include "collision/pairs/box_sat.hpp"
#include "collision/pairs/face_manifold.hpp"
#include "collision/pairs/polytope_sat.hpp"

namespace stickslip {

namespace {

// Of the faces at the corner that lies farthest along `direction`, the one whose normal is nearest to it; the first of equals.
int face_towards(const PlacedPolytope& p, const Vec3& direction) {
    const Vec3 in = p.rotation.transpose() * direction, scaled = p.scale.cwiseProduct(in);
    int farthest = 0;
    for (int v = 1; v < p.vertices(); ++v)
        if (scaled.dot(p.form.vertices[v]) > scaled.dot(p.form.vertices[farthest]) + axis_preference * p.size) farthest = v;
    int best = -1;
    for (const int e : p.form.spokes_of(farthest))
        for (const int f : {p.form.edges[e].left, p.form.edges[e].right}) {
            const double better = best < 0 ? infinity : in.dot(p.form.faces[f].normal - p.form.faces[best].normal);
            if (better > axis_preference || (better > -axis_preference && f < best)) best = f;
        }
    return best;
}

class PolytopeManifold {
public:
    PolytopeManifold(const PlacedPolytope& first_one, const PlacedPolytope& second_one, const PairQuery& pair_query,
             std::vector<ContactPoint>& list)
        : a(first_one),
          b(second_one),
          query(pair_query),
          contacts(list),
          first(list.size()),
          size(std::min(first_one.size, second_one.size)) {}

    void find();

private:
    Vec3 outward(const PlacedPolytope& p, int f, int side) const;
    bool lies_beyond(const PlacedPolytope& owner, int f, const PlacedPolytope& other) const;
    bool over(const PlacedPolytope& owner, int f, const Vec3& Q) const;
    void corners_over_face(bool corners_of_b, int f);
    void crossing_sides(int f_a, int f_b);
    void add_crossing(int e_a, int e_b, const Vec3& normal);
    void add(const ContactPoint& c, const SidePair& feature);

    const PlacedPolytope &a, &b;
    const PairQuery& query;
    std::vector<ContactPoint>& contacts;
    const std::size_t first;
    const double size;  // [m]
    PolytopeSeparation separation;
    double lowest_gap = 0;  // [m] what is deeper comes from a corner or edge beside what it should lie over
};

void PolytopeManifold::find() {
    if (!separate(a, b, query, axis_preference * size, separation)) return;
    lowest_gap = separation.largest * (separation.largest > 0 ? 1 : 2) - equal_gaps * size;
    // Edges alone, if the faces lag behind by more than may close within the step.
    const double lag = separation.edge - separation.face;
    const bool edges_only = lag > std::max(one_point * size, query.cutoff);
    const bool steep = lag > axis_preference * size && separation.edge_normal.dot(separation.face_normal) < nearly_face;
    if (edges_only || steep) add_crossing(separation.edge_a, separation.edge_b, separation.edge_normal);
    if (edges_only) return;

    const Vec3& n = separation.face_normal;
    const int f_a = separation.of_a ? separation.best_face : face_towards(a, -n);
    const int f_b = separation.of_a ? face_towards(b, n) : separation.best_face;
    // They meet in a seam: a hull sliding level with the next one must not run into its side.
    if (separation.of_a ? lies_beyond(a, f_a, b) : lies_beyond(b, f_b, a)) return;
    corners_over_face(true, f_a);
    corners_over_face(false, f_b);
    crossing_sides(f_a, f_b);
    // Edges that part them more than any face need not be sides of these two.
    if (lag > axis_preference * size && !steep) add_crossing(separation.edge_a, separation.edge_b, separation.edge_normal);
}

// Out of the face, in its plane, across the side.
Vec3 PolytopeManifold::outward(const PlacedPolytope& p, int f, int side) const {
    return (p.form.edges[side].left == f ? 1 : -1) * p.along(side).cross(p.normal(f));
}

// Whether the other lies outside of a side of face f.
bool PolytopeManifold::lies_beyond(const PlacedPolytope& owner, int f, const PlacedPolytope& other) const {
    for (const int side : owner.form.sides_of(f)) {
        const Vec3 out = outward(owner, f, side);
        if (lowest(other, out) - out.dot(owner.vertex(owner.form.edges[side].from)) > -face_border * size) return true;
    }
    return false;
}

bool PolytopeManifold::over(const PlacedPolytope& owner, int f, const Vec3& Q) const {
    for (const int side : owner.form.sides_of(f))
        if (outward(owner, f, side).dot(Q - owner.vertex(owner.form.edges[side].from)) > face_border * size) return false;
    return true;
}

void PolytopeManifold::corners_over_face(bool corners_of_b, int f) {
    const PlacedPolytope& owner = corners_of_b ? a : b;
    const PlacedPolytope& other = corners_of_b ? b : a;
    const Vec3 m = owner.normal(f), y = owner.corner(f);
    const std::uint32_t face_code = side_code(FeatureKind::face, f);
    for (int v = 0; v < other.vertices(); ++v) {
        const ContactPoint c = point_plane_gap(other.vertex(v), 0, y, m);
        if (!(c.gap <= query.cutoff) || !over(owner, f, c.core_a) || !exposed(other, v, m)) continue;
        const std::uint32_t code = side_code(FeatureKind::vertex, v);
        if (corners_of_b)
            add(exchanged(c), feature_code(face_code, code));
        else
            add(c, feature_code(code, face_code));
    }
}

void PolytopeManifold::crossing_sides(int f_a, int f_b) {
    for (const int e_a : a.form.sides_of(f_a)) {
        const Vec3 along_a = a.along(e_a), out_a = outward(a, f_a, e_a);
        for (const int e_b : b.form.sides_of(f_b)) {
            const Vec3 cross = along_a.cross(b.along(e_b));
            const double sine = cross.norm();
            if (sine < parallel_edges) continue;
            const double along = cross.dot(separation.face_normal) / sine;
            if (std::abs(along) < nearly_face) continue;
            const Vec3 n = cross / (along > 0 ? sine : -sine);
            // n must be in the normal cone of the edge of b, and -n in that of a.
            if (-n.dot(out_a) < -edge_cone_tolerance || n.dot(outward(b, f_b, e_b)) < -edge_cone_tolerance) continue;
            add_crossing(e_a, e_b, n);
        }
    }
}

// The two edges, if they cross seen along their common normal.
void PolytopeManifold::add_crossing(int e_a, int e_b, const Vec3& normal) {
    const auto middle = [](const PlacedPolytope& p, int e) {
        return Vec3((p.vertex(p.form.edges[e].from) + p.vertex(p.form.edges[e].to)) / 2);
    };
    const auto half = [](const PlacedPolytope& p, int e) {
        return (p.vertex(p.form.edges[e].from) - p.vertex(p.form.edges[e].to)).norm() / 2;
    };
    const Vec3 m_a = middle(a, e_a), m_b = middle(b, e_b), along_a = a.along(e_a), along_b = b.along(e_b);
    const ContactPoint c = line_line_gap(m_a, along_a, m_b, along_b, normal);
    const double half_a = half(a, e_a), half_b = half(b, e_b);
    if (std::abs(along_a.dot(c.core_a - m_a)) > half_a + std::min(face_border * size, 0.1 * half_a)) return;
    if (std::abs(along_b.dot(c.core_b - m_b)) > half_b + std::min(face_border * size, 0.1 * half_b)) return;
    add(c, feature_code(side_code(FeatureKind::edge, e_a), side_code(FeatureKind::edge, e_b)));
}

void PolytopeManifold::add(const ContactPoint& c, const SidePair& feature) {
    if (!(c.gap <= query.cutoff) || c.gap < lowest_gap) return;
    for (std::size_t i = first; i < contacts.size(); ++i)
        if (contacts[i].id.feature == feature) return;
    // Corners of one body are never merged among themselves; everything else gives way to what is there, except edges that cross beside a
    // corner and touch before it does.
    const bool corner = c.kind == GapKind::point_plane;
    const Vec3& n = separation.face_normal;
    for (std::size_t i = first; i < contacts.size(); ++i) {
        if (corner && contacts[i].kind == GapKind::point_plane && contacts[i].point_on_b == c.point_on_b) continue;
        if (!corner && c.gap < contacts[i].gap - equal_gaps * size) continue;
        const Vec3 apart = c.position - contacts[i].position;
        if ((apart - n * n.dot(apart)).norm() <= one_point * size) return;
    }
    contacts.push_back(c);
    contacts.back().id.feature = feature;
}

}  // namespace

void polytope_polytope(const PlacedShape& a, const PlacedShape& b, const PairQuery& query, std::vector<ContactPoint>& contacts) {
    const PlacedPolytope first = placed_polytope(a), second = placed_polytope(b);
    PolytopeManifold(first, second, query, contacts).find();
}

}  // namespace stickslip
