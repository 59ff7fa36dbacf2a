// Studies as text for people and as CSV for programs.
#include "study/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/errors.hpp"

namespace stickslip {

namespace study {

const char* cost_name(Cost cost) {
    switch (cost) {
        case Cost::solves: return "solves";
        case Cost::steps: return "steps";
        case Cost::wall: return "wall_s";
    }
    return "?";
}

double cost_of(const StudyRow& row, Cost cost) {
    switch (cost) {
        case Cost::solves: return static_cast<double>(row.solves);
        case Cost::steps: return static_cast<double>(row.steps);
        case Cost::wall: return row.wall_s;
    }
    return 0;
}

std::string setting_name(const std::string& setting) { return setting.substr(setting.rfind('.') + 1); }

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string inside;
    for (const char c : text) inside += c == '"' ? "\"\"" : std::string(1, c);
    return "\"" + inside + "\"";
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> width;
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (width.size() <= i) width.push_back(0);
            width[i] = std::max(width[i], row[i].size());
        }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += fmt::format("{}{:>{}}", i == 0 ? "  " : "  ", row[i], width[i]);
        text += line + "\n";
    }
    return text;
}

}  // namespace study

namespace {

using namespace study;  // NOLINT: the parts of this layer

std::string error_text(double x) { return std::isnan(x) ? "-" : fmt::format("{:.3e}", x); }
// The table of step control [Haddouni, Tables 3.3, 3.5].
bool controlled(const Convergence& study) { return study.setting == "scheme.tol"; }
std::string order_text(double x) { return std::isfinite(x) ? fmt::format("{:.2f}", x) : "-"; }

std::string times_text(const std::vector<double>& times) {
    constexpr std::size_t most = 8;
    if (times.size() == 1) return fmt::format("error at t = {} s", times[0]);
    if (times.size() > most)
        return fmt::format("largest error at {} times from {} to {} s", times.size(), times.front(), times.back());
    return fmt::format("largest error at t = {} s", fmt::join(times, ", "));
}

std::string reference_text(const StudyReference& reference) {
    std::string text = fmt::format("  reference   {}: {}\n", reference.kind, reference.origin);
    if (reference.error == 0)
        text += fmt::format("              its own error: {}\n", reference.error_origin);
    else if (!std::isnan(reference.error))
        text += fmt::format("              its own error {:.1e} ({})\n", reference.error, reference.error_origin);
    else
        text += fmt::format("              its own error is unknown ({})\n", reference.error_origin);
    if (!reference.compared.empty())
        text +=
            fmt::format("  compared    {} only: the reference gives no more\n", fmt::join(reference.compared, ", "));
    for (const std::string& warning : reference.warnings) text += fmt::format("  warning     {}\n", warning);
    return text;
}

// What the finest run that finished warns of.
std::string warnings_text(const Convergence& study) {
    std::string text;
    for (auto row = study.rows.rbegin(); row != study.rows.rend(); ++row) {
        if (!row->finished) continue;
        for (const std::string& warning : row->warnings)
            text += fmt::format("  warning at {:.6g}: {}\n", row->value, warning);
        break;
    }
    return text;
}

// The sentences of refused runs, each once.
std::string refusals(const Convergence& study) {
    std::string text;
    for (const StudyRow& row : study.rows)
        if (!row.finished)
            text += fmt::format("  refused     {} = {:.6g}: {}\n", setting_name(study.setting), row.value, row.reason);
    return text;
}

// Sentences about what the orders leave out.
std::string fit_text(const Convergence& study) {
    const auto left_out = std::count_if(study.rows.begin(), study.rows.end(),
                                        [](const StudyRow& row) { return row.finished && !row.fitted; });
    std::string text = fmt::format("  {}       q {}, v {}, v_weighted {} (least squares over all rows)\n",
                                   controlled(study) ? "error as a power of tol:" : "order", order_text(study.order),
                                   order_text(study.order_v), order_text(study.order_v_weighted));
    if (left_out > 0 && study.reference.known)
        text += fmt::format(
            "              {} of {} rows left out of q's: their error is rounding, or less than twice the "
            "reference's own (*)\n",
            left_out, study.rows.size());
    return text;
}

const char* const csv_head =
    "model,scheme,setting,value,finished,t,error_q,error_q_max,error_v,error_v_max,t_weighted,error_v_weighted,ratio,"
    "order,"
    "order_v,order_v_weighted,joint_max,impacts,events,steps,rejected,solves,wall_s,reference,reference_error,"
    "step_mean,drift_g,drift_dg,speed_max,gap_min";

// Names of the columns per holonomic row: the signed error at the last time where wanted, then the largest over the run.
std::string joint_head(const Convergence& study, bool joints);

std::string csv_number(double x) { return std::isnan(x) ? "" : fmt::format("{}", x); }

// One line per time of each row.
void append_csv(const Convergence& study, std::string& text, bool joints) {
    for (const StudyRow& row : study.rows) {
        std::vector<StudyError> at = row.at;
        if (!row.finished) at.push_back({nan, nan, nan, nan, nan, nan, nan});
        for (const StudyError& error : at) {
            const bool last = &error == &at.back();
            text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},", quoted(study.model), quoted(study.label),
                                study.setting, row.value, row.finished ? 1 : 0, csv_number(error.t),
                                csv_number(error.q), csv_number(error.q_max), csv_number(error.v),
                                csv_number(error.v_max), csv_number(error.t_weighted), csv_number(error.v_weighted));
            text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_number(last ? row.ratio : nan),
                                csv_number(last ? row.order : nan), csv_number(last ? row.order_v : nan),
                                csv_number(last ? row.order_v_weighted : nan), csv_number(last ? row.joint_max : nan),
                                row.impacts, row.events, row.steps, row.rejected, row.solves, row.wall_s,
                                study.reference.kind, csv_number(study.reference.error));
            text += fmt::format(",{},{},{},{},{}", csv_number(row.step_mean), csv_number(row.drift_g_max),
                                csv_number(row.drift_dg_max), csv_number(row.speed_max), csv_number(row.gap_min));
            for (std::size_t i = 0; joints && i < study.joint_names.size(); ++i)
                text += "," + csv_number(last && i < row.joints.size() ? row.joints[i] : nan);
            for (const std::vector<double>* drift : {&row.drift_g, &row.drift_dg})
                for (std::size_t i = 0; i < study.joint_names.size(); ++i)
                    text += "," + csv_number(i < drift->size() ? (*drift)[i] : nan);
            text += "\n";
        }
    }
}

