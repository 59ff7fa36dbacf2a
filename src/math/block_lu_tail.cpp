// The dense end of block LU: what is left of the graph where it is nearly complete.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "math/block_lu.hpp"
#include "math/work_mat.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr int panel = 32;            // columns factored one by one
constexpr int strip = 96;            // columns updated as one part
constexpr int least_parallel = 400;  // rows: below, starting threads costs more than they save
// Columns that a solve takes one after the other before it takes them all from the rows that are left, and rows of one part. If fewer columns,
// threads meet more often than pays; if more, most of the work is theirs alone.
constexpr int solve_panel = 128, solve_strip = 64;

// y_i -= a_ik y_k for the rows from `first` to `end` and the columns from `from` on, `count` of them, in steps of `step` (1 or -1): each sum in the order of
// the columns, four of them at once, so that y is read and written a quarter as often.
void subtract_columns(const double* a, std::ptrdiff_t n, int from, int count, int step, int first, int end, double* y) {
    const double *column = a + from * n, *s = y + from;
    const std::ptrdiff_t next = step * n;
    for (; count >= 4; count -= 4, column += 4 * next, s += 4 * step) {
        const double *a0 = column, *a1 = a0 + next, *a2 = a1 + next, *a3 = a2 + next;
        const double s0 = s[0], s1 = s[step], s2 = s[2 * step], s3 = s[3 * step];
#pragma GCC ivdep
        for (int i = first; i < end; ++i) {
            double sum = y[i];
            sum -= a0[i] * s0;
            sum -= a1[i] * s1;
            sum -= a2[i] * s2;
            sum -= a3[i] * s3;
            y[i] = sum;
        }
    }
    for (; count > 0; --count, column += next, s += step) {
        const double s0 = *s;
#pragma GCC ivdep
        for (int i = first; i < end; ++i) y[i] -= column[i] * s0;
    }
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

}  // namespace

// The columns from `start` to `stop`, each with what those before it leave of it, rows exchanged among them alone: what is right and left of
// them follows them all at once.
bool BlockLu::factor_panel(int start, int stop) {
    const int n = tail_rows_;
    double* const a = values_.data() + tail_;
    for (int k = start; k < stop; ++k) {
        double* const column = a + static_cast<std::ptrdiff_t>(k) * n;
        for (int c = start; c < k; ++c) subtract_columns(a, n, c, 1, 1, c + 1, k, column);
        subtract_columns(a, n, start, k - start, 1, k, n, column);
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(column[i]) > std::abs(column[best])) best = i;
        tail_pivot_[k] = best;
        const double p = column[best];
        if (!(std::abs(p) > 0) || !std::isfinite(p)) return false;
        if (best != k)
            for (int j = start; j < stop; ++j)
                std::swap(a[k + static_cast<std::ptrdiff_t>(j) * n], a[best + static_cast<std::ptrdiff_t>(j) * n]);
        const double inverse = 1 / p;
        for (int i = k + 1; i < n; ++i) column[i] *= inverse;
    }
    return true;
}

// LU by panels, with pivoting.
bool BlockLu::factor_tail() {
    const int n = tail_rows_;
    double* const a = values_.data() + tail_;
    const auto at = [&](int i, int j) -> double* { return a + i + static_cast<std::ptrdiff_t>(j) * n; };
    using Block = Eigen::Map<MatX, 0, Eigen::OuterStride<>>;
    for (int start = 0; start < n; start += panel) {
        const int width = std::min(panel, n - start), stop = start + width;
        if (!factor_panel(start, stop)) return false;
        const auto exchange = [&](double* column) {
            for (int k = start; k < stop; ++k) std::swap(column[k], column[tail_pivot_[k]]);
        };
        const int rest = n - stop;
        const Block L(at(std::min(stop, n - 1), start), rest, width, Eigen::OuterStride<>(n));
        // Column strips of fixed width are parts, first those on the right: the same sums for any number of threads.
        const int strips = (rest + strip - 1) / strip, strips_before = (start + strip - 1) / strip;
        const auto update = [&](int k) {
            const int first = k * strip, columns = std::min(strip, rest - first);
            for (int j = stop + first; j < stop + first + columns; ++j) {
                double* const to = at(0, j);
                exchange(to);
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
    const auto column = [&](int k) { return a + static_cast<std::ptrdiff_t>(k) * n; };
    const bool shared = n >= least_parallel;
    for (int start = 0; start < n; start += solve_panel) {
        const int stop = std::min(start + solve_panel, n);
        for (double* to = y; to < y + columns * n; to += n)
            for (int k = start; k < stop; ++k) subtract_columns(column(0), n, k, 1, 1, k + 1, stop, to);
        each_strip(stop, n, shared, [&](int first, int end) {
            for (double* to = y; to < y + columns * n; to += n)
                subtract_columns(column(0), n, start, stop - start, 1, first, end, to);
        });
    }
    for (int stop = n; stop > 0; stop -= solve_panel) {
        const int start = std::max(stop - solve_panel, 0);
        for (double* to = y; to < y + columns * n; to += n) {
            for (int k = stop - 1; k >= start; --k) {
                to[k] /= column(k)[k];
                subtract_columns(column(0), n, k, 1, 1, start, k, to);
            }
        }
        each_strip(0, start, shared, [&](int first, int end) {
            for (double* to = y; to < y + columns * n; to += n)
                subtract_columns(column(0), n, stop - 1, stop - start, -1, first, end, to);
        });
    }
    for (int c = 0; c < columns; ++c) {
        for (int k = tail_first_; k < nodes_.size(); ++k) {
            const int node = elimination_[k];
            std::copy_n(y + c * n + tail_row_[k - tail_first_], nodes_.dof(node), x + c * nv + nodes_.start[node]);
        }
    }
}

}  // namespace stickslip
