// Event-driven integration [Haddouni, ch. 2, Fig. 2.1]. One step:
//
//   modes      known from the last step, or decided (decide.cpp) at the start of the run and after edits
//   trial      the method over h; tried shorter while its error is above tol, or where a closed contact is not there any more
//   watch      the first function that vanishes on the way (watch.hpp)
//   locate     the step again, to just there; then its length is corrected by secants until the function is zero at the end of
//              the step itself, to rounding: events cost no order, whatever the order of the path
//   accept     ledger, records, drift; every step leaves the contact problem at its end, solved, as its certificate
//   event      impact and new modes (decide.cpp); the next step begins there
//
// Forces of contacts that are redundant (four corners of a box) are not unique, and the signs of those of least norm say nothing.
// There the instant problem is asked: as long as it finds the same accelerations with some admissible forces, nothing has happened.
//
// Left out: methods of order above two across the discontinuity of a polygonal cone, whose friction jumps as the slip turns.
#include "schemes/event_driven/event_driven.hpp"

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "diagnose/redundancy.hpp"
#include "problems/cones.hpp"
#include "schemes/parts/work.hpp"

namespace stickslip {

namespace {

constexpr int most_attempts = 60;                        // trials of one step
constexpr int most_corrections = 8;                      // of the time of an event
constexpr int most_cuts = 4;                             // of a step at whose end the modes do not hold, by four each
constexpr double friction_rounding = 1e-12;              // share of the energies at hand
constexpr double no_slip = 1e-9;                         // [m/s] slower slip has no direction
constexpr double sample_steps = 25;                      // `step`s between two looks at what may happen on the way
constexpr int most_decisions = 4;                        // of modes without time passing
constexpr double largest_growth = 5, largest_cut = 0.2;  // of the step size from one to the next
constexpr double first_growth = 1e3;                     // and from the first
constexpr double admissible = 1e-10;                     // [m/s] residual of forces that need no solver
constexpr double same_acceleration = 1e-6;               // share of it by which two solutions may differ and be one

}  // namespace

StepReport EventDriven::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    Outcome outcome;
    return step(system, solver, x, t_limit, s, work_of<Work>(s), outcome);
}

