// The hybrid scheme [Haddouni, ch. 4, Fig. 4.1, Algorithm 1]: event-driven with a method of order p until
//
//   impacts    two impacts lie closer together than h*: they accumulate
//   friction   a contact goes from stick to slip or back (in space on request all friction)
//   edge       a contact passes an edge
//   forces     the modes of the contacts cannot be decided, or do not hold: piles, whose contact forces are not unique
//
// then Moreau-Jean with steps h* = max(h_min, h^(p+1)), h the last step, so that the order p is kept as long as h_min allows
// (and not longer than tol, or a thousandth of a fixed step: h^(p+1) is of no use for h near 1 s). Back to events when the contacts
// are open, or have pushed over `calm` steps without an event. The thesis computes the step with the transition again by
// time-stepping; here events are located first and time-stepping begins at them, and sticking contacts are left to the
// event-driven scheme, which has rows for them. Every switch is an event with its reason.
//
// The event-driven schemes are this one with `forces` alone: where they cannot go on they take ordinary steps of Moreau-Jean.
#include "schemes/hybrid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "schemes/parts/work.hpp"

namespace stickslip {

namespace {

constexpr int calm = 3;            // steps without an event after which what is closed is closed for good,
constexpr int calm_piles = 20;     // and where contact forces were the reason: each try costs as much as many steps
// Of its step: a change between stick and slip so soon after time-stepping is not given back to it. A corner on which time-stepping saw
// slip and events saw it stop went to and fro between them, half a million times in the second.
constexpr double chatter = 10;
// Steps of events in a row that do not move time, after which time-stepping goes on: modes of redundant contacts that are decided to and fro.
// If fewer, bodies that hit each other in turn, at one instant, would be taken for that.
constexpr int max_idle = 200;
constexpr double patience = 100;   // steps of time-stepping before they grow
constexpr double whole_run = 1e9;  // [s] the step of Moreau-Jean is set by its limit

MoreauJeanOptions stepping_options() {
    MoreauJeanOptions o;
    o.step = whole_run;
    return o;
}

}  // namespace

void Hybrid::Work::remembered(FieldVisitor& visit) {
    events.remembered(visit);
    stepping.remembered(visit);
    visit(reason);
    visit(calm_steps);
    visit(switched);
    visit(idle);
}

Hybrid::Hybrid(const EventDrivenOptions& options, const Switching& switching, std::unique_ptr<SmoothMethod> method)
    : options_(options),
      switching_(switching),
      order_(method->order()),
      events_(options, std::move(method)),
      stepping_(stepping_options()) {}

double Hybrid::short_step(const Step& s) const {
    const double largest = options_.tol > 0 ? std::min(options_.tol, options_.step) : 1e-3 * options_.step;
    const double T = s.tolerances.scales.time();
    return std::max(switching_.h_min.in(s.tolerances),
                    std::min(largest, T * std::pow(std::min(s.memory.h / T, 1.0), order_ + 1)));
}

// Time-stepping that does not come to an end takes longer steps as it goes on, up to those of the run; in piles at once.
double Hybrid::stepping_length(const Step& s, const Work& w, double t, double t_limit) const {
    const double full = length_to_grid(t, options_.step, t_limit);
    if (w.reason == SwitchReason::forces) return full;
    return std::min(full, std::max(short_step(s), (t - w.switched) / patience));
}

void Hybrid::to_stepping(SwitchReason reason, const ContactId& who, const State& x, Step& s, Work& w) const {
    w.reason = reason;
    w.switched = x.t;
    w.calm_steps = 0;
    s.events.push_back({.t = x.t, .kind = EventKind::method_switch, .contact = who, .reason = reason});
}

// What pushes is handed over as closed: the event-driven scheme brings it to rest on its rows.
void Hybrid::to_events(SwitchReason reason, const State& x, Step& s, Work& w) const {
    StepMemory& memory = s.memory;
    w.reason = SwitchReason::none;
    w.switched = w.events.memory.taken_over = x.t;
    w.events.memory.acceleration.setConstant(x.v.size(), std::numeric_limits<double>::quiet_NaN());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < memory.contact.size(); ++i) {
        if (memory.mode[i] != ContactMode::stick && memory.mode[i] != ContactMode::slip) continue;
        memory.contact[kept] = memory.contact[i];
        memory.mode[kept] = memory.mode[i];
        memory.impulse[kept++] = memory.impulse[i];
    }
    memory.contact.resize(kept);
    memory.mode.resize(kept);
    memory.impulse.resize(kept);
    w.events.memory.slip.assign(kept, Vec2::Zero());
    s.events.push_back({.t = x.t, .kind = EventKind::method_switch, .contact = no_contact, .reason = reason});
}

