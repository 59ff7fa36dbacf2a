// The budget of a run, dealt out step by step. Counts are the same for every step. Of the time of a step the solver gets what
// is left at its start but for two reserves: as long as all that follows the first solve took in the steps before, and
// what it takes to end once the time is used up, when every island is still swept a few times and judged. What the scheme does after the solve
// has until the step ends but for what judging took. Recorders come on top: a flush to the disk takes as long as a step and would leave nothing for it.
#pragma once

#include <algorithm>
#include <memory>

#include "stickslip/policy.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

class BudgetedSolver final : public Solver {
public:
    using Clock = double (*)();  // [s] tests bring one of their own

    BudgetedSolver(std::unique_ptr<Solver> inner, const StepBudget& budget, Clock clock = processor_time)
        : inner_(std::move(inner)), budget_(budget), clock_(clock) {}

    void start_step() {
        dealt_ = {};
        if (budget_.factorisations) dealt_.factorisations = static_cast<long>(*budget_.factorisations);
        if (budget_.ms) {
            started_ = solved_ = moved_ = clock_();
            first_ = true;
            contacts_ = 0;
            dealt_.deadline = started_ + time();
        }
        deal(0);
    }
    // [s] of processor_time(): when the scheme is to be done with the step that has started; infinity: there is no limit.
    double end_of_motion() const { return budget_.ms ? started_ + time() - after_.expected(0) : infinity; }
    // After the scheme, whose step is judged now.
    void end_motion() {
        if (budget_.ms) moved_ = clock_();
    }
    // Before the recorders. What the scheme has left out for lack of time is reserved too: else the solver would have that for ever.
    void end_step(double left_out = 0) {
        if (!budget_.ms) return;
        const double now = clock_();
        after_.see(now - moved_, 0);
        rest_.see(now - solved_ + left_out, contacts_);
    }

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override {
        if (!budget_.ms) return inner_->solve(problem, solution);
        const int contacts = problem.contacts.size();
        const Budget earlier = deal(contacts);
        const double used_up = std::max(earlier.deadline, clock_());
        const SolveReport report = inner_->solve(problem, solution);
        const double end = clock_();
        if (first_) {
            solved_ = end;
            contacts_ = contacts;
        }
        first_ = false;
        if (contacts >= many_contacts && end > used_up) ending_.see(end - used_up, contacts);
        return report;
    }
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override {
        return inner_->solve_local(problem, solution);
    }
    bool keep_history(std::vector<SweepRecord>* history) override { return inner_->keep_history(history); }

private:
    static constexpr double most_reserved = 0.7;  // of the time of a step
    // Of the time given: the rest is for what cannot be foreseen. If larger, single steps are late by a quarter.
    static constexpr double planned = 0.9;
    static constexpr int many_contacts = 100;     // fewer say little about the time of one

    // [s] What a part of a step takes, from the steps before: the longest, of which a little is forgotten in every step, and the same per
    // contact, since a step in which a heap meets a wall has many times as much to do as the one before.
    struct Duration {
        double most = 0, per_contact = 0;

        double expected(int contacts) const { return std::max(most, per_contact * contacts); }
        void see(double seconds, int contacts) {
            most = std::max(seconds, forgetting * most);
            if (contacts >= many_contacts) per_contact = std::max(seconds / contacts, forgetting * per_contact);
        }
        // If smaller, the next long step comes as a surprise; if larger, one long step costs the solver time for many.
        static constexpr double forgetting = 0.9;
    };
    // After the time is used up, when every island is still swept and judged: follows the contacts alone.
    struct Ending {
        double per_contact = 2.5e-6;  // [s] to begin with
        // If smaller, sweeps of the next step come late; if larger, one late step leaves the solver nothing for many: bricks that were hit then overlapped
        // by a tenth of their size.
        static constexpr double forgetting = 0.7;

        double expected(int contacts) const { return per_contact * contacts; }
        void see(double seconds, int contacts) {
            per_contact = std::max(seconds / contacts, forgetting * per_contact);
        }
    };
    double time() const { return 1e-3 * planned * *budget_.ms; }  // [s]
    // What the next solve gets.
    Budget deal(int contacts) {
        Budget earlier = dealt_;
        if (budget_.ms) {
            // The solver keeps its share of the time in any case.
            const double reserve = first_ ? rest_.expected(contacts) : after_.expected(0);
            earlier.deadline -= std::min(reserve, most_reserved * time()) + ending_.expected(contacts);
        }
        inner_->set_budget(earlier);
        return earlier;
    }

    std::unique_ptr<Solver> inner_;
    StepBudget budget_;
    Clock clock_;
    Budget dealt_;
    bool first_ = true;    // the next solve is the first of the step
    int contacts_ = 0;     // of the first solve
    double started_ = 0;   // [s] when the step began,
    double solved_ = 0;    // when its first solve ended, or the step began,
    double moved_ = 0;     // and when the scheme was done with it
    Duration rest_;        // all that follows the first solve: booking, pushing bodies out of overlap, judging,
    Duration after_;       // and of that what follows the scheme
    Ending ending_;
};

}  // namespace stickslip