double EventDriven::next_length(double h, double error, const EventDrivenMemory& memory) const {
    const double p = method_->error_order(), ratio = error / options_.tol;
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

bool EventDriven::take(const System& system, const State& x, double h, Step& s, Work& w, bool again) const {
    SmoothStep& smooth = w.smooth;
    smooth.h = h;
    const double end = x.t + h, next = system.next_discontinuity(x.t);
    smooth.switch_after = next <= end;
    if (!again || w.motion.trouble() != Motion::Trouble::none) w.motion.begin(system, w.modes, x, s);
    smooth.remembered = w.memory.acceleration;
    smooth.remembered_step = w.memory.afresh ? 0 : s.memory.h;
    return method_->take(w.motion, smooth);
}

// The error of the step just taken: the method's own, or by two half steps [Haddouni (2.115)-(2.120)].
double EventDriven::estimate(const State& x, Step& s, Work& w, StepReport& report) const {
    SmoothStep& full = w.smooth;
    if (method_->has_estimate()) return full.error;
    SmoothStep& half = w.half;
    half.t = x.t;
    half.h = full.h / 2;
    half.q0 = x.q;
    half.v0 = x.v;
    half.start_known = false;
    half.switch_before = full.switch_before;
    half.switch_after = false;
    half.baumgarte = full.baumgarte;
    half.error_of = full.error_of;
    half.own_path = false;
    half.remembered = w.memory.acceleration;
    half.remembered_step = w.memory.afresh ? 0 : s.memory.h;
    if (!method_->take(w.motion, half)) return std::nan("");
    report.solves += half.solves;
    half.t = x.t + half.h;
    half.q0 = half.q1;
    half.v0 = half.v1;
    half.start_known = false;
    half.switch_before = false;
    half.switch_after = full.switch_after;
    if (!method_->take(w.motion, half)) return std::nan("");
    report.solves += half.solves;
    w.q_there = full.q1 - half.q1;
    w.v_reach = full.v1 - half.v1;
    return full.norm(w.q_there, w.v_reach) / (std::pow(2.0, method_->order()) - 1);
}

// Whether the contact problem at a share of the step has the accelerations of the motion there.
bool EventDriven::instant_agrees(const System& system, Solver& solver, double share, Step& s, Work& w,
                                 StepReport& report) const {
    on_path(system, w.smooth, share, w.dq, w.there);
    if (!w.motion.evaluate(w.there.t, w.there.q, w.there.v, w.point)) return false;
    w.a_there = w.point.a;
    w.candidates.clear();
    for (std::size_t i = 0; i < w.modes.contact.size(); ++i) {
        const bool slides = w.modes.mode[i] == ContactMode::slip && w.modes.slip[i].norm() > 0;
        Vec2 slip = w.modes.slip[i];
        if (slides) slip = w.motion.slip_direction(static_cast<int>(i), w.point);
        w.candidates.push_back({w.modes.contact[i], slides, slip});
    }
    w.instant.fill(system, w.there.t, w.there.q, w.there.v, w.candidates, w.modes.bound, s);
    w.instant.enter(w.motion, w.point, s);
    s.guess = s.solution;
    StepReport aside;
    solve_stage(solver, s, aside);
    report.solves += aside.solves;
    if (aside.status != Status::ok) return false;
    w.a_there -= (s.solution.v - w.there.v) / instant_span;
    return w.a_there.cwiseAbs().maxCoeff() <= same_acceleration * (1 + w.point.a.cwiseAbs().maxCoeff());
}

// The step again, up to the zero of the function found at a share of it.
void EventDriven::locate(const System& system, const State& x, double share, Step& s, Work& w,
                         StepReport& report) const {
    const Watch::Function f = w.watch.which();
    const double longest = w.smooth.h;
    const auto value = [&] { return Watch::value(system, w.motion, w.smooth.end, f); };
    double h = share * longest, h_before = longest, value_before = value(), best_h = h, best = infinity;
    for (int round = 0; round < most_corrections; ++round) {
        if (!take(system, x, h, s, w, true)) break;
        report.solves += w.smooth.solves;
        const double now = value();
        if (std::abs(now) < best) {
            best = std::abs(now);
            best_h = h;
        } else if (round > 1) {
            break;  // no more digits in it
        }
        if (now == 0) break;
        double slope = (now - value_before) / (h - h_before);
        if (f.kind == Watch::Kind::gap) {
            list_gaps(system.nodes(), w.smooth.end.contacts, w.smooth.v1, s.memory, w.product, w.open);
            const int at = find(w.open, f.id);
            if (at >= 0 && w.open[at].rate != 0) slope = w.open[at].rate;
        }
        h_before = h;
        value_before = now;
        const double change = -now / slope;
        if (!std::isfinite(change) || std::abs(change) > 0.2 * h) break;
        if (std::abs(change) <= 1e-16 * (std::abs(x.t) + h)) break;
        h = std::min(h + change, longest);
    }
    if (w.smooth.h != best_h) {
        take(system, x, best_h, s, w, true);
        report.solves += w.smooth.solves;
    }
}

void EventDriven::read_hints(const System& system, Work& w, Outcome& outcome) const {
    w.hints.clear();
    const MotionPoint& end = w.smooth.end;
    if (w.watch.which().kind == Watch::Kind::gap) {
        w.triggers.clear();
    } else {
        w.watch.together(system, w.motion, end, w.triggers);
    }
    for (const Watch::Function& f : w.triggers) {
        const auto k = static_cast<std::size_t>(f.index);
        switch (f.kind) {
            case Watch::Kind::take_off: w.hints.released.push_back(f.id); break;
            case Watch::Kind::stop: w.hints.stopped.push_back(f.id); break;
            case Watch::Kind::release: {
                const Vec3 force = w.motion.contact_force(f.index, end);
                const Vec2 against = force.tail<2>();
                if (against.norm() > 0) w.hints.sliding.push_back({f.id, true, Vec2(-against.normalized())});
                break;
            }
            case Watch::Kind::row_release: {
                int row = 0;
                for (const Motion::Source& source : w.motion.sources()) {
                    if (source.contact < 0 && end.joints.jacobian.row[source.joint_group] + source.first == f.index) {
                        const double up = end.joints.force_upper[k] - end.y[row];
                        const double down = end.y[row] - end.joints.force_lower[k];
                        w.hints.giving.push_back({f.index, static_cast<signed char>(up < down ? 1 : -1)});
                    }
                    row += source.dim;
                }
                break;
            }
            case Watch::Kind::edge: {
                outcome.edge = true;
                signed char& side = w.memory.side[k];
                side = static_cast<signed char>(-side);
                break;
            }
            default: break;
        }
    }
}

// The certificate of the step just taken: the contact problem at its end in s.problem, with the forces of the motion as its
// solution. False: that problem has other accelerations than the motion, so the modes no longer hold there.
bool EventDriven::certify(const System& system, Solver& solver, Step& s, Work& w, StepReport& report) const {
    const Motion& motion = w.motion;
    const MotionPoint& end = w.smooth.end;
    w.candidates.clear();
    for (std::size_t i = 0; i < w.modes.contact.size(); ++i) {
        const bool slides = w.modes.mode[i] == ContactMode::slip && w.modes.slip[i].norm() > 0;
        Vec2 slip = w.modes.slip[i];
        if (slides) slip = motion.slip_direction(static_cast<int>(i), end);
        w.candidates.push_back({w.modes.contact[i], slides, slip});
    }
    w.instant.fill(system, end.t, end.q, end.v, w.candidates, w.modes.bound, s);
    s.redundancy->switch_off(s.problem);
    w.instant.enter(motion, end, s);
    s.guess = s.solution;
    SolveReport direct;
    direct.solver = "direct";
    direct.residual = residual(s.problem, s.solution, w.residual);
    bool holds = true;
    // Where rows are redundant the forces of least norm need not be admissible; others with the same effect are.
    if (!(direct.residual.max() <= admissible)) {
        StepReport aside;
        solve_stage(solver, s, aside);
        report.solves += aside.solves;
        direct = aside.solve;
        w.a_there = end.a - (s.solution.v - end.v) / instant_span;
        holds = w.a_there.cwiseAbs().maxCoeff() <= same_acceleration * (1 + end.a.cwiseAbs().maxCoeff());
        if (aside.status != Status::ok) {
            report.status = aside.status;
            report.reason = aside.reason;
        }
    }
    // Friction that does work is none: the normal force of a sliding contact has changed its sign on the way.
    const EnergyFlows flows = w.smooth.sum.flows(system, w.smooth.q0, w.smooth.v0, w.smooth.q1, w.smooth.v1);
    holds = holds && flows.friction_loss >= -friction_rounding * s.ledger.scale();
    if (report.solve.solver[0] == 0 || !(direct.residual.max() <= report.solve.residual.max())) report.solve = direct;
    return holds;
}

void EventDriven::accept(const System& system, State& x, double t_end, Step& s, Work& w) const {
    SmoothStep& smooth = w.smooth;
    const Motion& motion = w.motion;
    const MotionPoint& end = smooth.end;
    x.t = t_end;
    x.q = smooth.q1;
    x.v = smooth.v1;
    s.ledger.book(system, x, smooth.sum.flows(system, smooth.q0, smooth.v0, smooth.q1, smooth.v1));
    s.dq = smooth.u;
    s.path_degree = smooth.degree;
    s.path_q = smooth.path_q;
    s.path_v = smooth.path_v;
    s.t1 = x.t;
    s.q1 = x.q;

    // Records.
    for (std::size_t i = 0; i < w.modes.contact.size(); ++i) {
        const int c = motion.contact_in(static_cast<int>(i), end);
        const auto k = static_cast<std::size_t>(c);
        s.contacts.push_back({.id = w.modes.contact[i],
                              .mode = w.modes.mode[i],
                              .gap = end.contacts.gap[k],
                              .position = end.contacts.position[k],
                              .normal = end.contacts.normal[k],
                              .tangent = end.contacts.tangent[k],
                              .impulse = smooth.sum.contact_impulse[i],
                              .force = motion.contact_force(static_cast<int>(i), end)});
    }
    motion.joint_forces(end, s.multipliers);
    s.reactions = smooth.sum.joint_impulse;

    s.redundancy->smallest(s.problem, s.reactions);
    s.finder->commit_frames();

    // Memory.
    StepMemory& memory = s.memory;
    for (std::size_t i = 0; i < w.modes.contact.size(); ++i) {
        const int c = motion.contact_in(static_cast<int>(i), end);
        if (w.modes.mode[i] != ContactMode::slip || end.contacts.jacobian.dim(c) < 3) continue;
        const Vec2 u = motion.slip_velocity(static_cast<int>(i), end);
        if (u.norm() > no_slip) w.memory.slip[i] = u.normalized();
    }
    memory.v_rate = (x.v - smooth.v0) / smooth.h;
    memory.h = smooth.h;
    memory.impulse = smooth.sum.contact_impulse;
    memory.joint.assign(s.problem.joints.id.begin(), s.problem.joints.id.end());
    memory.joint_row.assign(s.problem.joints.jacobian.row.begin(), s.problem.joints.jacobian.row.end());
    memory.lambda = smooth.sum.joint_impulse;
    w.memory.acceleration = method_->remembers() ? smooth.remembered : smooth.end.a;
    w.memory.afresh = false;

    // The end is the start of the next step, if nothing moves it.
    w.start_held = w.modes.contact.empty() && !s.redundancy->any();
    if (w.start_held) {
        smooth.start = smooth.end;
        smooth.a0 = smooth.start.a;
    }
    w.system = &system;
}

StepReport EventDriven::step(const System& system, Solver& solver, State& x, double t_limit, Step& s, Work& w,
                             Outcome& outcome) const {
    SmoothStep& smooth = w.smooth;
    StepMemory& memory = s.memory;
    StepReport report;
    Stopwatch watch(s.timers);
    begin_step(x, s);
    if (!(s.problem.A.nodes == system.nodes())) s.problem.A.shape_diagonal(system.nodes());
    outcome = {};
    w.hints.clear();
    set_sides(system, x, s, w.memory);
    w.modes.contact = memory.contact;
    w.modes.mode = memory.mode;
    w.modes.slip = w.memory.slip;
    w.modes.bound = w.memory.bound;
    const auto fail = [&](Status status, const char* reason) {
        report.status = status;
        report.reason = reason;
        report.t = x.t;
        w.start_held = false;
        return report;
    };
    const auto end_here = [&] {
        s.t1 = x.t;
        s.q1 = x.q;
        s.v1 = x.v;
        s.v_weighted = x.v;
        s.t_weighted = x.t;
        report.t = x.t;
        report.h = x.t - s.t0;
        return report;
    };

    // The modes, where they are not known; at the start of a run the state is first brought onto the joints.
    if (undecided(w.memory, system.nv())) {
        w.start_held = false;
        if (w.memory.slip.size() != memory.contact.size()) {
            w.modes.contact.clear();
            w.modes.mode.clear();
            w.modes.slip.clear();
        }
        find_rows(system, x.t, x.q, x.v, 0, s);
        w.keep_modes();
        Modes& rigid = w.rigid;
        rigid.bound.assign(static_cast<std::size_t>(s.problem.joints.size()), 0);
        for (int i = 0; i < s.problem.joints.size(); ++i)
            if (gives_way(s.problem.joints, i)) rigid.bound[i] = 1;
        rigid.contact = w.modes.contact;  // closed in the last step of another scheme: at rest on their normals
        rigid.mode.assign(rigid.contact.size(), ContactMode::slip);
        // What stuck in time-stepping has a slip of the order of its step, which would be a transition of its own.
        if (w.memory.taken_over == x.t) rigid.mode = w.modes.mode;
        rigid.slip.assign(rigid.contact.size(), Vec2::Zero());
        w.motion.begin(system, rigid, x, s);
        const Energies before = s.ledger.now();
        if (!project(system, x, s, w, 1e-9, 1e-9))
            return fail(Status::infeasible,
                        "the state at the start is not on the joints and could not be brought there");
        const bool moved = s.ledger.now().kinetic != before.kinetic || s.ledger.now().potential != before.potential;
        if (moved && memory.h == 0)
            report.remark = "the state at the start was not on the joints: it was projected onto them";
        if (!decide(system, solver, x, s, w, report, outcome)) return end_here();
        if (outcome.impact) return end_here();
        outcome = {};
    }

    // Contacts within reach, and how they stand.
    const bool adaptive = options_.tol > 0;
    // What rests has no error that would keep steps short: where something is to be watched they have another limit.
    find_rows(system, x.t, x.q, x.v, 0, s);
    bool watched = s.problem.contacts.size() > 0 || system.edges() > 0;
    for (int i = 0; i < s.problem.joints.size(); ++i) watched = watched || gives_way(s.problem.joints, i);
    const double longest = options_.longest_step > 0 ? options_.longest_step
                           : watched                 ? 40 * sample_steps * options_.step
                                                     : infinity;
    const double wanted = std::min(w.memory.next_step > 0 ? w.memory.next_step : options_.step, longest);
    double h = adaptive ? std::min(wanted, t_limit - x.t) : length_to_grid(x.t, options_.step, t_limit);
    if (adaptive && x.t + 1.001 * h >= t_limit) h = t_limit - x.t;
    w.v_reach = x.v.cwiseAbs() + h * w.memory.acceleration.cwiseAbs();
    find_rows(system, x.t, x.q, w.v_reach, h, s);
    note_violations(x.v, s);
    const auto list_open = [&](bool found) {
        if (!found) system.rows(x.t, x.q, *s.finder, s.problem.joints, s.problem.contacts);
        list_gaps(system.nodes(), s.problem.contacts, x.v, memory, w.product, w.open);
        std::erase_if(w.open, [&](const ContactGap& gap) { return w.modes.find(gap.id) >= 0; });
        const ContactRows& contacts = s.problem.contacts;
        w.modes.slip_speed.assign(w.modes.contact.size(), 0.0);
        for (int c = 0; c < contacts.size(); ++c) {
            const int i = w.modes.find(contacts.id[c]), row = contacts.jacobian.row[c];
            if (i >= 0 && contacts.jacobian.dim(c) == 3)
                w.modes.slip_speed[i] = std::hypot(w.product[row + 1], w.product[row + 2]);
        }
    };
    list_open(true);
    watch.lap(StepTimers::find);

    smooth.t = x.t;
    smooth.q0 = x.q;
    smooth.v0 = x.v;
    smooth.start_known =
        w.start_held && w.system == &system && smooth.start.t == x.t && smooth.start.q == x.q && smooth.start.v == x.v;
    smooth.switch_before = system.next_discontinuity(std::nextafter(x.t, -infinity)) <= x.t;
    if (smooth.switch_before) smooth.start_known = false;
    smooth.baumgarte = options_.drift.index == 1 ? 1 / options_.baumgarte_time : 0;
    smooth.error_of = options_.error.index == 1 ? ErrorOf::both : ErrorOf::positions;
    smooth.own_path = options_.dense.index == 1;

    double share = Watch::no_event, error = 0;
    bool holds = true;
    int cuts = 0;
    for (int decision = 0;; ++decision) {
        // A step that the method can take, and whose error is allowed.
        for (int attempt = 0;; ++attempt) {
            const bool taken = take(system, x, h, s, w, attempt > 0);
            report.solves += smooth.solves;
            if (taken) error = adaptive ? estimate(x, s, w, report) : 0;
            const bool finite = taken && std::isfinite(error) && smooth.v1.allFinite() && smooth.q1.allFinite();
            if (finite && (!adaptive || error <= options_.tol)) break;
            if (!adaptive && taken && !finite) return fail(Status::diverged, "forces or accelerations are not finite");
            ++report.rejected;
            h = finite ? std::min(next_length(h, error, w.memory), 0.9 * h) : 0.25 * h;
            if (h >= options_.smallest_step && attempt < most_attempts) continue;
            if (taken && !finite) return fail(Status::diverged, "forces or accelerations are not finite");
            if (taken)
                return fail(
                    Status::stalled,
                    "the tolerance asks for steps below smallest_step: too small for the arithmetic, or the motion "
                    "is stiff or singular here (generalized-alpha is for stiff motion)");
            if (w.motion.trouble() == Motion::Trouble::contact_lost) {  // it has left its face: open
                w.keep_modes();
                w.hints.released.push_back(w.motion.lost());
                w.hints.lost = true;
                if (!decide(system, solver, x, s, w, report, outcome)) return end_here();
                return end_here();
            }
            return fail(Status::diverged,
                        "the equations of motion are singular: the mass matrix is, or forces are not finite");
        }
        watch.lap(StepTimers::solve);

        // The first event on the way.
        const int samples = std::clamp(static_cast<int>(std::ceil(h / (sample_steps * options_.step))), 4, 40);
        w.watch.plan(system, w.motion, smooth.end);
        share = w.watch.first(system, w.motion, smooth, w.open, samples, *s.finder);
        for (int round = 0; round < 4 && share <= 1 && w.watch.doubtful(); ++round) {
            const double sample = std::min(1.0, std::ceil(samples * share + 1e-9) / samples);
            if (!instant_agrees(system, solver, sample, s, w, report)) break;
            w.watch.trust(sample);
            share = w.watch.first(system, w.motion, smooth, w.open, samples, *s.finder);
        }
        watch.lap(StepTimers::find);
        if (share > 1) {
            holds = certify(system, solver, s, w, report);
            watch.lap(StepTimers::solve);
            if (holds || cuts == most_cuts || report.status != Status::ok) break;
            ++cuts;  // something happened that was not seen: look closer
            ++report.rejected;
            h *= 0.25;
            continue;
        }
        if (share > 0 || decision >= most_decisions) break;
        if (w.watch.which().kind == Watch::Kind::edge) {  // the last step ended on it
            outcome.edge = true;
            signed char& side = w.memory.side[w.watch.which().index];
            side = static_cast<signed char>(-side);
            set_sides(system, x, s, w.memory);
            w.keep_modes();
            decide(system, solver, x, s, w, report, outcome);
            return end_here();
        }

        // The modes do not even begin to hold: decide them a little later, and begin again.
        on_path(system, smooth, 0.01, w.dq, w.there);
        w.keep_modes();
        if (!decide_modes(system, solver, w.there, s, w, report)) {
            outcome.stuck = true;
            return end_here();
        }
        note_changes(x, s, w, outcome);
        memory.contact = w.modes.contact;
        memory.mode = w.modes.mode;
        w.memory.slip = w.modes.slip;
        w.memory.bound = w.modes.bound;
        memory.impulse.assign(memory.contact.size(), Vec3::Zero());
        w.memory.afresh = true;
        smooth.start_known = false;
        list_open(false);
    }
    if (share <= 0) {
        share = Watch::no_event;
        certify(system, solver, s, w, report);
        holds = false;
    }
    const double proposed = adaptive ? next_length(h, error, w.memory) : 0;
    const bool event = share <= 1;
    if (event) {
        locate(system, x, share, s, w, report);
        holds = certify(system, solver, s, w, report);
    }
    if (!holds) {
        ++report.unlocated;
        outcome.stuck = true;
    }
    const double length = smooth.h;
    double t_end = x.t + length;
    if (!event && adaptive && h >= t_limit - x.t) t_end = t_limit;
    if (!adaptive) t_end = end_on_grid(x.t, length, options_.step, t_limit);
    if (event) read_hints(system, w, outcome);
    if (report.status != Status::ok) return end_here();
    accept(system, x, t_end, s, w);
    if (adaptive) {
        // A step cut short by the end or by a switch says nothing against the next one.
        w.memory.next_step = h < wanted && report.rejected == 0 ? std::max(proposed, wanted) : proposed;
        w.memory.last_error = error / options_.tol;
    }
    if (options_.drift.index == 2 && !project(system, x, s, w, options_.drift_limit, options_.drift_limit))
        report.remark = "joints could not be brought back all the way by projection";
    watch.lap(StepTimers::book);

    if (event || !holds) {
        w.keep_modes();
        set_sides(system, x, s, w.memory);
        if (!decide(system, solver, x, s, w, report, outcome)) return end_here();
        // What sticks from now on has no slip left, not even what the location of the event could not resolve.
        w.motion.begin(system, w.modes, x, s);
        if (!project(system, x, s, w, 1e-9, 1e-11)) report.remark = "a contact that stops slides on a little";
        watch.lap(StepTimers::solve);
    }
    return end_here();
}

}  // namespace stickslip
