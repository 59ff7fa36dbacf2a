// A box over a plane: one gap per corner that the plane can see (see `exposed` in box_corners.hpp).
#include "collision/gaps.hpp"
#include "collision/pair_table.hpp"
#include "collision/pairs/box_corners.hpp"

namespace stickslip {

void box_half_space(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                    std::vector<ContactPoint>& contacts) {
    const auto& box = std::get<Box>(*a.geometry);
    const auto& plane = std::get<HalfSpace>(*b.geometry);
    const double length = plane.normal.norm();
    const Vec3 m = b.rotation * (plane.normal / length);
    const Vec3 y = b.position + plane.offset / length * m;
    const Vec3 m_S = a.rotation.transpose() * m;
    for (int v = 0; v < 8; ++v) {
        if (!exposed(v, m_S)) continue;
        ContactPoint c = point_plane_gap(a.position + a.rotation * box_features::vertex(box, v), 0, y, m);
        if (!(c.gap <= query.cutoff)) continue;
        c.id.feature = feature_code(side_code(FeatureKind::vertex, v), side_code(FeatureKind::face));
        contacts.push_back(c);
    }
}

}  // namespace stickslip
