#include "stickslip/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>

#include "collision/finder.hpp"
#include "diagnose/painleve.hpp"
#include "diagnose/redundancy.hpp"
#include "schemes/impacts/settle.hpp"
#include "simulation/policy.hpp"
#include "simulation/snapshot.hpp"
#include "simulation/step_times.hpp"
#include "simulation/watched_solver.hpp"

namespace stickslip {

namespace {

constexpr std::size_t most_events_kept = 10000;  // in the summary; the record holds all of them
constexpr std::size_t most_paradoxes_kept = 10;  // contacts named in the warnings
constexpr double gain_rounding = 1e-10;          // share of the energy scale below which an impact made nothing
constexpr int most_idle_steps = 1000;            // steps in a row that do not move time: accumulation of impacts

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

struct Simulation::Impl {
    Model model;
    std::unique_ptr<Scheme> scheme;
    std::unique_ptr<Solver> solver;
    double tol;
    State state, before;
    VecX v_weighted_before;
    double impact_work_before = 0;  // [J] in the last step
    EnergyLedger::Snapshot ledger_before;
    std::string_view remark;  // of a step, the last one made,
    long remarks = 0;         // in how many steps
    Step step;
    long steps = 0;
    int idle = 0;
    std::vector<Recorder*> recorders;
    std::string capsule_folder;
    RunSummary summary;
    StepTimes times;
    PainleveCheck painleve;
    std::vector<Paradox> paradoxes;
    double residual_sum = 0, contact_sum = 0;
    bool begun = false, over = false;

    // Edits: those made so far, those that edit() was given, and the model as it was before the first.
    std::vector<MadeEdit> made;
    std::vector<std::shared_ptr<const Edit>> given;
    std::size_t next_action = 0;
    std::shared_ptr<const Editor> first_editor;
    std::unique_ptr<System> first_system;                 // null while model.system is it
    std::vector<std::unique_ptr<System>> former_systems;  // that recorders may still hold
    std::vector<Event> early_events;                      // of edits since the last step

    explicit Impl(Model m)
        : model(std::move(m)),
          scheme(make_scheme(model.run.scheme.name, model.run.scheme.options, model.run.scheme.place)),
          solver(make_run_solver(model.run)),
          tol(run_tolerance(model.run)),
          state(model.state) {
        scheme->prepare(*model.system, state, step);
        summary.model = model.name;
        summary.scheme = model.run.scheme.name;
        summary.solver = model.run.solver.name;
        summary.policy = model.run.certify ? "certify" : "budget";
        summary.cone = "disc";
        summary.events.reserve(most_events_kept);
        paradoxes.reserve(most_paradoxes_kept);
        first_editor = model.editor;
    }

    void begin() {
        if (begun) return;
        begun = true;
        if (const std::string no = make_due_edits(early_events); !no.empty()) refuse_edit(no);
        for (Recorder* recorder : recorders) recorder->begin(model, state, step);
    }

    // --- edits ---

    void replace_system(std::unique_ptr<System> system) {
        std::swap(model.system, system);
        if (first_system)
            former_systems.push_back(std::move(system));
        else
            first_system = std::move(system);
    }

