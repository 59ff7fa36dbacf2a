#include "solvers/step_system.hpp"

#include <algorithm>
#include <cmath>

#include "math/block_kernels.hpp"
#include "math/row_kernels.hpp"

namespace stickslip {

namespace {

// T = -B J of one block of a contact, both row-major dim x n; B column-major dim x dim.
template <int Dim, int N>
void minus_times(const double* B, const double* J, double* T, int dim_any, int n_any) {
    const int dim = Dim > 0 ? Dim : dim_any, n = N > 0 ? N : n_any;
    for (int r = 0; r < dim; ++r) {
        double* const t = T + r * n;
        for (int j = 0; j < n; ++j) t[j] = -B[r] * J[j];
        for (int s = 1; s < dim; ++s) {
            const double b = B[r + s * dim];
            for (int j = 0; j < n; ++j) t[j] -= b * J[s * n + j];
        }
    }
}

void minus_times_any(const double* B, const double* J, double* T, int dim, int n) {
    if (dim == 3 && n == 6) return kernels::minus_times_36(B, J, T);
    if (dim == 2 && n == 3) return minus_times<2, 3>(B, J, T, dim, n);
    minus_times<0, 0>(B, J, T, dim, n);
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

bool all_zero(const double* x, int count) {
    return std::all_of(x, x + count, [](double b) { return b == 0; });
}

// The end of the contacts from g on that add_manifold takes at once; g if it does not take this one.
int manifold_end(const Nodes& nodes, const BlockRows& H, int g) {
    const auto blocks = H.blocks_of(g);
    const auto six = [&](const BlockRows::Block& b) { return nodes.dof(b.node) == 6; };
    if (H.dim(g) != 3 || !std::all_of(blocks.begin(), blocks.end(), six)) return g;
    const auto same_node = [](const BlockRows::Block& x, const BlockRows::Block& y) { return x.node == y.node; };
    int end = g + 1;
    for (; end < H.groups() && H.dim(end) == 3; ++end) {
        const auto next = H.blocks_of(end);
        if (!std::equal(blocks.begin(), blocks.end(), next.begin(), next.end(), same_node)) break;
    }
    return end;
}

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

// Contacts g .. end - 1 of three rows on the same bodies of six velocities, all into the same blocks of K: each is read and
// written once.
void StepSystem::add_manifold(const BlockRows& H, int g, int end, const std::vector<double>& contact_B) {
    constexpr int size = 18;  // of a block of three rows
    const auto blocks = H.blocks_of(g);
    const int bodies = static_cast<int>(blocks.size());
    const std::size_t most = static_cast<std::size_t>((end - g) * bodies);
    product_.resize(std::max(product_.size(), size * most));
    manifold_.resize(std::max(manifold_.size(), most));
    int count = 0;
    for (int i = g; i < end; ++i) {
        const double* B = contact_B.data() + block * i;
        if (all_zero(B, 9)) continue;
        for (int e = 0; e < bodies; ++e) {
            const double* J = H.values.data() + H.blocks_of(i)[e].offset;
            manifold_[e * (end - g) + count] = J;
            kernels::minus_times_36(B, J, product_.data() + size * (count * bodies + e));
        }
        ++count;
    }
    PairCache K{lu_};
    for (int f = 0; f < bodies; ++f)
        for (int e = 0; e < bodies; ++e)
            kernels::update_63_run(manifold_.data() + e * (end - g), product_.data() + size * f, size * bodies,
                                   K(blocks[e].node, blocks[f].node), count);
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

    // K_ef -= J_e' T with T = -B J_f; a row-major J is J' by columns, which is what the kernels take.
    const auto add_group = [&](const BlockRows& rows, int g, auto&& minus_times_B) {
        const int dim = rows.dim(g);
        for (const BlockRows::Block& f : rows.blocks_of(g)) {
            const int n = nodes.dof(f.node);
            product_.resize(std::max(product_.size(), static_cast<std::size_t>(dim * n)));
            minus_times_B(rows.values.data() + f.offset, n, product_.data());
            for (const BlockRows::Block& e : rows.blocks_of(g))
                kernels::update_any(rows.values.data() + e.offset, product_.data(), K(e.node, f.node),
                                    nodes.dof(e.node), n, dim);
        }
    };
    const BlockRows& G = problem.joints.jacobian;
    for (int g = 0; g < G.groups(); ++g) {
        const int dim = G.dim(g);
        const double* B = joint_B.data() + G.row[g];
        if (all_zero(B, dim)) continue;
        add_group(G, g, [&](const double* J, int n, double* T) {
            for (int r = 0; r < dim; ++r)
                for (int j = 0; j < n; ++j) T[r * n + j] = -B[r] * J[r * n + j];
        });
    }
    const BlockRows& H = problem.contacts.jacobian;
    for (int g = 0; g < H.groups(); ++g) {
        const int dim = H.dim(g);
        const double* B = contact_B.data() + block * g;
        const int end = manifold_end(nodes, H, g);
        if (end > g) {
            add_manifold(H, g, end, contact_B);
            g = end - 1;
            continue;
        }
        if (all_zero(B, dim * dim)) continue;
        add_group(H, g, [&](const double* J, int n, double* T) { minus_times_any(B, J, T, dim, n); });
    }
    return lu_.factor();
}

}  // namespace stickslip
