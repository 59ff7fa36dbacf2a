// The dense Schur complement of rows J and pushes C over a factored block matrix A, with the compliance T of each row:
//
//   S = T + J A^-1 C
//
// LU with pivoting, rows and columns scaled to a diagonal of one; where S is singular to `rank_tolerance` (redundant contacts, dead
// points) QR with column pivoting, least squares of least norm (math/min_norm).
#pragma once

#include <utility>
#include <vector>

#include "math/block_factors.hpp"
#include "math/min_norm.hpp"

namespace stickslip {

class Schur {
public:
    // C' is given as rows, `push`, one group for each group of J. `compliance`: one number per row; null: T = 0.
    // False: S is not finite.
    bool factor(const BlockFactors& A, const BlockRows& J, const BlockRows& push, const Nodes& nodes,
                const double* compliance = nullptr);
    void solve(double* y) const;  // y := S^-1 y
    // a += A^-1 C y, with the push and the nodes given to factor().
    void add_pushed(const BlockRows& push, const Nodes& nodes, const double* y, double* a) const;
    int rank_defect() const { return rank_defect_; }

private:
    void multiply(const BlockFactors& A, const BlockRows& J, const BlockRows& push, const Nodes& nodes);
    void multiply_coupled(const BlockFactors& A, const BlockRows& J, const BlockRows& push, const Nodes& nodes);

    AlignedDoubles pushed_;  // C' A^-1, laid out as the values of push or, where A couples nodes, nv numbers per row
    bool coupled_ = false;
    WorkMat S_, lu_;
    std::vector<int> pivots_;
    RowVec scale_, column_;
    MinNorm min_norm_;
    bool by_min_norm_ = false;
    int rank_defect_ = 0;
    std::vector<std::vector<std::pair<int, int>>> at_node_;  // per node: group and block of J
};

// f(row, first velocity of the node, its size, values) for every row of every block, the values laid out as those of `rows`.
template <class F>
void for_blocks(const BlockRows& rows, const Nodes& nodes, const double* values, F&& f) {
    const int *row = rows.row.data(), *first = rows.first.data(), *start = nodes.start.data();
    for (int g = 0, n = rows.groups(); g < n; ++g) {
        for (int b = first[g]; b < first[g + 1]; ++b) {
            const BlockRows::Block& block = rows.blocks[b];
            const int from = start[block.node], dof = start[block.node + 1] - from;
            const double* x = values + block.offset;
            for (int i = row[g]; i < row[g + 1]; ++i, x += dof) f(i, from, dof, x);
        }
    }
}

}  // namespace stickslip
