#include "schemes/moreau_jean_contacts.hpp"

#include <cmath>

#include "collision/passing.hpp"
#include "schemes/parts/work.hpp"

namespace stickslip {

namespace {

// How many contacts at hand bore each node in the last step: w.bearers.
void count_bearers(const StepMemory& memory, const Nodes& nodes, const ContactRows& contacts, MoreauJean::Work& w) {
    w.bearers.assign(static_cast<std::size_t>(nodes.size()), 0);
    w.bears.assign(static_cast<std::size_t>(contacts.size()), 0);
    std::size_t old = 0;  // both lists are sorted by id
    for (int i = 0; i < contacts.size(); ++i) {
        while (old < memory.contact.size() && memory.contact[old] < contacts.id[i]) ++old;
        w.bears[i] = old < memory.contact.size() && memory.contact[old] == contacts.id[i] && memory.impulse[old][0] > 0;
        if (!w.bears[i]) continue;
        for (const BlockRows::Block& block : contacts.jacobian.blocks_of(i)) ++w.bearers[block.node];
    }
}

}  // namespace

void take_out_rests(const System& system, const State& x, const GapTerms& gaps, Step& s, MoreauJean::Work& w) {
    ContactRows& contacts = s.problem.contacts;
    const auto near = [&](int i) { return contacts.restitution[i] > 0 && contacts.gap[i] <= gaps.closed + 2 * gaps.fall; };
    int first = 0;
    while (first < contacts.size() && !near(first)) ++first;
    if (gaps.fall == 0 || first == contacts.size()) return;
    count_bearers(s.memory, system.nodes(), contacts, w);
    const auto borne = [&](int i) {
        for (const BlockRows::Block& block : contacts.jacobian.blocks_of(i))
            if (w.bearers[block.node] > w.bears[i]) return true;
        return false;
    };
    system.forces(std::nextafter(x.t, infinity), x.q, x.v, w.end_forces);
    w.inverse.factor(s.terms.mass);
    w.gain = gaps.h * (w.end_forces.potential + w.end_forces.applied);
    s.terms.v_old.resize(w.gain.size());
    w.inverse.apply(w.gain, s.terms.v_old);
    w.arrival = contact_speeds(s.terms.v_old, s);
    const RowVec& speed = contact_speeds(x.v, s);
    for (int i = first; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        if (near(i) && w.arrival[row] < 0 && speed[row] >= w.arrival[row] && borne(i)) contacts.restitution[i] = 0;
    }
}

bool keep_predicted_active(const System& system, const VecX& q, const VecX& v, const GapTerms& gaps, Step& s,
                           bool& hits) {
    ContactRows& contacts = s.problem.contacts;
    const RowVec& speed = contact_speeds(v, s);
    s.terms.wanted.resize(static_cast<std::size_t>(contacts.size()));
    bool all = true, arrives = false;
    for (int i = 0; i < contacts.size(); ++i) {
        const double phi = contacts.gap[i], u = speed[contacts.jacobian.row[i]];
        const bool guard = gaps.fall > 0 && contacts.restitution[i] == 0;
        s.terms.wanted[i] = gaps.predicted(phi, u) || (guard && gaps.guarded(phi, u));
        if (s.terms.wanted[i]) continue;
        all = false;
        arrives = arrives || phi + 2 * gaps.h * std::min(u, 0.0) < gaps.gain;
    }
    system.leave_out_passed(q, v, gaps.h, contacts, s.terms.wanted, *s.guard);
    hits = false;
    for (int i = 0; i < contacts.size(); ++i)
        hits = hits || (s.terms.wanted[i] && speed[contacts.jacobian.row[i]] < -s.tolerances.hit_speed);
    all = all && std::all_of(s.terms.wanted.begin(), s.terms.wanted.end(), [](char wanted) { return wanted; });
    if (!all) contacts.keep(s.terms.wanted);
    return arrives;
}

namespace {

// Joint limits rebound only when they approached already a step ago. Contacts of bodies come to rest overlapping by a little,
// which keeps them active; a limit is moved back to 0, opens with the smallest rebound, falls for one step and would
// rebound from that for ever, with speeds of g h/(1 + e).
void take_out_rests_at_limits(const System& system, const State& x, Step& s, MoreauJean::Work& w) {
    const ContactRows& contacts = s.problem.contacts;
    const bool any =
        std::any_of(contacts.restitution.begin(), contacts.restitution.end(), [](double e) { return e > 0; });
    if (!any) return;
    system.limits(x.q, w.limits);
    if (w.limits.size() == 0) return;
    // With N v_old = N v - h_old N v', e is as good as 0 where that is not negative.
    s.terms.v_old = x.v - s.memory.h * s.memory.v_rate;
    const RowVec& old_speed = contact_speeds(s.terms.v_old, s);
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        if (old_speed[row] >= 0 && std::binary_search(w.limits.id.begin(), w.limits.id.end(), contacts.id[i]))
            w.arrival[row] = 0;
    }
}

}  // namespace

void fill_restitution(const System& system, const State& x, const GapTerms& gaps, Step& s, MoreauJean::Work& w) {
    StepProblem& problem = s.problem;
    ContactRows& contacts = problem.contacts;
    w.arrival = contact_speeds(x.v, s);
    take_out_rests_at_limits(system, x, s, w);
    s.terms.stabilisation.setZero(contacts.size());
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = contacts.jacobian.row[i];
        const double e = contacts.restitution[i], phi = contacts.gap[i];
        if (e == 0 || phi < 0) s.terms.stabilisation[i] = std::max(gaps.chi_over_th_h * phi, -gaps.lift);
        problem.c[row] = e * w.arrival[row] + s.terms.stabilisation[i];
        if (gaps.fall > 0 && e == 0 && !gaps.predicted(phi, w.arrival[row]))
            problem.c[row] =
                std::max(0.0, (phi - gaps.closed) / gaps.h + (1 - gaps.theta) * w.arrival[row]) / gaps.theta;
        if (const double e_T = contacts.tangential_restitution[i]; e_T > 0)
            for (int k = row + 1; k < contacts.jacobian.row[i + 1]; ++k) problem.c[k] = e_T * w.arrival[k];
    }
}

void forget_blows(Step& s) {
    const ContactRows& rows = s.problem.contacts;
    const Nodes& nodes = s.problem.nodes();
    for (const Event& event : s.events) {
        if (event.kind != EventKind::impact || !(event.normal_speed_before < -s.tolerances.hit_speed)) continue;
        const auto at = std::lower_bound(rows.id.begin(), rows.id.end(), event.contact);
        if (at == rows.id.end() || !(*at == event.contact)) continue;
        for (const BlockRows::Block& block : rows.jacobian.blocks_of(static_cast<int>(at - rows.id.begin())))
            s.memory.v_rate.segment(nodes.start[block.node], nodes.dof(block.node)).setZero();
    }
}

}  // namespace stickslip
