#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/plan.hpp"

namespace stickslip {

namespace study {

namespace {

// NaN if any of them is.
double largest(double a, double b) { return std::isnan(a) || std::isnan(b) ? nan : std::max(a, b); }

bool is_file(const std::string& reference) {
    return !reference.empty() && reference != "exact" && reference != "self" && reference != "none";
}

bool has(const OptionValues& overrides, std::initializer_list<const char*> keys) {
    return std::any_of(overrides.begin(), overrides.end(), [&](const OptionValue& value) {
        return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return value.key == key; });
    });
}

}  // namespace

Plan make_plan(const Study& study) {
    if (study.values.empty()) throw Error("no steps to run: give some, like --steps 2^-5..2^-11");
    if (study.setting == "run.step" && has(study.overrides, {"step", "run.step", "scheme.step"}))
        throw Error("the steps of a study come from --steps; leave --set run.step out");
    if (study.setting == "scheme.tol") {
        if (has(study.overrides, {"scheme.tol"}))
            throw Error("the tolerances of a study come from --tols; leave scheme.tol out");
        require_step_control(load_model(study.model, study.overrides).run.scheme.name, Place{"--tols", 0, 0});
    }
    if (!study.reference_case.empty() && !is_file(study.reference))
        throw Error("--case names a case of a reference file: give the file with --reference FILE");
    Plan plan;
    plan.model = load_model(study.model, with(study.overrides, study.setting, exact_text(study.values.front())));
    const double end = plan.model.run.end;
    plan.times = study.at.empty() ? std::vector<double>{end} : study.at;
    if (has(study.overrides, {"end", "run.end"}) && plan.times.back() > end)
        throw Error(fmt::format("--at {} s lies behind the end of the run at {} s", plan.times.back(), end));
    if (study.setting == "run.step" && study.values.front() > plan.times.front())
        throw Error(fmt::format("the step {} s is longer than the time {} s until the first comparison",
                                study.values.front(), plan.times.front()));
    plan.reference = study.reference;
    if (plan.reference.empty()) plan.reference = plan.model.exact ? "exact" : "self";
    make_scheme(plan.model.run.scheme.name, plan.model.run.scheme.options, plan.model.run.scheme.place);
    make_solver(plan.model.run.solver.name, plan.model.run.solver.options, plan.model.run.solver.place);
    plan.quaternions = quaternions(*plan.model.system, plan.model.state.q);
    plan.joint_names = holonomic_names(plan.model);
    // Wrong input is found before long runs.
    if (plan.reference == "exact") plan.solution = exact_solution(plan.model, plan.times);
    if (plan.reference == "none") plan.solution = no_solution(plan.times);
    if (is_file(plan.reference)) plan.solution = file_solution(study, plan.model, plan.times);
    return plan;
}

Runs run_all(const Study& study, const Plan& plan, const StudyProgress& progress) {
    Runs runs;
    for (const double value : study.values) {
        if (progress) progress(fmt::format("{} = {:.6g}", study.setting, value));
        runs.push_back(run(study, value, plan.times));
    }
    return runs;
}

std::vector<double> weighted_times(const Runs& runs) {
    std::vector<double> times;
    for (const Run& r : runs)
        for (const StateAt& at : r.at) times.push_back(at.t_weighted);
    return times;
}

Convergence judge(const Study& study, const Plan& plan, const Runs& runs, const Solution& solution) {
    Convergence table;
    const Model& model = plan.model;
    table.model = model.name;
    table.scheme = table.label = model.run.scheme.name;
    table.solver = model.run.solver.name;
    table.setting = study.setting;
    table.times = plan.times;
    table.joint_names = plan.joint_names;
    table.reference = solution.info;
    double scale = 0;
    for (const State& state : solution.at)
        for (const double x : state.q)
            if (!std::isnan(x)) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Run& r = runs[i];
        StudyRow& row = table.rows.emplace_back();
        row.value = study.values[i];
        row.finished = r.finished;
        row.reason = r.reason;
        row.joints = r.joints;
        for (const double g : r.joints) row.joint_max = std::max(row.joint_max, std::abs(g));
        row.drift_g = r.drift_g;
        row.drift_dg = r.drift_dg;
        for (const double g : r.drift_g) row.drift_g_max = largest(row.drift_g_max, g);
        for (const double dg : r.drift_dg) row.drift_dg_max = largest(row.drift_dg_max, dg);
        row.speed_max = r.speed_max;
        row.gap_min = std::isinf(r.gap_min) ? nan : r.gap_min;
        row.step_mean = r.steps > 0 ? r.length / static_cast<double>(r.steps) : nan;
        row.impacts = r.impacts;
        row.events = r.events;
        row.steps = r.steps;
        row.rejected = r.rejected;
        row.solves = r.solves;
        row.wall_s = r.wall_s;
        row.warnings = r.warnings;
        if (!r.finished) row.q = row.q_max = row.v = row.v_max = row.v_weighted = nan;
        for (std::size_t k = 0; k < r.at.size(); ++k) {
            const StateAt& at = r.at[k];
            const Difference q = difference(at.state.q, solution.at[k].q, plan.quaternions);
            const Difference v = difference(at.state.v, solution.at[k].v);
            StudyError& error = row.at.emplace_back();
            error = {plan.times[k], q.norm, q.largest, v.norm, v.largest, at.t_weighted, nan};
            if (solution.velocity)
                error.v_weighted = difference(at.v_weighted, solution.velocity(at.t_weighted)).norm;
            else if (at.t_weighted == at.state.t)
                error.v_weighted = difference(at.v_weighted, solution.at[k].v).norm;
            row.q = largest(row.q, error.q);
            row.q_max = largest(row.q_max, error.q_max);
            row.v = largest(row.v, error.v);
            row.v_max = largest(row.v_max, error.v_max);
            row.v_weighted = largest(row.v_weighted, error.v_weighted);
        }
    }
    fill_orders(table, scale);
    return table;
}

}  // namespace study

bool Convergence::finished() const {
    return reference.known && std::all_of(rows.begin(), rows.end(), [](const StudyRow& row) { return row.finished; });
}

Convergence converge(const Study& study, const StudyProgress& progress) {
    using namespace study;  // NOLINT: the parts of this layer
    Plan plan = make_plan(study);
    const Runs runs = run_all(study, plan, progress);
    if (plan.reference == "self")
        plan.solution = self_solution(study, plan.times, weighted_times(runs), plan.quaternions,
                                      plan.model.run.scheme.name, progress);
    return judge(study, plan, runs, plan.solution);
}

}  // namespace stickslip
