// The core of a capsule: a segment with a radius around it, and its gap to a ball.
#pragma once

#include <cmath>

#include "collision/gaps.hpp"
#include "collision/pair_table.hpp"

namespace stickslip {

// A foot beyond the end of a segment (or of an edge) by less than this share of its half length counts as inside:
// smaller than rounding, and capsules that end flush with what they touch change their ids; much larger, and the gap
// is wrong by its square.
inline constexpr double segment_border = 1e-9;

struct Segment {
    Vec3 centre;
    Vec3 axis;      // unit
    double half;    // [m] half the distance of the cap centres
    double radius;  // [m]

    explicit Segment(const PlacedShape& shape)
        : centre(shape.position),
          axis(shape.rotation.col(2)),
          half(std::get<Capsule>(*shape.geometry).length / 2),
          radius(std::get<Capsule>(*shape.geometry).radius) {}
    static double sign(int end) { return end == 0 ? -1 : 1; }
    Vec3 end(int i) const { return centre + sign(i) * half * axis; }
    // [m] Where the foot of x on the line is, from the centre.
    double along(const Vec3& x) const { return axis.dot(x - centre); }
    bool holds(double along) const { return std::abs(along) <= half * (1 + segment_border); }
};

inline constexpr std::uint32_t capsule_side = side_code(FeatureKind::edge, 0);
inline constexpr std::uint32_t capsule_end(int i) { return side_code(FeatureKind::vertex, i); }

// A unit vector across `axis`, as near to `wish` as can be; in a planar scene, in the plane.
inline Vec3 unit_across(const Vec3& axis, const Vec3& wish, const Vec3* plane_normal) {
    if (plane_normal != nullptr) {
        const Vec3 m = plane_normal->cross(axis).normalized();
        return m.dot(wish) < 0 ? Vec3(-m) : m;
    }
    const Vec3 across = wish - axis * axis.dot(wish);
    // Shorter than this share, the difference is rounding.
    return across.norm() > 1e-9 * wish.norm() ? Vec3(across.normalized()) : first_tangent(axis);
}

// The ball about Q on side a against the capsule on side b: its side or the nearer cap.
inline ContactPoint ball_segment_gap(const Vec3& Q, double radius, const Segment& s, const Vec3& towards_a,
                                     const Vec3* plane_normal) {
    const double z = s.along(Q);
    ContactPoint c;
    if (s.holds(z)) {
        c = point_line_gap(Q, radius, s.centre, s.axis, unit_across(s.axis, towards_a, plane_normal), s.radius);
        c.id.feature = feature_code(side_code(FeatureKind::surface), capsule_side);
    } else {
        const int i = z > 0 ? 1 : 0;
        c = point_point_gap(Q, radius, s.end(i), s.radius, Segment::sign(i) * s.axis);
        c.id.feature = feature_code(side_code(FeatureKind::surface), capsule_end(i));
    }
    return c;
}

// In a planar scene a capsule either lies in the plane or stands across it; then it is a disc, and touches as a ball
// about its centre does.
inline bool is_disc(const PlacedShape& capsule, const PairQuery& query) {
    return query.plane_normal != nullptr && std::abs(capsule.rotation.col(2).dot(*query.plane_normal)) > 0.5;
}
inline Geometry disc_of(const PlacedShape& capsule) { return Sphere{std::get<Capsule>(*capsule.geometry).radius}; }

// Adds contacts of one pair that are near enough, and keeps one of those that coincide: the one that was there first,
// unless the later is clearly nearer.
class ContactList {
public:
    // `coincident` [m]: contacts nearer than this are one. `preference` [m]: smaller than rounding of gaps, and ids
    // of resting bodies flicker; the least gap is missed by no more.
    ContactList(double cutoff, double coincident, double preference, std::vector<ContactPoint>& contacts)
        : cutoff_(cutoff),
          coincident_(coincident),
          preference_(preference),
          contacts_(contacts),
          first_(contacts.size()) {}

    void add(const ContactPoint& c, const SidePair& feature) {
        if (!(c.gap <= cutoff_)) return;
        for (std::size_t i = first_; i < contacts_.size(); ++i) {
            if ((c.position - contacts_[i].position).norm() > coincident_) continue;
            if (c.gap < contacts_[i].gap - preference_) put(contacts_[i], c, feature);
            return;
        }
        put(contacts_.emplace_back(), c, feature);
    }

private:
    static void put(ContactPoint& place, const ContactPoint& c, const SidePair& feature) {
        place = c;
        place.id.feature = feature;
    }
    const double cutoff_, coincident_, preference_;
    std::vector<ContactPoint>& contacts_;
    const std::size_t first_;
};

// Two lines count as parallel when, over the length they could share, they part sideways by less than this share of the
// radii: the ends then carry, and the least gap is missed by half its square. Much smaller, and the normal of lines
// that cross turns with rounding.
inline constexpr double parallel_lines = 3e-5;

// A corner or edge is kept while its normal leaves its cone by no more than this angle [rad] in the direction of the
// capsule: a capsule across a box, tilted less, keeps the rim that it is about to lift from.
inline constexpr double segment_cone_tolerance = 0.1;
// And sideways: where a capsule lies over a corner exactly, rounding must not choose between the corner and the edge.
inline constexpr double cone_rounding = 1e-6;

}  // namespace stickslip