    // Makes one edit now. Throws Error and leaves everything as it was if it cannot be made.
    void make_edit(const Edit& edit, bool action, std::size_t index, std::vector<Event>& events) {
        if (!model.editor)
            throw Error(fmt::format("'{}' is a mechanism: it is given as a whole and takes no edits", model.name));
        Editor::Edited edited = model.editor->apply(edit, state);
        Step aside;  // the step just taken stays as it was
        aside.finder->set_frames(step.finder->frames());
        aside.ledger = step.ledger;
        JointRows joints;
        ContactRows contacts;
        model.system->look_ahead(state.v, 0, *aside.finder);
        model.system->rows(state.t, state.q, *aside.finder, joints, contacts);
        aside.ledger.edit(*edited.system, edited.state);
        StepReport report;
        const Settled settled = settle(*edited.system, *solver, joints.id, edited.state, aside, report);
        if (settled.needed) {
            const double worst = report.solve.residual.max();
            if (model.run.certify && !(report.status == Status::ok && worst <= tol))
                throw Error(
                    fmt::format("the impact of the edit at t = {:.9g} s could not be certified: {} left a residual "
                                "of {:.3g} m/s, tolerance {:.3g}",
                                state.t, report.solve.solver, worst, tol));
            summary.solves += report.solves;
            summary.residual_max = std::max(summary.residual_max, worst);
            for (Event& event : edited.events) {
                if (event.kind != EventKind::attach) continue;
                event.normal_speed_before = settled.speed;
                event.impulse = settled.impulse;
            }
        }
        replace_system(std::move(edited.system));
        model.editor = std::move(edited.editor);
        made.push_back({action, static_cast<std::uint32_t>(index), state});
        events.insert(events.end(), edited.events.begin(), edited.events.end());
        step.ledger = aside.ledger;

        // The rate of the velocities goes on where they do.
        const Eigen::Index old_size = state.v.size();
        VecX& rate = step.memory.v_rate;
        const VecX old_rate = rate;
        rate.setZero(edited.state.v.size());
        bool same = edited.state.v.size() == old_size;
        for (Eigen::Index i = 0; i < old_size; ++i) {
            const bool here = edited.state.v[i] == state.v[i];
            if (here && !settled.needed) rate[i] = old_rate[i];
            same = same && here;
        }
        state = edited.state;
        plan_redundancy(*model.system, state, step);
        step.own->edited();
        if (!same) {
            step.v_weighted = state.v;
            step.t_weighted = state.t;
        }
    }

    // The actions whose time has come; empty, or the sentence that refuses one.
    std::string make_due_edits(std::vector<Event>& events) {
        for (; next_action < model.actions.size() && model.actions[next_action].t <= state.t; ++next_action) {
            try {
                make_edit(*model.actions[next_action].edit, true, next_action, events);
            } catch (const Error& error) {
                return fmt::format("action at t = {:.9g} s: {}", model.actions[next_action].t, error.what());
            }
        }
        return {};
    }

    void refuse_edit(const std::string& reason) {
        summary.end = RunEnd::refused;
        summary.reason = reason;
        over = true;
    }

    // The model after these edits, from the first one on.
    void remake(const std::vector<MadeEdit>& edits, const State& end) {
        std::shared_ptr<const Editor> editor = first_editor;
        const System* system = first_system ? first_system.get() : model.system.get();
        std::unique_ptr<System> last;
        State planned = model.state;  // where the last system began
        std::size_t actions = 0;
        for (const MadeEdit& edit : edits) {
            const bool known = edit.action ? edit.index < model.actions.size() : edit.index < given.size();
            if (!editor || !known)
                throw Error(edit.action ? "the snapshot belongs to another model: it has other actions"
                                        : "the snapshot was taken after edits that this simulation has not made");
            if (edit.at.q.size() != system->nq() || edit.at.v.size() != system->nv())
                throw Error("the snapshot belongs to another model: its state has other sizes");
            Editor::Edited edited =
                editor->apply(edit.action ? *model.actions[edit.index].edit : *given[edit.index], edit.at);
            editor = std::move(edited.editor);
            last = std::move(edited.system);
            planned = std::move(edited.state);
            system = last.get();
            actions += edit.action;
        }
        if (end.q.size() != system->nq() || end.v.size() != system->nv())
            throw Error("the snapshot belongs to another model: its state has other sizes");
        if (last) {
            replace_system(std::move(last));
        } else if (first_system) {
            former_systems.push_back(std::move(model.system));
            model.system = std::move(first_system);
        }
        model.editor = std::move(editor);
        made = edits;
        plan_redundancy(*model.system, planned, step);
        next_action = actions;
        early_events.clear();
    }

