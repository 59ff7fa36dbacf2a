// Linearly implicit stepping with weights (a, g), located collisions and located changes of mode.
//
//   A v+ - G' lambda - H' p = r           A, r: parts/dynamics.cpp; M at q (+) h/2 v
//   G v+ = -((1-a)/a) G v                 joints bind the weighted velocity v_a = (1-a) v + a v+
//   form II   u = H v+ + ((1-a)/a) H v    contacts and friction too                       [Potra et al. (68)]
//   form I    u = H v+ + (h/2) dH/dt v    contacts and friction bind the end velocity     [Potra et al. (70)]
//   q+ = q (+) h ((1-g) v + g v+)         rows at q (+) h/2 v
//
// a = g = 1/2 is the trapezoidal method, a = g = 1 linear implicit Euler, the rest the family of Gavrea, Anitescu & Potra
// (4.4), who evaluate rows at q: that is first order as soon as a joint is curved, so `rows: start` must be asked for. As
// printed, form I has b = 0 on joints too, which is first order for curved ones; and (h/2) dH/dt v, to the order of the
// method N(q (+) h v) - N(q (+) h/2 v) times v, is missing for curved contacts.
//
// Events [Potra et al., sections 7, 8]. A contact is closed when its gap is at most max(closed_gap, closed_gap_rate h^3)
// (72); closed contacts that do not move apart have rows in the step. After the step:
//
//   collision    a gap without a row is negative at the end, or its cubic Hermite interpolant dips below zero inside: the
//                earliest root over all such gaps along the cubic Hermite interpolant of q. State there from it; its velocity is
//                v + y (v+ - v), y = 6 g x (1 - x) + 3 x^2 - 2 x (y = x for g = 1/2): the stage has the fraction y of every
//                impulse. Then the impact, of all contacts closed there.
//   stop         (slip to stick, reversal) the slip speed along its first direction changes sign. Its zero at the END of the
//                sub-step, as a function of the sub-step's length, with the contact still sliding: the step of form II slides
//                on past that point in either form, since it binds the mean. Then the sub-step is solved with u_T = D v+.
//                `slack` takes the zero of the problem's own slack instead, O(h) late in form II, as in the paper.
//   release      (stick to slip, take-off) the margin of the instantaneous contact force vanishes, events/instant_forces
//
// For the disc the mode of a contact plays the part of the basis of the LCP: open, stick, slip with its direction. The
// remainder of the step is the next sub-step, to the next multiple of h. A contact that rebounds ever faster is laid to
// rest when its impacts would end within the shortest sub-step; the estimated end is an event.
//
// Stiff compliant rows: with a = 1/2 what is infinitely stiff flips its sign every step; `damped_restart` takes the first
// two steps, and the remainder after an impact, with a = g = 1, which keeps order two.
#include "schemes/linearly_implicit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "problems/contact_ids.hpp"
#include "schemes/parts/work.hpp"

