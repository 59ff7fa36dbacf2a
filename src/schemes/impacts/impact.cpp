// Impact laws as step problems with A = M and h = 0 [Anitescu-Potra 1997, s.3; Potra et al. 7.3-7.4; Haddouni (1.19)-(1.21)].
//
//   poisson         compression   r = M v-,                      c = 0  ->  v_c, p_c
//                   decompression r = M v_c + sum e_j N_j' p_c,j, c = 0  ->  v+, with friction under the whole normal
//                   impulse of the phase, e_j p_c,j included (rebound_rows.cpp)
//   poisson-printed the same two phases with friction in the decompression under its new impulses alone, as printed in
//                   [Anitescu-Potra 1997, (3.4); Potra et al. (78)]: a contact that parts there has none.
//   poisson-simple  v+ = (1+e) v_c - e v-  with one e, that of the approaching contacts; never gains energy.
//                   (The paper's Lemma 3.1 prints (1+e) v_c - v-; its proof uses the formula here.)
//   newton          r = M v-, c_N = e N v-, c_T = e_T D v- on all closed contacts, separating ones included.
//   newton-common   c = e H v- with one e for all normals and tangents, that of the approaching contacts. Never gains
//                   energy: p.(H v+ + e H v-) <= 0 and p.(H v+ - H v-) = |v+ - v-|^2 in the mass metric, so
//                   2 (E+ - E-) = p.(H v+ + H v-) <= -(1-e)/(1+e) |v+ - v-|^2 as long as the joints hold, G v- = 0.
//
// Poisson and Newton with friction may gain energy (Kane's double pendulum); the ledger's impact_loss then falls.
// Left out: tangential restitution in Poisson's law, where the impulses of the compression would have to be turned.
#include "schemes/impacts/impact.hpp"

#include <algorithm>

#include "schemes/impacts/rebound_rows.hpp"

namespace stickslip {

namespace {

constexpr int max_passes = 20;  // more passes with rebound and a rocking block would chatter for ever

// Share of the largest impulse below which a contact is not hit but rests elsewhere.
constexpr double bystander = 1e-9;

// One more contact problem at h = 0 starting from velocity v; everything but c and restitution impulses.
void fill_impact(const VecX& v, Step& s) {
    s.problem.size_to_rows();
    s.terms.mass.add_product(1, v, s.problem.r);
    fill_bilateral(v, {}, s);
}

// A cold guess in which every contact sticks: impulses of the last step say nothing about an impact.
void guess_sticking(const VecX& v, Step& s) {
    s.guess.v = v;
    s.guess.lambda.setZero(s.problem.joints.size());
    s.guess.p.setZero(s.problem.contacts.jacobian.rows());
    s.guess.modes.assign(static_cast<std::size_t>(s.problem.contacts.size()), ContactMode::stick);
    s.guess.warm = true;
}

// What the contacts do after the impact, by their velocities: the modes of a phase belong to its own u and p.
void set_modes_after(const VecX& v, double tolerance, Step& s) {
    const BlockRows& H = s.problem.contacts.jacobian;
    const RowVec& speed = contact_speeds(v, s);
    for (int i = 0; i < H.groups(); ++i) {
        const double slip = speed.segment(H.row[i] + 1, H.dim(i) - 1).norm();
        const bool leaves = speed[H.row[i]] > tolerance || is_twin(s.problem.contacts, i);
        s.solution.modes[i] = leaves ? ContactMode::open : slip > tolerance ? ContactMode::slip : ContactMode::stick;
    }
}

void book(const System& system, const State& x, const VecX& v0, const VecX& v1, const VecX* given, Step& s) {
    Stage stage = solved_impact(s, x, v0, v1);
    stage.extra = given;
    s.ledger.book(system, stage);
}

// Decompression: the normal impulses of the compression (in s.solution) come back, each with its own e; they are noted in the
// record and in the events from `first_event` on. False: not solved.
bool decompress(const System& system, Solver& solver, ImpactLaw law, double softness, std::size_t first_event, State& x,
                Step& s, ImpactWork& w, StepReport& report) {
    VecX &v_c = w.v_compressed, &extra = w.returned_push;
    std::vector<double>& given = w.returned;
    StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    v_c = x.v;
    given.resize(w.e.size());
    w.row_impulse.setZero(contacts.jacobian.rows());
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        w.row_impulse[row] = given[i] = w.e[i] * s.solution.p[row];
    }
    extra.setZero(v_c.size());
    contacts.jacobian.add_transpose_product(problem.nodes(), w.row_impulse, extra);

