// `stickslip solve`: one stored contact problem, our own or of the FCLIB collection.
//
// Our own problems are in SI units and judged by their residual in m/s. FCLIB's have unknown units: they are judged by
// the relative error err_vel of the impulses alone, recomputed here and not taken from the solver.
#include <fmt/format.h>

#include <algorithm>

#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "stickslip/contradiction.hpp"
#include "stickslip/files.hpp"
#include "stickslip/load.hpp"
#include "stickslip/solver.hpp"
#include "stickslip/stored_problem.hpp"
#include "stickslip/threads.hpp"

namespace stickslip::cli {

namespace {

constexpr double default_relative_tolerance = 1e-8;  // of err_vel
constexpr double patient_work = 25;                   // max_work of `auto`: no step waits for the answer

struct SolveArguments {
    std::string file, solver = "auto", tol, output, history;
    std::vector<std::string> sets;
    int repeat = 1, threads = 1;
    bool json = false, cold = false, warm = false;
};

void write_history(const std::string& file, const std::vector<SweepRecord>& sweeps) {
    std::string text = "sweep,residual,changed\n";
    for (const SweepRecord& s : sweeps) text += fmt::format("{},{},{}\n", s.sweep, s.residual, s.changed);
    write_text_file(file, text);
}

// Wall time, and processor time of this process, which a busy machine does not stretch.
struct Times {
    double wall_s = 0, cpu_s = 0;
};

class Stopwatch {
public:
    Times read() const {
        return {std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(),
                static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC};
    }

private:
    std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
    std::clock_t cpu_ = std::clock();
};

constexpr double longest_repetition = 0.2;  // [s] only short solves are repeated: long ones time themselves well

// Solves once, or up to --repeat times from the same start and with a fresh solver, and keeps the shortest time.
template <class Solution, class Once>
SolveReport repeated(const SolveArguments& a, Solution& solution, Times& shortest, const Once& once) {
    const Solution start = solution;
    SolveReport report;
    double total = 0;
    for (int k = 0; k == 0 || (k < a.repeat && total < longest_repetition); ++k) {
        solution = start;
        Times now;
        report = once(now);
        total += now.wall_s;
        shortest.wall_s = k == 0 ? now.wall_s : std::min(shortest.wall_s, now.wall_s);
        shortest.cpu_s = k == 0 ? now.cpu_s : std::min(shortest.cpu_s, now.cpu_s);
    }
    return report;
}

OptionValues solver_options(const SolveArguments& a) {
    OptionValues options;
    for (const std::string& set : a.sets) {
        const auto equals = set.find('=');
        if (equals == std::string::npos) throw Error("expected --set key=value, got '" + set + "'");
        options.push_back(
            {set.substr(0, equals), set.substr(equals + 1), Place{"--set " + set.substr(0, equals), 0, 0}});
    }
    return options;
}

// Who contradicts whom in a stored problem, which has numbers and no names.
std::string words(const Contradiction& found, const std::string& contact_note) {
    const std::string who = contradiction_text(found, [](const Contradiction::Part& part) {
        return fmt::format("{} {}", part.joint ? "bilateral row" : "contact", part.index);
    });
    return fmt::format("{}: the best velocities still miss one of them by {:.3g}{}", who, found.speed, contact_note);
}

void add_parts(const Contradiction& found, nlohmann::ordered_json& json) {
    for (const Contradiction::Part& part : found.parts)
        json["contradiction"].push_back(
            {{part.joint ? "bilateral_row" : "contact", part.index}, {"weight", part.weight}});
}

int solve_own(const SolveArguments& a, StoredProblem& stored) {
    const StepProblem& problem = stored.step;
    StepSolution& solution = stored.step_guess;
    OptionValues options = solver_options(a);
    if (!a.tol.empty()) options.push_back({"tol", a.tol, Place{"--tol", 0, 0}});
    const auto give = [&](const char* key, double value) {
        if (std::none_of(options.begin(), options.end(), [&](const OptionValue& option) { return option.key == key; }))
            options.push_back({key, fmt::format("{}", value), {}});
    };
    // Nobody knows what the numbers of a file mean, so that its tolerance is absolute; runs have theirs in proportion.
    give("tol", default_tolerance);
    if (a.solver == "auto") give("max_work", patient_work);
    require_tolerance(options);
    make_solver(a.solver, options, Place{"--solver", 0, 0});  // wrong options are told before anything else
    if (a.cold) {
        solution = {};
        solution.size_to(problem);
    }
    std::vector<SweepRecord> sweeps;
    Times times;
    const SolveReport report = repeated(a, solution, times, [&](Times& taken) {
        auto solver = make_solver(a.solver, options, Place{"--solver", 0, 0});
        if (!a.history.empty() && !solver->keep_history(&sweeps))
            throw Error("solver " + a.solver + " keeps no history of sweeps; pgs does", Place{"--history", 0, 0});
        const Stopwatch watch;
        const SolveReport now = solver->solve(problem, solution);
        taken = watch.read();
        return now;
    });
    if (!a.output.empty()) save_solution(a.output, problem, solution);
    if (!a.history.empty()) write_history(a.history, sweeps);
    const bool certified = report.status == Status::ok;
    const Contradiction contradiction = certified ? Contradiction{} : find_contradiction(problem);
    const Status status = contradiction ? Status::infeasible : report.status;
    const std::string reason = contradiction ? words(contradiction, " m/s") : report.reason;
    if (a.json) {
        nlohmann::ordered_json json{{"solver", report.solver},
                                    {"certified", certified},
                                    {"residual", report.residual.max()},
                                    {"err_vel", report.residual.contacts},
                                    {"fclib_error", relative_errors(problem, solution.p, solution.lambda).natural},
                                    {"dynamics", report.residual.dynamics},
                                    {"joints", report.residual.joints},
                                    {"iterations", report.iterations},
                                    {"wall_s", times.wall_s},
                                    {"cpu_s", times.cpu_s},
                                    {"contacts", problem.contacts.size()},
                                    {"status", to_string(status)},
                                    {"rounding", report.rounding},
                                    {"tol", report.tol},
                                    {"format", "stickslip"}};
        if (!reason.empty()) json["reason"] = reason;
        add_parts(contradiction, json);
        fmt::print("{}\n", json.dump());
    } else {
        fmt::print("{}: {} contacts, {} bilateral rows, {} velocities\n", printable(a.file), problem.contacts.size(),
                   problem.joints.size(), problem.nodes().nv());
        fmt::print(
            "  {} by {}: residual {:.17g} m/s (dynamics {:.2e}, joints {:.2e}, contacts {:.2e}; rounding may hide "
            "{:.2e}), "
            "{} iterations, {:.3g} ms{}{}\n",
            to_string(status), report.solver, report.residual.max(), report.residual.dynamics, report.residual.joints,
            report.residual.contacts, report.rounding, report.iterations, 1e3 * times.wall_s,
            reason.empty() ? "" : "\n  ", reason);
    }
    return certified ? done : refused;
}

double relative_tolerance(const SolveArguments& a) {
    if (a.tol.empty()) return default_relative_tolerance;
    std::size_t read = 0;
    double tol = 0;
    try {
        tol = std::stod(a.tol, &read);
    } catch (const std::exception&) {
        read = 0;
    }
    if (read != a.tol.size() || !(tol > 0 && tol <= 1))
        throw Error("expected a tolerance > 0 and at most 1, got '" + a.tol + "'", Place{"--tol", 0, 0});
    return tol;
}

std::unique_ptr<Solver> make_solver(const SolveArguments& a, double tol) {
    OptionValues options = solver_options(a);
    options.push_back({"tol", fmt::format("{:.17g}", tol), Place{"--tol", 0, 0}});
    return stickslip::make_solver(a.solver, options, Place{"--solver", 0, 0});
}

void require_guess(bool there, const SolveArguments& a) {
    if (!there) throw Error("has no solution of the right size to start from; leave --warm out", Place{a.file, 0, 0});
}

// A step problem in its own units. A residual of tol |q| / sqrt(contacts) at every contact makes err_vel <= tol; what the
// solver leaves in the dynamics goes into it too, hence the half, and a second, stricter try from where the first ended.
SolveReport solve_global(const SolveArguments& a, double tol, StoredProblem& stored, RelativeError& error,
                         Times& times) {
    const StepProblem& problem = stored.step;
    StepSolution& solution = stored.step_guess;
    if (a.warm) {
        require_guess(solution.warm, a);
    } else {
        solution = {};
        solution.size_to(problem);
    }
    const double scale = relative_errors(problem, solution.p, solution.lambda).scale;
    const double first_try = 0.5 * tol * scale / std::sqrt(std::max(1, problem.contacts.size()));
    return repeated(a, solution, times, [&](Times& taken) {
        SolveReport report;
        int iterations = 0;
        double absolute = first_try;
        for (int attempt = 0; attempt < 2; ++attempt, absolute /= 10) {
            auto solver = make_solver(a, absolute);
            const Stopwatch watch;
            report = solver->solve(problem, solution);
            const Times part = watch.read();
            taken.wall_s += part.wall_s;
            taken.cpu_s += part.cpu_s;
            iterations += report.iterations;
            error = relative_errors(problem, solution.p, solution.lambda);
            if (std::max(error.contacts, error.joints) <= tol || report.status != Status::ok) break;
            solution.warm = true;
        }
        report.iterations = iterations;
        return report;
    });
}

// Solvers of step problems have no use for a bare W: said before anything is tried.
void require_local(const SolveArguments& a) {
    std::string able;
    bool known = false;
    for (const SolverEntry& entry : solvers()) {
        known = known || a.solver == entry.name;
        if (!entry.local) continue;
        if (a.solver == entry.name) return;
        able += (able.empty() ? "" : ", ") + std::string(entry.name);
    }
    if (known)
        throw Error("solver '" + a.solver + "' takes step problems only, this file holds W and q (valid: " + able + ")",
                    Place{"--solver", 0, 0});
}

SolveReport solve_local(const SolveArguments& a, double tol, StoredProblem& stored, RelativeError& error,
                        Times& times) {
    require_local(a);
    DelassusSolution& solution = stored.local_guess;
    if (a.warm) {
        require_guess(solution.warm, a);
    } else {
        solution = {};
        solution.size_to(stored.local);
    }
    const SolveReport report = repeated(a, solution, times, [&](Times& taken) {
        auto solver = make_solver(a, tol);
        const Stopwatch watch;
        const SolveReport now = solver->solve_local(stored.local, solution);
        taken = watch.read();
        return now;
    });
    error = relative_errors(stored.local, solution.p);
    return report;
}

int solve_fclib(const SolveArguments& a, StoredProblem& stored) {
    const double tol = relative_tolerance(a);
    const bool local = stored.format == ProblemFormat::fclib_local;
    RelativeError error;
    Times times;
    const SolveReport report =
        local ? solve_local(a, tol, stored, error, times) : solve_global(a, tol, stored, error, times);
    const double worst = std::isnan(error.joints) ? error.joints : std::max(error.contacts, error.joints);
    // Judged apart from the solver, with what rounding may hide; a step problem in its own units.
    const double hidden =
        local ? report.rounding : report.rounding * std::sqrt(std::max(1, stored.step.contacts.size())) / error.scale;
    const bool certified = worst + hidden <= tol && (!local || report.status == Status::ok);
    const Contradiction contradiction = certified ? Contradiction{}
                                        : local   ? find_contradiction(stored.local)
                                                  : find_contradiction(stored.step);
    const Status status = certified                     ? Status::ok
                          : contradiction               ? Status::infeasible
                          : report.status == Status::ok ? Status::not_converged
                                                        : report.status;
    if (!a.output.empty()) {
        FclibWriting how;
        how.velocities = stored.velocities;
        if (local)
            save_fclib(a.output, stored.local, &stored.local_guess, how);
        else
            save_fclib(a.output, stored.step, &stored.step_guess, how);
    }
    const int contacts = local ? stored.local.contacts() : stored.step.contacts.size();
    const char* format = local ? "fclib_local" : "fclib_global";
    const std::string reason = certified ? "" : contradiction ? words(contradiction, "") : report.reason;
    if (a.json) {
        nlohmann::ordered_json json{{"solver", report.solver},
                                    {"certified", certified},
                                    {"residual", worst},
                                    {"err_vel", error.contacts},
                                    {"fclib_error", error.natural},
                                    {"joints", error.joints},
                                    {"iterations", report.iterations},
                                    {"wall_s", times.wall_s},
                                    {"cpu_s", times.cpu_s},
                                    {"contacts", contacts},
                                    {"status", to_string(status)},
                                    {"rounding", hidden},
                                    {"format", format},
                                    {"tol", tol}};
        if (!reason.empty()) json["reason"] = reason;
        add_parts(contradiction, json);
        fmt::print("{}\n", json.dump());
    } else {
        fmt::print("{}: {}, {} contacts\n", printable(a.file), format, contacts);
        fmt::print(
            "  {} by {}: err_vel {:.17g} of |q| (tolerance {:g}), fclib_error {:.2e}, {} iterations, {:.3g} ms{}{}\n",
            to_string(status), report.solver, error.contacts, tol, error.natural, report.iterations, 1e3 * times.wall_s,
            reason.empty() ? "" : "\n  ", reason);
    }
    return certified ? done : refused;
}

int solve(const SolveArguments& a) {
    set_threads(a.threads);
    require_other(a.output, a.file, "--output");
    require_other(a.history, a.file, "--history");
    require_other(a.history, a.output, "--history");
    if (a.warm && a.cold) throw Error("--warm and --cold exclude each other");
    StoredProblem stored = load_any_problem(a.file);
    if (stored.format != ProblemFormat::own && !a.history.empty())
        throw Error("--history is for our own problems; FCLIB files have no residual in m/s");
    if (stored.format != ProblemFormat::own) return solve_fclib(a, stored);
    if (a.warm) require_guess(stored.step_guess.warm, a);
    return solve_own(a, stored);
}

}  // namespace

Command solve_command() {
    auto a = std::make_shared<SolveArguments>();
    return {"solve",
            "solve one stored contact problem: the problem of a refused step, or an FCLIB file",
            {{.names = "FILE",
              .value = &a->file,
              .help = "problem file (HDF5): our own, FCLIB local or FCLIB global",
              .required = true},
             {.names = "--solver", .value = &a->solver, .help = "solver (stickslip list solvers)"},
             {.names = "--tol",
              .value = &a->tol,
              .help = "residual tolerance [m/s], default 1e-9; FCLIB files: of the relative error err_vel, default 1e-8"},
             {.names = "--set", .value = &a->sets, .help = "KEY=VALUE: an option of the solver"},
             {.names = "-o,--output",
              .value = &a->output,
              .help = "write the solution here; FCLIB files: problem and solution"},
             {.names = "--history",
              .value = &a->history,
              .help = "write residual [m/s] and changed contacts of every sweep (CSV; pgs)"},
             {.names = "--cold", .value = &a->cold, .help = "ignore the stored guess, as is the rule for FCLIB files"},
             {.names = "--warm",
              .value = &a->warm,
              .help = "start from the solution an FCLIB file holds (it is not trusted)"},
             {.names = "--repeat",
              .value = &a->repeat,
              .help = "solve a short problem up to so many times; wall_s is the shortest",
              .min = 1,
              .max = 1000000},
             {.names = "--threads", .value = &a->threads, .help = threads_help, .min = 1, .max = max_threads},
             {.names = "--json", .value = &a->json, .help = "print one JSON object"}},
            [a] { return solve(*a); }};
}

}  // namespace stickslip::cli
