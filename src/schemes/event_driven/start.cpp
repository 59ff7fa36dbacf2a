// The start of a step: the modes, the contacts within reach, and the length of the first trial.
#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "problems/contact_ids.hpp"
#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

// Of the time scale of the scene, and of `step`: how long before the stop of a slip in space fixed steps become shorter (T below). If
// shorter, coarse steps lose their order there; if longer, every stop costs more steps, (p + 1) T/h.
constexpr double graded_time = 0.25, graded_steps = 8;
// Of what is left of a slip. If larger, its direction turns too fast for explicit methods in the last steps; if smaller, a stop takes
// more of them.
constexpr double last_fraction = 0.5;
// Of the step times the rate at which the slip turns into its direction at the stop: explicit methods are stable up to 2.5.
constexpr double stable = 1.5;
constexpr double watched_steps = 1000;  // `step`s that a controlled step may have where something is watched

// Contacts of shapes have a frame; joint limits and those of Lagrangian systems have none.
bool has_frame(const ContactRows& contacts, int i) { return !contacts.tangent[i].isZero(0); }

// Whether the contacts found with the old reach of the bodies are those that the finder would list now. They are where nothing can
// touch, and where bodies get no farther and no contact lies beyond the margin, since contacts within it are listed with any reach.
bool same_within_reach(const ContactRows& contacts, const std::vector<double>& old_reach, const ContactFinder& finder) {
    constexpr double rounding = 1e-9;  // of the margin
    if (old_reach == finder.reach) return true;
    bool farther = old_reach.size() != finder.reach.size();
    for (std::size_t b = 0; b < old_reach.size() && !farther; ++b)
        farther = finder.reach[b] > old_reach[b] + rounding * finder.margin;
    if (farther && finder.has_candidates()) return false;
    for (int i = 0; i < contacts.size(); ++i)
        if (has_frame(contacts, i) && (farther || contacts.gap[i] > finder.margin)) return false;
    return true;
}

}  // namespace

bool EventStep::start() {
    begin_step(x_, s_);
    w_.motion.shortest_servo = adaptive() ? 0.0 : options_.step;
    w_.motion.attach(system_, s_);
    if (!(s_.problem.A.nodes == system_.nodes())) s_.problem.A.shape_diagonal(system_.nodes());
    outcome_ = {};
    jump_ = system_.next_jump(x_.t);
    t_limit_ = std::min(t_limit_, jump_);
    w_.hints.clear();
    set_sides();
    const StepMemory& memory = s_.memory;
    w_.modes.contact = memory.contact;
    w_.modes.mode = memory.mode;
    w_.modes.slip = w_.memory.slip;
    w_.modes.bound = w_.memory.bound;
    if (undecided() && !find_modes()) return false;
    set_length();
    find_start();
    note_violations(x_.v, w_.smooth.start.joints, w_.smooth.start.contacts, s_);
    list_open();
    stopwatch_.lap(StepTimers::find);
    prepare_trial();
    shorten_before_stop();
    return true;
}

// Nothing is known of the modes: the state is brought onto the joints, then the modes are decided.
bool EventStep::find_modes() {
    w_.motion.forget();
    if (w_.memory.slip.size() != s_.memory.contact.size()) {
        w_.modes.contact.clear();
        w_.modes.mode.clear();
        w_.modes.slip.clear();
    }
    system_.look_ahead(x_.v, 0, *s_.finder);
    system_.find_candidates(x_.q, *s_.finder);
    w_.keep_modes();
    w_.there = x_;
    if (!close_rows()) {
        // Contacts that were closed in a step of another scheme need not all be: those that are, are found again with joints alone closed.
        x_ = w_.there;
        s_.ledger.move(system_, x_);
        w_.modes.contact.clear();
        w_.modes.mode.clear();
        w_.modes.slip.clear();
        if (!close_rows())
            return fail(Status::infeasible,
                        "the state at the start is not on the joints and could not be brought there");
    }
    if (!decide() || outcome_.impact) return false;
    outcome_ = {};
    return true;
}

