// A solver whose answers are judged by the certificate (problems/certificate.hpp), whatever it says of itself. Every solver that
// make_solver() makes is one per island. An answer that the solver holds for good and the certificate does not is tried again with a
// quarter of the tolerance, from there or, where impulses are too large, from nothing. A solver that calls a problem infeasible
// (a ray of Lemke's method is no proof) is believed only if a contradiction is found.
#pragma once

#include <memory>
#include <vector>

#include "problems/certificate.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

class JudgedSolver final : public Solver {
public:
    // `tol` [m/s], of Delassus problems relative to |q|; `in_proportion`: of step problems default_share of their speeds instead.
    JudgedSolver(std::unique_ptr<Solver> inner, double tol, bool in_proportion)
        : inner_(std::move(inner)), tol_(tol), in_proportion_(in_proportion) {}

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override;
    void set_budget(const Budget& budget) override {
        deadline_ = budget.deadline;
        inner_->set_budget(budget);
    }
    bool keep_history(std::vector<SweepRecord>* history) override { return inner_->keep_history(history); }

private:
    void judge(const Certificate& certificate, double tol, SolveReport& report) const;

    std::unique_ptr<Solver> inner_;
    double tol_;
    bool in_proportion_;
    double deadline_ = infinity;  // [s] of processor_time()
    CertificateWork work_;
    StepSolution first_;
    DelassusSolution first_local_;
    VecX velocity_;
    RowVec speed_;
};

}  // namespace stickslip
