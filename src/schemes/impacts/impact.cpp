// Impact laws as step problems with A = M and h = 0 [Anitescu-Potra 1997, s.3; Haddouni (1.19)-(1.21)].
//
//   poisson         compression   r = M v-,                     c = 0  ->  v_c, p_c
//                   decompression r = M v_c + sum e_j N_j' p_c,j, c = 0  ->  v+
//   poisson-simple  v+ = (1+e) v_c - e v-  with one e, that of the approaching contacts; never gains energy.
//                   (The paper's Lemma 3.1 prints (1+e) v_c - v-; its proof uses the formula here.)
//   newton          r = M v-, c_N = e N v- on all closed contacts, separating ones included.
//
// Poisson and Newton with friction may gain energy; the ledger's impact_loss then falls.
#include "schemes/impacts/impact.hpp"

#include <algorithm>

namespace stickslip {

namespace {

constexpr int most_passes = 20;  // more passes with rebound and a rocking block would chatter for ever

// One more contact problem at h = 0 starting from velocity v; everything but c and restitution impulses.
void fill_impact(const VecX& v, Step& s) {
    s.problem.size_to_rows();
    s.mass.add_product(1, v, s.problem.r);
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

}  // namespace

bool approaching(const VecX& v, double tolerance, Step& s) {
    const ContactRows& contacts = s.problem.contacts;
    s.row_work.resize(contacts.jacobian.rows());
    contacts.jacobian.product(s.problem.nodes(), v, s.row_work);
    for (int i = 0; i < contacts.size(); ++i)
        if (s.row_work[contacts.jacobian.row[i]] < -tolerance) return true;
    return false;
}

void resolve_impact(const System& system, Solver& solver, const ImpactOptions& options, State& x, Step& s,
                    StepReport& report) {
    StepProblem& problem = s.problem;
    const ContactRows& contacts = problem.contacts;
    problem.A = s.mass;
    static thread_local VecX v_minus, extra;  // scratch of this function alone
    static thread_local std::vector<double> e, speed;

    const auto book = [&](const VecX& v0, const VecX& v1, const VecX* restitution_impulse) {
        s.ledger.book(system, {.t0 = x.t,
                               .t1 = x.t,
                               .q0 = &x.q,
                               .v0 = &v0,
                               .q1 = &x.q,
                               .v1 = &v1,
                               .problem = &problem,
                               .solution = &s.solution,
                               .impulses = nullptr,
                               .mass = &s.mass,
                               .stabilisation = nullptr,
                               .alpha = 1,
                               .gamma = 1,
                               .extra = restitution_impulse});
        note_impulses(s);
    };

    for (int pass = 0; pass <= most_passes && (pass == 0 || approaching(x.v, options.approach_tolerance, s)); ++pass) {
        v_minus = x.v;
        s.row_work.resize(contacts.jacobian.rows());
        contacts.jacobian.product(problem.nodes(), v_minus, s.row_work);
        e.assign(static_cast<std::size_t>(contacts.size()), 0.0);
        speed.resize(e.size());
        // One contact that is fast enough makes the impact rebound, at all its contacts, each with its own e: in Poisson's law
        // the compression impulse of a resting contact comes back too. Deciding contact by contact was tried: rounding in
        // the zero speed of a resting corner then decided, and its rebound kept a settling box hopping.
        double common = 0;  // the e of poisson-simple
        bool rebounds = false;
        for (int i = 0; i < contacts.size(); ++i) {
            speed[i] = s.row_work[contacts.jacobian.row[i]];
            if (pass == most_passes || speed[i] > -options.restitution_threshold) continue;
            common = std::max(common, contacts.restitution[i]);
            rebounds = true;
        }
        if (rebounds) std::copy(contacts.restitution.begin(), contacts.restitution.end(), e.begin());

        fill_impact(v_minus, s);
        if (options.law == ImpactLaw::newton)
            for (int i = 0; i < contacts.size(); ++i) problem.c[contacts.jacobian.row[i]] = e[i] * speed[i];
        guess_sticking(v_minus, s);
        solve_stage(solver, s, report);
        const std::size_t first_event = s.events.size();
        for (int i = 0; i < contacts.size(); ++i) {
            const double p = s.solution.p[contacts.jacobian.row[i]];
            if (p <= 0) continue;
            s.events.push_back({.t = x.t,
                                .kind = EventKind::impact,
                                .contact = contacts.id[i],
                                .before = ContactMode::open,
                                .after = ContactMode::impact,
                                .normal_speed_before = speed[i],
                                .impulse = p});
        }

        if (options.law == ImpactLaw::poisson_simple && common > 0) {
            s.solution.v += common * (s.solution.v - v_minus);
            s.solution.p *= 1 + common;
            s.solution.lambda *= 1 + common;
            for (std::size_t k = first_event; k < s.events.size(); ++k) s.events[k].impulse *= 1 + common;
        }
        book(v_minus, s.solution.v, nullptr);
        x.v = s.solution.v;

        // Decompression: the normal impulses of the compression come back, each with its own e.
        const bool rebound = std::any_of(e.begin(), e.end(), [](double value) { return value > 0; });
        if (options.law == ImpactLaw::poisson && rebound) {
            extra.setZero(x.v.size());
            s.row_work.setZero(contacts.jacobian.rows());
            for (int i = 0; i < contacts.size(); ++i) {
                const int row = contacts.jacobian.row[i];
                s.row_work[row] = e[i] * s.solution.p[row];
            }
            contacts.jacobian.add_transpose_product(problem.nodes(), s.row_work, extra);
            std::size_t k = first_event;
            for (int i = 0; i < contacts.size(); ++i) {
                if (k < s.events.size() && s.events[k].contact == contacts.id[i])
                    s.events[k++].impulse += s.row_work[contacts.jacobian.row[i]];
            }
            for (int i = 0; i < contacts.size(); ++i) speed[i] = s.row_work[contacts.jacobian.row[i]];
            v_minus = x.v;
            fill_impact(v_minus, s);
            problem.r += extra;
            guess_sticking(v_minus, s);
            for (ContactMode& mode : s.guess.modes)
                mode = ContactMode::open;  // the rebound mostly needs no more impulse
            solve_stage(solver, s, report);
            book(v_minus, s.solution.v, &extra);
            x.v = s.solution.v;
            // The record of the step shows the whole impulse of each contact.
            for (int i = 0; i < contacts.size(); ++i) {
                for (ContactRecord& record : s.contacts)
                    if (record.id == contacts.id[i]) record.impulse[0] += speed[i];
            }
        }

        contacts.jacobian.product(problem.nodes(), x.v, s.row_work);
        std::size_t k = first_event;
        for (int i = 0; i < contacts.size(); ++i) {
            if (k < s.events.size() && s.events[k].contact == contacts.id[i])
                s.events[k++].normal_speed_after = s.row_work[contacts.jacobian.row[i]];
        }
    }
    for (ContactRecord& record : s.contacts)
        if (std::binary_search(contacts.id.begin(), contacts.id.end(), record.id)) record.mode = ContactMode::impact;
}

}  // namespace stickslip
