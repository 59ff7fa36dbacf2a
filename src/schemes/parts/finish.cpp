// What follows the solve in schemes whose step is one stage.
#include "schemes/parts/project.hpp"
#include "schemes/parts/push_out.hpp"

namespace stickslip {

void finish_step(const System& system, Solver& solver, const StageEnd& end, State& x, Step& s, Stopwatch& watch,
                 StepReport& report) {
    // Motion, and what the next step needs to know of this one.
    s.memory.v_rate = (s.solution.v - x.v) / end.h;
    if (end.q_end)
        x.q = *end.q_end;
    else
        system.advance(x.q, s.dq);
    x.v = s.solution.v;
    x.t = end_of_step(x.t, end.h, end.t_limit);
    s.t1 = x.t;
    s.q1 = x.q;
    s.v1 = x.v;
    note_impulses(s);
    note_mode_changes(x.t, s);
    remember(end.h, s);
    watch.lap(StepTimers::advance);

    Stage stage = solved_stage(s, {s.t0, s.q0, s.v0}, {s.t1, s.q1, s.v1});
    stage.alpha = end.alpha;
    stage.gamma = end.gamma;
    stage.jolt = end.jolt;
    s.ledger.book(system, stage);
    if (end.projection) project(system, solver, *end.projection, x, s);
    if (end.limits_held) hold_limits(system, solver, x, s);
    if (end.push_out) push_out(system, solver, end.h, x, s, *end.push_out);
    if (end.push_out && end.push_out->squeezed && report.status == Status::ok) {
        if (end.push_out->deep) {
            report.status = Status::infeasible;
            report.reason = "bodies overlap deeply and are squeezed from both sides: nothing can push them apart";
        } else if (!*report.remark) {
            report.remark =
                "bodies sit in gaps that are too narrow for them: rigid contacts do not press for that, so that its "
                "friction is missing";
        }
    }
    s.q1 = x.q;
    s.v1 = x.v;
    watch.lap(StepTimers::book);
    report.t = x.t;
    report.h = end.h;
}

}  // namespace stickslip
