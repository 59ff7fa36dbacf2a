#include "math/kkt.hpp"

#include <algorithm>
#include <cmath>

#include "math/block_kernels.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// The primal form is taken for independent-looking rows only when it saves more than this factor: with tiny T it loses
// digits that the refinement must bring back.
constexpr double primal_gain = 3;

// Corrections beyond those asked for, while they still move v by more than this share of it and shrink.
constexpr int extra_corrections = 3;
constexpr double refined = 1e-13;

// In the primal form T is at least this share of the row's own J A^-1 J', so that T = 0 can be taken and light bodies
// (T is then rounding beside 1/m) do not drown in their penalty: four digits are left to the plain solve. Larger: the soft
// directions of long chains of hinges feel it, and one correction no longer repairs them (seen at 1e-9).
constexpr double primal_floor = 1e-12;

}  // namespace

void KktSystem::build_edges(const BlockMatrix& A, const BlockRows& G, Form form) {
    const int bodies = A.nodes.size();
    edges_.clear();
    const auto join = [&](int a, int b) {
        if (a == b) return;
        const BlockLdl::Edge e{std::min(a, b), std::max(a, b)};
        if (edges_.empty() || edges_.back() != e) edges_.push_back(e);
    };
    for (const BlockMatrix::Coupling& c : A.couplings) join(c.row_node, c.column_node);
    for (int g = 0; g < G.groups(); ++g) {
        const auto blocks = G.blocks_of(g);
        for (std::size_t e = 0; e < blocks.size(); ++e) {
            if (form == Form::kkt) join(blocks[e].node, bodies + g);
            for (std::size_t f = e + 1; form == Form::primal && f < blocks.size(); ++f)
                join(blocks[e].node, blocks[f].node);
        }
    }
}

void KktSystem::analyse(const BlockMatrix& A, const BlockRows& G) {
    const int bodies = A.nodes.size();
    form_ = wanted;
    if (wanted == Form::automatic) form_ = G.rows() > A.nodes.nv() ? Form::primal : Form::kkt;
    if (form_ == Form::kkt) {
        all_.start.assign(A.nodes.start.begin(), A.nodes.start.end());
        for (int g = 0; g < G.groups(); ++g) all_.add(G.dim(g));
        signs_.assign(static_cast<std::size_t>(all_.size()), -1);
        std::fill_n(signs_.begin(), bodies, static_cast<signed char>(1));
        build_edges(A, G, Form::kkt);
        const bool changed = kkt_.analyse(all_, signs_, edges_);
        if (wanted == Form::automatic) {
            if (changed || primal_flops_ < 0) {
                build_edges(A, G, Form::primal);
                primal_.analyse(A.nodes, {}, edges_);
                primal_flops_ = primal_.flops();
            }
            if (kkt_.flops() > primal_gain * primal_flops_) form_ = Form::primal;
        } else if (changed) {
            primal_flops_ = -1;  // not known
        }
    }
    if (form_ == Form::primal) {
        build_edges(A, G, Form::primal);
        primal_.analyse(A.nodes, {}, edges_);
    }
    find_places(A, G);
}

// In the order in which fill() walks.
void KktSystem::find_places(const BlockMatrix& A, const BlockRows& G) {
    BlockLdl& K = chosen();
    coupling_place_.clear();
    for (const BlockMatrix::Coupling& c : A.couplings) {
        const int a = std::min(c.row_node, c.column_node), b = std::max(c.row_node, c.column_node);
        coupling_place_.push_back(a == b ? K.diagonal(a) : K.block(b, a));
    }
    place_.clear();
    int a_before = -1, b_before = -1;
    double* last = nullptr;
    for (int g = 0; g < G.groups(); ++g) {
        for (const BlockRows::Block& e : G.blocks_of(g)) {
            if (form_ == Form::kkt) {
                place_.push_back(K.block(A.nodes.size() + g, e.node));
                continue;
            }
            for (const BlockRows::Block& f : G.blocks_of(g)) {
                if (e.node < f.node) continue;
                if (e.node == f.node) {
                    place_.push_back(K.diagonal(e.node));
                    continue;
                }
                // consecutive contacts mostly share their pair of bodies
                if (f.node != a_before || e.node != b_before) last = K.block(e.node, f.node);
                place_.push_back(last);
                a_before = f.node;
                b_before = e.node;
            }
        }
    }
}

