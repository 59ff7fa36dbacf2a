// Values with their first and second derivative along one parameter t: f(t) = v + d t + dd t^2/2 + O(t^3). Arithmetic on
// them differentiates exactly, to rounding, whatever is composed of it.
//
//   (f g)'' = f'' g + 2 f' g' + f g'',   (f(x))'' = f''(x) x'^2 + f'(x) x''
#pragma once

#include <cmath>

#include "stickslip/types.hpp"

namespace stickslip {

struct Taylor {
    double v = 0, d = 0, dd = 0;

    // f(x) from the value and the derivatives of f at x.v.
    static Taylor composed(double f, double f1, double f2, const Taylor& x) {
        return {f, f1 * x.d, f2 * x.d * x.d + f1 * x.dd};
    }
};

inline Taylor operator+(const Taylor& a, const Taylor& b) { return {a.v + b.v, a.d + b.d, a.dd + b.dd}; }
inline Taylor operator-(const Taylor& a, const Taylor& b) { return {a.v - b.v, a.d - b.d, a.dd - b.dd}; }
inline Taylor operator*(const Taylor& a, const Taylor& b) {
    return {a.v * b.v, a.d * b.v + a.v * b.d, a.dd * b.v + 2 * a.d * b.d + a.v * b.dd};
}
inline Taylor inverse_sqrt(const Taylor& x) {
    const double r = 1 / std::sqrt(x.v);
    return Taylor::composed(r, -0.5 * r / x.v, 0.75 * r / (x.v * x.v), x);
}

struct TaylorVec {
    Vec3 v = Vec3::Zero(), d = Vec3::Zero(), dd = Vec3::Zero();

    // f(x) of a curve f from its value and derivatives at x.v.
    static TaylorVec composed(const Vec3& f, const Vec3& f1, const Vec3& f2, const Taylor& x) {
        return {f, f1 * x.d, f2 * (x.d * x.d) + f1 * x.dd};
    }
    static TaylorVec constant(const Vec3& f) { return {f, Vec3::Zero(), Vec3::Zero()}; }
};

inline TaylorVec operator-(const TaylorVec& a, const TaylorVec& b) { return {a.v - b.v, a.d - b.d, a.dd - b.dd}; }
inline TaylorVec operator*(const TaylorVec& a, const Taylor& b) {
    return {a.v * b.v, a.d * b.v + a.v * b.d, a.dd * b.v + 2 * a.d * b.d + a.v * b.dd};
}
inline Taylor dot(const TaylorVec& a, const TaylorVec& b) {
    return {a.v.dot(b.v), a.d.dot(b.v) + a.v.dot(b.d), a.dd.dot(b.v) + 2 * a.d.dot(b.d) + a.v.dot(b.dd)};
}
inline TaylorVec cross(const TaylorVec& a, const TaylorVec& b) {
    return {a.v.cross(b.v), a.d.cross(b.v) + a.v.cross(b.d), a.dd.cross(b.v) + 2 * a.d.cross(b.d) + a.v.cross(b.dd)};
}
inline TaylorVec normalized(const TaylorVec& a) { return a * inverse_sqrt(dot(a, a)); }

}  // namespace stickslip
