// `stickslip run`: one model, one record, one summary.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "progress.hpp"
#include "stickslip/hard_problems.hpp"
#include "stickslip/load.hpp"
#include "stickslip/record.hpp"
#include "stickslip/threads.hpp"
#include "summary_text.hpp"

namespace stickslip::cli {

namespace {

namespace fs = std::filesystem;

std::atomic<bool> stop{false};
extern "C" void on_interrupt(int) { stop.store(true); }

struct RunArguments {
    std::string model, scheme, solver, step, tol, end, folder, resume;
    std::vector<std::string> sets;
    int threads = 1;
    int hard = 0;  // problems to keep; 0: none
    bool json = false, quiet = false, profile = false, no_record = false, force = false;
};

// --scheme and friends are shorthands for --set.
OptionValues overrides(const RunArguments& a) {
    OptionValues values;
    const auto add = [&](const char* key, const std::string& text, const char* flag) {
        if (!text.empty()) values.push_back({key, text, Place{flag, 0, 0}});
    };
    add("run.scheme", a.scheme, "--scheme");  // the options of another scheme are dropped
    add("run.solver", a.solver, "--solver");
    add("run.step", a.step, "--step");
    add("run.end", a.end, "--end");
    for (OptionValue& value : set_values(a.sets)) values.push_back(std::move(value));
    return values;
}

Model load(const RunArguments& a) {
    OptionValues values = overrides(a);
    const Place place{"--tol", 0, 0};
    if (!a.tol.empty()) values.push_back({"scheme.tol", a.tol, place});
    Model model = load_model(a.model, values);
    if (!a.tol.empty()) require_step_control(model.run.scheme.name, place);  // the scene may have named the scheme
    return model;
}

// runs/<model>-<n>/ with the first n that is free.
std::string fresh_folder(const std::string& model) {
    for (int n = 1;; ++n) {
        const fs::path folder = fs::path("runs") / fmt::format("{}-{}", model, n);
        if (!fs::exists(folder)) return folder.string();
    }
}

void make_folder(const std::string& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) throw Error(fmt::format("cannot make the folder '{}': {}", folder, failure.message()));
}

// Goes on from the last snapshot of an earlier run of the same model.
void resume(Simulation& simulation, const std::string& from) {
    const Model& model = simulation.model();
    const RecordContents past = read_record(from);
    if (past.snapshot.empty()) throw Error("'" + from + "' holds no snapshot to resume from");
    if (mechanics_of(past.source) != mechanics_of(model.source))
        throw Error("'" + from + "' is the record of another model: the scene or a --set of its mechanics differs");
    simulation.restore(past.snapshot);
    if (simulation.state().t >= model.run.end)
        throw Error(
            fmt::format("'{}' has already reached t = {:.6g} s; give a later --end", from, simulation.state().t));
}

// What is written while the simulation runs.
class Outputs {
public:
    Outputs(const RunArguments& a, Simulation& simulation) {
        const Model& model = simulation.model();
        if (a.hard != 0 && a.no_record)
            throw Error("--dump-hard writes into the folder of the record; leave --no-record out");
        if (a.no_record) return;
        folder_ = a.folder.empty() ? fresh_folder(model.name) : a.folder;
        make_folder(folder_);
        if (!a.force && fs::exists(record_file()))
            throw Error(fmt::format(
                "'{}' already holds a record; give another folder with -o, or --force to replace it", folder_));
        record_ = make_hdf5_recorder(record_file(), 0.5, [&simulation] { return simulation.snapshot(); });
        simulation.add(*record_);
        if (model.run.csv) {
            csv_ = make_csv_recorder((fs::path(folder_) / "run.csv").string());
            simulation.add(*csv_);
        }
        simulation.set_capsule_folder(folder_);
        if (a.hard == 0) return;
        hard_ = std::make_unique<HardProblems>((fs::path(folder_) / "hard").string(), a.hard, model.run.solver.name);
        simulation.watch_solves([this](const SolvedProblem& solved) { hard_->see(solved); });
    }
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;

