#include "solvers/delassus_rows.hpp"

#include <algorithm>

namespace stickslip {

bool MassInverse::factor(const BlockMatrix& A) {
    nodes_.factor(A);
    coupled_ = !A.couplings.empty();
    if (!coupled_) {
        for (int n = 0; n < A.nodes.size(); ++n)
            if (!nodes_.block(n).allFinite()) return false;
        return true;
    }
    return lu_.factor(A);
}

void MassInverse::apply(const VecX& x, VecX& y) const {
    if (!coupled_) return nodes_.apply(x, y);
    y = x;
    lu_.solve(y.data());
}

void DelassusRows::prepare(const BlockRows& J, const RowVec& compliance, const Nodes& nodes,
                           const MassInverse& inverse) {
    first_.assign(1, 0);
    W_first_.assign(1, 0);
    dim_.clear();
    columns_.clear();
    values_.clear();
    W_.clear();
    for (int g = 0; g < J.groups(); ++g) {
        const int dim = J.dim(g), W_at = static_cast<int>(W_.size());
        dim_.push_back(dim);
        W_.resize(W_.size() + static_cast<std::size_t>(dim * dim), 0.0);
        W_first_.push_back(static_cast<int>(W_.size()));
        double* W = W_.data() + W_at;
        for (int k = 0; k < dim; ++k) W[k * (dim + 1)] = compliance[J.row[g] + k];

        if (inverse.coupled()) {
            const int offset = static_cast<int>(values_.size()), nv = nodes.nv();
            columns_.push_back({0, nv, offset});
            values_.resize(values_.size() + static_cast<std::size_t>(dim * nv));
            right_.resize(nv);
            solved_.resize(nv);
            for (int r = 0; r < dim; ++r) {
                right_.setZero();
                for (const BlockRows::Block& b : J.blocks_of(g)) {
                    const int d = nodes.dof(b.node);
                    for (int k = 0; k < d; ++k) right_[nodes.start[b.node] + k] += J.values[b.offset + r * d + k];
                }
                inverse.apply(right_, solved_);
                std::copy(solved_.data(), solved_.data() + nv, values_.data() + offset + r * nv);
            }
            for (int r = 0; r < dim; ++r) {
                const double* y = values_.data() + offset + r * nv;
                for (const BlockRows::Block& b : J.blocks_of(g)) {
                    const int d = nodes.dof(b.node);
                    for (int s = 0; s < dim; ++s)
                        for (int k = 0; k < d; ++k)
                            W[s + r * dim] += J.values[b.offset + s * d + k] * y[nodes.start[b.node] + k];
                }
            }
        } else {
            for (const BlockRows::Block& b : J.blocks_of(g)) {
                const int d = nodes.dof(b.node), offset = static_cast<int>(values_.size());
                columns_.push_back({nodes.start[b.node], d, offset});
                values_.resize(values_.size() + static_cast<std::size_t>(dim * d), 0.0);
                const Eigen::Map<const MatX> A_inverse = inverse.nodes().block(b.node);
                for (int r = 0; r < dim; ++r) {
                    const double* j = J.values.data() + b.offset + r * d;
                    double* y = values_.data() + offset + r * d;
                    for (int k = 0; k < d; ++k)
                        for (int i = 0; i < d; ++i) y[i] += A_inverse(i, k) * j[k];
                    for (int s = 0; s < dim; ++s) {
                        double sum = 0;
                        for (int k = 0; k < d; ++k) sum += J.values[b.offset + s * d + k] * y[k];
                        W[s + r * dim] += sum;
                    }
                }
            }
        }
        first_.push_back(static_cast<int>(columns_.size()));
    }
}

void DelassusRows::push(int g, const double* impulse, double* v) const {
    for (int e = first_[g]; e < first_[g + 1]; ++e) {
        const Column& column = columns_[e];
        const double* y = values_.data() + column.offset;
        double* to = v + column.start;
        for (int r = 0; r < dim_[g]; ++r, y += column.dof)
            for (int k = 0; k < column.dof; ++k) to[k] += y[k] * impulse[r];
    }
}

void DelassusRows::push_row(int g, int row, double impulse, double* v) const {
    for (int e = first_[g]; e < first_[g + 1]; ++e) {
        const Column& column = columns_[e];
        const double* y = values_.data() + column.offset + row * column.dof;
        for (int k = 0; k < column.dof; ++k) v[column.start + k] += y[k] * impulse;
    }
}

}  // namespace stickslip
