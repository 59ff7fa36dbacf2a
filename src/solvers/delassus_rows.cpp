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

namespace {

// y = A^-1 J_g' and W += J_g y of one block with N columns, sums in the order of the plain loops. Sized loops run in registers: rows of 1000
// spheres took three times as long without.
template <int N>
void solve_block(const double* inverse, const double* j, int dim, double* y, double* W) {
    for (int r = 0; r < dim; ++r) {
        double sum[N] = {};
#pragma GCC unroll 6
        for (int k = 0; k < N; ++k)
#pragma GCC unroll 6
            for (int i = 0; i < N; ++i) sum[i] += inverse[k * N + i] * j[r * N + k];
        for (int i = 0; i < N; ++i) y[r * N + i] = sum[i];
        for (int s = 0; s < dim; ++s) {
            double product = 0;
#pragma GCC unroll 6
            for (int k = 0; k < N; ++k) product += j[s * N + k] * sum[k];
            W[s + r * dim] += product;
        }
    }
}

void solve_block(int d, const double* inverse, const double* j, int dim, double* y, double* W) {
    for (int r = 0; r < dim; ++r) {
        std::fill_n(y + r * d, d, 0.0);
        for (int k = 0; k < d; ++k)
            for (int i = 0; i < d; ++i) y[r * d + i] += inverse[k * d + i] * j[r * d + k];
        for (int s = 0; s < dim; ++s) {
            double product = 0;
            for (int k = 0; k < d; ++k) product += j[s * d + k] * y[r * d + k];
            W[s + r * dim] += product;
        }
    }
}

template <int N>
void push_block(const double* y, const double* impulse, int dim, double* v) {
    double sum[N];
    for (int k = 0; k < N; ++k) sum[k] = v[k];
    for (int r = 0; r < dim; ++r, y += N)
        for (int k = 0; k < N; ++k) sum[k] += y[k] * impulse[r];
    for (int k = 0; k < N; ++k) v[k] = sum[k];
}

}  // namespace

// The sizes of everything, and S on the diagonals of W.
void DelassusRows::size_to(const BlockRows& J, const RowVec& compliance, const Nodes& nodes, bool coupled) {
    first_.assign(1, 0);
    W_first_.assign(1, 0);
    dim_.clear();
    columns_.clear();
    int values = 0;
    for (int g = 0; g < J.groups(); ++g) {
        const int dim = J.dim(g);
        dim_.push_back(dim);
        W_first_.push_back(W_first_.back() + dim * dim);
        if (coupled) {
            columns_.push_back({0, nodes.nv(), values});
            values += dim * nodes.nv();
        } else {
            for (const BlockRows::Block& b : J.blocks_of(g)) {
                columns_.push_back({nodes.start[b.node], nodes.dof(b.node), values});
                values += dim * nodes.dof(b.node);
            }
        }
        first_.push_back(static_cast<int>(columns_.size()));
    }
    if (values_.size() < static_cast<std::size_t>(values)) values_.resize(static_cast<std::size_t>(values));  // all are set below
    W_.assign(static_cast<std::size_t>(W_first_.back()), 0.0);
    for (int g = 0; g < J.groups(); ++g)
        for (int k = 0; k < dim_[g]; ++k) W_[W_first_[g] + k * (dim_[g] + 1)] = compliance[J.row[g] + k];
}

void DelassusRows::prepare(const BlockRows& J, const RowVec& compliance, const Nodes& nodes,
                           const MassInverse& inverse) {
    size_to(J, compliance, nodes, inverse.coupled());
    if (inverse.coupled()) return solve_coupled(J, nodes, inverse);
    for (int g = 0; g < J.groups(); ++g) {
        double* const W = W_.data() + W_first_[g];
        const Column* column = columns_.data() + first_[g];
        for (const BlockRows::Block& b : J.blocks_of(g)) {
            const double *j = J.values.data() + b.offset, *inverse_of = inverse.nodes().block(b.node).data();
            double* const y = values_.data() + (column++)->offset;
            switch (nodes.dof(b.node)) {
                case 6: solve_block<6>(inverse_of, j, dim_[g], y, W); break;
                case 3: solve_block<3>(inverse_of, j, dim_[g], y, W); break;
                default: solve_block(nodes.dof(b.node), inverse_of, j, dim_[g], y, W);
            }
        }
    }
}

void DelassusRows::solve_coupled(const BlockRows& J, const Nodes& nodes, const MassInverse& inverse) {
    const int nv = nodes.nv();
    right_.resize(nv);
    solved_.resize(nv);
    for (int g = 0; g < J.groups(); ++g) {
        const int dim = dim_[g], offset = columns_[first_[g]].offset;
        double* const W = W_.data() + W_first_[g];
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
                    for (int k = 0; k < d; ++k) W[s + r * dim] += J.values[b.offset + s * d + k] * y[nodes.start[b.node] + k];
            }
        }
    }
}

void DelassusRows::push(int g, const double* impulse, double* v) const {
    for (int e = first_[g]; e < first_[g + 1]; ++e) {
        const Column& column = columns_[e];
        const double* y = values_.data() + column.offset;
        double* to = v + column.start;
        if (column.dof == 6) {
            push_block<6>(y, impulse, dim_[g], to);
        } else if (column.dof == 3) {
            push_block<3>(y, impulse, dim_[g], to);
        } else {
            for (int r = 0; r < dim_[g]; ++r, y += column.dof)
                for (int k = 0; k < column.dof; ++k) to[k] += y[k] * impulse[r];
        }
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
