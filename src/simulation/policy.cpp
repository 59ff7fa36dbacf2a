#include "simulation/policy.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/fields.hpp"

namespace stickslip {

namespace {

class CertifyingSolver final : public Solver {
public:
    CertifyingSolver(std::unique_ptr<Solver> first, std::unique_ptr<Solver> stronger)
        : first_(std::move(first)), stronger_(std::move(stronger)) {}

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override {
        guess_.v = solution.v;
        guess_.lambda = solution.lambda;
        guess_.p = solution.p;
        guess_.modes = solution.modes;
        guess_.warm = solution.warm;
        const SolveReport report = first_->solve(problem, solution);
        if (report.status == Status::ok) return report;
        // The guess may have misled the first solver, its result may be garbage: the second starts from the better.
        if (!(report.residual.max() <= residual(problem, guess_).max())) solution = guess_;
        SolveReport retry = stronger_->solve(problem, solution);
        retry.iterations += report.iterations;
        return retry;
    }

private:
    std::unique_ptr<Solver> first_, stronger_;
    StepSolution guess_;
};

}  // namespace

double run_tolerance(const RunSettings& settings) {
    for (const OptionValue& option : settings.solver.options)
        if (option.key == "tol") return parse_number(option.text, option.place);
    return default_tolerance;
}

std::unique_ptr<Solver> make_run_solver(const RunSettings& settings) {
    auto solver = make_solver(settings.solver.name, settings.solver.options, settings.solver.place);
    if (!settings.certify || settings.solver.name == "auto") return solver;
    OptionValues tol{{"tol", fmt::format("{}", run_tolerance(settings)), {}}};
    return std::make_unique<CertifyingSolver>(std::move(solver), make_solver("auto", tol));
}

std::string objection(const RunSettings& settings, const System& system, const StepReport& report, const State& x, long step) {
    for (Eigen::Index i = 0; i < x.q.size(); ++i)
        if (!std::isfinite(x.q[i]))
            return fmt::format("step {} at t = {:.9g} s: coordinate '{}' is not finite; try a smaller step", step, report.t,
                               system.coordinate_names()[static_cast<std::size_t>(i)]);
    for (Eigen::Index i = 0; i < x.v.size(); ++i)
        if (!std::isfinite(x.v[i]))
            return fmt::format("step {} at t = {:.9g} s: velocity {} is not finite; try a smaller step", step, report.t, i);
    if (!settings.certify) return {};
    const double worst = report.solve.residual.max(), tol = run_tolerance(settings);
    if (report.status == Status::ok && worst <= tol) return {};
    return fmt::format(
        "step {} at t = {:.9g} s could not be certified: {} left a residual of {:.3g} m/s, tolerance {:.3g} ({}{}{}). "
        "Try another solver, a larger solver.tol, a smaller step, or policy budget",
        step, report.t, report.solve.solver, worst, tol, to_string(report.status), *report.reason ? ": " : "", report.reason);
}

}  // namespace stickslip
