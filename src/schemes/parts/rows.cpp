#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/finder.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// Share of a step below which a difference in time is rounding of t, not a shorter step.
constexpr double grid_rounding = 1e-9;

}  // namespace

double step_length(double t, double h, double t_limit) {
    const double left = t_limit - t;
    if (std::abs(left - h) <= grid_rounding * h) return h;
    return left < h * (1 + 1e-3) ? left : h;
}

double end_of_step(double t, double h, double t_limit) {
    // Very short steps: rounding of t itself may be more than their share.
    const double near = std::max(grid_rounding * h, 4 * std::numeric_limits<double>::epsilon() * std::abs(t_limit));
    if (std::abs(t + h - t_limit) <= near) return t_limit;
    const double n = std::round(t / h);
    return std::abs(t - n * h) <= grid_rounding * h ? (n + 1) * h : t + h;
}

double length_to_grid(double t, double h, double t_limit) {
    const double n = std::floor(t / h + 1e-9) + 1;
    return step_length(t, n * h - t > 1e-9 * h ? n * h - t : h, t_limit);
}

double end_on_grid(double t, double length, double h, double t_limit) {
    if (std::abs(t + length - t_limit) <= 1e-9 * h) return t_limit;
    const double n = std::round((t + length) / h);
    return std::abs(t + length - n * h) <= 1e-9 * h ? n * h : t + length;
}

void begin_step(const State& x, Step& s) {
    s.t0 = x.t;
    s.q0 = x.q;
    s.v0 = x.v;
    s.contacts.clear();
    s.events.clear();
    s.reactions.setZero(0);
    s.multipliers.setZero(0);
    s.path.degree = 0;
    s.middle.t = -infinity;
    s.violation = {};
}

void find_rows(const System& system, double t, const VecX& q, const VecX& v, double h, Step& s) {
    StepProblem& problem = s.problem;
    system.look_ahead(v, h, *s.finder);
    system.find_candidates(q, *s.finder);
    system.rows_on(s.sides, t, q, *s.finder, problem.joints, problem.contacts);
}

void drop_passed(const System& system, const State& x, double h, Step& s) {
    std::vector<char>& wanted = s.terms.wanted;
    wanted.assign(static_cast<std::size_t>(s.problem.contacts.size()), 1);
    system.leave_out_passed(x.q, x.v, h, s.problem.contacts, wanted, *s.guard);
    if (std::find(wanted.begin(), wanted.end(), 0) != wanted.end()) s.problem.contacts.keep(wanted);
}

const RowVec& contact_speeds(const VecX& v, Step& s) {
    RowVec& Hv = s.terms.contact_speed;
    Hv.resize(s.problem.contacts.jacobian.rows());
    s.problem.contacts.jacobian.product(s.problem.nodes(), v, Hv);
    return Hv;
}

const RowVec& joint_speeds(const VecX& v, Step& s) {
    RowVec& Gv = s.terms.joint_speed;
    Gv.resize(s.problem.joints.size());
    s.problem.joints.jacobian.product(s.problem.nodes(), v, Gv);
    return Gv;
}

void note_violations(const VecX& v, Step& s) { note_violations(v, s.problem.joints, s.problem.contacts, s); }

void note_violations(const VecX& v, const BilateralRows& joints, const ContactRows& contacts, Step& s) {
    for (int i = 0; i < contacts.size(); ++i) {
        if (!(-contacts.gap[i] > s.violation.gap)) continue;
        s.violation.gap = -contacts.gap[i];
        s.violation.deepest = contacts.id[i];
    }
    RowVec& Gv = s.terms.joint_speed;
    Gv.resize(joints.size());
    joints.jacobian.product(s.problem.nodes(), v, Gv);
    for (int i = 0; i < joints.size(); ++i) {
        if (joints.kind[i] != RowKind::holonomic) continue;
        s.violation.joint = std::max(s.violation.joint, std::abs(joints.value[i]));
        s.violation.joint_speed = std::max(s.violation.joint_speed, std::abs(Gv[i]));
    }
}

}  // namespace stickslip
