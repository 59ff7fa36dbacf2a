// `stickslip check`: the audit before a run.
#include "stickslip/check.hpp"

#include <fmt/format.h>

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
