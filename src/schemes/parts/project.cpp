// A scheme that holds joints by velocity leaves them by O(h^2) per step. Projection moves the end of the step to the nearest
// state on the joints, in the metric of the mass matrix [Haddouni, (2.12), (2.13)]:
//
//   positions    min |dq|_M   with  G dq = -g,  N dq >= -max(phi, 0)        Newton rounds until g is rounding
//   velocities   min |dv|_M   with  G (v + dv) = 0 (w for motors without bounds),  N (v + dv) >= min(N v, 0)
//
// with the contacts near enough to be reached, and for velocities those that are active: the step problem with r = 0 and
// no friction, solved by the run's own solver. Both are scaled so that the largest error is 1: the tolerance of the
// solver is then relative to the error, not a length. An overlap stays as it is (contacts do not drift, they are
// pushed out by `stabilisation`). Left out: friction in the move, so a contact that sticks may get a slip of the size of |G v|.
#include "schemes/parts/project.hpp"

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "diagnose/redundancy.hpp"

namespace stickslip {

namespace {

// Newton's rounds. Convergence is quadratic from errors of O(h^2): three reach rounding.
constexpr int max_projections = 6;
// Contacts farther than this many largest errors are not reached by the move. If it were smaller, a lever might reach one.
constexpr double reach = 100;

bool rigid(const BilateralRows& joints, int i) {
    return joints.kind[i] == RowKind::holonomic ||
           (joints.kind[i] == RowKind::velocity && joints.force_lower[i] == -infinity &&
            joints.force_upper[i] == infinity);
}

// Rows at x into the problem of the move, without friction.
void load(const System& system, const State& x, Step& s) {
    StepProblem& problem = s.correction.problem;
    system.rows_on(s.sides, x.t, x.q, *s.finder, problem.joints, problem.contacts);
    std::fill(problem.contacts.friction.begin(), problem.contacts.friction.end(), 0.0);
}

double largest_error(const BilateralRows& joints) {
    double error = 0;
    for (int i = 0; i < joints.size(); ++i)
        if (joints.kind[i] == RowKind::holonomic) error = std::max(error, std::abs(joints.value[i]));
    return error;
}

bool project_positions(const System& system, Solver& solver, State& x, Step& s) {
    StepProblem& problem = s.correction.problem;
    bool moved = false;
    double before = infinity;
    for (int round = 0; round < max_projections; ++round) {
        load(system, x, s);
        const double error = largest_error(problem.joints);
        // Rows that depend on others may keep what the others do not leave them.
        if (!(error > s.tolerances.gap_rounding) || !(error < 0.5 * before)) break;
        before = error;
        ContactRows& contacts = problem.contacts;
        s.terms.wanted.resize(static_cast<std::size_t>(contacts.size()));
        for (int i = 0; i < contacts.size(); ++i) s.terms.wanted[i] = contacts.gap[i] <= reach * error;
        contacts.keep(s.terms.wanted);
        system.mass(x.q, problem.A);
        problem.size_to_rows();
        for (int i = 0; i < problem.joints.size(); ++i) {
            if (problem.joints.kind[i] == RowKind::holonomic)
                problem.b[i] = -problem.joints.value[i];
            else
                problem.lower[i] = problem.upper[i] = 0;
        }
        for (int i = 0; i < contacts.size(); ++i) problem.c[contacts.jacobian.row[i]] = std::max(contacts.gap[i], 0.0);
        if (!solve_move(solver, 1 / error, s)) break;
        s.correction.move = error * s.correction.solution.v;
        system.advance(x.q, s.correction.move);
        moved = true;
    }
    return moved;
}

bool project_velocities(const System& system, Solver& solver, State& x, Step& s) {
    StepProblem& problem = s.correction.problem;
    load(system, x, s);
    ContactRows& contacts = problem.contacts;
    const ContactRows& active = s.problem.contacts;
    s.terms.wanted.resize(static_cast<std::size_t>(contacts.size()));
    for (int i = 0, at = 0; i < contacts.size(); ++i) {
        while (at < active.size() && active.id[at] < contacts.id[i]) ++at;
        s.terms.wanted[i] =
            at < active.size() && active.id[at] == contacts.id[i] && s.solution.modes[at] != ContactMode::open;
    }
    contacts.keep(s.terms.wanted);
    system.mass(x.q, problem.A);
    problem.size_to_rows();

    RowVec &Gv = s.correction.joint_speed, &Hv = s.correction.contact_speed;
    Gv.resize(problem.joints.size());
    problem.joints.jacobian.product(problem.nodes(), x.v, Gv);
    double error = 0;
    for (int i = 0; i < problem.joints.size(); ++i) {
        if (!rigid(problem.joints, i)) {
            problem.lower[i] = problem.upper[i] = 0;
            continue;
        }
        problem.b[i] = (problem.joints.kind[i] == RowKind::velocity ? problem.joints.target[i] : 0.0) - Gv[i];
        error = std::max(error, std::abs(problem.b[i]));
    }
    if (!(error > s.tolerances.gap_rounding / s.tolerances.scales.time())) return false;
    Hv.resize(contacts.jacobian.rows());
    contacts.jacobian.product(problem.nodes(), x.v, Hv);
    for (int i = 0; i < contacts.size(); ++i)
        problem.c[contacts.jacobian.row[i]] = std::max(Hv[contacts.jacobian.row[i]], 0.0);
    if (!solve_move(solver, 1 / error, s)) return false;
    x.v += error * s.correction.solution.v;
    return true;
}

}  // namespace

bool solve_move(Solver& solver, double scale, Step& s) {
    StepProblem& problem = s.correction.problem;
    problem.b *= scale;
    problem.c *= scale;
    s.redundancy->switch_off(problem);
    s.correction.solution.size_to(problem);
    s.correction.solution.warm = false;
    return solver.solve(problem, s.correction.solution).status == Status::ok;
}

void project(const System& system, Solver& solver, const Choice& what, State& x, Step& s) {
    const auto kind = static_cast<Projection>(what.index);
    if (kind == Projection::off) return;
    bool moved = project_positions(system, solver, x, s);
    if (kind == Projection::both) moved |= project_velocities(system, solver, x, s);
    if (moved) s.ledger.move(system, x);
}

void project_speeds(const System& system, Solver& solver, State& x, Step& s) {
    if (project_velocities(system, solver, x, s)) s.ledger.move(system, x);
}

}  // namespace stickslip
