// A^-1 J' and the diagonal blocks W_gg = J_g A^-1 J_g' + diag(compliance) of a set of rows, group by group: what a
// sweep needs to move one group and keep v = A^-1 (r + G' lambda + H' p) up to date.
//
// Without couplings A^-1 J_g' lives on the nodes of g. With couplings every group reaches every node, and the
// columns are stored in full (nv numbers per row): right, but only for small systems.
#pragma once

#include <vector>

#include "math/block_lu.hpp"
#include "math/node_inverse.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

// A^-1 with or without couplings.
class MassInverse {
public:
    bool factor(const BlockMatrix& A);  // false when A is singular
    bool coupled() const { return coupled_; }
    const NodeInverse& nodes() const { return nodes_; }
    void apply(const VecX& x, VecX& y) const;  // y = A^-1 x

private:
    bool coupled_ = false;
    NodeInverse nodes_;
    BlockLu lu_;
};

class DelassusRows {
public:
    void prepare(const BlockRows& J, const RowVec& compliance, const Nodes& nodes, const MassInverse& inverse);
    const double* W(int g) const { return W_.data() + W_first_[g]; }  // column-major dim x dim
    double trace(int g, int dim) const {
        double sum = 0;
        for (int k = 0; k < dim; ++k) sum += W(g)[k * (dim + 1)];
        return sum;
    }
    void push(int g, const double* impulse, double* v) const;        // v += A^-1 J_g' impulse
    void push_row(int g, int row, double impulse, double* v) const;  // one row of the group

private:
    void size_to(const BlockRows& J, const RowVec& compliance, const Nodes& nodes, bool coupled);
    void solve_coupled(const BlockRows& J, const Nodes& nodes, const MassInverse& inverse);

    struct Column {
        int start, dof, offset;  // v[start ..] += values[offset + r dof ..] impulse[r]
    };
    std::vector<int> first_, dim_, W_first_;
    std::vector<Column> columns_;
    AlignedDoubles values_, W_;
    VecX right_, solved_;
};

}  // namespace stickslip
