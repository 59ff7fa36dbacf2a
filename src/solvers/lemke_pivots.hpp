// Lemke's method for   0 <= z  _|_  w = M z + q >= 0   [Cottle-Pang-Stone, s.4.4; Anitescu-Potra, s.2]:
// complementary pivots on  w = q + M z + d z0  with a covering vector d > 0 until z0 leaves the basis. For copositive
// M, and q that no ray contradicts, it ends with a solution.
//
// Ties are broken lexicographically: q is thought of as q + eps r with an infinitesimal eps and a fixed generic r > 0,
// carried as a second right-hand side. That is the same protection against cycling as the identity matrix of the
// textbook rule, for one column instead of n.
//
// The basis is kept through its kernel alone: with R the rows whose w is not basic and C the basic z (and z0),
// K = [M d](R, C) is square, about three rows per loaded contact whatever the number of facets. K^-1 is updated by
// bordering and checked in every pivot against M itself; it is refactored when the check fails.
#pragma once

#include <vector>

#include "math/work_mat.hpp"
#include "stickslip/blocks.hpp"

namespace stickslip {

class LemkePivots {
public:
    enum class Outcome {
        solved,
        ray,  // no basic variable blocks: for copositive M nothing solves the problem
        pivot_limit,
        lost,  // rounding destroyed the basis
    };
    // M must outlive the call. Allocates only when a problem is larger than all before it.
    Outcome solve(const Eigen::Ref<const MatX>& M, const ConstRef& q, int max_pivots, RowVec& z);

    int pivots() const { return pivots_; }
    // How far the most negative z or w of the final basis is below zero, relative to the largest violation of q
    // and beyond rounding: not zero means a wrong basis.
    double negative() const { return negative_; }
    // Given the slacks w of the current z (computed from better data), moves z so that the nonbasic ones vanish.
    void refine(const ConstRef& w, RowVec& z);

private:
    struct Basis {
        double negative = infinity;
        std::vector<int> rows, columns;
        WorkMat inverse;
        RowVec z;
    };

    Outcome run(int attempt, int max_pivots);
    void start(int attempt);
    bool compute(int entering);  // fills X_ and F_; false when the kernel is lost
    int leaving() const;         // a variable, or -1
    void exchange(int entering, int leaving);
    double magnitude() const;
    bool refactor();
    bool finish(RowVec& z);
    void reserve(int k);
    void keep_best(const RowVec& z);
    const double* column_of(int column) const { return column == n_ ? d_.data() : M_ + column * stride_; }
    double entry(int row, int column) const { return column_of(column)[row]; }
    void row_entries(int row);  // fills b_ with [M d](row, C)

    // Variables are numbered 0 .. n-1 for z, n for z0, n+1 .. 2n for w.
    bool is_w(int variable) const { return variable > n_; }
    int row_of(int variable) const { return variable - n_ - 1; }

    const double* M_ = nullptr;
    Eigen::Index stride_ = 0;  // of M's columns
    int n_ = 0;
    int k_ = 0;        // order of the kernel
    double size_ = 1;  // scale of q: the largest violation
    RowVec q_, r_, d_;
    std::vector<int> rows_, columns_;  // R and C
    std::vector<int> row_place_;       // per w: its place in R, -1 when basic
    std::vector<int> column_place_;    // per z and z0: its place in C, -1 when not basic
    WorkMat inverse_;                  // K^-1 in its top left corner: rows as C, columns as R
    WorkMat X_, F_;                    // basic z and all w: value, perturbation, direction
    WorkMat rhs_, dX_;
    WorkMat kernel_, grown_;
    std::vector<int> swaps_;
    RowVec f_, g_, b_, w_, miss_, step_;
    Basis best_;
    int since_refactor_ = 0;
    int pivots_ = 0;
    double negative_ = 0;
};

}  // namespace stickslip
