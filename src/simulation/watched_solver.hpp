// A solver that shows each problem with its guess and report to a watcher. Copies the guess, which solving overwrites:
// only runs that are watched pay for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "stickslip/solver.hpp"

namespace stickslip {

class WatchedSolver : public Solver {
public:
    using Watch = std::function<void(const StepProblem&, const StepSolution& guess, const SolveReport&, double wall_s)>;
    WatchedSolver(std::unique_ptr<Solver> inner, Watch watch) : inner_(std::move(inner)), watch_(std::move(watch)) {}

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override {
        guess_ = solution;
        const auto start = std::chrono::steady_clock::now();
        const SolveReport report = inner_->solve(problem, solution);
        const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        watch_(problem, guess_, report, wall_s);
        return report;
    }
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override {
        return inner_->solve_local(problem, solution);
    }
    void set_budget(const Budget& budget) override { inner_->set_budget(budget); }

private:
    std::unique_ptr<Solver> inner_;
    Watch watch_;
    StepSolution guess_;
};

}  // namespace stickslip
