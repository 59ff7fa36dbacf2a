// The budget of a run, dealt out step by step. Counts are the same for every step. Of the time of a step the solver gets what
// is left at its start but for a reserve: as long as booking and recording took after the last solves of the steps before.
#pragma once

#include <algorithm>
#include <memory>

#include "stickslip/policy.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

class BudgetedSolver final : public Solver {
public:
    BudgetedSolver(std::unique_ptr<Solver> inner, const StepBudget& budget)
        : inner_(std::move(inner)), budget_(budget) {}

    void start_step() {
        Budget dealt;
        if (budget_.factorisations) dealt.factorisations = static_cast<long>(*budget_.factorisations);
        if (budget_.ms) {
            solved_ = processor_time();
            dealt.deadline = solved_ + 1e-3 * *budget_.ms - reserve_;
        }
        inner_->set_budget(dealt);
    }
    // After the recorders. A flush of the record may take longer than the solve: the solver keeps half of the time in any case.
    void end_step() {
        if (budget_.ms)
            reserve_ = std::min(std::max(processor_time() - solved_, forgetting * reserve_), 0.5e-3 * *budget_.ms);
    }

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override {
        const SolveReport report = inner_->solve(problem, solution);
        if (budget_.ms) solved_ = processor_time();
        return report;
    }
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override {
        return inner_->solve_local(problem, solution);
    }
    bool keep_history(std::vector<SweepRecord>* history) override { return inner_->keep_history(history); }

private:
    // Of the reserve from step to step. If smaller, the next long recording comes as a surprise; if larger, one long recording costs
    // the solver time for many steps.
    static constexpr double forgetting = 0.9;

    std::unique_ptr<Solver> inner_;
    StepBudget budget_;
    double solved_ = 0;   // [s] when the last solve ended, or the step began
    double reserve_ = 0;  // [s]
};

}  // namespace stickslip
