// Solves a step problem island by island (problems/islands.hpp): each with its own escalation and its own tolerance, in parallel
// where there are threads and work for them. Every solver that make_solver() makes is one.
//
// Islands are taken in batches: a large one alone, small ones together until they have as many contacts as a large one has. Batches do not
// depend on the number of threads, and a solver says nothing from one call to the next but faster, so bits do not either. A
// problem that is one island, or has few contacts, is solved as it is, without copies.
//
// The report is that of the island which came least close to its tolerance, named after the one that took most work; work is
// summed, and so is who answered.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "problems/islands.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

class IslandSolver final : public Solver {
public:
    using Make = std::function<std::unique_ptr<Solver>()>;
    explicit IslandSolver(Make make) : make_(std::move(make)) { at(0); }

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override {
        return at(0).solver->solve_local(problem, solution);
    }
    void set_budget(const Budget& budget) override;
    bool keep_history(std::vector<SweepRecord>* history) override;

private:
    // A solver and the island it has at hand.
    struct Place {
        std::unique_ptr<Solver> solver;
        StepProblem problem;
        StepSolution solution;
    };
    Place& at(std::size_t batch);
    void make_batches();
    int largest_batch(int contacts) const;
    void solve_batch(int batch, const StepProblem& problem, StepSolution& solution);
    SolveReport merged() const;

    Make make_;
    Budget budget_;
    Islands islands_;
    std::vector<std::unique_ptr<Place>> places_;
    std::vector<int> batch_first_;  // batch b has islands batch_first_[b] .. batch_first_[b + 1] - 1
    std::vector<SolveReport> reports_;  // per island
    bool whole_ = false;  // somebody watches the sweeps: islands would tell a story each
};

}  // namespace stickslip
