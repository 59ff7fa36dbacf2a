#include "math/block_lu.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "math/dense_lu.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// Kernels on column-major blocks, once with the size known to the compiler (N > 0) and once not (N = 0).

// Solves for all columns of an N x N block at once: rows of the transposed copy are contiguous over columns.
template <int N>
void solve_square(const double* a, const int* pivot, double* x) {
    double t[N][N];  // t[i] is row i
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) t[i][j] = x[i + j * N];
    for (int k = 0; k < N; ++k)
        if (pivot[k] != k)
            for (int j = 0; j < N; ++j) std::swap(t[k][j], t[pivot[k]][j]);
    for (int k = 0; k < N; ++k)
        for (int i = k + 1; i < N; ++i)
            for (int j = 0; j < N; ++j) t[i][j] -= a[i + k * N] * t[k][j];
    for (int k = N - 1; k >= 0; --k) {
        for (int j = 0; j < N; ++j) t[k][j] *= a[k + k * N];
        for (int i = 0; i < k; ++i)
            for (int j = 0; j < N; ++j) t[i][j] -= a[i + k * N] * t[k][j];
    }
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < N; ++i) x[i + j * N] = t[i][j];
}

// c -= a b, with a m x k and b k x n
template <int N>
void subtract_product(const double* a, const double* b, double* c, int rows, int inner, int columns) {
    const int m = N > 0 ? N : rows, q = N > 0 ? N : inner, n = N > 0 ? N : columns;
    for (int j = 0; j < n; ++j) {
        double* cj = c + j * m;
        for (int k = 0; k < q; ++k) {
            const double s = b[k + j * q];
            const double* ak = a + k * m;
            for (int i = 0; i < m; ++i) cj[i] -= ak[i] * s;
        }
    }
}

// y -= a x, with a m x n
template <int N>
void subtract_times(const double* a, const double* x, double* y, int rows, int columns) {
    const int m = N > 0 ? N : rows, n = N > 0 ? N : columns;
    for (int j = 0; j < n; ++j) {
        const double s = x[j];
        for (int i = 0; i < m; ++i) y[i] -= a[i + j * m] * s;
    }
}

void solve_columns(const double* a, const int* pivot, double* x, int n, int columns) {
    if (n == 6 && columns == 6) return solve_square<6>(a, pivot, x);
    if (n == 3 && columns == 3) return solve_square<3>(a, pivot, x);
    for (int j = 0; j < columns; ++j) solve_dense(a, pivot, x + j * n, n);
}

void product_any(const double* a, const double* b, double* c, int m, int k, int n) {
    if (m == 6 && k == 6 && n == 6) return subtract_product<6>(a, b, c, m, k, n);
    if (m == 3 && k == 3 && n == 3) return subtract_product<3>(a, b, c, m, k, n);
    subtract_product<0>(a, b, c, m, k, n);
}

void times_any(const double* a, const double* x, double* y, int m, int n) {
    if (m == 6 && n == 6) return subtract_times<6>(a, x, y, m, n);
    if (m == 3 && n == 3) return subtract_times<3>(a, x, y, m, n);
    subtract_times<0>(a, x, y, m, n);
}

}  // namespace

void BlockLu::analyse(const Nodes& nodes, std::vector<Edge>& edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    if (!(nodes == nodes_) || edges != edges_ || turn_.size() != static_cast<std::size_t>(nodes.size())) {
        nodes_.start.assign(nodes.start.begin(), nodes.start.end());
        edges_.assign(edges.begin(), edges.end());
        order();
        place();
    }
    std::fill(values_.begin(), values_.end(), 0.0);
}

// Minimum degree on the explicit elimination graph. The heap holds (degree, node), stale entries are skipped.
void BlockLu::order() {
    const int n = nodes_.size();
    while (static_cast<int>(adjacent_.size()) < n) {
        adjacent_.emplace_back();
        adjacent_.back().reserve(24);  // contacts that come and go then rarely allocate
    }
    for (int i = 0; i < n; ++i) adjacent_[i].clear();
    for (const Edge& e : edges_) {
        adjacent_[e.a].push_back(e.b);
        adjacent_[e.b].push_back(e.a);
    }
    turn_.assign(static_cast<std::size_t>(n), -1);
    degree_.resize(static_cast<std::size_t>(n));
    elimination_.clear();
    column_.assign(1, 0);
    row_.clear();
    heap_.clear();
    const auto push = [&](int node) {
        degree_[node] = static_cast<int>(adjacent_[node].size());
        heap_.emplace_back(degree_[node], node);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    };
    for (int i = 0; i < n; ++i) {
        std::sort(adjacent_[i].begin(), adjacent_[i].end());
        push(i);
    }
    while (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
        const auto [degree, k] = heap_.back();
        heap_.pop_back();
        if (turn_[k] >= 0 || degree != degree_[k]) continue;
        turn_[k] = static_cast<int>(elimination_.size());
        elimination_.push_back(k);
        // Its neighbours become a clique; they are the rows of column k (still as nodes).
        const std::vector<int>& touched = adjacent_[k];
        row_.insert(row_.end(), touched.begin(), touched.end());
        column_.push_back(static_cast<int>(row_.size()));
        for (const int i : touched) {
            merged_.clear();
            std::set_union(adjacent_[i].begin(), adjacent_[i].end(), touched.begin(), touched.end(),
                           std::back_inserter(merged_));
            std::erase_if(merged_, [&](int j) { return j == i || j == k; });
            adjacent_[i].assign(merged_.begin(), merged_.end());
            push(i);
        }
    }
    for (int k = 0; k < n; ++k) {
        const auto begin = row_.begin() + column_[k], end = row_.begin() + column_[k + 1];
        std::transform(begin, end, begin, [&](int node) { return turn_[node]; });
        std::sort(begin, end);
    }
}

