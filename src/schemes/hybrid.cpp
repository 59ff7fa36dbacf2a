// The hybrid scheme [Haddouni, ch. 4, Fig. 4.1, Algorithm 1]: event-driven with a method of order p until
//
//   impacts    two impacts lie closer together than h*: they accumulate
//   friction   a contact goes from stick to slip or back (in space on request all friction)
//   edge       a contact passes an edge
//   forces     the modes of the contacts could not be decided
//
// then Moreau-Jean with steps h* = max(h_min, h^(p+1)), h the last step, so that the order p is kept as long as h_min allows
// (and not longer than tol, or a thousandth of a fixed step: h^(p+1) is of no use for h near 1 s); back to events when the contacts are open, or closed and at rest over `calm_steps` steps. The thesis computes
// the step with the transition again by time-stepping; here events are located first and time-stepping begins at them, and
// sticking contacts are left to the event-driven scheme, which has rows for them. Every switch is an event with its reason.
#include "schemes/hybrid.hpp"

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"

namespace stickslip {

namespace {

constexpr int calm_steps = 3;      // after which what is closed is closed for good
constexpr double whole_run = 1e9;  // [s] the step of Moreau-Jean is set by its limit
constexpr double at_rest = 10;     // times rest_speed: what time-stepping leaves of a contact at rest

MoreauJeanOptions stepping_options() {
    MoreauJeanOptions o;
    o.step = whole_run;
    return o;
}

}  // namespace

// What a step that is taken back must restore.
struct Hybrid::Scratch {
    State x;
    StepMemory memory;
    ContactFinder::Frames frames;
    JointRows joints;
    ContactRows contacts;
    RowVec speed;
};

Hybrid::Scratch& Hybrid::scratch() {
    static thread_local Scratch scratch;
    return scratch;
}

Hybrid::Hybrid(const HybridOptions& options, std::unique_ptr<SmoothMethod> method)
    : options_(options), order_(method->order()), events_(options, std::move(method)), stepping_(stepping_options()) {}

void Hybrid::prepare(const System& system, const State& state, Step& step) const {
    events_.prepare(system, state, step);
}

double Hybrid::short_step(const StepMemory& memory) const {
    const double largest = options_.tol > 0 ? std::min(options_.tol, options_.step) : 1e-3 * options_.step;
    return std::max(options_.h_min, std::min(largest, std::pow(std::min(memory.h, 1.0), order_ + 1)));
}

void Hybrid::switch_over(bool time_stepping, SwitchReason reason, const ContactId& who, const State& x, Step& s) const {
    StepMemory& memory = s.memory;
    memory.time_stepping = time_stepping;
    memory.switched = x.t;
    memory.short_steps = 0;
    if (!time_stepping) memory.acceleration.resize(0);
    s.events.push_back({.t = x.t, .kind = EventKind::method_switch, .contact = who, .reason = reason});
}

bool Hybrid::space_friction(const System& system, const State& x, Step& s) const {
    if (options_.friction.index != 1) return false;
    Scratch& w = scratch();
    system.rows(x.t, x.q, *s.finder, w.joints, w.contacts);
    for (int i = 0; i < w.contacts.size(); ++i)
        if (w.contacts.jacobian.dim(i) == 3 && w.contacts.gap[i] <= options_.closed_gap) return true;
    return false;
}

// Whether time-stepping has come to an end of what it was needed for: `open`, `closed`, or none.
SwitchReason Hybrid::settled(const System& system, const State& x, Step& s) const {
    Scratch& w = scratch();
    system.rows(x.t, x.q, *s.finder, w.joints, w.contacts);
    w.speed.resize(w.contacts.jacobian.rows());
    w.contacts.jacobian.product(system.nodes(), x.v, w.speed);
    bool any_closed = false, calm = true;
    for (int i = 0; i < w.contacts.size(); ++i) {
        const double rate = w.speed[w.contacts.jacobian.row[i]], gap = w.contacts.gap[i];
        if (gap > options_.closed_gap) continue;
        if (rate > options_.rest_speed * at_rest) {  // on its way out: let it get there
            calm = false;
            continue;
        }
        any_closed = true;
        if (rate < -options_.rest_speed * at_rest) calm = false;
    }
    const bool hit = std::any_of(s.events.begin(), s.events.end(), [](const Event& e) {
        return e.kind == EventKind::impact || e.kind == EventKind::stick_to_slip || e.kind == EventKind::slip_to_stick;
    });
    if (!calm || hit) return SwitchReason::none;
    return any_closed ? SwitchReason::closed : SwitchReason::open;
}

StepReport Hybrid::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    Scratch& w = scratch();
    StepMemory& memory = s.memory;
    const double h_star = short_step(memory);
    if (!memory.time_stepping) {
        w.x = x;
        w.memory = memory;
        w.frames = s.finder->frames();
        const EnergyLedger::Snapshot ledger = s.ledger.snapshot();
        EventDriven::Outcome outcome;
        StepReport report = events_.step(system, solver, x, t_limit, s, outcome);
        const double since = x.t - w.memory.last_impact;
        if (report.status != Status::ok || outcome.stuck) {
            x = w.x;
            memory = w.memory;
            s.finder->set_frames(w.frames);
            s.ledger.restore(ledger);
            const ContactId who = outcome.who;
            const int solves = report.solves, rejected = report.rejected;
            s.finder->sides.clear();
            report = stepping_.step(system, solver, x, std::min(t_limit, x.t + h_star), s);
            report.solves += solves;
            report.rejected += rejected;
            switch_over(true, SwitchReason::forces, who, x, s);
        } else if (outcome.impact && since > 0 && since <= h_star) {
            switch_over(true, SwitchReason::impacts, outcome.who, x, s);
        } else if (outcome.edge) {
            switch_over(true, SwitchReason::edge, outcome.who, x, s);
        } else if ((outcome.friction && options_.friction.index != 2) || space_friction(system, x, s)) {
            switch_over(true, SwitchReason::friction, outcome.who, x, s);
        }
        return report;
    }
    s.finder->sides.clear();
    const StepReport report = stepping_.step(system, solver, x, std::min(t_limit, x.t + h_star), s);
    memory.side.clear();  // to be seen anew when events come back
    if (report.status != Status::ok || x.t >= t_limit) return report;
    const SwitchReason reason = settled(system, x, s);
    memory.short_steps = reason == SwitchReason::none ? 0 : memory.short_steps + 1;
    const bool ends =
        reason == SwitchReason::open || (reason == SwitchReason::closed && memory.short_steps >= calm_steps);
    if (ends && !(reason == SwitchReason::closed && space_friction(system, x, s))) switch_over(false, reason, {}, x, s);
    return report;
}

}  // namespace stickslip
