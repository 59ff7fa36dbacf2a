// Schatzman and Paoli's time-stepping: contact laws on positions, with restitution [Paoli-Schatzman; Haddouni, (2.31)].
//
//   M (w+ - w) = (h + h_old)/2 (k(t, q, w) + F(v*) (w + w+)/2) + G' lambda + H' p,     q+ = q (+) h w+
//   g + h G w+ = 0,   0 <= phi(q_e)  _|_  p_N >= 0,   q_e = (q+ + e q_old)/(1 + e),   friction on D w+
//
// State.v holds w = (q (-) q_old)/h_old, the velocity half a step ago; the velocity that converges at t is the mean of w and w+
// (weighted by the other's step). phi(q_e) is linearised at q and multiplied by (1 + e)/h:
//
//   u_N = N w+ + c_N,   c_N = (1 + e) phi/h - e N w
//
// An impact takes two steps: one that leads to phi+ = -e phi_old, and the next, from which N w+ = -e N w_old. All contacts that
// the step can reach take part. Joint limits overlap in between as contacts do: moved back, they would not rebound.
//
// Start: h_old = 0, so w is the velocity v_0 and the first step gets half of the forces. This is the usual
// w_0 = v_0 - (h/2) M^-1 k_0 without its detour: the ledger sees the state that the user gave, and a body that rests
// on another is not lifted by the k_0 that its contact holds.
//
// Steps of another length than the last (loads that switch, the end): an overlap then is an impact half done, or one missed, and
// the velocity before the last step, w_old, is the one to rebound from: c_N = e min(N w_old, 0), Newton's law one step late.
// Joint errors are made up for at the rate of the full step. Springs are implicit (weights 1).
// Left out: implicit forces other than springs; forces of velocity lag by half a step, which makes them first order.
#include "schemes/schatzman_paoli.hpp"

#include <algorithm>
#include <cmath>

#include "collision/passing.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// Share of a step below which two lengths are the same.
constexpr double same_length = 1e-9;

void fill_gaps(const VecX& w, double h, Step& s) {
    StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    const bool regular = std::abs(h - s.memory.h) <= same_length * h;
    const RowVec& speed = contact_speeds(w, s);
    s.terms.stabilisation.setZero(contacts.size());
    for (int i = 0; i < contacts.size(); ++i) {
        const double e = contacts.restitution[i];
        const int row = contacts.jacobian.row[i];
        problem.c[row] = (1 + e) * contacts.gap[i] / h - e * speed[row];
    }
    if (regular) return;

    s.terms.v_old = w - s.memory.h * s.memory.v_rate;
    const RowVec& old_speed = contact_speeds(s.terms.v_old, s);
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        if (contacts.gap[i] < 0) problem.c[row] = contacts.restitution[i] * std::min(old_speed[row], 0.0);
    }
}

}  // namespace

StepReport SchatzmanPaoli::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    const double h = step_length(x.t, options_.step, t_limit), h_old = s.memory.h;
    const double span = (h + h_old) / 2;  // from the time of w to that of w+
    StepProblem& problem = s.problem;
    StepReport report;
    Stopwatch watch(s.timers);
    begin_step(x, s);

    system.mass(x.q, s.terms.mass);
    problem.A = s.terms.mass;
    find_rows(system, x.t, x.q, x.v, h, s);
    drop_passed(system, x, h, s);
    s.guard->foreseen = false;  // what rebounds is held only once it overlaps, by (1 + e) phi/h - e N w
    note_violations(x.v, s);
    watch.lap(StepTimers::find);

    // With A = M - span/2 F*, span F* (w + w+)/2 is (M w - A w) on the right and the rest of it on the left.
    problem.size_to_rows();
    fill_impulses(system, x, span, 0, s);
    s.terms.v_star = x.v + (h_old / 2) * s.memory.v_rate;
    system.add_gyroscopic(-span / 2, s.terms.v_star, problem.A);
    problem.A.add_product(-1, x.v, problem.r);
    s.terms.mass.add_product(2, x.v, problem.r);
    problem.r += s.terms.impulses.potential + s.terms.impulses.applied;
    fill_bilateral(x.v, {.h = h, .chi = std::min(1.0, h / options_.step)}, s);
    fill_gaps(x.v, h, s);
    warm_start(x.v, h, s);
    watch.lap(StepTimers::fill);

    solve_stage(solver, s, report);
    watch.lap(StepTimers::solve);

    s.v_weighted = (h * x.v + h_old * s.solution.v) / (h + h_old);
    s.t_weighted = x.t;
    s.dq = h * s.solution.v;
    finish_step(system, solver, {.h = h, .t_limit = t_limit, .alpha = 1, .gamma = 1, .limits_held = false}, x, s, watch,
                report);
    return report;
}

}  // namespace stickslip
