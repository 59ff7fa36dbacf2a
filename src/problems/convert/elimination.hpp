// Elimination of the velocities and of the free bilateral rows from a step problem. What is kept are the rows with
// an inequality: boxed bilateral rows first (in their order), then all contact rows. With x their impulses and y
// their velocities (w of a boxed row, u of a contact)
//
//   y = W x + q,      W = J Z + diag(T, S),   J = [G_boxed; H],   v = v_free + Z x
//   v = A^-1 (r + G_f' lambda_f + J' x),      (G_f A^-1 G_f' + T_f) lambda_f = b_f - G_f A^-1 (r + J' x)
//
// The free rows G_f may be redundant: their Schur complement is solved in the minimum-norm sense after scaling to
// unit diagonal. Contradicting rows are met in the least-squares sense and show in the residual. A may be
// unsymmetric and coupled.
//
// Rows stay sparse: they and, without couplings, their A^-1 J' live on the nodes they touch, so that without free rows W
// costs its own nonzeros. With free rows Z is dense over the nodes that rows touch; W itself is dense in any case: for
// direct solvers, not for sweeps.
#pragma once

#include <vector>

#include "math/block_lu.hpp"
#include "math/min_norm.hpp"
#include "math/node_inverse.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

// Single rows over the velocities of the nodes that take part, as segments.
class SegmentRows {
public:
    void clear();
    void begin() { first_.push_back(static_cast<int>(segments_.size())); }  // opens a row
    double* add(int start, int size);                                       // zero; valid until the next one
    int size() const { return static_cast<int>(first_.size()); }
    double dot(int row, const double* v) const;
    double dot_magnitude(int row, const double* v) const;  // sum |a_k| v_k
    void add_to(int row, double s, double* v) const;       // v += s row'

    struct Segment {
        int start, size, offset;
    };
    int segments_begin(int row) const { return first_[row]; }
    int segments_end(int row) const {
        const auto next = static_cast<std::size_t>(row) + 1;
        return next < first_.size() ? first_[next] : static_cast<int>(segments_.size());
    }
    const Segment& segment(int s) const { return segments_[s]; }
    const double* values(const Segment& s) const { return values_.data() + s.offset; }

private:
    std::vector<int> first_;
    std::vector<Segment> segments_;
    AlignedDoubles values_;
};

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
    void solve(Eigen::Ref<VecX> x);    // x := A^-1 x, all nodes
    void solve_free(double* x) const;  // x := minimum-norm lambda_f for the right-hand side x
    void take_part(const StepProblem& problem);
    void gather_rows(const StepProblem& problem);
    void columns_of(const SegmentRows& rows, SegmentRows& columns);  // A^-1 J', row by row
    void fill_W();
    void compact(const Nodes& nodes, const ConstRef& v, RowVec& part) const;  // of all velocities those that take part
    void hold_free_rows(const StepProblem& problem);
    // v = A^-1 (r + G' lambda + H' p), refined once
    void velocity(const StepProblem& problem, StepSolution& solution);

    bool coupled_ = false;
    NodeInverse inverse_;
    BlockLu lu_;
    MinNorm schur_;  // of the free rows, scaled
    RowVec schur_scale_;
    std::vector<int> boxed_, free_;
    int redundant_ = 0;
    std::vector<int> place_;     // per node: start among the velocities that take part, -1 when no row touches it
    int taking_part_ = 0;        // number of these velocities
    SegmentRows J_, Y_, G_, X_;  // kept rows, A^-1 J'; free rows, A^-1 G'
    WorkMat W_;
    RowVec q_, diagonal_;
    RowVec noise_;  // [m/s] velocities that rounding is measured by
    // work
    std::vector<int> node_at_;                                 // per velocity that takes part: its node
    std::vector<int> at_first_, at_segment_, row_of_segment_;  // per velocity where one starts: the segments of J
    WorkMat Z_, scaled_, L_;
    RowVec v_free_, b_, T_, l_, miss_, load_, dv_, full_;
    mutable RowVec w_;
};

}  // namespace stickslip
