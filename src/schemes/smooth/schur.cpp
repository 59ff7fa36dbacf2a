#include "schemes/smooth/schur.hpp"

#include <cmath>

#include "math/dense_lu.hpp"

namespace stickslip {

namespace {

// Of pivots scaled to 1. Rows that agree to this are one row: what drifts apart by less is not resolved, what is more
// dependent than this near a dead point makes forces larger than the tolerance of a step.
constexpr double rank_tolerance = 1e-10;

}  // namespace

bool Schur::factor(const BlockFactors& A, const BlockRows& J, const BlockRows& push, const Nodes& nodes,
                   const double* compliance) {
    const int m = J.rows();
    rank_defect_ = 0;
    by_min_norm_ = false;
    coupled_ = A.coupled();
    scale_.resize(m);
    if (m == 0) return true;
    S_.setZero(m, m);
    for (int i = 0; compliance && i < m; ++i) S_(i, i) = compliance[i];
    if (coupled_)
        multiply_coupled(A, J, push, nodes);
    else
        multiply(A, J, push, nodes);

    for (int i = 0; i < m; ++i) {
        const double d = std::abs(S_(i, i));
        scale_[i] = d > 0 ? 1 / std::sqrt(d) : 1.0;
    }
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < m; ++i) S_(i, j) *= scale_[i] * scale_[j];
    lu_ = S_;
    pivots_.resize(static_cast<std::size_t>(m));
    by_min_norm_ = !factor_dense(lu_.data(), pivots_.data(), m);
    for (int i = 0; i < m && !by_min_norm_; ++i)
        by_min_norm_ = std::abs(lu_(i, i)) * rank_tolerance > 1;  // reciprocals
    if (!by_min_norm_) return true;
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < m; ++i)
            if (!std::isfinite(S_(i, j))) return false;
    min_norm_.factor(S_, rank_tolerance);
    rank_defect_ = m - min_norm_.rank();
    return true;
}

void Schur::multiply(const BlockFactors& A, const BlockRows& J, const BlockRows& push, const Nodes& nodes) {
    pushed_.assign(push.values.begin(), push.values.end());
    const bool one_node = nodes.size() == 1;
    if (!one_node) {
        if (at_node_.size() < static_cast<std::size_t>(nodes.size()))
            at_node_.resize(static_cast<std::size_t>(nodes.size()));
        for (auto& list : at_node_) list.clear();
        for (int g = 0; g < J.groups(); ++g)
            for (int b = J.first[g]; b < J.first[g + 1]; ++b) at_node_[J.blocks[b].node].push_back({g, b});
    }
    for (int h = 0; h < push.groups(); ++h) {
        for (const BlockRows::Block& block : push.blocks_of(h)) {
            const int n = block.node, dof = nodes.dof(n);
            double* column = pushed_.data() + block.offset;
            for (int k = push.row[h]; k < push.row[h + 1]; ++k, column += dof) {
                A.solve_node(n, column);
                const auto multiply_block = [&](int g, int b) {
                    const double* row = J.values.data() + J.blocks[b].offset;
                    for (int i = J.row[g]; i < J.row[g + 1]; ++i, row += dof) {
                        double sum = 0;
                        for (int c = 0; c < dof; ++c) sum += row[c] * column[c];
                        S_(i, k) += sum;
                    }
                };
                if (one_node) {
                    for (int g = 0; g < J.groups(); ++g)
                        for (int b = J.first[g]; b < J.first[g + 1]; ++b) multiply_block(g, b);
                } else {
                    for (const auto& [g, b] : at_node_[n]) multiply_block(g, b);
                }
            }
        }
    }
}

void Schur::multiply_coupled(const BlockFactors& A, const BlockRows& J, const BlockRows& push, const Nodes& nodes) {
    const int m = push.rows(), nv = nodes.nv();
    pushed_.assign(static_cast<std::size_t>(m) * nv, 0.0);
    for_blocks(push, nodes, push.values.data(), [&](int k, int start, int dof, const double* row) {
        for (int c = 0; c < dof; ++c) pushed_[k * nv + start + c] += row[c];
    });
    column_.resize(J.rows());
    for (int k = 0; k < m; ++k) {
        double* column = pushed_.data() + k * nv;
        A.solve(column);
        J.product(nodes, Eigen::Map<const VecX>(column, nv), column_);
        S_.col(k) += column_.vec();
    }
}

void Schur::solve(double* y) const {
    const int m = static_cast<int>(scale_.size());
    for (int i = 0; i < m; ++i) y[i] *= scale_[i];
    if (by_min_norm_)
        min_norm_.solve(y);
    else
        solve_dense(lu_.data(), pivots_.data(), y, m);
    for (int i = 0; i < m; ++i) y[i] *= scale_[i];
}

void Schur::add_pushed(const BlockRows& push, const Nodes& nodes, const double* y, double* a) const {
    const auto add = [&](int i, int start, int dof, const double* column) {
        for (int c = 0; c < dof; ++c) a[start + c] += column[c] * y[i];
    };
    if (coupled_)
        for (int i = 0; i < push.rows(); ++i) add(i, 0, nodes.nv(), pushed_.data() + i * nodes.nv());
    else
        for_blocks(push, nodes, pushed_.data(), add);
}

}  // namespace stickslip
