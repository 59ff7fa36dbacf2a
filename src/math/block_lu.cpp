#include "math/block_lu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

#include "base/parallel.hpp"
#include "math/dense_lu.hpp"
#include "math/work_mat.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr int large_product = 1000;  // multiplications from which Eigen's packed kernel beats plain loops

// The rest is taken as dense when the node of least degree sees this share of it, and it has so many rows. Earlier: zeros
// are multiplied; later: small blocks where large ones run faster.
constexpr double dense_share = 0.75;
constexpr int least_tail = 60;
constexpr int panel = 32;            // columns
constexpr int strip = 96;            // columns updated as one part
constexpr int least_parallel = 400;  // rows: below, starting threads costs more than they save

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
    std::fill(given_.begin(), given_.end(), 0.0);
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
    int rows_left = nodes_.nv();
    tail_first_ = n;
    while (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
        const auto [degree, k] = heap_.back();
        heap_.pop_back();
        if (turn_[k] >= 0 || degree != degree_[k]) continue;
        const int left = n - static_cast<int>(elimination_.size());
        if (rows_left >= least_tail && degree >= dense_share * (left - 1)) {
            tail_first_ = n - left;
            for (int i = 0; i < n; ++i) {
                if (turn_[i] >= 0) continue;
                turn_[i] = static_cast<int>(elimination_.size());
                elimination_.push_back(i);
                column_.push_back(static_cast<int>(row_.size()));
            }
            break;
        }
        rows_left -= nodes_.dof(k);
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
    tail_x_.resize(static_cast<std::size_t>(tail_rows_));
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
    double* const values = values_.data();
    for (int k = 0; k < tail_first_; ++k) {
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
            if (in_tail(j)) {
                for (int f = begin; f < end; ++f) {
                    const int i = row_[f];
                    if (in_tail(i))
                        product_any(values + lower_[f], values + upper_[e], tail_block(i, j), tail_rows_,
                                    nodes_.dof(elimination_[i]), d, dj);
                }
                continue;
            }
            product_any(values + lower_[e], values + upper_[e], values + diagonal_[node_j], dj, dj, d, dj);
            int target = column_[j];
            for (int f = e + 1; f < end; ++f) {
                const int i = row_[f], di = nodes_.dof(elimination_[i]);
                while (row_[target] != i) ++target;
                product_any(values + lower_[f], values + upper_[e], values + lower_[target], di, di, d, dj);
                product_any(values + lower_[e], values + upper_[f], values + upper_[target], dj, dj, d, di);
            }
        }
    }
    return factor_tail();
}

// Right-looking LU by panels: rows are exchanged over the whole tail.
bool BlockLu::factor_tail() {
    const int n = tail_rows_;
    double* const a = values_.data() + tail_;
    const auto at = [&](int i, int j) -> double* { return a + i + static_cast<std::ptrdiff_t>(j) * n; };
    for (int start = 0; start < n; start += panel) {
        const int width = std::min(panel, n - start), stop = start + width;
        for (int k = start; k < stop; ++k) {
            int best = k;
            for (int i = k + 1; i < n; ++i)
                if (std::abs(*at(i, k)) > std::abs(*at(best, k))) best = i;
            tail_pivot_[k] = best;
            const double p = *at(best, k);
            if (!(std::abs(p) > 0) || !std::isfinite(p)) return false;
            if (best != k)
                for (int j = 0; j < n; ++j) std::swap(*at(k, j), *at(best, j));
            const double inverse = 1 / p;
            double* const column = at(0, k);
            for (int i = k + 1; i < n; ++i) column[i] *= inverse;
            for (int j = k + 1; j < stop; ++j) {
                const double s = *at(k, j);
                double* const to = at(0, j);
                for (int i = k + 1; i < n; ++i) to[i] -= column[i] * s;
            }
        }
        using Block = Eigen::Map<MatX, 0, Eigen::OuterStride<>>;
        const int rest = n - stop;
        if (rest == 0) continue;
        const Block L(at(stop, start), rest, width, Eigen::OuterStride<>(n));
        // Column strips of fixed width are parts: the same sums for any number of threads.
        const int strips = (rest + strip - 1) / strip;
        const auto update = [&](int k) {
            const int first = k * strip, columns = std::min(strip, rest - first);
            for (int j = stop + first; j < stop + first + columns; ++j) {
                double* const to = at(0, j);
                for (int c = start; c < stop; ++c) {
                    const double s = to[c];
                    const double* const column = at(0, c);
                    for (int i = c + 1; i < stop; ++i) to[i] -= column[i] * s;
                }
            }
            const Block U(at(start, stop + first), width, columns, Eigen::OuterStride<>(n));
            Block C(at(stop, stop + first), rest, columns, Eigen::OuterStride<>(n));
            product_in_tiles(L, U,
                             [&](Eigen::Index i, Eigen::Index j, Eigen::Index ni, Eigen::Index nj, const auto& ab) {
                                 C.block(i, j, ni, nj).noalias() -= ab;
                             });
        };
        if (rest >= least_parallel)
            in_parallel(strips, update);
        else
            for (int k = 0; k < strips; ++k) update(k);
    }
    return true;
}

