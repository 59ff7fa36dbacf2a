// `stickslip check`: the audit before a run.
#include "stickslip/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "stickslip/files.hpp"

namespace stickslip::cli {

namespace {

struct CheckArguments {
    std::string model;
    std::vector<std::string> sets;
    bool tolerances = false, json = false;
};

std::string as_json(const Audit& audit) {
    nlohmann::ordered_json json{{"model", audit.model}};
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note})
        json[fmt::format("{}s", to_string(severity))] = audit.count(severity);
    json["findings"] = nlohmann::ordered_json::array();
    for (const Finding& f : audit.findings) {
        nlohmann::ordered_json one{{"severity", to_string(f.severity)},
                                   {"topic", f.topic},
                                   {"message", f.message},
                                   {"advice", f.advice},
                                   {"who", f.who}};
        if (f.place.line > 0)
            one["place"] = {{"file", f.place.file}, {"line", f.place.line}, {"column", f.place.column}};
        json["findings"].push_back(one);
    }
    json["friction_bound"] = nlohmann::ordered_json::array();
    for (const FrictionBound& b : audit.friction_bound)
        json["friction_bound"].push_back({{"who", b.who},
                                          {"contacts", b.contacts},
                                          {"friction", b.friction},
                                          {"bound", b.bound},  // null: infinite
                                          {"unique", b.unique()},
                                          {"sigma_min_nn", b.normal_least},
                                          {"sigma_max_nt", b.cross_most}});
    Tolerances tolerances = audit.tolerances;
    tolerances.scales.fields(
        [&](const char* name, double value, const char*, const char*) { json["scales"][name] = value; });
    tolerances.fields(
        [&](const char* name, double value, const char*, const char*) { json["tolerances"][name] = value; });
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);  // names may be no UTF-8
}

// The sizes that tolerances are shares of, and the tolerances.
void print_tolerances(Tolerances tolerances) {
    const auto row = [](const char* name, double value, const char* unit, const char* help) {
        fmt::print("    {:<22} {:>9.3g} {:<7} {}\n", name, value, unit, help);
    };
    fmt::print("scales and tolerances (run.tolerances.NAME overrides one):\n");
    tolerances.scales.fields(row);
    tolerances.fields(row);
}

// What friction at t = 0 leaves open, for each group of bodies that touch; the first few of many.
void print_friction_bounds(const std::vector<FrictionBound>& bounds) {
    constexpr std::size_t shown = 5;
    for (std::size_t i = 0; i < std::min(shown, bounds.size()); ++i) {
        const FrictionBound& b = bounds[i];
        std::string who = b.who.empty() ? "" : b.who.front();
        if (b.who.size() == 2) who += " and " + b.who[1];
        if (b.who.size() > 2) who += fmt::format(" and {} more", b.who.size() - 1);
        fmt::print("friction bound {:.3g} at t = 0, {} ({} contact{}): friction {:.3g} {}\n", b.bound, printable(who),
                   b.contacts, b.contacts == 1 ? "" : "s", b.friction,
                   b.unique()
                       ? "is below it, so accelerations and normal forces are unique whichever way contacts slide"
                       : "is not below it, so uniqueness of accelerations and normal forces is not guaranteed");
    }
    if (bounds.size() > shown) fmt::print("and {} more friction bounds; --json lists all\n", bounds.size() - shown);
}

int check(const CheckArguments& a) {
    const Audit audit = check_model(a.model, set_values(a.sets));
    if (a.json) {
        fmt::print("{}\n", as_json(audit));
    } else {
        for (const Finding& f : audit.findings) {
            const std::string place = f.place.line > 0 ? f.place.text() + ": " : "";
            fmt::print("{}{}: {} [{}]\n    {}\n", printable(place), to_string(f.severity), printable(f.message),
                       f.topic, printable(f.advice));
        }
        print_friction_bounds(audit.friction_bound);
        if (a.tolerances) print_tolerances(audit.tolerances);
        std::string sum;
        for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
            const int n = audit.count(severity);
            sum += fmt::format("{}{} {}{}", sum.empty() ? "" : ", ", n, to_string(severity), n == 1 ? "" : "s");
        }
        fmt::print("{}: {}\n", audit.model, sum);
    }
    return audit.count(Severity::error) > 0 ? refused : done;
}

}  // namespace

Command check_command() {
    auto a = std::make_shared<CheckArguments>();
    return {"check",
            "audit a model before running it: units, inertia, overlaps, redundant joints, wedging",
            {{.names = "MODEL", .value = &a->model, .help = model_help, .required = true},
             {.names = "--set", .value = &a->sets, .help = "KEY=VALUE, as of run"},
             {.names = "--tolerances", .value = &a->tolerances, .help = "also print what run.tolerances may override"},
             {.names = "--json", .value = &a->json, .help = "print one JSON object"}},
            [a] { return check(*a); }};
}

}  // namespace stickslip::cli
