// Dense LU with partial pivoting on plain column-major arrays: the kernels of BlockLu's nodes and of small blocks
// elsewhere. With N > 0 the size is known to the compiler.
#pragma once

#include <cmath>
#include <utility>

namespace stickslip {

// Overwrites a (n x n) by its factors, reciprocals on U's diagonal; false when a pivot is zero or not finite.
template <int N>
bool factor_sized(double* a, int* pivot, int size) {
    const int n = N > 0 ? N : size;
    for (int k = 0; k < n; ++k) {
        double* ak = a + k * n;
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(ak[i]) > std::abs(ak[best])) best = i;
        pivot[k] = best;
        const double p = ak[best];
        if (!(std::abs(p) > 0) || !std::isfinite(p)) return false;
        if (best != k)
            for (int j = 0; j < n; ++j) std::swap(a[k + j * n], a[best + j * n]);
        const double inverse = 1 / p;
        for (int i = k + 1; i < n; ++i) ak[i] *= inverse;
        for (int j = k + 1; j < n; ++j) {
            double* aj = a + j * n;
            const double s = aj[k];
            for (int i = k + 1; i < n; ++i) aj[i] -= ak[i] * s;
        }
    }
    for (int k = 0; k < n; ++k) a[k + k * n] = 1 / a[k + k * n];
    return true;
}

template <int N>
void solve_sized(const double* a, const int* pivot, double* x, int size) {
    const int n = N > 0 ? N : size;
    for (int k = 0; k < n; ++k) std::swap(x[k], x[pivot[k]]);
    for (int k = 0; k < n; ++k) {
        const double* ak = a + k * n;
        const double s = x[k];
        for (int i = k + 1; i < n; ++i) x[i] -= ak[i] * s;
    }
    for (int k = n - 1; k >= 0; --k) {
        const double* ak = a + k * n;
        const double s = x[k] *= ak[k];
        for (int i = 0; i < k; ++i) x[i] -= ak[i] * s;
    }
}

inline bool factor_dense(double* a, int* pivot, int n) {
    if (n == 6) return factor_sized<6>(a, pivot, n);
    if (n == 3) return factor_sized<3>(a, pivot, n);
    return factor_sized<0>(a, pivot, n);
}

inline void solve_dense(const double* a, const int* pivot, double* x, int n) {
    if (n == 6) return solve_sized<6>(a, pivot, x, n);
    if (n == 3) return solve_sized<3>(a, pivot, x, n);
    solve_sized<0>(a, pivot, x, n);
}

}  // namespace stickslip
