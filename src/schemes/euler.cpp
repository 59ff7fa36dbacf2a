// The explicit Euler scheme of Anitescu and Potra with its own collision handling [Anitescu-Potra 1997, s.4].
//
//   q+ = q (+) h v                                         (the old velocity moves the bodies)
//   M v+ - G' lambda - H' p = M v + h (k(t, q, v) + F(v) v),   G, H at q+, k at q;  contacts closed at q
//
// A contact that is open at q and overlaps at q+ is a collision: its time is the root of the smallest such gap along
// the path q (+) s v, the step is cut there, and the impact law acts on all contacts closed at that configuration. A contact closed at the start that approaches
// is a collision at once (the paper's second collision rule, for overlaps that the velocities still open).
// Position stabilisation is off by default; it takes out chi of the gap and joint error per step.
#include "schemes/euler.hpp"

#include <algorithm>
#include <cmath>

#include "schemes/events/gap_closing.hpp"
#include "schemes/parts/work.hpp"

namespace stickslip {

namespace {

constexpr double no_overlap = 2;  // in place of a fraction of the step

// Sub-steps shorter than this share of the step, so many in a row, are impacts that accumulate: rebounds then end. With fewer of them
// piles in which many contacts are hit at one instant would lose theirs.
constexpr double shortest_substep = 1e-4;
constexpr int max_short_steps = 500;

// The smallest gap at the later configuration of the contacts that were open at the earlier one. Shapes that were too far apart to be
// listed, or that pass from one feature to another on the way, count where they approach: else the step would end inside them.
double smallest_open_gap(const ContactGaps& before, const ContactGaps& now, const Tolerances& tolerances,
                         double closed_gap) {
    double least = infinity;
    for (const ContactGap& g : now) {
        const int at = find(before, g.id);
        const bool open = at >= 0 ? before[at].gap > closed_gap
                                  : g.rate < -tolerances.gentle_speed && lie_apart(before, g.id, closed_gap);
        if (open) least = std::min(least, g.gap);
    }
    return seen_gap(least, tolerances);
}

// Keeps the contacts that were closed in `gaps`. `now` are all of them where they are: what was not listed, is closed and does not
// approach takes over, as when a body slides from one tile to the next.
void keep_closed(const ContactGaps& gaps, double closed_gap, const ContactGaps& now, double rest, Step& s) {
    ContactRows& contacts = s.problem.contacts;
    s.terms.wanted.resize(static_cast<std::size_t>(contacts.size()));
    for (int i = 0; i < contacts.size(); ++i) {
        const int at = find(gaps, contacts.id[i]);
        s.terms.wanted[i] =
            at >= 0 ? gaps[at].gap <= closed_gap : now[i].gap <= closed_gap && std::abs(now[i].rate) <= rest;
    }
    contacts.keep(s.terms.wanted);
}

}  // namespace

void Euler::contact_step(const System& system, Solver& solver, const State& x, const VecX& q1, double h, Step& s,
                         StepReport& report) const {
    StepProblem& problem = s.problem;
    system.mass(q1, s.terms.mass);
    problem.A = s.terms.mass;
    problem.size_to_rows();
    fill_explicit_rule(system, x, h, s);
    // A step cut short by a collision takes out its fraction of the error only: chi phi/h with h -> 0 would throw bodies
    // apart (scenes/capsules.yaml, where curved gaps overlap by microns and steps are cut to nanoseconds).
    const double chi = options_.stabilisation * std::min(1.0, h / options_.step);
    // q1 already is the end position, so springs and stabilisation look one step further: weights 1.
    fill_bilateral(x.v, {.h = h, .chi = chi}, s);
    const ContactRows& contacts = problem.contacts;
    s.terms.stabilisation.setZero(contacts.size());
    for (int i = 0; i < contacts.size(); ++i) {
        s.terms.stabilisation[i] = chi * contacts.gap[i] / h;
        problem.c[contacts.jacobian.row[i]] = s.terms.stabilisation[i];
    }
    warm_start(x.v, h, s);
    solve_stage(solver, s, report);
}

// The fraction of the step after which the first contact that is open at the start overlaps, or no_overlap. Leaves the configuration
// there, or at the end of the step, in s.q1, the way to it in s.dq and its rows in s.problem.
double Euler::first_overlap(const System& system, const State& x, double h, Step& s, Work& w) const {
    const auto smallest_gap_at = [&](double fraction) {
        s.dq = (fraction * h) * x.v;
        s.q1 = x.q;
        system.advance(s.q1, s.dq);
        find_rows(system, x.t + fraction * h, s.q1, x.v, h, s);
        list_gaps(s.problem.nodes(), s.problem.contacts, x.v, s.memory, s.terms.contact_speed, w.after);
        return smallest_open_gap(w.before, w.after, s.tolerances, options_.closed_gap.in(s.tolerances));
    };
    const double deepest = smallest_gap_at(1);
    if (!(deepest < 0)) return no_overlap;
    const double open = smallest_open_gap(w.before, w.before, s.tolerances, options_.closed_gap.in(s.tolerances));
    const double fraction = bracketed_root(smallest_gap_at, 0, 1, open, deepest);
    smallest_gap_at(fraction);
    return fraction;
}

// Moves x to s.q1 by the contact step of length h with the contacts that were closed at its start, and books it.
void Euler::take(const System& system, Solver& solver, State& x, double h, double t1, Step& s, Work& w,
                 Stopwatch& watch, StepReport& report) const {
    keep_closed(w.before, options_.closed_gap.in(s.tolerances), w.after, s.tolerances.approach_speed, s);
    watch.lap(StepTimers::fill);
    contact_step(system, solver, x, s.q1, h, s, report);
    watch.lap(StepTimers::solve);
    s.v_weighted = s.solution.v;
    s.t_weighted = t1;
    s.memory.v_rate = (s.solution.v - x.v) / h;
    Stage stage = solved_stage(s, {x.t, s.q0, s.v0}, {t1, s.q1, s.solution.v});
    stage.impacts_inside = false;
    s.ledger.book(system, stage);
    note_impulses(s);
    note_mode_changes(t1, s);
    remember(h, s);
    x.q = s.q1;
    x.v = s.solution.v;
    x.t = t1;
    watch.lap(StepTimers::book);
}

// The impact of everything closed at x.
void Euler::collide(const System& system, Solver& solver, ImpactOptions impact, State& x, Step& s, Work& w,
                    Stopwatch& watch, StepReport& report) const {
    const bool hurried = x.t - s.t0 < shortest_substep * options_.step;
    w.bounces.short_steps = hurried ? w.bounces.short_steps + 1 : 0;
    if (w.bounces.short_steps > max_short_steps) {
        impact.restitution_threshold = infinity;
        ++report.unlocated;
    }
    system.mass(x.q, s.terms.mass);
    s.problem.A = s.terms.mass;
    find_rows(system, x.t, x.q, x.v, options_.step, s);
    list_gaps(s.problem.nodes(), s.problem.contacts, x.v, s.memory, s.terms.contact_speed, w.after);
    keep_closed(w.after, options_.closed_gap.in(s.tolerances), w.after, 0, s);
    watch.lap(StepTimers::find);
    const std::size_t first_event = s.events.size();
    resolve_impact(system, solver, impact, x, s, w.impact, report);
    if (hurried) note_bounces(first_event, impact.approach_tolerance, x, s, w.bounces);
    s.memory.v_rate.setZero();
    remember(options_.step, s);
    s.memory.h = 0;  // impulses of an impact are no guess for the next step, its modes are
    s.v_weighted = x.v;
    s.t_weighted = x.t;
    watch.lap(StepTimers::solve);
}

StepReport Euler::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    const ImpactOptions impact{static_cast<ImpactLaw>(options_.impact.index),
                               options_.restitution_threshold.in(s.tolerances), s.tolerances.approach_speed};
    double h = step_length(x.t, options_.step, t_limit);
    auto& w = work_of<Work>(s);
    StepReport report;
    Stopwatch watch(s.timers);
    begin_step(x, s);

