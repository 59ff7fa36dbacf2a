#include "stickslip/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "simulation/counted_solver.hpp"
#include "simulation/edit_log.hpp"
#include "simulation/growth_watch.hpp"
#include "simulation/inexact_energy.hpp"
#include "simulation/policy.hpp"
#include "simulation/snapshot.hpp"
#include "simulation/step_budget.hpp"
#include "simulation/substeps.hpp"
#include "simulation/summary_recorder.hpp"
#include "simulation/watched_solver.hpp"

namespace stickslip {

namespace {

constexpr int max_idle_steps = 1000;  // steps in a row that do not move time: impacts accumulate
// Steps within the time of one. If fewer, ordinary series of bounces are asked for stiffness; if more, it is found out too late.
constexpr long max_short_steps = 2000;

Model with_policy(Model model) {
    model.run.policy = policy_of(model.run);
    model.run.certify.reset();
    return model;
}

// Times the energy that rigid drives impose on their own rows: bodies that they drag along have some of it too.
constexpr double max_imposed = 100;

}  // namespace

struct Simulation::Impl {
    Model model;
    std::unique_ptr<Scheme> scheme;
    std::unique_ptr<Solver> solver;
    BudgetedSolver* budget = nullptr;  // inside `solver`, where the run has one
    StepRules rules;
    State state;
    Step step;
    Checkpoint start;  // of the step under way
    Substeps substeps;
    InexactEnergy inexact;
    GrowthWatch growth;
    long steps = 0;
    int idle = 0;                    // steps in a row that did not move time
    long short_from = 0;             // the first step that began after short_start,
    double short_start = -infinity;  // [s] which is counted anew after each full step
    EditLog edits;
    SummaryRecorder summary;
    std::vector<Recorder*> recorders;
    std::string refused_folder;  // for the problem of a refused step
    RunOutcome outcome;
    bool begun = false;

    explicit Impl(Model m)
        : model(with_policy(std::move(m))),
          scheme(make_scheme(model.run.scheme.name, model.run.scheme.options, model.run.scheme.place)),
          solver(make_run_solver(model.run)),
          rules{model.run.policy, run_tolerance(model.run), !model.run.budget.limited()},
          state(model.state),
          edits(model),
          summary(model, *scheme, rules.tol),
          recorders{&summary} {
        if (model.run.budget.limited()) {
            auto budgeted = std::make_unique<BudgetedSolver>(std::move(solver), model.run.budget);
            budget = budgeted.get();
            solver = std::move(budgeted);
        }
        solver = std::make_unique<CountedSolver>(std::move(solver), outcome.ladder);
        step.tolerances = run_tolerances(model);
        scheme->prepare(*model.system, state, step);
        start.keep(state, step);
        growth.begin(step.ledger);
    }

    // The impact of an edit has a budget of its own: that of the step may be used up.
    EditedRun edited() {
        if (budget && edits.next_action(model) <= state.t) budget->start_step();
        return {model, state, step, *solver, rules.tol};
    }
    bool refused() const { return outcome.end == RunEnd::refused; }

    void begin() {
        if (begun) return;
        begun = true;
        refuse_edit(edits.make_due(edited(), edits.early_events));
        for (Recorder* recorder : recorders) recorder->begin(model, state, step);
    }

    void refuse_edit(const std::string& reason) {
        if (reason.empty()) return;
        outcome.end = RunEnd::refused;
        outcome.reason = reason;
    }

    // Takes the step back and, where a folder was given, saves its problem.
    void refuse(const std::string& reason) {
        outcome.end = RunEnd::refused;
        outcome.reason = reason;
        start.go_back(state, step);
        if (refused_folder.empty()) return;
        outcome.refused_problem = fmt::format("{}/refused_{:06d}.h5", refused_folder, steps + 1);
        try {
            save_problem(outcome.refused_problem, step.problem, &step.guess);
            outcome.reason += fmt::format("; replay it with: stickslip solve {}", outcome.refused_problem);
        } catch (const Error& error) {
            outcome.reason += fmt::format("; its problem could not be saved: {}", error.what());
            outcome.refused_problem.clear();
        }
    }

