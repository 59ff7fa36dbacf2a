#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/scheme.hpp"
#include "study/plan.hpp"

namespace stickslip {

namespace {

using namespace study;  // NOLINT: the parts of this layer

// Two self references farther apart than this many times their own errors tend to different things.
constexpr double disagreement = 10;

// NAME:KEY=VALUE:KEY=VALUE as overrides behind the others.
OptionValues scheme_overrides(const OptionValues& common, const std::string& label) {
    OptionValues values;
    const Place place{"--schemes " + label, 0, 0};
    const std::string name = label.substr(0, label.find(':'));
    std::vector<std::string> names;
    for (const SchemeEntry& entry : schemes()) names.emplace_back(entry.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) throw unknown_name("scheme", name, names, place);
    values.push_back({"run.scheme", name, place});  // first: it drops the options of the scheme before
    for (const OptionValue& value : common) values.push_back(value);
    for (std::size_t at = name.size(); at < label.size();) {
        const std::size_t next = std::min(label.find(':', at + 1), label.size());
        const std::string option = label.substr(at + 1, next - at - 1);
        const auto equals = option.find('=');
        if (equals == std::string::npos || equals == 0)
            throw Error(fmt::format("expected NAME:KEY=VALUE, got '{}'", label), place);
        values.push_back({"scheme." + option.substr(0, equals), option.substr(equals + 1), place});
        at = next;
    }
    return values;
}

// The best of the schemes' own references; what the others tend to is compared with it.
Solution best_self(const std::vector<Study>& studies, const std::vector<std::string>& labels, const Plan& plan,
                   const std::vector<double>& weighted, const StudyProgress& progress) {
    std::vector<Solution> found;
    for (std::size_t i = 0; i < studies.size(); ++i) {
        const StudyProgress named = [&](const std::string& what) {
            if (progress) progress(labels[i] + ", " + what);
        };
        found.push_back(self_solution(studies[i], plan.times, weighted, plan.quaternions, labels[i], named));
    }
    // An error of exactly zero says that nothing moves there, not that the scheme is right.
    const auto worth = [](const StudyReference& info) {
        return !info.known ? infinity : info.error == 0 ? std::numeric_limits<double>::max() : info.error;
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < found.size(); ++i)
        if (worth(found[i].info) < worth(found[best].info)) best = i;
    Solution solution = found[best];
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (i == best) continue;
        if (!found[i].info.known) {
            for (const std::string& warning : found[i].info.warnings) solution.info.warnings.push_back(warning);
            continue;
        }
        double apart = 0;
        for (std::size_t k = 0; k < plan.times.size(); ++k)
            apart = std::max(apart, difference(found[i].at[k].q, solution.at[k].q, plan.quaternions).norm);
        if (apart > disagreement * (found[i].info.error + solution.info.error) && apart > 1e-12)
            solution.info.warnings.push_back(fmt::format(
                "{} tends to something else: its finest run is {:.2e} away from the reference, its own error "
                "about {:.2e}",
                labels[i], apart, found[i].info.error));
    }
    return solution;
}

}  // namespace

bool Comparison::finished() const {
    return std::all_of(schemes.begin(), schemes.end(), [](const Convergence& study) { return study.finished(); });
}

Comparison compare(const Study& study, const std::vector<std::string>& labels, const StudyProgress& progress) {
    if (labels.empty()) throw Error("no schemes to compare: give some, like --schemes moreau-jean,euler");
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (std::count(labels.begin(), labels.end(), labels[i]) > 1)
            throw Error(fmt::format("{} stands twice", labels[i]), Place{"--schemes", 0, 0});
    std::vector<Study> studies;
    std::vector<Plan> plans;
    for (const std::string& label : labels) {
        studies.push_back(study);
        studies.back().overrides = scheme_overrides(study.overrides, label);
        plans.push_back(make_plan(studies.back()));
    }
    std::vector<Runs> runs;
    std::vector<double> weighted;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const StudyProgress named = [&](const std::string& what) {
            if (progress) progress(labels[i] + ", " + what);
        };
        runs.push_back(run_all(studies[i], plans[i], named));
        for (const double t : weighted_times(runs.back())) weighted.push_back(t);
    }
    const Solution solution = plans.front().reference == "self"
                                  ? best_self(studies, labels, plans.front(), weighted, progress)
                                  : plans.front().solution;
    Comparison comparison;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        comparison.schemes.push_back(judge(studies[i], plans[i], runs[i], solution));
        comparison.schemes.back().label = labels[i];
    }
    return comparison;
}

}  // namespace stickslip
