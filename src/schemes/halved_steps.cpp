// Halved steps [Haddouni, s.2.2.7 Fig 2.3, s.4.3.1]: from the same state one step of length h, which ends at q_1, and two of
// h/2, which end at q_2. The pair is the better one and is what is taken; the single step only measures:
//
//   error = max(|q_2 - q_1|, sunk, unseen)                       taken if error <= tol, or h <= smallest_step
//   h_opt = 0.9 h (tol / error)^(1/p), at least h/5, at most 5 h; not above h after a trial that was thrown away
//
// The norm is the 2-norm over all coordinates. Both ends are products of rotations from one start, so quaternions agree in
// sign as long as the attitudes agree to less than half a turn: plain differences are right, and a whole turn too much is an error.
//
// `sunk` and `unseen` are not in the thesis; they are errors that both ways share, so that their ends agree:
//
//   sunk     [m] what contacts sank in by during the step. A body that falls freely is integrated without error, by ever longer
//            steps, until it lies inside another one.
//   unseen   h^2/4 |M^-1 (k(t) - 2 k(t + h/2) + k(t + h))| at the q and v of the start: the move of which loads that vary
//            in time are taken wrongly, if nothing held the body. A block that sticks under a load that swings would sleep
//            through its slips (mechanism block-stick-slip: 1e-2 m wrong at tol 1e-7). Of M its diagonal.
//
// A trial leaves no trace: state, memory, contact frames and ledger go back to the start of the step. Left out: reuse
// of a first half as the next trial's full step, which the factor 0.9 h (tol/error) almost never allows.
#include "schemes/halved_steps.hpp"

#include <algorithm>
#include <cmath>

#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

constexpr double safety = 0.9;      // If larger, more steps are thrown away. If smaller, more are taken.
constexpr double max_growth = 5;    // If larger, one lucky error estimate costs several rejected trials.
constexpr double max_shrink = 0.2;  // If smaller, one impact costs many short steps.

void save_start(const System& system, const State& x, double h, Step& s, HalvedWork& k) {
    k.start.keep(x, s);
    find_rows(system, x.t, x.q, x.v, h, s);
    k.id.assign(s.problem.contacts.id.begin(), s.problem.contacts.id.end());
    k.gap.assign(s.problem.contacts.gap.begin(), s.problem.contacts.gap.end());
}

// [m] By how much the contact that sank in most did so since the start of the step, before it was pushed out.
double sunk(const System& system, const State& x, Step& s, HalvedWork& k) {
    system.look_ahead(x.v, 0, *s.finder);
    system.rows(x.t, x.q, *s.finder, k.end_joints, k.end_contacts);
    double most = k.pushed;
    std::size_t old = 0;  // both lists are sorted by id
    for (int i = 0; i < k.end_contacts.size(); ++i) {
        while (old < k.id.size() && k.id[old] < k.end_contacts.id[i]) ++old;
        const bool known = old < k.id.size() && k.id[old] == k.end_contacts.id[i];
        const double before = known ? std::min(k.gap[old], 0.0) : 0.0;
        most = std::max(most, before - k.end_contacts.gap[i]);
    }
    return most;
}

// [m] How far apart two shapes are at the end that pushed each other to the last, without a rebound: they have slid off each other on the
// way, which both the step and its halves miss. To be called after sunk(). Never more than a body falls in h.
double parted(double h, const Step& s, const HalvedWork& k) {
    constexpr double falls = 5;  // times Scales::acceleration, a tenth of gravity: g/2
    const ContactRows& end = k.end_contacts;
    const double fall = falls * s.tolerances.scales.acceleration() * h * h;
    double most = 0;
    for (const ContactRecord& record : s.contacts) {
        const bool pushed = record.impulse[0] > 0 && (record.mode == ContactMode::stick || record.mode == ContactMode::slip);
        if (!pushed || record.id.kind != ContactKind::shapes) continue;
        double nearest = infinity;
        for (int i = 0; i < end.size(); ++i)
            if (end.id[i].a == record.id.a && end.id[i].b == record.id.b && end.id[i].kind == record.id.kind)
                nearest = end.restitution[i] > 0 ? 0 : std::min(nearest, end.gap[i]);
        most = std::max(most, std::min(nearest, fall));
    }
    return most;
}

// The part of the loads' course over the step that its ends and its middle do not show, as a move of the coordinates.
double unseen(const System& system, double h, const Step& s, HalvedWork& k) {
    const State& x = k.start.x;
    system.forces(std::nextafter(x.t, infinity), x.q, x.v, k.forces);
    k.load = k.forces.potential + k.forces.applied;
    system.forces(x.t + h / 2, x.q, x.v, k.forces);
    k.load -= 2 * (k.forces.potential + k.forces.applied);
    system.forces(inside_end(x.t, h), x.q, x.v, k.forces);
    k.load += k.forces.potential + k.forces.applied;
    double squares = 0;
    for (int n = 0; n < s.terms.mass.nodes.size(); ++n) {
        const auto M = s.terms.mass.block(n);
        for (int i = 0; i < s.terms.mass.nodes.dof(n); ++i) {
            const double rate = k.load[s.terms.mass.nodes.start[n] + i] / M(i, i);
            squares += rate * rate;
        }
    }
    return h * h / 4 * std::sqrt(squares);
}

