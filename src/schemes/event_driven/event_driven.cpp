// Event-driven integration [Haddouni, ch. 2, Fig. 2.1]. One step:
//
//   start      the modes are known from the last step, or decided at the start of the run and after edits
//   trial      the method over h; shorter again while its error is above tol, or where a closed contact is no longer there
//   watch      the first function that vanishes on the way (watch.hpp)
//   locate     the step again, to just there; then its length is corrected by secants until the function is zero at the end of
//              the step itself, to rounding: events cost no order, whatever the order of the path
//   accept     ledger, records, drift; every step leaves the contact problem at its end, solved, as its certificate
//   decide     at an event, the impact and the new modes; the next step begins there
//
// Forces of redundant contacts (four corners of a box) are not unique, and the signs of those of least norm say nothing.
// There the instant problem is asked: as long as it finds the same accelerations with some admissible forces, nothing has happened.
//
// Left out: methods of order above two across the discontinuity of a polygonal cone, whose friction jumps as the slip turns.
#include "schemes/event_driven/event_driven.hpp"

#include "schemes/event_driven/event_step.hpp"
#include "schemes/parts/work.hpp"

namespace stickslip {

namespace {

constexpr int max_decisions = 4;  // of modes without time passing
constexpr int max_cuts = 4;       // of a step at whose end the modes do not hold, by four each

}  // namespace

StepReport EventDriven::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    EventOutcome outcome;
    return step(system, solver, x, t_limit, s, work_of<Work>(s), outcome);
}

StepReport EventDriven::step(const System& system, Solver& solver, State& x, double t_limit, Step& s, Work& w,
                             EventOutcome& outcome) const {
    return EventStep(options_, *method_, system, solver, x, t_limit, s, w, outcome).run();
}

EventStep::EventStep(const EventDrivenOptions& options, const SmoothMethod& method, const System& system,
                     Solver& solver, State& x, double t_limit, Step& s, EventDriven::Work& w, EventOutcome& outcome)
    : options_(options),
      tolerances_(s.tolerances),
      method_(method),
      system_(system),
      solver_(solver),
      x_(x),
      t_limit_(t_limit),
      s_(s),
      w_(w),
      outcome_(outcome),
      stopwatch_(s.timers) {}

StepReport EventStep::run() {
    if (!start()) return end();
    for (int decision = 0;; ++decision) {
        if (!trial()) return end();
        watch();
        if (fraction_ > 1) {
            holds_ = certify();
            if (holds_ || cuts_ == max_cuts || report_.status != Status::ok) break;
            // Something happened that no function showed: look closer.
            ++cuts_;
            ++report_.rejected;
            h_ *= 0.25;
            continue;
        }
        if (fraction_ > 0 || decision >= max_decisions) break;
        if (!redecide()) return end();
    }
    locate();
    if (!accept()) return end();
    decide_event();
    return end();
}

bool EventStep::undecided() const {
    const VecX& a = w_.memory.acceleration;
    return a.size() != system_.nv() || a.hasNaN();
}

// The step has failed at x: the policy is asked, and the record stays that of the step before.
bool EventStep::fail(Status status, const char* reason) {
    report_.status = status;
    report_.reason = reason;
    report_.t = x_.t;
    failed_ = true;
    return false;
}

StepReport EventStep::end() {
    if (failed_) return report_;
    if (x_.t == jump_) s_.events.push_back({.t = x_.t, .kind = EventKind::load_switch});
    s_.t1 = x_.t;
    s_.q1 = x_.q;
    s_.v1 = x_.v;
    s_.v_weighted = x_.v;
    s_.t_weighted = x_.t;
    report_.t = x_.t;
    report_.h = x_.t - s_.t0;
    return report_;
}

}  // namespace stickslip
