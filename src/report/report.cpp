// The page of a run: heading and verdict, then the sections.
#include "stickslip/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "plot/text.hpp"
#include "record/record_layout.hpp"
#include "report/sections.hpp"
#include "stickslip/files.hpp"

namespace stickslip {

namespace {

using plot::number;
using Mood = plot::Page::Mood;

// Reasons of a verdict stand among the warnings too, with this word before them.
bool is_reason(const std::string& warning) { return warning.starts_with("doubtful: "); }

// The first reason of a refused run says why it was refused.
void add_doubts(const RunSummary& s, plot::Page& page) {
    for (std::size_t i = s.end == RunEnd::refused ? 1 : 0; i < s.verdict.reasons.size(); ++i)
        page.verdict(Mood::unsure, "Doubtful:", s.verdict.reasons[i]);
}

void add_verdict(const RecordContents& r, plot::Page& page) {
    const RunSummary& s = r.summary;
    bool doubts_told = false;
    const std::string reached = r.t.empty() ? "no row was recorded" : fmt::format("t = {} s", number(r.t.back(), 6));
    const std::string solved =
        fmt::format("{} of {} steps within the tolerance{}, largest residual {} m/s", s.certified_steps, s.steps,
                    r.tolerance > 0 ? fmt::format(" of {} m/s", number(r.tolerance, 3)) : "", number(s.residual.max, 3));
    if (!r.complete) {
        page.verdict(Mood::unsure, "Not ended.",
                     fmt::format("The run was killed or is still running. The page shows what was recorded up to {}; "
                                 "sums over the whole run are not known.",
                                 reached));
    } else if (s.end == RunEnd::refused) {
        page.verdict(Mood::bad, "Refused.", s.reason);
        page.paragraph(fmt::format("The record ends at {}: {}.", reached, solved));
    } else if (s.end == RunEnd::interrupted) {
        page.verdict(Mood::unsure, "Interrupted.", fmt::format("The record ends at {}: {}.", reached, solved));
    } else if (s.steps == 0) {
        page.verdict(Mood::unsure, "No step was taken.", "");
    } else if (!s.verdict.reasons.empty()) {
        add_doubts(s, page);
        page.paragraph(fmt::format("{}.", solved));
        doubts_told = true;
    } else if (s.certified) {
        page.verdict(Mood::good, "Trusted.", fmt::format("{}.", solved));
    } else {
        page.verdict(Mood::unsure, "Doubtful.", fmt::format("Policy {}: {}.", r.policy, solved));
    }
    if (!doubts_told) add_doubts(s, page);
    for (const std::string& remark : s.verdict.remarks) page.paragraph("Remark: " + remark + ".");
    for (const std::string& warning : s.warnings)
        if (!is_reason(warning)) page.verdict(Mood::unsure, "Warning:", warning);
}

// "step=0.0166666667" for "step=0.016666666666666666": what was read is in the record.
std::string short_options(const std::string& options) {
    std::string text;
    for (std::size_t from = 0; from < options.size();) {
        const std::size_t end = std::min(options.find(' ', from), options.size());
        const std::string option = options.substr(from, end - from);
        const std::size_t equals = option.find('=');
        const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
        char* rest = nullptr;
        const double x = std::strtod(value.c_str(), &rest);
        const bool plain = !value.empty() && *rest == '\0' && std::isfinite(x);
        text += (text.empty() ? "" : " ") + (plain ? option.substr(0, equals + 1) + number(x, 9) : option);
        from = end + 1;
    }
    return text;
}

void add_facts(const RecordContents& r, plot::Page& page) {
    const RunSummary& s = r.summary;
    std::vector<std::pair<std::string, std::string>> facts;
    const auto with = [](const std::string& name, const std::string& options) {
        return options.empty() ? name : fmt::format("{} ({})", name, short_options(options));
    };
    facts.emplace_back("scheme", with(r.scheme, r.scheme_options));
    facts.emplace_back("solver", with(r.solver, r.solver_options) + (s.cone.empty() ? "" : ", cone " + s.cone));
    const std::string policy = with(r.policy, r.budget);
    facts.emplace_back("policy", policy);
    if (r.tolerance > 0)
        facts.emplace_back("tolerance", fmt::format("{} m/s", number(r.tolerance, 3)));
    else if (r.end > 0)  // settings are known: none was given
        facts.emplace_back("tolerance", fmt::format("{} of the speeds and loads of each island", number(default_share, 3)));
    if (!r.t.empty())
        facts.emplace_back("time", r.end > 0 ? fmt::format("{} s of {} s", number(r.t.back(), 6), number(r.end, 6))
                                             : fmt::format("{} s", number(r.t.back(), 6)));
    facts.emplace_back("steps", r.complete
                                    ? fmt::format("{} ({}, {} rejected)", s.steps, plot::counted(s.solves, "solve"),
                                                  plot::counted(s.rejected, "trial step"))
                                    : fmt::format("{}", r.steps));
    facts.emplace_back("recorded", fmt::format("{}, {}, {}", plot::counted(std::ssize(r.t), "time"),
                                               r.record_every > 0 ? fmt::format("every {} s", number(r.record_every, 4))
                                                                  : std::string("every step"),
                                               plot::counted(std::ssize(r.events), "event")));
    if (r.complete) {
        facts.emplace_back(
            "contacts", fmt::format("{} at once on average, {} at most", number(s.contacts.mean, 3), s.contacts.max));
        if (s.variation.v > 0)
            facts.emplace_back("total variation", fmt::format("{} of v, {} of v_weighted", number(s.variation.v, 3),
                                                              number(s.variation.v_weighted, 3)));
        if (s.energy_bound_violations > 0)
            facts.emplace_back("energy bound", fmt::format("broken {}: contacts or joints did work on v_weighted",
                                                           plot::counted(s.energy_bound_violations, "time")));
        if (s.impact_gains.count > 0)
            facts.emplace_back("impacts made energy", fmt::format("{} J in {}", number(s.impact_gains.energy, 3),
                                                                  plot::counted(s.impact_gains.count, "step")));
        if (s.substepped > 0) facts.emplace_back("certified in sub-steps", plot::counted(s.substepped, "step"));
        if (s.unlocated_events > 0) facts.emplace_back("events not located", fmt::format("{}", s.unlocated_events));
        std::vector<std::string> switches;
        for (std::size_t i = 0; i < s.switches.size(); ++i)
            if (s.switches[i] > 0)
                switches.push_back(fmt::format("{} {}", s.switches[i], to_string(static_cast<SwitchReason>(i))));
        if (!switches.empty()) facts.emplace_back("changes of method", fmt::format("{}", fmt::join(switches, ", ")));
        facts.emplace_back("wall time", fmt::format("{} s", number(s.wall_s, 3)));
        facts.emplace_back("hash of the final state", r.hash);
    }
    facts.emplace_back("made by", "stickslip " + r.version);
    page.facts(facts);
}

}  // namespace

std::string report_html(const RecordContents& record, const ReportOptions& options) {
    plot::Page page(record.model + ", " + record.scheme);
    page.heading(1, record.model);
    add_verdict(record, page);
    add_facts(record, page);
    add_motion(record, page);
    add_trajectories(record, options.plot, page);
    add_contacts(record, page);
    add_energy(record, page);
    add_accuracy(record, page);
    add_uncertified(record, page);
    add_timers(record, page);
    page.heading(2, "Model");
    page.source("The model as it was run", record.source);
    return page.html();
}

std::string write_report(const std::string& run, const std::string& file, const ReportOptions& options) {
    const std::string path =
        !file.empty() ? file : (std::filesystem::path(record_file(run)).parent_path() / "report.html").string();
    const std::string html = report_html(read_record(run), options);
    require_other(path, record_file(run), "--output");
    write_text_file(path, html);
    return path;
}

}  // namespace stickslip
