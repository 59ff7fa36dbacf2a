// Two capsules. The distance of two segments is the least of
//
//   ends of a over the side of b, and of b over a   point_line
//   two ends that look at each other                point_point
//   the sides where they cross                      line_line
//
// and every one of these gaps must stay positive by itself (a ball about any point of one axis must not enter the
// other capsule). So all that are near are told: crossed capsules touch once, where they cross; parallel ones twice,
// at the ends of what they share; nearly parallel ones may do both. Contacts that fall together are one.
//
// Axes that meet part along the normal of both; in a planar scene, through the nearer end.
#include <algorithm>

#include "collision/pairs/segment.hpp"

namespace stickslip {

namespace {

// Axes in a plane that cross: the depth is the least shift that takes an end of one across the line of the other.
// In the plane the normal of a line stays where it is on the line, so this is the gap of point_line with its sign.
void add_planar_crossing(const Segment& a, const Segment& b, const Vec3& plane_normal, ContactList& list) {
    ContactPoint best;
    SidePair feature;
    best.gap = -infinity;
    for (const bool ends_of_b : {false, true}) {
        const Segment& line = ends_of_b ? a : b;
        const Segment& other = ends_of_b ? b : a;
        const Vec3 m = unit_across(line.axis, other.centre - line.centre, &plane_normal);
        const int i = m.dot(other.axis) > 0 ? 0 : 1;  // the end that is deepest
        const double depth = m.dot(other.end(i) - line.centre) - a.radius - b.radius;
        if (!(depth > best.gap + segment_border * (a.radius + b.radius))) continue;
        ContactPoint c;
        c.kind = GapKind::point_line;
        c.normal = m;
        c.gap = depth;
        c.core_a = other.end(i);
        c.core_b = line.centre + line.axis * line.along(c.core_a);
        c.edge_b = line.axis;
        c.radius_a = other.radius;
        c.radius_b = line.radius;
        c.position = c.core_a - (c.radius_a + c.gap / 2) * m;
        best = ends_of_b ? exchanged(c) : c;
        feature = ends_of_b ? feature_code(capsule_side, capsule_end(i)) : feature_code(capsule_end(i), capsule_side);
    }
    list.add(best, feature);
}

// Returns whether the axes cut each other in the plane, where the ends have nothing to say any more.
bool add_crossing(const Segment& a, const Segment& b, const PairQuery& query, ContactList& list) {
    const double sine = a.axis.cross(b.axis).norm();
    if (sine * std::min(a.half, b.half) < parallel_lines * (a.radius + b.radius)) return false;
    const ContactPoint c = line_line_gap(a.centre, a.axis, b.centre, b.axis, a.centre - b.centre, a.radius, b.radius);
    if (!a.holds(a.along(c.core_a)) || !b.holds(b.along(c.core_b))) return false;
    if (query.plane_normal == nullptr) {
        list.add(c, feature_code(capsule_side, capsule_side));
        return false;
    }
    add_planar_crossing(a, b, *query.plane_normal, list);
    return true;
}

}  // namespace

void capsule_capsule(const PlacedShape& shape_a, const PlacedShape& shape_b, const PairQuery& query,
                     std::vector<ContactPoint>& contacts) {
    if (is_disc(shape_a, query)) {
        const Geometry disc = disc_of(shape_a);
        sphere_capsule({&disc, shape_a.position, shape_a.rotation}, shape_b, query, contacts);
        return;
    }
    if (is_disc(shape_b, query)) {
        const Geometry disc = disc_of(shape_b);
        const std::size_t first = contacts.size();
        sphere_capsule({&disc, shape_b.position, shape_b.rotation}, shape_a, query, contacts);
        for (std::size_t i = first; i < contacts.size(); ++i) contacts[i] = exchanged(contacts[i]);
        return;
    }
    const Segment a(shape_a), b(shape_b);
    const Vec3 apart = a.centre - b.centre;
    // Contacts at the two ends of the shorter capsule are twice its half length apart, far more than a thousandth.
    ContactList list(query.cutoff, 1e-3 * std::min(a.half, b.half), segment_border * (a.radius + b.radius), contacts);

    if (query.plane_normal != nullptr && add_crossing(a, b, query, list)) return;
    for (int i = 0; i < 2; ++i) {
        const Vec3 Q = a.end(i);
        const ContactPoint c = ball_segment_gap(Q, a.radius, b, apart, query.plane_normal);
        const std::uint32_t on_b = c.id.feature.b;
        // Of two ends, each must lie beyond the other: else the side of one is nearer.
        if (on_b != capsule_side && a.holds(a.along(c.core_b))) continue;
        if (on_b != capsule_side && a.along(c.core_b) * Segment::sign(i) < 0) continue;
        list.add(c, feature_code(capsule_end(i), on_b));
    }
    for (int j = 0; j < 2; ++j) {
        const Vec3 Q = b.end(j);
        if (!a.holds(a.along(Q))) continue;
        list.add(exchanged(ball_segment_gap(Q, b.radius, a, -apart, query.plane_normal)),
                 feature_code(capsule_side, capsule_end(j)));
    }
    if (query.plane_normal == nullptr) add_crossing(a, b, query, list);
}

}  // namespace stickslip
