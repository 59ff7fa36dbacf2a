// The Lorentz cone L = {x : x_0 >= |x_T|} in up to three dimensions, its Jordan product and the scaling of Nesterov and
// Todd: what an interior point method on friction cones needs (Alizadeh & Goldfarb 2003). Vectors of fewer dimensions are
// filled with zeros; in one dimension L is the half line.
#pragma once

#include <algorithm>
#include <cmath>

#include "stickslip/types.hpp"

namespace stickslip::lorentz {

// x_0^2 - |x_T|^2, without cancellation: the product of the two eigenvalues.
inline double determinant(const Vec3& x) {
    const double t = std::hypot(x[1], x[2]);
    return (x[0] - t) * (x[0] + t);
}

// x o y = (x.y, x_0 y_T + y_0 x_T)
inline Vec3 product(const Vec3& x, const Vec3& y) {
    return {x.dot(y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2]};
}

// y with x o y = b, x inside the cone
inline Vec3 divide(const Vec3& x, const Vec3& b) {
    const double y0 = (x[0] * b[0] - x[1] * b[1] - x[2] * b[2]) / determinant(x);
    return {y0, (b[1] - y0 * x[1]) / x[0], (b[2] - y0 * x[2]) / x[0]};
}

// The largest a with x + a d in L, for x inside; infinity when d never leaves. The border is at the roots of
// A a^2 + 2 B a + C. For A < 0 its discriminant B^2 - A C is a sum; else it would lose half of the digits for d towards the
// tip, and is taken as |x_0 d_T - d_0 x_T|^2 - (x_T x d_T)^2 (Lagrange).
inline double reach(const Vec3& x, const Vec3& d) {
    const double A = determinant(d), B = x[0] * d[0] - x[1] * d[1] - x[2] * d[2], C = determinant(x);
    const double y = std::hypot(x[0] * d[1] - d[0] * x[1], x[0] * d[2] - d[0] * x[2]);
    const double c = std::abs(x[1] * d[2] - x[2] * d[1]), D = A < 0 ? B * B - A * C : (y - c) * (y + c);
    double a = d[0] < 0 ? -x[0] / d[0] : infinity;
    double root = infinity;
    if (A < 0)
        root = B <= 0 ? C / (-B + std::sqrt(std::max(D, 0.0))) : (-B - std::sqrt(std::max(D, 0.0))) / A;
    else if (B < 0 && D >= 0)
        root = C / (-B + std::sqrt(D));
    if (root > 0) a = std::min(a, root);
    return a;
}

// G symmetric with G z = G^-1 t = middle: theta = G^2 takes z to t. All from one point w of determinant one,
//   P(w) = 2 w w' - diag(1, -1, -1),   theta = eta P(w),   P(w)^-1 = P(w_0, -w_T).
struct Scaling {
    Mat3 G, G_inverse, theta, theta_inverse;
    Vec3 middle;
};
inline Mat3 quadratic(const Vec3& w) {
    Mat3 P = 2 * w * w.transpose();
    P(0, 0) -= 1;
    P(1, 1) += 1;
    P(2, 2) += 1;
    return P;
}
inline void scale(const Vec3& z, const Vec3& t, Scaling& s) {
    const double size_z = std::sqrt(determinant(z)), size_t_ = std::sqrt(determinant(t));
    const Vec3 a = z / size_z, b = t / size_t_;
    const double gamma = std::sqrt(0.5 * (1 + a.dot(b)));
    const Vec3 w = Vec3(b[0] + a[0], b[1] - a[1], b[2] - a[2]) / (2 * gamma);
    const double eta = size_t_ / size_z, root = std::sqrt(eta);
    const double h0 = std::sqrt(0.5 * (w[0] + 1));
    const Vec3 h(h0, w[1] / (2 * h0), w[2] / (2 * h0));
    s.theta = eta * quadratic(w);
    s.theta_inverse = quadratic({w[0], -w[1], -w[2]}) / eta;
    s.G = root * quadratic(h);
    s.G_inverse = quadratic({h[0], -h[1], -h[2]}) / root;
    s.middle = s.G * z;
}

}  // namespace stickslip::lorentz
