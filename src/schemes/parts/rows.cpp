#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

double step_length(double t, double h, double t_limit) {
    const double left = t_limit - t;
    return left < h * (1 + 1e-3) ? left : h;
}

double end_of_step(double t, double h, double t_limit) { return h == t_limit - t ? t_limit : t + h; }

void begin_step(const State& x, Step& s) {
    s.t0 = x.t;
    s.q0 = x.q;
    s.v0 = x.v;
    s.contacts.clear();
    s.events.clear();
    s.reactions.setZero(0);
    s.gap_violation = s.joint_violation = s.joint_speed_violation = 0;
}

void find_rows(const System& system, double t, const VecX& q, const VecX& v, double h, Step& s) {
    StepProblem& problem = s.problem;
    system.look_ahead(v, h, *s.finder);
    system.rows(t, q, *s.finder, problem.joints, problem.contacts);
}

void note_violations(const VecX& v, Step& s) {
    const StepProblem& problem = s.problem;
    for (const double phi : problem.contacts.gap) s.gap_violation = std::max(s.gap_violation, -phi);
    const JointRows& joints = problem.joints;
    s.row_work.resize(joints.size());
    joints.jacobian.product(problem.nodes(), v, s.row_work);
    for (int i = 0; i < joints.size(); ++i) {
        if (joints.kind[i] != RowKind::holonomic) continue;
        s.joint_violation = std::max(s.joint_violation, std::abs(joints.value[i]));
        s.joint_speed_violation = std::max(s.joint_speed_violation, std::abs(s.row_work[i]));
    }
}

}  // namespace stickslip
