// A solver that counts who answered for the islands of all problems it is given: steps, impacts, trials, corrections.
#pragma once

#include <array>
#include <memory>

#include "stickslip/solver.hpp"

namespace stickslip {

class CountedSolver final : public Solver {
public:
    CountedSolver(std::unique_ptr<Solver> inner, std::array<long, rung_count>& ladder)
        : inner_(std::move(inner)), ladder_(ladder) {}

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override {
        const SolveReport report = inner_->solve(problem, solution);
        for (std::size_t i = 0; i < rung_count; ++i) ladder_[i] += report.answered[i];
        return report;
    }
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override {
        return inner_->solve_local(problem, solution);
    }
    void set_budget(const Budget& budget) override { inner_->set_budget(budget); }
    bool keep_history(std::vector<SweepRecord>* history) override { return inner_->keep_history(history); }

private:
    std::unique_ptr<Solver> inner_;
    std::array<long, rung_count>& ladder_;
};

}  // namespace stickslip
