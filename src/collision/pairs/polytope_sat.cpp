#include "collision/pairs/polytope_sat.hpp"

#include <algorithm>
#include <cmath>

#include "collision/pairs/box_sat.hpp"

namespace stickslip {

namespace {

bool across_plane(const PairQuery& query, const Vec3& n) {
    return query.plane_normal != nullptr && std::abs(n.dot(*query.plane_normal)) > 0.5;
}

// Along the normals of the faces of `owner`, which is a or b.
bool try_faces(const PlacedPolytope& owner, const PlacedPolytope& other, bool of_a, const PairQuery& query, double preference,
               PolytopeSeparation& s) {
    for (int f = 0; f < owner.faces(); ++f) {
        const Vec3 m = owner.normal(f);
        if (across_plane(query, m)) continue;
        const double apart = lowest(other, m) - m.dot(owner.corner(f));
        if (apart > query.cutoff) return false;
        s.largest = std::max(s.largest, apart);
        if (s.best_face >= 0 && !(apart > s.face + preference)) continue;
        s.face = apart;
        s.of_a = of_a;
        s.best_face = f;
        s.face_normal = of_a ? Vec3(-m) : m;
    }
    return true;
}

// An edge of b in the frame of a, with the normals of its faces turned about.
struct TurnedEdge {
    Vec3 from, along, left, right;
};

TurnedEdge turned(const PlacedPolytope& a, const PlacedPolytope& b, int e) {
    const Polytope::Edge& edge = b.form.edges[e];
    const auto in_a = [&](const Vec3& x) { return Vec3(a.rotation.transpose() * x); };
    return {in_a(b.vertex(edge.from) - a.position), in_a(b.along(e)), in_a(-b.normal(edge.left)), in_a(-b.normal(edge.right))};
}

bool try_edges(const PlacedPolytope& a, const PlacedPolytope& b, const PairQuery& query, double preference,
               PolytopeSeparation& s) {
    for (int j = 0; j < b.edges(); ++j) {
        const TurnedEdge f = turned(a, b, j);
        for (int i = 0; i < a.edges(); ++i) {
            const Polytope::Edge& e = a.form.edges[i];
            const Vec3 d = a.scale.cwiseProduct(a.form.vertices[e.to] - a.form.vertices[e.from]);
            // The arcs cross if the ends of each lie on both sides of the great circle of the other, on the same half.
            const double left = f.left.dot(d), right = f.right.dot(d);
            if (!(left * right < 0)) continue;
            const double of_left = a.form.faces[e.left].normal.dot(f.along), of_right = a.form.faces[e.right].normal.dot(f.along);
            if (!(of_left * of_right < 0) || !(left * of_right > 0)) continue;
            Vec3 n = d.cross(f.along);
            const double sine = n.norm();
            if (sine < parallel_edges * d.norm()) continue;
            n /= sine;
            if (n.dot(f.left + f.right) > 0) n = -n;  // those point into b
            const double apart = n.dot(a.scale.cwiseProduct(a.form.vertices[e.from]) - f.from);
            const Vec3 n_W = a.rotation * n;
            if (across_plane(query, n_W)) continue;
            if (apart > query.cutoff) return false;
            s.largest = std::max(s.largest, apart);
            if (!(apart > s.edge + preference)) continue;
            s.edge = apart;
            s.edge_a = i;
            s.edge_b = j;
            s.edge_normal = n_W;
        }
    }
    return true;
}

}  // namespace

bool separate(const PlacedPolytope& a, const PlacedPolytope& b, const PairQuery& query, double preference, PolytopeSeparation& s) {
    return try_faces(a, b, true, query, preference, s) && try_faces(b, a, false, query, preference, s) &&
           try_edges(a, b, query, preference, s);
}

}  // namespace stickslip
