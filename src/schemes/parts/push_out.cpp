// Velocity-level contact stops bodies where the step finds them: one that arrives with u overlaps by up to h |u|, and nothing
// in the velocities ever takes that out again. So positions are moved after the step, in the metric of the mass matrix,
//
//   min |dq|_M   with   G dq = 0,   N dq >= push_i  where phi_i < -left_i,   N dq >= -max(phi_i + slop/2, 0)  elsewhere
//
// which is the step problem with A = M, r = 0, no friction. Many bodies without joints are moved by a few sweeps, since a move that is only
// nearly the least will do and what is left is pushed in the next step; with joints, which must be kept, the run's own solver moves
// them. Exact moves of a pile of 1000 spheres took a hundred times as long as its step. Velocities and angular momenta stay as they are: nothing is
// thrown, and an impact has rebounded by its restitution before. What is left in overlap:
//
//   left_i = slop + h max(u_i, 0)      e = 0: what the velocity u_i of the end takes out in the next step anyway
//   left_i = slop + min(h |u_i|, deep)    e > 0: also while it approaches, since it rebounds in the next step, but no deeper than a
//                                      share of the thickness of the bodies: long steps would let them pass through each other
//   push_i = min(-phi_i - left_i + slop/2,  max(-phi_i - old_i, 0) + h speed)       old_i: overlap of the two shapes before the step
//
// The rebounds of a contact that comes to rest need their overlap: moved out they would go on for ever with speeds of
// g h/(1 + e), left by h |u| they stay active and die out like powers of e. The target lies slop/2 inside, so that a contact at
// rest stays active and nothing is moved again. The bound lets an overlap that the step itself has made go at once, and an older
// one at `speed`.
//
// Under a budget of time sweeps and moves end with the step; what they leave the next steps push out. Where not even one look fits in, the rows
// of the step are taken for those of its end, with gaps that have changed as the rows say: contacts that had no row are pushed a step later.
//
// Contacts give way by a small S, so that the problem always has a solution: a body in a gap that is too narrow stays in it.
#include "schemes/parts/push_out.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "math/so3.hpp"
#include "schemes/parts/project.hpp"

