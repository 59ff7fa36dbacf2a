// One trial: a step of the method that it can take and whose error is allowed.
#include <algorithm>
#include <cmath>

#include "problems/contact_ids.hpp"
#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

constexpr int max_attempts = 60;                         // trials of one step
constexpr double largest_growth = 5, largest_cut = 0.2;  // of the step size from one to the next
constexpr double first_growth = 1e3;                     // and from the first

}  // namespace

bool EventStep::trial() {
    const SmoothStep& smooth = w_.smooth;
    for (int attempt = 0;; ++attempt) {
        const bool taken = take(h_, attempt > 0);
        if (taken) error_ = adaptive() ? estimate() : 0;
        const bool finite = taken && std::isfinite(error_) && smooth.v1.allFinite() && smooth.q1.allFinite();
        if (finite && (!adaptive() || error_ <= options_.tol)) break;
        if (!adaptive() && taken && !finite) return fail(Status::diverged, "forces or accelerations are not finite");
        ++report_.rejected;
        h_ = finite ? std::min(next_length(h_, error_), 0.9 * h_) : 0.25 * h_;
        if (h_ >= options_.smallest_step.in(tolerances_) && attempt < max_attempts) continue;
        return give_up(taken, finite);
    }
    stopwatch_.lap(StepTimers::solve);
    return true;
}

// No trial is short enough. A closed contact that is not there any more has left its face and opens. Where Newton's method cannot hold
// closed contacts, time-stepping is asked to (hybrid.cpp); all else is an error.
bool EventStep::give_up(bool taken, bool finite) {
    if (taken && !finite) return fail(Status::diverged, "forces or accelerations are not finite");
    if (taken)
        return fail(Status::stalled,
                    "the tolerance asks for steps below smallest_step: too small for the arithmetic, or the motion "
                    "is stiff or singular here (generalized-alpha is for stiff motion)");
    if (w_.motion.trouble() == Motion::Trouble::singular)
        return fail(Status::diverged,
                    "the equations of motion are singular: the mass matrix is, or forces are not finite");
    if (w_.motion.trouble() == Motion::Trouble::none) {  // Newton's method does not converge, as on corners of which some are redundant
        if (w_.modes.contact.empty())
            return fail(Status::diverged, "Newton's method finds no end of the step, however short it is");
        outcome_.stuck = true;
        outcome_.who = w_.modes.contact.front();
        return false;
    }
    w_.keep_modes();
    release_lost();
    decide();
    return false;
}

// All contacts that are not there a moment later open together, or stay open: else each would close again while the next is released.
void EventStep::release_lost() {
    w_.there.q = x_.q;
    w_.dq = 2 * w_.smooth.h * x_.v;  // the last trial lost one of them on the way
    system_.advance(w_.there.q, w_.dq);
    w_.motion.read(x_.t, w_.there.q, w_.point);
    w_.hints.released.push_back(w_.motion.lost());
    for (const ContactId& id : w_.smooth.start.contacts.id)
        if (id != w_.motion.lost() && find_contact(w_.point.contacts.id, id) < 0) w_.hints.released.push_back(id);
    w_.hints.lost = static_cast<int>(w_.hints.released.size());
}

// The method over h from x. `again`: the modes are those of the trial before.
bool EventStep::take(double h, bool again) {
    SmoothStep& smooth = w_.smooth;
    smooth.h = h;
    smooth.switch_after = std::min(system_.next_discontinuity(x_.t), jump_) <= x_.t + h;
    if (!again || w_.motion.trouble() != Motion::Trouble::none) w_.motion.begin(w_.modes, smooth.start, s_);
    smooth.remembered = w_.memory.acceleration;
    smooth.remembered_step = w_.memory.afresh ? 0 : s_.memory.h;
    const bool taken = method_.take(w_.motion, smooth);
    report_.solves += smooth.solves;
    return taken;
}

// The error of the step just taken: the method's own, or by two half steps [Haddouni (2.115)-(2.120)].
double EventStep::estimate() {
    SmoothStep& full = w_.smooth;
    if (method_.has_estimate()) return full.error;
    SmoothStep& half = w_.half;
    half.t = x_.t;
    half.h = full.h / 2;
    half.q0 = x_.q;
    half.v0 = x_.v;
    half.start_known = false;
    half.switch_before = full.switch_before;
    half.switch_after = false;
    half.baumgarte = full.baumgarte;
    half.error_of = full.error_of;
    half.own_path = false;
    half.remembered = w_.memory.acceleration;
    half.remembered_step = w_.memory.afresh ? 0 : s_.memory.h;
    if (!method_.take(w_.motion, half)) return std::nan("");
    report_.solves += half.solves;
    half.t = x_.t + half.h;
    half.q0 = half.q1;
    half.v0 = half.v1;
    half.start_known = false;
    half.switch_before = false;
    half.switch_after = full.switch_after;
    if (!method_.take(w_.motion, half)) return std::nan("");
    report_.solves += half.solves;
    w_.error_q = full.q1 - half.q1;
    w_.error_v = full.v1 - half.v1;
    return full.norm(w_.error_q, w_.error_v) / (std::pow(2.0, method_.order()) - 1);
}

double EventStep::next_length(double h, double error) const {
    const EventDrivenMemory& memory = w_.memory;
    const double p = method_.error_order(), ratio = error / options_.tol;
    double factor = options_.safety;
    if (!(ratio > 0)) {
        factor = std::isnan(ratio) ? largest_cut : largest_growth;
    } else if (options_.control.index == 1 && memory.last_error > 0 && ratio <= 1) {
        factor *= std::pow(ratio, -0.7 / p) * std::pow(memory.last_error, 0.4 / p);
    } else {
        factor *= std::pow(ratio, -1 / p);
    }
    // The first step is the user's guess: what it says about the next is believed.
    return h * std::clamp(factor, largest_cut, memory.last_error > 0 ? largest_growth : first_growth);
}

}  // namespace stickslip
