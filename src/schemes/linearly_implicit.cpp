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
//                earliest root over all such gaps along q(x) = q (+) h (x v_g + (x^2 - x) (v+ - v)/2), which is the cubic Hermite
//                interpolant of q when g = 1/2. State there from the interpolant, whose velocity is v + x (v+ - v): the stage
//                has the share x of every impulse. Then the impact, of all contacts closed there.
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
#include "math/roots.hpp"

namespace stickslip {

namespace {

constexpr double approach_tolerance = 1e-8;  // [m/s] contacts approaching or parting slower than this rest
constexpr double standing = 1e-9;            // [m/s] slip slower than this is none
constexpr double kept_gap = 1e-3;            // [m] a contact that pressed in the last step stays closed up to here
constexpr double stiff_row = 4;              // h^2 s G M^-1 G' or h d G M^-1 G' above which a row flips
constexpr double touching = 1e-6;            // share of its first value at which a root function counts as zero
constexpr int transition_bits = 30;          // of a sub-step; solved steps are no smoother than that
constexpr int most_short_steps = 50;         // sub-steps in a row below the shortest before rebounds end
constexpr double same_ratio = 0.3;           // intervals of impacts shrink alike when their ratios differ by less
constexpr double no_event = 2;               // a share of the step that is none

// To the next multiple of h, so that sub-steps after an event end where the step would have ended.
double length_to_grid(double t, double h, double t_limit) {
    const double n = std::floor(t / h + 1e-9) + 1;
    return step_length(t, n * h - t > 1e-9 * h ? n * h - t : h, t_limit);
}

double end_on_grid(double t, double length, double h, double t_limit) {
    if (std::abs(t + length - t_limit) <= 1e-9 * h) return t_limit;
    const double n = std::round((t + length) / h);
    return std::abs(t + length - n * h) <= 1e-9 * h ? n * h : t + length;
}

}  // namespace

struct LinearlyImplicit::Trial {
    enum class Friction { as_form, mean, stop };
    double h = 0;
    double alpha = 0.5, gamma = 0.5;
    Friction friction = Friction::as_form;
};

// Scratch of one call, kept for its capacity.
struct LinearlyImplicit::Scratch {
    struct Stop {
        ContactId id;  // or a bilateral row
        int row = -1;
        Vec2 direction;  // of the slip at the start
        double speed;    // [m/s] there
        bool now = false;
    };
    struct Release {
        std::size_t place = 0;  // in `closed`, or a bilateral row
        int row = -1;
        bool take_off = false;
        double margin = 0;  // [N] at the start
        bool now = false;
    };
    ContactGaps start, end;
    JointRows joints;
    ContactRows contacts;
    RowVec product;
    VecX q_rows, q_path, dq, v_end, v_path, acceleration;
    std::vector<Stop> stops;
    std::vector<Release> releases;
    std::vector<ContactId> closed;
    std::vector<ContactMode> closed_modes;
    InstantForces instant;
};

void LinearlyImplicit::prepare(const System& system, const State& state, Step& step) const {
    Scheme::prepare(system, state, step);
    step.memory.damped_steps = 2;
}

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

// Which contacts have rows in the step. Those that part have none, so that their return is found as a collision; except in a
// damped step, where a stiff force may turn them round at once.
void LinearlyImplicit::classify(const State& x, bool damped, Step& s, Scratch& w) const {
    list_gaps(s.problem.nodes(), s.problem.contacts, x.v, s.memory, s.row_work, w.start);
    for (ContactGap& contact : w.start) {
        const bool kept = contact.known != ContactMode::open && contact.gap <= kept_gap;
        const bool parts = contact.rate > approach_tolerance && !damped;
        contact.active = kept || (contact.gap <= closed_gap() && !parts);
    }
}

void LinearlyImplicit::solve(const System& system, Solver& solver, const State& x, const Trial& trial, Step& s,
                             Scratch& w, StepReport& report) const {
    const double h = trial.h, ahead = options_.rows.index == 1 ? 0.5 : 0.0, mean = (1 - trial.alpha) / trial.alpha;
    const bool end_velocity = options_.end_velocity && mean > 0;
    StepProblem& problem = s.problem;
    w.q_rows = x.q;
    w.dq = ahead * h * x.v;
    system.advance(w.q_rows, w.dq);
    find_rows(system, std::nextafter(x.t + h, -infinity), w.q_rows, x.v, h, s);
    if (end_velocity) system.curvature(x.t, w.q_rows, x.v, *s.finder, problem.joints, problem.contacts);
    ContactRows& contacts = problem.contacts;
    s.wanted.resize(static_cast<std::size_t>(contacts.size()));
    for (int i = 0; i < contacts.size(); ++i) {
        const int at = find(w.start, contacts.id[i]);
        s.wanted[i] = at >= 0 && w.start[static_cast<std::size_t>(at)].active;
    }
    contacts.keep(s.wanted);
    if (!system.constant_mass()) {
        w.q_path = x.q;
        w.dq = (h / 2) * x.v;
        system.advance(w.q_path, w.dq);
        system.mass(w.q_path, s.mass);
    }

    problem.A = s.mass;  // size_to_rows needs its nodes
    problem.size_to_rows();
    fill_dynamics(system, x, h,
                  {.alpha = trial.alpha,
                   .gamma = trial.gamma,
                   .exact_gyroscopic = options_.gyroscopic.index == 1,
                   .slopes = options_.force_jacobian.index == 0},
                  s);
    // A sub-step takes out its share of the error only: chi phi/h with h -> 0 would throw bodies apart.
    const double chi = options_.stabilisation * std::min(1.0, h / options_.step);
    const bool friction_on_mean = !end_velocity || trial.friction == Trial::Friction::mean;
    fill_bilateral(x.v,
                   {.h = h,
                    .alpha = trial.alpha,
                    .gamma = trial.gamma,
                    .mean = mean,
                    .friction_mean = friction_on_mean ? mean : 0,
                    .chi = chi,
                    .position_weight = trial.gamma,
                    .ahead = ahead},
                   s);
    w.product.resize(contacts.jacobian.rows());
    contacts.jacobian.product(problem.nodes(), x.v, w.product);
    s.stabilisation.setZero(contacts.size());
    for (int i = 0; i < contacts.size(); ++i) {
        const int first = contacts.jacobian.row[i], last = contacts.jacobian.row[i + 1];
        if (chi > 0)
            s.stabilisation[i] =
                chi * w.start[static_cast<std::size_t>(find(w.start, contacts.id[i]))].gap / (trial.gamma * h);
        for (int k = first; k < last; ++k) {
            const bool on_mean = k == first ? !end_velocity : friction_on_mean;
            problem.c[k] =
                on_mean ? mean * w.product[k] : (1 - ahead) * h * contacts.curvature[static_cast<std::size_t>(k)];
        }
        problem.c[first] += s.stabilisation[i];
    }
    if (trial.friction == Trial::Friction::stop) {
        for (const Scratch::Stop& stop : w.stops) {
            if (!stop.now) continue;
            if (stop.row >= 0) {
                problem.b[stop.row] = problem.joints.target[static_cast<std::size_t>(stop.row)];
                continue;
            }
            const auto place = std::lower_bound(contacts.id.begin(), contacts.id.end(), stop.id);
            const int i = static_cast<int>(place - contacts.id.begin());
            for (int k = contacts.jacobian.row[i] + 1; k < contacts.jacobian.row[i + 1]; ++k) problem.c[k] = 0;
        }
    }
    warm_start(x.v, h, s);
    solve_stage(solver, s, report);
}

// The share of the step at which the first gap closes, or no_event. s.q1, s.solution.v: the end of the step.
double LinearlyImplicit::first_collision(const System& system, const State& x, const Trial& trial, Step& s,
                                         Scratch& w) const {
    const double h = trial.h;
    system.rows(x.t + h, s.q1, *s.finder, w.joints, w.contacts);
    list_gaps(system.nodes(), w.contacts, s.solution.v, s.memory, w.product, w.end);
    const bool locate = options_.collisions.index == 0;
    double earliest = no_event;
    for (const ContactGap& after : w.end) {
        const int at = find(w.start, after.id);
        const ContactGap* before = at >= 0 ? &w.start[static_cast<std::size_t>(at)] : nullptr;
        if (before && before->active) continue;
        if (!locate) {
            if (after.gap < 0 && after.rate < -approach_tolerance) return 1;
            continue;
        }
        // So gentle that it will not rebound: the contact takes up its row at the end of the step, where it has moved less
        // than the threshold times h too far. Locating each of them makes a pile take a hundred sub-steps per step.
        const double gentle = options_.restitution_threshold;
        if (after.gap < 0 && after.rate > -gentle && after.gap > -gentle * h && before && before->rate > -gentle) {
            if (after.rate < -approach_tolerance) earliest = std::min(earliest, 1.0);
            continue;
        }
        // Where it is surely open, and where it is surely closed.
        double open = 0, closed = after.gap < 0 ? 1.0 : no_event;
        if (before) {
            double stationary[2];
            const int n = hermite_extrema(h, before->gap, before->rate, after.gap, after.rate, stationary);
            for (int k = 0; k < n; ++k) {
                const double g = hermite(stationary[k], h, before->gap, before->rate, after.gap, after.rate);
                if (g > 0 && before->gap <= 0 && open == 0) open = stationary[k];
                if (g < 0 && stationary[k] > open && stationary[k] < closed && (before->gap > 0 || open > 0))
                    closed = stationary[k];
            }
        }
        if (closed == no_event || open >= earliest) continue;
        const auto gap_at = [&](double share) {
            w.q_path = x.q;
            w.dq = (share * h) * ((1 - trial.gamma) * x.v + trial.gamma * s.solution.v) +
                   (0.5 * h * (share * share - share)) * (s.solution.v - x.v);
            system.advance(w.q_path, w.dq);
            system.rows(x.t + share * h, w.q_path, *s.finder, w.joints, w.contacts);
            const auto place = std::lower_bound(w.contacts.id.begin(), w.contacts.id.end(), after.id);
            const bool there = place != w.contacts.id.end() && *place == after.id;
            return there ? w.contacts.gap[static_cast<std::size_t>(place - w.contacts.id.begin())] : 1.0;
        };
        const double gap_closed = closed == 1 ? after.gap : gap_at(closed);
        if (gap_closed >= 0) continue;  // the interpolant dipped, the gap does not
        const double gap_open = open > 0 ? gap_at(open) : before ? before->gap : 1.0;
        if (gap_open > 0)
            earliest = std::min(earliest, bracketed_root(gap_at, open, closed, gap_open, gap_closed));
        else if (after.rate < -approach_tolerance)  // it never got out: rounding of the last impact, and it returns
            earliest = std::min(earliest, 1.0);
    }
    return earliest;
}

// The length of the sub-step after which the first slip ends, or infinity; leaves who stops there in w.stops.
double LinearlyImplicit::first_stop(const System& system, Solver& solver, const State& x, const Trial& trial, Step& s,
                                    Scratch& w, StepReport& report) const {
    const bool slack = options_.location.index == 1;
    const StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    const JointRows& joints = problem.joints;
    w.stops.clear();

    // Everything that slides at the start and no longer does, or the other way, at the end.
    RowVec& u0 = s.row_work;
    RowVec& u1 = w.product;
    u0.resize(contacts.jacobian.rows());
    u1.resize(contacts.jacobian.rows());
    contacts.jacobian.product(problem.nodes(), x.v, u0);
    contacts.jacobian.product(problem.nodes(), s.solution.v, u1);
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i], tangents = contacts.jacobian.dim(i) - 1;
        // What stuck has no slip to lose: on curved bodies its velocity at the new rows is that of their turning.
        const int at = find(w.start, contacts.id[i]);
        if (tangents == 0 || w.start[static_cast<std::size_t>(at)].known == ContactMode::stick) continue;
        const Vec2 slip(u0[row + 1], tangents > 1 ? u0[row + 2] : 0.0);
        const double speed = slip.norm();
        if (speed <= standing) continue;
        const Vec2 direction = slip / speed;
        double along = direction[0] * u1[row + 1];
        if (tangents > 1) along += direction[1] * u1[row + 2];
        if (slack) {
            along += direction[0] * problem.c[row + 1];
            if (tangents > 1) along += direction[1] * problem.c[row + 2];
        }
        if (along < 0 || s.solution.modes[static_cast<std::size_t>(i)] == ContactMode::stick)
            w.stops.push_back({contacts.id[i], -1, direction, speed, false});
    }
    u0.resize(joints.size());
    u1.resize(joints.size());
    joints.jacobian.product(problem.nodes(), x.v, u0);
    joints.jacobian.product(problem.nodes(), s.solution.v, u1);
    for (int i = 0; i < joints.size(); ++i) {
        const bool bounded = problem.lower[i] > -infinity || problem.upper[i] < infinity;
        if (!bounded || joints.kind[i] == RowKind::compliant || problem.upper[i] == problem.lower[i]) continue;
        const double slip = u0[i] - joints.target[i], later = u1[i] - joints.target[i];
        if (std::abs(slip) <= standing) continue;
        const bool inside = s.solution.lambda[i] > problem.lower[i] && s.solution.lambda[i] < problem.upper[i];
        if (slip * later < 0 || inside) w.stops.push_back({{}, i, Vec2(slip > 0 ? 1 : -1, 0), std::abs(slip), false});
    }
    if (w.stops.empty()) return infinity;

    Trial part = trial;
    part.friction = slack ? Trial::Friction::as_form : Trial::Friction::mean;
    StepReport aside;
    const auto left_of = [&](const Scratch::Stop& stop) {
        if (stop.row >= 0) return stop.direction[0] * (u1[stop.row] - joints.target[stop.row]) / stop.speed;
        const auto place = std::lower_bound(contacts.id.begin(), contacts.id.end(), stop.id);
        if (place == contacts.id.end() || *place != stop.id) return 1.0;
        const int i = static_cast<int>(place - contacts.id.begin());
        double along = 0;
        for (int k = 0; k < contacts.jacobian.dim(i) - 1; ++k) {
            const int row = contacts.jacobian.row[i] + 1 + k;
            along += stop.direction[k] * ((slack ? 0.5 * problem.c[row] : 0.0) + (slack ? 0.5 : 1.0) * u0[row]);
        }
        return along / stop.speed;
    };
    // The least that is left of any slip, as a share of what it began with. In `slack` the sticking problem leaves zero: a
    // little less makes it a change of sign.
    const auto least_left = [&](double length) {
        part.h = length;
        solve(system, solver, x, part, s, w, aside);
        u0.resize(contacts.jacobian.rows());
        u1.resize(joints.size());
        contacts.jacobian.product(problem.nodes(), s.solution.v, u0);
        joints.jacobian.product(problem.nodes(), s.solution.v, u1);
        double least = infinity;
        for (const Scratch::Stop& stop : w.stops) least = std::min(least, left_of(stop));
        return least - (slack ? 1e-9 : 0.0);
    };
    double length = infinity;
    const double at_end = least_left(trial.h);
    if (at_end < 0) {
        length = bracketed_root(least_left, 0.0, trial.h, 1.0, at_end, transition_bits);
        least_left(length);
        for (Scratch::Stop& stop : w.stops) stop.now = left_of(stop) <= (slack ? 2 : 1) * touching;
    }
    report.solves += aside.solves;
    if (aside.status != Status::ok) return infinity;  // a trial that could not be solved locates nothing
    return length;
}

