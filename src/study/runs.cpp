// Steps are not interpolated at the times of comparison, since the interpolant of a step is no better than second order:
// the run goes in pieces that end there, each resumed from the snapshot of the one before to the same bits.
#include "study/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "collision/finder.hpp"

namespace stickslip::study {

namespace {

void joint_rows(const System& system, const State& state, ContactFinder& finder, BilateralRows& joints,
                ContactRows& contacts) {
    system.look_ahead(state.v, 0, finder);
    system.rows(state.t, state.q, finder, joints, contacts);
}

// Counts impacts, measures the drift of the joints at the end of every step, and interpolates the weighted velocity, which
// belongs to a time inside each step.
class Watcher : public Recorder {
public:
    Watcher(const std::vector<double>& times, Run& result) : times_(times), result_(result) {}
    void begin(const Model& model, const State& state, const Step& step) override {
        edits_ = !model.actions.empty();
        if (before_.size() > 0) return;  // a later piece
        note_bounds(*model.system, state);
        t_before_ = state.t;
        before_ = step.v_weighted;
    }
    void write(const System& system, const State& state, const Step& step, const StepReport&) override {
        const auto start = std::chrono::steady_clock::now();
        result_.length += step.t1 - step.t0;
        note_drift(system, state);
        note_bounds(system, state);
        for (const Event& event : step.events) result_.impacts += event.kind == EventKind::impact;
        while (result_.weighted.size() < times_.size() && times_[result_.weighted.size()] <= step.t_weighted) {
            const double span = step.t_weighted - t_before_;
            const double s = span > 0 ? (times_[result_.weighted.size()] - t_before_) / span : 1;
            result_.weighted.push_back((1 - s) * before_ + s * step.v_weighted);
        }
        t_before_ = step.t_weighted;
        before_ = step.v_weighted;
        seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    double seconds() const { return seconds_; }  // spent here, which no scheme is to pay for
    void end(const RunSummary&) override {}
    void fill_rest() {  // behind the last step's weighted time
        while (result_.weighted.size() < times_.size()) result_.weighted.push_back(before_);
    }

private:
    // What theory bounds uniformly in the step [Anitescu-Potra, Thm 5.1; Gavrea et al., 8.2]: speeds, and how deep bodies get.
    void note_bounds(const System& system, const State& state) {
        result_.speed_max = std::max(result_.speed_max, state.v.norm());
        if (jointless_) joint_rows(system, state, finder_, joints_, contacts_);
        for (const double gap : contacts_.gap) result_.gap_min = std::min(result_.gap_min, gap);
    }
    // Leaves the rows at the state in joints_ and contacts_.
    void note_drift(const System& system, const State& state) {
        if (jointless_) return;
        joint_rows(system, state, finder_, joints_, contacts_);
        speeds_.resize(joints_.size());
        joints_.jacobian.product(system.nodes(), state.v, speeds_);
        std::size_t at = 0;
        for (int i = 0; i < joints_.size(); ++i) {
            if (joints_.kind[i] != RowKind::holonomic) continue;
            if (at == result_.drift_g.size()) {
                result_.drift_g.push_back(0);
                result_.drift_dg.push_back(0);
            }
            result_.drift_g[at] = std::max(result_.drift_g[at], std::abs(joints_.value[i]));
            result_.drift_dg[at] = std::max(result_.drift_dg[at], std::abs(speeds_[i]));
            ++at;
        }
        // Rows come and go with edits only: a model without actions that has none will have none.
        jointless_ = at == 0 && !edits_;
    }

    const std::vector<double>& times_;
    Run& result_;
    double t_before_ = 0;
    VecX before_;
    double seconds_ = 0;
    bool jointless_ = false, edits_ = false;
    ContactFinder finder_;
    BilateralRows joints_;
    ContactRows contacts_;
    RowVec speeds_;
};

void joint_rows(const Model& model, const State& state, BilateralRows& joints) {
    ContactFinder finder;
    ContactRows contacts;
    joint_rows(*model.system, state, finder, joints, contacts);
}

}  // namespace

OptionValues with(OptionValues overrides, const std::string& key, const std::string& text) {
    overrides.push_back({key, text, Place{key, 0, 0}});
    return overrides;
}

std::string exact_text(double value) { return fmt::format("{}", value); }

Run run(const Study& study, double value, const std::vector<double>& times, const std::vector<double>& weighted_times) {
    Run result;
    Watcher watcher(weighted_times, result);
    const OptionValues overrides = with(study.overrides, study.setting, exact_text(value));
    std::vector<std::uint8_t> snapshot;
    for (const double t : times) {
        // A scheme that cannot run a model says so when it is given it.
        std::unique_ptr<Simulation> made;
        Model model = load_model(study.model, with(overrides, "run.end", exact_text(t)));
        try {
            made = std::make_unique<Simulation>(std::move(model));
        } catch (const Error& error) {
            result.reason = error.what();
            return result;
        }
        Simulation& simulation = *made;
        const double watched = watcher.seconds();
        simulation.add(watcher);
        if (!snapshot.empty()) simulation.restore(snapshot);
        const RunSummary summary = simulation.run();
        result.steps += summary.steps;
        result.rejected += summary.rejected;
        result.solves += summary.solves;
        result.events += summary.event_count;
        result.wall_s += summary.wall_s - (watcher.seconds() - watched);
        for (const std::string& warning : summary.warnings)
            if (std::find(result.warnings.begin(), result.warnings.end(), warning) == result.warnings.end())
                result.warnings.push_back(warning);
        BilateralRows joints;
        joint_rows(simulation.model(), simulation.state(), joints);
        result.joints.clear();
        for (int i = 0; i < joints.size(); ++i)
            if (joints.kind[i] == RowKind::holonomic) result.joints.push_back(joints.value[i]);
        if (summary.end != RunEnd::finished) {
            result.reason = summary.reason;
            return result;
        }
        result.at.push_back({simulation.state(), simulation.step().t_weighted, simulation.step().v_weighted});
        if (t != times.back()) snapshot = simulation.snapshot();
    }
    watcher.fill_rest();
    result.finished = true;
    return result;
}

std::vector<std::string> holonomic_names(const Model& model) {
    BilateralRows joints;
    joint_rows(model, model.state, joints);
    std::vector<std::string> names;
    for (std::size_t group = 0; group < joints.id.size(); ++group) {
        const int first = joints.jacobian.row[group], rows = joints.jacobian.row[group + 1] - first;
        for (int i = 0; i < rows; ++i)
            if (joints.kind[first + i] == RowKind::holonomic)
                names.push_back(model.system->joint_name(joints.id[group]) +
                                (rows > 1 ? fmt::format(" row {}", i + 1) : ""));
    }
    return names;
}

}  // namespace stickslip::study