std::string joint_head(const Convergence& study, bool joints) {
    std::string text;
    for (const std::string& name : study.joint_names)
        if (joints) text += "," + quoted("joint " + name);
    for (const char* drift : {"drift_g ", "drift_dg "})
        for (const std::string& name : study.joint_names) text += "," + quoted(drift + name);
    return text;
}

// tol, average step, accepted, rejected, drift, time, error: one line per tolerance.
std::vector<std::string> control_head(const Convergence& study) {
    std::vector<std::string> head{"tol", "h mean", "accepted", "rejected"};
    if (!study.joint_names.empty()) head.insert(head.end(), {"max|g|", "max|dg/dt|"});
    head.insert(head.end(), {"|dq|", "|dv|", "events", "solves", "wall [s]"});
    return head;
}

std::vector<std::string> control_line(const Convergence& study, const StudyRow& row) {
    std::vector<std::string> line{fmt::format("{:.6g}", row.value), error_text(row.step_mean),
                                  fmt::format("{}", row.steps), fmt::format("{}", row.rejected)};
    if (!study.joint_names.empty())
        line.insert(line.end(), {error_text(row.drift_g_max), error_text(row.drift_dg_max)});
    const std::string mark = row.finished && !row.fitted && !std::isnan(row.q) ? "*" : "";
    line.insert(line.end(),
                {row.finished ? error_text(row.q) + mark : "refused", error_text(row.v), fmt::format("{}", row.events),
                 fmt::format("{}", row.solves), fmt::format("{:.3g}", row.wall_s)});
    return line;
}

}  // namespace

std::string study_text(const Convergence& study) {
    std::string text =
        fmt::format("{}, scheme {}, solver {}: {}\n", study.model, study.scheme, study.solver, times_text(study.times));
    text += reference_text(study.reference);
    const bool joints = !study.joint_names.empty();
    std::vector<std::vector<std::string>> rows;
    if (controlled(study)) {
        rows.push_back(control_head(study));
        for (const StudyRow& row : study.rows) rows.push_back(control_line(study, row));
        return text + "\n" + aligned(rows) + "\n" + fit_text(study) + warnings_text(study) + refusals(study);
    }
    rows.push_back(
        {setting_name(study.setting), "|dq|", "ratio", "order", "max|dq|", "|dv|", "order", "|dv_w|", "order"});
    if (joints) rows.back().push_back("max|g|");
    const bool touched =
        std::any_of(study.rows.begin(), study.rows.end(), [](const StudyRow& row) { return !std::isnan(row.gap_min); });
    rows.back().push_back("max|v|");
    if (touched) rows.back().push_back("min phi");
    for (const char* name : {"impacts", "events", "steps", "solves", "wall [s]"}) rows.back().emplace_back(name);
    for (const StudyRow& row : study.rows) {
        const std::string mark = row.finished && !row.fitted && !std::isnan(row.q) ? "*" : "";
        std::vector<std::string> line{fmt::format("{:.6g}", row.value)};
        if (row.finished) {
            line.insert(line.end(), {error_text(row.q) + mark, order_text(row.ratio), order_text(row.order),
                                     error_text(row.q_max), error_text(row.v), order_text(row.order_v),
                                     error_text(row.v_weighted), order_text(row.order_v_weighted)});
            if (joints) line.push_back(error_text(row.joint_max));
        } else {
            line.emplace_back("refused");
            line.resize(joints ? 10 : 9, "-");
        }
        line.push_back(fmt::format("{:.5g}", row.speed_max));
        if (touched) line.push_back(error_text(row.gap_min));
        line.insert(line.end(),
                    {fmt::format("{}", row.impacts), fmt::format("{}", row.events), fmt::format("{}", row.steps),
                     fmt::format("{}", row.solves), fmt::format("{:.3g}", row.wall_s)});
        rows.push_back(std::move(line));
    }
    return text + "\n" + aligned(rows) + "\n" + fit_text(study) + warnings_text(study) + refusals(study);
}

