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
constexpr double patience = 100;   // steps of time-stepping before they grow
constexpr double whole_run = 1e9;  // [s] the step of Moreau-Jean is set by its limit

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

// Time-stepping that does not come to an end (a pile) takes longer steps as it goes on, up to those of the run.
double Hybrid::stepping_length(const StepMemory& memory, double t) const {
    return std::max(short_step(memory), std::min(options_.step, (t - memory.switched) / patience));
}

void Hybrid::switch_over(bool time_stepping, SwitchReason reason, const ContactId& who, const State& x, Step& s) const {
    StepMemory& memory = s.memory;
    memory.time_stepping = time_stepping;
    memory.switched = x.t;
    memory.short_steps = 0;
    if (!time_stepping) {
        // What pushes is handed over as closed: the event-driven scheme brings it to rest on its rows.
        memory.acceleration.resize(0);
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
        memory.slip.assign(kept, Vec2::Zero());
    }
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

// Whether time-stepping has come to an end of what it was needed for: `open`, `closed`, or none. A contact is closed where it
// pushed: its normal speed says little, since rows turn by O(h) in a step.
SwitchReason Hybrid::settled(const System& system, const State& x, Step& s) const {
    const bool changed = std::any_of(s.events.begin(), s.events.end(), [](const Event& e) {
        return e.kind == EventKind::impact || e.kind == EventKind::take_off || e.kind == EventKind::stick_to_slip ||
               e.kind == EventKind::slip_to_stick;
    });
    if (changed) return SwitchReason::none;
    const std::vector<ContactMode>& modes = s.solution.modes;
    if (std::any_of(modes.begin(), modes.end(), [](ContactMode mode) { return mode != ContactMode::open; }))
        return SwitchReason::closed;
    Scratch& w = scratch();
    system.rows(x.t, x.q, *s.finder, w.joints, w.contacts);
    const bool apart = std::all_of(w.contacts.gap.begin(), w.contacts.gap.end(),
                                   [&](double gap) { return gap > options_.closed_gap; });
    return apart ? SwitchReason::open : SwitchReason::none;
}

StepReport Hybrid::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    Scratch& w = scratch();
    StepMemory& memory = s.memory;
    if (!memory.time_stepping) {
        const double h_star = short_step(memory);
        w.x = x;
        w.memory = memory;
        w.frames = s.finder->frames();
        const EnergyLedger::Snapshot ledger = s.ledger.snapshot();
        EventDriven::Outcome outcome;
        StepReport report = events_.step(system, solver, x, t_limit, s, outcome);
        const double since = x.t - w.memory.last_impact;
        // Time-stepping helps where contacts are the trouble, not where forces are.
        const bool no_contact = w.memory.contact.empty() && memory.contact.empty();
        if (report.status != Status::ok && no_contact && !outcome.impact) return report;
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
    const StepReport report =
        stepping_.step(system, solver, x, std::min(t_limit, x.t + stepping_length(memory, x.t)), s);
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
