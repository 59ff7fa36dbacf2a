// Studies as log-log pictures: error over the refined setting, with the slopes one and two to compare with; error over cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/line_plot.hpp"
#include "plot/text.hpp"
#include "stickslip/types.hpp"
#include "study/tables.hpp"

namespace stickslip {

namespace {

using namespace study;  // NOLINT: the parts of this layer

std::string with_order(const std::string& name, double order) {
    return std::isfinite(order) ? fmt::format("{}, order {:.2f}", name, order) : name;
}

// The reference's own error, unless it lies so deep that the errors would be squeezed together.
void add_reference(const StudyReference& reference, double smallest, plot::LinePlot& picture) {
    constexpr double near = 1e-3;
    if (!(reference.error > near * smallest)) return;
    plot::Level& level = picture.levels.emplace_back();
    level.y = reference.error;
    level.name = "the reference's own error";
}

double smaller(double smallest, double error) { return error > 0 ? std::min(smallest, error) : smallest; }

}  // namespace

std::string study_svg(const Convergence& study) {
    plot::LinePlot picture;
    picture.title =
        fmt::format("{}, {}: error at {}", study.model, study.label,
                    study.times.size() == 1 ? fmt::format("t = {} s", plot::number(study.times[0]))
                                            : plot::counted(static_cast<long long>(study.times.size()), "time"));
    picture.x_label = setting_name(study.setting);
    if (study.setting == "run.step") picture.x_unit = "s";
    const bool controlled = study.setting == "scheme.tol";
    if (controlled) picture.x_unit = "m, rad";
    picture.y_label = "error (2-norm, SI units)";
    picture.log_x = picture.log_y = true;
    picture.height = 380;
    const auto named = [&](const char* name, double order) { return controlled ? name : with_order(name, order); };
    plot::Series q{named("q", study.order), {}}, v{named("v", study.order_v), {}},
        w{named("v_weighted", study.order_v_weighted), {}};
    for (const StudyRow& row : study.rows) {
        picture.x.push_back(row.value);
        q.y.push_back(row.q);
        v.y.push_back(row.v);
        w.y.push_back(row.v_weighted);
    }
    for (plot::Series* series : {&q, &v, &w}) {
        series->markers = true;
        const bool any = std::any_of(series->y.begin(), series->y.end(), [](double y) { return y > 0; });
        if (any) picture.series.push_back(*series);
    }
    // Slopes through the coarsest known error of q.
    const auto known =
        std::find_if(study.rows.begin(), study.rows.end(), [](const StudyRow& row) { return row.q > 0; });
    for (const int p : {1, 2}) {
        if (controlled && p == 2) break;
        if (known == study.rows.end() || known + 1 == study.rows.end()) break;
        plot::Series slope{fmt::format("slope {}", p), {}};
        slope.classes = p == 1 ? "ink" : "ink dash";
        for (const StudyRow& row : study.rows) slope.y.push_back(known->q * std::pow(row.value / known->value, p));
        picture.series.push_back(slope);
    }
    double smallest = infinity;
    for (const StudyRow& row : study.rows) smallest = smaller(smallest, row.q);
    add_reference(study.reference, smallest, picture);
    return plot::draw(picture).svg_file();
}

std::string study_svg(const Comparison& study, Cost cost) {
    plot::LinePlot picture;
    const Convergence& first = study.schemes.front();
    picture.title = fmt::format("{}: error of q against cost", first.model);
    picture.x_label = cost == Cost::wall ? "wall time" : cost_name(cost);
    if (cost == Cost::wall) picture.x_unit = "s";
    picture.y_label = "error of q (2-norm, SI units)";
    picture.log_x = picture.log_y = true;
    picture.height = 380;
    for (const Convergence& scheme : study.schemes) {
        plot::Series series{scheme.setting == "scheme.tol" ? scheme.label : with_order(scheme.label, scheme.order), {}};
        series.markers = true;
        for (const StudyRow& row : scheme.rows) {
            series.x.push_back(cost_of(row, cost));
            series.y.push_back(row.q);
        }
        picture.series.push_back(std::move(series));
    }
    double smallest = infinity;
    for (const Convergence& scheme : study.schemes)
        for (const StudyRow& row : scheme.rows) smallest = smaller(smallest, row.q);
    add_reference(first.reference, smallest, picture);
    return plot::draw(picture).svg_file();
}

}  // namespace stickslip
