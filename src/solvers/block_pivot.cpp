#include "solvers/block_pivot.hpp"

#include "stickslip/error.hpp"

namespace stickslip {

namespace {

LemkeOptions pivoting(const BlockPivotOptions& options) {
    LemkeOptions result;
    result.tol = options.tol;
    result.max_pivots = options.max_pivots;
    return result;
}

}  // namespace

BlockPivotSolver::BlockPivotSolver(const BlockPivotOptions& options) : LemkeSolver(pivoting(options)) {
    if (!(options.tol > 0)) throw Error("tol of block-pivot must be positive");
    if (options.max_rounds < 0 || options.patience < 0) throw Error("counts of block-pivot must not be negative");
    pivots_.max_rounds = options.max_rounds;
    pivots_.patience = options.patience;
}

void BlockPivotSolver::improve_basis(const SparseSquare& M, const ConstRef& q, const std::vector<LcpBlock>& blocks,
                                     std::vector<char>& in) {
    pivots_.run(M, q, blocks, in);
    rounds_ += pivots_.rounds();
}

SolveReport BlockPivotSolver::solve(const StepProblem& problem, StepSolution& solution) {
    rounds_ = 0;
    SolveReport report = LemkeSolver::solve(problem, solution);
    if (work().pivots == 0) report.solver = "block-pivot";
    report.iterations += rounds_;
    if (needs_any_disc(problem))
        report.reason = "block-pivot needs polygon cones; set contacts.cone: {polygon: 8} or use nsgs";
    return report;
}

}  // namespace stickslip
