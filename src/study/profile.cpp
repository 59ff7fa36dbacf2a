// Performance profiles [Dolan-More] [Haddouni, (3.10)-(3.12)]:
//
//   r_ps = t_ps / min_s t_ps,     rho_s(tau) = #{p: r_ps <= tau} / #{p}
//
// rho_s(1) is how often s is the cheapest (ties count for all), rho_s(inf) how often it solves the problem at all. A problem that
// nobody solves stays in the count: it is missing from every rho.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plot/line_plot.hpp"
#include "stickslip/error.hpp"
#include "stickslip/types.hpp"
#include "study/tables.hpp"

namespace stickslip {

namespace {

using namespace study;  // NOLINT: the parts of this layer

struct Tau {
    double value;
    const char* name;
};
constexpr Tau shown[] = {{1, "1"}, {1.2, "1.2"}, {2, "2"}, {infinity, "inf"}};

// Why a run counts as not solved; empty: it is solved.
std::string failure(const StudyRow& row, double error_limit) {
    if (!row.finished) return row.reason.empty() ? "refused" : row.reason;
    if (error_limit == infinity || row.q <= error_limit) return {};
    return std::isnan(row.q) ? "its error is not known" : fmt::format("its error of q is {:.2e}", row.q);
}

std::string problem_name(const PerformanceProfile& profile, std::size_t p) {
    const PerformanceProfile::Problem& problem = profile.problems[p];
    return fmt::format("{}, {} = {:.6g}", problem.model, setting_name(profile.setting), problem.value);
}

}  // namespace

double PerformanceProfile::rho(std::size_t scheme, double tau) const {
    const std::vector<double>& r = ratios[scheme];
    const auto within = std::count_if(r.begin(), r.end(), [&](double x) { return std::isfinite(x) && x <= tau; });
    return r.empty() ? 0 : static_cast<double>(within) / static_cast<double>(r.size());
}

bool PerformanceProfile::solved() const {
    for (std::size_t p = 0; p < problems.size(); ++p)
        if (std::none_of(ratios.begin(), ratios.end(), [&](const auto& r) { return std::isfinite(r[p]); }))
            return false;
    return true;
}

PerformanceProfile performance_profile(const std::vector<Comparison>& models, Cost cost, double error_limit) {
    if (models.empty() || models.front().schemes.empty()) throw Error("a performance profile needs models and schemes");
    PerformanceProfile profile;
    profile.cost = cost;
    profile.error_limit = error_limit;
    profile.setting = models.front().schemes.front().setting;
    for (const Convergence& scheme : models.front().schemes) profile.schemes.push_back(scheme.label);
    const std::size_t n = profile.schemes.size();
    profile.costs.resize(n);
    profile.ratios.resize(n);
    profile.reasons.resize(n);
    for (const Comparison& model : models) {
        if (model.schemes.size() != n) throw Error("a performance profile needs the same schemes on every model");
        for (std::size_t i = 0; i < model.schemes.front().rows.size(); ++i) {
            profile.problems.push_back({model.schemes.front().model, model.schemes.front().rows[i].value});
            double best = infinity;
            for (std::size_t s = 0; s < n; ++s) {
                const Convergence& study = model.schemes[s];
                if (study.label != profile.schemes[s] || study.rows.size() != model.schemes.front().rows.size())
                    throw Error("a performance profile needs the same schemes on every model");
                std::string why = failure(study.rows[i], error_limit);
                const double t = why.empty() ? cost_of(study.rows[i], cost) : infinity;
                profile.costs[s].push_back(t);
                profile.reasons[s].push_back(std::move(why));
                best = std::min(best, t);
            }
            // A cost of nothing is the best there is: only nothing equals it.
            for (std::size_t s = 0; s < n; ++s) {
                const double t = profile.costs[s].back();
                profile.ratios[s].push_back(!std::isfinite(t) ? infinity : t == best ? 1 : t / best);
            }
        }
    }
    return profile;
}

std::string study_text(const PerformanceProfile& profile) {
    std::string text = fmt::format("performance profile of {} schemes on {} problems, cost: {}{}\n\n",
                                   profile.schemes.size(), profile.problems.size(), cost_name(profile.cost),
                                   profile.error_limit == infinity
                                       ? std::string()
                                       : fmt::format("; solved: error of q at most {:.3g}", profile.error_limit));
    std::vector<std::vector<std::string>> rows{{"problem"}};
    for (const std::string& scheme : profile.schemes) rows.back().push_back(scheme);
    for (std::size_t p = 0; p < profile.problems.size(); ++p) {
        rows.push_back({problem_name(profile, p)});
        for (const std::vector<double>& costs : profile.costs)
            rows.back().push_back(std::isfinite(costs[p]) ? fmt::format("{:.4g}", costs[p]) : "not solved");
    }
    text += aligned(rows) + "\n";
    rows = {{"share of the problems within tau times the cheapest: tau ="}};
    for (const Tau& tau : shown) rows.back().emplace_back(tau.name);
    for (std::size_t s = 0; s < profile.schemes.size(); ++s) {
        rows.push_back({profile.schemes[s]});
        for (const Tau& tau : shown) rows.back().push_back(fmt::format("{:.2f}", profile.rho(s, tau.value)));
    }
    text += aligned(rows);
    for (std::size_t s = 0; s < profile.schemes.size(); ++s)
        for (std::size_t p = 0; p < profile.problems.size(); ++p)
            if (!profile.reasons[s][p].empty())
                text += fmt::format("\n  not solved  {}, {}: {}", problem_name(profile, p), profile.schemes[s],
                                    profile.reasons[s][p]);
    return text.back() == '\n' ? text : text + "\n";
}

std::string study_csv(const PerformanceProfile& profile) {
    std::string text = "model,setting,value,scheme,cost,solved,t,ratio,reason\n";
    for (std::size_t s = 0; s < profile.schemes.size(); ++s)
        for (std::size_t p = 0; p < profile.problems.size(); ++p) {
            const bool solved = std::isfinite(profile.costs[s][p]);
            text += fmt::format("{},{},{},{},{},{},{},{},{}\n", quoted(profile.problems[p].model), profile.setting,
                                profile.problems[p].value, quoted(profile.schemes[s]), cost_name(profile.cost),
                                solved ? 1 : 0, solved ? fmt::format("{}", profile.costs[s][p]) : "",
                                solved ? fmt::format("{}", profile.ratios[s][p]) : "", quoted(profile.reasons[s][p]));
        }
    return text;
}

std::string study_svg(const PerformanceProfile& profile) {
    plot::LinePlot picture;
    picture.title = fmt::format("performance profile, {} problems, cost: {}", profile.problems.size(),
                                profile.cost == Cost::wall ? "wall time" : cost_name(profile.cost));
    picture.x_label = "tau, times the cheapest";
    picture.y_label = "share of the problems";
    picture.height = 380;
    // Beyond the largest finite ratio nothing changes; a little of that is shown.
    double last = 1;
    for (const std::vector<double>& ratios : profile.ratios)
        for (const double r : ratios)
            if (std::isfinite(r)) last = std::max(last, r);
    constexpr double wide = 4;  // ratios beyond this squeeze those near 1 on a linear axis
    picture.log_x = last > wide;
    const double end = picture.log_x ? last * 1.3 : last + 0.1 * std::max(last - 1, 0.5);
    for (std::size_t s = 0; s < profile.schemes.size(); ++s) {
        plot::Series series{profile.schemes[s], {}};
        std::vector<double> ratios;
        for (const double r : profile.ratios[s])
            if (std::isfinite(r)) ratios.push_back(r);
        std::sort(ratios.begin(), ratios.end());
        double level = profile.rho(s, 1);
        series.x.push_back(1);
        series.y.push_back(level);
        for (const double r : ratios) {
            if (r == 1) continue;
            series.x.push_back(r);
            series.y.push_back(level);
            level = profile.rho(s, r);
            series.x.push_back(r);
            series.y.push_back(level);
        }
        series.x.push_back(end);
        series.y.push_back(level);
        picture.series.push_back(std::move(series));
    }
    picture.levels.push_back({1, "all of them"});
    return plot::draw(picture).svg_file();
}

std::string study_json(const PerformanceProfile& profile, const std::vector<Comparison>& models) {
    using Json = nlohmann::ordered_json;  // infinities are written as null
    Json json{{"cost", cost_name(profile.cost)}, {"error_limit", profile.error_limit}, {"setting", profile.setting}};
    json["problems"] = Json::array();
    for (const PerformanceProfile::Problem& problem : profile.problems)
        json["problems"].push_back({{"model", problem.model}, {setting_name(profile.setting), problem.value}});
    json["schemes"] = Json::array();
    for (std::size_t s = 0; s < profile.schemes.size(); ++s) {
        Json scheme{{"label", profile.schemes[s]}};
        for (const Tau& tau : shown) scheme["rho"][tau.name] = profile.rho(s, tau.value);
        scheme["costs"] = profile.costs[s];
        scheme["ratios"] = profile.ratios[s];
        scheme["reasons"] = profile.reasons[s];
        json["schemes"].push_back(std::move(scheme));
    }
    json["models"] = Json::array();
    for (const Comparison& model : models) json["models"].push_back(Json::parse(study_json(model)));
    return json.dump(1);
}

}  // namespace stickslip
