#include "simulation/summary_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "diagnose/contact_shares.hpp"
#include "diagnose/redundancy.hpp"
#include "simulation/uncertified.hpp"
#include "simulation/verdict.hpp"

namespace stickslip {

namespace {

constexpr std::size_t max_events_kept = 10000;  // in the summary; the record holds all of them
constexpr std::size_t max_late_kept = 100;      // accumulations beyond them, which many impacts come before
constexpr double gain_rounding = 1e-10;         // share of the energy scale below which an impact made nothing

using Clock = std::chrono::steady_clock;

// Contacts of the last problem whose forces are not unique.
std::vector<std::string> shared_contact_names(const System& system, const Step& step) {
    std::vector<std::string> names;
    const ContactRows& contacts = step.problem.contacts;
    if (contacts.size() == 0 || step.solution.p.size() != contacts.jacobian.rows()) return names;
    RowVec p = step.solution.p, lambda = step.solution.lambda;
    step.shares->make_smallest(step.problem, step.solution, p, lambda);
    for (int i = 0; i < contacts.size(); ++i) {
        if (step.shares->unique(i)) continue;
        std::string name = system.contact_name(contacts.id[i]);
        if (names.empty() || names.back() != name) names.push_back(std::move(name));
    }
    return names;
}

// One that was not certified: counted, and listed while there is room.
template <class Describe>
void note_uncertified(const SolveReport& solve, double tol, RunSummary& s, const Describe& describe) {
    const double residual = solve.residual.max();
    s.certified = false;
    auto& all = s.uncertified;
    // `not (a <= b)` so that a NaN counts as the worst.
    if (all.steps == 0 || !(residual * all.tol <= all.residual * tol)) {
        all.residual = residual;
        all.tol = tol;
    }
    ++all.steps;
    if (all.listed.size() < max_uncertified_listed) all.listed.push_back(describe());
}

RunSummary::Times in_ms(const StepTimes& times) {
    return {1e3 * times.mean(), 1e3 * times.quantile(0.5), 1e3 * times.quantile(0.99), 1e3 * times.longest()};
}

// No step has seen the drift of the final configuration yet.
void note_final_drift(const Model& model, const State& state, Step& step, Evidence& evidence, RunSummary& summary) {
    ContactRows contacts;
    BilateralRows joints;
    model.system->look_ahead(state.v, 0, *step.finder);
    model.system->rows_on(step.sides, state.t, state.q, *step.finder, joints, contacts);
    const auto refuse = [&](const std::string& reason) {
        if (reason.empty() || summary.end != RunEnd::finished) return;
        summary.end = RunEnd::refused;
        summary.reason = reason;
    };
    for (int i = 0; i < contacts.size(); ++i) {
        summary.gap_violation_max = std::max(summary.gap_violation_max, -contacts.gap[i]);
        refuse(tunnelling(*model.system, -contacts.gap[i], contacts.id[i], state.t));
    }
    refuse(torn_joint(*model.system, joints, state.t));
    evidence.see_drift(*model.system, state.t, joints, contacts, step.tolerances);
    for (int i = 0; i < joints.size(); ++i)
        if (joints.kind[i] == RowKind::holonomic)
            summary.joint_violation.position_max =
                std::max(summary.joint_violation.position_max, std::abs(joints.value[i]));
}

}  // namespace

SummaryRecorder::SummaryRecorder(const Model& model, const Scheme& scheme, double tol) : scheme_(scheme), tol_(tol) {
    summary_.model = model.name;
    summary_.scheme = model.run.scheme.name;
    summary_.solver = model.run.solver.name;
    summary_.policy = to_string(model.run.policy);
    summary_.impact_law = impact_law(model.run.scheme);
    summary_.deterministic = !(model.run.policy == Policy::budget && model.run.budget.ms);
    summary_.cone = "disc";
    summary_.events.reserve(max_events_kept + max_late_kept);
}

void SummaryRecorder::start_step(const State& state, const EnergyLedger& ledger) {
    clock_start_ = Clock::now();
    processor_start_ = processor_time();
    v_before_ = state.v;
    impact_gain_before_ = ledger.impact_gain();
}

void SummaryRecorder::write(const System& system, const State& state, const Step& step, const StepReport& report) {
    evidence_.see(system, step, scheme_.averages_loads());
    note_energy_and_variation(state, step, report);
    note_step(step, report);
    note_certificate(system, step, report);
    processor_times_.add(processor_time() - processor_start_);
    times_.add(std::chrono::duration<double>(Clock::now() - clock_start_).count());
}

// Impacts that made energy, events left alone, and how restless the velocities are.
void SummaryRecorder::note_energy_and_variation(const State& state, const Step& step, const StepReport& report) {
    summary_.unlocated_events += report.unlocated;
    const double work = step.ledger.impact_gain() - impact_gain_before_;
    const double gain = scheme_.impact_steps() == 1 ? work : work + std::min(0.0, impact_work_before_);
    impact_work_before_ = work;
    if (gain > gain_rounding * step.ledger.scale()) {
        ++summary_.impact_gains.count;
        summary_.impact_gains.energy += gain;
    }
    if (state.v.size() == v_before_.size()) summary_.variation.v += (state.v - v_before_).norm();
    if (summary_.steps > 0 && step.v_weighted.size() == v_weighted_before_.size())
        summary_.variation.v_weighted += (step.v_weighted - v_weighted_before_).norm();
    v_weighted_before_ = step.v_weighted;
}

void SummaryRecorder::note_certificate(const System& system, const Step& step, const StepReport& report) {
    if (report.status == Status::ok) {
        ++summary_.certified_steps;
        return;
    }
    note_uncertified(report.solve, judged_by(report.solve, tol_), summary_,
                     [&] { return uncertified_step(system, step, report, tol_); });
}

void SummaryRecorder::note_step(const Step& step, const StepReport& report) {
    RunSummary& s = summary_;
    if (*report.remark) {
        remark_ = report.remark;
        ++remarks_;
    }
    const double worst = report.solve.residual.max();
    ++s.steps;
    s.rejected += report.rejected;
    s.solves += report.solves;
    s.residual.max = std::max(s.residual.max, worst);
    residual_sum_ += worst;
    s.gap_violation_max = std::max(s.gap_violation_max, step.violation.gap);
    s.joint_violation.position_max = std::max(s.joint_violation.position_max, step.violation.joint);
    s.joint_violation.velocity_max = std::max(s.joint_violation.velocity_max, step.violation.joint_speed);
    for (const int facets : step.problem.contacts.facets)
        if (facets > 0 && s.cone == "disc") s.cone = fmt::format("polygon-{}", facets);
    contact_sum_ += static_cast<double>(step.contacts.size());
    s.contacts.max = std::max(s.contacts.max, static_cast<int>(step.contacts.size()));
    s.event_count += static_cast<long>(step.events.size());
    for (const Event& event : step.events) {
        if (event.kind == EventKind::method_switch) ++s.switches[static_cast<std::size_t>(event.reason)];
        const std::size_t room = max_events_kept + (event.kind == EventKind::accumulation ? max_late_kept : 0);
        if (s.events.size() < room) s.events.push_back(event);
    }
}

// Reasons first: a record keeps the first thousand characters.
void SummaryRecorder::add_warnings(const Tolerances& tolerances, RunSummary& s) const {
    for (std::size_t i = s.end == RunEnd::refused ? 1 : 0; i < s.verdict.reasons.size(); ++i)
        s.warnings.push_back("doubtful: " + s.verdict.reasons[i]);
    for (std::string& advice : scheme_.advice()) s.warnings.push_back(std::move(advice));
    for (std::string& warning : warnings(s, tolerances)) s.warnings.push_back(std::move(warning));
    if (remarks_ > 0) s.warnings.push_back(fmt::format("{} (in {} steps)", remark_, remarks_));
}

RunSummary SummaryRecorder::finish(const Model& model, const State& state, Step& step, const EditLog& edits,
                                   const RunOutcome& outcome) const {
    RunSummary s = summary_;
    s.end = outcome.end;
    s.reason = outcome.reason;
    s.refused_problem = outcome.refused_problem;
    s.refused_residual = outcome.refused_residual;
    s.wall_s = outcome.wall_s;
    s.substepped = outcome.substepped;
    s.ladder = outcome.ladder;
    s.solves += edits.solves;
    s.residual.max = std::max(s.residual.max, edits.residual_max);
    for (const EditLog::Uncertified& edit : edits.uncertified)
        note_uncertified(edit.solve, edit.told.tol, s, [&] { return edit.told; });
    for (const Event& event : edits.early_events)
        if (s.events.size() < max_events_kept) s.events.push_back(event);
    s.event_count += static_cast<long>(edits.early_events.size());
    Evidence evidence = evidence_;
    note_final_drift(model, state, step, evidence, s);
    if (s.end == RunEnd::refused) s.certified = false;
    s.t = state.t;
    s.q = state.q;
    s.v = state.v;
    s.v_weighted = step.v_weighted;
    s.step_ms = in_ms(times_);
    s.step_cpu_ms = in_ms(processor_times_);
    const double n = s.steps > 0 ? static_cast<double>(s.steps) : 1.0;
    s.residual.mean = residual_sum_ / n;
    s.contacts.mean = contact_sum_ / n;
    s.energies = step.ledger.now();
    s.flows = step.ledger.flows();
    s.imbalance = step.ledger.imbalance();
    s.energy_scale = step.ledger.scale();
    s.energy_bound_violations = step.ledger.bound_violations();
    s.hash = state_hash(state);
    s.timers = step.timers;
    s.redundant = step.redundancy->redundant_names(*model.system);
    s.not_unique = step.redundancy->shared_joints(*model.system);
    s.paradox_steps = evidence.paradox_steps();
    s.verdict = judge_run(*model.system, s, evidence,
                          {.tol = outcome.refused_tol > 0 ? outcome.refused_tol : tol_,
                           .energy_at_hand = step.ledger.at_hand(),
                           .order = scheme_order(model.run.scheme.name),
                           .shared_contacts = shared_contact_names(*model.system, step),
                           .smallest_given = step.shares->all_found(),
                           .tolerances = step.tolerances});
    add_warnings(step.tolerances, s);
    return s;
}

}  // namespace stickslip
