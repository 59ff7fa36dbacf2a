// Newton's method for one implicit stage: accelerations x and row forces y with
//
//   M(q) x = f(t, q, v) + C(q, v) y,     q = q0 (+) u,  du/dx = B,  dv/dx = D
//   rows at position level: g(q) = 0     others: J v = w
//
// Scaled against h [Haddouni (2.111)]: unknowns are accelerations and forces, rows are divided by B or D, so that nothing in the
// matrix grows as h goes to zero. The correction is sought as z = T(u) dx, T the tangent of (+), dq = B z:
//
//   [ (M + D Cf) T^-1 + B Kf   -C  -G' ] [ z  ]   [ -(M x - f - C y)   ]
//   [ J or J T^-1               0    0 ] [ dy ] = [ -g/B or -(J v - w)/D ]
//   [ (B k G + D d G T^-1)/c    0  1/c ] [ ds ]   [ 0 ]                          c = B k + D d
//
// Kf, Cf are the slopes of the forces, gyroscopic ones included; springs and dampers (k, d) enter as rows of their own, so that the
// upper left block couples no nodes that M and the other forces do not couple, however stiff they are. Solved through the dense Schur complement; where that is
// singular, least squares of least norm, as in Motion. Left out, at the price of linear convergence with a rate of the order
// of the turn of a step: the change of M, C, J and G with q; and that of C with v, so that in space contacts that slide slower than
// mu N h/m need shorter steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "schemes/smooth/motion.hpp"

namespace stickslip {

// How well the equations of a stage hold.
struct MotionResidual {
    double forces = 0;     // largest |M x - f - C y|, relative to the largest of its terms or to the force of the scene
    double positions = 0;  // [m, rad] largest |g| of rows at position level,
    double velocities = 0;  // [m/s, rad/s] and largest |J v - w| of the others
    // The largest, rows relative to positions and speeds or to those of the scene where those are smaller; NaN if one is.
    double relative(const Motion& motion, const VecX& q, const VecX& v) const;
};

class MotionNewton {
public:
    // Which rows are imposed at position level: none, or all but velocity rows and tangents of sticking contacts.
    void set_levels(const Motion& motion, const MotionPoint& found, bool positions);
    const std::vector<char>& at_position() const { return at_position_; }  // per imposed row
    bool any_at_velocity() const;
    // g of row i at p.
    static double value(const Motion& motion, const MotionPoint& p, int row);

    // J and the residuals of the rows, all taken at p.
    void take_rows(const Motion& motion, const MotionPoint& p, double B, double D);
    // The same with rows at position level taken at `position` and the others at `velocity`, where the velocity is v.
    void take_rows(const Motion& motion, const MotionPoint& position, const MotionPoint& velocity, const VecX& v,
                   double B, double D);
    // Residuals at (x, y), forces from p.
    MotionResidual residual(const Motion& motion, const MotionPoint& p, const VecX& x, const RowVec& y);
    // Factors the matrix at p, in the chart at u. Forces do not follow positions when `moves` is false. False: singular.
    bool factor(const Motion& motion, const MotionPoint& p, const VecX& u, double B, double D, bool moves);
    // x and y with the last residual taken out. Returns the size of z, as an acceleration.
    double correct(const Motion& motion, VecX& x, RowVec& y);
    const MotionResidual& last() const { return last_; }

    // From a guess of x and y to rounding: `evaluate` fills u, q, v and p from x and takes rows; false when it cannot. The result
    // is false when relative residuals do not get below tol while corrections are more than rounding of q (stiff springs have
    // larger residuals from that alone). Counts linear systems.
    template <class Evaluate>
    bool run(const Motion& motion, const MotionPoint& p, const VecX& u, const VecX& q, double B, double D, bool moves,
             double tol, VecX& x, RowVec& y, int& solves, Evaluate&& evaluate);

private:
    static constexpr int max_iterations = 40;  // shorter steps turn less and need fewer
    static constexpr double slow = 0.2;        // the matrix is renewed when residuals shrink by less
    static constexpr double arrived = 4e-16;   // the least that rounding allows
    static constexpr double rounding = 1e-13;  // below this, no more than half of the last is taken for rounding
    static constexpr double stiff = 1e-4;      // largest residual that rounding of q may excuse

    void add_slopes(const System& system, const MotionPoint& p, double B, double D, bool moves);
    void multiply_tangent(const BlockMatrix& T, BlockMatrix& A);
    void add_rows(const Nodes& nodes, const MotionPoint& p, double B, double D);

    std::vector<char> at_position_;
    BlockRows J_;       // rows imposed, as they come
    RowVec rows_;       // their residuals, scaled
    VecX forces_;       // M x - f - C y
    double scale_ = 0;  // [N] of its terms
    double row_position_ = 0, row_velocity_ = 0;
    MotionResidual last_;

    BlockMatrix A_, product_, tangent_, K_, C_, gyroscopic_;  // tangent_: T^-1
    bool turns_ = false;
    VecX u_, unit_, column_, z_, work_;
    BlockRows left_, push_;
    RowVec rhs_;
    BlockFactors factors_;  // of A_
    AlignedDoubles small_, compliance_;
    Schur schur_;
};

template <class Evaluate>
bool MotionNewton::run(const Motion& motion, const MotionPoint& p, const VecX& u, const VecX& q, double B, double D,
                       bool moves, double tol, VecX& x, RowVec& y, int& solves, Evaluate&& evaluate) {
    double before = infinity, moved = infinity;
    int renewed = -1;
    for (int k = 0;; ++k) {
        if (!evaluate()) return false;
        last_ = residual(motion, p, x, y);
        const double left = last_.relative(motion, q, p.v);
        if (!std::isfinite(left)) return false;
        if (left <= arrived || (left <= tol && left > (left <= rounding ? 0.5 : 0.9) * before)) return true;
        if (left <= stiff && left > 0.5 * before && moved <= 1) return true;
        if (k == max_iterations) return left <= tol;
        if (renewed < 0 || (k - renewed >= 2 && left > rounding && left > slow * before)) {
            if (!factor(motion, p, u, B, D, moves)) return false;
            renewed = k;
        }
        // [roundings of q]
        const double rounding_of_q =
            16 * 2.2e-16 * std::max(motion.tolerances().scales.extent, motion.position_size(q));
        moved = B * correct(motion, x, y) / rounding_of_q;
        ++solves;
        before = left;
    }
}

}  // namespace stickslip
