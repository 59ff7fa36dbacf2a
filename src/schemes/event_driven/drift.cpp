// Projection onto the rows of the motion, joints and closed contacts together, in the metric of the mass matrix
// [Haddouni (2.12), (2.13)]: positions by Newton's rounds, min |du|_M with J du = -g, then velocities, min |dv|_M with
// J (v + dv) = w. Energy that it moves is booked as regularisation; what drives give that start at once, or whose speed jumps, is their work.
#include <cmath>

#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

constexpr int max_rounds = 8;  // of Newton: quadratic, three do from drift; more only from a bad start

// -g per row of the motion at p, zero for rows without a position and for overlaps that came from outside; returns the largest.
double position_errors(const Motion& motion, const MotionPoint& p, RowVec& r) {
    r.setZero(motion.rows());
    double largest = 0;
    int row = 0;
    for (const Motion::Source& source : motion.sources()) {
        if (source.contact >= 0) {
            const double gap = p.contacts.gap[p.place[source.contact]];
            if (std::abs(gap) <= motion.tolerances().largest_drift) r[row] = -gap;
        } else {
            const int i = p.joints.jacobian.row[source.joint_group] + source.first;
            if (p.joints.kind[i] == RowKind::holonomic) r[row] = -p.joints.value[i];
        }
        largest = std::max(largest, std::abs(r[row]));
        row += source.dim;
    }
    return largest;
}

// p.a: the smallest move with J p.a = r, in the metric of the mass matrix. False: singular.
bool smallest_move(Motion& motion, const RowVec& r, MotionPoint& p) {
    const System& system = motion.system();
    system.mass(p.q, p.mass);
    p.force.setZero(system.nv());
    p.push = p.rows;
    motion.solve(p, p, r);
    return motion.trouble() == Motion::Trouble::none;
}

// [J] What drives do where the velocity changes by p.a, at once and by r per row: y.(J v + r/2) of velocity rows with a target.
double work_of_drives(const Motion& motion, const MotionPoint& p, const RowVec& r) {
    double work = 0;
    int row = 0;
    for (const Motion::Source& source : motion.sources()) {
        const int first = source.contact < 0 ? p.joints.jacobian.row[source.joint_group] + source.first : -1;
        for (int k = 0; k < source.dim; ++k, ++row)
            if (first >= 0 && p.joints.kind[first + k] == RowKind::velocity && p.target[row] != 0)
                work += p.y[row] * (p.target[row] - 0.5 * r[row]);
    }
    return work;
}

}  // namespace

bool EventStep::project(MotionPoint& p, double limit, double velocity_limit) {
    Motion& motion = w_.motion;
    RowVec& r = w_.row_error;
    if (motion.rows() == 0) return true;
    bool moved = false;
    double driven = 0;  // [J]
    double before = infinity, error = 0;
    for (int round = 0; round < max_rounds; ++round) {
        if (!motion.find(x_.t, x_.q, p)) return false;
        error = position_errors(motion, p, r);
        if (!(error > (round == 0 ? limit : tolerances_.gap_rounding)) || !(error < 0.5 * before)) break;
        before = error;
        if (!smallest_move(motion, r, p)) return false;
        system_.advance(x_.q, p.a);
        moved = true;
    }
    if (!std::isfinite(error)) return false;
    if (!motion.find(x_.t, x_.q, p)) return false;
    r.resize(motion.rows());
    p.rows.product(system_.nodes(), x_.v, r);
    r = p.target.vec() - r.vec();
    if (moved || r.vec().cwiseAbs().maxCoeff() > velocity_limit) {
        if (!smallest_move(motion, r, p)) return false;
        x_.v += p.a;
        driven = work_of_drives(motion, p, r);
        moved = true;
    }
    if (moved) s_.ledger.move(system_, x_, driven);
    return !(error > std::max(limit, tolerances_.drift_limit));
}

}  // namespace stickslip