    // Empty, or which formula is no number where the step begins or ends, or on the way of one that failed.
    std::string undefined(const StepReport& report) const {
        std::string no = model.system->undefined(steps == 0 ? start.state().t : state.t);
        if (no.empty() && steps == 0) no = model.system->undefined(state.t);
        if (no.empty() && report.status != Status::ok) {
            // Stages lie inside the step, and of it only the length of the last one is known.
            constexpr int looks = 64;
            constexpr double short_step = 1e-3;  // of the time scale of the scene
            const double h = std::max(step.memory.h, short_step * step.tolerances.scales.time());
            for (int k = 1; k <= looks && no.empty(); ++k)
                no = model.system->undefined(start.state().t + h * k / looks);
        }
        return no.empty() ? no : fmt::format("step {}: {}", steps + 1, no);
    }

    // Empty if the step just taken may stay, else the sentence that refuses it.
    std::string judge(const StepReport& report) {
        if (std::string no = undefined(report); !no.empty()) return no;
        const double told = inexact.sum + inexact.of(report, step);
        std::string no = objection(rules, *model.system, report, start.state(), state, step, steps + 1, told);
        if (no.empty()) {
            inexact.sum = told;
        } else {
            outcome.refused_residual = report.solve.residual.max();
            outcome.refused_tol = judged_by(report.solve, rules.tol);
            return no;
        }
        if (no = unstable(report); !no.empty()) return no;
        if (no = creeping(); !no.empty()) return no;
        idle = state.t > start.state().t ? 0 : idle + 1;
        if (idle <= max_idle_steps) return {};
        if (const std::string stiff = too_stiff(); !stiff.empty())
            return fmt::format("time stands still at t = {:.9g} s: {}", state.t, stiff);
        return fmt::format(
            "time stands still at t = {:.9g} s: impacts accumulate; raise scheme.restitution_threshold or use "
            "moreau-jean",
            state.t);
    }

    // What the step is too long for, as the end of a sentence; empty if springs, dampers and forces are slow enough.
    std::string too_stiff() const {
        const double h = std::isfinite(scheme->longest_step()) ? scheme->longest_step() : state.t - start.state().t;
        return stiffness_advice(*model.system, start.state(), model.run.scheme.name, h);
    }

    // Empty unless events follow each other so closely, because trial steps are unstable, that the run gets nowhere.
    std::string creeping() {
        const double h = scheme->longest_step();
        if (!std::isfinite(h)) return {};
        if (state.t > short_start + h || steps == 0) {
            short_start = state.t;
            short_from = steps;
        }
        if (steps - short_from < max_short_steps) return {};
        short_from = steps;
        const std::string stiff = too_stiff();
        if (stiff.empty() || implicit_in_springs(model.run.scheme.name)) return {};
        return fmt::format("step {} at t = {:.9g} s: {} steps have passed within the time of one: {}", steps + 1,
                           state.t, max_short_steps, stiff);
    }

    // Empty unless the step has left more energy in the bodies than anything put in.
    std::string unstable(const StepReport& report) {
        if (!growth.unstable(step.ledger, step.tolerances.scales.energy())) return {};
        double& imposed = growth.memory.imposed;
        imposed = std::max(imposed, imposed_energy(*model.system, state));
        if (growth.made() <= max_imposed * imposed) return {};
        const std::string stiff = too_stiff();
        return fmt::format(
            "step {} at t = {:.9g} s: {} is unstable here: it has made {:.3g} J, and all that the start, loads and "
            "motors have put in is {:.3g} J; {}",
            steps + 1, report.t, model.run.scheme.name, growth.made(), growth.at_hand(),
            stiff.empty() ? "take a smaller step, or trapezoidal, which keeps energy" : stiff);
    }

    // One step of the scheme; under `degrade` perhaps a part of one that could not be certified.
    StepReport take_step(double t_limit) {
        const SteppedRun run{*model.system, *scheme, *solver, state, step};
        start.keep(state, step);
        if (budget) {
            budget->start_step();
            step.deadline = budget->end_of_motion();
            step.left_out = 0;
        }
        StepReport report;
        if (!substeps.go_on(run, report)) {
            report = substeps.whole(run, start, t_limit);
            if (report.status == Status::ok)
                substeps.rest();
            else if (rules.policy == Policy::degrade)
                substeps.improve(
                    run, start, t_limit,
                    [this](const StepReport& r) {
                        return wrong_motion(*model.system, r, state, step, steps + 1,
                                            inexact.sum + inexact.of(r, step));
                    },
                    report);
        }
        report.number = steps + 1;
        return report;
    }

