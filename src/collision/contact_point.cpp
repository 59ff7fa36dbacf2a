// Rates of a contact. With w_rel = v_A(Q) - v_B(Q) at the moving point Q and D = phi + r_a + r_b,
//
//   plane on B   n' = w_B x n                        line on B   n' = w_B x n + (I - n n' - e e') w_rel / D
//   points       n' = (I - n n')(v_A(Q_a) - v_B(Q_b)) / D
//   lines        n' = (I - n n') c' / |c|  with c = +-(e_a x e_b),  c' = +-((w_A x e_a) x e_b + e_a x (w_B x e_b))
//
// and P' follows from P = Q -+ (r + phi/2) n where Q is body-fixed. The foot points of two lines glide along them,
// Q_a' = v_A(Q_a) + s e_a and Q_b' = v_B(Q_b) + t e_b, such that (Q_a - Q_b)' = (D n)'; there
// P = (Q_a + Q_b)/2 + (r_b - r_a)/2 n.
#include "collision/contact_point.hpp"

#include <cmath>
#include <utility>

namespace stickslip {

namespace {

ContactRates line_line_rates(const ContactPoint& c, const Twist& a, const Twist& b) {
    const Vec3& n = c.normal;
    const Vec3 cross = c.edge_a.cross(c.edge_b);
    const double square = cross.squaredNorm();
    const double sign = cross.dot(n) >= 0 ? 1 : -1;
    const Vec3 cross_rate =
        sign * (a.angular.cross(c.edge_a).cross(c.edge_b) + c.edge_a.cross(b.angular.cross(c.edge_b)));
    const Vec3 n_rate = (cross_rate - n * n.dot(cross_rate)) / std::sqrt(square);

    const Vec3 va = velocity_at(a, c.core_a), vb = velocity_at(b, c.core_b);
    const double gap_rate = n.dot(va - vb);
    // s e_a - t e_b = rest: cross with the other edge leaves one unknown.
    const Vec3 rest = gap_rate * n + (c.gap + c.radius_a + c.radius_b) * n_rate - (va - vb);
    const double s = rest.cross(c.edge_b).dot(cross) / square;
    const double t = rest.cross(c.edge_a).dot(cross) / square;
    return {0.5 * (va + s * c.edge_a + vb + t * c.edge_b + (c.radius_b - c.radius_a) * n_rate), n_rate};
}

}  // namespace

ContactRates contact_rates(const ContactPoint& c, const Twist& a, const Twist& b) {
    if (c.kind == GapKind::line_line) return line_line_rates(c, a, b);

    // The point Q moves with `carrier`; the plane or line it is measured from moves with the other body.
    const bool on_b = c.point_on_b;
    const Vec3& n = c.normal;
    const Vec3& Q = on_b ? c.core_b : c.core_a;
    const Vec3 Q_rate = velocity_at(on_b ? b : a, Q);
    const double distance = c.gap + c.radius_a + c.radius_b;
    // Centres on top of each other have no direction and no rate of it; keep the frame as it is.
    const double curvature = distance > 0 ? 1 / distance : 0;

    Vec3 n_rate = Vec3::Zero();
    if (c.kind == GapKind::point_point) {
        const Vec3 relative = velocity_at(a, c.core_a) - velocity_at(b, c.core_b);
        n_rate = curvature * (relative - n * n.dot(relative));
    } else {
        n_rate = (on_b ? a : b).angular.cross(n);
        if (c.kind == GapKind::point_line) {
            const Vec3& e = on_b ? c.edge_a : c.edge_b;
            const Vec3 relative = velocity_at(a, Q) - velocity_at(b, Q);
            n_rate += curvature * (relative - n * n.dot(relative) - e * e.dot(relative));
        }
    }
    const double gap_rate = n.dot(velocity_at(a, c.position) - velocity_at(b, c.position));
    const double side = on_b ? 1 : -1;
    const double radius = on_b ? c.radius_b : c.radius_a;
    return {Q_rate + side * ((radius + c.gap / 2) * n_rate + gap_rate / 2 * n), n_rate};
}

Vec3 first_tangent(const Vec3& n) {
    // An axis must win by this much over a lower one: with none, rounding in n = (0, 0, 1) would turn the frame.
    constexpr double preference = 1e-6;
    int axis = 0;
    for (int i = 1; i < 3; ++i)
        if (std::abs(n[i]) < std::abs(n[axis]) - preference) axis = i;
    return (Vec3::Unit(axis) - n[axis] * n).normalized();
}

Vec3 transported_tangent(const Vec3& previous, const Vec3& n) {
    const Vec3 t = previous - n * n.dot(previous);
    // A normal that turned by nearly a quarter leaves no direction to keep.
    constexpr double too_short = 1e-3;
    const double length = t.norm();
    return length > too_short ? Vec3(t / length) : first_tangent(n);
}

ContactPoint exchanged(const ContactPoint& contact) {
    ContactPoint c = contact;
    std::swap(c.id.a, c.id.b);
    std::swap(c.id.part.a, c.id.part.b);
    std::swap(c.id.feature.a, c.id.feature.b);
    std::swap(c.body_a, c.body_b);
    std::swap(c.collider_a, c.collider_b);
    std::swap(c.core_a, c.core_b);
    std::swap(c.edge_a, c.edge_b);
    std::swap(c.radius_a, c.radius_b);
    c.normal = -contact.normal;
    c.point_on_b = !contact.point_on_b;
    return c;
}

}  // namespace stickslip
