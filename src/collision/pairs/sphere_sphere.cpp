// Two balls: the gap of their centres. Coincident centres have no direction; they part along z.
#include "collision/gaps.hpp"
#include "collision/pair_table.hpp"

namespace stickslip {

void sphere_sphere(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                   std::vector<ContactPoint>& contacts) {
    const double radius_a = std::get<Sphere>(*a.geometry).radius, radius_b = std::get<Sphere>(*b.geometry).radius;
    // Most pairs of a pile are too far apart: the same number as the gap below, before anything else is computed.
    if (!((a.position - b.position).norm() - radius_a - radius_b <= query.cutoff)) return;
    Vec3 fallback = Vec3::UnitZ();
    if (query.plane_normal != nullptr) fallback = first_tangent(*query.plane_normal);
    ContactPoint c = point_point_gap(a.position, radius_a, b.position, radius_b, fallback);
    c.id.feature = feature_code(side_code(FeatureKind::surface), side_code(FeatureKind::surface));
    contacts.push_back(c);
}

}  // namespace stickslip
