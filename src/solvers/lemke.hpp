// Lemke's method on the polyhedral step problem [Anitescu-Potra, (2.13), Thm 2.1]: velocities and free joints are
// eliminated, every island (rows that share nodes) becomes one LCP, pivoted until it is solved. Takes contacts of any
// rank, redundant joints, boxed rows, unsymmetric A. Exact up to rounding, no iteration to converge; the price is a
// dense matrix of order (2 + facets) per contact of an island.
//
// Disc cones in space are refused by name. A warm start goes through the mode solver first: a step whose basis is that of
// the last one costs one factorisation and no pivot. When the basis has changed, what the mode solver reached is the
// crash basis from which the pivots start [Anitescu-Potra, s.6]. The mode solver also polishes what rounding left.
#pragma once

#include <deque>
#include <vector>

#include "math/node_groups.hpp"
#include "problems/convert/elimination.hpp"
#include "problems/convert/to_lcp.hpp"
#include "problems/residual.hpp"
#include "solvers/lemke_pivots.hpp"
#include "solvers/mode_solve.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct LemkeOptions {
    double tol = default_tolerance;  // [m/s]
    int max_pivots = 20000;          // per island
    int max_entries = 20000000;      // of the matrix, 24 bytes each

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which the step is certified");
        f("max_pivots", max_pivots, "-", "pivots per island before giving up; a few per LCP variable are normal");
        f("max_entries", max_entries, "-",
          "larger matrices are refused, 24 bytes each: 450 contacts of 8 facets on one body");
    }
};

class LemkeSolver : public Solver {
public:
    explicit LemkeSolver(const LemkeOptions& options = {}) : options_(options) {}
    void set_tolerance(double /*tol*/, double aim) override { options_.tol = aim; }
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;

    // What the last solve took. `report.iterations` counts pivots, or linear solves when there were none.
    struct Work {
        int pivots = 0;          // complementary pivots of Lemke's method
        int crash = 0;           // variables of crash bases pivoted in before
        int factorisations = 0;  // of the mode solver
    };
    const Work& work() const { return work_; }

protected:
    // May change the crash basis of one island, marked in `in`; `blocks` are its boxes and contacts.
    virtual void improve_basis(const SparseSquare&, const ConstRef&, const std::vector<LcpBlock>&, std::vector<char>&) {
    }

private:
    bool from_modes(const StepProblem& problem, StepSolution& solution, SolveReport& report);
    SolveReport pivot(const StepProblem& problem, double far, StepSolution& solution);
    void guess_basis(const StepProblem& problem, const StepSolution& solution);
    void find_islands(const StepProblem& problem);
    void read_modes(const StepProblem& problem, StepSolution& solution) const;

    LemkeOptions options_;
    ModeSolver mode_solver_;
    Elimination elimination_;
    Lcp lcp_;
    // Kept for the refinement, and their memory for the next step.
    struct Island {
        std::vector<int> variables;    // ascending
        std::vector<LcpBlock> blocks;  // `first` counts in the island
        LemkePivots pivots;
        SparseSquare M;
        RowVec q;
    };
    // The first island_count_ are in use. A deque: a vector that grows would copy the others, which drops their memory.
    std::deque<Island> islands_;
    std::size_t island_count_ = 0;
    NodeGroups groups_;
    std::vector<int> number_;  // per node that stands for its group: its island
    std::vector<int> place_;            // per variable: its place in the island at hand
    RowVec z_, z_island_, w_island_, x_, y_, w_, inside_, best_z_;
    std::vector<char> guessed_;  // per variable: in the crash basis
    std::vector<char> basis_;    // the same for the island at hand
    std::vector<int> crash_;
    Work work_;
    StepSolution trial_;
    ResidualWork residual_work_;
};

}  // namespace stickslip
