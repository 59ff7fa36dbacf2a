// Elimination of the velocities and of the free bilateral rows from a step problem. What is kept are the rows with
// an inequality: boxed bilateral rows first (in their order), then all contact rows. With x their impulses and y
// their velocities (w of a boxed row, u of a contact)
//
//   y = W x + q,      W = J Z + diag(T, S),   J = [G_boxed; H],   v = v_free + Z x
//   v = A^-1 (r + G_f' lambda_f + J' x),      (G_f A^-1 G_f' + T_f) lambda_f = b_f - G_f A^-1 (r + J' x)
//
// The free rows G_f may be redundant: their Schur complement is solved in the minimum-norm sense after scaling to
// unit diagonal. Contradicting rows are met in the least-squares sense and show in the residual. A may be
// unsymmetric and coupled. Everything is dense of order (kept rows + free rows): for direct solvers, not for sweeps.
#pragma once

#include <vector>

#include "math/block_lu.hpp"
#include "math/min_norm.hpp"
#include "math/node_inverse.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

class Elimination {
public:
    // Rows whose finite bounds all lie beyond `far` [N s] count as free; infinity keeps every boxed row.
    void compute(const StepProblem& problem, double far = infinity);

    const WorkMat& W() const { return W_; }
    const RowVec& q() const { return q_; }
    // Of W before the joints were eliminated: the scale of its rounding.
    const RowVec& diagonal() const { return diagonal_; }
    int kept() const { return static_cast<int>(q_.size()); }
    const std::vector<int>& boxed() const { return boxed_; }  // bilateral rows kept, ascending
    const std::vector<int>& free() const { return free_; }    // bilateral rows eliminated, ascending
    int redundant() const { return redundant_; }              // free rows that depend on others

    // v, lambda and p for the impulses x of the kept rows, refined once against the problem's own data.
    void recover(const StepProblem& problem, const ConstRef& x, StepSolution& solution);
    // The velocities y of the kept rows at a solution, from its v, lambda and p rather than from W.
    void velocities(const StepProblem& problem, const StepSolution& solution, RowVec& y) const;

private:
    void factor(const BlockMatrix& A);
    void solve_columns(Eigen::Ref<MatX> X);  // X := A^-1 X
    void solve_free(double* x) const;        // x := minimum-norm lambda_f for the right-hand side x
    void hold_free_rows(const StepProblem& problem);
    void velocity(const StepProblem& problem, Eigen::Ref<VecX> v);  // v = A^-1 (given + G_f' lambda_f), refined once

    bool coupled_ = false;
    NodeInverse inverse_;
    BlockLu lu_;
    std::vector<BlockLu::Edge> edges_;
    MinNorm schur_;  // of the free rows, scaled
    RowVec schur_scale_;
    std::vector<int> boxed_, free_;
    int redundant_ = 0;
    WorkMat J_, G_;  // dense rows, kept and free
    WorkMat W_;
    RowVec q_, diagonal_;
    RowVec noise_;  // [m/s] velocities that rounding is measured by
    // work
    WorkMat joints_, Z_, X_, scaled_, L_, step_, part_;
    RowVec v_free_, b_, T_, l_, miss_, given_, lambda_, load_, dv_;
};

}  // namespace stickslip