double BlockLu::work() const {
    double sum = std::pow(tail_rows_, 3) / 3;
    for (int k = 0; k < tail_first_; ++k) {
        const double d = nodes_.dof(elimination_[k]);
        double rows = 0;
        for (int e = column_[k]; e < column_[k + 1]; ++e) rows += nodes_.dof(elimination_[row_[e]]);
        sum += d * d * d / 3 + d * d * rows + d * rows * rows;
    }
    return sum;
}

void BlockLu::solve_tail(double* x) const {
    const int n = tail_rows_;
    const double* const a = values_.data() + tail_;
    double* const y = tail_x_.data();
    for (int k = tail_first_; k < nodes_.size(); ++k) {
        const int node = elimination_[k];
        std::copy_n(x + nodes_.start[node], nodes_.dof(node), y + tail_row_[k - tail_first_]);
    }
    for (int k = 0; k < n; ++k) std::swap(y[k], y[tail_pivot_[k]]);
    for (int k = 0; k < n; ++k) {
        const double* const column = a + static_cast<std::ptrdiff_t>(k) * n;
        const double s = y[k];
        for (int i = k + 1; i < n; ++i) y[i] -= column[i] * s;
    }
    for (int k = n - 1; k >= 0; --k) {
        const double* const column = a + static_cast<std::ptrdiff_t>(k) * n;
        const double s = y[k] /= column[k];
        for (int i = 0; i < k; ++i) y[i] -= column[i] * s;
    }
    for (int k = tail_first_; k < nodes_.size(); ++k) {
        const int node = elimination_[k];
        std::copy_n(y + tail_row_[k - tail_first_], nodes_.dof(node), x + nodes_.start[node]);
    }
}

void BlockLu::solve(double* x) const {
    const double* const values = values_.data();
    for (int k = 0; k < tail_first_; ++k) {
        const int node = elimination_[k], d = nodes_.dof(node);
        double* const xk = x + nodes_.start[node];
        solve_dense(values + diagonal_[node], pivots_.data() + nodes_.start[node], xk, d);
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            const int later = elimination_[row_[e]];
            times_any(values + lower_[e], xk, x + nodes_.start[later], nodes_.dof(later), d);
        }
    }
    solve_tail(x);
    for (int k = tail_first_ - 1; k >= 0; --k) {
        const int node = elimination_[k], d = nodes_.dof(node);
        double* const xk = x + nodes_.start[node];
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            const int later = elimination_[row_[e]];
            times_any(values + upper_[e], x + nodes_.start[later], xk, d, nodes_.dof(later));
        }
    }
}

}  // namespace stickslip
