// `stickslip converge` and `stickslip compare`: many runs of one model or several, errors, orders and costs.
#include "stickslip/study.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <memory>

#include "commands.hpp"
#include "stickslip/files.hpp"
#include "stickslip/load.hpp"

namespace stickslip::cli {

namespace {

struct StudyArguments {
    std::string model, scheme, solver, steps, tols, at, end, reference, reference_case, csv, svg, cost = "solves";
    std::string profile, error_limit;
    std::vector<std::string> sets, schemes, models;
    bool json = false, quiet = false;
};

Study study_of(const StudyArguments& a) {
    Study study;
    study.model = a.model;
    const auto add = [&](const char* key, const std::string& text, const char* flag) {
        if (!text.empty()) study.overrides.push_back({key, text, Place{flag, 0, 0}});
    };
    add("run.scheme", a.scheme, "--scheme");
    add("run.solver", a.solver, "--solver");
    add("run.end", a.end, "--end");
    for (OptionValue& value : set_values(a.sets)) study.overrides.push_back(std::move(value));
    if (a.steps.empty() == a.tols.empty())
        throw Error("give --steps, like 2^-5..2^-11, or --tols, like 1e-2..1e-8: one of them");
    if (!a.tols.empty()) study.setting = "scheme.tol";
    study.values =
        a.tols.empty() ? parse_steps(a.steps, Place{"--steps", 0, 0}) : parse_steps(a.tols, Place{"--tols", 0, 0});
    if (!a.at.empty()) study.at = parse_times(a.at, Place{"--at", 0, 0});
    study.reference = a.reference;
    study.reference_case = a.reference_case;
    return study;
}

// One line on stderr that says what runs, on a terminal only.
class RunningLine {
public:
    explicit RunningLine(bool wanted) : drawing_(wanted && isatty(STDERR_FILENO)) {}
    ~RunningLine() {
        if (drawing_) std::fputs("\r\033[K", stderr);
    }
    void show(const std::string& what) const {
        if (!drawing_) return;
        fmt::print(stderr, "\r\033[K{}", what);
        std::fflush(stderr);
    }

private:
    bool drawing_;
};

// Files are opened before the runs, so that a wrong folder does not cost the result.
class Output {
public:
    Output(const std::string& file, const char* option, const StudyArguments& a) : name_(file) {
        if (name_.empty()) return;
        require_regular(name_);
        std::vector<std::string> inputs{a.reference};
        for (const std::string& model : a.models) inputs.push_back(scene_file(model));
        if (!a.model.empty()) inputs.push_back(scene_file(a.model));
        for (const std::string& input : inputs) require_other(name_, input, option);
        out_.open(name_);
        if (!out_) throw Error(fmt::format("cannot write '{}'", name_));
    }
    explicit operator bool() const { return !name_.empty(); }
    void write(const std::string& text) {
        out_ << text << std::flush;
        if (!out_) throw WriteError(fmt::format("cannot write '{}': is the disk full?", name_));
    }

private:
    std::string name_;
    std::ofstream out_;
};

int run_converge(const StudyArguments& a) {
    const Study study = study_of(a);
    Output csv(a.csv, "--csv", a), svg(a.svg, "--svg", a);
    Convergence table;
    {
        const RunningLine line(!a.quiet);
        table = converge(study, [&](const std::string& what) { line.show(what); });
    }
    fmt::print("{}", a.json ? study_json(table) + "\n" : study_text(table));
    if (csv) csv.write(study_csv(table));
    if (svg) svg.write(study_svg(table));
    return table.finished() ? done : refused;
}

// Many models: one comparison each, and the profile of all of them.
int run_profile(const StudyArguments& a, Cost cost) {
    Study study = study_of(a);
    double limit = std::numeric_limits<double>::infinity();
    if (!a.error_limit.empty()) {
        const Place place{"--error-limit", 0, 0};
        const std::vector<double> values = parse_steps(a.error_limit, place);
        if (values.size() != 1) throw Error("expected one number", place);
        limit = values.front();
    }
    // Errors that nobody asks for are not worth the runs of a reference.
    if (a.error_limit.empty() && study.reference.empty()) study.reference = "none";
    Output csv(a.csv, "--csv", a), svg(a.profile, "--profile", a);
    std::vector<Comparison> tables;
    {
        const RunningLine line(!a.quiet);
        for (const std::string& model : a.models) {
            study.model = model;
            tables.push_back(
                compare(study, a.schemes, [&](const std::string& what) { line.show(model + ", " + what); }));
        }
    }
    const PerformanceProfile profile = performance_profile(tables, cost, limit);
    fmt::print("{}", a.json ? study_json(profile, tables) + "\n" : study_text(profile));
    if (csv) csv.write(study_csv(profile));
    svg.write(study_svg(profile));
    return profile.solved() ? done : refused;
}

int run_compare(StudyArguments& a) {
    const std::map<std::string, Cost> costs{{"solves", Cost::solves}, {"steps", Cost::steps}, {"wall", Cost::wall}};
    const Cost cost = costs.at(a.cost);
    a.model = a.models.front();
    if (!a.profile.empty()) {
        if (!a.svg.empty()) throw Error("--svg draws one model; --profile FILE.svg draws all of them");
        return run_profile(a, cost);
    }
    if (a.models.size() > 1)
        throw Error("several models are compared by their performance profile: add --profile FILE.svg");
    if (!a.error_limit.empty()) throw Error("--error-limit says which runs count in a --profile");
    const Study study = study_of(a);
    Output csv(a.csv, "--csv", a), svg(a.svg, "--svg", a);
    Comparison table;
    {
        const RunningLine line(!a.quiet);
        table = compare(study, a.schemes, [&](const std::string& what) { line.show(what); });
    }
    fmt::print("{}", a.json ? study_json(table) + "\n" : study_text(table, cost));
    if (csv) csv.write(study_csv(table));
    if (svg) svg.write(study_svg(table, cost));
    return table.finished() ? done : refused;
}

// The options of both commands, between the model and those of its own.
std::vector<Option> common_options(StudyArguments& a) {
    return {
        {.names = "--steps",
         .value = &a.steps,
         .help = "step sizes [s]: 2^-5..2^-11, 1e-2..1e-4, 0.1../3..0.1/27 (divisor between), or a list 0.01,0.005"},
        {.names = "--tols",
         .value = &a.tols,
         .help = "instead of steps, for schemes with step control: errors of q allowed per step, 1e-2..1e-10"},
        {.names = "--reference",
         .value = &a.reference,
         .help =
             "exact (closed form of a mechanism), self (a run at a step 16 times smaller than the finest) or a JSON "
             "file of states; exact if there is one, else self; none: no errors"},
        {.names = "--case", .value = &a.reference_case, .help = "case of a reference file that holds several"},
        {.names = "--at", .value = &a.at, .help = "T,T,...: times of comparison [s]; the end if left out"},
        {.names = "--solver", .value = &a.solver, .help = solver_help},
        {.names = "--end", .value = &a.end, .help = "end time [s]"},
        {.names = "--set", .value = &a.sets, .help = set_help},
        {.names = "--csv", .value = &a.csv, .help = "write the table with all digits to this file"},
        {.names = "--svg", .value = &a.svg, .help = "write a picture to this file"},
        {.names = "--json", .value = &a.json, .help = "print one JSON object"},
        {.names = "--quiet", .value = &a.quiet, .help = "do not say on a terminal what runs"}};
}

}  // namespace

Command converge_command() {
    auto a = std::make_shared<StudyArguments>();
    std::vector<Option> options = common_options(*a);
    options.insert(options.begin(), {.names = "MODEL", .value = &a->model, .help = model_help, .required = true});
    options.push_back({.names = "--scheme", .value = &a->scheme, .help = scheme_help});
    return {"converge", "run a model at several steps: error table and observed order", options,
            [a] { return run_converge(*a); }};
}

Command compare_command() {
    auto a = std::make_shared<StudyArguments>();
    std::vector<Option> options = common_options(*a);
    options.insert(options.begin(), {.names = "MODEL",
                                     .value = &a->models,
                                     .help = "scene file, scene:NAME or mechanism:NAME; several with --profile",
                                     .required = true,
                                     .greedy = true});
    const std::vector<Option> own{
        {.names = "--schemes",
         .value = &a->schemes,
         .help = "NAME,NAME,...: schemes, also with options as NAME:KEY=VALUE:KEY=VALUE",
         .required = true,
         .separator = ',',
         .greedy = true},
        {.names = "--cost",
         .value = &a->cost,
         .help = "what the picture and the last table call cost: solves, steps or wall",
         .choices = {"solves", "steps", "wall"}},
        {.names = "--profile",
         .value = &a->profile,
         .help = "write the performance profile to this SVG file: share of the problems (models at each step or "
                 "tolerance) that a scheme solves within tau times the cost of the cheapest"},
        {.names = "--error-limit",
         .value = &a->error_limit,
         .help = "with --profile: only runs whose error of q is at most this are solved"}};
    options.insert(options.end(), own.begin(), own.end());
    return {"compare", "run a model by several schemes: error against cost", options, [a] { return run_compare(*a); }};
}

}  // namespace stickslip::cli