void BlockLu::place() {
    const int n = nodes_.size();
    diagonal_.resize(static_cast<std::size_t>(n));
    lower_.resize(row_.size());
    upper_.resize(row_.size());
    int offset = 0;
    for (int k = 0; k < n; ++k) {
        const int d = nodes_.dof(elimination_[k]);
        diagonal_[elimination_[k]] = offset;
        offset += d * d;
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            const int size = d * nodes_.dof(elimination_[row_[e]]);
            lower_[e] = offset;
            upper_[e] = offset + size;
            offset += 2 * size;
        }
    }
    values_.resize(static_cast<std::size_t>(offset));
    pivots_.resize(static_cast<std::size_t>(nodes_.nv()));
}

int BlockLu::find(int early, int late) const {
    const auto begin = row_.begin() + column_[early], end = row_.begin() + column_[early + 1];
    const auto found = std::lower_bound(begin, end, late);
    SS_ASSERT(found != end && *found == late, "pair of nodes outside the analysed pattern");
    return static_cast<int>(found - row_.begin());
}

BlockLu::Pair BlockLu::pair(int a, int b) {
    const bool in_order = turn_[a] < turn_[b];
    const int e = in_order ? find(turn_[a], turn_[b]) : find(turn_[b], turn_[a]);
    double* low = values_.data() + lower_[e];  // K_(late, early)
    double* up = values_.data() + upper_[e];   // K_(early, late)
    return in_order ? Pair{up, low} : Pair{low, up};
}

bool BlockLu::factor() {
    const int n = nodes_.size();
    double* const values = values_.data();
    for (int k = 0; k < n; ++k) {
        const int node = elimination_[k], d = nodes_.dof(node);
        double* const D = values + diagonal_[node];
        int* const pivot = pivots_.data() + nodes_.start[node];
        if (!factor_dense(D, pivot, d)) return false;
        const int begin = column_[k], end = column_[k + 1];
        for (int e = begin; e < end; ++e)
            solve_columns(D, pivot, values + upper_[e], d, nodes_.dof(elimination_[row_[e]]));
        // Every pair of later neighbours: rows of column j are a superset of the rows of column k after j.
        for (int e = begin; e < end; ++e) {
            const int j = row_[e], node_j = elimination_[j], dj = nodes_.dof(node_j);
            product_any(values + lower_[e], values + upper_[e], values + diagonal_[node_j], dj, d, dj);
            int target = column_[j];
            for (int f = e + 1; f < end; ++f) {
                const int i = row_[f], di = nodes_.dof(elimination_[i]);
                while (row_[target] != i) ++target;
                product_any(values + lower_[f], values + upper_[e], values + lower_[target], di, d, dj);
                product_any(values + lower_[e], values + upper_[f], values + upper_[target], dj, d, di);
            }
        }
    }
    return true;
}

void BlockLu::solve(double* x) const {
    const int n = nodes_.size();
    const double* const values = values_.data();
    for (int k = 0; k < n; ++k) {
        const int node = elimination_[k], d = nodes_.dof(node);
        double* const xk = x + nodes_.start[node];
        solve_dense(values + diagonal_[node], pivots_.data() + nodes_.start[node], xk, d);
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            const int later = elimination_[row_[e]];
            times_any(values + lower_[e], xk, x + nodes_.start[later], nodes_.dof(later), d);
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        const int node = elimination_[k], d = nodes_.dof(node);
        double* const xk = x + nodes_.start[node];
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            const int later = elimination_[row_[e]];
            times_any(values + upper_[e], x + nodes_.start[later], xk, d, nodes_.dof(later));
        }
    }
}

}  // namespace stickslip
