// A capsule and a hull, by the rules for a capsule and a box (capsule_box.cpp): ends of the axis to the nearest feature of the hull, corners
// of the hull to the axis, edges of the hull crossing the axis, each with a gap of its own while the axis is outside; an axis that enters the
// hull is measured along the axis of least depth.
#include <algorithm>

#include "collision/pairs/ball_polytope.hpp"
#include "collision/pairs/segment.hpp"

namespace stickslip {

namespace {

struct HullSeparation {
    double distance = -infinity;  // [m] of the axis; negative: depth
    int face = -1;                // or
    int edge = -1;                // of the product with the capsule's axis
    Vec3 edge_normal = Vec3::Zero();
};

class CapsuleHull {
public:
    CapsuleHull(const PlacedShape& capsule, const PlacedShape& hull, const PairQuery& pair_query,
                std::vector<ContactPoint>& contacts)
        : query(pair_query),
          p(placed_polytope(hull)),
          s(capsule),
          list(pair_query.cutoff, 1e-3 * std::min(s.half, std::get<Hull>(*hull.geometry).inner),
               segment_border * s.radius, contacts) {}

    void find();

private:
    HullSeparation separate() const;
    // In a planar scene nothing parts along the normal of the plane.
    bool across_plane(const Vec3& unit) const {
        return query.plane_normal != nullptr && std::abs(unit.dot(*query.plane_normal)) > 0.5;
    }
    bool nearly_parallel(int e) const {
        const double length = (p.vertex(p.form.edges[e].from) - p.vertex(p.form.edges[e].to)).norm();
        return p.along(e).cross(s.axis).norm() * std::min(s.half, length / 2) < parallel_lines * s.radius;
    }
    bool in_cone(int e, const Vec3& n, double tolerance) const;
    bool in_corner(int v, const Vec3& n) const;
    void ends();
    void corners();
    void edges();
    void inside(const HullSeparation& separation);

    const PairQuery& query;
    const PlacedPolytope p;
    const Segment s;
    ContactList list;
};

void CapsuleHull::find() {
    const HullSeparation separation = separate();
    if (separation.distance > query.cutoff + s.radius) return;
    if (separation.distance > 0) {
        ends();
        corners();
        edges();
    } else {
        inside(separation);
    }
}

// Whether n lies between the normals of the two faces of an edge, seen along it.
bool CapsuleHull::in_cone(int e, const Vec3& n, double tolerance) const {
    const Polytope::Edge& edge = p.form.edges[e];
    const Vec3 d = p.along(e);
    // Neither face goes on from the edge along n.
    return n.dot(p.normal(edge.left).cross(d)) <= tolerance && n.dot(d.cross(p.normal(edge.right))) <= tolerance;
}

// Whether n lies in the cone of the normals at a corner: no edge leaves it along n.
bool CapsuleHull::in_corner(int v, const Vec3& n) const {
    for (const int e : p.form.spokes_of(v)) {
        const Vec3 away = (p.form.edges[e].from == v ? 1 : -1) * p.along(e);
        if (n.dot(away) > cone_rounding + segment_cone_tolerance * std::abs(s.axis.dot(away))) return false;
    }
    return true;
}

HullSeparation CapsuleHull::separate() const {
    const double preference = segment_border * p.size;
    HullSeparation best;
    for (int f = 0; f < p.faces(); ++f) {
        const Vec3 m = p.normal(f);
        if (across_plane(m)) continue;
        const double distance = m.dot(s.centre - p.corner(f)) - s.half * std::abs(m.dot(s.axis));
        if (!(distance > best.distance + preference)) continue;
        best.distance = distance;
        best.face = f;
    }
    for (int e = 0; e < p.edges(); ++e) {
        if (nearly_parallel(e)) continue;
        Vec3 n = p.along(e).cross(s.axis).normalized();
        const Polytope::Edge& edge = p.form.edges[e];
        if (n.dot(p.normal(edge.left) + p.normal(edge.right)) < 0) n = -n;
        if (across_plane(n) || !in_cone(e, n, 0)) continue;
        const double distance = n.dot(s.centre - p.vertex(edge.from));
        if (!(distance > best.distance + preference)) continue;
        best = {distance, -1, e, n};
    }
    return best;
}

void CapsuleHull::ends() {
    for (int i = 0; i < 2; ++i) {
        const ContactPoint c = ball_polytope_gap(s.end(i), s.radius, p, query);
        list.add(c, feature_code(capsule_end(i), c.id.feature.b));
    }
}

void CapsuleHull::corners() {
    if (query.plane_normal != nullptr) return;  // edges across the plane stand for them
    for (int v = 0; v < p.vertices(); ++v) {
        const Vec3 corner = p.vertex(v);
        const double along = s.along(corner);
        if (!s.holds(along)) continue;
        const Vec3 out = s.centre + along * s.axis - corner;
        const double distance = out.norm();
        if (!(distance > 0) || distance - s.radius > query.cutoff || !in_corner(v, out / distance)) continue;
        const ContactPoint c = point_line_gap(corner, 0, s.centre, s.axis, unit_across(s.axis, p.position - s.centre, nullptr), s.radius);
        list.add(exchanged(c), feature_code(capsule_side, side_code(FeatureKind::vertex, v)));
    }
}

void CapsuleHull::edges() {
    for (int e = 0; e < p.edges(); ++e) {
        if (nearly_parallel(e)) continue;
        const Vec3 from = p.vertex(p.form.edges[e].from), to = p.vertex(p.form.edges[e].to), middle = (from + to) / 2;
        const ContactPoint c = line_line_gap(s.centre, s.axis, middle, p.along(e), s.centre - middle, s.radius, 0);
        if (!(c.gap <= query.cutoff) || !in_cone(e, c.normal, segment_cone_tolerance)) continue;
        if (across_plane(c.normal) || !s.holds(s.along(c.core_a))) continue;
        if ((c.core_b - middle).norm() > (to - from).norm() / 2 * (1 + segment_border)) continue;
        list.add(c, feature_code(capsule_side, side_code(FeatureKind::edge, e)));
    }
}

void CapsuleHull::inside(const HullSeparation& separation) {
    if (separation.face >= 0) {
        const Vec3 m = p.normal(separation.face);
        for (int i = 0; i < 2; ++i)
            list.add(point_plane_gap(s.end(i), s.radius, p.corner(separation.face), m),
                     feature_code(capsule_end(i), side_code(FeatureKind::face, separation.face)));
        return;
    }
    const int e = separation.edge;
    list.add(line_line_gap(s.centre, s.axis, p.vertex(p.form.edges[e].from), p.along(e), separation.edge_normal, s.radius, 0),
             feature_code(capsule_side, side_code(FeatureKind::edge, e)));
}

}  // namespace

void capsule_hull(const PlacedShape& a, const PlacedShape& b, const PairQuery& query, std::vector<ContactPoint>& contacts) {
    if (is_disc(a, query)) {
        const Geometry disc = disc_of(a);
        sphere_hull({&disc, a.position, a.rotation}, b, query, contacts);
        return;
    }
    CapsuleHull(a, b, query, contacts).find();
}

}  // namespace stickslip
