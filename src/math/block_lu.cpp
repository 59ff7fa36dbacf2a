#include "math/block_lu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/parallel.hpp"
#include "math/block_kernels.hpp"
#include "math/dense_lu.hpp"
#include "math/solve_kernels.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr int large_product = 1000;  // multiplications from which Eigen's packed kernel beats plain loops

// Time of a multiplication in a column of blocks over one in the dense tail, and what a tail costs at least, in its
// multiplications. With 1 instead of 2 the factors of a pile of 1000 spheres take a quarter longer, with 3 a tenth; walls of
// 100 boxes and piles of 250 do not notice. A complete graph, R^3 / 3 multiplications, is a tail from 60 rows on.
constexpr double block_cost = 2;
constexpr double tail_cost = 7e4;
// Products of 6 x 6 blocks behind a run below which all are one part: some tens of microseconds.
constexpr int least_products = 1500;
constexpr std::ptrdiff_t pair_of_blocks = 72;  // numbers from one L_ik of 6 x 6 to the next: U_ki lies between

// Kernels on column-major blocks, once with the size known to the compiler (N > 0) and once not (N = 0); those of 6 x 6
// blocks are in block_kernels.hpp.

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

// c -= a b, with a m x k and b k x n; c has `stride` numbers per column
template <int N>
void subtract_product(const double* a, const double* b, double* c, std::ptrdiff_t stride, int rows, int inner,
                      int columns) {
    const int m = N > 0 ? N : rows, q = N > 0 ? N : inner, n = N > 0 ? N : columns;
    for (int j = 0; j < n; ++j) {
        double* cj = c + j * stride;
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

void product_any(const double* a, const double* b, double* c, std::ptrdiff_t stride, int m, int k, int n) {
    if (m == 6 && k == 6 && n == 6) return subtract_product<6>(a, b, c, stride, m, k, n);
    if (m == 3 && k == 3 && n == 3) return subtract_product<3>(a, b, c, stride, m, k, n);
    if (m * n * k < large_product) return subtract_product<0>(a, b, c, stride, m, k, n);
    using Block = Eigen::Map<MatX, 0, Eigen::OuterStride<>>;
    Block(c, m, n, Eigen::OuterStride<>(stride)).noalias() -=
        Eigen::Map<const MatX>(a, m, k) * Eigen::Map<const MatX>(b, k, n);
}

void times_any(const double* a, const double* x, double* y, int m, int n) {
    if (m == 6 && n == 6) return kernels::subtract_times_66(a, x, y);
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
    std::fill(given_.begin(), given_.end(), 0.0);
}

void BlockLu::order() {
    const int n = nodes_.size();
    graph_.start.assign(static_cast<std::size_t>(n) + 1, 0);
    for (const Edge& e : edges_) {
        SS_ASSERT(e.a >= 0 && e.a < e.b && e.b < n, "an edge joins two nodes, the lower first");
        ++graph_.start[e.a + 1];
        ++graph_.start[e.b + 1];
    }
    for (int i = 0; i < n; ++i) graph_.start[i + 1] += graph_.start[i];
    graph_.adjacent.resize(2 * edges_.size());
    mark_.assign(graph_.start.begin(), graph_.start.end() - 1);
    for (const Edge& e : edges_) {
        graph_.adjacent[mark_[e.a]++] = e.b;
        graph_.adjacent[mark_[e.b]++] = e.a;
    }
    ordering_.minimum_degree(graph_, elimination_);
    turn_.resize(static_cast<std::size_t>(n));
    for (int k = 0; k < n; ++k) turn_[elimination_[k]] = k;
    fill_columns();
    choose_tail();
    split();
}

// Rows of column k: its own later neighbours and the rows of its children in the elimination tree.
void BlockLu::fill_columns() {
    const int n = nodes_.size();
    child_.assign(static_cast<std::size_t>(n), -1);
    sibling_.assign(static_cast<std::size_t>(n), -1);
    mark_.assign(static_cast<std::size_t>(n), -1);
    column_.assign(1, 0);
    row_.clear();
    for (int k = 0; k < n; ++k) {
        const std::size_t begin = row_.size();
        mark_[k] = k;
        const auto add = [&](int later) {
            if (later < k || mark_[later] == k) return;
            mark_[later] = k;
            row_.push_back(later);
        };
        const int node = elimination_[k];
        for (int i = graph_.start[node]; i < graph_.start[node + 1]; ++i) add(turn_[graph_.adjacent[i]]);
        for (int c = child_[k]; c >= 0; c = sibling_[c])
            for (int e = column_[c]; e < column_[c + 1]; ++e) add(row_[e]);
        std::sort(row_.begin() + static_cast<std::ptrdiff_t>(begin), row_.end());
        column_.push_back(static_cast<int>(row_.size()));
        if (begin == row_.size()) continue;
        sibling_[k] = child_[row_[begin]];
        child_[row_[begin]] = k;
    }
}

double BlockLu::column_work(int k) const {
    const double d = nodes_.dof(elimination_[k]);
    double rows = 0;
    for (int e = column_[k]; e < column_[k + 1]; ++e) rows += nodes_.dof(elimination_[row_[e]]);
    return d * d * d / 3 + d * d * rows + d * rows * rows;
}

// Where the columns end and the dense tail begins: where both together take least time.
void BlockLu::choose_tail() {
    const int n = nodes_.size();
    double rows = 0, saved = 0, best = 0;  // of the columns from k on, as columns
    tail_first_ = n;
    for (int k = n - 1; k >= 0; --k) {
        const int d = nodes_.dof(elimination_[k]);
        rows += d;
        saved += column_work(k) * block_cost;
        const double gain = saved - rows * rows * rows / 3 - tail_cost;
        if (gain <= best) continue;
        best = gain;
        tail_first_ = k;
    }
    for (int k = tail_first_; k < n; ++k) column_[k + 1] = column_[tail_first_];
    row_.resize(static_cast<std::size_t>(column_[tail_first_]));
}

void BlockLu::place() {
    const int n = nodes_.size();
    given_diagonal_.resize(static_cast<std::size_t>(n));
    given_edge_.resize(edges_.size());
    int given = 0;
    for (int i = 0; i < n; ++i) {
        given_diagonal_[i] = given;
        given += nodes_.dof(i) * nodes_.dof(i);
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        given_edge_[e] = given;
        given += 2 * nodes_.dof(edges_[e].a) * nodes_.dof(edges_[e].b);
    }
    given_.resize(static_cast<std::size_t>(given));

    diagonal_.resize(static_cast<std::size_t>(n));
    lower_.resize(row_.size());
    upper_.resize(row_.size());
    int offset = 0;
    for (int k = 0; k < tail_first_; ++k) {
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
    sixes_.assign(static_cast<std::size_t>(n), 0);
    for (int k = 0; k < tail_first_; ++k) {
        const auto six = [&](int turn) { return nodes_.dof(elimination_[turn]) == 6; };
        sixes_[k] = six(k) && std::all_of(row_.begin() + column_[k], row_.begin() + column_[k + 1], six);
    }
    // Runs: columns one after the other in the tree with the same rows behind, all blocks 6 x 6.
    run_end_.resize(static_cast<std::size_t>(n));
    for (int k = tail_first_ - 1; k >= 0; --k) {
        const bool joins = k + 1 < tail_first_ && k + 1 != top_first_ && sixes_[k] != 0 && sixes_[k + 1] != 0 &&
                           column_[k] < column_[k + 1] && row_[column_[k]] == k + 1 &&
                           column_[k + 1] - column_[k] == column_[k + 2] - column_[k + 1] + 1;
        run_end_[k] = joins ? run_end_[k + 1] : k + 1;
    }
    tail_ = offset;
    tail_rows_ = 0;
    tail_row_.clear();
    for (int k = tail_first_; k < n; ++k) {
        tail_row_.push_back(tail_rows_);
        tail_rows_ += nodes_.dof(elimination_[k]);
    }
    values_.resize(static_cast<std::size_t>(tail_ + static_cast<std::ptrdiff_t>(tail_rows_) * tail_rows_));
    pivots_.resize(static_cast<std::size_t>(nodes_.nv()));
    tail_pivot_.resize(static_cast<std::size_t>(tail_rows_));
    tail_x_.resize(static_cast<std::size_t>(max_columns * tail_rows_));
    run_.assign(static_cast<std::size_t>(n), nullptr);
    for (int k = 0; k < tail_first_; ++k) {
        const int behind = column_[k] + run_end_[k] - 1 - k;
        if (sixes_[k] && behind < column_[k + 1]) run_[k] = values_.data() + lower_[behind];
    }
}

int BlockLu::find(int early, int late) const {
    const auto begin = row_.begin() + column_[early], end = row_.begin() + column_[early + 1];
    const auto found = std::lower_bound(begin, end, late);
    SS_ASSERT(found != end && *found == late, "pair of nodes outside the analysed pattern");
    return static_cast<int>(found - row_.begin());
}

BlockLu::Pair BlockLu::pair(int a, int b) {
    const Edge wanted{std::min(a, b), std::max(a, b)};
    const auto found = std::lower_bound(edges_.begin(), edges_.end(), wanted);
    SS_ASSERT(found != edges_.end() && *found == wanted, "pair of nodes outside the analysed pattern");
    double* first = given_.data() + given_edge_[found - edges_.begin()];
    double* second = first + nodes_.dof(a) * nodes_.dof(b);
    return a < b ? Pair{first, second} : Pair{second, first};
}

bool BlockLu::factor(const BlockMatrix& A) {
    pattern_.clear();
    for (const BlockMatrix::Coupling& c : A.couplings)
        if (c.row_node != c.column_node)
            pattern_.push_back({std::min(c.row_node, c.column_node), std::max(c.row_node, c.column_node)});
    analyse(A.nodes, pattern_);
    const auto add = [&](int from, int count, double* to) {
        for (int i = 0; i < count; ++i) to[i] += A.values[from + i];
    };
    for (int n = 0; n < A.nodes.size(); ++n) add(A.diagonal[n], A.nodes.dof(n) * A.nodes.dof(n), diagonal(n));
    for (const BlockMatrix::Coupling& c : A.couplings) {
        double* to = c.row_node == c.column_node ? diagonal(c.row_node) : pair(c.row_node, c.column_node).ab;
        add(c.offset, A.nodes.dof(c.row_node) * A.nodes.dof(c.column_node), to);
    }
    return factor();
}

void BlockLu::scatter() {
    std::fill(values_.begin(), values_.end(), 0.0);
    const auto put = [&](const double* from, int row_turn, int column_turn, double* to, std::ptrdiff_t stride) {
        const int m = nodes_.dof(elimination_[row_turn]), n = nodes_.dof(elimination_[column_turn]);
        for (int j = 0; j < n; ++j) std::copy_n(from + j * m, m, to + j * stride);
    };
    for (int i = 0; i < nodes_.size(); ++i) {
        const int k = turn_[i];
        const bool dense = in_tail(k);
        put(given_.data() + given_diagonal_[i], k, k, dense ? tail_block(k, k) : values_.data() + diagonal_[i],
            dense ? tail_rows_ : nodes_.dof(i));
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const int a = edges_[e].a, b = edges_[e].b, size = nodes_.dof(a) * nodes_.dof(b);
        const double* ab = given_.data() + given_edge_[e];
        const int early = std::min(turn_[a], turn_[b]), late = std::max(turn_[a], turn_[b]);
        // K_(early, late) and K_(late, early)
        const double* up = turn_[a] < turn_[b] ? ab : ab + size;
        const double* low = turn_[a] < turn_[b] ? ab + size : ab;
        if (in_tail(early)) {
            put(up, early, late, tail_block(early, late), tail_rows_);
            put(low, late, early, tail_block(late, early), tail_rows_);
        } else {
            const int at = find(early, late);
            std::copy_n(up, size, values_.data() + upper_[at]);
            std::copy_n(low, size, values_.data() + lower_[at]);
        }
    }
}

bool BlockLu::factor() {
    scatter();
    if (!factor_parts()) return false;
    for (int k = top_first_; k < tail_first_;) {
        const int end = run_end_[k];
        if (!sixes_[k]) {
            if (!factor_column(k)) return false;
            eliminate(k);
        } else {
            if (!factor_run(k, end, true)) return false;
            each_row_behind(k, end, true, [&](int behind) { eliminate_row(k, end, behind); });
        }
        k = end;
    }
    return factor_tail();
}

// D_k = P L U and X_kj = D_k^-1 K_kj.
bool BlockLu::factor_column(int k) {
    const int node = elimination_[k], d = nodes_.dof(node);
    double* const D = values_.data() + diagonal_[node];
    int* const pivot = pivots_.data() + nodes_.start[node];
    if (!factor_dense(D, pivot, d)) return false;
    for (int e = column_[k]; e < column_[k + 1]; ++e)
        solve_columns(D, pivot, values_.data() + upper_[e], d, nodes_.dof(elimination_[row_[e]]));
    return true;
}

// K_ij -= K_ik X_kj for every pair of later neighbours: rows of column j are a superset of the rows of column k after j.
void BlockLu::eliminate(int k) {
    double* const values = values_.data();
    const int d = nodes_.dof(elimination_[k]), end = column_[k + 1];
    const int first_dense = first_in_tail(k);
    for (int e = column_[k]; e < first_dense; ++e) {
        const int j = row_[e], node_j = elimination_[j], dj = nodes_.dof(node_j);
        product_any(values + lower_[e], values + upper_[e], values + diagonal_[node_j], dj, dj, d, dj);
        int target = column_[j];
        for (int f = e + 1; f < end; ++f) {
            const int i = row_[f], di = nodes_.dof(elimination_[i]);
            while (row_[target] != i) ++target;
            product_any(values + lower_[f], values + upper_[e], values + lower_[target], di, di, d, dj);
            product_any(values + lower_[e], values + upper_[f], values + upper_[target], dj, dj, d, di);
        }
    }
    for (int e = first_dense; e < end; ++e)
        for (int f = first_dense; f < end; ++f)
            product_any(values + lower_[f], values + upper_[e], tail_block(row_[f], row_[e]), tail_rows_,
                        nodes_.dof(elimination_[row_[f]]), d, nodes_.dof(elimination_[row_[e]]));
}

// What is computed of the rows behind a run, row by row. They do not meet, so that threads may share them.
template <class Row>
void BlockLu::each_row_behind(int first, int end, bool shared, Row&& row) const {
    const int rows = column_[end] - column_[end - 1], products = rows * rows * (end - first);
    each_in_parallel(rows, shared && products >= least_products ? rows_of_part : rows + 1, row);
}

// D_k and X_kj of a run of columns, all blocks 6 x 6: first of its own rows, then of those behind. The columns c < j of a run have the same
// rows behind them, and K_jj, K_ij and K_ji become what the columns before j leave of them.
bool BlockLu::factor_run(int first, int end, bool shared) {
    double* const values = values_.data();
    const auto entry = [&](int row, int c) { return column_[c] + row - c - 1; };  // of the row-th turn, those behind counted on from end
    const auto pivots = [&](int c) { return pivots_.data() + nodes_.start[elimination_[c]]; };
    const auto diagonal = [&](int c) { return values + diagonal_[elimination_[c]]; };
    const auto take_away = [&](int c, int j, int row) {
        const int from = entry(row, c), by = entry(j, c), to = entry(row, j);
        kernels::subtract_product_66(values + lower_[from], values + upper_[by], values + lower_[to]);
        kernels::subtract_product_66(values + lower_[by], values + upper_[from], values + upper_[to]);
    };
    for (int c = first; c < end; ++c) {
        if (!factor_dense(diagonal(c), pivots(c), 6)) return false;
        kernels::settle_66(diagonal(c), pivots(c));
        for (int j = c + 1; j < end; ++j) kernels::solve_66_columns(diagonal(c), pivots(c), values + upper_[entry(j, c)]);
        for (int j = c + 1; j < end; ++j) {
            kernels::subtract_product_66(values + lower_[entry(j, c)], values + upper_[entry(j, c)], diagonal(j));
            for (int row = j + 1; row < end; ++row) take_away(c, j, row);
        }
    }
    each_row_behind(first, end, shared, [&](int behind) {
        for (int c = first; c < end; ++c) {
            kernels::solve_66_columns(diagonal(c), pivots(c), values + upper_[entry(end + behind, c)]);
            for (int j = c + 1; j < end; ++j) take_away(c, j, end + behind);
        }
    });
    return true;
}

// All columns of a run on one of the rows behind it, at once: each block is read and written once. The blocks of a column lie one
// behind the other, K_ik and X_ki of the same row as a pair. Writes nothing but the column of that row.
void BlockLu::eliminate_row(int first, int end, int behind) {
    constexpr std::ptrdiff_t pair = pair_of_blocks, upper = 36;
    double* const values = values_.data();
    const int begin = column_[end - 1], stop = column_[end], dense = first_in_tail(end - 1), count = end - first;
    const double* const* const run = run_.data() + first;
    const int e = begin + behind;
    const std::ptrdiff_t at_e = pair * behind;
    if (e >= dense) {
        for (int f = dense; f < stop; ++f)
            kernels::subtract_products_66(run, pair * (f - begin), at_e + upper, tail_block(row_[f], row_[e]), count, tail_rows_);
        return;
    }
    kernels::subtract_products_66(run, at_e, at_e + upper, values + diagonal_[elimination_[row_[e]]], count);
    int target = column_[row_[e]];
    for (int f = e + 1; f < stop; ++f) {
        const std::ptrdiff_t at_f = pair * (f - begin);
        while (row_[target] != row_[f]) ++target;
        kernels::subtract_products_66(run, at_f, at_e + upper, values + lower_[target], count);
        kernels::subtract_products_66(run, at_e, at_f + upper, values + upper_[target], count);
    }
}

// The first entry of column k whose row is in the tail.
int BlockLu::first_in_tail(int k) const {
    const auto begin = row_.begin() + column_[k], end = row_.begin() + column_[k + 1];
    return static_cast<int>(std::lower_bound(begin, end, tail_first_) - row_.begin());
}

double BlockLu::work() const {
    double sum = std::pow(tail_rows_, 3) / 3;
    for (int k = 0; k < tail_first_; ++k) sum += column_work(k);
    return sum;
}

// x_k := D_k^-1 x_k, and its part in the rows up to entry `stop`.
void BlockLu::solve_forward(int k, int stop, double* x, int columns) const {
    const std::ptrdiff_t nv = nodes_.nv();
    const int node = elimination_[k], d = nodes_.dof(node);
    const double* const D = values_.data() + diagonal_[node];
    const int* const pivot = pivots_.data() + nodes_.start[node];
    for (double* to = x; to < x + columns * nv; to += nv) {
        double* const xk = to + nodes_.start[node];
        if (sixes_[k]) {
            kernels::solve_66(D, pivot, xk);
        } else {
            solve_dense(D, pivot, xk, d);
        }
    }
    take_forward(k, column_[k], stop, x, columns);
}

// The part of x_k in the rows of its entries from `begin` to `end`.
void BlockLu::take_forward(int k, int begin, int end, double* x, int columns) const {
    if (begin == end) return;
    const std::ptrdiff_t nv = nodes_.nv();
    const int node = elimination_[k], d = nodes_.dof(node);
    for (double* to = x; to < x + columns * nv; to += nv) {
        const double* const xk = to + nodes_.start[node];
        const auto later = [&](int e) { return to + nodes_.start[elimination_[row_[begin + e]]]; };
        if (sixes_[k]) {
            kernels::push_66(values_.data() + lower_[begin], pair_of_blocks, end - begin, xk, later);
            continue;
        }
        for (int e = 0; e < end - begin; ++e)
            times_any(values_.data() + lower_[begin + e], xk, later(e), nodes_.dof(elimination_[row_[begin + e]]), d);
    }
}

void BlockLu::solve_backward(int k, double* x, int columns) const {
    const std::ptrdiff_t nv = nodes_.nv();
    const int node = elimination_[k], d = nodes_.dof(node), begin = column_[k], count = column_[k + 1] - begin;
    if (count == 0) return;
    for (double* to = x; to < x + columns * nv; to += nv) {
        double* const xk = to + nodes_.start[node];
        const auto later = [&](int e) { return to + nodes_.start[elimination_[row_[begin + e]]]; };
        if (sixes_[k]) {
            kernels::pull_66(values_.data() + upper_[begin], pair_of_blocks, count, xk, later);
            continue;
        }
        for (int e = 0; e < count; ++e)
            times_any(values_.data() + upper_[begin + e], later(e), xk, d, nodes_.dof(elimination_[row_[begin + e]]));
    }
}

void BlockLu::solve(double* x, int columns) const {
    each_part([&](int first, int end) {
        for (int k = first; k < end; ++k) solve_forward(k, inner_end_[k], x, columns);
    });
    each_behind_parts([&](int k, int e) { take_forward(k, e, e + 1, x, columns); });
    for (int k = top_first_; k < tail_first_; ++k) solve_forward(k, column_[k + 1], x, columns);
    solve_tail(x, columns);
    for (int k = tail_first_ - 1; k >= top_first_; --k) solve_backward(k, x, columns);
    each_part([&](int first, int end) {
        for (int k = end - 1; k >= first; --k) solve_backward(k, x, columns);
    });
}

}  // namespace stickslip