// The length of the sub-step after which the first contact or brake lets go, or infinity; leaves who in w.releases.
double LinearlyImplicit::first_release(const System& system, const State& x, const Trial& trial, Step& s,
                                       Scratch& w) const {
    const StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    w.releases.clear();
    w.closed.clear();
    w.closed_modes.clear();
    for (const ContactGap& before : w.start) {
        if (!before.active || before.known == ContactMode::open) continue;
        const auto place = std::lower_bound(contacts.id.begin(), contacts.id.end(), before.id);
        if (place == contacts.id.end() || *place != before.id) continue;
        const ContactMode after = s.solution.modes[static_cast<std::size_t>(place - contacts.id.begin())];
        const bool stuck = before.known == ContactMode::stick;
        if (after == ContactMode::open || (stuck && after == ContactMode::slip))
            w.releases.push_back({w.closed.size(), -1, after == ContactMode::open, 0, false});
        w.closed.push_back(before.id);
        w.closed_modes.push_back(stuck ? ContactMode::stick : ContactMode::slip);
    }
    const JointRows& joints = problem.joints;
    s.row_work.resize(joints.size());
    joints.jacobian.product(problem.nodes(), x.v, s.row_work);
    for (int i = 0; i < joints.size(); ++i) {
        const bool bounded = problem.lower[i] > -infinity || problem.upper[i] < infinity;
        if (!bounded || joints.kind[i] == RowKind::compliant || problem.upper[i] == problem.lower[i]) continue;
        const bool at_bound = s.solution.lambda[i] <= problem.lower[i] || s.solution.lambda[i] >= problem.upper[i];
        if (std::abs(s.row_work[i] - joints.target[i]) <= standing && at_bound)
            w.releases.push_back({0, i, false, 0, false});
    }
    if (w.releases.empty()) return infinity;

    const auto margin_of = [&](const Scratch::Release& release) {
        if (release.row >= 0) return w.instant.row_margin(release.row);
        return release.take_off ? w.instant.normal_force(release.place) : w.instant.stick_margin(release.place);
    };
    w.acceleration.setZero(x.v.size());
    // Of the motion in the old modes, to second order.
    const auto least_margin = [&](double length) {
        w.q_path = x.q;
        w.dq = length * x.v + (0.5 * length * length) * w.acceleration;
        w.v_path = x.v + length * w.acceleration;
        system.advance(w.q_path, w.dq);
        w.instant.evaluate(system, std::nextafter(x.t + length, length > 0 ? -infinity : infinity), w.q_path, w.v_path,
                           w.closed, w.closed_modes, s);
        double least = infinity;
        for (const Scratch::Release& release : w.releases) least = std::min(least, margin_of(release));
        return least;
    };
    const double at_start = least_margin(0);
    w.acceleration = w.instant.acceleration();
    for (Scratch::Release& release : w.releases) release.margin = margin_of(release);
    if (!(at_start > 0)) return infinity;  // it has been there all the time: nothing to locate
    const double at_end = least_margin(trial.h);
    if (!(at_end < 0)) return infinity;
    const double length = bracketed_root(least_margin, 0.0, trial.h, at_start, at_end, transition_bits);
    least_margin(length);
    for (Scratch::Release& release : w.releases) release.now = margin_of(release) <= touching * release.margin;
    return length;
}

