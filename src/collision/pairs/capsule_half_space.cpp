// A capsule over a plane: one gap per cap. Both are always told when near: neither cap may be below the plane, so
// that a capsule lying flat rests on two points.
#include "collision/pairs/segment.hpp"

namespace stickslip {

void capsule_half_space(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                        std::vector<ContactPoint>& contacts) {
    if (is_disc(a, query)) {
        const Geometry disc = disc_of(a);
        sphere_half_space({&disc, a.position, a.rotation}, b, query, contacts);
        return;
    }
    const Segment segment(a);
    const auto& plane = std::get<HalfSpace>(*b.geometry);
    const double length = plane.normal.norm();
    const Vec3 m = b.rotation * (plane.normal / length);
    const Vec3 y = b.position + plane.offset / length * m;
    for (int i = 0; i < 2; ++i) {
        ContactPoint c = point_plane_gap(segment.end(i), segment.radius, y, m);
        if (!(c.gap <= query.cutoff)) continue;
        c.id.feature = feature_code(capsule_end(i), side_code(FeatureKind::face));
        contacts.push_back(c);
    }
}

}  // namespace stickslip