namespace stickslip {

namespace {

// Of Tolerances::visible_error: overlaps that nobody sees, and that keep resting contacts active. If smaller, resting bodies are
// moved for ever; if larger, they are seen to sink.
constexpr double slop_share = 0.1;
// The same of System::overlap_limit, half the thickness of a body, where there are many bodies. In a heap every move is a new start for
// the solver: of 500 spheres of 0.2 m a quarter of the steps could not be certified, with this one in ten. Bodies are counted and not contacts, whose
// number changes: a heap at rest was moved where it fell below the limit.
constexpr double heap_slop_share = 5e-3;
constexpr int heap_bodies = 30;
// Of Scales::speed: what old overlaps are pushed out with. If larger, bodies that start deep seem to jump; if smaller, they seem
// stuck.
constexpr double speed_share = 0.25;
// Contacts farther than this many pushes are not reached by the move. If it were smaller, a lever might reach one.
constexpr double pushes_within_reach = 4;
// S as a share of N M^-1 N', of each contact alone. If larger, light bodies under heavy ones are left behind, and a box on two
// corners is moved otherwise than on one; if smaller, bodies that are squeezed from both sides make the problem singular.
constexpr double softness = 1e-9;
// Of the largest push: errors of a move by sweeps, and how many there are at most.
constexpr double sweep_error = 1e-2;
constexpr int max_sweeps = 30;
// Up to so many contacts the move is found exactly: that costs no more.
constexpr int few_contacts = 40;
// Of one step. A deep overlap lets go along another normal than the one it was entered by, and a body moved out of one may be moved
// into another: after one move ten boxes falling with 1/60 s overlapped by up to 34 mm, after three by no more than they may keep.
constexpr int max_moves = 4;
// A move below this share of what was asked for is none: the bodies are squeezed.
constexpr double smallest_move = 1e-6;

// Of the time of a look from step to step. If smaller, one quick look lets the next one take too long; if larger, a slow one is remembered
// for many steps in which there was time to look.
constexpr double forgetting = 0.9;

// Of System::overlap_limit, half the thickness of a body: what a contact with restitution may keep, and what is worth another move. The
// verdict doubts 0.08. If smaller, rebounds at ordinary steps are moved, which gives them energy; if larger, boxes falling with 1/60 s pass
// through each other.
constexpr double deep_share = 0.04;

// [m] What every contact may keep, which tells most of those at rest.
double least_slop(const Step& s) { return slop_share * s.tolerances.visible_error; }

// [m] What one of `rows` may keep.
double slop_of(const System& system, const Step& s, const ContactRows& rows, int i) {
    const double slop = least_slop(s);
    if (system.nodes().size() <= heap_bodies) return slop;
    const double limit = system.overlap_limit(rows.id[i]);
    return std::isfinite(limit) ? std::max(slop, heap_slop_share * limit) : slop;
}

// [m] Overlap that is not pushed out of contact i with normal speed u at the end of the step.
double left(const System& system, const ContactRows& rows, int i, double u, double h, double slop) {
    if (rows.restitution[i] == 0) return slop + h * std::max(u, 0.0);
    const double travel = h * std::abs(u);
    return slop + std::min(travel, deep_share * system.overlap_limit(rows.id[i]));
}

// N x of contact i: the first row of its group.
double normal_product(const ContactRows& rows, const Nodes& nodes, int i, const VecX& x) {
    double u = 0;
    for (const BlockRows::Block& block : rows.jacobian.blocks_of(i)) {
        const double* row = rows.jacobian.values.data() + block.offset;
        for (int c = 0; c < nodes.dof(block.node); ++c) u += row[c] * x[nodes.start[block.node] + c];
    }
    return u;
}

// Whether the rows of the step, taken as straight, say that an overlap is left: no row is evaluated for this.
bool may_overlap(const System& system, double h, const Step& s) {
    const ContactRows& rows = s.problem.contacts;
    const Nodes& nodes = s.problem.nodes();
    for (int i = 0; i < rows.size(); ++i) {
        const double gap = rows.gap[i] + normal_product(rows, nodes, i, s.dq);
        if (!(gap < -least_slop(s))) continue;
        const double slop = slop_of(system, s, rows, i);
        if (gap < -slop && gap < -left(system, rows, i, normal_product(rows, nodes, i, s.v1), h, slop)) return true;
    }
    return false;
}

// [m] The deepest overlap of the two shapes at the start of the step, by whatever features; 0: none.
double overlap_before(const ContactRows& rows, const ContactId& id) {
    ContactId first = id;
    first.part = first.feature = {};
    const auto begin = std::lower_bound(rows.id.begin(), rows.id.end(), first);
    double deepest = 0;
    for (auto at = begin; at != rows.id.end() && at->kind == id.kind && at->a == id.a && at->b == id.b; ++at)
        deepest = std::max(deepest, -rows.gap[at - rows.id.begin()]);
    return deepest;
}

// The contacts at x, whose rows have one line each; or, without asking the system, those of the step as straight lines.
void find_gaps(const System& system, bool straight, const State& x, Step& s, PushOut& w) {
    if (!straight) {
        system.normal_rows_on(s.sides, x.t, x.q, *s.finder, s.correction.problem.joints, w.found);
        w.rows = &w.found;
        w.gap.assign(w.found.gap.begin(), w.found.gap.end());
        return;
    }
    w.rows = &s.problem.contacts;
    w.gap.resize(w.rows->gap.size());
    for (int i = 0; i < w.rows->size(); ++i) w.gap[i] = w.rows->gap[i] + normal_product(*w.rows, system.nodes(), i, s.dq);
}

// By how much each contact is to be pushed. Returns the largest of these moves.
double ask_for_moves(const System& system, double h, double speed, const State& x, const Step& s, PushOut& w) {
    const ContactRows& rows = *w.rows;
    const Nodes& nodes = system.nodes();
    w.push.assign(static_cast<std::size_t>(rows.size()), 0.0);
    double largest = 0;
    for (int i = 0; i < rows.size(); ++i) {
        const double gap = w.gap[i];
        if (!(gap < -least_slop(s))) continue;
        const double slop = slop_of(system, s, rows, i);
        if (!(gap < -slop)) continue;
        const double kept = left(system, rows, i, normal_product(rows, nodes, i, x.v), h, slop);
        if (!(gap < -kept)) continue;
        const double old = overlap_before(s.problem.contacts, rows.id[i]);
        w.push[i] = std::min(-gap - kept + slop / 2, std::max(-gap - old, 0.0) + h * speed);
        if (!(w.push[i] > 0)) continue;
        if (-gap > w.now) {
            w.now = -gap;
            w.excess = -gap - kept;
            w.where = rows.id[i];
        }
        largest = std::max(largest, w.push[i]);
    }
    return largest;
}

// Bodies that contacts within reach and joints connect to an overlap that is pushed.
void find_islands(const Nodes& nodes, double farthest, const BilateralRows& joints, PushOut& w) {
    w.groups.reset(nodes.size());
    w.groups.join(joints.jacobian);
    const ContactRows& rows = *w.rows;
    for (int i = 0; i < rows.size(); ++i)
        if (w.gap[i] <= farthest) w.groups.join(rows.jacobian, i);
    w.moves.assign(static_cast<std::size_t>(nodes.size()), 0);
    for (int i = 0; i < rows.size(); ++i)
        if (w.push[i] > 0)
            for (const BlockRows::Block& block : rows.jacobian.blocks_of(i))
                w.moves[w.groups.root_of(block.node)] = 1;
}

bool takes_part(double farthest, int i, PushOut& w) {
    if (!(w.gap[i] <= farthest)) return false;
    const auto blocks = w.rows->jacobian.blocks_of(i);
    return !blocks.empty() && w.moves[w.groups.root_of(blocks[0].node)];
}

// [1/kg] N M^-1 N' of a contact with one row, with the diagonal of M alone: a size, not more.
double mobility(const ContactRows& rows, const BlockMatrix& mass, int i) {
    double sum = 0;
    for (const BlockRows::Block& block : rows.jacobian.blocks_of(i)) {
        const auto M = mass.block(block.node);
        const double* row = rows.jacobian.values.data() + block.offset;
        for (int c = 0; c < M.rows(); ++c) sum += row[c] * row[c] / M(c, c);
    }
    return sum;
}

// The problem of the move: the normal rows of the contacts that take part, in the order found.
void fill_move(const System& system, double farthest, const State& x, Step& s, PushOut& w) {
    StepProblem& problem = s.correction.problem;
    const Nodes& nodes = system.nodes();
    ContactRows& rows = problem.contacts;
    rows.clear();
    const ContactRows& all = *w.rows;
    std::size_t kept = 0;
    for (int i = 0; i < all.size(); ++i) {
        if (!takes_part(farthest, i, w)) continue;
        rows.begin_contact(all.id[i], 1, w.gap[i], 0, 0, 0);
        for (const BlockRows::Block& block : all.jacobian.blocks_of(i)) {
            const double* row = all.jacobian.values.data() + block.offset;
            auto copy = rows.jacobian.add_block(block.node, nodes.dof(block.node));
            for (int c = 0; c < nodes.dof(block.node); ++c) copy(0, c) = row[c];
        }
        w.push[kept++] = w.push[i];
    }
    w.push.resize(kept);
    system.mass(x.q, problem.A);
    problem.size_to_rows();
    for (int i = 0; i < problem.joints.size(); ++i)
        if (problem.joints.kind[i] != RowKind::holonomic) problem.lower[i] = problem.upper[i] = 0;
    for (int i = 0; i < rows.size(); ++i) {
        problem.c[i] = w.push[i] > 0 ? -w.push[i] : std::max(rows.gap[i] + slop_of(system, s, rows, i) / 2, 0.0);
        problem.S[i] = softness * mobility(rows, problem.A, i);
    }
}

// Whether the move, which need not solve its problem exactly, comes nearer to what was asked for: sum of the squares of what is missing. What
// contacts may keep does not count: where they keep 0.2 mm and 1e-12 m more is asked for, nothing would ever seem to move.
bool improves(const VecX& move, double scale, const StepProblem& problem) {
    if (!move.allFinite()) return false;
    double before = 0, after = 0;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const double asked = -problem.c[i] / scale;
        const double missing = std::max(asked - normal_product(problem.contacts, problem.nodes(), i, move), 0.0);
        before += asked > 0 ? asked * asked : 0;
        after += missing * missing;
    }
    return after < (1 - smallest_move) * before;
}

bool is_found_exactly(const Step& s) {
    return s.correction.problem.joints.size() > 0 || s.correction.problem.contacts.size() <= few_contacts;
}

// Sweeps for the move, from none, into s.correction.solution.v. Looked at in between they leave the point with the smallest residual, else the last.
void sweep_move(NsgsSolver::Looks looks, Step& s, PushOut& w) {
    w.sweeps.options.tol = sweep_error;
    w.sweeps.options.polish = false;
    Budget until_end;
    until_end.deadline = s.deadline;
    w.meter.start(until_end);
    w.sweeps.meter = &w.meter;
    s.correction.solution.size_to(s.correction.problem);
    reset_solution(s.correction.solution);
    SolveReport report;
    // Where no time is left one sweep is all there is, and nobody asks how good it is but improves().
    w.sweeps.looks = w.meter.used_up() ? NsgsSolver::Looks::never : looks;
    w.sweeps.sweep(s.correction.problem, s.correction.solution, max_sweeps, report);
}

enum class Move { helps, none, not_looked_for };  // the last: time was used up before it could be told

// The move, of which `largest` is asked for at most.
Move find_move(Solver& solver, double largest, Step& s, PushOut& w) {
    const auto helps = [&] {
        s.correction.move = largest * s.correction.solution.v;
        return improves(s.correction.move, 1 / largest, s.correction.problem);
    };
    const auto in_time = [&] { return s.deadline == infinity || processor_time() < s.deadline; };
    if (is_found_exactly(s)) {
        const bool found = solve_move(solver, 1 / largest, s);
        if (helps()) return Move::helps;
        return found || s.deadline == infinity ? Move::none : Move::not_looked_for;
    }
    s.correction.problem.c *= 1 / largest;
    sweep_move(NsgsSolver::Looks::in_between, s, w);
    if (helps()) return Move::helps;
    if (!in_time()) return Move::not_looked_for;
    // Where light bodies lie between heavy ones the residual is smallest before anything has moved, though all but they have room.
    sweep_move(NsgsSolver::Looks::never, s, w);
    if (helps()) return Move::helps;
    return in_time() ? Move::none : Move::not_looked_for;
}

// Bodies that spin keep their angular momentum while the move turns them: J omega is turned back by as much in their axes. With omega as it was,
// momentum would turn along, and bodies that leave an overlap would fly on with some percent of it wrong.
void keep_spins(const System& system, const BlockMatrix& mass, const VecX& move, VecX& v) {
    const Nodes& nodes = system.nodes();
    for (int n = 0; n < nodes.size(); ++n) {
        if (!system.is_body_in_space(n)) continue;
        const int first = nodes.start[n] + 3;
        const Vec3 turn = move.segment<3>(first), omega = v.segment<3>(first);
        if (turn.isZero(0) || omega.isZero(0)) continue;
        const Mat3 inertia = mass.block(n).bottomRightCorner<3, 3>();
        v.segment<3>(first) = inertia.inverse() * (rotation_by(-turn) * Vec3(inertia * omega));
    }
}

// One move. True: it was for an overlap so deep that another look is worth while.
bool move_apart(const System& system, Solver& solver, double h, double speed, bool straight, State& x, Step& s, PushOut& w) {
    w.now = 0;
    find_gaps(system, straight, x, s, w);
    const double largest = ask_for_moves(system, h, speed, x, s, w);
    if (!(largest > s.tolerances.gap_rounding)) return false;
    w.deepest = std::max(w.deepest, w.now);
    const bool deep = w.now > deep_share * system.overlap_limit(w.where);
    const double farthest = pushes_within_reach * largest;
    find_islands(system.nodes(), farthest, s.correction.problem.joints, w);
    fill_move(system, farthest, x, s, w);
    if (s.deadline < infinity) w.looked_until = processor_time();
    const Move found = find_move(solver, largest, s, w);
    if (found != Move::helps) {
        w.deep = w.excess > deep_share * system.overlap_limit(w.where);
        // A few sweeps may have missed what there is, and so may a solver whose time was used up: whether bodies exclude each other is then not
        // asked, which takes as long as many steps.
        w.squeezed = found == Move::none && !straight && (w.deep || is_found_exactly(s));
        return false;
    }
    system.advance(x.q, s.correction.move);
    keep_spins(system, s.correction.problem.A, s.correction.move, x.v);
    s.ledger.move(system, x);
    return deep && !straight;
}

// Whether a look would take longer than the step may. Joints, which must be kept, are looked at in any case.
bool no_time_to_look(const Step& s, double now, const PushOut& w) {
    return s.deadline < infinity && s.problem.joints.size() == 0 &&
           now + w.look_time * s.problem.contacts.size() > s.deadline;
}

}  // namespace

void push_out(const System& system, Solver& solver, double h, State& x, Step& s, PushOut& w) {
    w.deepest = 0;
    w.squeezed = w.deep = false;
    if (!w.arrives && !may_overlap(system, h, s)) return;
    double speed = speed_share * s.tolerances.scales.speed;  // once per step
    const bool timed = s.deadline < infinity;
    double before = timed ? processor_time() : 0;
    const bool straight = no_time_to_look(s, before, w);
    for (int k = 0; k < max_moves; ++k) {
        w.looked_until = 0;
        const bool again = move_apart(system, solver, h, speed, straight, x, s, w);
        if (timed) {
            const double now = processor_time(), looked = w.looked_until > 0 ? w.looked_until : now;
            const int contacts = s.problem.contacts.size();
            if (straight) {
                w.look_time *= forgetting;
                s.left_out = std::max(w.look_time * contacts - (now - before), 0.0);
            } else if (contacts > 0) {
                w.look_time = std::max((looked - before) / contacts, forgetting * w.look_time);
            }
            if (now >= s.deadline || no_time_to_look(s, now, w)) break;
            before = now;
        }
        if (!again) break;
        speed = 0;
    }
}

}  // namespace stickslip
