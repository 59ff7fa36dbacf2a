// Stewart and Trinkle's time-stepping: joints and gaps at the end of the step, linearised at its start.
//
//   M v+ = M v + h (k(t, q, v) + F(v) v) + G' lambda + H' p,   q+ = q (+) h v+
//   g + h G v+ = 0,   0 <= phi + h N v+  _|_  p_N >= 0,   friction on D v+
//
// [Stewart-Trinkle 1996; Haddouni s.2.1.2.2], all rows at q, with every contact that the step can reach: one that is open at the
// end gets no impulse. Since every step asks for g+ = 0 anew, errors of joints are those of one step, O(h^2), and do not
// grow. Springs are implicit (weights 1).
//
// There is no restitution: e is taken as 0, and the report says so when such a contact is hit. In a step that is cut short,
// overlaps and joint errors are made up for at the rate of the full step.
// Left out: implicit forces (slopes are not asked for), so stiff forces other than springs need short steps.
#include "schemes/stewart_trinkle.hpp"

#include <algorithm>

#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// c_N = phi/h. What it makes up for is stabilisation, what it leaves for the motion is not.
void fill_gaps(double h, double full, Step& s) {
    StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    s.terms.stabilisation.setZero(contacts.size());
    for (int i = 0; i < contacts.size(); ++i) {
        const double c = correcting_speed(contacts.gap[i], h, full);
        problem.c[contacts.jacobian.row[i]] = c;
        s.terms.stabilisation[i] = std::min(c, 0.0);
    }
}

bool hit_one_that_rebounds(const VecX& v, Step& s) {
    const ContactRows& contacts = s.problem.contacts;
    const RowVec& speed = contact_speeds(v, s);
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        if (contacts.restitution[i] > 0 && s.solution.p[row] > 0 && speed[row] < -s.tolerances.hit_speed) return true;
    }
    return false;
}

}  // namespace

StepReport StewartTrinkle::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    const double h = step_length(x.t, options_.step, t_limit);
    StepProblem& problem = s.problem;
    StepReport report;
    Stopwatch watch(s.timers);
    begin_step(x, s);

    system.mass(x.q, s.terms.mass);
    problem.A = s.terms.mass;
    find_rows(system, x.t, x.q, x.v, h, s);
    drop_passed(system, x, h, s);
    note_violations(x.v, s);
    watch.lap(StepTimers::find);

    problem.size_to_rows();
    fill_explicit_rule(system, x, h, s);
    fill_bilateral(x.v, {.h = h, .chi = std::min(1.0, h / options_.step)}, s);
    fill_gaps(h, options_.step, s);
    warm_start(x.v, h, s);
    watch.lap(StepTimers::fill);

    solve_stage(solver, s, report);
    if (hit_one_that_rebounds(x.v, s)) report.remark = "stewart-trinkle has no rebound: restitution was taken as 0";
    watch.lap(StepTimers::solve);

    s.v_weighted = s.solution.v;
    s.t_weighted = x.t + h;
    s.dq = h * s.solution.v;
    finish_step(system, solver, {.h = h, .t_limit = t_limit, .alpha = 1, .gamma = 1}, x, s, watch, report);
    return report;
}

}  // namespace stickslip
