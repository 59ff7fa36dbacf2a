// Around one solve: the guess, the call, and what is kept of it.
#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "diagnose/contact_shares.hpp"
#include "diagnose/redundancy.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// After an edit: the impulses of the groups that are still there. Their order stays, so a search that goes on where the last
// one ended finds the next at once; a group that is new costs one round.
void match_groups(const StepMemory& memory, const BilateralRows& joints, double scale, RowVec& lambda) {
    const std::size_t n = memory.joint.size();
    std::size_t at = 0;
    for (int g = 0; g < joints.jacobian.groups(); ++g) {
        std::size_t tried = 0;
        for (; tried < n && memory.joint[at] != joints.id[g]; ++tried) at = at + 1 < n ? at + 1 : 0;
        if (tried == n) continue;
        const int first = joints.jacobian.row[g], old = memory.joint_row[at], dim = memory.joint_row[at + 1] - old;
        for (int k = 0; k < dim && dim == joints.jacobian.dim(g); ++k)
            lambda[first + k] = scale * memory.lambda[old + k];
    }
}

// [m/s] Row k of contact i, and the slip of the contact.
double row_speed(const StepProblem& problem, int i, int k, const VecX& v) {
    const ContactRows& rows = problem.contacts;
    const Nodes& nodes = problem.nodes();
    double u = 0;
    for (const BlockRows::Block& block : rows.jacobian.blocks_of(i)) {
        const double* row = rows.jacobian.values.data() + block.offset + k * nodes.dof(block.node);
        for (int c = 0; c < nodes.dof(block.node); ++c) u += row[c] * v[nodes.start[block.node] + c];
    }
    return u;
}

double slip_speed(const StepProblem& problem, int i, const VecX& v) {
    double u = 0;
    for (int k = 1; k < problem.contacts.jacobian.dim(i); ++k) u = std::hypot(u, row_speed(problem, i, k, v));
    return u;
}

// Contacts that share their friction in more ways than one may reach the rim of the cone without slipping: solvers call it slip.
bool rests(const Step& s, int i) {
    const double visible = s.tolerances.visible_slip;
    return slip_speed(s.problem, i, s.v0) < visible && slip_speed(s.problem, i, s.solution.v) < visible;
}

}  // namespace

void warm_start(const VecX& v, double h, Step& s) {
    const StepProblem& problem = s.problem;
    const StepMemory& memory = s.memory;
    StepSolution& guess = s.guess;
    const ContactRows& contacts = problem.contacts;
    guess.v = v;
    guess.lambda.setZero(problem.joints.size());
    guess.p.setZero(contacts.jacobian.rows());
    guess.modes.assign(static_cast<std::size_t>(contacts.size()), ContactMode::open);
    guess.warm = memory.h > 0 || !memory.contact.empty();
    if (!guess.warm) return;

    // The modes after an impact are a good guess. Its impulses are not: they belong to no length of time.
    const double scale = memory.h > 0 ? h / memory.h : 0.0;
    if (memory.joint == problem.joints.id && memory.lambda.size() == guess.lambda.size())
        guess.lambda = scale * memory.lambda;
    else
        match_groups(memory, problem.joints, scale, guess.lambda);
    std::size_t old = 0;  // both lists are sorted by id: one merge
    for (int i = 0; i < contacts.size(); ++i) {
        while (old < memory.contact.size() && memory.contact[old] < contacts.id[i]) ++old;
        const bool known = old < memory.contact.size() && memory.contact[old] == contacts.id[i];
        // A contact that is new is about to be hit: sticking is the better first guess than open.
        guess.modes[i] = known ? memory.mode[old] : ContactMode::stick;
        if (!known) continue;
        for (int k = 0; k < contacts.jacobian.dim(i); ++k)
            guess.p[contacts.jacobian.row[i] + k] = scale * memory.impulse[old][k];
    }
}

void solve_stage(Solver& solver, Step& s, StepReport& report) {
    s.redundancy->switch_off(s.problem);
    for (int i = 0; i < s.problem.joints.size(); ++i)
        if (s.problem.upper[i] == s.problem.lower[i]) s.guess.lambda[i] = s.problem.lower[i];
    s.solution.v = s.guess.v;
    s.solution.lambda = s.guess.lambda;
    s.solution.p = s.guess.p;
    s.solution.modes = s.guess.modes;
    s.solution.warm = s.guess.warm;
    const SolveReport solve = solver.solve(s.problem, s.solution);
    const bool first = report.solves++ == 0;
    // `not (a <= b)` so that a NaN counts as the worst.
    if (first || solve.status != Status::ok || !(solve.residual.max() <= report.solve.residual.max())) {
        if (first || report.solve.status == Status::ok) report.solve = solve;
    }
    if (solve.status != Status::ok) {
        report.status = solve.status;
        report.reason = solve.reason;
    }
}

Stage solved_stage(const Step& s, const StageState& from, const StageState& to) {
    return {.t0 = from.t,
            .t1 = to.t,
            .q0 = &from.q,
            .v0 = &from.v,
            .q1 = &to.q,
            .v1 = &to.v,
            .problem = &s.problem,
            .solution = &s.solution,
            .impulses = &s.terms.impulses,
            .mass = &s.terms.mass,
            .stabilisation = &s.terms.stabilisation,
            .joint_stabilisation = &s.terms.joint_stabilisation};
}

