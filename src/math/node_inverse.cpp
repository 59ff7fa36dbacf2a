#include "math/node_inverse.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/parallel.hpp"

namespace stickslip {

namespace {

constexpr int nodes_of_part = 200;  // some tens of microseconds

// Gauss-Jordan in place, column-major with S numbers per column, without pivoting; false when a pivot is not clearly
// positive. Unrolled: four times as fast.
template <int N, int S>
bool invert_definite(double* a) {
#pragma GCC unroll 6
    for (int k = 0; k < N; ++k) {
        const double pivot = a[k * S + k];
        if (!(pivot > 0) || !(pivot < infinity)) return false;
        const double inverse = 1 / pivot;
        a[k * S + k] = 1;
#pragma GCC unroll 6
        for (int j = 0; j < N; ++j) a[j * S + k] *= inverse;  // row k
        double factor[N];
#pragma GCC unroll 6
        for (int i = 0; i < N; ++i) factor[i] = i == k ? 0.0 : a[k * S + i];
#pragma GCC unroll 6
        for (int i = 0; i < N; ++i)
            if (i != k) a[k * S + i] = 0;
#pragma GCC unroll 6
        for (int j = 0; j < N; ++j) {
            const double row = a[j * S + k];
#pragma GCC unroll 6
            for (int i = 0; i < N; ++i) a[j * S + i] -= factor[i] * row;
        }
    }
    return true;
}

// A rigid body seen from its centre of mass: nothing couples its shift with its turn, so that two halves are inverted alone.
bool has_halves(const double* a) {
    double coupling = 0;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) coupling += std::abs(a[6 * j + i + 3]) + std::abs(a[6 * (j + 3) + i]);
    return coupling == 0;
}

bool invert_spatial(double* a) {
    if (!has_halves(a)) return invert_definite<6, 6>(a);
    return invert_definite<3, 6>(a) && invert_definite<3, 6>(a + 21);
}

template <int N>
double quadratic_form(const double* b, const double* row) {
    const Eigen::Map<const Eigen::Matrix<double, N, N>> B(b);
    const Eigen::Map<const Eigen::Matrix<double, N, 1>> x(row);
    const Eigen::Matrix<double, N, 1> image = B.lazyProduct(x);
    return image.dot(x);
}

// Point masses: nothing couples their velocities. False: it is not so.
bool invert_diagonal(int n, const double* block, double* inverse) {
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            const double entry = block[j * n + i];
            if (i == j ? !(entry > 0 && entry < infinity) : entry != 0) return false;
        }
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) inverse[j * n + i] = i == j ? 1 / block[j * n + i] : 0.0;
    return true;
}

// Gauss-Jordan with row exchanges on [a | identity]. Columns in which the row of the pivot has nothing stay as they are: in a system of one
// node the bodies are mostly blocks of their own, and six of them took ten times as long.
void invert_pivoted(int n, const double* block, double* inverse, std::vector<double>& work) {
    const auto at = [n](int i, int j) { return static_cast<std::size_t>(j) * n + i; };
    work.assign(block, block + n * n);
    double* a = work.data();
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) inverse[at(i, j)] = i == j ? 1.0 : 0.0;
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(a[at(i, k)]) > std::abs(a[at(pivot, k)])) pivot = i;
        if (pivot != k) {
            for (int j = 0; j < n; ++j) {
                std::swap(a[at(k, j)], a[at(pivot, j)]);
                std::swap(inverse[at(k, j)], inverse[at(pivot, j)]);
            }
        }
        const double scale = 1 / a[at(k, k)];
        for (int j = 0; j < n; ++j) {
            a[at(k, j)] *= scale;
            inverse[at(k, j)] *= scale;
        }
        for (int j = 0; j < n; ++j) {
            const double row = inverse[at(k, j)];
            if (row == 0) continue;
            for (int i = 0; i < n; ++i)
                if (i != k) inverse[at(i, j)] -= a[at(i, k)] * row;
        }
        for (int j = n - 1; j >= k; --j) {  // column k last: it holds the factors
            const double row = a[at(k, j)];
            if (row == 0) continue;
            for (int i = 0; i < n; ++i)
                if (i != k) a[at(i, j)] -= a[at(i, k)] * row;
        }
    }
}

// y = M x, column-major N x N; the sums stay in registers.
template <int N>
void apply_sized(const double* M, const double* x, double* y) {
    double sum[N];
    for (int i = 0; i < N; ++i) sum[i] = M[i] * x[0];
    for (int j = 1; j < N; ++j)
        for (int i = 0; i < N; ++i) sum[i] += M[j * N + i] * x[j];
    for (int i = 0; i < N; ++i) y[i] = sum[i];
}

}  // namespace

void NodeInverse::factor(const BlockMatrix& A) {
    nodes_.start.assign(A.nodes.start.begin(), A.nodes.start.end());
    offset_.resize(static_cast<std::size_t>(nodes_.size()));
    int total = 0;
    for (int n = 0; n < nodes_.size(); ++n) {
        offset_[n] = total;
        total += nodes_.dof(n) * nodes_.dof(n);
    }
    values_.resize(static_cast<std::size_t>(total));
    const auto sized = [&](int n) {
        const int d = nodes_.dof(n);
        if (d != 6 && d != 3) return false;
        double* to = values_.data() + offset_[n];
        std::copy_n(A.values.data() + A.diagonal[n], d * d, to);
        return d == 6 ? invert_spatial(to) : invert_definite<3, 3>(to);
    };
    std::atomic<bool> all_sized{true};
    each_in_parallel(nodes_.size(), nodes_of_part, [&](int n) {
        if (!sized(n)) all_sized = false;
    });
    for (int n = 0; n < nodes_.size() && !all_sized; ++n) {
        const int d = nodes_.dof(n);
        const double* from = A.values.data() + A.diagonal[n];
        double* to = values_.data() + offset_[n];
        if (!sized(n) && !invert_diagonal(d, from, to)) invert_pivoted(d, from, to, work_);
    }
}

void NodeInverse::apply(int n, const double* x, double* y) const {
    const int d = nodes_.dof(n);
    if (d == 6) return apply_sized<6>(values_.data() + offset_[n], x, y);
    if (d == 3) return apply_sized<3>(values_.data() + offset_[n], x, y);
    Eigen::Map<VecX>(y, d).noalias() = block(n).lazyProduct(Eigen::Map<const VecX>(x, d));
}

void NodeInverse::apply(const ConstRef& x, Eigen::Ref<VecX> y) const {
    const double* const from = x.data();
    double* const to = y.data();
    each_in_parallel(nodes_.size(), nodes_of_part, [&](int n) { apply(n, from + nodes_.start[n], to + nodes_.start[n]); });
}

double NodeInverse::quadratic(int n, const double* row) const {
    const int d = nodes_.dof(n);
    const double* inverse = values_.data() + offset_[n];
    if (d == 6) return quadratic_form<6>(inverse, row);
    if (d == 3) return quadratic_form<3>(inverse, row);
    double sum = 0;
    for (int j = 0; j < d; ++j, inverse += d) {
        if (row[j] == 0) continue;
        double column = 0;
        for (int i = 0; i < d; ++i) column += row[i] * inverse[i];
        sum += column * row[j];
    }
    return sum;
}

}  // namespace stickslip
