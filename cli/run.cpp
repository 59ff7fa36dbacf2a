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
    Model model = load_model(a.model, overrides(a));
    if (a.tol.empty()) return model;
    const Place place{"--tol", 0, 0};
    require_step_control(model.run.scheme.name, place);  // which scheme it is the model may have said
    OptionValues values = overrides(a);
    values.push_back({"scheme.tol", a.tol, place});
    return load_model(a.model, values);
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

int run(const RunArguments& a) {
    set_threads(a.threads);
    Simulation simulation(load(a));
    const Model& model = simulation.model();
    if (!a.resume.empty()) {
        const RecordContents past = read_record(a.resume);
        if (past.snapshot.empty()) throw Error("'" + a.resume + "' holds no snapshot to resume from");
        if (mechanics_of(past.source) != mechanics_of(model.source))
            throw Error("'" + a.resume +
                        "' is the record of another model: the scene or a --set of its mechanics differs");
        simulation.restore(past.snapshot);
        if (simulation.state().t >= model.run.end)
            throw Error(fmt::format("'{}' has already reached t = {:.6g} s; give a later --end", a.resume,
                                    simulation.state().t));
    }

    const std::string folder = a.folder.empty() ? fresh_folder(model.name) : a.folder;
    std::unique_ptr<Recorder> record, csv;
    if (!a.no_record) {
        make_folder(folder);
        if (!a.force && fs::exists(fs::path(folder) / "run.h5"))
            throw Error(fmt::format(
                "'{}' already holds a record; give another folder with -o, or --force to replace it", folder));
        record = make_hdf5_recorder((fs::path(folder) / "run.h5").string(), 0.5, [&] { return simulation.snapshot(); });
        simulation.add(*record);
        if (model.run.csv) {
            csv = make_csv_recorder((fs::path(folder) / "run.csv").string());
            simulation.add(*csv);
        }
        simulation.set_capsule_folder(folder);
    }
    std::unique_ptr<HardProblems> hard;
    if (a.hard != 0) {
        if (a.no_record) throw Error("--dump-hard writes into the folder of the record; leave --no-record out");
        hard = std::make_unique<HardProblems>((fs::path(folder) / "hard").string(), a.hard, model.run.solver.name);
        simulation.watch_solves([&hard](const SolvedProblem& solved) { hard->see(solved); });
    }

    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    RunSummary summary;
    {
        Progress progress(model.name, model.run.end, !a.quiet);
        summary = simulation.run(&stop, [&](double t) { progress.show(t); });
    }
    if (a.json) {
        fmt::print("{}\n", summary_json(simulation, summary));
    } else if (!a.quiet) {
        fmt::print("{}", summary_text(simulation, summary));
    }
    if (a.profile) fmt::print(a.json ? stderr : stdout, "{}", profile_text(summary));
    if (!a.no_record && !a.quiet && !a.json) fmt::print("  record       {}\n", (fs::path(folder) / "run.h5").string());
    if (hard && !a.quiet) fmt::print(a.json ? stderr : stdout, "  hard         {}\n", hard->text());
    if (summary.end == RunEnd::refused) {
        fmt::print(stderr, "stickslip: refused: {}\n", summary.reason);
        return refused;
    }
    if (summary.end == RunEnd::interrupted) {
        fmt::print(stderr, "stickslip: interrupted at t = {:.6g} s{}\n", summary.t,
                   a.no_record ? "" : "; the record is kept, go on with --resume " + folder);
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

void add_run(CLI::App& app, int& code) {
    auto a = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand("run", "run a scene or a mechanism, record it, sum it up");
    command->add_option("MODEL", a->model, "scene file, scene:NAME or mechanism:NAME")->required();
    command->add_option("--scheme", a->scheme, "time-stepping scheme (stickslip list schemes)");
    command->add_option("--solver", a->solver, "solver of the step problems (stickslip list solvers)");
    command->add_option("--step", a->step, "step size [s], also as 1/60 or 2^-8");
    command->add_option("--tol", a->tol, "error of q allowed per step, for schemes with step control (option tol)");
    command->add_option("--end", a->end, "end time [s]");
    command
        ->add_option("--set", a->sets,
                     "KEY=VALUE: a parameter, or with dots anything (bodies.arm.mass=2, scheme.theta=0.6)")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    command->add_option("--threads", a->threads, "threads; the result does not depend on it")
        ->check(CLI::Range(1, 1024));
    command->add_option("-o,--output", a->folder, "folder of the record; runs/<model>-<n> if left out");
    command->add_option("--resume", a->resume, "go on from the last snapshot of this run");
    command->add_flag("--force", a->force, "replace the record that is already in the folder");
    command->add_flag("--no-record", a->no_record, "write no record");
    command
        ->add_flag("--dump-hard{20}", a->hard, "keep the hardest contact problems as files in RUN/hard; =N: how many")
        ->check(CLI::Range(1, 100000));
    command->add_flag("--json", a->json, "print one JSON object at the end");
    command->add_flag("--quiet", a->quiet, "no progress bar, no summary");
    command->add_flag("--profile", a->profile, "time spent in each part of the step");
    command->callback([a, &code] { code = run(*a); });
}

}  // namespace stickslip::cli
