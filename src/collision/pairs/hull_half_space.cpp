// A hull over a plane: one gap per corner that the plane can see (see `exposed` in placed_polytope.hpp).
#include "collision/gaps.hpp"
#include "collision/pairs/placed_polytope.hpp"

namespace stickslip {

void hull_half_space(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                     std::vector<ContactPoint>& contacts) {
    const PlacedPolytope hull = placed_polytope(a);
    const auto& plane = std::get<HalfSpace>(*b.geometry);
    const double length = plane.normal.norm();
    const Vec3 m = b.rotation * (plane.normal / length);
    const Vec3 y = b.position + plane.offset / length * m;
    for (int v = 0; v < hull.vertices(); ++v) {
        ContactPoint c = point_plane_gap(hull.vertex(v), 0, y, m);
        if (!(c.gap <= query.cutoff) || !exposed(hull, v, m)) continue;
        c.id.feature = feature_code(side_code(FeatureKind::vertex, v), side_code(FeatureKind::face));
        contacts.push_back(c);
    }
}

}  // namespace stickslip
