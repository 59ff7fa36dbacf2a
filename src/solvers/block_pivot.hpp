// block-pivot: block pivots on the polyhedral LCP of every island, from the modes of the last step or from nothing; what
// they reach is the crash basis of Lemke's method, which has nothing left to do when they ended well, and always ends
// otherwise (from that basis, and should this be a ray, from nothing). Everything else is as in lemke.hpp.
#pragma once

#include "solvers/block_pivots.hpp"
#include "solvers/lemke.hpp"

namespace stickslip {

struct BlockPivotOptions {
    double tol = default_tolerance;  // [m/s]
    int max_rounds = 40;
    int patience = 10;
    int max_pivots = 20000;

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which the step is certified");
        f("max_rounds", max_rounds, "-",
          "linear solves of the block pivots per island before Lemke's method takes over");
        f("patience", patience, "-", "rounds without fewer wrong signs before contacts are exchanged one by one");
        f("max_pivots", max_pivots, "-", "pivots of Lemke's method per island before giving up");
    }
};

class BlockPivotSolver : public LemkeSolver {
public:
    explicit BlockPivotSolver(const BlockPivotOptions& options = {});
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    int rounds() const { return rounds_; }  // block pivots of the last solve

private:
    void improve_basis(const SparseSquare& M, const ConstRef& q, const std::vector<LcpBlock>& blocks,
                       std::vector<char>& in) override;

    BlockPivots pivots_;
    int rounds_ = 0;
};

}  // namespace stickslip