// Shortens the step to its first change of mode, if there is one inside; s.problem and s.solution are then those of the
// sub-step, with the modes after it. Returns its length.
double LinearlyImplicit::first_transition(const System& system, Solver& solver, const State& x, const Trial& trial,
                                          Step& s, Scratch& w, StepReport& report) const {
    const double shortest = std::max(options_.shortest_substep * options_.step, 1e-12);
    const double release = first_release(system, x, trial, s, w);
    const double stop = first_stop(system, solver, x, trial, s, w, report);
    Trial part = trial;
    part.h = std::min(stop, release);
    const bool inside = part.h >= shortest && part.h <= trial.h - shortest;
    if (!inside) {
        if (!w.stops.empty()) {  // the trials have left their problem behind
            part.h = trial.h;
            solve(system, solver, x, part, s, w, report);
        }
        return trial.h;
    }
    ++report.rejected;
    // Where the slack vanishes the end velocity does not: the problem as it is makes it flip, as in the paper.
    if (stop <= release && options_.location.index == 0) part.friction = Trial::Friction::stop;
    solve(system, solver, x, part, s, w, report);
    const ContactRows& contacts = s.problem.contacts;
    const auto set_mode = [&](const ContactId& id, ContactMode mode) {
        const auto place = std::lower_bound(contacts.id.begin(), contacts.id.end(), id);
        if (place != contacts.id.end() && *place == id)
            s.solution.modes[static_cast<std::size_t>(place - contacts.id.begin())] = mode;
    };
    if (stop <= release) {
        for (const Scratch::Stop& stopping : w.stops)
            if (stopping.now && stopping.row < 0) set_mode(stopping.id, ContactMode::stick);
    } else {
        for (const Scratch::Release& going : w.releases)
            if (going.now && going.row < 0)
                set_mode(w.closed[going.place], going.take_off ? ContactMode::open : ContactMode::slip);
    }
    return part.h;
}

