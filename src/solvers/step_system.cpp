#include "solvers/step_system.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

// K_ef += J_e' T with J_e dim x m and T dim x n, both row-major; K column-major m x n.
template <int Dim, int M, int N>
void add_block(const double* J, const double* T, double* K, int dim_any, int m_any, int n_any) {
    const int dim = Dim > 0 ? Dim : dim_any, m = M > 0 ? M : m_any, n = N > 0 ? N : n_any;
    for (int j = 0; j < n; ++j) {
        double* k = K + j * m;
        for (int r = 0; r < dim; ++r) {
            const double s = T[r * n + j];
            const double* row = J + r * m;
            for (int i = 0; i < m; ++i) k[i] += row[i] * s;
        }
    }
}

void add_any(const double* J, const double* T, double* K, int dim, int m, int n) {
    if (dim == 3 && m == 6 && n == 6) return add_block<3, 6, 6>(J, T, K, dim, m, n);
    if (dim == 2 && m == 3 && n == 3) return add_block<2, 3, 3>(J, T, K, dim, m, n);
    add_block<0, 0, 0>(J, T, K, dim, m, n);
}

void add_edges(const BlockRows& rows, std::vector<BlockLu::Edge>& edges) {
    for (int g = 0; g < rows.groups(); ++g) {
        const auto blocks = rows.blocks_of(g);
        for (std::size_t e = 0; e < blocks.size(); ++e) {
            for (std::size_t f = e + 1; f < blocks.size(); ++f) {
                const int a = std::min(blocks[e].node, blocks[f].node), b = std::max(blocks[e].node, blocks[f].node);
                if (a == b || (!edges.empty() && edges.back() == BlockLu::Edge{a, b})) continue;
                edges.push_back({a, b});
            }
        }
    }
}

// Finds the block (a, b) of K; consecutive contacts mostly share their pair of nodes.
struct PairCache {
    BlockLu& lu;
    int a = -1, b = -1;
    BlockLu::Pair found{nullptr, nullptr};

    double* operator()(int row_node, int column_node) {
        if (row_node == column_node) return lu.diagonal(row_node);
        if (row_node == a && column_node == b) return found.ab;
        if (row_node == b && column_node == a) return found.ba;
        a = row_node;
        b = column_node;
        found = lu.pair(a, b);
        return found.ab;
    }
};

}  // namespace

void StepSystem::analyse(const StepProblem& problem) {
    const Nodes& nodes = problem.nodes();
    edges_.clear();
    for (const BlockMatrix::Coupling& c : problem.A.couplings) {
        if (c.row_node != c.column_node)
            edges_.push_back({std::min(c.row_node, c.column_node), std::max(c.row_node, c.column_node)});
    }
    add_edges(problem.joints.jacobian, edges_);
    add_edges(problem.contacts.jacobian, edges_);
    lu_.analyse(nodes, edges_);

    inverse_diagonal_.resize(static_cast<std::size_t>(nodes.nv()));
    for (int n = 0; n < nodes.size(); ++n) {
        const int d = nodes.dof(n);
        const double* a = problem.A.values.data() + problem.A.diagonal[n];
        for (int i = 0; i < d; ++i) inverse_diagonal_[nodes.start[n] + i] = 1 / a[i + i * d];
    }
    free_speed_ = 0;
    for (int k = 0; k < nodes.nv(); ++k)
        free_speed_ = std::max(free_speed_, std::abs(problem.r[k]) * inverse_diagonal_[k]);
    const auto row_scale = [&](const BlockRows& rows, int g, int i) {
        double sum = 0;
        for (const BlockRows::Block& b : rows.blocks_of(g)) {
            const int d = nodes.dof(b.node);
            const double* j = rows.values.data() + b.offset + (i - rows.row[g]) * d;
            const double* m = inverse_diagonal_.data() + nodes.start[b.node];
            for (int k = 0; k < d; ++k) sum += j[k] * j[k] * m[k];
        }
        return sum;
    };
    const BlockRows& G = problem.joints.jacobian;
    joint_scale_.resize(static_cast<std::size_t>(G.rows()));
    for (int g = 0; g < G.groups(); ++g) {
        for (int i = G.row[g]; i < G.row[g + 1]; ++i) {
            const double w = row_scale(G, g, i) + problem.T[i];
            joint_scale_[i] = w > 0 ? w : 1;
        }
    }
    const BlockRows& H = problem.contacts.jacobian;
    contact_scale_.resize(static_cast<std::size_t>(H.groups()));
    for (int g = 0; g < H.groups(); ++g) {
        double w = 0;
        for (int i = H.row[g]; i < H.row[g + 1]; ++i) w += row_scale(H, g, i);
        w /= H.dim(g);
        contact_scale_[g] = w > 0 ? w : 1;
    }
}

bool StepSystem::factor(const StepProblem& problem, const std::vector<double>& joint_B,
                        const std::vector<double>& contact_B) {
    const Nodes& nodes = problem.nodes();
    lu_.analyse(nodes, edges_);
    PairCache K{lu_};

    for (int n = 0; n < nodes.size(); ++n) {
        const double* a = problem.A.values.data() + problem.A.diagonal[n];
        double* to = lu_.diagonal(n);
        for (int i = 0, size = nodes.dof(n) * nodes.dof(n); i < size; ++i) to[i] += a[i];
    }
    for (const BlockMatrix::Coupling& c : problem.A.couplings) {
        const double* a = problem.A.values.data() + c.offset;
        double* to = K(c.row_node, c.column_node);
        for (int i = 0, size = nodes.dof(c.row_node) * nodes.dof(c.column_node); i < size; ++i) to[i] += a[i];
    }

    const auto add_group = [&](const BlockRows& rows, int g, auto&& times_B) {
        const int dim = rows.dim(g);
        for (const BlockRows::Block& f : rows.blocks_of(g)) {
            const int n = nodes.dof(f.node);
            product_.resize(std::max(product_.size(), static_cast<std::size_t>(dim * n)));
            times_B(rows.values.data() + f.offset, n, product_.data());
            for (const BlockRows::Block& e : rows.blocks_of(g))
                add_any(rows.values.data() + e.offset, product_.data(), K(e.node, f.node), dim, nodes.dof(e.node), n);
        }
    };
    const BlockRows& G = problem.joints.jacobian;
    for (int g = 0; g < G.groups(); ++g) {
        const int dim = G.dim(g);
        const double* B = joint_B.data() + G.row[g];
        if (std::all_of(B, B + dim, [](double x) { return x == 0; })) continue;
        add_group(G, g, [&](const double* J, int n, double* T) {
            for (int r = 0; r < dim; ++r)
                for (int j = 0; j < n; ++j) T[r * n + j] = B[r] * J[r * n + j];
        });
    }
    const BlockRows& H = problem.contacts.jacobian;
    for (int g = 0; g < H.groups(); ++g) {
        const int dim = H.dim(g);
        const double* B = contact_B.data() + block * g;
        if (std::all_of(B, B + dim * dim, [](double x) { return x == 0; })) continue;
        add_group(H, g, [&](const double* J, int n, double* T) {
            for (int r = 0; r < dim; ++r) {
                for (int j = 0; j < n; ++j) T[r * n + j] = 0;
                for (int s = 0; s < dim; ++s) {
                    const double b = B[r + s * dim];
                    if (b == 0) continue;
                    for (int j = 0; j < n; ++j) T[r * n + j] += b * J[s * n + j];
                }
            }
        });
    }
    return lu_.factor();
}

}  // namespace stickslip
