// The budget of a run, dealt out step by step. Counts are the same for every step. Of the time of a step the solver gets what
// is left at its start but for two reserves: as long as all that follows the first solve took in the steps before, and
// what it takes to end once the time is used up, when every island is still swept a few times and judged.
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
        dealt_ = {};
        if (budget_.factorisations) dealt_.factorisations = static_cast<long>(*budget_.factorisations);
        if (budget_.ms) {
            started_ = solved_ = processor_time();
            first_ = true;
            dealt_.deadline = solved_ + 1e-3 * *budget_.ms - reserve_;
        }
        inner_->set_budget(dealt_);
    }
    // [s] of processor_time(): when the step that has started is to end; infinity: there is no limit.
    double end_of_step() const { return budget_.ms ? started_ + 1e-3 * *budget_.ms : infinity; }
    // After the recorders. A flush of the record may take longer than the solve: the solver keeps its share of the time in any case.
    void end_step() {
        if (budget_.ms)
            reserve_ = std::min(std::max(processor_time() - solved_, forgetting * reserve_), 1e-3 * most_reserved * *budget_.ms);
    }

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override {
        if (!budget_.ms) return inner_->solve(problem, solution);
        Budget earlier = dealt_;
        earlier.deadline += (first_ ? 0.0 : reserve_) - ending_ * problem.contacts.size();
        inner_->set_budget(earlier);
        const double used_up = std::max(earlier.deadline, processor_time());
        const SolveReport report = inner_->solve(problem, solution);
        const double end = processor_time();
        if (first_) solved_ = end;
        first_ = false;
        if (problem.contacts.size() >= many_contacts && end > used_up)
            ending_ = std::max((end - used_up) / problem.contacts.size(), forgetting * ending_);
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

    static constexpr double most_reserved = 0.7;  // of the time of a step
    static constexpr int many_contacts = 100;  // fewer say little about the time of one

    std::unique_ptr<Solver> inner_;
    StepBudget budget_;
    Budget dealt_;
    bool first_ = true;     // the next solve is the first of the step
    double started_ = 0;    // [s] when the step began
    double solved_ = 0;     // [s] when the first solve ended, or the step began
    double reserve_ = 0;    // [s]
    double ending_ = 8e-6;  // [s] per contact, after the time is used up; to begin with as on a slow core
};

}  // namespace stickslip