void KktSystem::fill(const BlockMatrix& A, const BlockRows& G, const ConstRef& T, std::span<const char> active) {
    SS_ASSERT(T.size() == G.rows(), "one T per row");
    BlockLdl& K = chosen();
    K.set_zero();
    for (int n = 0; n < A.nodes.size(); ++n) {
        const int d = A.nodes.dof(n);
        const double* a = A.values.data() + A.diagonal[n];
        double* to = K.diagonal(n);
        for (int j = 0; j < d; ++j)
            for (int i = j; i < d; ++i) to[i + j * d] = 0.5 * (a[i + j * d] + a[j + i * d]);
    }
    for (std::size_t c = 0; c < A.couplings.size(); ++c) {
        const BlockMatrix::Coupling& coupling = A.couplings[c];
        const int m = A.nodes.dof(coupling.row_node), n = A.nodes.dof(coupling.column_node);
        const double* a = A.values.data() + coupling.offset;
        double* to = coupling_place_[c];
        const bool transposed = coupling.row_node < coupling.column_node,
                   square = coupling.row_node == coupling.column_node;
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
                if (!transposed) to[i + j * m] += 0.5 * a[i + j * m];
                if (transposed || square) to[j + i * n] += 0.5 * a[i + j * m];
            }
        }
    }

    inverse_T_.resize(static_cast<std::size_t>(G.rows()));
    inverse_diagonal_.resize(static_cast<std::size_t>(A.nodes.nv()));
    for (int n = 0; form_ == Form::primal && n < A.nodes.size(); ++n) {
        const int d = A.nodes.dof(n);
        const double* a = A.values.data() + A.diagonal[n];
        for (int k = 0; k < d; ++k) inverse_diagonal_[A.nodes.start[n] + k] = 1 / a[k * (d + 1)];
    }
    double* const* place = place_.data();
    for (int g = 0; g < G.groups(); ++g) {
        const int first = G.row[g], dim = G.dim(g);
        const auto blocks = G.blocks_of(g);
        const auto on = [&](int r) { return active.empty() || active[first + r]; };
        if (form_ == Form::kkt) {
            double* diagonal = K.diagonal(A.nodes.size() + g);
            for (int r = 0; r < dim; ++r) diagonal[r * (dim + 1)] = on(r) ? -T[first + r] : -1.0;
            for (const BlockRows::Block& e : blocks) {
                const int d = A.nodes.dof(e.node);
                const double* J = G.values.data() + e.offset;
                double* to = *place++;
                for (int r = 0; r < dim; ++r)
                    for (int k = 0; k < d && on(r); ++k) to[r + k * dim] += J[r * d + k];
            }
            for (int r = 0; r < dim; ++r) inverse_T_[first + r] = on(r) ? 1.0 : 0.0;
            continue;
        }
        bool any = false;
        for (int r = 0; r < dim; ++r) {
            double own = 0;
            for (const BlockRows::Block& e : blocks) {
                const int d = A.nodes.dof(e.node);
                const double* J = G.values.data() + e.offset + r * d;
                for (int k = 0; k < d; ++k) own += J[k] * J[k] * inverse_diagonal_[A.nodes.start[e.node] + k];
            }
            const double t = std::max(T[first + r], primal_floor * own);
            inverse_T_[first + r] = on(r) && t > 0 ? 1 / t : 0.0;  // a row of zeros does nothing
            any = any || on(r);
        }
        for (const BlockRows::Block& e : blocks) {
            for (const BlockRows::Block& f : blocks) {
                if (e.node < f.node) continue;
                double* to = *place++;
                if (!any) continue;
                const int n = A.nodes.dof(f.node);
                const double* J = G.values.data() + f.offset;
                product_.resize(std::max(product_.size(), static_cast<std::size_t>(dim * n)));
                // rows of J are columns of J': K += J_e' T^-1 J_f is an update by -T^-1
                for (int r = 0; r < dim; ++r)
                    for (int k = 0; k < n; ++k) product_[r * n + k] = -inverse_T_[first + r] * J[r * n + k];
                kernels::update_any(G.values.data() + e.offset, product_.data(), to, A.nodes.dof(e.node), n, dim);
            }
        }
    }
}

