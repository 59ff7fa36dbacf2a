#include "simulation/edit_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collision/finder.hpp"
#include "diagnose/redundancy.hpp"
#include "schemes/impacts/snap.hpp"
#include "simulation/policy.hpp"
#include "simulation/uncertified.hpp"

namespace stickslip {

namespace {

// The memory of the step after an edit: the rate of the velocities goes on where they do.
void carry_over(const State& edited, bool impact, const State& before, Step& step) {
    const Eigen::Index old_size = before.v.size();
    VecX& rate = step.memory.v_rate;
    const VecX old_rate = rate;
    rate.setZero(edited.v.size());
    bool same = edited.v.size() == old_size;
    for (Eigen::Index i = 0; i < old_size; ++i) {
        const bool here = edited.v[i] == before.v[i];
        if (here && !impact) rate[i] = old_rate[i];
        same = same && here;
    }
    step.scheme_work->edited();
    if (!same) {
        step.v_weighted = edited.v;
        step.t_weighted = edited.t;
    }
}

}  // namespace

void EditLog::replace_system(std::unique_ptr<System> system, Model& model) {
    std::swap(model.system, system);
    if (first_system_)
        former_systems_.push_back(std::move(system));
    else
        first_system_ = std::move(system);
}

void EditLog::make(const Edit& edit, MadeEdit entry, EditedRun run, std::vector<Event>& events) {
    Model& model = run.model;
    const State& state = run.state;
    if (!model.editor)
        throw Error(fmt::format("'{}' is a mechanism: it is given as a whole and takes no edits", model.name));
    Editor::Edited edited = model.editor->apply(edit, state);
    Step aside;  // the step just taken stays as it was
    aside.finder->set_frames(run.step.finder->frames());
    aside.ledger = run.step.ledger;
    BilateralRows joints;
    ContactRows contacts;
    model.system->look_ahead(state.v, 0, *aside.finder);
    model.system->rows(state.t, state.q, *aside.finder, joints, contacts);
    aside.ledger.edit(*edited.system, edited.state);
    StepReport report;
    const Snap snap = snap_shut(*edited.system, run.solver, joints.id, edited.state, aside, report);
    if (snap.needed) {
        const double worst = report.solve.residual.max();
        if (report.status != Status::ok) {
            report.t = state.t;
            if (model.run.policy == Policy::certify)
                throw Error(
                    fmt::format("the impact of the edit at t = {:.9g} s could not be certified: {} left a residual "
                                "of {:.3g} m/s, tolerance {:.3g}",
                                state.t, report.solve.solver, worst, judged_by(report.solve, run.tol)));
            uncertified.push_back({report.solve, uncertified_step(*edited.system, aside, report, run.tol)});
        }
        solves += report.solves;
        residual_max = std::max(residual_max, worst);
        for (Event& event : edited.events) {
            if (event.kind != EventKind::attach) continue;
            event.normal_speed_before = snap.speed;
            event.impulse = snap.impulse;
        }
    }
    replace_system(std::move(edited.system), model);
    model.editor = std::move(edited.editor);
    entry.at = state;
    made_.push_back(std::move(entry));
    events.insert(events.end(), edited.events.begin(), edited.events.end());
    run.step.ledger = aside.ledger;
    carry_over(edited.state, snap.needed, state, run.step);
    run.state = edited.state;
    plan_redundancy(*model.system, state, run.step);
}

void EditLog::make(const Edit& edit, EditedRun run) {
    if (!run.model.editor) return make(edit, {}, run, early_events);  // tells why not
    const std::shared_ptr<const Edit> kept = run.model.editor->keep(edit);
    make(*kept, {.action = false, .index = static_cast<std::uint32_t>(given_.size()), .at = {}}, run, early_events);
    given_.push_back(kept);
}

std::string EditLog::make_due(EditedRun run, std::vector<Event>& events) {
    const std::vector<Action>& actions = run.model.actions;
    for (; next_action_ < actions.size() && actions[next_action_].t <= run.state.t; ++next_action_) {
        const Action& action = actions[next_action_];
        try {
            make(*action.edit, {.action = true, .index = static_cast<std::uint32_t>(next_action_), .at = {}}, run,
                 events);
        } catch (const Error& error) {
            return fmt::format("action at t = {:.9g} s: {}", action.t, error.what());
        }
    }
    return {};
}

double EditLog::next_action(const Model& model) const {
    return next_action_ < model.actions.size() ? model.actions[next_action_].t : infinity;
}

void EditLog::remake(const std::vector<MadeEdit>& edits, const State& end, EditedRun run) {
    Model& model = run.model;
    std::shared_ptr<const Editor> editor = first_editor_;
    const System* system = first_system_ ? first_system_.get() : model.system.get();
    std::unique_ptr<System> last;
    State planned = model.state;  // where the last system began
    std::size_t actions = 0;
    for (const MadeEdit& edit : edits) {
        const bool known = edit.action ? edit.index < model.actions.size() : edit.index < given_.size();
        if (!editor || !known)
            throw Error(edit.action ? "the snapshot belongs to another model: it has other actions"
                                    : "the snapshot was taken after edits that this simulation has not made");
        if (edit.at.q.size() != system->nq() || edit.at.v.size() != system->nv())
            throw Error("the snapshot belongs to another model: its state has other sizes");
        Editor::Edited edited =
            editor->apply(edit.action ? *model.actions[edit.index].edit : *given_[edit.index], edit.at);
        editor = std::move(edited.editor);
        last = std::move(edited.system);
        planned = std::move(edited.state);
        system = last.get();
        actions += edit.action;
    }
    if (end.q.size() != system->nq() || end.v.size() != system->nv())
        throw Error("the snapshot belongs to another model: its state has other sizes");
    if (last) {
        replace_system(std::move(last), model);
    } else if (first_system_) {
        former_systems_.push_back(std::move(model.system));
        model.system = std::move(first_system_);
    }
    model.editor = std::move(editor);
    made_ = edits;
    plan_redundancy(*model.system, planned, run.step);
    next_action_ = actions;
    early_events.clear();
}

}  // namespace stickslip
