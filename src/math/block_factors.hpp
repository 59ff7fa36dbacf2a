// LU factors of a block matrix: node by node where nodes are not coupled, all of it by BlockLu where they are.
#pragma once

#include <vector>

#include "math/block_lu.hpp"
#include "math/dense_lu.hpp"

namespace stickslip {

class BlockFactors {
public:
    bool factor(const BlockMatrix& A);  // false when a pivot is zero or not finite
    bool coupled() const { return coupled_; }
    void solve(double* x) const;              // x := A^-1 x, nv entries
    void solve_node(int n, double* x) const;  // x := A_nn^-1 x of one node, where nodes are not coupled

private:
    Nodes nodes_;
    bool coupled_ = false;
    BlockLu lu_;
    AlignedDoubles values_;      // the factors of the nodes,
    std::vector<int> diagonal_;  // where they start,
    std::vector<int> pivots_;    // and per velocity the row swapped into its place
};

inline bool BlockFactors::factor(const BlockMatrix& A) {
    nodes_.start.assign(A.nodes.start.begin(), A.nodes.start.end());
    coupled_ = !A.couplings.empty();
    if (coupled_) return lu_.factor(A);
    values_ = A.values;
    diagonal_.assign(A.diagonal.begin(), A.diagonal.end());
    pivots_.resize(static_cast<std::size_t>(nodes_.nv()));
    bool regular = true;
    for (int n = 0; n < nodes_.size(); ++n)
        if (!factor_dense(values_.data() + diagonal_[n], pivots_.data() + nodes_.start[n], nodes_.dof(n)))
            regular = false;
    return regular;
}

inline void BlockFactors::solve_node(int n, double* x) const {
    solve_dense(values_.data() + diagonal_[n], pivots_.data() + nodes_.start[n], x, nodes_.dof(n));
}

inline void BlockFactors::solve(double* x) const {
    if (coupled_) return lu_.solve(x);
    for (int n = 0; n < nodes_.size(); ++n) solve_node(n, x + nodes_.start[n]);
}

}  // namespace stickslip