bool Hybrid::space_friction(const System& system, const State& x, Step& s, Work& w) const {
    if (!switching_.space_friction) return false;
    system.rows_on(s.sides, x.t, x.q, *s.finder, w.joints, w.contacts);
    for (int i = 0; i < w.contacts.size(); ++i)
        if (w.contacts.jacobian.dim(i) == 3 && w.contacts.gap[i] <= options_.closed_gap.in(s.tolerances)) return true;
    return false;
}

// Whether time-stepping has come to an end of what it was needed for: `open`, `closed`, or none. A contact is closed where it
// pushed: its normal speed says little, since rows turn by O(h) in a step.
SwitchReason Hybrid::ready_for_events(const System& system, const State& x, Step& s, Work& w) const {
    const bool changed = std::any_of(s.events.begin(), s.events.end(), [](const Event& e) {
        return e.kind == EventKind::impact || e.kind == EventKind::take_off || e.kind == EventKind::stick_to_slip ||
               e.kind == EventKind::slip_to_stick;
    });
    if (changed) return SwitchReason::none;
    const std::vector<ContactMode>& modes = s.solution.modes;
    if (std::any_of(modes.begin(), modes.end(), [](ContactMode mode) { return mode != ContactMode::open; }))
        return SwitchReason::closed;
    system.rows_on(s.sides, x.t, x.q, *s.finder, w.joints, w.contacts);
    const double closed = options_.closed_gap.in(s.tolerances);
    const bool apart =
        std::all_of(w.contacts.gap.begin(), w.contacts.gap.end(), [&](double gap) { return gap > closed; });
    return apart ? SwitchReason::open : SwitchReason::none;
}

StepReport Hybrid::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    auto& w = work_of<Work>(s);
    if (w.reason == SwitchReason::none) {
        const double h_star = short_step(s);
        w.start.keep(x, s);
        w.start_events = w.events.memory;
        EventOutcome outcome;
        StepReport report = events_.step(system, solver, x, t_limit, s, w.events, outcome);
        const double since = x.t - w.start_events.last_impact;
        w.idle = x.t > w.start.x.t ? 0 : w.idle + 1;
        // An impact whose problem is not solved to its tolerance, again and again at one instant, is none for this scheme either.
        const bool hopeless = report.status != Status::ok && w.idle > max_idle;
        if ((outcome.stuck && !outcome.reached) || hopeless) {  // the step is taken back, and time-stepping takes it
            w.idle = 0;
            w.start.go_back(x, s);
            w.events.memory = w.start_events;
            const int solves = report.solves, rejected = report.rejected;
            s.sides.clear();
            w.events.memory.side.clear();
            report =
                stepping_.step(system, solver, x, x.t + length_to_grid(x.t, options_.step, t_limit), s, w.stepping);
            report.solves += solves;
            report.rejected += rejected;
            to_stepping(SwitchReason::forces, outcome.who, x, s, w);
        } else if (report.status != Status::ok) {
            return report;
        } else if (w.idle > max_idle || outcome.reached) {  // time-stepping goes on from here
            w.idle = 0;
            to_stepping(SwitchReason::forces, outcome.who, x, s, w);
        } else if (switching_.impacts && outcome.impact && since > 0 && since <= h_star) {
            to_stepping(SwitchReason::impacts, outcome.who, x, s, w);
        } else if (switching_.edges && outcome.edge) {
            to_stepping(SwitchReason::edge, outcome.who, x, s, w);
        } else if ((switching_.transitions && outcome.friction && x.t - w.switched > chatter * h_star) ||
                   space_friction(system, x, s, w)) {
            to_stepping(SwitchReason::friction, outcome.who, x, s, w);
        }
        return report;
    }
    s.sides.clear();
    w.events.memory.side.clear();  // to be seen anew when events come back
    const StepReport report =
        stepping_.step(system, solver, x, x.t + stepping_length(s, w, x.t, t_limit), s, w.stepping);
    if (report.status != Status::ok) return report;
    const SwitchReason reason = ready_for_events(system, x, s, w);
    w.calm_steps = reason == SwitchReason::none ? 0 : w.calm_steps + 1;
    const int enough = w.reason == SwitchReason::forces ? calm_piles : reason == SwitchReason::open ? 1 : calm;
    if (w.calm_steps >= enough && !(reason == SwitchReason::closed && space_friction(system, x, s, w)))
        to_events(reason, x, s, w);
    return report;
}

}  // namespace stickslip
