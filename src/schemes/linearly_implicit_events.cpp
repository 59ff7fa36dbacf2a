// The first event inside a step of the linearly implicit family: collision, stop, release. What each of them is, and how it is
// located, stands at the head of linearly_implicit.cpp.
#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "problems/contact_ids.hpp"
#include "schemes/events/gap_closing.hpp"
#include "schemes/linearly_implicit.hpp"

namespace stickslip {

namespace {

constexpr double turned = 0.2;       // a slip that keeps more than this of its first speed has not stopped but turned
constexpr double touching = 1e-6;    // relative to its first value: a root function this small counts as zero
constexpr int transition_bits = 30;  // of a sub-step; solved steps are no smoother than that

// [N] Force of a contact at the end of a step of length h, linear through the means of this step and the last.
Vec3 force_at_end(int contact, double h, const Step& s) {
    const ContactRows& contacts = s.problem.contacts;
    const StepMemory& memory = s.memory;
    Vec3 now = Vec3::Zero();
    for (int k = 0; k < contacts.jacobian.dim(contact); ++k)
        now[k] = s.solution.p[contacts.jacobian.row[contact] + k] / h;
    const int old = find_contact(memory.contact, contacts.id[contact]);
    if (memory.h <= 0 || old < 0) return now;
    const Vec3 before = memory.impulse[old] / memory.h;
    return now + (now - before) * (h / (h + memory.h));
}

}  // namespace

void LinearlyImplicit::along(const Trial& trial, double x, const VecX& v0, const VecX& v1, VecX& dq) const {
    const double y = 1 - x, all = x * x * (3 - 2 * x);
    dq = (trial.h * ((1 - trial.gamma) * all + x * y * y)) * v0 + (trial.h * (trial.gamma * all - x * x * y)) * v1;
}

// The fraction of the step at which the first gap closes, or no_event. s.q1, s.solution.v: the end of the step.
double LinearlyImplicit::first_collision(const System& system, const State& x, const Trial& trial, Step& s,
                                         Scratch& w) const {
    const double h = trial.h;
    system.rows(s.t1, s.q1, *s.finder, w.joints, w.contacts);
    w.rows_of = &system;
    w.rows_t = s.t1;
    w.rows_q = s.q1;
    list_gaps(system.nodes(), w.contacts, s.solution.v, s.memory, w.product, w.end);
    const bool locate = options_.collisions.index == 0;
    double earliest = no_event;
    for (const ContactGap& after : w.end) {
        const int at = find(w.start, after.id);
        const ContactGap* before = at >= 0 ? &w.start[at] : nullptr;
        if (before && before->active) continue;
        if (!locate) {
            if (after.gap < 0 && after.rate < -s.tolerances.approach_speed) return 1;
            continue;
        }
        // So gentle that it will not rebound: the contact takes up its row at the end of the step, where it has moved less
        // than the threshold times h too far. Locating each of them makes a pile take a hundred sub-steps per step.
        const double gentle = std::min(options_.restitution_threshold.in(s.tolerances), s.tolerances.gentle_speed);
        if (after.gap < 0 && after.rate > -gentle && after.gap > -gentle * h && before && before->rate > -gentle) {
            if (after.rate < -s.tolerances.approach_speed) earliest = std::min(earliest, 1.0);
            continue;
        }
        if (bracket_closing(before, after, h).open >= earliest) continue;
        // All rows and not this gap alone: the frames that the step commits are then those at the collision. Where shapes that lay apart
        // pass from one feature to another, the one that closes first may be listed at neither end of the step.
        const bool apart = lie_apart(w.start, after.id, closed_gap(s.tolerances));
        const auto gap_at = [&](double fraction) {
            if (fraction == 0 && (before || !apart)) return before ? before->gap : seen_gap(infinity, s.tolerances);
            w.rows_of = nullptr;
            w.q_path = x.q;
            along(trial, fraction, x.v, s.solution.v, w.dq);
            system.advance(w.q_path, w.dq);
            system.rows(x.t + fraction * h, w.q_path, *s.finder, w.joints, w.contacts);
            int c = find_contact(w.contacts.id, after.id);
            if (c < 0 && apart) c = nearest_of_shapes(w.contacts, after.id);
            return seen_gap(c >= 0 ? w.contacts.gap[c] : infinity, s.tolerances);
        };
        const GapClosing closing = first_closing(before, after, 0, 1, h, earliest, gap_at);
        if (closing.found) earliest = std::min(earliest, closing.at);
        if (closing.stays_closed) {  // it needs a row after all
            w.start[at].active = true;
            w.rows_of = nullptr;
            return held;
        }
    }
    return earliest;
}

// The length of the sub-step after which the first slip ends, or infinity; leaves who stops there in w.stops.
double LinearlyImplicit::first_stop(const System& system, Solver& solver, const State& x, const Trial& trial, Step& s,
                                    Scratch& w, StepReport& report) const {
    const bool slack = options_.location.index == 1;
    const StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    const BilateralRows& joints = problem.joints;
    w.stops.clear();

    // Everything that slides at the start and no longer does, or the other way, at the end.
    RowVec& u0 = w.start_speed;
    RowVec& u1 = w.product;
    u0.resize(contacts.jacobian.rows());
    u1.resize(contacts.jacobian.rows());
    contacts.jacobian.product(problem.nodes(), x.v, u0);
    contacts.jacobian.product(problem.nodes(), s.solution.v, u1);
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i], tangents = contacts.jacobian.dim(i) - 1;
        // What stuck has no slip to lose: on curved bodies its velocity at the new rows is that of their turning.
        const int at = find(w.start, contacts.id[i]);
        if (tangents == 0 || w.start[at].known == ContactMode::stick) continue;
        const Vec2 slip(u0[row + 1], tangents > 1 ? u0[row + 2] : 0.0);
        const double speed = slip.norm();
        if (speed <= s.tolerances.rest_speed) continue;
        const Vec2 direction = slip / speed;
        double along = direction[0] * u1[row + 1];
        if (tangents > 1) along += direction[1] * u1[row + 2];
        if (slack) {
            along += direction[0] * problem.c[row + 1];
            if (tangents > 1) along += direction[1] * problem.c[row + 2];
        }
        if (along < 0 || s.solution.modes[i] == ContactMode::stick)
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
        if (std::abs(slip) <= s.tolerances.rest_speed) continue;
        const bool inside = s.solution.lambda[i] > problem.lower[i] && s.solution.lambda[i] < problem.upper[i];
        if (slip * later < 0 || inside) w.stops.push_back({{}, i, Vec2(slip > 0 ? 1 : -1, 0), std::abs(slip), false});
    }
    if (w.stops.empty()) return infinity;

    Trial part = trial;
    part.friction = slack ? Trial::Friction::as_form : Trial::Friction::mean;
    StepReport aside;
    const auto left_of = [&](const Scratch::Stop& stop) {
        if (stop.row >= 0) return stop.direction[0] * (u1[stop.row] - joints.target[stop.row]) / stop.speed;
        const int i = find_contact(contacts.id, stop.id);
        if (i < 0) return 1.0;
        double along = 0;
        for (int k = 0; k < contacts.jacobian.dim(i) - 1; ++k) {
            const int row = contacts.jacobian.row[i] + 1 + k;
            along += stop.direction[k] * ((slack ? 0.5 * problem.c[row] : 0.0) + (slack ? 0.5 : 1.0) * u0[row]);
        }
        return along / stop.speed;
    };
    const auto slip_of = [&](const Scratch::Stop& stop) {
        if (stop.row >= 0 || slack) return 0.0;
        const int i = find_contact(contacts.id, stop.id);
        double speed = 0;
        for (int k = 1; k < contacts.jacobian.dim(i); ++k) speed = std::hypot(speed, u0[contacts.jacobian.row[i] + k]);
        return speed;
    };
    // The least that is left of any slip, relative to what it began with. In `slack` the sticking problem leaves zero: a
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
        for (const Scratch::Stop& stop : w.stops)
            if (left_of(stop) <= touching && slip_of(stop) > turned * stop.speed) length = infinity;
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
    w.released_at = infinity;
    w.closed.clear();
    w.closed_modes.clear();
    for (const ContactGap& before : w.start) {
        if (!before.active || before.known == ContactMode::open) continue;
        const int i = find_contact(contacts.id, before.id);
        if (i < 0) continue;
        const ContactMode after = s.solution.modes[i];
        const bool stuck = before.known == ContactMode::stick;
        if (after == ContactMode::open || (stuck && after == ContactMode::slip)) {
            w.releases.push_back({w.closed.size(), -1, after == ContactMode::open, 0, false});
        } else if (contacts.size() <= max_watched) {
            // The mean force of the step may hold to its end although the force there does not: it is extrapolated.
            const Vec3 end = force_at_end(i, trial.h, s);
            const double sideways = std::hypot(end[1], end[2]);
            if (end[0] <= 0)
                w.releases.push_back({w.closed.size(), -1, true, 0, false});
            else if (stuck && contacts.jacobian.dim(i) > 1 && sideways >= contacts.friction[i] * end[0])
                w.releases.push_back({w.closed.size(), -1, false, 0, false});
        }
        w.closed.push_back(before.id);
        w.closed_modes.push_back(stuck ? ContactMode::stick : ContactMode::slip);
    }
    const BilateralRows& joints = problem.joints;
    const RowVec& speed = joint_speeds(x.v, s);
    for (int i = 0; i < joints.size(); ++i) {
        const bool bounded = problem.lower[i] > -infinity || problem.upper[i] < infinity;
        if (!bounded || joints.kind[i] == RowKind::compliant || problem.upper[i] == problem.lower[i]) continue;
        const bool at_bound = s.solution.lambda[i] <= problem.lower[i] || s.solution.lambda[i] >= problem.upper[i];
        if (std::abs(speed[i] - joints.target[i]) <= s.tolerances.rest_speed && at_bound)
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
    if (!(at_start > 0)) {
        // The mean force of the last step still held it. Too late to begin anew there; the event gets its time.
        const double back = -s.memory.h;
        const double before = back < 0 ? least_margin(back) : at_start;
        if (before > 0)
            w.released_at = x.t + bracketed_root(least_margin, back, 0.0, before, at_start, transition_bits);
        return infinity;
    }
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
    const double shortest = std::max(options_.shortest_substep * options_.step, s.tolerances.shortest_substep);
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
        const int i = find_contact(contacts.id, id);
        if (i >= 0) s.solution.modes[i] = mode;
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

}  // namespace stickslip
