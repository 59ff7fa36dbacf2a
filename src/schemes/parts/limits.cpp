// Joint limits are hard: a velocity-level scheme holds the speed at a limit but may have passed it by up to |G v| h in the
// step that arrives. The configuration is then moved back in the metric of the mass matrix, along the joints,
//
//   min dq' M dq / 2   with   G dq = 0,   phi_l + N_l dq >= 0        [Haddouni (2.12), with inequalities]
//
// which is the step problem with A = M, r = 0, c = phi and no friction: the run's own solver solves it. Velocities stay.
// The energy that the move costs or gives is booked as regularisation.
#include "collision/finder.hpp"
#include "schemes/parts/project.hpp"

namespace stickslip {

namespace {

// The coordinates are linear along the motion to second order: one round usually does.
constexpr int max_rounds = 3;

bool passed(const ContactRows& limits, double tolerance) {
    for (const double gap : limits.gap)
        if (gap < -tolerance) return true;
    return false;
}

}  // namespace

void hold_limits(const System& system, Solver& solver, State& x, Step& s) {
    system.limits(x.q, s.correction.limits);
    if (!passed(s.correction.limits, s.tolerances.passed_limit)) return;
    StepProblem& problem = s.correction.problem;
    for (int round = 0; round < max_rounds && passed(s.correction.limits, s.tolerances.passed_limit); ++round) {
        system.mass(x.q, problem.A);
        system.rows_on(s.sides, x.t, x.q, *s.finder, problem.joints, problem.contacts);
        problem.contacts = s.correction.limits;
        problem.size_to_rows();
        for (int i = 0; i < problem.joints.size(); ++i)
            if (problem.joints.kind[i] != RowKind::holonomic) problem.lower[i] = problem.upper[i] = 0;
        for (int i = 0; i < problem.contacts.size(); ++i) problem.c[i] = problem.contacts.gap[i];
        if (!solve_move(solver, 1, s)) break;
        system.advance(x.q, s.correction.solution.v);
        system.limits(x.q, s.correction.limits);
    }
    s.ledger.move(system, x);
}

}  // namespace stickslip
