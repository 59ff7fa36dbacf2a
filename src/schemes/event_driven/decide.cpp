// At an event: the impact of what closes, and the modes of what stays closed.
//
// Index sets [Haddouni s.2.1.1.1]: I1, contacts with phi <= closed_gap or closed before; those of them that approach faster than
// rest_speed collide, all of I1 together (the impact law solves one problem). I2, what then neither approaches nor parts: sliding
// where it slips, else free to stick. The instant problem decides who opens, sticks and slides. At the event itself that problem is
// degenerate, and the event is the hint: a contact whose force vanished opens, one that reached its cone slides against its
// friction.
#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "problems/contact_ids.hpp"
#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

constexpr int max_short_steps = 500;  // impacts in a row without time between them before rebounds end
// Hops in a row within closed_gap before they end. With restitution 0.99 fewer bring them to shortest_flight.
constexpr int max_low_hops = 1000;
constexpr double first_moment = 0.01;  // of the step, at which modes that do not even begin to hold are decided

bool contains(const std::vector<ContactId>& list, const ContactId& id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

void EventDriven::Hints::clear() {
    lost = 0;
    released.clear();
    stopped.clear();
    sliding.clear();
    giving.clear();
}

void EventStep::set_sides() {
    EventDrivenMemory& memory = w_.memory;
    if (memory.side.size() != static_cast<std::size_t>(system_.edges())) {
        memory.side.resize(static_cast<std::size_t>(system_.edges()));
        for (int e = 0; e < system_.edges(); ++e) memory.side[e] = system_.edge_value(e, x_.q) < 0 ? -1 : 1;
    }
    if (s_.sides == memory.side) return;
    s_.sides.assign(memory.side.begin(), memory.side.end());
    w_.motion.forget();
}

void EventStep::pass_edge(int edge) {
    outcome_.edge = true;
    signed char& side = w_.memory.side[edge];
    side = static_cast<signed char>(-side);
}

// Whether an open contact counts as closed. Where nothing is known of the past, closed_gap decides; later bodies may well fly lower
// than that, and close only within what drift control leaves alone or what they pass in the shortest flight.
bool EventStep::touches(const ContactId& id, double gap, double rate) const {
    if (id == hit_) return true;
    const double speed = std::abs(rate);
    const VecX& a = w_.memory.acceleration;
    const bool known = a.size() > 0 && !a.hasNaN();
    if (!(gap <= options_.closed_gap.in(tolerances_))) return false;
    if (!known && speed <= options_.rest_speed.in(tolerances_)) return true;
    return gap <= std::max(speed * options_.shortest_flight.in(tolerances_), 3 * options_.drift_limit.in(tolerances_));
}

// The modes of the trial do not hold even at its start: those a little later are taken, and the step begins again. False: the
// step ends here.
bool EventStep::redecide() {
    if (w_.watch.which().kind == Watch::Kind::edge) {  // the last step ended on it
        pass_edge(w_.watch.which().index);
        set_sides();
        w_.keep_modes();
        decide();
        return false;
    }
    w_.keep_modes();
    const Watch::Function& f = w_.watch.which();
    if (f.kind == Watch::Kind::stop && !w_.memory.afresh) {  // the last step has ended there, to rounding
        w_.hints.stopped.push_back(f.id);
        w_.there = x_;
    } else {
        on_path(system_, w_.smooth, first_moment, w_.dq, w_.there);
    }
    if (!decide_modes(w_.there)) {
        outcome_.stuck = true;
        return false;
    }
    note_changes();
    write_modes();
    w_.smooth.start_known = false;
    w_.motion.read(x_.t, x_.q, w_.smooth.start);
    list_open();
    shorten_before_stop();
    return true;
}

// After the step: what its event changes.
void EventStep::decide_event() {
    if (!event() && holds_) return;
    w_.keep_modes();
    set_sides();
    if (!decide()) return;
    // Contacts that stick from now on lose what slip the location of the event could not resolve. Drift up to closed_gap stays.
    w_.motion.read(x_.t, x_.q, w_.point);
    w_.motion.begin(w_.modes, w_.point, s_);
    if (!project(w_.point, tolerances_.closed_gap, tolerances_.slip_rounding))
        report_.remark = "a contact that stops slides on a little";
    stopwatch_.lap(StepTimers::solve);
}

// The impact if something closed approaches, then the modes of what is closed; into w.modes and the memory. False: not solved.
bool EventStep::decide() {
    const bool held = !outcome_.stuck;
    outcome_.stuck = true;
    if (!collide()) return false;
    if (ending_) lay_to_rest();
    const StepReport collided = report_;
    if (!decide_modes(x_)) {
        outcome_.reached = held && outcome_.impact && x_.t > s_.t0;
        if (outcome_.reached) end_at_impact(collided);
        return false;
    }
    outcome_.stuck = !held;
    note_changes();
    write_modes();
    s_.memory.h = 0;
    w_.memory.acceleration = (s_.solution.v - x_.v) / tolerances_.instant_span;
    return true;
}

// The modes after the impact cannot be decided, but it is in its place: the step ends with it.
void EventStep::end_at_impact(const StepReport& collided) {
    const int solves = report_.solves;
    report_ = collided;
    report_.solves = solves;
    s_.memory.h = 0;
    s_.memory.v_rate.setZero();
}

bool EventStep::collide() {
    BounceMemory& bounces = w_.memory.bounces;
    system_.mass(x_.q, s_.terms.mass);
    s_.problem.A = s_.terms.mass;
    find_rows(system_, x_.t, x_.q, x_.v, 0, s_);
    w_.motion.forget();  // the reach is another one
    ContactRows& contacts = s_.problem.contacts;
    w_.row_speed.resize(contacts.jacobian.rows());
    contacts.jacobian.product(s_.problem.nodes(), x_.v, w_.row_speed);
    const double rest_speed = options_.rest_speed.in(tolerances_);
    const double shortest_flight = options_.shortest_flight.in(tolerances_);
    bool collision = false, ending = true;  // rebounds end when those of all that collide do
    double fastest = 0;                     // [m/s] approach
    s_.terms.wanted.resize(static_cast<std::size_t>(contacts.size()));
    for (int i = 0; i < contacts.size(); ++i) {
        const double rate = w_.row_speed[contacts.jacobian.row[i]];
        const bool closed = w_.modes.find(contacts.id[i]) >= 0;
        s_.terms.wanted[i] = closed || touches(contacts.id[i], contacts.gap[i], rate);
        if (!s_.terms.wanted[i] || rate >= -rest_speed) continue;
        collision = true;
        fastest = std::max(fastest, -rate);
        ending = ending && bounces_left(contacts.id[i], x_.t, bounces) < shortest_flight;
    }
    ending_ = false;
    if (!collision) {
        bounces.short_steps = bounces.low_hops = 0;
        return true;
    }
    ImpactOptions impact{static_cast<ImpactLaw>(options_.impact.index), options_.restitution_threshold, rest_speed};
    bounces.short_steps = x_.t - s_.t0 < shortest_flight ? bounces.short_steps + 1 : 0;
    if (bounces.short_steps > max_short_steps) {
        ending = true;
        ++report_.unlocated;
    }
    // A body with restitution 1 hops for ever, however low; what never leaves the gap of a closed contact rests.
    const bool low = fastest * (x_.t - w_.memory.last_impact) < options_.closed_gap.in(tolerances_);
    bounces.low_hops = low ? bounces.low_hops + 1 : 0;
    ending = ending || bounces.low_hops > max_low_hops;
    if (ending) impact.restitution_threshold = infinity;
    ending_ = ending;
    contacts.keep(s_.terms.wanted);
    const std::size_t first_event = s_.events.size();
    resolve_impact(system_, solver_, impact, x_, s_, w_.impact, report_);
    if (report_.status != Status::ok) return false;
    note_bounces(first_event, rest_speed, x_, s_, bounces, !ending);
    w_.memory.last_impact = x_.t;
    outcome_.impact = true;
    if (s_.events.size() > first_event) outcome_.who = s_.events[first_event].contact;
    w_.hints.clear();  // they were about the velocities before
    return true;
}

// Impacts that accumulate are over, also those of a body that rocks from one corner to the other: there each impact lifts off what the last
// one brought to rest, and would for ever, more slowly each time, down to where rounding and tolerances keep it going.
void EventStep::lay_to_rest() {
    const ContactRows& contacts = s_.problem.contacts;
    const RowVec& speed = contact_speeds(x_.v, s_);
    bool lifted = false;
    Modes& modes = w_.modes;
    modes.contact.clear();
    for (int i = 0; i < contacts.size(); ++i) {
        const double rate = speed[contacts.jacobian.row[i]];
        if (rate > tolerances_.gentle_speed) continue;
        lifted = lifted || rate > options_.rest_speed.in(tolerances_);
        modes.contact.push_back(contacts.id[i]);
    }
    modes.mode.assign(modes.contact.size(), ContactMode::slip);
    modes.slip.assign(modes.contact.size(), Vec2::Zero());
    if (lifted) close_rows();
}

// The modes at x from the instant problem, into w.modes. False: not solved.
bool EventStep::decide_modes(const State& x) {
    Modes& modes = w_.modes;
    MotionPoint& p = w_.point;
    w_.motion.observe(x.t, x.q, x.v, p);
    find_candidates(p);
    find_bounds(p);
    for (int round = 0; round < 2; ++round) {
        w_.instant.fill(system_, p, w_.candidates, modes.bound, s_);
        warm_start(x.v, tolerances_.instant_span, s_);
        solve_stage(solver_, s_, report_);
        if (report_.status != Status::ok) return false;
        if (!restore_released(p)) break;
    }
    w_.bound = modes.bound;
    w_.instant.read(w_.candidates, w_.bound, s_, modes);
    w_.hints.clear();
    return true;
}

// The contacts that may stay closed, and how they slide.
void EventStep::find_candidates(const MotionPoint& p) {
    const ContactRows& contacts = p.contacts;
    w_.row_speed.resize(contacts.jacobian.rows());
    contacts.jacobian.product(system_.nodes(), p.v, w_.row_speed);
    const double rest_speed = options_.rest_speed.in(tolerances_);
    w_.candidates.clear();
    for (int i = 0; i < contacts.size(); ++i) {
        const ContactId& id = contacts.id[i];
        const int row = contacts.jacobian.row[i], dim = contacts.jacobian.dim(i);
        const double rate = w_.row_speed[row];
        const bool closed = w_.modes.find(id) >= 0;
        // A contact that approaches and was not hit now is still open, and will be hit next.
        if (!closed && (rate < -rest_speed || !touches(id, contacts.gap[i], rate))) continue;
        if (rate > rest_speed || contains(w_.hints.released, id)) continue;
        Candidate candidate{.id = id};
        const Vec2 slip(dim > 1 ? w_.row_speed[row + 1] : 0.0, dim > 2 ? w_.row_speed[row + 2] : 0.0);
        const auto hint = std::find_if(w_.hints.sliding.begin(), w_.hints.sliding.end(),
                                       [&](const Candidate& c) { return c.id == id; });
        // Where a stop was found in space, only one component of the slip vanishes.
        const bool stopped = contains(w_.hints.stopped, id);
        if (dim > 1 && slip.norm() > (stopped ? tolerances_.visible_slip : tolerances_.rest_speed)) {
            candidate.slides = true;
            candidate.slip = slip.normalized();
        } else if (hint != w_.hints.sliding.end()) {
            candidate = *hint;
        }
        w_.candidates.push_back(candidate);
    }
}

// The drives and brakes that slip, and with which bound they push.
void EventStep::find_bounds(const MotionPoint& p) {
    std::vector<signed char>& bound = w_.modes.bound;
    const BilateralRows& joints = p.joints;
    bound.assign(static_cast<std::size_t>(joints.size()), 0);
    w_.row_speed.resize(joints.size());
    joints.jacobian.product(system_.nodes(), p.v, w_.row_speed);
    for (int i = 0; i < joints.size(); ++i) {
        if (!gives_way(joints, i)) continue;
        const double slip = w_.row_speed[i] - joints.target[i];
        if (std::abs(slip) > tolerances_.rest_speed) bound[i] = slip > 0 ? -1 : 1;
    }
    for (const auto& [row, side] : w_.hints.giving)
        if (bound[row] == 0) bound[row] = side;
}

// Released contacts that would fall back at once become candidates again. True: there are some.
bool EventStep::restore_released(const MotionPoint& p) {
    const ContactRows& all = p.contacts;
    w_.acceleration = (s_.solution.v - p.v) / tolerances_.instant_span;
    w_.row_speed.resize(all.jacobian.rows());
    all.jacobian.product(system_.nodes(), w_.acceleration, w_.row_speed);
    bool any = false;
    for (std::size_t i = static_cast<std::size_t>(w_.hints.lost); i < w_.hints.released.size(); ++i) {
        const ContactId& id = w_.hints.released[i];
        const int c = find_contact(all.id, id);
        if (c < 0) continue;
        const int row = all.jacobian.row[c];
        if (w_.row_speed[row] + all.bias[row] > -tolerances_.inward_acceleration) continue;
        const auto at = std::lower_bound(w_.candidates.begin(), w_.candidates.end(), id,
                                         [](const Candidate& entry, const ContactId& key) { return entry.id < key; });
        w_.candidates.insert(at, Candidate{.id = id});
        any = true;
    }
    return any;
}

void EventStep::write_modes() {
    StepMemory& memory = s_.memory;
    memory.contact = w_.modes.contact;
    memory.mode = w_.modes.mode;
    w_.memory.slip = w_.modes.slip;
    w_.memory.bound = w_.modes.bound;
    memory.impulse.assign(memory.contact.size(), Vec3::Zero());
    w_.memory.afresh = true;
}

// Events for the contacts whose mode has changed.
void EventStep::note_changes() {
    const Modes &before = w_.modes_before, &after = w_.modes;
    const bool first = undecided();  // at the start of the run or after an edit contacts that rest have not been hit
    const auto was_hit = [&](const ContactId& id) {
        return std::any_of(s_.events.begin(), s_.events.end(),
                           [&](const Event& e) { return e.contact == id && e.kind == EventKind::impact; });
    };
    for (std::size_t i = 0; i < before.contact.size(); ++i) {
        const ContactId& id = before.contact[i];
        const int now = after.find(id);
        if (now < 0) {
            if (was_hit(id) || outcome_.edge) continue;
            s_.events.push_back({.t = x_.t, .kind = EventKind::take_off, .contact = id, .before = before.mode[i]});
            if (!outcome_.impact) outcome_.who = id;
            continue;
        }
        const ContactMode mode = after.mode[now];
        if (mode == before.mode[i]) continue;
        s_.events.push_back({.t = x_.t,
                             .kind = mode == ContactMode::stick ? EventKind::slip_to_stick : EventKind::stick_to_slip,
                             .contact = id,
                             .before = before.mode[i],
                             .after = mode});
        outcome_.friction = true;
        outcome_.who = id;
    }
    for (std::size_t i = 0; i < after.contact.size(); ++i) {
        const ContactId& id = after.contact[i];
        if (first || before.find(id) >= 0 || was_hit(id)) continue;
        s_.events.push_back({.t = x_.t,
                             .kind = outcome_.edge ? EventKind::edge : EventKind::impact,
                             .contact = id,
                             .before = outcome_.edge ? after.mode[i] : ContactMode::open,
                             .after = after.mode[i]});
        if (outcome_.edge) outcome_.who = id;
    }
}

}  // namespace stickslip
