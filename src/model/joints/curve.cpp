// Fitting: with chords h_i and bends m_i = c''(s_i), continuity of c' at point i asks
//
//   h_(i-1) m_(i-1) + 2 (h_(i-1) + h_i) m_i + h_i m_(i+1) = 6 ((y_(i+1) - y_i)/h_i - (y_i - y_(i-1))/h_(i-1))
//
// a tridiagonal system with dominant diagonal (m = 0 at natural ends), solved without pivots; the two corners of a
// periodic one by Sherman and Morrison.
#include "model/joints/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "math/taylor.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// x with sub_i x_(i-1) + diag_i x_i + super_i x_(i+1) = rhs_i, in place of rhs.
void solve_tridiagonal(std::vector<double> diag, std::span<const double> sub, std::span<const double> super,
                       std::span<Vec3> rhs) {
    const std::size_t n = rhs.size();
    for (std::size_t i = 1; i < n; ++i) {
        const double f = sub[i] / diag[i - 1];
        diag[i] -= f * super[i - 1];
        rhs[i] -= f * rhs[i - 1];
    }
    for (std::size_t i = n; i-- > 0;) {
        if (i + 1 < n) rhs[i] -= super[i] * rhs[i + 1];
        rhs[i] /= diag[i];
    }
}

// The same with corners: sub_0 before the diagonal of the first row means column n - 1, super_(n-1) column 0. n >= 3.
void solve_cyclic(std::vector<double> diag, std::span<const double> sub, std::span<const double> super,
                  std::vector<Vec3>& rhs) {
    const std::size_t n = rhs.size();
    const double gamma = -diag[0], corner = sub[0], other = super[n - 1];
    diag[0] -= gamma;
    diag[n - 1] -= corner * other / gamma;
    std::vector<Vec3> u(n, Vec3::Zero());  // three equal columns, to use the same solver
    u[0].setConstant(gamma);
    u[n - 1].setConstant(other);
    solve_tridiagonal(diag, sub, super, rhs);
    solve_tridiagonal(diag, sub, super, u);
    const Vec3 top = rhs[0] + corner / gamma * rhs[n - 1];
    const double bottom = 1 + u[0].x() + corner / gamma * u[n - 1].x();
    for (std::size_t i = 0; i < n; ++i) rhs[i] -= u[i].x() / bottom * top;
}

}  // namespace

Curve::Curve(std::span<const Vec3> points, bool closed, const Vec3& plane_normal) : closed_(closed) {
    const std::size_t least = closed ? 3 : 2;
    if (points.size() < least)
        throw Error(
            fmt::format("{} curve needs at least {} points, got {}", closed ? "a closed" : "a", least, points.size()));
    point_.assign(points.begin(), points.end());
    if (closed) point_.push_back(points.front());
    double size = 0;
    for (const Vec3& p : points) {
        if (!p.allFinite()) throw Error("the points of a curve must be finite numbers");
        size = std::max(size, (p - points.front()).norm());
    }
    knots_.assign(1, 0);
    for (std::size_t i = 1; i < point_.size(); ++i) {
        const double chord = (point_[i] - point_[i - 1]).norm();
        // Nearer points would make bends of their rounding.
        if (!(chord > 1e-9 * size)) {
            if (closed && i + 1 == point_.size())
                throw Error("a closed curve goes back to its first point by itself: do not repeat it at the end");
            throw Error(fmt::format("points {} and {} of the curve coincide", i, i + 1));
        }
        knots_.push_back(knots_.back() + chord);
    }
    fit(points);
    find_plane(points, plane_normal);
    refuse_turning_back();
}

void Curve::fit(std::span<const Vec3> points) {
    const std::size_t n = points.size();
    bend_.assign(point_.size(), Vec3::Zero());
    const auto chord = [&](std::size_t i) { return knots_[i + 1] - knots_[i]; };
    const auto slope = [&](std::size_t i) { return Vec3((point_[i + 1] - point_[i]) / chord(i)); };
    // Unknown bends: of the inner points, or of all points if closed.
    const std::size_t first = closed_ ? 0 : 1, count = closed_ ? n : n - 2;
    if (count == 0) return;
    std::vector<double> sub(count), diag(count), super(count);
    std::vector<Vec3> rhs(count);
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t i = first + k, before = i == 0 ? n - 1 : i - 1;
        sub[k] = chord(before);
        super[k] = chord(i);
        diag[k] = 2 * (sub[k] + super[k]);
        rhs[k] = 6 * (slope(i) - slope(before));
    }
    if (closed_)
        solve_cyclic(diag, sub, super, rhs);
    else
        solve_tridiagonal(diag, sub, super, rhs);
    std::copy(rhs.begin(), rhs.end(), bend_.begin() + static_cast<std::ptrdiff_t>(first));
    if (closed_) bend_.back() = bend_.front();
}