// Moves x over the share of the step just solved and books it.
void LinearlyImplicit::accept(const System& system, State& x, const Trial& trial, double share, Step& s,
                              Scratch& w) const {
    const double h = trial.h, length = share * h;
    w.v_end = s.solution.v;
    if (share < 1) w.v_end = x.v + share * (s.solution.v - x.v);
    s.dq = length * ((1 - trial.gamma) * x.v + trial.gamma * s.solution.v);
    if (share < 1) s.dq += (0.5 * h * (share * share - share)) * (s.solution.v - x.v);
    s.v_weighted = (1 - trial.alpha) * x.v + trial.alpha * w.v_end;
    s.t_weighted = x.t + trial.alpha * length;
    s.memory.v_rate = (s.solution.v - x.v) / h;
    system.advance(x.q, s.dq);
    const double t0 = x.t;
    x.t = share < 1 ? x.t + length : s.t1;
    x.v = w.v_end;
    s.ledger.book(system, {.t0 = t0,
                           .t1 = x.t,
                           .q0 = &s.q0,
                           .v0 = &s.v0,
                           .q1 = &x.q,
                           .v1 = &x.v,
                           .problem = &s.problem,
                           .solution = &s.solution,
                           .impulses = &s.forces,
                           .mass = &s.mass,
                           .stabilisation = &s.stabilisation,
                           .joint_stabilisation = &s.joint_stabilisation,
                           .alpha = trial.alpha,
                           .gamma = trial.gamma,
                           .extra = nullptr,
                           .share = share,
                           .impacts_inside = false});
    note_impulses(s, share);
    if (share == 1) note_mode_changes(x.t, s);
    remember(h, s);
}

