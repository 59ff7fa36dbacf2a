// Moreau-Jean time-stepping: contact laws on velocities, restitution inside the step, theta rule for the forces.
//
//   (M - th h F* + th h C + th^2 h^2 K)(v+ - v) = h (k_th + F* v - th h K v) + G' lambda + H' p
//   G v+ = 0,   u = H v+ + (e N v, e_T D v) on contacts with phi + h/2 N v <= 0,   q+ = q (+) h (th v+ + (1-th) v)
//
// [Jean 1999; Haddouni (2.20)-(2.25), A.3]; k_th = th k(t+h, q, v) + (1-th) k(t, q, v), K = -dk/dq, C = -dk/dv.
// F* = F(v*) with v* = v + th h v'_est is the antisymmetric gyroscopic matrix, taken linearly implicit: at
// th = 1/2 it does no work, and with the extrapolated v* spinning bodies are integrated with order two.
//
// Joints: their rows G are taken at q_m, the middle of the move of the step as the last two steps foretell it,
//   q_m = q (+) (1-th) h (v + th h v'),    v' extrapolated to the middle of the step
// and, in joints of points, for the chords and not the arcs of their way (System::turn_joint_rows), so that G (q+ (-) q) is the change of g. With
// th = 1/2 they are asked for
//   G v+ = -G v - 2 chi g/h + c (d - d_old)      d = G v with the rows at q; d_old where the last step began; c = `calms`
// The first two terms let reactions do no work but that on the drift g, which is O(h^4), and move what drift there is out of the joint. The third
// calms speeds across the joint, which the first alone would turn round in every step for ever, and does nothing to the part of them,
// O(h^2), that goes on from step to step.
// After a start, an edit or an impact, where nothing is foretold, and for any th,
//   G v+ = -(1-th)/th (G v - d) - chi (g + (1-th) h d)/h
// makes v+ tangential at the end of the step and takes out errors of g and d within two (Anitescu and Hart; for th = 1 the linearised SHAKE method).
// With that in every step energy changed by 3e-4 of its scale in a chain of ten links (10 s, 1 ms); with rows at q a pendulum of 0.5 m lost
// a seventh of its energy and drifted by 54 mm.
//
// Steps that open joints by more than a part of `joint_tol` are solved again, with rows at the middle found; after a hit v+ is then projected onto
// the joints, since it is tangential to O(h) only. Where contacts are wedged against joints impulses are large beyond measure, and errors of O(h)
// in what rows ask for make energy: such steps are solved with G v+ = 0, which cannot, and both q and v are projected.
//
// Bodies that nothing touches, holds or turns take their spin and turn from free_turns.hpp.
//
// Where M depends on q it is taken at q_m too, and what the rule then gains or loses of energy, O(h^3), is made up for by an impulse along the
// momentum (fill_made_up): a four-bar linkage in angles swung by 3e-4 of its energy at 1 ms.
//
// On contacts position stabilisation acts only where overlap is left (`overlap`), and lifts bodies no faster than g h. By default overlap
// is pushed out of positions (parts/push_out.cpp), and contacts without rebound take part before they close.
//
// Nonlinear forces, Newton's loop [Haddouni, A.3]: the step above linearises k at (q, v). While h th (k(t+h, q+, v+) - its
// linearisation) is more than `newton_tol` as a change of velocity, the step is solved again with k linearised at the end
// just found, (q_i, v_i):
//   (M - th h F* + th h C_i + th^2 h^2 K_i) v+ = M v + (1-th) h F* v + (1-th) h k(t, q, v)
//                                               + th h (k(t+h, q_i, v_i) + (C_i + th h K_i) v_i) + G' lambda + H' p
// Forces without slopes are taken as they are at the start and need no check. M, the rows and the active contacts stay those of
// the first pass. The ledger books the last linearisation, which is the one that was solved.
//
// What a step leaves of joint errors goes with h^3 and the speed of turning. Steps that leave more than `joint_tol` are taken again,
// shorter, and those after them begin with what the last one allows: in a chain that whips, errors of the step feed on each other (ten links of
// 0.52 m at 1 ms ended at 2e6 J). Never less than a 32nd of `step`.
//
// With `tol` the step is controlled by halves [Haddouni, s.4.3.1]: halved_steps.cpp.
#include "schemes/moreau_jean.hpp"