    bool advance() {
        begin();
        if (refused() || state.t >= model.run.end) return false;
        summary.start_step(state, step.ledger);
        const double discontinuity = model.system->next_discontinuity(state.t);
        const double t_limit = std::min({model.run.end, discontinuity, edits.next_action(model)});
        const StepReport report = take_step(t_limit);
        if (budget) budget->end_motion();
        if (const std::string no = judge(report); !no.empty()) {
            refuse(no);
            return false;
        }
        if (state.t == discontinuity) {
            Event& event = step.events.emplace_back();
            event.t = state.t;
            event.kind = EventKind::load_switch;
        }
        step.events.insert(step.events.begin(), edits.early_events.begin(), edits.early_events.end());
        edits.early_events.clear();
        const std::string no_edit = edits.make_due(edited(), step.events);
        ++steps;
        if (budget) budget->end_step(step.left_out);
        for (Recorder* recorder : recorders) recorder->write(*model.system, state, step, report);
        edits.drop_former_systems();
        step.q1 = state.q;
        step.v1 = state.v;
        refuse_edit(no_edit);
        return true;
    }
};

Simulation::Simulation(Model model) : impl_(std::make_unique<Impl>(std::move(model))) {}
Simulation::~Simulation() = default;

void Simulation::add(Recorder& recorder) { impl_->recorders.push_back(&recorder); }
void Simulation::set_capsule_folder(const std::string& folder) { impl_->refused_folder = folder; }

void Simulation::watch_solves(std::function<void(const SolvedProblem&)> show) {
    Impl& m = *impl_;
    m.solver = std::make_unique<WatchedSolver>(
        std::move(m.solver), [&m, show = std::move(show)](const StepProblem& problem, const StepSolution& guess,
                                                          const SolveReport& report, double wall_s) {
            show({problem, guess, report, m.steps + 1, m.start.state().t, wall_s});
        });
}

RunSummary Simulation::run(const std::atomic<bool>* stop, const std::function<void(double)>& progress) {
    using Clock = std::chrono::steady_clock;
    Impl& m = *impl_;
    const auto start = Clock::now();
    m.begin();
    m.step.forces_wanted = m.recorders.size() > 1;  // the summary alone needs those of events
    while (m.advance()) {
        if (progress) progress(m.state.t);
        if (stop && stop->load(std::memory_order_relaxed) && m.state.t < m.model.run.end) {
            m.outcome.end = RunEnd::interrupted;
            m.outcome.reason = "interrupted";
            break;
        }
    }
    m.step.forces_wanted = true;
    m.outcome.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    m.outcome.substepped = m.substeps.helped;
    const RunSummary summary = m.summary.finish(m.model, m.state, m.step, m.edits, m.outcome);
    for (Recorder* recorder : m.recorders) recorder->end(summary);
    return summary;
}

bool Simulation::advance() { return impl_->advance(); }

bool Simulation::until(double t) {
    while (impl_->state.t < t && impl_->advance()) {
    }
    return impl_->state.t >= t;
}

const std::string& Simulation::refusal() const {
    static const std::string none;
    return impl_->refused() ? impl_->outcome.reason : none;
}

void Simulation::edit(const Edit& edit) {
    Impl& m = *impl_;
    if (m.refused()) throw Error(fmt::format("the run was refused and takes no more edits: {}", m.outcome.reason));
    if (m.budget) m.budget->start_step();
    m.edits.make(edit, m.edited());
    m.step.q1 = m.state.q;
    m.step.v1 = m.state.v;
}

const Model& Simulation::model() const { return impl_->model; }
const State& Simulation::state() const { return impl_->state; }
const Step& Simulation::step() const { return impl_->step; }

std::vector<std::uint8_t> Simulation::snapshot() const {
    Impl& m = *impl_;
    return write_snapshot(m.model.run.scheme.name, m.state, m.step, m.steps,
                          {m.substeps.memory, m.inexact.sum, m.growth.memory}, m.edits.made());
}

void Simulation::restore(const std::vector<std::uint8_t>& bytes) {
    Impl& m = *impl_;
    LoopMemory loop;
    read_snapshot(
        bytes, m.model.run.scheme.name, *m.scheme->make_work(*m.model.system), m.state, m.step, m.steps, loop,
        [&](const std::vector<MadeEdit>& edits, const State& end) { m.edits.remake(edits, end, m.edited()); });
    m.substeps.memory = loop.substeps;
    m.inexact.sum = loop.inexact_energy;
    m.growth.memory = loop.growth;
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
