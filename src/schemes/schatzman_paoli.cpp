// Schatzman and Paoli's time-stepping: contact laws on positions, with restitution [Haddouni, (2.31)].
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
// the step can reach take part.
//
// Start: h_old = 0, so w is the velocity v_0 and the first step gets half of the forces. This is the usual
// w_0 = v_0 - (h/2) M^-1 k_0 without its detour: the ledger sees the state that the user gave, and a body that rests
// on another is not lifted by the k_0 that its contact holds.
//
// Steps of another length than the last (loads that switch, the end): an overlap then is an impact half done, or one missed.
//   closed in the last step, N w < 0   (1 + e) max(phi/h_old, N w) - e N w    the second half: N w+ = -e N w_old again
//   open in the last step, N w < 0     e N w                                  Newton's law
//   N w >= 0                           0
// Joint errors are made up for at the rate of the full step. Springs are implicit (weights 1).
// Left out: implicit forces other than springs; forces of velocity lag by half a step, which makes them first order.
#include "schemes/schatzman_paoli.hpp"

#include <algorithm>
#include <cmath>

#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// Share of a step below which two lengths are the same.
constexpr double same_length = 1e-9;

void fill_gaps(const VecX& w, double h, Step& s) {
    StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    const StepMemory& memory = s.memory;
    const bool regular = std::abs(h - memory.h) <= same_length * h;
    s.row_work.resize(contacts.jacobian.rows());
    contacts.jacobian.product(problem.nodes(), w, s.row_work);
    s.stabilisation.setZero(contacts.size());
    std::size_t old = 0;  // both lists are sorted by id: one merge
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        const double e = contacts.restitution[i], phi = contacts.gap[i], Nw = s.row_work[row];
        double& c = problem.c[row];
        if (regular || phi >= 0) {
            c = (1 + e) * phi / h - e * Nw;
            continue;
        }
        if (Nw >= 0) continue;
        while (old < memory.contact.size() && memory.contact[old] < contacts.id[i]) ++old;
        const bool known = old < memory.contact.size() && memory.contact[old] == contacts.id[i];
        const bool half_done = memory.h > 0 && known && memory.mode[old] != ContactMode::open;
        c = half_done ? (1 + e) * std::max(phi / memory.h, Nw) - e * Nw : e * Nw;
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

    system.mass(x.q, s.mass);
    problem.A = s.mass;
    find_rows(system, x.t, x.q, x.v, h, s);
    note_violations(x.v, s);
    watch.lap(StepTimers::find);

    // With A = M - span/2 F*, span F* (w + w+)/2 is (M w - A w) on the right and the rest of it on the left.
    problem.size_to_rows();
    fill_impulses(system, x, span, 0, s);
    s.v_star = x.v + (h_old / 2) * s.memory.v_rate;
    system.add_gyroscopic(-span / 2, s.v_star, problem.A);
    problem.A.add_product(-1, x.v, problem.r);
    s.mass.add_product(2, x.v, problem.r);
    problem.r += s.forces.potential + s.forces.applied;
    fill_bilateral(x.v, {.h = h, .chi = std::min(1.0, h / options_.step)}, s);
    fill_gaps(x.v, h, s);
    warm_start(x.v, h, s);
    watch.lap(StepTimers::fill);

    solve_stage(solver, s, report);
    watch.lap(StepTimers::solve);

    s.v_weighted = (h * x.v + h_old * s.solution.v) / (h + h_old);
    s.t_weighted = x.t;
    s.dq = h * s.solution.v;
    finish_step(system, solver, {.h = h, .t_limit = t_limit, .alpha = 1, .gamma = 1}, x, s, watch, report);
    return report;
}

}  // namespace stickslip
