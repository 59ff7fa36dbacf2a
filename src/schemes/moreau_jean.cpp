// Moreau-Jean time-stepping: contact laws on velocities, restitution inside the step, theta rule for the forces.
//
//   (M - th h F* + th h C + th^2 h^2 K)(v+ - v) = h (k_th + F* v - th h K v) + G' lambda + H' p
//   G v+ = 0,   u = H v+ + (e N v, e_T D v) on contacts with phi + h/2 N v <= 0,   q+ = q (+) h (th v+ + (1-th) v)
//
// [Jean 1999; Haddouni (2.20)-(2.25), A.3]; k_th = th k(t+h, q, v) + (1-th) k(t, q, v), K = -dk/dq, C = -dk/dv.
// F* = F(v*) with v* = v + th h v'_est is the antisymmetric gyroscopic matrix, taken linearly implicit: at
// th = 1/2 it does no work, and with the extrapolated v* spinning bodies are integrated with order two.
// Position stabilisation (off by default) adds chi g/(th h) to the rows: Anitescu and Hart.
// Left out: the Newton loop for strongly nonlinear forces.
#include "schemes/moreau_jean.hpp"

#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// Leaves the contacts whose gap, at constant velocity, closes within half a step.
void keep_predicted_active(const VecX& v, double half_h, double tolerance, Step& s) {
    ContactRows& contacts = s.problem.contacts;
    s.row_work.resize(contacts.jacobian.rows());
    contacts.jacobian.product(s.problem.nodes(), v, s.row_work);
    s.wanted.resize(static_cast<std::size_t>(contacts.size()));
    bool all = true;
    for (int i = 0; i < contacts.size(); ++i) {
        s.wanted[i] = contacts.gap[i] + half_h * s.row_work[contacts.jacobian.row[i]] <= tolerance;
        all = all && s.wanted[i];
    }
    if (!all) contacts.keep(s.wanted);
}

// c_N = e N v, c_T = e_T D v, and the stabilisation chi phi/(th h): against overlap always, towards contact only without rebound.
void fill_restitution(const VecX& v, double chi_over_th_h, Step& s) {
    StepProblem& problem = s.problem;
    ContactRows& contacts = problem.contacts;
    s.row_work.resize(contacts.jacobian.rows());
    contacts.jacobian.product(problem.nodes(), v, s.row_work);
    s.stabilisation.setZero(contacts.size());
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        const double e = contacts.restitution[i], phi = contacts.gap[i];
        if (e == 0 || phi < 0) s.stabilisation[i] = chi_over_th_h * phi;
        problem.c[row] = e * s.row_work[row] + s.stabilisation[i];
        if (const double e_T = contacts.tangential_restitution[i]; e_T > 0)
            for (int k = row + 1; k < contacts.jacobian.row[i + 1]; ++k) problem.c[k] = e_T * s.row_work[k];
    }
}

}  // namespace

StepReport MoreauJean::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    const double th = options_.theta, chi = options_.stabilisation;
    const double h = step_length(x.t, options_.step, t_limit);
    StepProblem& problem = s.problem;
    StepReport report;
    Stopwatch watch(s.timers);
    begin_step(x, s);

    // Joints, and the contacts that are predicted active.
    system.mass(x.q, s.mass);
    problem.A = s.mass;
    find_rows(system, x.t, x.q, x.v, h, s);
    note_violations(x.v, s);
    keep_predicted_active(x.v, h / 2, options_.activation_gap, s);
    watch.lap(StepTimers::find);

    // A and r: with A_g = M - th h F*, h F* v is (M v - A_g v)/th.
    problem.size_to_rows();
    fill_impulses(system, x, h, th, s);
    s.v_star = x.v + th * h * s.memory.v_rate;
    system.add_gyroscopic(-th * h, s.v_star, problem.A);
    problem.A.add_product(-1, x.v, problem.r);
    s.mass.add_product(1, x.v, problem.r);
    problem.r /= th;
    if (system.slopes(x.t, x.q, x.v, s.stiffness, s.damping)) {
        for (std::size_t i = 0; i < problem.A.values.size(); ++i)
            problem.A.values[i] += th * h * (s.damping.values[i] + th * h * s.stiffness.values[i]);
        s.stiffness.add_product(-th * h * h, x.v, problem.r);
    }
    problem.A.add_product(1, x.v, problem.r);
    problem.r += s.forces.potential + s.forces.applied;
    fill_bilateral(x.v, {.h = h, .alpha = th, .gamma = th, .chi = chi, .position_weight = th}, s);
    fill_restitution(x.v, chi / (th * h), s);
    warm_start(x.v, h, s);
    watch.lap(StepTimers::fill);

    solve_stage(solver, s, report);
    watch.lap(StepTimers::solve);

    // Motion, and what the next step needs to know of this one.
    s.v_weighted = (1 - th) * x.v + th * s.solution.v;
    s.t_weighted = x.t + th * h;
    s.dq = h * s.v_weighted;
    s.memory.v_rate = (s.solution.v - x.v) / h;
    system.advance(x.q, s.dq);
    x.v = s.solution.v;
    x.t = end_of_step(x.t, h, t_limit);
    s.t1 = x.t;
    s.q1 = x.q;
    s.v1 = x.v;
    note_impulses(s);
    note_mode_changes(x.t, s);
    remember(h, s);
    watch.lap(StepTimers::advance);

    s.ledger.book(system, {.t0 = s.t0,
                           .t1 = s.t1,
                           .q0 = &s.q0,
                           .v0 = &s.v0,
                           .q1 = &s.q1,
                           .v1 = &s.v1,
                           .problem = &problem,
                           .solution = &s.solution,
                           .impulses = &s.forces,
                           .mass = &s.mass,
                           .stabilisation = &s.stabilisation,
                           .joint_stabilisation = &s.joint_stabilisation,
                           .alpha = th,
                           .gamma = th,
                           .extra = nullptr});
    project(system, solver, options_.projection, x, s);
    hold_limits(system, solver, x, s);
    s.q1 = x.q;
    s.v1 = x.v;
    watch.lap(StepTimers::book);
    report.t = x.t;
    report.h = h;
    return report;
}

}  // namespace stickslip