namespace stickslip {

namespace {

constexpr int max_held = 5;          // rounds in which contacts that fall back at once get their rows
constexpr double stiff_row = 4;      // h^2 s G M^-1 G' or h d G M^-1 G' above which a row flips
constexpr int max_short_steps = 50;  // sub-steps in a row below the shortest before rebounds end

}  // namespace

std::vector<std::string> LinearlyImplicit::advice() const {
    std::vector<std::string> list;
    if (options_.alpha < 0.5)
        list.push_back(
            fmt::format("alpha = {} is below 1/2: the energy of the step is not bounded [Gavrea et al. 2008, "
                        "Theorem 5.1]",
                        options_.alpha));
    if (options_.gamma != options_.alpha)
        list.push_back(
            fmt::format("gamma = {} differs from alpha = {}: convergence is proven for gamma = alpha in [1/2, 1] "
                        "[Gavrea et al. 2008, Theorem 8.4]",
                        options_.gamma, options_.alpha));
    return list;
}

// Rows at x: those of the end of the last step if nothing has moved since.
void LinearlyImplicit::find_start(const System& system, const State& x, double h, Step& s, Scratch& w) const {
    if (w.rows_of == &system && w.rows_t == x.t && w.rows_q == x.q) {
        s.problem.joints = w.joints;  // copied into memory at hand: swapping would warm up twice as many buffers
        s.problem.contacts = w.contacts;
    } else {
        find_rows(system, x.t, x.q, x.v, h, s);
    }
    w.rows_of = nullptr;
}

// Which contacts have rows in the step. Those that part have none, so that their return is found as a collision; except in a
// damped step, where a stiff force may turn them round at once.
void LinearlyImplicit::classify(const State& x, bool damped, Step& s, Scratch& w) const {
    list_gaps(s.problem.nodes(), s.problem.contacts, x.v, s.memory, s.terms.contact_speed, w.start);
    const double closed = closed_gap(s.tolerances);
    for (ContactGap& contact : w.start) {
        const bool kept = contact.known != ContactMode::open && contact.gap <= s.tolerances.kept_gap;
        // What overlaps keeps its row, which lets it part: left alone it would fall back deeper, step by step.
        const bool parts = contact.rate > s.tolerances.approach_speed && contact.gap >= -closed && !damped;
        // What comes fast is hit when it is there. The gap that grows with the step is for what rests, whose steps are wrong by as much.
        const bool arrives = contact.known == ContactMode::open && contact.rate < -s.tolerances.gentle_speed &&
                             contact.gap > options_.closed_gap.in(s.tolerances);
        contact.active = kept || (contact.gap <= closed && !parts && !arrives);
    }
}

// Contacts in s.problem, half a step ahead, that were not listed at the start, are closed and do not approach: what slides from one
// tile to the next has its row there. Left out, it falls freely for the step (by 1e-5 m at 1/240 s).
void LinearlyImplicit::take_over(const State& x, Step& s, Scratch& w) const {
    const ContactRows& contacts = s.problem.contacts;
    const double closed = closed_gap(s.tolerances);
    bool fresh = false;
    for (int i = 0; i < contacts.size() && !fresh; ++i)
        fresh = contacts.gap[i] <= closed && find(w.start, contacts.id[i]) < 0;
    if (!fresh) return;
    list_gaps(s.problem.nodes(), contacts, x.v, s.memory, s.terms.contact_speed, w.end);
    for (ContactGap contact : w.end) {
        if (contact.gap > closed || std::abs(contact.rate) > s.tolerances.approach_speed) continue;
        const auto at = std::lower_bound(w.start.begin(), w.start.end(), contact.id,
                                         [](const ContactGap& g, const ContactId& id) { return g.id < id; });
        if (at != w.start.end() && at->id == contact.id) continue;
        contact.active = true;
        w.start.insert(at, contact);
    }
}

// Drives bind the end velocity: their targets are those of the end, forces and everything else those of the middle.
bool LinearlyImplicit::find_targets(const System& system, const State& x, double h, Step& s, Scratch& w) const {
    const BilateralRows& joints = s.problem.joints;  // of the start, or of the last trial
    const bool driven =
        std::find(joints.kind.begin(), joints.kind.end(), RowKind::velocity) != joints.kind.end() &&
        (std::any_of(joints.target.begin(), joints.target.end(), [](double speed) { return speed != 0; }) ||
         std::any_of(joints.servo.begin(), joints.servo.end(), [](double servo) { return servo > 0; }));
    if (!driven) return false;
    w.q_path = x.q;
    w.dq = h * x.v;
    system.advance(w.q_path, w.dq);
    system.rows(std::nextafter(x.t + h, -infinity), w.q_path, *s.finder, w.joints, w.contacts);
    w.rows_of = nullptr;
    return w.joints.size() == joints.size();
}

void LinearlyImplicit::solve(const System& system, Solver& solver, const State& x, const Trial& trial, Step& s,
                             Scratch& w, StepReport& report) const {
    const double h = trial.h, ahead = options_.rows.index == 1 ? 0.5 : 0.0, mean = (1 - trial.alpha) / trial.alpha;
    const bool end_velocity = options_.end_velocity && mean > 0;
    StepProblem& problem = s.problem;
    const bool targets = find_targets(system, x, h, s, w);
    w.q_rows = x.q;
    w.dq = ahead * h * x.v;
    system.advance(w.q_rows, w.dq);
    find_rows(system, x.t + h / 2, w.q_rows, x.v, h, s);
    // Values at q: what is half a step ahead, taken back along G v, misses h^2/8 of the curvature and with it the order.
    problem.joints.value = w.joint_value;
    if (targets) {
        problem.joints.target = w.joints.target;
        problem.joints.goal = w.joints.goal;
        problem.joints.goal_rate = w.joints.goal_rate;
    }
    if (end_velocity) system.bias(x.t, w.q_rows, x.v, *s.finder, problem.joints, problem.contacts);
    ContactRows& contacts = problem.contacts;
    take_over(x, s, w);
    s.terms.wanted.resize(static_cast<std::size_t>(contacts.size()));
    for (int i = 0; i < contacts.size(); ++i) {
        const int at = find(w.start, contacts.id[i]);
        s.terms.wanted[i] = at >= 0 && w.start[at].active;
    }
    contacts.keep(s.terms.wanted);
    if (!system.constant_mass()) {
        w.q_path = x.q;
        w.dq = (h / 2) * x.v;
        system.advance(w.q_path, w.dq);
        system.mass(w.q_path, s.terms.mass);
    }

    problem.A = s.terms.mass;  // size_to_rows needs its nodes
    problem.size_to_rows();
    fill_dynamics(system, x, h,
                  {.alpha = trial.alpha,
                   .gamma = trial.gamma,
                   .exact_gyroscopic = options_.gyroscopic.index == 1,
                   .slopes = options_.force_jacobian.index != 1,
                   .switched = options_.force_jacobian.index == 2},
                  s);
    // A sub-step takes out its part of the error only: chi phi/h with h -> 0 would throw bodies apart.
    const double chi = options_.stabilisation * std::min(1.0, h / options_.step);
    // To find a stop the friction must go on past it: with the mean even where the scheme has weight 1.
    const bool located = trial.friction == Trial::Friction::mean;
    const bool friction_on_mean = !end_velocity || located;
    const double friction_mean = located ? std::max(mean, 1.0) : friction_on_mean ? mean : 0;
    fill_bilateral(x.v,
                   {.h = h,
                    .alpha = trial.alpha,
                    .gamma = trial.gamma,
                    .mean = mean,
                    .friction_mean = friction_mean,
                    .motor_mean = located ? 1.0 : 0.0,
                    .chi = chi,
                    .position_weight = trial.gamma,
                    .goals_ahead = targets ? 1.0 : 0.5},
                   s);
    w.product.resize(contacts.jacobian.rows());
    contacts.jacobian.product(problem.nodes(), x.v, w.product);
    s.terms.stabilisation.setZero(contacts.size());
    for (int i = 0; i < contacts.size(); ++i) {
        const int first = contacts.jacobian.row[i], last = contacts.jacobian.row[i + 1];
        const ContactGap& start = w.start[find(w.start, contacts.id[i])];
        if (chi > 0) s.terms.stabilisation[i] = chi * start.gap / (trial.gamma * h);
        // What still approaches at the start (a gentle touch) stops: asked of the mean it would flip for ever.
        w.product[first] -= std::min(start.rate, 0.0);
        for (int k = first; k < last; ++k) {
            const bool on_mean = k == first ? !end_velocity : friction_on_mean;
            problem.c[k] =
                on_mean ? (k == first ? mean : friction_mean) * w.product[k] : (1 - ahead) * h * contacts.bias[k];
        }
        problem.c[first] += s.terms.stabilisation[i];
    }
    if (trial.friction == Trial::Friction::stop) {
        for (const Scratch::Stop& stop : w.stops) {
            if (!stop.now) continue;
            if (stop.row >= 0) {
                problem.b[stop.row] = problem.joints.target[stop.row];
                continue;
            }
            const int i = find_contact(contacts.id, stop.id);
            for (int k = contacts.jacobian.row[i] + 1; k < contacts.jacobian.row[i + 1]; ++k) problem.c[k] = 0;
        }
    }
    warm_start(x.v, h, s);
    solve_stage(solver, s, report);
}

// Moves x over that fraction of the step just solved and books it.
void LinearlyImplicit::accept(const System& system, State& x, const Trial& trial, double fraction, Step& s,
                              Scratch& w) const {
    const double h = trial.h, length = fraction * h;
    // The derivative of the path, v + y (v+ - v): a gap that closes then approaches. For g < 1/2 it would turn back; y = x.
    const double y =
        fraction < 1 && trial.gamma > 0.5 ? fraction * (6 * trial.gamma * (1 - fraction) + 3 * fraction - 2) : fraction;
    w.v_end = s.solution.v;
    if (fraction < 1) w.v_end = x.v + y * (s.solution.v - x.v);
    along(trial, fraction, x.v, s.solution.v, s.dq);
    s.v_weighted = (1 - trial.alpha) * x.v + trial.alpha * w.v_end;
    s.t_weighted = x.t + trial.alpha * length;
    s.memory.v_rate = (s.solution.v - x.v) / h;
    system.advance(x.q, s.dq);
    const double t0 = x.t;
    x.t = fraction < 1 ? x.t + length : s.t1;
    x.v = w.v_end;
    Stage stage = solved_stage(s, {t0, s.q0, s.v0}, {x.t, x.q, x.v});
    stage.alpha = trial.alpha;
    stage.gamma = trial.gamma;
    stage.fraction = y;
    stage.impacts_inside = false;
    s.ledger.book(system, stage);
    note_impulses(s, y);
    if (fraction == 1) {
        note_mode_changes(x.t, s, trial.located);
        for (Event& event : s.events)
            if (event.kind == EventKind::stick_to_slip || event.kind == EventKind::take_off)
                event.t = std::min(event.t, w.released_at);
    }
    remember(h, s);
}

// The impact of everything closed at x.
void LinearlyImplicit::collide(const System& system, Solver& solver, State& x, Step& s, Scratch& w,
                               StepReport& report) const {
    ImpactOptions impact{static_cast<ImpactLaw>(options_.impact.index), options_.restitution_threshold.in(s.tolerances),
                         s.tolerances.approach_speed};
    const double shortest = options_.shortest_substep * options_.step, length = x.t - s.t0;
    StepMemory& memory = s.memory;
    w.bounces.short_steps = length < shortest ? w.bounces.short_steps + 1 : 0;
    const bool stall = w.bounces.short_steps > max_short_steps;
    if (stall) {
        impact.restitution_threshold = infinity;
        ++report.unlocated;
    }
    system.mass(x.q, s.terms.mass);
    s.problem.A = s.terms.mass;
    find_rows(system, x.t, x.q, x.v, options_.step, s);
    ContactRows& contacts = s.problem.contacts;
    s.terms.wanted.resize(static_cast<std::size_t>(contacts.size()));
    bool ending = false;  // one of them would rebound for less than the shortest sub-step in all
    for (int i = 0; i < contacts.size(); ++i) {
        const int at = find(w.start, contacts.id[i]);
        s.terms.wanted[i] = contacts.gap[i] <= closed_gap(s.tolerances) || (at >= 0 && w.start[at].active);
        if (s.terms.wanted[i]) ending = ending || bounces_left(contacts.id[i], x.t, w.bounces) < shortest;
    }
    if (ending) impact.restitution_threshold = infinity;
    contacts.keep(s.terms.wanted);
    const std::size_t first_event = s.events.size();
    resolve_impact(system, solver, impact, x, s, w.impact, report);

    note_bounces(first_event, s.tolerances.approach_speed, x, s, w.bounces);
    memory.v_rate.setZero();
    remember(options_.step, s);
    memory.h = 0;  // impulses of an impact are no guess for the next step, its modes are
    w.damped_steps = std::max(w.damped_steps, 1);
}

bool LinearlyImplicit::stiff(const System& system, double h, const Step& s) const {
    const BilateralRows& joints = s.problem.joints;
    const Nodes& nodes = system.nodes();
    for (int g = 0; g < joints.jacobian.groups(); ++g) {
        for (int k = 0; k < joints.jacobian.dim(g); ++k) {
            const int i = joints.jacobian.row[g] + k;
            if (joints.kind[i] != RowKind::compliant) continue;
            double W = 0;  // G M^-1 G', from the diagonal of M: right to a factor of a few
            for (const BlockRows::Block& block : joints.jacobian.blocks_of(g)) {
                const auto G = joints.jacobian.values_of(g, block, nodes);
                for (int c = 0; c < nodes.dof(block.node); ++c)
                    W += G(k, c) * G(k, c) / s.terms.mass.block(block.node)(c, c);
            }
            if (h * h * joints.stiffness[i] * W > stiff_row || h * joints.damping[i] * W > stiff_row) return true;
        }
    }
    return false;
}

StepReport LinearlyImplicit::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    auto& w = work_of<Scratch>(s);
    w.released_at = infinity;
    w.stops.clear();
    w.releases.clear();
    const double h = length_to_grid(x.t, options_.step, t_limit);
    StepReport report;
    Stopwatch watch(s.timers);
    begin_step(x, s);

