#include "collision/pairs/box_sat.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

bool separate(const PlacedBox& a, const PlacedBox& b, const PairQuery& query, double preference, BoxSeparation& s) {
    const Mat3 C = a.axes.transpose() * b.axes;  // C_ij = A_i.B_j
    const Mat3 absolute = C.cwiseAbs();
    const Vec3 d = a.centre - b.centre;
    const Vec3 d_a = a.axes.transpose() * d, d_b = b.axes.transpose() * d;

    // In a plane nothing can part along its normal.
    const auto across = [&](const Vec3& unit) {
        return query.plane_normal != nullptr && std::abs(unit.dot(*query.plane_normal)) > 0.9;
    };

    const Vec3 face_a = d_a.cwiseAbs() - a.half - absolute * b.half;
    const Vec3 face_b = d_b.cwiseAbs() - b.half - absolute.transpose() * a.half;
    for (int i = 0; i < 6; ++i) {
        s.face[i] = i < 3 ? face_a[i] : face_b[i - 3];
        if (s.face[i] > query.cutoff) return false;
        const Vec3 axis = i < 3 ? a.axes.col(i) : b.axes.col(i - 3);
        if (across(axis)) continue;
        s.largest = std::max(s.largest, s.face[i]);
        if (s.best_face < 0 || s.face[i] > s.face[s.best_face] + preference) s.best_face = i;
    }
    const Vec3 normal = s.best_face < 3 ? a.axes.col(s.best_face) : b.axes.col(s.best_face - 3);
    s.face_normal = normal.dot(d) < 0 ? Vec3(-normal) : normal;

    // L = A_i x B_j:  L.A_(i+1) = -C_(i+2)j,  L.A_(i+2) = C_(i+1)j,  and likewise for b.
    for (int i = 0; i < 3; ++i) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; ++j) {
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            const double square = 1 - C(i, j) * C(i, j);
            if (square < parallel_edges * parallel_edges) continue;
            const double along = C(i1, j) * d_a[i2] - C(i2, j) * d_a[i1];
            const double extent = a.half[i1] * absolute(i2, j) + a.half[i2] * absolute(i1, j) +
                                  b.half[j1] * absolute(i, j2) + b.half[j2] * absolute(i, j1);
            const double separation = (std::abs(along) - extent) / std::sqrt(square);
            if (separation > query.cutoff) return false;
            if (!(separation > std::min(s.edge + preference, s.largest))) continue;
            const Vec3 L = Vec3(a.axes.col(i)).cross(Vec3(b.axes.col(j))).normalized();
            if (across(L)) continue;
            s.largest = std::max(s.largest, separation);
            if (!(separation > s.edge + preference)) continue;
            s.edge = separation;
            s.edge_axis_a = i;
            s.edge_axis_b = j;
            s.edge_normal = L.dot(d) < 0 ? Vec3(-L) : L;
        }
    }
    return true;
}

}  // namespace stickslip
