// What the last steps tell of the step ahead. Formulas: moreau_jean.cpp.
#include "schemes/moreau_jean_ahead.hpp"

#include <algorithm>
#include <cmath>

#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// Share of a change of G v from step to step that is taken out of it. G v+ = -G v alone keeps energy, and lets errors of G v change sign for
// ever; with this they fall to two thirds in every step. Above 1/3 they would grow, below 1/20 they last.
constexpr double calms = 0.1;

}  // namespace

void move_ahead(const System& system, const State& x, double h, double th, Step& s, MoreauJean::Work& w) {
    const JointPath& path = w.path;
    w.q_ahead = x.q;
    s.dq = ((1 - th) * h) * x.v;
    const int known = path.t == x.t ? path.known : 0;
    if (known > 0) {
        const double weight = (1 - th) * th * h * h;
        const double lead = known > 1 ? std::min((h + s.memory.h) / (s.memory.h + path.h), 2.0) : 0.0;
        s.dq += (weight * (1 + lead)) * s.memory.v_rate;
        if (known > 1) s.dq -= (weight * lead) * path.rate.vec();
    }
    system.advance(w.q_ahead, s.dq);
    w.move = s.dq / (1 - th);
}

bool knows_way(const State& x, const JointPath& path) { return path.t == x.t && path.known > 1; }

void find_end_ahead(const System& system, const State& x, double h, MoreauJean::Work& w) {
    w.mean = w.move / h;
    w.v_end = 2 * w.mean - x.v;
    w.q_end = x.q;
    system.advance(w.q_end, w.move);
    system.forces(inside_end(x.t, h), w.q_end, w.v_end, w.end_forces);
}

void fill_made_up(const System& system, const State& x, double h, Step& s, MoreauJean::Work& w) {
    const Energies before = s.ledger.now(), after = system.energies(x.t + h, w.q_end, w.v_end);
    const Forces& first = s.terms.end_forces;  // at (q, v), by fill_impulses()
    w.made_up.setZero(x.v.size());
    s.terms.mass.add_product(1, w.mean, w.made_up);
    const double twice = w.mean.dot(w.made_up);
    double missing = after.kinetic + after.potential - before.kinetic - before.potential -
                     w.made_up.dot(w.v_end - x.v) + h / 2 * w.mean.dot(first.potential + w.end_forces.potential);
    if (first.inertial.size() == x.v.size()) missing += h / 2 * w.mean.dot(first.inertial + w.end_forces.inertial);
    constexpr double most = 1e-2;  // of the energy: more is no matter of rounding the rule off
    w.made_up *= std::abs(missing) < most * twice ? -missing / twice : 0.0;
}

void take_rows_ahead(const System& system, const State& x, double h, double th, double chi, Step& s,
                     MoreauJean::Work& w) {
    BilateralRows& joints = s.problem.joints;
    const JointPath& path = w.path;
    w.start_speed = s.terms.joint_speed;  // by note_violations()
    w.carried.resize(joints.size());
    s.terms.joint_stabilisation.resize(joints.size());
    const double turned = (1 - th) / th;
    const bool known = knows_way(x, path) && path.speed.size() == joints.size();
    const bool smooth = th == 0.5 && chi > 0 && (known || w.hits);
    for (int i = 0; i < joints.size(); ++i) {
        const double speed = w.start_speed[i], rate = joints.value[i] / h;
        if (smooth && joints.kind[i] == RowKind::holonomic) {
            w.carried[i] = 0;
            s.terms.joint_stabilisation[i] =
                calms * (known && !w.hits ? speed - path.speed[i] : 2 * speed) - 2 * chi * rate;
        } else {
            w.carried[i] = turned * speed;
            s.terms.joint_stabilisation[i] =
                joints.kind[i] == RowKind::holonomic ? -chi * (rate + (1 - th) * speed) : 0.0;
        }
    }
    if (th < 1) system.turn_joint_rows(x.t + (1 - th) * h, w.q_ahead, w.move, joints, w.ahead);
}

void note_path(double t, bool steady, const Step& s, JointPath& path) {
    const bool hit = std::any_of(s.events.begin(), s.events.end(),
                                 [](const Event& event) { return event.kind == EventKind::impact; });
    path.known = hit || !steady ? 0 : path.t == s.t0 ? std::min(path.known + 1, 2) : 1;
    path.t = t;
}

}  // namespace stickslip
