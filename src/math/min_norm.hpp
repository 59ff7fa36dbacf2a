// The minimum-norm least-squares solution of K x = b for a square K of any rank [Golub & Van Loan, s.5.5]: QR with column
// pivoting, then the columns beyond the rank are folded in by reflections from the right,
//
//   K P = Q [T 0; 0 0] Z,     x = P Z' [T^-1 (Q' b)_1; 0].
//
// Columns that the pivoting leaves beyond the rank are the dependent ones: they name redundant rows. Keeps its memory.
#pragma once

#include <vector>

#include "math/work_mat.hpp"
#include "stickslip/blocks.hpp"

namespace stickslip {

class MinNorm {
public:
    // Pivots below tolerance times the largest one count as zero. Rows and columns of K should be of equal scale.
    void factor(const WorkMat& K, double tolerance);
    void solve(double* b) const;  // b := x, n entries

    int rank() const { return rank_; }
    int dependent(int i) const { return order_[rank_ + i]; }  // i < n - rank

private:
    WorkMat factors_;  // T and the essential parts of the reflections of Q below it, of Z right of it
    RowVec q_tau_, z_tau_;
    mutable RowVec work_;
    std::vector<int> order_;  // order_[k]: column of K that came k-th
    int rank_ = 0;
};

}  // namespace stickslip
