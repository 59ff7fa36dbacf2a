// A solver whose answers are judged by the certificate (problems/certificate.hpp), whatever it says of itself. Every solver that
// make_solver() makes is one. An answer that the solver holds for good and the certificate does not is tried again with a quarter of
// the tolerance, from there or, where impulses are too large, from nothing. A solver that calls a problem infeasible (a ray
// of Lemke's method is no proof) is believed only if a contradiction is found.
#pragma once

#include <memory>
#include <vector>

#include "problems/certificate.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

class JudgedSolver final : public Solver {
public:
    // `stricter` is the same solver with a quarter of the tolerance.
    JudgedSolver(std::unique_ptr<Solver> inner, std::unique_ptr<Solver> stricter, double tol)
        : inner_(std::move(inner)), stricter_(std::move(stricter)), tol_(tol) {}

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override;
    bool keep_history(std::vector<SweepRecord>* history) override { return inner_->keep_history(history); }

private:
    void judge(const Certificate& certificate, SolveReport& report) const;

    std::unique_ptr<Solver> inner_, stricter_;
    double tol_;  // [m/s]; of Delassus problems relative to |q|
    CertificateWork work_;
    StepSolution first_;
    DelassusSolution first_local_;
};

}  // namespace stickslip
