// At an event: the impact of what closes, and the modes of what stays closed.
//
// Index sets [Haddouni s.2.1.1.1]: I1, contacts with phi <= closed_gap or closed before; those of them that approach faster than
// rest_speed collide, all of I1 together (the impact law solves one problem). I2, what then neither approaches nor parts: sliding
// where it slips, else free to stick. The instant problem decides who opens, sticks and slides. Where it is on the fence, because
// the event is just that, the event itself is the hint: a contact whose force vanished opens, one that reached its cone slides
// against its friction.
#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "schemes/event_driven/event_driven.hpp"

namespace stickslip {

namespace {

constexpr double standing = 1e-9;  // [m/s] slip below is none,
constexpr double stopped =
    1e-7;  // [m/s] or below this where a stop was found, in space: it vanishes along one line only
constexpr double falls_back =
    1e-5;  // [m/s^2] a contact that was let go and accelerates inwards by more is closed after all
constexpr int most_short_steps = 500;  // impacts in a row without time between them before rebounds end

}  // namespace

void EventDriven::Hints::clear() {
    lost = false;
    released.clear();
    stopped.clear();
    sliding.clear();
    giving.clear();
}

void EventDriven::set_sides(const System& system, const State& x, Step& s, EventDrivenMemory& memory) const {
    if (memory.side.size() != static_cast<std::size_t>(system.edges())) {
        memory.side.resize(static_cast<std::size_t>(system.edges()));
        for (int e = 0; e < system.edges(); ++e) memory.side[e] = system.edge_value(e, x.q) < 0 ? -1 : 1;
    }
    s.finder->sides.assign(memory.side.begin(), memory.side.end());
}

// Whether an open contact counts as closed. Where nothing is known of the past, closed_gap decides; later bodies may well fly lower
// than that, and close only within what drift control leaves alone or what they pass in the shortest flight.
bool EventDriven::touches(double gap, double rate, const EventDrivenMemory& memory) const {
    const double moves = std::abs(rate);
    const bool known = memory.acceleration.size() > 0 && !memory.acceleration.hasNaN();
    if (!known && moves <= options_.rest_speed) return gap <= options_.closed_gap;
    return gap <= options_.closed_gap && gap <= std::max(moves * options_.shortest_flight, 3 * options_.drift_limit);
}

bool EventDriven::decide(const System& system, Solver& solver, State& x, Step& s, Work& w, StepReport& report,
                         Outcome& outcome) const {
    StepMemory& memory = s.memory;
    StepProblem& problem = s.problem;
    system.mass(x.q, s.mass);
    problem.A = s.mass;
    find_rows(system, x.t, x.q, x.v, 0, s);
    ContactRows& contacts = problem.contacts;
    w.product.resize(contacts.jacobian.rows());
    contacts.jacobian.product(problem.nodes(), x.v, w.product);
    bool collision = false, ending = true;  // rebounds end when those of all that collide do
    s.wanted.resize(static_cast<std::size_t>(contacts.size()));
    for (int i = 0; i < contacts.size(); ++i) {
        const double rate = w.product[contacts.jacobian.row[i]];
        const bool closed = w.modes.find(contacts.id[i]) >= 0;
        s.wanted[i] = closed || touches(contacts.gap[i], rate, w.memory);
        if (!s.wanted[i] || rate >= -options_.rest_speed) continue;
        collision = true;
        ending = ending && bounces_left(contacts.id[i], x.t, w.memory.bounces) < options_.shortest_flight;
    }
    if (collision) {
        ImpactOptions impact{static_cast<ImpactLaw>(options_.impact.index), options_.restitution_threshold,
                             options_.rest_speed};
        w.memory.bounces.short_steps = x.t - s.t0 < options_.shortest_flight ? w.memory.bounces.short_steps + 1 : 0;
        if (w.memory.bounces.short_steps > most_short_steps) {
            impact.restitution_threshold = infinity;
            ++report.unlocated;
        }
        if (ending) impact.restitution_threshold = infinity;
        contacts.keep(s.wanted);
        const std::size_t first_event = s.events.size();
        resolve_impact(system, solver, impact, x, s, w.impact, report);
        if (report.status != Status::ok) {
            outcome.stuck = true;
            return false;
        }
        note_bounces(first_event, options_.rest_speed, x, s, w.memory.bounces);
        w.memory.last_impact = x.t;
        outcome.impact = true;
        if (s.events.size() > first_event) outcome.who = s.events[first_event].contact;
        w.hints.clear();  // the velocities are new
    } else {
        w.memory.bounces.short_steps = 0;
    }
    if (!decide_modes(system, solver, x, s, w, report)) {
        outcome.stuck = true;
        return false;
    }
    note_changes(x, s, w, outcome);

    memory.contact = w.modes.contact;
    memory.mode = w.modes.mode;
    w.memory.slip = w.modes.slip;
    w.memory.bound = w.modes.bound;
    memory.impulse.assign(memory.contact.size(), Vec3::Zero());
    memory.h = 0;
    w.memory.acceleration = (s.solution.v - x.v) / instant_span;
    w.memory.afresh = true;
    w.start_held = false;
    return true;
}

bool EventDriven::decide_modes(const System& system, Solver& solver, const State& x, Step& s, Work& w,
                               StepReport& report) const {
    Modes& modes = w.modes;
    system.rows(x.t, x.q, *s.finder, w.joints, s.problem.contacts);
    const ContactRows& contacts = s.problem.contacts;
    const Nodes& nodes = system.nodes();
    w.product.resize(contacts.jacobian.rows());
    contacts.jacobian.product(nodes, x.v, w.product);
    w.candidates.clear();
    for (int i = 0; i < contacts.size(); ++i) {
        const ContactId& id = contacts.id[i];
        const int row = contacts.jacobian.row[i], dim = contacts.jacobian.dim(i);
        const bool closed = modes.find(id) >= 0;
        // What approaches and was not hit now is still open, and will be hit next.
        if (!closed && w.product[row] < -options_.rest_speed) continue;
        if (!closed && !touches(contacts.gap[i], w.product[row], w.memory)) continue;
        if (w.product[row] > options_.rest_speed) continue;
        if (std::find(w.hints.released.begin(), w.hints.released.end(), id) != w.hints.released.end()) continue;
        Candidate candidate{.id = id};
        Vec2 slip(dim > 1 ? w.product[row + 1] : 0.0, dim > 2 ? w.product[row + 2] : 0.0);
        const auto hint = std::find_if(w.hints.sliding.begin(), w.hints.sliding.end(),
                                       [&](const Candidate& c) { return c.id == id; });
        const bool stops = std::find(w.hints.stopped.begin(), w.hints.stopped.end(), id) != w.hints.stopped.end();
        if (dim > 1 && slip.norm() > (stops ? stopped : standing)) {
            candidate.slides = true;
            candidate.slip = slip.normalized();
        } else if (hint != w.hints.sliding.end()) {
            candidate = *hint;
        }
        w.candidates.push_back(candidate);
    }
    modes.bound.assign(static_cast<std::size_t>(w.joints.size()), 0);
    w.product.resize(w.joints.size());
    w.joints.jacobian.product(nodes, x.v, w.product);
    for (int i = 0; i < w.joints.size(); ++i) {
        if (!gives_way(w.joints, i)) continue;
        const auto k = static_cast<std::size_t>(i);
        const double slip = w.product[i] - w.joints.target[k];
        if (std::abs(slip) > standing) modes.bound[k] = slip > 0 ? -1 : 1;
    }
    for (const auto& [row, bound] : w.hints.giving)
        if (modes.bound[row] == 0) modes.bound[row] = bound;

    for (int round = 0; round < 2; ++round) {
        w.instant.fill(system, x.t, x.q, x.v, w.candidates, modes.bound, s);
        warm_start(x.v, instant_span, s);
        solve_stage(solver, s, report);
        if (report.status != Status::ok) return false;
        // Those that were let go must not fall back.
        const ContactRows& all = w.instant.contacts();
        w.a_there = (s.solution.v - x.v) / instant_span;
        w.product.resize(all.jacobian.rows());
        all.jacobian.product(nodes, w.a_there, w.product);
        bool again = false;
        for (const ContactId& id : w.hints.released) {
            if (w.hints.lost && id == w.hints.released.front()) continue;
            const auto place = std::lower_bound(all.id.begin(), all.id.end(), id);
            if (place == all.id.end() || *place != id) continue;
            const int row = all.jacobian.row[place - all.id.begin()];
            if (w.product[row] + all.curvature[row] > -falls_back) continue;
            const auto at = std::lower_bound(w.candidates.begin(), w.candidates.end(), id,
                                             [](const Candidate& c, const ContactId& y) { return c.id < y; });
            w.candidates.insert(at, Candidate{.id = id});
            again = true;
        }
        if (!again) break;
    }
    w.bound = modes.bound;
    w.instant.read(w.candidates, w.bound, s, modes);
    w.hints.clear();
    return true;
}

void EventDriven::note_changes(const State& x, Step& s, Work& w, Outcome& outcome) const {
    const Modes &before = w.modes_before, &after = w.modes;
    const bool first = undecided(
        w.memory, static_cast<Eigen::Index>(x.v.size()));  // of the run or after an edit: what rests has not been hit
    const auto told = [&](const ContactId& id) {
        return std::any_of(s.events.begin(), s.events.end(),
                           [&](const Event& e) { return e.contact == id && e.kind == EventKind::impact; });
    };
    for (std::size_t i = 0; i < before.contact.size(); ++i) {
        const ContactId& id = before.contact[i];
        const int now = after.find(id);
        if (now < 0) {
            if (told(id) || outcome.edge) continue;
            s.events.push_back({.t = x.t, .kind = EventKind::take_off, .contact = id, .before = before.mode[i]});
            if (!outcome.impact) outcome.who = id;
            continue;
        }
        const ContactMode mode = after.mode[now];
        if (mode == before.mode[i]) continue;
        s.events.push_back({.t = x.t,
                            .kind = mode == ContactMode::stick ? EventKind::slip_to_stick : EventKind::stick_to_slip,
                            .contact = id,
                            .before = before.mode[i],
                            .after = mode});
        outcome.friction = true;
        outcome.who = id;
    }
    for (std::size_t i = 0; i < after.contact.size(); ++i) {
        const ContactId& id = after.contact[i];
        if (first || before.find(id) >= 0 || told(id)) continue;
        s.events.push_back({.t = x.t,
                            .kind = outcome.edge ? EventKind::edge : EventKind::impact,
                            .contact = id,
                            .before = outcome.edge ? after.mode[i] : ContactMode::open,
                            .after = after.mode[i]});
        if (outcome.edge) outcome.who = id;
    }
}

}  // namespace stickslip