// What the first half leaves to the record of the pair.
struct FirstHalf {
    double t1 = 0;
    StepRecord::Violation violation;
    StepReport report;
};

FirstHalf keep_first(const StepReport& report, Step& s, HalvedWork& k) {
    k.contacts.assign(s.contacts.begin(), s.contacts.end());
    k.events.assign(s.events.begin(), s.events.end());
    k.reactions = s.reactions;
    s.middle.q = s.q1;
    s.middle.v = s.v1;
    s.middle.dq = s.dq;
    return {s.t1, s.violation, report};
}

// The record of the second half, in s, becomes that of both.
void join(const FirstHalf& first, const HalvedWork& k, Step& s) {
    s.t0 = k.start.x.t;
    s.q0 = k.start.x.q;
    s.v0 = k.start.x.v;
    s.middle.t = first.t1;
    for (const ContactRecord& record : k.contacts) {
        const auto place = std::lower_bound(s.contacts.begin(), s.contacts.end(), record.id,
                                            [](const ContactRecord& r, const ContactId& id) { return r.id < id; });
        if (place != s.contacts.end() && place->id == record.id) {
            place->impulse += record.impulse;
            place->unique = place->unique && record.unique;
        } else {
            s.contacts.insert(place, record);
        }
    }
    s.events.insert(s.events.begin(), k.events.begin(), k.events.end());
    if (s.reactions.size() == k.reactions.size()) s.reactions += k.reactions;
    if (first.violation.gap > s.violation.gap) {
        s.violation.gap = first.violation.gap;
        s.violation.deepest = first.violation.deepest;
    }
    s.violation.joint = std::max(s.violation.joint, first.violation.joint);
    s.violation.joint_speed = std::max(s.violation.joint_speed, first.violation.joint_speed);
}

void join(const StepReport& first, StepReport& both) {
    both.h += first.h;
    both.unlocated += first.unlocated;
    if (!(first.solve.residual.max() <= both.solve.residual.max())) both.solve = first.solve;
    if (!*both.remark) both.remark = first.remark;
}

}  // namespace

StepReport halved_step(const System& system, const HalvedSteps& control, const OneStep& one, State& x, double t_limit,
                       Step& s, HalvedWork& k) {
    const double wanted = std::min(k.next_step > 0 ? k.next_step : control.first_step, control.longest_step);
    double h = step_length(x.t, wanted, t_limit);
    const bool cut = h < wanted;
    save_start(system, x, h, s, k);
    int rejected = 0, solves = 0;
    for (;;) {
        const StepReport full = one(h, t_limit);
        k.q_full = x.q;
        const double t_end = x.t;
        k.start.go_back(x, s);
        k.pushed = 0;
        const FirstHalf first = keep_first(one(h / 2, t_limit), s, k);
        StepReport report = one(t_end - x.t, t_end);
        solves += full.solves + first.report.solves + report.solves;

        // A NaN is no error that could be accepted.
        const double apart = (x.q - k.q_full).norm();
        const double error =
            std::isfinite(apart) ? std::max({apart, sunk(system, x, s, k), parted(h, s, k), unseen(system, h, s, k)}) : infinity;
        double factor = max_growth;
        if (error > 0)
            factor = std::clamp(safety * std::pow(control.tol / error, 1 / control.order), max_shrink, max_growth);
        const bool good = error <= control.tol;
        if (!good && h > control.smallest_step) {
            ++rejected;
            h = std::max(std::min(factor, safety) * h, control.smallest_step);
            k.start.go_back(x, s);
            continue;
        }
        double next = std::clamp((rejected > 0 ? std::min(factor, 1.0) : factor) * h, control.smallest_step,
                                 control.longest_step);
        // A step that t_limit cut short says nothing against the length it would have had.
        if (cut && good && rejected == 0) next = std::max(next, wanted);
        if (first.report.status != Status::ok) {
            // The step ends with the half that could not be solved, so that a refusal keeps its problem.
            k.start.go_back(x, s);
            report = one(h / 2, t_limit);
            solves += report.solves;
        } else {
            join(first, k, s);
            join(first.report, report);
        }
        if (!good && !*report.remark) report.remark = "errors above scheme.tol were accepted at scheme.smallest_step";
        k.next_step = next;
        report.rejected = rejected;
        report.solves = solves;
        return report;
    }
}

}  // namespace stickslip