    // A collision at the very start: closed contacts that approach.
    system.mass(x.q, s.terms.mass);
    s.problem.A = s.terms.mass;
    find_rows(system, x.t, x.q, x.v, h, s);
    note_violations(x.v, s);
    list_gaps(s.problem.nodes(), s.problem.contacts, x.v, s.memory, s.terms.contact_speed, w.before);
    watch.lap(StepTimers::find);
    bool collision = std::any_of(w.before.begin(), w.before.end(), [&](const ContactGap& g) {
        return g.gap <= options_.closed_gap.in(s.tolerances) && g.rate < -impact.approach_tolerance;
    });
    if (collision) {
        h = 0;
        s.dq.setZero();
    } else {
        const double fraction = first_overlap(system, x, h, s, w);
        collision = fraction <= 1;
        if (collision) h *= fraction;
        watch.lap(StepTimers::find);
        const double t1 = collision ? x.t + h : end_of_step(x.t, h, t_limit);
        if (h > 0) take(system, solver, x, h, t1, s, w, watch, report);
    }
    if (collision)
        collide(system, solver, impact, x, s, w, watch, report);
    else
        w.bounces.short_steps = 0;

    project(system, solver, options_.projection, x, s);
    hold_limits(system, solver, x, s);
    s.t1 = x.t;
    s.q1 = x.q;
    s.v1 = x.v;
    report.t = x.t;
    report.h = h;
    return report;
}

}  // namespace stickslip