    // The contacts at the start. Closed ones that are new and approach collide at once.
    system.mass(x.q, s.terms.mass);
    s.problem.A = s.terms.mass;
    find_start(system, x, h, s, w);
    note_violations(x.v, s);
    w.joint_value = s.problem.joints.value;
    const int wanted = options_.damped_restart.index;
    // Impacts without end, as of a body pressed down that rocks from corner to corner: with weights 1 and a row for what parts it comes to rest.
    const bool stalled = w.bounces.short_steps > max_short_steps;
    const bool damped =
        (w.damped_steps > 0 && (wanted == 1 || (wanted == 0 && stiff(system, h, s)))) || stalled || servo_jumps(x.v, s);
    classify(x, damped, s, w);
    watch.lap(StepTimers::find);
    bool collision = std::any_of(w.start.begin(), w.start.end(), [&](const ContactGap& g) {
        return g.active && g.known == ContactMode::open && g.rate < -s.tolerances.approach_speed;
    });

    Trial trial{.h = h, .alpha = options_.alpha, .gamma = options_.gamma};
    if (!collision) {
        if (damped) trial.alpha = trial.gamma = 1;
        solve(system, solver, x, trial, s, w, report);
        watch.lap(StepTimers::solve);

        s.q1 = x.q;
        along(trial, 1, x.v, s.solution.v, w.dq);
        system.advance(s.q1, w.dq);
        s.t1 = end_on_grid(x.t, trial.h, options_.step, t_limit);
        double fraction = first_collision(system, x, trial, s, w);
        for (int again = 0; fraction == held && again < max_held; ++again) {  // with a row for what falls back at once
            solve(system, solver, x, trial, s, w, report);
            s.q1 = x.q;
            along(trial, 1, x.v, s.solution.v, w.dq);
            system.advance(s.q1, w.dq);
            fraction = first_collision(system, x, trial, s, w);
        }
        collision = fraction >= 0 && fraction <= 1;
        const bool watched = !collision || s.problem.contacts.size() <= max_watched;
        if (options_.location.index != 2 && report.status == Status::ok && watched) {
            if (w.bounces.short_steps > max_short_steps) {
                ++report.unlocated;
            } else {
                const double until = first_transition(system, solver, x, trial, s, w, report);
                const bool changes = !w.stops.empty() || !w.releases.empty();
                if (until < trial.h && (!collision || until < fraction * trial.h)) {
                    collision = false;
                    trial.h = until;
                    trial.located = true;
                } else if (collision &&
                           changes) {  // a part of a step that changes modes is not the same as a shorter step
                    trial.h *= fraction;
                    fraction = 1;
                    solve(system, solver, x, trial, s, w, report);
                }
            }
        }
        if (!collision) fraction = 1;
        watch.lap(StepTimers::find);
        s.t1 = end_on_grid(x.t, trial.h, options_.step, t_limit);
        if (fraction > 0) accept(system, x, trial, fraction, s, w);
        if (w.damped_steps > 0 && fraction == 1) --w.damped_steps;
        watch.lap(StepTimers::book);
    } else {
        s.dq.setZero();
        s.v_weighted = x.v;
        s.t_weighted = x.t;
    }
    if (collision)
        collide(system, solver, x, s, w, report);
    else
        w.bounces.short_steps = 0;
    project(system, solver, options_.projection, x, s);
    hold_limits(system, solver, x, s);
    watch.lap(StepTimers::solve);
    report.h = x.t - s.t0;
    s.t1 = x.t;
    s.q1 = x.q;
    s.v1 = x.v;
    report.t = x.t;
    return report;
}

}  // namespace stickslip
