#include "study/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/errors.hpp"
#include "study/runs.hpp"

namespace stickslip::study {

namespace {

// The reference's step is this much finer than the finest of the study, and half of that. With less, a method of first order
// would be compared with errors of its own size.
constexpr double finer = 8;

Solution refused(const std::vector<double>& times, const std::string& why) {
    Solution solution;
    solution.info = {"self", false, "none", nan, "no reference", {}, {why}};
    solution.at.resize(times.size());  // nothing in them: nothing is compared
    return solution;
}

}  // namespace

Solution no_solution(const std::vector<double>& times) {
    Solution solution;
    solution.info = {"none", true, "no errors were asked for", nan, "nothing is compared", {}, {}};
    solution.at.resize(times.size());
    return solution;
}

Solution exact_solution(const Model& model, const std::vector<double>& times) {
    if (!model.exact)
        throw Error(
            fmt::format("'{}' has no closed form with these parameters; use --reference self or a file", model.name),
            Place{"--reference exact", 0, 0});
    Solution solution;
    solution.info.kind = "exact";
    solution.info.origin = "closed form";
    solution.info.error = 0;
    solution.info.error_origin = "rounding";
    for (const double t : times) solution.at.push_back(model.exact(t));
    solution.velocity = [exact = model.exact](double t) { return exact(t).v; };
    return solution;
}

Solution self_solution(const Study& study, const std::vector<double>& times, const std::vector<double>& weighted_times,
                       const std::vector<int>& quaternions, const std::string& scheme, const StudyProgress& progress) {
    std::vector<double> sorted = weighted_times;
    std::sort(sorted.begin(), sorted.end());
    Run runs[2];
    double value = study.values.back() / finer;
    for (Run& result : runs) {
        if (progress) progress(fmt::format("reference, {} = {:.6g}", study.setting, value));
        result = run(study, value, times, sorted);
        if (!result.finished)
            return refused(times, fmt::format("the reference run of {} at {} = {:.6g} was "
                                              "refused: {}",
                                              scheme, study.setting, value, result.reason));
        value /= 2;
    }
    Solution solution;
    solution.info.kind = "self";
    solution.info.origin = fmt::format("{} at {} = {:.6g}", scheme, study.setting, value * 2);
    solution.info.error_origin = "its difference from the run at twice that value";
    for (std::size_t i = 0; i < times.size(); ++i) {
        solution.at.push_back(runs[1].at[i].state);
        solution.info.error =
            std::max(solution.info.error, difference(runs[0].at[i].state.q, runs[1].at[i].state.q, quaternions).norm);
    }
    solution.velocity = [sorted, weighted = std::move(runs[1].weighted)](double t) {
        const auto found = std::lower_bound(sorted.begin(), sorted.end(), t);
        return weighted[found - sorted.begin()];
    };
    return solution;
}

}  // namespace stickslip::study
