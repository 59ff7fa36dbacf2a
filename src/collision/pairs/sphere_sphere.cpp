// Two balls: the gap of their centres. Coincident centres have no direction; they part along z.
#include "collision/gaps.hpp"
#include "collision/pair_table.hpp"

namespace stickslip {

void sphere_sphere(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                   std::vector<ContactPoint>& contacts) {
    Vec3 fallback = Vec3::UnitZ();
    if (query.plane_normal != nullptr) fallback = first_tangent(*query.plane_normal);
    ContactPoint c = point_point_gap(a.position, std::get<Sphere>(*a.geometry).radius, b.position,
                                     std::get<Sphere>(*b.geometry).radius, fallback);
    if (!(c.gap <= query.cutoff)) return;
    c.id.feature = feature_code(side_code(FeatureKind::surface), side_code(FeatureKind::surface));
    contacts.push_back(c);
}

}  // namespace stickslip