Stage solved_impact(const Step& s, const State& x, const VecX& v0, const VecX& v1) {
    Stage stage = solved_stage(s, {x.t, x.q, v0}, {x.t, x.q, v1});
    stage.impulses = nullptr;
    stage.stabilisation = stage.joint_stabilisation = nullptr;
    return stage;
}

void share_impulses(Step& s) {
    s.terms.contact_impulse = s.solution.p;
    s.terms.reaction = s.solution.lambda;
    s.redundancy->smallest(s.problem, s.terms.reaction);
    s.shares->make_smallest(s.problem, s.solution, s.terms.contact_impulse, s.terms.reaction);
}

void note_impulses(Step& s, double fraction) {
    const ContactRows& rows = s.problem.contacts;
    RowVec &impulse = s.terms.contact_impulse, &reaction = s.terms.reaction;
    if (s.forces_wanted) {
        share_impulses(s);
    } else {
        impulse = s.solution.p;
        reaction = s.solution.lambda;
        s.redundancy->smallest(s.problem, reaction);
    }
    impulse *= fraction;
    reaction *= fraction;
    const auto fill = [&](ContactRecord& record, int i) {
        record.id = rows.id[i];
        const bool slips = s.solution.modes[i] == ContactMode::slip && rows.friction[i] > 0;
        record.mode = slips && rests(s, i) ? ContactMode::stick : s.solution.modes[i];
        record.gap = rows.gap[i];
        record.position = rows.position[i];
        record.normal = rows.normal[i];
        record.tangent = rows.tangent[i];
        record.unique = record.unique && (!s.forces_wanted || s.shares->unique(i));
        for (int k = 0; k < rows.jacobian.dim(i); ++k) record.impulse[k] += impulse[rows.jacobian.row[i] + k];
    };
    for (int i = 0; i < rows.size(); ++i) {
        if (s.contacts.empty() || s.contacts.back().id < rows.id[i]) {  // all of them, in a step of one stage
            fill(s.contacts.emplace_back(), i);
            continue;
        }
        const auto place =
            std::lower_bound(s.contacts.begin(), s.contacts.end(), rows.id[i],
                             [](const ContactRecord& record, const ContactId& id) { return record.id < id; });
        if (place != s.contacts.end() && place->id == rows.id[i]) {
            fill(*place, i);
        } else {
            fill(*s.contacts.insert(place, ContactRecord{}), i);
        }
    }
    if (s.reactions.size() == reaction.size()) {
        s.reactions += reaction;
    } else {
        s.reactions = reaction;
    }
}

void note_mode_changes(double t, Step& s, bool located) {
    const ContactRows& rows = s.problem.contacts;
    const StepMemory& memory = s.memory;
    const auto normal_speed = [&](int i, const VecX& v) { return row_speed(s.problem, i, 0, v); };
    const auto closed = [](ContactMode mode) { return mode != ContactMode::open; };
    bool shared = s.forces_wanted;  // then note_impulses() has done it
    std::size_t old = 0;
    const auto take_off = [&](std::size_t o) {
        if (closed(memory.mode[o]))
            s.events.push_back(
                {.t = t, .kind = EventKind::take_off, .contact = memory.contact[o], .before = memory.mode[o]});
    };
    for (int i = 0; i < rows.size(); ++i) {
        while (old < memory.contact.size() && memory.contact[old] < rows.id[i]) take_off(old++);
        const bool known = old < memory.contact.size() && memory.contact[old] == rows.id[i];
        const ContactMode before = known ? memory.mode[old] : ContactMode::open;
        const ContactMode after = s.solution.modes[i];
        if (known) ++old;
        if (before == after) continue;
        const bool stays = !located && closed(before) && closed(after);
        if (stays && rests(s, i)) continue;
        Event event{.t = t, .kind = EventKind::impact, .contact = rows.id[i], .before = before, .after = after};
        if (!closed(after))
            event.kind = EventKind::take_off;
        else if (before == ContactMode::stick)
            event.kind = EventKind::stick_to_slip;
        else if (before == ContactMode::slip)
            event.kind = EventKind::slip_to_stick;
        event.normal_speed_before = normal_speed(i, s.v0);
        // Contacts that rest at the very start have not been hit.
        if (memory.h == 0 && event.kind == EventKind::impact && event.normal_speed_before > -s.tolerances.rest_speed)
            continue;
        event.normal_speed_after = normal_speed(i, s.solution.v);
        if (!shared) share_impulses(s);
        shared = true;
        event.impulse = s.terms.contact_impulse[rows.jacobian.row[i]];
        s.events.push_back(event);
    }
    while (old < memory.contact.size()) take_off(old++);
}

void remember(double h, Step& s) {
    StepMemory& memory = s.memory;
    const ContactRows& rows = s.problem.contacts;
    memory.h = h;
    memory.contact.assign(rows.id.begin(), rows.id.end());
    memory.mode.assign(s.solution.modes.begin(), s.solution.modes.end());
    memory.impulse.resize(static_cast<std::size_t>(rows.size()));
    for (int i = 0; i < rows.size(); ++i) {
        memory.impulse[i].setZero();
        for (int k = 0; k < rows.jacobian.dim(i); ++k) memory.impulse[i][k] = s.solution.p[rows.jacobian.row[i] + k];
    }
    memory.joint.assign(s.problem.joints.id.begin(), s.problem.joints.id.end());
    memory.joint_row.assign(s.problem.joints.jacobian.row.begin(), s.problem.joints.jacobian.row.end());
    memory.lambda = s.solution.lambda;
    s.finder->commit_frames();
}

}  // namespace stickslip