    if (law == ImpactLaw::poisson) add_twins(given, w.plain, s);
    fill_impact(v_c, s);
    problem.r += extra;
    fill_twins(given, softness, s);
    guess_sticking(v_c, s);
    for (int i = 0, plain = -1; i < contacts.size(); ++i) {
        if (is_twin(contacts, i))
            s.guess.p[contacts.jacobian.row[i]] = given[plain];
        else
            s.guess.modes[i] = ContactMode::open;  // the rebound mostly needs no more normal impulse
        plain += !is_twin(contacts, i);
    }
    const Status before = report.status;
    report.status = Status::ok;
    solve_stage(solver, s, report);
    const bool solved = report.status == Status::ok;
    if (solved) report.status = before;
    book(system, x, v_c, s.solution.v, &extra, s);
    x.v = s.solution.v;
    note_impulses(s);
    for (int i = 0, plain = -1; i < contacts.size(); ++i) {
        if (is_twin(contacts, i)) continue;
        const double normal = given[++plain] + s.solution.p[contacts.jacobian.row[i]];
        for (std::size_t k = first_event; k < s.events.size(); ++k)
            if (s.events[k].contact == contacts.id[i]) s.events[k].impulse += normal;
        const bool twin = i + 1 < contacts.size() && is_twin(contacts, i + 1);  // then the record has it already
        for (ContactRecord& record : s.contacts)
            if (!twin && record.id == contacts.id[i]) record.impulse[0] += given[plain];
    }
    if (solved) fold_twins(w.row_impulse, s);
    return solved;
}

// Compression, or the whole of Newton's law.
void first_phase(const System& system, Solver& solver, ImpactLaw law, const ImpactWork& before, State& x, Step& s,
                 StepReport& report) {
    const double common = before.common;
    StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    fill_impact(before.v, s);
    if (law == ImpactLaw::newton_common) problem.c = common * before.u;
    for (int i = 0; i < contacts.size() && law == ImpactLaw::newton; ++i) {
        const int row = contacts.jacobian.row[i];
        problem.c[row] = before.e[i] * before.u[row];
        for (int k = row + 1; k < contacts.jacobian.row[i + 1]; ++k) problem.c[k] = before.e_T[i] * before.u[k];
    }
    guess_sticking(before.v, s);
    solve_stage(solver, s, report);
    if (law == ImpactLaw::poisson_simple && common > 0) {
        s.solution.v += common * (s.solution.v - before.v);
        s.solution.p *= 1 + common;
        s.solution.lambda *= 1 + common;
    }
    book(system, x, before.v, s.solution.v, nullptr, s);
    x.v = s.solution.v;
}

}  // namespace

bool approaching(const VecX& v, double tolerance, Step& s) {
    const ContactRows& contacts = s.problem.contacts;
    const RowVec& speed = contact_speeds(v, s);
    for (int i = 0; i < contacts.size(); ++i)
        if (speed[contacts.jacobian.row[i]] < -tolerance) return true;
    return false;
}

void resolve_impact(const System& system, Solver& solver, const ImpactOptions& options, State& x, Step& s,
                    ImpactWork& before, StepReport& report) {
    StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    const BlockRows& H = contacts.jacobian;
    problem.A = s.terms.mass;

    bool solved = true;
    for (int pass = 0; solved && pass <= max_passes && (pass == 0 || approaching(x.v, options.approach_tolerance, s));
         ++pass) {
        before.v = x.v;
        before.u.resize(H.rows());
        H.product(problem.nodes(), before.v, before.u);
        for (auto* list : {&before.e, &before.e_T}) list->assign(static_cast<std::size_t>(contacts.size()), 0.0);
        before.common = before.fastest = 0;
        // One contact that is fast enough makes the impact rebound, at all its contacts, each with its own e: in Poisson's law
        // the compression impulse of a resting contact comes back too. Deciding contact by contact was tried: rounding in
        // the zero speed of a resting corner then decided, and its rebound kept a settling box hopping.
        bool rebounds = false;
        for (int i = 0; i < contacts.size(); ++i) {
            const double speed = before.u[H.row[i]];
            before.fastest = std::max(before.fastest, -speed);
            if (pass == max_passes || speed > -options.restitution_threshold) continue;
            before.common = std::max(before.common, contacts.restitution[i]);
            rebounds = true;
        }
        if (rebounds) {
            std::copy(contacts.restitution.begin(), contacts.restitution.end(), before.e.begin());
            std::copy(contacts.tangential_restitution.begin(), contacts.tangential_restitution.end(),
                      before.e_T.begin());
        }

        first_phase(system, solver, options.law, before, x, s, report);
        note_impulses(s);
        if (!s.forces_wanted) share_impulses(s);
        const std::size_t first_event = s.events.size();
        double largest = 0;  // [N s]
        bool returns = false;
        for (int i = 0; i < contacts.size(); ++i) largest = std::max(largest, s.solution.p[H.row[i]]);
        for (int i = 0; i < contacts.size(); ++i) {
            const double p = s.solution.p[H.row[i]];
            if (p <= bystander * largest) continue;
            returns = returns || before.e[i] > 0;
            s.events.push_back({.t = x.t,
                                .kind = EventKind::impact,
                                .contact = contacts.id[i],
                                .before = ContactMode::open,
                                .after = ContactMode::impact,
                                .normal_speed_before = before.u[H.row[i]],
                                .impulse = s.terms.contact_impulse[H.row[i]]});
        }
        const auto each_event = [&](const auto& tell) {
            std::size_t k = first_event;
            for (int i = 0; i < contacts.size(); ++i)
                if (k < s.events.size() && s.events[k].contact == contacts.id[i]) tell(s.events[k++], H.row[i]);
        };
        const bool two_phases = options.law == ImpactLaw::poisson || options.law == ImpactLaw::poisson_printed;
        if (two_phases && returns && before.fastest > 0)
            solved =
                decompress(system, solver, options.law, before.fastest / largest, first_event, x, s, before, report);
        const RowVec& speed = contact_speeds(x.v, s);
        each_event([&](Event& event, int row) { event.normal_speed_after = speed[row]; });
    }
    set_modes_after(x.v, options.approach_tolerance, s);
    for (ContactRecord& record : s.contacts)
        if (std::binary_search(contacts.id.begin(), contacts.id.end(), record.id)) record.mode = ContactMode::impact;
}

}  // namespace stickslip