bool EventStep::close_rows() {
    MotionPoint& p = w_.point;
    w_.motion.read(x_.t, x_.q, p);
    Modes& rigid = w_.rigid;
    rigid.bound.assign(static_cast<std::size_t>(p.joints.size()), 0);
    for (int i = 0; i < p.joints.size(); ++i)
        if (gives_way(p.joints, i)) rigid.bound[i] = 1;
    rigid.contact = w_.modes.contact;  // closed in the last step of another scheme: at rest on their normals
    rigid.mode.assign(rigid.contact.size(), ContactMode::slip);
    // A contact that stuck in time-stepping has a slip of the order of its step, which would be a transition of its own.
    if (w_.memory.taken_over == x_.t) rigid.mode = w_.modes.mode;
    rigid.slip.assign(rigid.contact.size(), Vec2::Zero());
    w_.motion.begin(rigid, p, s_);
    const double before = s_.ledger.flows().regularisation_loss;
    if (!project(p, tolerances_.closed_gap, tolerances_.rest_speed)) return false;
    // What drives gave that start at once does not count.
    constexpr double rounding = 1e-12;
    const bool moved = std::abs(s_.ledger.flows().regularisation_loss - before) > rounding * s_.ledger.at_hand();
    if (moved && s_.memory.h == 0)
        report_.remark = "the state at the start was not on the joints: it was projected onto them";
    return true;
}

void EventStep::set_length() {
    const EventDrivenMemory& memory = w_.memory;
    wanted_ = memory.next_step > 0 ? memory.next_step : options_.step;
    // A body at rest has no error that would keep steps short: where something is watched they have another limit.
    const double watched = watched_steps * options_.step;
    if (options_.longest_step > 0)
        wanted_ = std::min(wanted_, options_.longest_step);
    else if (wanted_ > watched && is_watched())
        wanted_ = watched;
    h_ = adaptive() ? std::min(wanted_, t_limit_ - x_.t) : length_to_grid(x_.t, options_.step, t_limit_);
    if (adaptive() && x_.t + 1.001 * h_ >= t_limit_) h_ = t_limit_ - x_.t;
    w_.v_reach = x_.v.cwiseAbs() + h_ * memory.acceleration.cwiseAbs();
}

// Whether something near may end a step: a contact, an edge, or a row that gives way.
bool EventStep::is_watched() {
    if (system_.edges() > 0) return true;
    const bool known = w_.motion.holds(w_.smooth.end, x_.t, x_.q);
    const MotionPoint& p = known ? w_.smooth.end : w_.smooth.start;
    if (!known) {
        system_.look_ahead(x_.v, 0, *s_.finder);
        system_.find_candidates(x_.q, *s_.finder);
        w_.motion.forget();
        w_.motion.read(x_.t, x_.q, w_.smooth.start);
    }
    for (int i = 0; i < p.contacts.size(); ++i)
        if (!has_frame(p.contacts, i) || p.contacts.gap[i] <= s_.finder->margin) return true;
    for (int i = 0; i < p.joints.size(); ++i)
        if (gives_way(p.joints, i)) return true;
    return false;
}

// The rows at x, in smooth.start: those of the end of the last step, if they are the same.
void EventStep::find_start() {
    SmoothStep& smooth = w_.smooth;
    std::swap(w_.reach, s_.finder->reach);
    system_.look_ahead(w_.v_reach, h_, *s_.finder);
    system_.find_candidates(x_.q, *s_.finder);
    const bool known = w_.motion.holds(smooth.end, x_.t, x_.q);
    if (!known || !same_within_reach(smooth.end.contacts, w_.reach, *s_.finder)) w_.motion.forget();
    if (known) smooth.start = smooth.end;  // copied: swapped, both would have to warm up to the largest sizes of either
    w_.motion.read(x_.t, x_.q, smooth.start);
}