// The spline is linear in its points, so it lies in a plane if they do.
void Curve::find_plane(std::span<const Vec3> points, const Vec3& wished) {
    // Smaller, and coordinates written with ten digits make a curve in space of a circle.
    constexpr double flat = 1e-9;
    const auto farther = [&](const Vec3& a, const Vec3& b) {
        return (a - points[0]).squaredNorm() < (b - points[0]).squaredNorm();
    };
    const Vec3 along = *std::max_element(points.begin(), points.end(), farther) - points[0];
    const double size = along.norm();
    Vec3 normal = Vec3::Zero();
    for (const Vec3& p : points) {
        const Vec3 candidate = along.cross(p - points[0]);
        if (candidate.squaredNorm() > normal.squaredNorm()) normal = candidate;
    }
    if (normal.norm() <= flat * size * size) {  // straight
        int axis = 0;
        along.cwiseAbs().minCoeff(&axis);
        Vec3 wish = wished - along * (along.dot(wished) / (size * size));
        if (!(wish.norm() > 1e-6 * wished.norm())) wish = Vec3::Unit(axis) - along * (along[axis] / (size * size));
        normal = wish;
    }
    normal.normalize();
    for (const Vec3& p : points)
        if (std::abs(normal.dot(p - points[0])) > flat * size) return;
    planar_ = true;
    // Without a wish: the sign that makes the largest component positive, whatever the order of the points.
    int axis = 0;
    normal.cwiseAbs().maxCoeff(&axis);
    const double side = wished.norm() > 0 ? wished.dot(normal) : normal[axis];
    plane_normal_ = side < 0 ? Vec3(-normal) : normal;
}

// A curve that stops has no tangent. |c'| is near 1 where points follow each other smoothly.
void Curve::refuse_turning_back() const {
    constexpr double slowest = 0.05;
    constexpr int samples = 32;
    for (std::size_t i = 0; i < segments(); ++i)
        for (int k = 0; k <= samples; ++k)
            if (in_segment(i, (knots_[i + 1] - knots_[i]) * k / samples).d1.norm() < slowest)
                throw Error(
                    fmt::format("the curve stops and turns back between points {} and {}: give more points "
                                "around the turn",
                                i + 1, closed_ && i + 1 == segments() ? 1 : i + 2));
}

double Curve::wrapped(double s) const {
    if (!closed_) return s;
    const double x = s - length() * std::floor(s / length());
    return x < length() ? x : 0;
}

std::size_t Curve::segment_of(double s) const {
    const auto after = std::upper_bound(knots_.begin() + 1, knots_.end() - 1, s);
    return static_cast<std::size_t>(after - knots_.begin()) - 1;
}

CurvePoint Curve::in_segment(std::size_t i, double x) const {
    const double h = knots_[i + 1] - knots_[i];
    const Vec3 m0 = bend_[i], d3 = (bend_[i + 1] - bend_[i]) / h;
    const Vec3 slope = (point_[i + 1] - point_[i]) / h - h / 6 * (2 * m0 + bend_[i + 1]);
    return {point_[i] + x * (slope + x / 2 * (m0 + x / 3 * d3)), slope + x * (m0 + x / 2 * d3), m0 + x * d3, d3};
}

CurvePoint Curve::at(double s) const {
    const double w = wrapped(s);
    if (!closed_ && (w < 0 || w > length())) {
        const std::size_t i = w < 0 ? 0 : segments() - 1;
        const double x = w < 0 ? 0 : length() - knots_[i];
        const CurvePoint end = in_segment(i, x);
        return {end.c + (w < 0 ? w : w - length()) * end.d1, end.d1, Vec3::Zero(), Vec3::Zero()};
    }
    const std::size_t i = segment_of(w);
    return in_segment(i, w - knots_[i]);
}

double Curve::arc_length() const {
    // Gauss with five points on eight parts of each segment.
    constexpr double node[3] = {0, 0.53846931010568309, 0.90617984593866399};
    constexpr double weight[3] = {0.56888888888888889, 0.47862867049936647, 0.23692688505618909};
    constexpr int parts = 8;
    double sum = 0;
    for (std::size_t i = 0; i < segments(); ++i) {
        const double half = (knots_[i + 1] - knots_[i]) / (2 * parts);
        for (int part = 0; part < parts; ++part) {
            const double middle = (2 * part + 1) * half;
            sum += half * weight[0] * in_segment(i, middle).d1.norm();
            for (int k = 1; k < 3; ++k)
                sum += half * weight[k] *
                       (in_segment(i, middle - half * node[k]).d1.norm() +
                        in_segment(i, middle + half * node[k]).d1.norm());
        }
    }
    return sum;
}

