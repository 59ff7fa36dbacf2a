// `stickslip run`: one model, one record, one summary.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "progress.hpp"
#include "stickslip/files.hpp"
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

[[noreturn]] void fail_to_make(const fs::path& folder, const std::error_code& failure) {
    const std::string words = fmt::format("cannot make the folder '{}': {}", folder.string(), failure.message());
    if (failure == std::errc::no_space_on_device) throw WriteError(words);
    throw Error(words);
}

void make_folder(const std::string& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) fail_to_make(folder, failure);
}

// runs/<model>-<n>/ with the first n that is free. Making the folder is what takes it: of several runs that start at once
// each gets its own.
std::string fresh_folder(const std::string& model) {
    make_folder("runs");
    for (int n = 1;; ++n) {
        const fs::path folder = fs::path("runs") / fmt::format("{}-{}", model, n);
        std::error_code failure;
        if (fs::create_directory(folder, failure)) return folder.string();
        if (failure && failure != std::errc::file_exists) fail_to_make(folder, failure);
    }
}

// What an earlier run left in the folder and this one may not write again: it would be taken for this one's.
void remove_leavings(const fs::path& folder) {
    const auto clear = [](const fs::path& where, const auto& is_ours) {
        std::error_code ignored;
        std::vector<fs::path> old;
        for (const fs::directory_entry& entry : fs::directory_iterator(where, ignored))
            if (is_ours(entry.path().filename().string()) && !entry.is_directory(ignored)) old.push_back(entry.path());
        for (const fs::path& path : old) fs::remove(path, ignored);
    };
    clear(folder, [](const std::string& name) {
        return name == "report.html" || name == "run.csv" || (name.starts_with("refused_") && name.ends_with(".h5"));
    });
    clear(folder / "hard", [](const std::string& name) {
        return name == "index.csv" || (name.starts_with("step_") && name.ends_with(".h5"));
    });
    std::error_code ignored;
    fs::remove(folder / "hard", ignored);  // if it is empty
}

std::string record_in(const std::string& run) {
    std::error_code ignored;
    return fs::is_directory(run, ignored) ? (fs::path(run) / "run.h5").string() : run;
}

// "step=1e-3 theta=0.6" by key; a key given twice counts as its last value.
std::map<std::string, std::string> by_key(const std::string& options) {
    std::map<std::string, std::string> values;
    std::istringstream words(options);
    for (std::string word; words >> word;) values[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    return values;
}

bool same_value(const std::string& a, const std::string& b) {
    if (a == b) return true;
    char *end_a = nullptr, *end_b = nullptr;
    const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
    return !a.empty() && !b.empty() && *end_a == 0 && *end_b == 0 && x == y;  // 1e-3 is 0.001
}

// The settings in which this run differs from the one it goes on from, in words; where it ends and what it records are free.
std::string differences(const RecordContents& past, const Model& model) {
    std::string text;
    const auto compare = [&](const std::string& what, const std::string& then, const std::string& now) {
        if (same_value(then, now)) return;
        const auto shown = [](const std::string& x) { return x.empty() ? std::string("(default)") : x; };
        text += fmt::format("{}{} was {}, is {}", text.empty() ? "" : "; ", what, shown(then), shown(now));
    };
    const auto compare_all = [&](const char* prefix, const std::string& then, const std::string& now) {
        std::map<std::string, std::string> before = by_key(then), after = by_key(now);
        for (const auto& [key, value] : before) compare(prefix + key, value, after[key]);
        for (const auto& [key, value] : after)
            if (!before.contains(key)) compare(prefix + key, "", value);
    };
    const auto text_of = [](const OptionValues& options) {
        std::string line;
        for (const OptionValue& option : options) line += option.key + "=" + option.text + " ";
        return line;
    };
    compare("scheme", past.scheme, model.run.scheme.name);
    compare("solver", past.solver, model.run.solver.name);
    compare("policy", past.policy, to_string(model.run.policy));
    compare_all("budget.", past.budget, to_string(model.run.budget));
    if (past.end == 0) return text;  // a record that keeps no options
    compare_all("scheme.", past.scheme_options, text_of(model.run.scheme.options));
    compare_all("solver.", past.solver_options, text_of(model.run.solver.options));
    return text;
}

// Goes on from the last snapshot of an earlier run of the same model.
void resume(Simulation& simulation, const std::string& from, bool force) {
    const Model& model = simulation.model();
    const RecordContents past = read_record(from);
    if (past.snapshot.empty()) throw Error("'" + from + "' holds no snapshot to resume from");
    if (mechanics_of(past.source) != mechanics_of(model.source))
        throw Error("'" + from + "' is the record of another model: the scene or a --set of its mechanics differs");
    if (const std::string other = differences(past, model); !other.empty() && !force)
        throw Error(fmt::format("'{}' was run with other settings: {}; give the same, or --force to go on with these",
                                from, other));
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
        lock_ = FolderLock(folder_);
        const std::string scene = scene_file(a.model), past = a.resume.empty() ? "" : record_in(a.resume);
        const std::string csv = (fs::path(folder_) / "run.csv").string();
        for (const std::string& input : {scene, past})
            for (const std::string& output : {record_file(), csv}) require_other(output, input, "--output");
        if (!a.force && fs::exists(record_file()))
            throw Error(fmt::format(
                "'{}' already holds a record; give another folder with -o, or --force to replace it", folder_));
        if (a.force) remove_leavings(folder_);
        record_ = make_hdf5_recorder(record_file(), 0.5, [&simulation] { return simulation.snapshot(); });
        simulation.add(*record_);
        if (model.run.csv) {
            csv_ = make_csv_recorder(csv);
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
    FolderLock lock_;
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
    if (!a.no_record && !a.quiet && !a.json) fmt::print("  record       {}\n", printable(outputs.record_file()));
    if (outputs.hard() && !a.quiet) fmt::print(beside, "  hard         {}\n", printable(outputs.hard()->text()));
}

int run(const RunArguments& a) {
    set_threads(a.threads);
    Simulation simulation(load(a));
    const Model& model = simulation.model();
    if (!a.resume.empty()) resume(simulation, a.resume, a.force);
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
        fmt::print(stderr, "stickslip: refused: {}\n", printable(summary.reason));
        return refused;
    }
    if (summary.end == RunEnd::interrupted) {
        fmt::print(stderr, "stickslip: interrupted at t = {:.6g} s{}\n", summary.t,
                   a.no_record ? "" : "; the record is kept, go on with --resume " + printable(outputs.folder()));
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
         {.names = "--force",
          .value = &a->force,
          .help = "replace the record that is already in the folder; resume with other settings"},
         {.names = "--no-record", .value = &a->no_record, .help = "write no record"},
         {.names = "--dump-hard{20}",
          .value = &a->hard,
          .help = "keep the hardest contact problems as files in RUN/hard; =N: how many",
          .min = 1,
          .max = 100000},
         {.names = "--json", .value = &a->json, .help = "print one JSON object at the end"},
         {.names = "--quiet", .value = &a->quiet, .help = "no progress bar, no summary"},
         {.names = "--profile",
          .value = &a->profile,
          .help = "time spent in each part of the step, and which rungs of the solver answered"}},
        [a] { return run(*a); }};
}

}  // namespace stickslip::cli
