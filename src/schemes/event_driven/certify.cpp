// The contact problem at one instant, compared with the motion: it finds the same accelerations as long as the modes hold.
#include <algorithm>
#include <cmath>

#include "diagnose/redundancy.hpp"
#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

constexpr double same_acceleration = 1e-6;   // relative difference of two solutions that count as one
constexpr double friction_rounding = 1e-12;  // relative to the energies at hand

}  // namespace

void EventStep::list_candidates(const MotionPoint& p) {
    w_.candidates.clear();
    for (std::size_t i = 0; i < w_.modes.contact.size(); ++i) {
        const bool slides = w_.modes.mode[i] == ContactMode::slip && w_.modes.slip[i].norm() > 0;
        w_.candidates.push_back({w_.modes.contact[i], slides, slides ? p.slip_towards[i] : w_.modes.slip[i]});
    }
}

// Whether s.solution has the accelerations of p.
bool EventStep::same_accelerations(const MotionPoint& p) {
    w_.acceleration = p.a - (s_.solution.v - p.v) / tolerances_.instant_span;
    return w_.acceleration.cwiseAbs().maxCoeff() <=
           same_acceleration * (tolerances_.scales.acceleration() + p.a.cwiseAbs().maxCoeff());
}

// Whether the contact problem on the path has the accelerations of the motion there.
bool EventStep::agrees_at(double fraction) {
    on_path(system_, w_.smooth, fraction, w_.dq, w_.there);
    MotionPoint& p = w_.point;
    if (!w_.motion.evaluate(w_.there.t, w_.there.q, w_.there.v, p)) return false;
    list_candidates(p);
    w_.instant.fill(system_, p, w_.candidates, w_.modes.bound, s_);
    w_.instant.enter(w_.motion, p, s_);
    s_.guess = s_.solution;
    StepReport aside;
    solve_stage(solver_, s_, aside);
    report_.solves += aside.solves;
    return aside.status == Status::ok && same_accelerations(p);
}

// The certificate of the step just taken: the contact problem at its end in s.problem, with the forces of the motion as its
// solution. False: that problem has other accelerations than the motion, so the modes no longer hold there.
bool EventStep::certify() {
    const MotionPoint& end = w_.smooth.end;
    list_candidates(end);
    w_.instant.fill(system_, end, w_.candidates, w_.modes.bound, s_);
    s_.redundancy->switch_off(s_.problem);
    w_.instant.enter(w_.motion, end, s_);
    s_.guess = s_.solution;
    SolveReport direct;
    direct.solver = "direct";
    direct.residual = residual(s_.problem, s_.solution, w_.residual);
    bool holds = true;
    // Where rows are redundant the forces of least norm need not be admissible; others with the same effect are.
    if (!(direct.residual.max() <= tolerances_.force_residual)) {
        StepReport aside;
        solve_stage(solver_, s_, aside);
        report_.solves += aside.solves;
        direct = aside.solve;
        holds = same_accelerations(end);
        if (aside.status != Status::ok) {
            report_.status = aside.status;
            report_.reason = aside.reason;
        }
    }
    // Friction must dissipate. Where it does not, the normal force of a sliding contact has changed its sign on the way.
    SmoothStep& smooth = w_.smooth;
    const EnergyFlows flows = smooth.sum.flows(system_, smooth.q0, smooth.v0, smooth.q1, smooth.v1);
    holds = holds && flows.friction_loss >= -friction_rounding * s_.ledger.scale();
    if (report_.solve.solver[0] == 0 || !(direct.residual.max() <= report_.solve.residual.max()))
        report_.solve = direct;
    stopwatch_.lap(StepTimers::solve);
    return holds;
}

}  // namespace stickslip