bool EventStep::slides_in_space() const {
    const ContactRows& contacts = w_.smooth.start.contacts;
    for (std::size_t i = 0; i < w_.modes.contact.size(); ++i) {
        if (w_.modes.mode[i] != ContactMode::slip) continue;
        const int c = find_contact(contacts.id, w_.modes.contact[i]);
        if (c >= 0 && contacts.jacobian.dim(c) == 3) return true;
    }
    return false;
}

// The open contacts, and the slip speeds of the closed ones, from the rows in smooth.start.
void EventStep::list_open() {
    const ContactRows& contacts = w_.smooth.start.contacts;
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
    smooth.start_known = false;
    const double before = std::nextafter(x_.t, -infinity);
    smooth.switch_before = std::min(system_.next_discontinuity(before), system_.next_jump(before)) <= x_.t;
    smooth.baumgarte = options_.drift.index == 1 ? 1 / options_.baumgarte_time.in(tolerances_) : 0;
    smooth.error_of = options_.error.index == 1 ? ErrorOf::both : ErrorOf::positions;
    smooth.own_path = options_.dense.index == 1;
}

// A slip u in space that comes to its stop turns ever faster: with the time tau = |u|/|du/dt| left and du/dt = w across u, its
// derivatives grow as d^(p+1)u ~ w/tau^p, and at the stop it has none. A method of order p keeps its order with steps
//
//   h_n = h ((|du/dt|/w) (tau/T)^p)^(1/(p+1))        where that is less than h
//
// which all leave about the same error [graded meshes, Rice 1969]. They are (p + 1) T/h at most, and h where the slip goes straight,
// unless the axes of its bodies hide that: a ball that spins about the normal has accelerations that turn in its own axes at
// the rate s across u, the stages of a method are wrong by s h^2 there, and the slip seen in them turns by s h^2/|u|. Then
//
//   h_n = h (tau/T)^((p-1)/(p+1))
//
// Steps end half way to the stop at most, until one of that length would pass it. That one keeps the direction at its start: then
// what happens is smooth, and the stop is located like one in the plane. What the slip would still have turned, w tau, is of the
// order of the method. With step control the error decides instead, and w tau^2 (or w tau) below tol ends the halving.
void EventStep::shorten_before_stop() {
    Modes& modes = w_.modes;
    SmoothStep& smooth = w_.smooth;
    const MotionPoint& p = smooth.start;
    modes.straight.assign(modes.contact.size(), 0);
    if (!slides_in_space()) return;
    w_.motion.begin(modes, p, s_);
    if (!smooth.solve_start(w_.motion)) return;
    const double longest = h_;
    find_stops(p, smooth.a0);
    find_hidden_turns(p, smooth.a0);
    for (const EventDriven::Stop& stop : w_.stops) {
        const bool straight = !(stop.across * stop.left > tolerances_.rest_speed);  // as far as one can tell
        if (straight && !(stop.hidden * options_.step * options_.step > tolerances_.rest_speed)) continue;
        const double wanted = adaptive() ? controlled_length(stop) : graded_length(stop);
        if (wanted > stop.left) continue;  // nothing is left of its turn
        h_ = std::min({h_, wanted, last_fraction * stop.left});
        if (stop.turning > 0) h_ = std::min(h_, stable / stop.turning);
    }
    double last = 0;
    for (const EventDriven::Stop& stop : w_.stops) {
        modes.straight[stop.contact] = h_ > last_fraction * stop.left;
        if (modes.straight[stop.contact]) last = std::max(last, stop.left);
    }
    h_ = std::clamp(2 * last, h_, longest);
}

