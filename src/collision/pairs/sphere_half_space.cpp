// A ball over a plane: the gap of its centre to the plane, less the radius.
#include "collision/gaps.hpp"
#include "collision/pair_table.hpp"

namespace stickslip {

void sphere_half_space(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                       std::vector<ContactPoint>& contacts) {
    const auto& plane = std::get<HalfSpace>(*b.geometry);
    const double length = plane.normal.norm();
    const Vec3 m = b.rotation * (plane.normal / length);
    ContactPoint c =
        point_plane_gap(a.position, std::get<Sphere>(*a.geometry).radius, b.position + plane.offset / length * m, m);
    if (!(c.gap <= query.cutoff)) return;
    c.id.feature = feature_code(side_code(FeatureKind::surface), side_code(FeatureKind::face));
    contacts.push_back(c);
}

}  // namespace stickslip
