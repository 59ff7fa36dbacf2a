// A ball and a capsule: one gap, of the centre to the segment (side of the capsule) or to its end (cap). The two agree
// in value and slope where they meet. A centre on the segment parts across it.
#include "collision/pairs/segment.hpp"

namespace stickslip {

void sphere_capsule(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                    std::vector<ContactPoint>& contacts) {
    if (is_disc(b, query)) {
        const Geometry disc = disc_of(b);
        sphere_sphere(a, {&disc, b.position, b.rotation}, query, contacts);
        return;
    }
    const Segment segment(b);
    const ContactPoint c = ball_segment_gap(a.position, std::get<Sphere>(*a.geometry).radius, segment,
                                            a.position - segment.centre, query.plane_normal);
    if (c.gap <= query.cutoff) contacts.push_back(c);
}

}  // namespace stickslip