// The impact of everything closed at x.
void LinearlyImplicit::collide(const System& system, Solver& solver, State& x, Step& s, Scratch& w,
                               StepReport& report) const {
    ImpactOptions impact{static_cast<ImpactLaw>(options_.impact.index), options_.restitution_threshold,
                         approach_tolerance};
    const double shortest = options_.shortest_substep * options_.step, length = x.t - s.t0;
    StepMemory& memory = s.memory;
    memory.short_steps = length < shortest ? memory.short_steps + 1 : 0;
    const bool stall = memory.short_steps > most_short_steps;
    if (stall) {
        impact.restitution_threshold = infinity;
        ++report.unlocated;
    }
    system.mass(x.q, s.mass);
    s.problem.A = s.mass;
    find_rows(system, x.t, x.q, x.v, options_.step, s);
    ContactRows& contacts = s.problem.contacts;
    s.wanted.resize(static_cast<std::size_t>(contacts.size()));
    bool ending = false;  // one of them would rebound for less than the shortest sub-step in all
    for (int i = 0; i < contacts.size(); ++i) {
        const int at = find(w.start, contacts.id[i]);
        s.wanted[i] = contacts.gap[i] <= closed_gap() || (at >= 0 && w.start[static_cast<std::size_t>(at)].active);
        const auto known = std::lower_bound(memory.bounced.begin(), memory.bounced.end(), contacts.id[i]);
        if (!s.wanted[i] || known == memory.bounced.end() || *known != contacts.id[i]) continue;
        const auto& times = memory.bounce_times[static_cast<std::size_t>(known - memory.bounced.begin())];
        const double last = x.t - times[2], before = times[2] - times[1];
        ending = ending || (last < before && last * last / (before - last) < shortest);
    }
    if (ending) impact.restitution_threshold = infinity;
    contacts.keep(s.wanted);
    const std::size_t first_event = s.events.size();
    resolve_impact(system, solver, impact, x, s, report);

    // What rests now, what rebounds, and whose rebounds have come to an end.
    w.product.resize(contacts.jacobian.rows());
    contacts.jacobian.product(s.problem.nodes(), x.v, w.product);
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        ContactMode& mode = s.solution.modes[static_cast<std::size_t>(i)];
        const bool parts = w.product[row] > approach_tolerance;
        const bool slips =
            contacts.jacobian.dim(i) > 1 && w.product.segment(row + 1, contacts.jacobian.dim(i) - 1).norm() > standing;
        mode = parts ? ContactMode::open : slips ? ContactMode::slip : ContactMode::stick;
        const bool hit = std::any_of(s.events.begin() + static_cast<long>(first_event), s.events.end(),
                                     [&](const Event& event) { return event.contact == contacts.id[i]; });
        if (!hit) continue;
        const auto known = std::lower_bound(memory.bounced.begin(), memory.bounced.end(), contacts.id[i]);
        const auto place = static_cast<std::size_t>(known - memory.bounced.begin());
        const bool again = known != memory.bounced.end() && *known == contacts.id[i];
        if (parts) {
            if (!again) {
                memory.bounced.insert(known, contacts.id[i]);
                memory.bounce_times.insert(memory.bounce_times.begin() + static_cast<long>(place),
                                           {std::nan(""), std::nan(""), x.t});
            } else {
                auto& times = memory.bounce_times[place];
                times = {times[1], times[2], x.t};
            }
        } else if (again) {
            // Intervals that shrink by the same r each time end after last r/(1 - r).
            const auto& times = memory.bounce_times[place];
            const double last = x.t - times[2], before = times[2] - times[1];
            const double r = last / before, r_before = before / (times[1] - times[0]);
            if (r < 1 && r_before < 1 && std::abs(r - r_before) < same_ratio * r_before)
                s.events.push_back({.t = x.t + last * last / (before - last),
                                    .kind = EventKind::accumulation,
                                    .contact = contacts.id[i],
                                    .before = ContactMode::impact,
                                    .after = mode});
            memory.bounced.erase(known);
            memory.bounce_times.erase(memory.bounce_times.begin() + static_cast<long>(place));
        }
    }
    memory.v_rate.setZero();
    remember(options_.step, s);
    memory.h = 0;  // impulses of an impact are no guess for the next step, its modes are
    memory.damped_steps = std::max(memory.damped_steps, 1);
}