KktSystem::Status KktSystem::read(const BlockLdl::Status& status, const BlockMatrix& A) const {
    if (status.ok) return {};
    return status.node < A.nodes.size() ? Status{false, status.node, -1}
                                        : Status{false, -1, status.node - A.nodes.size()};
}

KktSystem::Status KktSystem::factor(const BlockMatrix& A, const BlockRows& G, const ConstRef& T,
                                    std::span<const char> active) {
    fill(A, G, T, active);
    return read(chosen().factor(), A);
}

KktSystem::Status KktSystem::refactor(const BlockMatrix& A, const BlockRows& G, const ConstRef& T,
                                      std::span<const char> active, std::span<const int> changed_groups) {
    fill(A, G, T, active);
    BlockLdl& K = chosen();
    for (const int g : changed_groups) {
        if (form_ == Form::kkt) K.touch(A.nodes.size() + g);
        const auto blocks = G.blocks_of(g);
        for (const BlockRows::Block& e : blocks) {
            if (form_ == Form::kkt)
                K.touch(A.nodes.size() + g, e.node);
            else
                K.touch(e.node);  // and with it every pair: the block of a pair lies in the column of one of the two
        }
    }
    return read(K.refactor(), A);
}

double KktSystem::solve(const BlockMatrix& A, const BlockRows& G, const ConstRef& T, const ConstRef& r,
                        const ConstRef& b, Eigen::Ref<VecX> v, Eigen::Ref<VecX> lambda, int refinements) {
    const int nv = A.nodes.nv(), m = G.rows();
    double change = 0, before = 0, largest = 0;
    w_.resize(m);
    u_.resize(m);
    for (int k = 0; k <= refinements + extra_corrections; ++k) {
        if (k > refinements && !(change > refined * largest && change < 0.5 * before)) break;
        // the full residual: f = r - A v + G' lambda, w = b - G v - T lambda
        x_.resize(form_ == Form::kkt ? nv + m : nv);
        auto f = x_.head(nv);
        f = r;
        A.add_product(-1, v, f);
        G.add_transpose_product(A.nodes, lambda, f);
        G.product(A.nodes, v, w_);
        for (int i = 0; i < m; ++i) w_[i] = inverse_T_[i] == 0 ? 0.0 : b[i] - w_[i] - T[i] * lambda[i];
        if (form_ == Form::kkt) {
            x_.tail(m) = w_.vec();
            kkt_.solve(x_.data());
            for (int i = 0; i < m; ++i) lambda[i] -= x_[nv + i];
        } else {
            for (int i = 0; i < m; ++i) u_[i] = inverse_T_[i] * w_[i];
            G.add_transpose_product(A.nodes, u_, f);
            primal_.solve(x_.data());
            G.product(A.nodes, f, u_);
            for (int i = 0; i < m; ++i) lambda[i] += inverse_T_[i] * (w_[i] - u_[i]);
        }
        before = change;
        change = largest = 0;
        for (int i = 0; i < nv; ++i) {
            v[i] += x_[i];
            largest = std::max(largest, std::abs(v[i]));
            const double size = std::abs(x_[i]);
            change = size > change || std::isnan(size) ? size : change;
        }
    }
    return change;
}

}  // namespace stickslip
