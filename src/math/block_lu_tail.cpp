// The dense end of the order of block_lu.hpp: LU with exchanges of rows, and its triangles.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/parallel.hpp"
#include "math/block_lu.hpp"
#include "math/solve_kernels.hpp"
#include "math/work_mat.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr int narrow = 4;  // columns of the inner panels, which the kernels take at once
constexpr int panel = 32;  // columns of the outer panels
constexpr int whole =
    250;  // rows up to which there are no outer panels: all columns of L that are in use fit into the cache
constexpr int strip = 96;  // columns updated as one part
// Columns that a solve takes one after the other before it takes them all from the rows that are left, and rows of one part. If fewer columns,
// threads meet more often than pays; if more, most of the work is theirs alone.
constexpr int solve_panel = 128, solve_strip = 64;
constexpr int least_parallel = 400;  // rows: below, starting threads costs more than they save

using Block = Eigen::Map<MatX, 0, Eigen::OuterStride<>>;

// The columns start .. stop - 1 of the n x n matrix, as far as they can be factored by themselves; rows are exchanged in them alone. False
// when a pivot is zero or not finite.
bool factor_panel(double* a, int n, int start, int stop, int* pivot) {
    const auto at = [&](int i, int j) -> double* { return a + i + static_cast<std::ptrdiff_t>(j) * n; };
    for (int first = start; first < stop; first += narrow) {
        const int end = std::min(first + narrow, stop);
        for (int k = first; k < end; ++k) {
            double* const column = at(0, k);
            int best = k;
            for (int i = k + 1; i < n; ++i)
                if (std::abs(column[i]) > std::abs(column[best])) best = i;
            pivot[k] = best;
            const double p = column[best];
            if (!(std::abs(p) > 0) || !std::isfinite(p)) return false;
            if (best != k)
                for (int j = start; j < stop; ++j) std::swap(*at(k, j), *at(best, j));
            const double inverse = 1 / p;
            for (int i = k + 1; i < n; ++i) column[i] *= inverse;
            for (int j = k + 1; j < end; ++j) {
                double* const to = at(0, j);
                const double s = to[k];
                for (int i = k + 1; i < n; ++i) to[i] -= column[i] * s;
            }
        }
        if (end - first < narrow) break;  // nothing stands behind
        for (int j = end; j < stop; ++j) {
            kernels::lower_dense(at(first, first), n, narrow, at(first, j));
            kernels::subtract_dense_4(at(end, first), n, at(first, j), at(end, j), n - end);
        }
    }
    return true;
}

// Exchanges of rows in the columns beside the panel, and what it leaves of those behind it.
void update_behind(double* a, int n, int start, int stop, const int* pivot) {
    const auto at = [&](int i, int j) -> double* { return a + i + static_cast<std::ptrdiff_t>(j) * n; };
    const int rest = n - stop, width = stop - start;
    const auto exchange = [&](double* column) {
        for (int k = start; k < stop; ++k) std::swap(column[k], column[pivot[k]]);
    };
    const Block L(at(std::min(stop, n - 1), start), rest, width, Eigen::OuterStride<>(n));
    // Column strips of fixed width are parts, first those behind: the same sums for any number of threads.
    const int strips = (rest + strip - 1) / strip, strips_before = (start + strip - 1) / strip;
    const auto update = [&](int k) {
        const int first = k * strip, columns = std::min(strip, rest - first);
        for (int j = stop + first; j < stop + first + columns; ++j) {
            exchange(at(0, j));
            kernels::lower_dense(at(start, start), n, width, at(start, j));
        }
        const Block U(at(start, stop + first), width, columns, Eigen::OuterStride<>(n));
        Block C(at(stop, stop + first), rest, columns, Eigen::OuterStride<>(n));
        product_in_tiles(L, U, [&](Eigen::Index i, Eigen::Index j, Eigen::Index ni, Eigen::Index nj, const auto& ab) {
            C.block(i, j, ni, nj).noalias() -= ab;
        });
    };
    const auto part = [&](int k) {
        if (k < strips) return update(k);
        const int first = (k - strips) * strip;
        for (int j = first; j < std::min(first + strip, start); ++j) exchange(at(0, j));
    };
    if (rest >= least_parallel)
        in_parallel(strips + strips_before, part);
    else
        for (int k = 0; k < strips + strips_before; ++k) part(k);
}