bool LinearlyImplicit::stiff(const System& system, double h, const Step& s) const {
    const JointRows& joints = s.problem.joints;
    const Nodes& nodes = system.nodes();
    for (int g = 0; g < joints.jacobian.groups(); ++g) {
        for (int k = 0; k < joints.jacobian.dim(g); ++k) {
            const int i = joints.jacobian.row[g] + k;
            if (joints.kind[i] != RowKind::compliant) continue;
            double W = 0;  // G M^-1 G', from the diagonal of M: right to a factor of a few
            for (const BlockRows::Block& block : joints.jacobian.blocks_of(g)) {
                const auto G = joints.jacobian.values_of(g, block, nodes);
                for (int c = 0; c < nodes.dof(block.node); ++c) W += G(k, c) * G(k, c) / s.mass.block(block.node)(c, c);
            }
            if (h * h * joints.stiffness[i] * W > stiff_row || h * joints.damping[i] * W > stiff_row) return true;
        }
    }
    return false;
}

StepReport LinearlyImplicit::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    static thread_local Scratch w;  // of this function alone
    const double h = length_to_grid(x.t, options_.step, t_limit);
    StepReport report;
    Stopwatch watch(s.timers);
    begin_step(x, s);

    // The contacts at the start. Closed ones that are new and approach collide at once.
    system.mass(x.q, s.mass);
    s.problem.A = s.mass;
    find_rows(system, x.t, x.q, x.v, h, s);
    note_violations(x.v, s);
    const int wanted = options_.damped_restart.index;
    const bool damped = s.memory.damped_steps > 0 && (wanted == 1 || (wanted == 0 && stiff(system, h, s)));
    classify(x, damped, s, w);
    watch.lap(StepTimers::find);
    bool collision = std::any_of(w.start.begin(), w.start.end(), [](const ContactGap& g) {
        return g.active && g.known == ContactMode::open && g.rate < -approach_tolerance;
    });

    Trial trial{.h = h, .alpha = options_.alpha, .gamma = options_.gamma};
    if (!collision) {
        if (damped) trial.alpha = trial.gamma = 1;
        solve(system, solver, x, trial, s, w, report);
        watch.lap(StepTimers::solve);

        s.q1 = x.q;
        w.dq = h * ((1 - trial.gamma) * x.v + trial.gamma * s.solution.v);
        system.advance(s.q1, w.dq);
        double share = first_collision(system, x, trial, s, w);
        collision = share <= 1;
        if (!collision) {
            share = 1;
            if (options_.location.index != 2 && report.status == Status::ok) {
                if (s.memory.short_steps > most_short_steps)
                    ++report.unlocated;
                else
                    trial.h = first_transition(system, solver, x, trial, s, w, report);
            }
        }
        watch.lap(StepTimers::find);
        s.t1 = end_on_grid(x.t, trial.h, options_.step, t_limit);
        if (share > 0) accept(system, x, trial, share, s, w);
        if (s.memory.damped_steps > 0 && share == 1) --s.memory.damped_steps;
        watch.lap(StepTimers::book);
    } else {
        s.dq.setZero();
        s.v_weighted = x.v;
        s.t_weighted = x.t;
    }
    if (collision)
        collide(system, solver, x, s, w, report);
    else
        s.memory.short_steps = 0;
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