    const std::string& folder() const { return folder_; }  // empty without a record
    std::string record_file() const { return (fs::path(folder_) / "run.h5").string(); }
    const HardProblems* hard() const { return hard_.get(); }

private:
    std::string folder_;
    std::unique_ptr<Recorder> record_, csv_;
    std::unique_ptr<HardProblems> hard_;
};

void print_summary(const RunArguments& a, const Simulation& simulation, const RunSummary& summary,
                   const Outputs& outputs) {
    std::FILE* beside = a.json ? stderr : stdout;  // with --json nothing else stands on stdout
    if (a.json) {
        fmt::print("{}\n", summary_json(simulation, summary));
    } else if (!a.quiet) {
        fmt::print("{}", summary_text(simulation, summary));
    }
    if (a.profile) fmt::print(beside, "{}", profile_text(summary));
    if (!a.no_record && !a.quiet && !a.json) fmt::print("  record       {}\n", outputs.record_file());
    if (outputs.hard() && !a.quiet) fmt::print(beside, "  hard         {}\n", outputs.hard()->text());
}

int run(const RunArguments& a) {
    set_threads(a.threads);
    Simulation simulation(load(a));
    const Model& model = simulation.model();
    if (!a.resume.empty()) resume(simulation, a.resume);
    Outputs outputs(a, simulation);

    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    RunSummary summary;
    {
        Progress progress(model.name, model.run.end, !a.quiet);
        summary = simulation.run(&stop, [&](double t) { progress.show(t); });
    }
    print_summary(a, simulation, summary, outputs);
    if (summary.end == RunEnd::refused) {
        fmt::print(stderr, "stickslip: refused: {}\n", summary.reason);
        return refused;
    }
    if (summary.end == RunEnd::interrupted) {
        fmt::print(stderr, "stickslip: interrupted at t = {:.6g} s{}\n", summary.t,
                   a.no_record ? "" : "; the record is kept, go on with --resume " + outputs.folder());
        return refused;
    }
    return done;
}

}  // namespace

OptionValues set_values(const std::vector<std::string>& sets) {
    OptionValues values;
    for (const std::string& set : sets) {
        const auto equals = set.find('=');
        if (equals == std::string::npos || equals == 0) throw Error("expected --set key=value, got '" + set + "'");
        values.push_back(
            {set.substr(0, equals), set.substr(equals + 1), Place{"--set " + set.substr(0, equals), 0, 0}});
    }
    return values;
}

Command run_command() {
    auto a = std::make_shared<RunArguments>();
    return {
        "run",
        "run a scene or a mechanism, record it, sum it up",
        {{.names = "MODEL", .value = &a->model, .help = model_help, .required = true},
         {.names = "--scheme", .value = &a->scheme, .help = scheme_help},
         {.names = "--solver", .value = &a->solver, .help = solver_help},
         {.names = "--step", .value = &a->step, .help = "step size [s], also as 1/60 or 2^-8"},
         {.names = "--tol",
          .value = &a->tol,
          .help = "error of q allowed per step, for schemes with step control (option tol)"},
         {.names = "--end", .value = &a->end, .help = "end time [s]"},
         {.names = "--set", .value = &a->sets, .help = set_help},
         {.names = "--threads", .value = &a->threads, .help = threads_help, .min = 1, .max = max_threads},
         {.names = "-o,--output", .value = &a->folder, .help = "folder of the record; runs/<model>-<n> if left out"},
         {.names = "--resume", .value = &a->resume, .help = "go on from the last snapshot of this run"},
         {.names = "--force", .value = &a->force, .help = "replace the record that is already in the folder"},
         {.names = "--no-record", .value = &a->no_record, .help = "write no record"},
         {.names = "--dump-hard{20}",
          .value = &a->hard,
          .help = "keep the hardest contact problems as files in RUN/hard; =N: how many",
          .min = 1,
          .max = 100000},
         {.names = "--json", .value = &a->json, .help = "print one JSON object at the end"},
         {.names = "--quiet", .value = &a->quiet, .help = "no progress bar, no summary"},
         {.names = "--profile", .value = &a->profile, .help = "time spent in each part of the step"}},
        [a] { return run(*a); }};
}

}  // namespace stickslip::cli
