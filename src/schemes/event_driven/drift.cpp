// Projection onto the rows of the motion, joints and closed contacts together, in the metric of the mass matrix
// [Haddouni (2.12), (2.13)]: positions by Newton's rounds, min |du|_M with J du = -g, then velocities, min |dv|_M with
// J (v + dv) = w. Energy that it moves is booked as regularisation.
#include <cmath>

#include "schemes/event_driven/event_driven.hpp"

namespace stickslip {

namespace {
constexpr int most_rounds = 8;          // of Newton: quadratic, three do from drift; more only from a bad start
constexpr double largest_drift = 1e-6;  // [m] of a closed contact
constexpr double rounding = 1e-14;      // [m, rad]
}  // namespace

bool EventDriven::project(const System& system, State& x, Step& s, Work& w, double limit, double velocity_limit) const {
    Motion& motion = w.motion;
    MotionPoint& p = w.point;
    RowVec& r = w.product;
    if (motion.rows() == 0) return true;
    bool moved = false;
    double before = infinity, error = 0;
    for (int round = 0; round < most_rounds; ++round) {
        if (!motion.find(x.t, x.q, p)) return false;
        r.setZero(motion.rows());
        int row = 0;
        error = 0;
        for (const Motion::Source& source : motion.sources()) {
            if (source.contact >= 0) {
                // Drift only: what overlaps by more came so and is not pushed apart in one blow.
                const double gap = p.contacts.gap[motion.contact_in(source.contact, p)];
                if (std::abs(gap) <= largest_drift) r[row] = -gap;
            } else {
                const auto i = static_cast<std::size_t>(p.joints.jacobian.row[source.joint_group] + source.first);
                if (p.joints.kind[i] == RowKind::holonomic) r[row] = -p.joints.value[i];
            }
            error = std::max(error, std::abs(r[row]));
            row += source.dim;
        }
        if (!(error > (round == 0 ? limit : rounding)) || !(error < 0.5 * before)) break;
        before = error;
        system.mass(p.q, p.mass);
        p.force.setZero(system.nv());
        p.push = p.rows;
        motion.solve(p, p, r);
        if (motion.trouble() != Motion::Trouble::none) return false;
        system.advance(x.q, p.a);
        moved = true;
    }
    if (!std::isfinite(error)) return false;
    const bool reached = !(error > std::max(limit, 1e-12));
    if (!motion.find(x.t, x.q, p)) return false;
    r.resize(motion.rows());
    p.rows.product(system.nodes(), x.v, r);
    r = p.target - r;
    if (moved || r.cwiseAbs().maxCoeff() > velocity_limit) {
        system.mass(p.q, p.mass);
        p.force.setZero(system.nv());
        p.push = p.rows;
        motion.solve(p, p, r);
        if (motion.trouble() != Motion::Trouble::none) return false;
        x.v += p.a;
        moved = true;
    }
    if (moved) {
        s.ledger.move(system, x);
        w.start_held = false;
    }
    return reached;
}

}  // namespace stickslip