std::string study_csv(const Convergence& study) {
    std::string text = csv_head;
    text += joint_head(study, true) + "\n";
    append_csv(study, text, true);
    return text;
}

std::string study_csv(const Comparison& study) {
    std::string text = csv_head + joint_head(study.schemes.front(), false) + "\n";
    for (const Convergence& scheme : study.schemes) append_csv(scheme, text, false);
    return text;
}

namespace {

// Cost at which a scheme reaches this error: linear between its rows in logarithms, NaN outside them.
double cost_to_reach(const Convergence& study, double error, Cost cost) {
    for (std::size_t i = 1; i < study.rows.size(); ++i) {
        const StudyRow &a = study.rows[i - 1], &b = study.rows[i];
        if (!(a.q >= error) || !(b.q <= error) || !(b.q > 0)) continue;
        const double s = a.q > b.q ? std::log(a.q / error) / std::log(a.q / b.q) : 0;
        return cost_of(a, cost) * std::pow(cost_of(b, cost) / cost_of(a, cost), s);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

// "12.5"; "<=3" where already the coarsest row is that good, "-" where no row is.
std::string cost_text(const Convergence& study, double error, Cost cost) {
    const double x = cost_to_reach(study, error, cost);
    if (!std::isnan(x)) return fmt::format("{:.3g}", x);
    if (!study.rows.empty() && study.rows.front().finished && study.rows.front().q <= error)
        return fmt::format("<={:.3g}", cost_of(study.rows.front(), cost));
    return "-";
}

}  // namespace

std::string study_text(const Comparison& study, Cost cost) {
    const Convergence& first = study.schemes.front();
    std::string text = fmt::format("{}, solver {}: {}\n", first.model, first.solver, times_text(first.times));
    text += reference_text(first.reference) + "\n";
    std::vector<std::vector<std::string>> rows{{"scheme", setting_name(first.setting), "|dq|", "order", "|dv|",
                                                "|dv_w|", "impacts", "steps", "solves", "wall [s]"}};
    if (controlled(first)) {
        rows = {{"scheme"}};
        for (std::string& word : control_head(first)) rows.back().push_back(std::move(word));
    }
    double coarse = 0, fine = std::numeric_limits<double>::infinity();
    for (const Convergence& scheme : study.schemes)
        for (const StudyRow& row : scheme.rows) {
            if (controlled(first)) {
                rows.push_back({scheme.label});
                for (std::string& word : control_line(scheme, row)) rows.back().push_back(std::move(word));
            } else {
                rows.push_back({scheme.label, fmt::format("{:.6g}", row.value),
                                row.finished ? error_text(row.q) : "refused", order_text(row.order), error_text(row.v),
                                error_text(row.v_weighted), fmt::format("{}", row.impacts),
                                fmt::format("{}", row.steps), fmt::format("{}", row.solves),
                                fmt::format("{:.3g}", row.wall_s)});
            }
            if (!(row.q > 0)) continue;
            coarse = std::max(coarse, row.q);
            fine = std::min(fine, row.q);
        }
    text += aligned(rows) + "\n";
    // Decades of error that somebody passes.
    std::vector<std::vector<std::string>> work{{"|dq| reached", controlled(first) ? "power" : "order"}};
    std::vector<double> errors;
    if (coarse > 0)
        for (int k = static_cast<int>(std::floor(std::log10(coarse))); std::pow(10, k) >= fine; --k)
            errors.push_back(std::pow(10, k));
    for (const double error : errors) work.back().push_back(fmt::format("{:.0e}", error));
    for (const Convergence& scheme : study.schemes) {
        work.push_back({scheme.label, order_text(scheme.order)});
        for (const double error : errors) work.back().push_back(cost_text(scheme, error, cost));
    }
    text += fmt::format("  {} to reach an error of q, between the rows above ({}: least squares)\n", cost_name(cost),
                        controlled(first) ? "power of tol" : "order");
    text += aligned(work);
    for (const Convergence& scheme : study.schemes)
        if (const std::string told = warnings_text(scheme) + refusals(scheme); !told.empty())
            text += fmt::format("\n  {}\n{}", scheme.label, told);
    return text;
}

}  // namespace stickslip
