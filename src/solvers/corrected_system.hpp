// A factored step system in which single contacts are changed afterwards, without factoring again:
//
//   K = K0 + U' dB U,    K^-1 x = x0 - Y (I + dB U Y)^-1 dB U x0,    x0 = K0^-1 x,  Y = K0^-1 U'
//
// with the rows U of the contacts changed (Woodbury). A contact costs one back substitution per row, which in large islands is a small
// share of a factorisation. The rows lose as many digits as B shrinks by, eight where a contact of compliance 1e-8 w opens.
#pragma once

#include <vector>

#include "solvers/step_system.hpp"

namespace stickslip {

class CorrectedSystem {
public:
    void analyse(const StepProblem& problem) { system_.analyse(problem); }
    // Forgets all changes.
    bool factor(const StepProblem& problem, const std::vector<double>& joint_B, const std::vector<double>& contact_B);
    // Contact i has the block B (column-major dim x dim) from now on. False if there are too many changes: factor again.
    bool change(const StepProblem& problem, int i, const double* B);
    // After the last change: false if the system has become singular.
    bool finish();
    void solve(const StepProblem& problem, VecX& x);

    double cost() const { return system_.cost(); }
    double solve_work() const { return system_.solve_work(); }
    // Whether a change costs much less than a factorisation.
    bool worth_changing() const { return cost() > least_ratio * solve_work(); }
    bool changed(int i) const { return place_[i] >= 0; }
    int room() const { return most - static_cast<int>(changes_.size()); }  // for contacts not changed so far

private:
    static constexpr double least_ratio = 24.5;  // with 20, walls of 500 contacts took up to twice as long
    static constexpr int most = 24;  // changed contacts

    struct Change {
        int contact, first, dim;  // its rows in U begin at `first`
    };
    void rows_times(const StepProblem& problem, const Change& change, const double* x, double* y) const;
    bool add(const StepProblem& problem, int i);

    StepSystem system_;
    std::vector<double> factored_B_, changed_B_;  // of all contacts; of the changed ones, nine each
    std::vector<Change> changes_;
    std::vector<int> place_;       // per contact: its change, or -1
    std::vector<double> Y_;        // columns of nv
    std::vector<double> UY_, lu_;  // rows x rows, in columns of 3 most
    std::vector<int> pivot_;
    std::vector<double> small_;
    int rows_ = 0;
    bool finished_ = true;
};

}  // namespace stickslip