// part(first, end) for strips of the rows from `first` to `end`, which do not meet.
template <class Part>
void each_strip(int first, int end, bool shared, Part&& part) {
    if (!shared) return part(first, end);
    in_parallel((end - first + solve_strip - 1) / solve_strip, [&](int k) {
        const int begin = first + k * solve_strip;
        part(begin, std::min(begin + solve_strip, end));
    });
}

// y_i -= a_ik y_k for the rows from `first` to `end` and the columns from `from` to `to`, four of them at once.
void subtract_columns(const double* a, std::ptrdiff_t n, int from, int to, int first, int end, double* y) {
    int k = from;
    for (; k + 4 <= to; k += 4) kernels::subtract_dense_4(a + first + k * n, n, y + k, y + first, end - first);
    for (; k < to; ++k)
        for (int i = first; i < end; ++i) y[i] -= a[i + k * n] * y[k];
}

// `columns` vectors of n numbers, one behind the other, through both triangles. In large ones panels of columns are solved by one thread, and taken
// from the rows that are left by all.
void solve_triangles(const double* a, int n, double* y, int columns) {
    const bool shared = n >= least_parallel;
    const int width = shared ? solve_panel : n;
    const auto corner = [&](int k) { return a + k + static_cast<std::ptrdiff_t>(k) * n; };
    double* const stop_at = y + static_cast<std::ptrdiff_t>(columns) * n;
    for (int start = 0; start < n; start += width) {
        const int stop = std::min(start + width, n);
        for (double* to = y; to < stop_at; to += n) kernels::lower_dense(corner(start), n, stop - start, to + start);
        each_strip(stop, n, shared, [&](int first, int end) {
            for (double* to = y; to < stop_at; to += n) subtract_columns(a, n, start, stop, first, end, to);
        });
    }
    for (int stop = n; stop > 0; stop -= width) {
        const int start = std::max(stop - width, 0);
        for (double* to = y; to < stop_at; to += n) kernels::upper_dense(corner(start), n, stop - start, to + start);
        each_strip(0, start, shared, [&](int first, int end) {
            for (double* to = y; to < stop_at; to += n) subtract_columns(a, n, start, stop, first, end, to);
        });
    }
}

}  // namespace

bool BlockLu::factor_tail() {
    const int n = tail_rows_, width = n <= whole ? n : panel;
    double* const a = values_.data() + tail_;
    for (int start = 0; start < n; start += width) {
        const int stop = std::min(start + width, n);
        if (!factor_panel(a, n, start, stop, tail_pivot_.data())) return false;
        update_behind(a, n, start, stop, tail_pivot_.data());
    }
    return true;
}

void BlockLu::solve_tail(double* x, int columns) const {
    const int n = tail_rows_, nv = nodes_.nv();
    const double* const a = values_.data() + tail_;
    SS_ASSERT(columns <= max_columns, "too many columns at once");
    double* const y = tail_x_.data();
    for (int c = 0; c < columns; ++c) {
        for (int k = tail_first_; k < nodes_.size(); ++k) {
            const int node = elimination_[k];
            std::copy_n(x + c * nv + nodes_.start[node], nodes_.dof(node), y + c * n + tail_row_[k - tail_first_]);
        }
        for (int k = 0; k < n; ++k) std::swap(y[c * n + k], y[c * n + tail_pivot_[k]]);
    }
    solve_triangles(a, n, y, columns);
    for (int c = 0; c < columns; ++c) {
        for (int k = tail_first_; k < nodes_.size(); ++k) {
            const int node = elimination_[k];
            std::copy_n(y + c * n + tail_row_[k - tail_first_], nodes_.dof(node), x + c * nv + nodes_.start[node]);
        }
    }
}

}  // namespace stickslip