    void refuse(const std::string& reason) {
        summary.end = RunEnd::refused;
        summary.reason = reason;
        over = true;
        state = before;
        step.ledger.restore(ledger_before);
        if (capsule_folder.empty()) return;
        summary.capsule = fmt::format("{}/refused_{:06d}.h5", capsule_folder, steps + 1);
        try {
            save_problem(summary.capsule, step.problem, &step.guess);
            summary.reason += fmt::format("; replay it with: stickslip solve {}", summary.capsule);
        } catch (const Error& error) {
            summary.reason += fmt::format("; its problem could not be saved: {}", error.what());
            summary.capsule.clear();
        }
    }

    bool advance() {
        begin();
        if (over || state.t >= model.run.end) return false;
        const auto start = Clock::now();
        before.t = state.t;
        before.q = state.q;
        before.v = state.v;
        ledger_before = step.ledger.snapshot();
        const double discontinuity = model.system->next_discontinuity(state.t);
        const double action = next_action < model.actions.size() ? model.actions[next_action].t : infinity;
        const StepReport report =
            scheme->step(*model.system, *solver, state, std::min({model.run.end, discontinuity, action}), step);
        if (const std::string no = objection(model.run, *model.system, report, state, step, steps + 1); !no.empty()) {
            summary.refused_residual = report.solve.residual.max();
            refuse(no);
            return false;
        }
        idle = state.t > before.t ? 0 : idle + 1;
        if (idle > most_idle_steps) {
            refuse(
                fmt::format("time stands still at t = {:.9g} s: impacts accumulate; raise scheme.restitution_threshold "
                            "or use moreau-jean",
                            state.t));
            return false;
        }
        if (state.t == discontinuity) {
            Event& event = step.events.emplace_back();
            event.t = state.t;
            event.kind = EventKind::load_switch;
        }
        step.events.insert(step.events.begin(), early_events.begin(), early_events.end());
        early_events.clear();
        const std::string no_edit = make_due_edits(step.events);
        ++steps;
        note(report);
        times.add(seconds_since(start));
        for (Recorder* recorder : recorders) recorder->write(*model.system, state, step, report);
        former_systems.clear();
        step.q1 = state.q;
        step.v1 = state.v;
        if (!no_edit.empty()) refuse_edit(no_edit);
        return true;
    }

    // Contacts at which the rigid model has no solution or several; the first time each is seen, and what was done then.
    void note_paradoxes() {
        const ContactRows& contacts = step.problem.contacts;
        if (contacts.size() == 0 || step.mass.values.empty()) return;
        bool any = false;
        const VecX& v_start = step.t_mid > step.t0 ? step.v_mid : step.v0;  // of the problem in `step`
        for (const SlidingContact& sliding : painleve.check(step.mass, step.problem.joints, contacts, v_start)) {
            if (!sliding.paradox()) continue;
            any = true;
            const ContactId& id = contacts.id[sliding.contact];
            const bool known = std::any_of(paradoxes.begin(), paradoxes.end(),
                                           [&](const Paradox& paradox) { return paradox.contact == id; });
            if (known || paradoxes.size() >= most_paradoxes_kept) continue;
            paradoxes.push_back({id, step.t0, contacts.friction[sliding.contact], sliding.critical_friction,
                                 step.solution.modes[sliding.contact]});
        }
        if (any) ++summary.paradox_steps;
    }

    // Impacts that made energy, events left alone, and how restless the velocities are.
    void note_energy_and_variation(const StepReport& report) {
        summary.unlocated_events += report.unlocated;
        const double work = step.ledger.impact_gain() - ledger_before.impact_gain;
        const double gain = scheme->impact_steps() == 1 ? work : work + std::min(0.0, impact_work_before);
        impact_work_before = work;
        if (gain > gain_rounding * step.ledger.scale()) {
            ++summary.impact_gains;
            summary.impact_gain += gain;
        }
        if (state.v.size() == before.v.size()) summary.variation += (state.v - before.v).norm();
        if (summary.steps > 0 && step.v_weighted.size() == v_weighted_before.size())
            summary.variation_weighted += (step.v_weighted - v_weighted_before).norm();
        v_weighted_before = step.v_weighted;
    }