double Curve::nearest(const Vec3& p, double start) const {
    // Newton's method for (p - c).c' = 0, in steps that never grow the distance: a step of more than a quarter of the
    // mean segment could cross into another valley.
    const double longest = length() / (4 * static_cast<double>(segments()));
    double s = start;
    CurvePoint x = at(s);
    double distance = (p - x.c).norm();
    for (int iteration = 0; iteration < 200; ++iteration) {
        const double slope = (p - x.c).dot(x.d1), square = x.d1.squaredNorm();
        const double curvature = square - (p - x.c).dot(x.d2);
        // Towards the centre of curvature Newton's step runs away or uphill; the chord's does not.
        double step = slope / (curvature > 0.1 * square ? curvature : square);
        if (std::abs(step) > longest) step = step > 0 ? longest : -longest;
        // Below this, s is exact to rounding: p - c has the rounding of p and c, |c'| is near 1.
        const double rounding = 4e-16 * (length() + std::abs(s) + p.norm());
        if (!(std::abs(step) > rounding)) return s + (std::isfinite(step) ? step : 0);
        const double allowed = distance * (1 + 1e-14) + rounding;
        for (int halving = 0;; ++halving) {
            const CurvePoint y = at(s + step);
            const double there = (p - y.c).norm();
            if (there <= allowed || halving == 40) {
                s += step;
                x = y;
                distance = there;
                break;
            }
            step /= 2;
        }
    }
    return s;
}

// |c'| is at most the largest control point of the quadratic c' in Bernstein form.
double Curve::greatest_speed(std::size_t i) const {
    const double h = knots_[i + 1] - knots_[i];
    const CurvePoint a = in_segment(i, 0), b = in_segment(i, h);
    return std::max({a.d1.norm(), (a.d1 + h / 2 * a.d2).norm(), b.d1.norm()});
}

double Curve::nearest(const Vec3& p) const {
    double best = 0, distance = infinity;
    const auto consider = [&](double s) {
        if (!closed_) s = std::clamp(s, 0.0, length());
        const double here = (p - at(s).c).norm();
        if (here < distance) {
            distance = here;
            best = s;
        }
    };
    for (const double s : knots_) consider(s);
    // Parts of segments that could hold something nearer: |p - c| falls no faster than |c'|.
    constexpr int parts = 16;
    for (std::size_t i = 0; i < segments(); ++i) {
        const double h = (knots_[i + 1] - knots_[i]) / parts, reach = greatest_speed(i) * h / 2;
        for (int part = 0; part < parts; ++part) {
            const double middle = knots_[i] + (part + 0.5) * h;
            const double here = (p - at(middle).c).norm();
            if (here - reach < distance) consider(nearest(p, middle));
        }
    }
    return wrapped(nearest(p, best));
}

int Curve::reference_axis(double s, int previous) const {
    if (planar_) return 3;
    const Vec3 along = at(s).d1.normalized().cwiseAbs();
    // 30 degrees from the axis and less, the normals turn twice as fast as the tangent and more.
    constexpr double good = 0.87;
    if (previous >= 0 && previous < 3 && along[previous] < good) return previous;
    int axis = 0;
    along.minCoeff(&axis);
    return axis;
}

CurveRows Curve::rows(double s, int reference, const Vec3& p, const Vec3& p_rate, const Vec3& p_rate2) const {
    const CurvePoint x = at(s);
    const double square = x.d1.squaredNorm();
    const double curvature = square - (p - x.c).dot(x.d2);
    const TaylorVec e = TaylorVec::constant(reference == 3 ? plane_normal_ : Vec3(Vec3::Unit(reference)));
    const auto normals = [&](const Taylor& parameter, TaylorVec n[2]) {
        const TaylorVec tangent = normalized(TaylorVec::composed(x.d1, x.d2, x.d3, parameter));
        n[0] = reference == 3 ? e : normalized(cross(e, tangent));
        n[1] = reference == 3 ? cross(e, tangent) : cross(tangent, n[0]);
    };

    // s(t) from (p - c(s)).c'(s) = 0, coefficient by coefficient: the equation is linear in the highest one.
    const TaylorVec point{p, p_rate, p_rate2};
    Taylor foot{s, p_rate.dot(x.d1) / curvature, 0};
    const auto miss = [&] {
        return dot(point - TaylorVec::composed(x.c, x.d1, x.d2, foot), TaylorVec::composed(x.d1, x.d2, x.d3, foot));
    };
    foot.dd = miss().dd / curvature;

    CurveRows rows;
    rows.clearance = curvature / square;
    rows.parameter_rate = foot.d;
    TaylorVec along_s[2], along_t[2];
    normals({s, 1, 0}, along_s);
    normals(foot, along_t);
    const TaylorVec away = point - TaylorVec::composed(x.c, x.d1, x.d2, foot);
    for (int i = 0; i < 2; ++i) {
        const Taylor g = dot(along_t[i], away);
        rows.normal[i] = along_t[i].v;
        rows.value[i] = g.v;
        // dg/dp = n + (dn/ds.(p - c)) ds/dp, since n.c' = 0.
        rows.gradient[i] = along_t[i].v + x.d1 * (along_s[i].d.dot(away.v) / curvature);
        rows.second[i] = g.dd;
    }
    return rows;
}

}  // namespace stickslip
