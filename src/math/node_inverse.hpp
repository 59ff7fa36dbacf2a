// The inverses A_nn^-1 of the diagonal blocks of a block matrix: the scale in which residuals are measured and
// sweeps are preconditioned, and A^-1 itself when A has no couplings.
//
// Blocks need not be symmetric. Sizes 3 and 6 run unrolled without pivoting, which is safe while the symmetric part
// is positive definite; a pivot that is not positive, and every other size, goes through partial pivoting. A
// singular block gives entries that are not finite: what is computed from it is NaN, not a wrong number.
#pragma once

#include <vector>

#include "stickslip/blocks.hpp"

namespace stickslip {

class NodeInverse {
public:
    void factor(const BlockMatrix& A);  // keeps its memory from call to call

    const Nodes& nodes() const { return nodes_; }
    Eigen::Map<const MatX> block(int n) const { return {values_.data() + offset_[n], nodes_.dof(n), nodes_.dof(n)}; }
    void apply(const ConstRef& x, Eigen::Ref<VecX> y) const;  // y = A_nn^-1 x node by node; y is not x
    void apply(int n, const double* x, double* y) const;      // of node n alone: x and y begin at its velocities
    double quadratic(int n, const double* row) const;         // row A_nn^-1 row'

private:
    Nodes nodes_;
    std::vector<int> offset_;  // of node n's inverse in values_
    AlignedDoubles values_;    // column-major inverses
    std::vector<double> work_;
};

}  // namespace stickslip