    void note(const StepReport& report) {
        note_paradoxes();
        if (*report.remark) {
            remark = report.remark;
            ++remarks;
        }
        note_energy_and_variation(report);
        const double worst = report.solve.residual.max();
        ++summary.steps;
        summary.rejected += report.rejected;
        summary.solves += report.solves;
        if (worst <= tol)
            ++summary.certified_steps;
        else
            summary.certified = false;
        summary.residual_max = std::max(summary.residual_max, worst);
        residual_sum += worst;
        summary.gap_violation_max = std::max(summary.gap_violation_max, step.gap_violation);
        summary.joint_violation_position_max = std::max(summary.joint_violation_position_max, step.joint_violation);
        summary.joint_violation_velocity_max =
            std::max(summary.joint_violation_velocity_max, step.joint_speed_violation);
        for (const int facets : step.problem.contacts.facets)
            if (facets > 0 && summary.cone == "disc") summary.cone = fmt::format("polygon-{}", facets);
        contact_sum += static_cast<double>(step.contacts.size());
        summary.contacts_max = std::max(summary.contacts_max, static_cast<int>(step.contacts.size()));
        summary.event_count += static_cast<long>(step.events.size());
        for (const Event& event : step.events) {
            if (event.kind == EventKind::method_switch) ++summary.switches[static_cast<std::size_t>(event.reason)];
            if (summary.events.size() < most_events_kept) summary.events.push_back(event);
        }
    }

    // The drift of the final configuration has not been seen by a step yet.
    void note_final_drift() {
        ContactRows contacts;
        JointRows joints;
        model.system->look_ahead(state.v, 0, *step.finder);
        model.system->rows(state.t, state.q, *step.finder, joints, contacts);
        for (int i = 0; i < contacts.size(); ++i) {
            summary.gap_violation_max = std::max(summary.gap_violation_max, -contacts.gap[i]);
            if (!model.run.certify || summary.end != RunEnd::finished) continue;
            const std::string no = tunnelling(*model.system, -contacts.gap[i], contacts.id[i], state.t);
            if (no.empty()) continue;
            summary.end = RunEnd::refused;
            summary.reason = no;
        }
        if (model.run.certify && summary.end == RunEnd::finished)
            if (const std::string no = torn_joint(*model.system, joints, state.t); !no.empty()) {
                summary.end = RunEnd::refused;
                summary.reason = no;
            }
        for (int i = 0; i < joints.size(); ++i)
            if (joints.kind[i] == RowKind::holonomic)
                summary.joint_violation_position_max =
                    std::max(summary.joint_violation_position_max, std::abs(joints.value[i]));
    }