// The slips in space that come to a stop, at p with the accelerations a.
void EventStep::find_stops(const MotionPoint& p, const VecX& a) {
    w_.stops.clear();
    const BlockRows& jacobian = p.contacts.jacobian;
    w_.row_speed.resize(jacobian.rows());
    jacobian.product(system_.nodes(), a, w_.row_speed);
    // What friction alone does to the slips; joints, which would take part of it, are not asked.
    w_.row_error.setZero(jacobian.rows());
    for (int i = 0; i < static_cast<int>(w_.modes.contact.size()); ++i) {
        if (w_.modes.mode[i] != ContactMode::slip || jacobian.dim(p.place[i]) < 3) continue;
        const Vec3 force = w_.motion.contact_force(i, p);
        for (int k = 1; k < 3; ++k) w_.row_error[jacobian.row[p.place[i]] + k] = force[k];
    }
    w_.dq.setZero(system_.nv());
    jacobian.add_transpose_product(system_.nodes(), w_.row_error, w_.dq);
    w_.motion.divide_by_mass(p, w_.dq);
    jacobian.product(system_.nodes(), w_.dq, w_.row_error);
    for (int i = 0; i < static_cast<int>(w_.modes.contact.size()); ++i) {
        const int c = p.place[i], row = p.contacts.jacobian.row[c] + 1;
        if (w_.modes.mode[i] != ContactMode::slip || p.contacts.jacobian.dim(c) < 3) continue;
        const Vec2& slip = p.slip[i];
        const Vec2 rate(w_.row_speed[row] + p.contacts.bias[row], w_.row_speed[row + 1] + p.contacts.bias[row + 1]);
        const Vec2 braking(w_.row_error[row], w_.row_error[row + 1]);
        const double speed = slip.norm();
        // A slip that begins is as slow as one that has come to its stop; it turns as it likes.
        const bool slow = !(speed > tolerances_.rest_speed);
        if (slow && w_.memory.afresh) continue;
        if (slow)
            w_.stops.push_back({.contact = i, .left = 0, .across = 0, .rate = rate.norm()});
        else if (slip.dot(rate) < 0)
            w_.stops.push_back({.contact = i,
                                .left = speed / rate.norm(),
                                .across = std::abs(slip[0] * rate[1] - slip[1] * rate[0]) / speed,
                                .rate = rate.norm(),
                                .turning = slip.dot(rate - braking) / (speed * speed)});
    }
}

// How fast accelerations turn, in the axes of their bodies, across the slips that stop soon: w x a, twice what the chart of the step takes
// off them per time. Step control needs no such hint.
void EventStep::find_hidden_turns(const MotionPoint& p, const VecX& a) {
    const auto soon = [&](const EventDriven::Stop& stop) { return stop.left < graded_span(); };
    if (adaptive() || std::none_of(w_.stops.begin(), w_.stops.end(), soon)) return;
    w_.dq = h_ * x_.v;
    system_.chart_rate(w_.dq, a, w_.acceleration);
    w_.dq = 2 / h_ * (w_.acceleration - a);
    const BlockRows& jacobian = p.contacts.jacobian;
    w_.row_speed.resize(jacobian.rows());
    jacobian.product(system_.nodes(), w_.dq, w_.row_speed);
    for (EventDriven::Stop& stop : w_.stops) {
        const int row = jacobian.row[p.place[stop.contact]] + 1;
        const Vec2 slip = p.slip[stop.contact].normalized();
        stop.hidden = std::abs(slip[0] * w_.row_speed[row + 1] - slip[1] * w_.row_speed[row]);
    }
}

// [s] Before a stop, in which fixed steps may become shorter.
double EventStep::graded_span() const {
    return std::max(graded_time * tolerances_.scales.time(), graded_steps * options_.step);
}

// [s] of a fixed step before a stop.
double EventStep::graded_length(const EventDriven::Stop& stop) const {
    const double p = method_.order(), left = stop.left / graded_span();
    double share = infinity;
    if (stop.across * stop.left > tolerances_.rest_speed)
        share = std::pow(stop.rate / stop.across * std::pow(left, p), 1 / (p + 1));
    if (stop.hidden * options_.step * options_.step > tolerances_.rest_speed) share = std::min(share, std::pow(left, (p - 1) / (p + 1)));
    return options_.step * share;
}

// The same with step control.
double EventStep::controlled_length(const EventDriven::Stop& stop) const {
    const double turned = stop.across * stop.left * (options_.error.index == 1 ? 1.0 : stop.left);
    return turned > options_.tol ? stop.left : infinity;
}

}  // namespace stickslip
