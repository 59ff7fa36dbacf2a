// `stickslip solve`: one stored contact problem.
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "stickslip/solver.hpp"

namespace stickslip::cli {

namespace {

struct SolveArguments {
    std::string file, solver = "auto", tol, output, history;
    std::vector<std::string> sets;
    bool json = false, cold = false;
};

void write_history(const std::string& file, const std::vector<SweepRecord>& sweeps) {
    std::ofstream out(file);
    out << "sweep,residual,changed\n";
    for (const SweepRecord& s : sweeps) out << fmt::format("{},{},{}\n", s.sweep, s.residual, s.changed);
    if (!out.flush()) throw Error("cannot write " + file);
}

int solve(const SolveArguments& a) {
    StepProblem problem;
    StepSolution solution;
    load_problem(a.file, problem, solution);
    OptionValues options;
    if (!a.tol.empty()) options.push_back({"tol", a.tol, Place{"--tol", 0, 0}});
    for (const std::string& set : a.sets) {
        const auto equals = set.find('=');
        if (equals == std::string::npos) throw Error("expected --set key=value, got '" + set + "'");
        options.push_back(
            {set.substr(0, equals), set.substr(equals + 1), Place{"--set " + set.substr(0, equals), 0, 0}});
    }
    auto solver = make_solver(a.solver, options, Place{"--solver", 0, 0});
    if (a.cold) {
        solution = {};
        solution.size_to(problem);
    }
    std::vector<SweepRecord> sweeps;
    if (!a.history.empty() && !solver->keep_history(&sweeps))
        throw Error("solver " + a.solver + " keeps no history of sweeps; pgs does", Place{"--history", 0, 0});
    const auto start = std::chrono::steady_clock::now();
    const SolveReport report = solver->solve(problem, solution);
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!a.output.empty()) save_solution(a.output, problem, solution);
    if (!a.history.empty()) write_history(a.history, sweeps);
    const bool certified = report.status == Status::ok;
    if (a.json) {
        nlohmann::ordered_json json{{"solver", report.solver},
                                    {"certified", certified},
                                    {"residual", report.residual.max()},
                                    {"err_vel", report.residual.contacts},
                                    {"dynamics", report.residual.dynamics},
                                    {"joints", report.residual.joints},
                                    {"iterations", report.iterations},
                                    {"wall_s", wall_s},
                                    {"contacts", problem.contacts.size()},
                                    {"status", to_string(report.status)}};
        if (*report.reason) json["reason"] = report.reason;
        fmt::print("{}\n", json.dump());
    } else {
        fmt::print("{}: {} contacts, {} bilateral rows, {} velocities\n", a.file, problem.contacts.size(),
                   problem.joints.size(), problem.nodes().nv());
        fmt::print(
            "  {} by {}: residual {:.17g} m/s (dynamics {:.2e}, joints {:.2e}, contacts {:.2e}), {} iterations, {:.3g} "
            "ms{}{}\n",
            to_string(report.status), report.solver, report.residual.max(), report.residual.dynamics,
            report.residual.joints, report.residual.contacts, report.iterations, 1e3 * wall_s,
            *report.reason ? "\n  " : "", report.reason);
    }
    return certified ? done : refused;
}

}  // namespace

void add_solve(CLI::App& app, int& code) {
    auto a = std::make_shared<SolveArguments>();
    CLI::App* command =
        app.add_subcommand("solve", "solve one stored contact problem, such as the capsule of a refused step");
    command->add_option("FILE", a->file, "problem file (HDF5)")->required();
    command->add_option("--solver", a->solver, "solver (stickslip list solvers)");
    command->add_option("--tol", a->tol, "residual tolerance [m/s]");
    command->add_option("--set", a->sets, "KEY=VALUE: an option of the solver")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    command->add_option("-o,--output", a->output, "write the solution here");
    command->add_option("--history", a->history, "write residual [m/s] and changed contacts of every sweep (CSV; pgs)");
    command->add_flag("--cold", a->cold, "ignore the stored guess");
    command->add_flag("--json", a->json, "print one JSON object");
    command->callback([a, &code] { code = solve(*a); });
}

}  // namespace stickslip::cli
