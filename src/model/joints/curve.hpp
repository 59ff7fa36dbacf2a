// A smooth space curve c(s) through given points, and the rows "a point p stays on it".
//
// The curve is the cubic spline with continuous second derivative, its parameter s [m] the length of the
// chords. Open curves are natural: c'' = 0 at the ends, beyond which they go on straight (so the joint has no kink
// there; a stop is a limit of its own). Closed curves are periodic; s may run through any number of turns.
//
// Rows, with s(p) the foot of p, (p - c(s)).c'(s) = 0, and n_1, n_2 unit normals of the curve at s:
//
//   g_i(p) = n_i(s).(p - c(s)),   i = 1, 2
//
// Off the curve they depend on p also through s; first and second derivatives are exact there too, as far as the foot
// is unique:  0 < clearance = 1 - (p - c).c'' / |c'|^2, which vanishes at the centre of curvature.
//
// Normals: of a plane curve n_1 is the normal of its plane and n_2 = n_1 x tangent lies in it. Else
// n_1 = e x tangent / |e x tangent|, n_2 = tangent x n_1, with a coordinate axis e. Another axis turns the normals about
// the tangent, and multipliers with them: reference_axis() keeps the axis while its angle to the tangent is good.
//
// Left out: arc length as parameter; the rows do not depend on how fast s runs.
#pragma once

#include <span>
#include <vector>

#include "stickslip/types.hpp"

namespace stickslip {

struct CurvePoint {
    Vec3 c, d1, d2, d3;  // [m, -, 1/m, 1/m^2] c(s) and its derivatives; d3 jumps at the given points
};

struct CurveRows {
    double value[2] = {0, 0};                         // [m] g_1, g_2
    Vec3 gradient[2] = {Vec3::Zero(), Vec3::Zero()};  // [-] dg_i/dp
    double second[2] = {0, 0};                        // [m/s^2] d2 g_i / dt^2 along p(t), p'' included
    double clearance = 1;                             // [-] see above; not positive: derivatives mean nothing
    double parameter_rate = 0;                        // [m/s] ds/dt along p(t)
    Vec3 normal[2] = {Vec3::Zero(), Vec3::Zero()};    // n_1, n_2
};

class Curve {
public:
    // Throws Error: fewer than 2 points (3 if closed), points not finite, neighbours that coincide (the first is not
    // repeated in a closed curve), or points so arranged that the curve stops and turns back. `plane_normal`, if not
    // zero, is what n_1 should be where the points leave a choice: of a straight curve, and the sign of a plane one.
    Curve(std::span<const Vec3> points, bool closed, const Vec3& plane_normal = Vec3::Zero());

    bool closed() const { return closed_; }
    bool planar() const { return planar_; }
    double length() const { return knots_.back(); }  // [m] of the chords: s runs from 0 to here
    double arc_length() const;                       // [m] of the curve
    CurvePoint at(double s) const;

    // The foot of p that is reached from `start` downhill in the distance, so that it follows a moving p without
    // jumping; in a closed curve without wrapping.
    double nearest(const Vec3& p, double start) const;
    // The nearest of all, in [0, length] before the ends of an open curve are extended; in [0, length) if closed.
    double nearest(const Vec3& p) const;

    // 0, 1, 2: a coordinate axis; 3: the normal of the plane, always, of a plane curve. `previous` -1: none yet.
    int reference_axis(double s, int previous = -1) const;
    // Rows at the foot s of p (from nearest), for p moving with p_rate and p_rate2 [m/s, m/s^2].
    CurveRows rows(double s, int reference, const Vec3& p, const Vec3& p_rate = Vec3::Zero(),
                   const Vec3& p_rate2 = Vec3::Zero()) const;

private:
    std::size_t segments() const { return knots_.size() - 1; }
    std::size_t segment_of(double s) const;  // s in [0, length]
    double wrapped(double s) const;
    CurvePoint in_segment(std::size_t i, double x) const;  // x [m] from the start of segment i
    double greatest_speed(std::size_t i) const;
    void fit(std::span<const Vec3> points);
    void find_plane(std::span<const Vec3> points, const Vec3& wished);
    void refuse_turning_back() const;

    bool closed_;
    bool planar_ = false;
    Vec3 plane_normal_ = Vec3::UnitZ();
    std::vector<double> knots_;  // [m] s of the points; of a closed curve, with the first again at the end
    std::vector<Vec3> point_;    // [m] as many as knots
    std::vector<Vec3> bend_;     // [1/m] c'' there
};

}  // namespace stickslip
