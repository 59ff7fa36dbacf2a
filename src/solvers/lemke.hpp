// Lemke's method on the polyhedral step problem [Anitescu-Potra, (2.13), Thm 2.1]: velocities and free joints are
// eliminated, every island (rows that share nodes) becomes one LCP, pivoted until it is solved. Takes contacts of any
// rank, redundant joints, boxed rows, unsymmetric A. Exact up to rounding, no iteration to converge; the price is a
// dense matrix of order (2 + facets) per contact of an island.
//
// Disc cones in space are refused by name. A warm start goes through the mode solver first, which usually needs
// one linear solve; it also polishes what rounding left.
#pragma once

#include <deque>
#include <vector>

#include "problems/convert/elimination.hpp"
#include "problems/convert/to_lcp.hpp"
#include "solvers/lemke_pivots.hpp"
#include "solvers/mode_solve.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct LemkeOptions {
    double tol = default_tolerance;  // [m/s]
    int max_pivots = 20000;          // per island

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which the step is certified");
        f("max_pivots", max_pivots, "-", "pivots per island before giving up; a few per LCP variable are normal");
    }
};

class LemkeSolver : public Solver {
public:
    explicit LemkeSolver(const LemkeOptions& options = {}) : options_(options) {}
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;

private:
    bool from_modes(const StepProblem& problem, StepSolution& solution, SolveReport& report);
    SolveReport pivot(const StepProblem& problem, double far, StepSolution& solution);
    void find_islands(const StepProblem& problem);
    void read_modes(const StepProblem& problem, StepSolution& solution) const;

    LemkeOptions options_;
    ModeSolver mode_solver_;
    Elimination elimination_;
    Lcp lcp_;
    // Kept for the refinement, and their memory for the next step.
    struct Island {
        std::vector<int> variables;  // ascending
        LemkePivots pivots;
        WorkMat M;
        RowVec q;
    };
    // The first island_count_ are in use. A deque: a vector that grows would copy the others, which drops their memory.
    std::deque<Island> islands_;
    std::size_t island_count_ = 0;
    std::vector<int> parent_, number_;  // per node: union-find, island
    RowVec z_, z_island_, w_island_, x_, y_, w_, inside_, best_z_;
    StepSolution trial_;
};

}  // namespace stickslip
