// The start of a step: the modes, the contacts within reach, and the length of the first trial.
#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

constexpr double start_tolerance = 1e-9;  // [m, rad; m/s, rad/s] by which a run may start off its joints
constexpr double watched_steps = 1000;    // `step`s that a controlled step may have where something is watched

}  // namespace

bool EventStep::start() {
    begin_step(x_, s_);
    if (!(s_.problem.A.nodes == system_.nodes())) s_.problem.A.shape_diagonal(system_.nodes());
    outcome_ = {};
    w_.hints.clear();
    set_sides();
    const StepMemory& memory = s_.memory;
    w_.modes.contact = memory.contact;
    w_.modes.mode = memory.mode;
    w_.modes.slip = w_.memory.slip;
    w_.modes.bound = w_.memory.bound;
    if (undecided() && !find_modes()) return false;
    set_length();
    find_rows(system_, x_.t, x_.q, w_.v_reach, h_, s_);
    note_violations(x_.v, s_);
    list_open(true);
    stopwatch_.lap(StepTimers::find);
    prepare_trial();
    return true;
}

// Nothing is known of the modes: the state is brought onto the joints, then the modes are decided.
bool EventStep::find_modes() {
    w_.start_held = false;
    if (w_.memory.slip.size() != s_.memory.contact.size()) {
        w_.modes.contact.clear();
        w_.modes.mode.clear();
        w_.modes.slip.clear();
    }
    find_rows(system_, x_.t, x_.q, x_.v, 0, s_);
    w_.keep_modes();
    if (!close_rows())
        return fail(Status::infeasible, "the state at the start is not on the joints and could not be brought there");
    if (!decide() || outcome_.impact) return false;
    outcome_ = {};
    return true;
}

bool EventStep::close_rows() {
    Modes& rigid = w_.rigid;
    rigid.bound.assign(static_cast<std::size_t>(s_.problem.joints.size()), 0);
    for (int i = 0; i < s_.problem.joints.size(); ++i)
        if (gives_way(s_.problem.joints, i)) rigid.bound[i] = 1;
    rigid.contact = w_.modes.contact;  // closed in the last step of another scheme: at rest on their normals
    rigid.mode.assign(rigid.contact.size(), ContactMode::slip);
    // A contact that stuck in time-stepping has a slip of the order of its step, which would be a transition of its own.
    if (w_.memory.taken_over == x_.t) rigid.mode = w_.modes.mode;
    rigid.slip.assign(rigid.contact.size(), Vec2::Zero());
    w_.motion.begin(system_, rigid, x_, s_);
    const Energies before = s_.ledger.now();
    if (!project(start_tolerance, start_tolerance)) return false;
    const bool moved = s_.ledger.now().kinetic != before.kinetic || s_.ledger.now().potential != before.potential;
    if (moved && s_.memory.h == 0)
        report_.remark = "the state at the start was not on the joints: it was projected onto them";
    return true;
}

void EventStep::set_length() {
    // A body at rest has no error that would keep steps short: where something is watched they have another limit.
    find_rows(system_, x_.t, x_.q, x_.v, 0, s_);
    bool watched = s_.problem.contacts.size() > 0 || system_.edges() > 0;
    for (int i = 0; i < s_.problem.joints.size(); ++i) watched = watched || gives_way(s_.problem.joints, i);
    const double longest = options_.longest_step > 0 ? options_.longest_step
                           : watched                 ? watched_steps * options_.step
                                                     : infinity;
    const EventDrivenMemory& memory = w_.memory;
    wanted_ = std::min(memory.next_step > 0 ? memory.next_step : options_.step, longest);
    h_ = adaptive() ? std::min(wanted_, t_limit_ - x_.t) : length_to_grid(x_.t, options_.step, t_limit_);
    if (adaptive() && x_.t + 1.001 * h_ >= t_limit_) h_ = t_limit_ - x_.t;
    w_.v_reach = x_.v.cwiseAbs() + h_ * memory.acceleration.cwiseAbs();
}

// The open contacts, and the slip speeds of the closed ones. `found`: their rows at x are in the problem.
void EventStep::list_open(bool found) {
    if (!found) system_.rows(x_.t, x_.q, *s_.finder, s_.problem.joints, s_.problem.contacts);
    const ContactRows& contacts = s_.problem.contacts;
    list_gaps(system_.nodes(), contacts, x_.v, s_.memory, w_.row_speed, w_.open);
    std::erase_if(w_.open, [&](const ContactGap& gap) { return w_.modes.find(gap.id) >= 0; });
    w_.modes.slip_speed.assign(w_.modes.contact.size(), 0.0);
    for (int c = 0; c < contacts.size(); ++c) {
        const int i = w_.modes.find(contacts.id[c]), row = contacts.jacobian.row[c];
        if (i >= 0 && contacts.jacobian.dim(c) == 3)
            w_.modes.slip_speed[i] = std::hypot(w_.row_speed[row + 1], w_.row_speed[row + 2]);
    }
}

void EventStep::prepare_trial() {
    SmoothStep& smooth = w_.smooth;
    smooth.t = x_.t;
    smooth.q0 = x_.q;
    smooth.v0 = x_.v;
    smooth.start_known = w_.start_held && w_.system == &system_ && smooth.start.t == x_.t && smooth.start.q == x_.q &&
                         smooth.start.v == x_.v;
    smooth.switch_before = system_.next_discontinuity(std::nextafter(x_.t, -infinity)) <= x_.t;
    if (smooth.switch_before) smooth.start_known = false;
    smooth.baumgarte = options_.drift.index == 1 ? 1 / options_.baumgarte_time : 0;
    smooth.error_of = options_.error.index == 1 ? ErrorOf::both : ErrorOf::positions;
    smooth.own_path = options_.dense.index == 1;
}

}  // namespace stickslip