#include <algorithm>
#include <cmath>

#include "collision/passing.hpp"
#include "schemes/moreau_jean_ahead.hpp"
#include "schemes/moreau_jean_contacts.hpp"
#include "schemes/parts/work.hpp"

namespace stickslip {

namespace {

// Of Scales::acceleration, which is a tenth of gravity: what forces move a body by in a step from rest, with something to spare.
// If smaller, bodies that hover fall freely for a step and sink in; if larger, more contacts take part that stay open.
constexpr double falls = 20;

// Of Scales::acceleration: the speed with which stabilisation lifts a body out of an overlap is what weight takes back in a step. An
// overlap of an impact is of the order h u: taken out within a step it would be a rebound, whatever the restitution and however small h.
constexpr double lifts = 10;

// Of `step`: none is cut to less for the sake of joints. If larger, bodies that are all but straight between two balls, and turn there ever
// faster, leave their joints and lose a hundredth of the energy; 1/128 takes no fewer steps and keeps no more.
constexpr double shortest_part = 1.0 / 32;
// Steps that are wedged are cut to this: their errors go with h only. Shorter steps take out a part of joint errors: g/h would throw bodies.
constexpr double wedged_part = 1.0 / 8;
// Of Tolerances::visible_error: what long steps may open joints by. If larger, warnings are met; if smaller, real-time steps are cut.
constexpr double seen = 0.2;
// Of the error that joints may have: steps that leave more are solved again, with rows where they have their middle. If larger, impacts open
// joints; if smaller, more steps are solved twice.
constexpr double looked_at = 0.25;
// Of twice the kinetic energy: more than this is not made by contacts and joints together.
constexpr double made = 1e-6;
constexpr double slow = 1e-2;  // of the energy of the run: bodies with less are as good as at rest

bool has_joints(const BilateralRows& joints) {
    return std::find(joints.kind.begin(), joints.kind.end(), RowKind::holonomic) != joints.kind.end();
}

// The point at which the forces of the end are linearised.
enum class Around { start, end_found };

// A and r with the forces of the end linearised around an end with velocity v_i: s.terms.impulses and slopes are those of there.
void fill_around_end(const System& system, const VecX& v, const VecX& v_i, double h, double th, Step& s) {
    StepProblem& problem = s.problem;
    problem.A = s.terms.mass;
    // With A_g = M - th h F*, h F* v is (M v - A_g v)/th; together with A_g v this is M v + (1 - th) h F* v.
    system.add_gyroscopic(-th * h, s.terms.v_star, problem.A);
    problem.A.add_product(-1, v, problem.r);
    s.terms.mass.add_product(1, v, problem.r);
    problem.r /= th;
    problem.A.add_product(1, v, problem.r);
    problem.A.add(th * h, s.terms.damping, th * h, s.terms.stiffness);
    s.terms.damping.add_product(th * h, v_i, problem.r);
    s.terms.stiffness.add_product(th * th * h * h, v_i, problem.r);
    problem.r += s.terms.impulses.potential + s.terms.impulses.applied;
}

// A and r of the first pass. Where the end of the step is foretold its forces are linearised there, and not at the start: what that leaves out is
// O(h^6) and not O(h^2), so that Newton's loop has nothing to do. Energy is made up for. True: the forces have slopes.
bool fill_from_ahead(const System& system, const State& x, double h, double th, Step& s, MoreauJean::Work& w) {
    fill_impulses(system, x, h, th, s);
    extrapolate_velocity(x.v, h, th, s);
    find_end_ahead(system, x, h, w);
    fill_made_up(system, x, h, s, w);
    const bool sloped = system.slopes(inside_end(x.t, h), w.q_end, w.v_end, s.terms.stiffness, s.terms.damping);
    if (sloped) {
        s.terms.end_forces = w.end_forces;
        mix_impulses(h, th, s);
        fill_around_end(system, x.v, w.v_end, h, th, s);
    } else {
        fill_dynamics(system, x, h, {.alpha = th, .gamma = th}, s);
    }
    s.problem.r += w.made_up;
    return sloped;
}

// The move of the step just solved, s.dq, and where it leads, w.q_end.
void find_end(const System& system, const State& x, double h, double th, Step& s, MoreauJean::Work& w) {
    s.v_weighted = (1 - th) * x.v + th * s.solution.v;
    s.dq = h * s.v_weighted;
    w.free_turns.turn(s.dq);
    w.q_end = x.q;
    system.advance(w.q_end, s.dq);
}

// [m/s] What the linearised forces leave out of the theta rule at the end just found, per unit of mass. Leaves the forces there in
// s.terms.end_forces. The guess of the solve is the velocity around which the forces were linearised.
double missing_speed(const System& system, const State& x, double h, double th, Around point, Step& s,
                     MoreauJean::Work& w) {
    const VecX &v = s.solution.v, &v_i = s.guess.v;
    VecX& missing = w.missing;
    missing = -(s.terms.end_forces.potential + s.terms.end_forces.applied);
    s.terms.damping.add_product(1, v, missing);
    s.terms.damping.add_product(-1, v_i, missing);
    if (point == Around::start) {
        s.terms.stiffness.add_product(1, s.dq, missing);
    } else {
        s.terms.stiffness.add_product(th * h, v, missing);
        s.terms.stiffness.add_product(-th * h, v_i, missing);
    }
    system.forces(inside_end(x.t, h), w.q_end, v, s.terms.end_forces);
    missing += s.terms.end_forces.potential + s.terms.end_forces.applied;
    double most = 0;
    for (int n = 0; n < s.terms.mass.nodes.size(); ++n) {
        const auto M = s.terms.mass.block(n);
        for (int i = 0; i < s.terms.mass.nodes.dof(n); ++i)
            most = std::max(most, std::abs(missing[s.terms.mass.nodes.start[n] + i]) / M(i, i));
    }
    return th * h * most;
}

// The rows where the step just solved has its middle: s.dq is its move.
void turn_to_middle(const System& system, const State& x, double h, double th, Step& s, MoreauJean::Work& w) {
    w.q_ahead = x.q;
    w.move = s.dq;
    s.dq *= 1 - th;
    system.advance(w.q_ahead, s.dq);
    system.turn_joint_rows(x.t + (1 - th) * h, w.q_ahead, w.move, s.problem.joints, w.ahead);
}

// [J] What contacts and joints give the bodies in the step just solved.
double energy_made(const VecX& v, Step& s) {
    s.terms.v_old = 0.5 * (v + s.solution.v);
    const RowVec& Hw = contact_speeds(s.terms.v_old, s);
    const RowVec& Gw = joint_speeds(s.terms.v_old, s);
    double work = 0;
    for (int k = 0; k < s.problem.contacts.jacobian.rows(); ++k) work += s.solution.p[k] * Hw[k];
    for (int i = 0; i < s.problem.joints.size(); ++i)
        if (s.problem.joints.kind[i] == RowKind::holonomic) work += s.solution.lambda[i] * Gw[i];
    return work;
}

// Asks for G v+ = 0 where the rows are. With that, and without rebound, v+ cannot have more energy than v and the loads give it.
void stop_at_rows(Step& s) {
    for (int i = 0; i < s.problem.joints.size(); ++i) {
        if (s.problem.joints.kind[i] != RowKind::holonomic) continue;
        s.problem.b[i] = s.terms.joint_stabilisation[i] = 0;
    }
}

// [m] By how much the step just solved leaves joints open at its end.
double end_error(const System& system, double t1, const Step& s, MoreauJean::Work& w) {
    return system.joint_error(t1, w.q_end, s.solution.v, 2 * s.tolerances.scales.length, w.ahead);
}

// What the rows of a step are filled with.
struct Filling {
    double h, theta, chi;  // [s]; [-]
    bool jointed;          // rows lie ahead,
    bool makes_up;         // and energy is made up for
    GapTerms gaps;
};

void fill_rows(const System& system, const State& x, const Filling& fill, Step& s, MoreauJean::Work& w) {
    const double th = fill.theta;
    fill_bilateral(x.v,
                   {.h = fill.h,
                    .alpha = th,
                    .gamma = th,
                    .chi = fill.chi,
                    .position_weight = th,
                    .turned = (1 - th) / th,
                    .ahead = fill.jointed ? &w.carried : nullptr},
                   s);
    fill_restitution(system, x, fill.gaps, s, w);
}

// Solves the step once more, from the solution at hand. Only the last problem is the step.
void solve_again(const System& system, Solver& solver, const State& x, const Filling& fill, Step& s,
                 MoreauJean::Work& w, Stopwatch& watch, StepReport& report) {
    s.guess = s.solution;
    s.guess.warm = true;
    watch.lap(StepTimers::fill);
    const int solves = report.solves;
    const auto remark = report.remark;
    report = {};
    report.remark = remark;
    solve_stage(solver, s, report);
    find_end(system, x, fill.h, fill.theta, s, w);
    report.solves += solves;
    watch.lap(StepTimers::solve);
}

struct NewtonLimits {
    double tol;  // [m/s]
    int passes;
};

// Newton's loop: nonlinear forces are linearised again at the end just found.
void linearise_again(const System& system, Solver& solver, const State& x, const Filling& fill,
                     const NewtonLimits& limits, Step& s, MoreauJean::Work& w, Stopwatch& watch, StepReport& report) {
    const double h = fill.h, th = fill.theta;
    Around point = fill.makes_up ? Around::end_found : Around::start;
    for (int pass = 1; missing_speed(system, x, h, th, point, s, w) > limits.tol; ++pass) {
        if (pass >= limits.passes) {
            if (pass > 1) report.remark = "the forces are too nonlinear for the step: newton_max passes did not do";
            break;
        }
        point = Around::end_found;
        mix_impulses(h, th, s);
        system.slopes(inside_end(x.t, h), w.q_end, s.solution.v, s.terms.stiffness, s.terms.damping);
        s.problem.size_to_rows();
        fill_around_end(system, x.v, s.solution.v, h, th, s);
        if (fill.makes_up) s.problem.r += w.made_up;
        fill_rows(system, x, fill, s, w);
        w.free_turns.fill(system, h, x.v, true, s);
        solve_again(system, solver, x, fill, s, w, watch, report);
    }
}

// Rows where the move has turned out to have its middle, if joints open, and reactions that make no energy.
void settle_joints(const System& system, Solver& solver, const State& x, const Filling& fill, double limit, Step& s,
                   MoreauJean::Work& w, Stopwatch& watch, StepReport& report) {
    const double t1 = x.t + fill.h;
    w.joint_error = end_error(system, t1, s, w);
    w.opened = w.joint_error > looked_at * limit;
    if (w.opened) {
        turn_to_middle(system, x, fill.h, fill.theta, s, w);
        fill_rows(system, x, fill, s, w);
        solve_again(system, solver, x, fill, s, w, watch, report);
        w.joint_error = end_error(system, t1, s, w);
    }
    if (s.problem.contacts.size() == 0) return;
    const double energy = std::max(s.terms.mass.quadratic(s.solution.v), slow * s.ledger.scale());
    w.wedged = energy_made(x.v, s) > made * energy;
    if (!w.wedged) return;
    stop_at_rows(s);
    solve_again(system, solver, x, fill, s, w, watch, report);
    w.joint_error = end_error(system, t1, s, w);
}

// After a hit: the end of the step is moved onto the joints, positions too where they were wedged.
void move_onto_joints(const System& system, Solver& solver, State& x, Step& s, const MoreauJean::Work& w) {
    static const Choice both = {projections().words, static_cast<int>(Projection::both)};
    if (w.wedged)
        project(system, solver, both, x, s);
    else
        project_speeds(system, solver, x, s);
    s.q1 = x.q;
    s.v1 = x.v;
}

}  // namespace

StepReport MoreauJean::step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const {
    return step(system, solver, x, t_limit, s, work_of<Work>(s));
}

StepReport MoreauJean::step(const System& system, Solver& solver, State& x, double t_limit, Step& s, Work& w) const {
    if (options_.tol == 0) {
        const double h = part_of_step(x.t, t_limit, w);
        StepReport report =
            step_of(h, system, solver, x, w.whole_end > x.t ? std::min(t_limit, w.whole_end) : t_limit, s, w);
        hold_joints(system, solver, x, s, w, report);
        return report;
    }
    const auto one = [&](double h, double limit) { return step_of(h, system, solver, x, limit, s, w); };
    return halved_step(system,
                       {.tol = options_.tol,
                        .first_step = options_.step,
                        .smallest_step = options_.smallest_step.in(s.tolerances),
                        .longest_step = options_.longest_step,
                        .order = options_.control_order},
                       std::ref(one), x, t_limit, s, w.halved);
}

// [s] The length of the step from t: `step`, or the next of equal parts of it that are no longer than fast joints allow.
double MoreauJean::part_of_step(double t, double t_limit, Work& w) const {
    const double h = step_length(t, options_.step, t_limit);
    if (!(w.whole_end > t)) {
        if (!(w.joint_step < h)) return h;
        w.whole_end = end_of_step(t, h, t_limit);
    }
    const double left = std::min(w.whole_end, t_limit) - t;
    const double parts = std::ceil((1 - 1e-6) * left / std::min(w.joint_step, options_.step));
    return left / parts;
}

// [m] What steps may open joints by.
double MoreauJean::joint_limit(const Step& s) const {
    // Long steps have larger errors, but none that could be seen.
    const double of_long_steps = std::min(s.tolerances.joint_error_rate * options_.step * options_.step * options_.step,
                                          seen * s.tolerances.visible_error);
    return std::max(options_.joint_tol.in(s.tolerances), of_long_steps);
}

// Asks for a shorter step where the one just taken opened joints too far, closes them by a move where it cannot be shorter, and says how
// long the next one may be.
void MoreauJean::hold_joints(const System& system, Solver& solver, State& x, Step& s, Work& w,
                             StepReport& report) const {
    const std::vector<RowKind>& kind = s.problem.joints.kind;
    if (report.status != Status::ok || options_.stabilisation == 0 ||
        std::find(kind.begin(), kind.end(), RowKind::holonomic) == kind.end())
        return;
    const double h = report.h, step = options_.step, shortest = shortest_part * step;
    const double limit = joint_limit(s);
    const double error =
        w.settled && x.q == w.q_end ? w.joint_error : system.joint_error(x.t, x.q, x.v, 2 * s.tolerances.scales.length, w.ahead);
    constexpr double aim = 0.5, bear = 0.8, growth = 2;  // of the limit; of a step
    if (error > limit && error > s.violation.joint) {
        if (h > (1 + 1e-6) * shortest) {
            report.retake = std::max(shortest, h * std::min(0.7, std::cbrt(aim * limit / error)));
        } else {
            static const Choice positions = {projections().words, static_cast<int>(Projection::positions)};
            project(system, solver, positions, x, s);
            s.q1 = x.q;
        }
    }
    // What rows ask for is wrong by O(h) where a step is wedged.
    if (w.wedged && h > (1 + 1e-6) * wedged_part * step) report.retake = wedged_part * step;
    const double room = bear * limit / error;
    const double allowed = h * (room < growth * growth * growth ? std::cbrt(room) : growth);
    // A step that was cut for other reasons says nothing against longer ones.
    w.joint_step = allowed < step ? std::max(shortest, allowed) : infinity;
}

StepReport MoreauJean::step_of(double h, const System& system, Solver& solver, State& x, double t_limit, Step& s,
                               Work& w) const {
    // A step that is cut short takes out its part of the error: g/h with h -> 0 would throw bodies apart.
    const double chi =
        options_.stabilisation * (options_.tol == 0 ? std::min(1.0, h / (wedged_part * options_.step)) : 1.0);
    StepProblem& problem = s.problem;
    StepReport report;
    Stopwatch watch(s.timers);
    begin_step(x, s);

    // Joints, and the contacts that are predicted active.
    if (problem.A.nodes != system.nodes()) problem.A.shape_diagonal(system.nodes());
    find_rows(system, x.t, x.q, x.v, h, s);
    note_violations(x.v, s);
    const double th = servo_jumps(x.v, s) ? 1.0 : options_.theta;
    const bool mass_ahead = th < 1 && !system.constant_mass();
    const bool jointed = has_joints(problem.joints);
    if (mass_ahead || (jointed && th < 1)) move_ahead(system, x, h, th, s, w);
    system.mass(mass_ahead ? w.q_ahead : x.q, s.terms.mass);
    // Where overlap is pushed out of positions, nothing is thrown out of it by velocities. Step control sees by how much bodies
    // sink in: it must not be spared that.
    const bool push = options_.overlap.index == static_cast<int>(Overlap::push);
    const double gain = falls * s.tolerances.scales.acceleration() * h * h;
    const GapTerms gaps{.h = h,
                        .theta = th,
                        .closed = options_.activation_gap.in(s.tolerances),
                        .gain = gain,
                        .fall = push && options_.tol == 0 ? gain : 0.0,
                        .chi_over_th_h = push ? 0.0 : options_.contact_stabilisation / (th * h),
                        .lift = lifts * s.tolerances.scales.acceleration() * h};
    take_out_rests(system, x, gaps, s, w);
    w.push_out.arrives = keep_predicted_active(system, x.q, x.v, gaps, s, w.hits);
    if (options_.tol > 0) s.guard->foreseen = false;  // no contact is guarded
    if (jointed) take_rows_ahead(system, x, h, th, chi, s, w);
    watch.lap(StepTimers::find);

    problem.size_to_rows();
    const Filling fill{.h = h,
                       .theta = th,
                       .chi = chi,
                       .jointed = jointed,
                       .makes_up = mass_ahead && th == 0.5 && !w.hits && knows_way(x, w.path),
                       .gaps = gaps};
    const bool sloped = fill.makes_up ? fill_from_ahead(system, x, h, th, s, w)
                                      : fill_dynamics(system, x, h, {.alpha = th, .gamma = th}, s);
    fill_rows(system, x, fill, s, w);
    w.free_turns.fill(system, h, x.v, sloped, s);
    warm_start(x.v, h, s);
    if (fill.makes_up) s.guess.v = w.v_end;
    watch.lap(StepTimers::fill);

    solve_stage(solver, s, report);
    find_end(system, x, h, th, s, w);
    watch.lap(StepTimers::solve);

    if (sloped) {
        const NewtonLimits limits{options_.newton_tol.in(s.tolerances), options_.newton_max};
        linearise_again(system, solver, x, fill, limits, s, w, watch, report);
    }
    w.opened = w.wedged = false;
    w.settled = jointed && th < 1 && options_.tol == 0 && chi > 0;
    if (w.settled)
        settle_joints(system, solver, x, fill, joint_limit(s), s, w, watch, report);

    s.t_weighted = x.t + th * h;
    const bool ahead = jointed || mass_ahead;
    if (ahead) {
        w.path.rate = s.memory.v_rate;
        w.path.h = s.memory.h;
        if (jointed) w.path.speed = w.start_speed;
    }
    finish_step(system, solver,
                {.h = h,
                 .t_limit = t_limit,
                 .alpha = th,
                 .gamma = th,
                 .projection = &options_.projection,
                 .jolt = w.wedged,
                 .push_out = push ? &w.push_out : nullptr,
                 .q_end = &w.q_end},
                x, s, watch, report);
    forget_blows(s);
    if (w.wedged || (w.opened && w.hits)) move_onto_joints(system, solver, x, s, w);
    if (ahead) note_path(x.t, th == options_.theta && !w.hits, s, w.path);
    if (push) w.halved.pushed = std::max(w.halved.pushed, w.push_out.deepest);
    return report;
}

}  // namespace stickslip
