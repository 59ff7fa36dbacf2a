// A ball and a hull: one gap, of the centre to the nearest feature of the hull, as with boxes (sphere_box.cpp). Outside, that is a face if the
// centre lies over it, else the nearest of the edges and corners of the faces that see the centre. A centre inside is measured from the
// nearest face.
#include <algorithm>

#include "collision/gaps.hpp"
#include "collision/pairs/ball_polytope.hpp"

namespace stickslip {

namespace {

// Of the size: a centre beyond the border of a face, or the end of an edge, by less counts as over it. Smaller than rounding, and a ball
// resting over an edge changes its id; much larger, and the gap is wrong by its square.
constexpr double hull_border = 1e-9;

class NearestFeature {
public:
    NearestFeature(const Vec3& Q, const PlacedPolytope& polytope, const PairQuery& query)
        : Q_(Q), p_(polytope), border_(hull_border * polytope.size) {
        highest(query.plane_normal);
    }

    ContactPoint gap(double radius);

private:
    // The face that lies lowest below the centre, the first of equals. Planar scenes have no faces across.
    void highest(const Vec3* plane_normal) {
        for (int f = 0; f < p_.faces(); ++f) {
            const Vec3 m = p_.normal(f);
            if (plane_normal != nullptr && std::abs(m.dot(*plane_normal)) > 0.5) continue;
            const double height = m.dot(Q_ - p_.corner(f));
            if (face_ >= 0 && !(height > height_ + border_)) continue;
            face_ = f;
            height_ = height;
        }
    }
    bool over(int f, const Vec3& m) const {
        for (const int e : p_.form.sides_of(f)) {
            const Polytope::Edge& edge = p_.form.edges[e];
            const Vec3 out = (edge.left == f ? 1 : -1) * p_.along(e).cross(m);
            if (out.dot(Q_ - p_.vertex(edge.from)) > border_) return false;
        }
        return true;
    }
    int face_below() const {
        if (height_ <= border_ || over(face_, p_.normal(face_))) return face_;
        for (int f = 0; f < p_.faces(); ++f) {
            const Vec3 m = p_.normal(f);
            if (m.dot(Q_ - p_.corner(f)) > border_ && over(f, m)) return f;
        }
        return -1;
    }

    const Vec3 Q_;
    const PlacedPolytope& p_;
    const double border_;  // [m]
    int face_ = -1;
    double height_ = -infinity;  // [m] of the centre over it
};

ContactPoint NearestFeature::gap(double radius) {
    ContactPoint c;
    if (const int f = face_below(); f >= 0) {
        c = point_plane_gap(Q_, radius, p_.corner(f), p_.normal(f));
        c.id.feature.b = side_code(FeatureKind::face, f);
        return c;
    }
    const Vec3 fallback = p_.normal(face_);
    double nearest = infinity;
    int corner = -1, line = -1;
    for (int v = 0; v < p_.vertices(); ++v) {
        const double distance = (Q_ - p_.vertex(v)).norm();
        if (!(distance < nearest - border_)) continue;
        nearest = distance;
        corner = v;
    }
    for (int e = 0; e < p_.edges(); ++e) {
        const Vec3 from = p_.vertex(p_.form.edges[e].from), to = p_.vertex(p_.form.edges[e].to), along = p_.along(e);
        const double way = along.dot(Q_ - from);
        if (way < -border_ || way > (to - from).norm() + border_) continue;
        const double distance = (Q_ - from - way * along).norm();
        // Where an edge ends flush below the centre it is as near as its corner, and wins.
        if (line >= 0 ? !(distance < nearest - border_) : distance > nearest + border_) continue;
        nearest = distance;
        line = e;
    }
    if (line >= 0) {
        c = point_line_gap(Q_, radius, p_.vertex(p_.form.edges[line].from), p_.along(line), fallback);
        c.id.feature.b = side_code(FeatureKind::edge, line);
    } else {
        c = point_point_gap(Q_, radius, p_.vertex(corner), 0, fallback);
        c.id.feature.b = side_code(FeatureKind::vertex, corner);
    }
    return c;
}

}  // namespace

ContactPoint ball_polytope_gap(const Vec3& Q, double radius, const PlacedPolytope& b, const PairQuery& query) {
    ContactPoint c = NearestFeature(Q, b, query).gap(radius);
    c.id.feature.a = side_code(FeatureKind::surface);
    return c;
}

void sphere_hull(const PlacedShape& a, const PlacedShape& b, const PairQuery& query, std::vector<ContactPoint>& contacts) {
    const ContactPoint c = ball_polytope_gap(a.position, std::get<Sphere>(*a.geometry).radius, placed_polytope(b), query);
    if (c.gap <= query.cutoff) contacts.push_back(c);
}

}  // namespace stickslip
