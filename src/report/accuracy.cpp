// The numbers that say how far to trust a run: energy ledger and what it leaves unexplained, residual, drift; and where
// the time went.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plot/line_plot.hpp"
#include "plot/text.hpp"
#include "plot/timeline.hpp"
#include "record/record_layout.hpp"
#include "report/sections.hpp"

namespace stickslip {

namespace {

constexpr double least_residual_drawn = 1e-18;  // [m/s]

using plot::LinePlot;
using plot::number;

// Shares of the largest energy below this are rounding and get no line of their own.
constexpr double energy_rounding = 1e-13;
// [m, rad, m/s, rad/s] Drift below this is rounding and gets no picture.
constexpr double no_drift = 1e-14;

double largest(const std::vector<double>& values) {
    double most = 0;
    for (const double x : values)
        if (!std::isnan(most) && !(std::abs(x) <= most)) most = std::abs(x);  // a NaN is kept and told
    return most;
}

LinePlot over_time(const RecordContents& record, const char* title, const char* label, const char* unit) {
    LinePlot plot;
    plot.title = title;
    plot.x_label = "t";
    plot.x_unit = "s";
    plot.y_label = label;
    plot.y_unit = unit;
    plot.x = record.t;
    return plot;
}

// Which rungs of the solver answered; records made before they were counted have none.
void add_ladder(const RunSummary& s, plot::Page& page) {
    const double all = static_cast<double>(std::accumulate(s.ladder.begin(), s.ladder.end(), 0L));
    if (all == 0) return;
    plot::Table table;
    table.columns = {{"islands solved by", false}, {"islands", true}, {"share [%]", true}};
    for (std::size_t i = 0; i < s.ladder.size(); ++i)
        if (s.ladder[i] > 0)
            table.rows.push_back({to_string(static_cast<Rung>(i)), fmt::format("{}", s.ladder[i]),
                                  number(100 * static_cast<double>(s.ladder[i]) / all, 3)});
    page.table(table);
}

}  // namespace

void add_energy(const RecordContents& record, plot::Page& page) {
    page.heading(2, "Energy");
    page.begin_row();
    double scale = 0;

    LinePlot stored = over_time(record, "Energy of the state", "energy", "J");
    std::vector<double> total;
    std::string absent;
    for (int i = 0; i < 3; ++i) {
        std::vector<double> y = row_of(record.energy, i);
        scale = std::max(scale, largest(y));
        total.resize(y.size());
        for (std::size_t k = 0; k < y.size(); ++k) total[k] += y[k];
        if (i == 2 && largest(y) == 0) continue;  // no springs
        stored.series.push_back({energy_names[i], std::move(y)});
    }
    stored.series.push_back({"total", std::move(total), {}, false, true, "ink dots"});
    page.figure(plot::draw(stored));

    // Signed as what enters the system, so that the lines add up to the change of the total.
    LinePlot flows = over_time(record, "Work since the start, into the system", "work", "J");
    for (int i = 3; i < 9; ++i) {
        std::vector<double> y = row_of(record.energy, i);
        std::string name = energy_names[i];
        std::replace(name.begin(), name.end(), '_', ' ');
        if (largest(y) <= energy_rounding * scale) {
            absent += (absent.empty() ? "" : ", ") + name;
            continue;
        }
        if (i < 8) scale = std::max(scale, largest(y));
        if (i >= 5) {
            for (double& x : y) x = -x;
            name = "\xe2\x88\x92 " + name;
        }
        flows.series.push_back({name, std::move(y)});
    }
    if (!flows.series.empty() || record.t.size() < 2)
        page.figure(plot::draw(flows), absent.empty() ? "" : "Zero or rounding throughout: " + absent + ".");

    LinePlot rest = over_time(record, "Imbalance: energy that no entry of the ledger explains", "imbalance", "J");
    const std::vector<double> imbalance = row_of(record.energy, 9);
    rest.series.push_back({"", imbalance});
    const double most = largest(imbalance);
    page.figure(
        plot::draw(rest),
        fmt::format("At most {} J{}. Rounding leaves some 1e-12 of the energies; more is a mistake of the program.",
                    number(most, 3),
                    scale > 0
                        ? fmt::format(", {} of the largest energy {} J", number(most / scale, 2), number(scale, 3))
                        : std::string()));
    page.end_row();
    if (flows.series.empty() && record.t.size() > 1)
        page.paragraph("No work is done and nothing is lost: " + absent + " are zero or rounding throughout.", "note");
}

void add_accuracy(const RecordContents& record, plot::Page& page) {
    page.heading(2, "Residual and drift");
    page.begin_row();
    LinePlot residual = over_time(record, "Residual of the steps", "residual", "m/s");
    residual.log_y = true;
    const std::vector<double> worst = row_of(record.worst, worst_residual);
    const bool every_step = record.record_every == 0 && record.end > 0;
    const std::vector<double>& shown = worst.empty() ? record.residual : worst;
    std::vector<double> drawn = shown;
    for (double& x : drawn) x = std::max(x, least_residual_drawn);  // a logarithm knows no zero
    residual.series.push_back({every_step      ? "of the step"
                               : worst.empty() ? "of the steps that were recorded"
                                               : "largest of the steps since the row before",
                               drawn});
    if (record.tolerance > 0) residual.levels.push_back({record.tolerance, "tolerance"});
    // The first row is the initial state and no step.
    const auto zeros = std::count(shown.begin() + (shown.empty() ? 0 : 1), shown.end(), 0.0);
    std::string note;
    if (zeros > 0)
        note = fmt::format("{} of {} rows have the residual 0 and no place on a logarithmic axis.", zeros,
                           shown.size() - 1);
    page.figure(plot::draw(residual), note);

    const auto drift = [&](WorstTerm term, const char* title, const char* label, const char* unit, const char* none) {
        std::vector<double> y = row_of(record.worst, term);
        const double most = largest(y);
        if (most < no_drift) return std::string(none);
        LinePlot plot = over_time(record, title, label, unit);
        plot.series.push_back({"", std::move(y)});
        page.figure(plot::draw(plot), fmt::format("At most {} {}; the largest of the steps since the row before.",
                                                  number(most, 3), unit));
        return std::string();
    };
    std::string quiet;
    if (record.worst.size() > 0) {
        quiet += drift(worst_overlap, "Overlap of bodies", "overlap", "m", "No bodies overlap. ");
        quiet += drift(worst_joint, "Joints: positions", "violation", "m, rad", "No joint is open in position");
        quiet += drift(worst_joint_speed, "Joints: velocities", "violation", "m/s, rad/s",
                       quiet.find("position") == std::string::npos ? "No joint is open in velocity." : " or velocity.");
        if (quiet.ends_with("position")) quiet += ".";
    }
    page.end_row();
    if (record.worst.size() == 0)
        page.paragraph("This record was made before drift was recorded step by step.", "note");
    else if (!quiet.empty())
        page.paragraph(quiet, "note");
}

void add_timers(const RecordContents& record, plot::Page& page) {
    page.heading(2, "Time spent");
    if (!record.complete) {
        page.paragraph("Timers are written when a run ends; this one has not.", "note");
        return;
    }
    const RunSummary& s = record.summary;
    static constexpr const char* names[] = {"find contacts", "fill the problem", "solve it", "advance",
                                            "keep the ledger"};
    plot::Shares shares;
    shares.title = "Where the time went";
    shares.unit = "s";
    double rest = s.wall_s;
    for (std::size_t i = 0; i < s.timers.seconds.size(); ++i) {
        shares.parts.push_back({names[i], s.timers.seconds[i]});
        rest -= s.timers.seconds[i];
    }
    if (rest > 0) shares.parts.push_back({"record and the rest", rest});
    page.begin_row();
    page.figure(plot::draw(shares));
    page.end_row();
    plot::Table table;
    for (const char* name : {"time of a step [ms]", "mean", "median", "99 %", "longest"})
        table.columns.push_back({name, true});
    table.columns[0].number = false;
    table.rows.push_back({fmt::format("{} steps", s.steps), number(s.step_ms.mean, 3), number(s.step_ms.p50, 3),
                          number(s.step_ms.p99, 3), number(s.step_ms.max, 3)});
    page.table(table);
    add_ladder(s, page);
}

}  // namespace stickslip
