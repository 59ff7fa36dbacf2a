// Who can touch whom, exactly: one function per pair of shape kinds.
#pragma once

#include <vector>

#include "collision/contact_point.hpp"
#include "geometry/shape.hpp"

namespace stickslip {

// A shape where it is now.
struct PlacedShape {
    const Geometry* geometry = nullptr;
    Vec3 position = Vec3::Zero();      // [m] origin of the shape's frame in W
    Mat3 rotation = Mat3::Identity();  // R_WS
};

struct PairQuery {
    double cutoff = 0;                   // [m] contacts with a larger gap are left out
    const Vec3* plane_normal = nullptr;  // planar scenes: no contact may push along it
};

// Appends the contacts of a and b: everything but ids of shapes, bodies, and the tangent.
using PairFunction = void (*)(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                              std::vector<ContactPoint>& contacts);

// The contacts of the two, sorted by feature; nothing for kinds that never touch (half-space with half-space).
void find_pair_contacts(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                        std::vector<ContactPoint>& contacts);

// One exact pair per file in pairs/.
void sphere_sphere(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                   std::vector<ContactPoint>& contacts);
void sphere_box(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                std::vector<ContactPoint>& contacts);
void sphere_half_space(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                       std::vector<ContactPoint>& contacts);
void box_box(const PlacedShape& a, const PlacedShape& b, const PairQuery& query, std::vector<ContactPoint>& contacts);
void sphere_capsule(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                    std::vector<ContactPoint>& contacts);
void capsule_box(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                 std::vector<ContactPoint>& contacts);
void capsule_capsule(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                     std::vector<ContactPoint>& contacts);
void capsule_half_space(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                        std::vector<ContactPoint>& contacts);
void box_half_space(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                    std::vector<ContactPoint>& contacts);
void sphere_hull(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                 std::vector<ContactPoint>& contacts);
void capsule_hull(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                  std::vector<ContactPoint>& contacts);
void hull_half_space(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                     std::vector<ContactPoint>& contacts);
// Hulls and boxes, in any order; two boxes have a quicker one of their own.
void polytope_polytope(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                       std::vector<ContactPoint>& contacts);

}  // namespace stickslip