    RunSummary finish(double wall_s) {
        for (const Event& event : early_events)
            if (summary.events.size() < most_events_kept) summary.events.push_back(event);
        summary.event_count += static_cast<long>(early_events.size());
        note_final_drift();
        summary.t = state.t;
        summary.q = state.q;
        summary.v = state.v;
        summary.v_weighted = step.v_weighted;
        summary.wall_s = wall_s;
        summary.step_ms_mean = 1e3 * times.mean();
        summary.step_ms_p50 = 1e3 * times.quantile(0.5);
        summary.step_ms_p99 = 1e3 * times.quantile(0.99);
        summary.step_ms_max = 1e3 * times.longest();
        const double n = summary.steps > 0 ? static_cast<double>(summary.steps) : 1.0;
        summary.residual_mean = residual_sum / n;
        summary.contacts_mean = contact_sum / n;
        summary.energies = step.ledger.now();
        summary.flows = step.ledger.flows();
        summary.imbalance = step.ledger.imbalance();
        summary.energy_scale = step.ledger.scale();
        summary.energy_bound_violations = step.ledger.bound_violations();
        summary.hash = state_hash(state);
        summary.timers = step.timers;
        summary.redundant = step.redundancy->redundant_names(*model.system);
        summary.not_unique = step.redundancy->shared_joints(*model.system);
        summary.warnings = scheme->advice();
        for (std::string& warning : warnings(summary)) summary.warnings.push_back(std::move(warning));
        if (remarks > 0) summary.warnings.push_back(fmt::format("{} (in {} steps)", remark, remarks));
        for (const Paradox& paradox : paradoxes)
            summary.warnings.push_back(paradox_warning(*model.system, paradox, summary.paradox_steps));
        for (Recorder* recorder : recorders) recorder->end(summary);
        return summary;
    }
};

Simulation::Simulation(Model model) : impl_(std::make_unique<Impl>(std::move(model))) {}
Simulation::~Simulation() = default;

void Simulation::add(Recorder& recorder) { impl_->recorders.push_back(&recorder); }
void Simulation::set_capsule_folder(const std::string& folder) { impl_->capsule_folder = folder; }

void Simulation::watch_solves(std::function<void(const SolvedProblem&)> watch) {
    Impl& m = *impl_;
    m.solver = std::make_unique<WatchedSolver>(
        std::move(m.solver), [&m, watch = std::move(watch)](const StepProblem& problem, const StepSolution& guess,
                                                            const SolveReport& report, double wall_s) {
            watch({problem, guess, report, m.steps + 1, m.before.t, wall_s});
        });
}

RunSummary Simulation::run(const std::atomic<bool>* stop, const std::function<void(double)>& progress) {
    Impl& m = *impl_;
    const auto start = Clock::now();
    m.begin();
    while (m.advance()) {
        if (progress) progress(m.state.t);
        if (stop && stop->load(std::memory_order_relaxed) && m.state.t < m.model.run.end) {
            m.summary.end = RunEnd::interrupted;
            m.summary.reason = "interrupted";
            break;
        }
    }
    return m.finish(seconds_since(start));
}

bool Simulation::advance() { return impl_->advance(); }

void Simulation::edit(const Edit& edit) {
    Impl& m = *impl_;
    if (m.over) throw Error(fmt::format("the run was refused and takes no more edits: {}", m.summary.reason));
    if (!m.model.editor) m.make_edit(edit, false, 0, m.early_events);  // tells why not
    const std::shared_ptr<const Edit> kept = m.model.editor->keep(edit);
    m.make_edit(*kept, false, m.given.size(), m.early_events);
    m.given.push_back(kept);
    m.step.q1 = m.state.q;
    m.step.v1 = m.state.v;
}

const Model& Simulation::model() const { return impl_->model; }
const State& Simulation::state() const { return impl_->state; }
const Step& Simulation::step() const { return impl_->step; }

std::vector<std::uint8_t> Simulation::snapshot() const {
    Impl& m = *impl_;
    return write_snapshot(m.model.run.scheme.name, m.state, m.step, m.steps, m.made);
}

void Simulation::restore(const std::vector<std::uint8_t>& bytes) {
    Impl& m = *impl_;
    read_snapshot(bytes, m.model.run.scheme.name, *m.scheme->make_work(*m.model.system), m.state, m.step, m.steps,
                  [&](const std::vector<MadeEdit>& edits, const State& end) { m.remake(edits, end); });
    m.step.v_weighted = m.state.v;  // no snapshot keeps that of the last step: none has been taken yet
    m.step.t_weighted = m.state.t;
}

std::string state_hash(const State& state) {
    std::uint64_t hash = 14695981039346656037ull;
    const auto add = [&](double x) {
        std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
        for (int i = 0; i < 8; ++i, bits >>= 8) hash = (hash ^ (bits & 0xff)) * 1099511628211ull;
    };
    add(state.t);
    for (Eigen::Index i = 0; i < state.q.size(); ++i) add(state.q[i]);
    for (Eigen::Index i = 0; i < state.v.size(); ++i) add(state.v[i]);
    return fmt::format("{:016x}", hash);
}

}  // namespace stickslip
