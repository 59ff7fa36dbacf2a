// Kernels of back substitution for the LU: blocks of 6 x 6, column-major, and the dense triangles of its tail. By hand where the machine
// has AVX2 and FMA; a block is read once and its sums stay in registers over all blocks of a row.
//
//   settle_66      factors of dense_lu.hpp, made ready for the next two: pivots become places, U gets a unit diagonal
//   solve_66       x := D^-1 x,  and of 6 columns at once
//   push_66        y_e -= A_e x for blocks A_e one behind the other
//   pull_66        x -= sum of A_e y_e
//   subtract_dense y -= A x, A tall and up to four columns wide
//
// No inverse of a block is formed: three digits would be lost.
#pragma once

#include <cstddef>

#include "math/block_kernels.hpp"

namespace stickslip::kernels {

// D = P' L U with reciprocals on the diagonal of U and pivots that are exchanges: pivot[i] becomes the row of the right side that is
// wanted at i, and each row of U is divided by its diagonal, so that no division or product stands between two rows of a solve.
inline void settle_66(double* D, int* pivot) {
    int place[6] = {0, 1, 2, 3, 4, 5};
    for (int k = 0; k < 6; ++k) {
        const int other = place[pivot[k]];
        place[pivot[k]] = place[k];
        place[k] = other;
    }
    for (int k = 0; k < 6; ++k) pivot[k] = place[k];
    for (int k = 1; k < 6; ++k)
        for (int i = 0; i < k; ++i) D[i + 6 * k] *= D[7 * i];
}

#ifdef STICKSLIP_KERNELS_AVX2

inline double less_product(double c, double a, double b) { return __builtin_fma(-a, b, c); }

inline void solve_66(const double* D, const int* place, double* x) {
    double y[6];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) y[i] = x[place[i]];
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k)
#pragma GCC unroll 6
        for (int i = k + 1; i < 6; ++i) y[i] = less_product(y[i], D[i + 6 * k], y[k]);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) y[i] *= D[7 * i];
#pragma GCC unroll 6
    for (int k = 5; k > 0; --k)
#pragma GCC unroll 6
        for (int i = 0; i < k; ++i) y[i] = less_product(y[i], D[i + 6 * k], y[k]);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) x[i] = y[i];
}

// The same for the six columns of a block, as rows of six.
inline void solve_66_columns(const double* D, const int* place, double* X) {
    __m256d a[6];
    __m128d b[6];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
        const double* const row = X + place[i];
        a[i] = _mm256_set_pd(row[18], row[12], row[6], row[0]);
        b[i] = _mm_set_pd(row[30], row[24]);
    }
    const auto subtract = [&](int i, int k) {
        const __m256d s = _mm256_broadcast_sd(D + i + 6 * k);
        a[i] = _mm256_fnmadd_pd(a[k], s, a[i]);
        b[i] = _mm_fnmadd_pd(b[k], _mm256_castpd256_pd128(s), b[i]);
    };
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k)
#pragma GCC unroll 6
        for (int i = k + 1; i < 6; ++i) subtract(i, k);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
        const __m256d d = _mm256_broadcast_sd(D + 7 * i);
        a[i] = _mm256_mul_pd(a[i], d);
        b[i] = _mm_mul_pd(b[i], _mm256_castpd256_pd128(d));
    }
#pragma GCC unroll 6
    for (int k = 5; k > 0; --k)
#pragma GCC unroll 6
        for (int i = 0; i < k; ++i) subtract(i, k);
            // Back to columns: squares of two.
#pragma GCC unroll 3
    for (int i = 0; i < 6; i += 2) {
        const __m256d even = _mm256_unpacklo_pd(a[i], a[i + 1]), odd = _mm256_unpackhi_pd(a[i], a[i + 1]);
        _mm_storeu_pd(X + i, _mm256_castpd256_pd128(even));
        _mm_storeu_pd(X + i + 6, _mm256_castpd256_pd128(odd));
        _mm_storeu_pd(X + i + 12, _mm256_extractf128_pd(even, 1));
        _mm_storeu_pd(X + i + 18, _mm256_extractf128_pd(odd, 1));
        _mm_storeu_pd(X + i + 24, _mm_unpacklo_pd(b[i], b[i + 1]));
        _mm_storeu_pd(X + i + 30, _mm_unpackhi_pd(b[i], b[i + 1]));
    }
}

// Two columns of six are three vectors, which lie in the rows 0 1 2 3 | 4 5 0 1 | 2 3 4 5 and meet the factors a a a a | a a b b | b b b b.
struct SixSums {
    __m256d sum[3] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd()};

    void add(const double* A, const __m256d* factors) {
#pragma GCC unroll 9
        for (int i = 0; i < 9; ++i) sum[i % 3] = _mm256_fmadd_pd(_mm256_loadu_pd(A + 4 * i), factors[i], sum[i % 3]);
    }
    void take_from(double* y) const {
        const __m256d top = _mm256_add_pd(sum[0], _mm256_permute2f128_pd(sum[1], sum[2], 0x21));
        const __m128d low = _mm_add_pd(_mm256_castpd256_pd128(sum[1]), _mm256_extractf128_pd(sum[2], 1));
        _mm256_storeu_pd(y, _mm256_sub_pd(_mm256_loadu_pd(y), top));
        _mm_storeu_pd(y + 4, _mm_sub_pd(_mm_loadu_pd(y + 4), low));
    }
};

inline void six_factors(const double* x, __m256d* factors) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
        const __m256d a = _mm256_broadcast_sd(x + 2 * j), b = _mm256_broadcast_sd(x + 2 * j + 1);
        factors[3 * j] = a;
        factors[3 * j + 1] = _mm256_blend_pd(a, b, 12);
        factors[3 * j + 2] = b;
    }
}

// `place(e)` is where y_e lies; A_e = A + step e.
template <class Place>
void push_66(const double* A, std::ptrdiff_t step, int count, const double* x, Place&& place) {
    __m256d factors[9];
    six_factors(x, factors);
    for (int e = 0; e < count; ++e, A += step) {
        SixSums sums;
        sums.add(A, factors);
        sums.take_from(place(e));
    }
}

template <class Place>
void pull_66(const double* A, std::ptrdiff_t step, int count, double* x, Place&& place) {
    if (count == 0) return;
    SixSums even, odd;  // in turns: a sum waits for the last product that went into it
    __m256d factors[9];
    int e = 0;
    for (; e + 1 < count; e += 2, A += 2 * step) {
        six_factors(place(e), factors);
        even.add(A, factors);
        six_factors(place(e + 1), factors);
        odd.add(A + step, factors);
    }
    if (e < count) {
        six_factors(place(e), factors);
        even.add(A, factors);
    }
    for (int i = 0; i < 3; ++i) even.sum[i] = _mm256_add_pd(even.sum[i], odd.sum[i]);
    even.take_from(x);
}

// y -= A x with four columns of A, `stride` numbers apart.
inline void subtract_dense_4(const double* A, std::ptrdiff_t stride, const double* x, double* y, int rows) {
    const double *a = A, *b = A + stride, *c = A + 2 * stride, *d = A + 3 * stride;
    const __m256d xa = _mm256_broadcast_sd(x), xb = _mm256_broadcast_sd(x + 1), xc = _mm256_broadcast_sd(x + 2),
                  xd = _mm256_broadcast_sd(x + 3);
    int i = 0;
    for (; i + 4 <= rows; i += 4) {
        __m256d sum = _mm256_fnmadd_pd(_mm256_loadu_pd(a + i), xa, _mm256_loadu_pd(y + i));
        sum = _mm256_fnmadd_pd(_mm256_loadu_pd(b + i), xb, sum);
        sum = _mm256_fnmadd_pd(_mm256_loadu_pd(c + i), xc, sum);
        sum = _mm256_fnmadd_pd(_mm256_loadu_pd(d + i), xd, sum);
        _mm256_storeu_pd(y + i, sum);
    }
    for (; i < rows; ++i)
        y[i] = less_product(less_product(less_product(less_product(y[i], a[i], x[0]), b[i], x[1]), c[i], x[2]), d[i],
                            x[3]);
}

#else

inline void solve_66(const double* D, const int* place, double* x) {
    double y[6];
    for (int i = 0; i < 6; ++i) y[i] = x[place[i]];
    for (int k = 0; k < 6; ++k)
        for (int i = k + 1; i < 6; ++i) y[i] -= D[i + 6 * k] * y[k];
    for (int i = 0; i < 6; ++i) y[i] *= D[7 * i];
    for (int k = 5; k > 0; --k)
        for (int i = 0; i < k; ++i) y[i] -= D[i + 6 * k] * y[k];
    for (int i = 0; i < 6; ++i) x[i] = y[i];
}

inline void solve_66_columns(const double* D, const int* place, double* X) {
    for (int j = 0; j < 6; ++j) solve_66(D, place, X + 6 * j);
}

template <class Place>
void push_66(const double* A, std::ptrdiff_t step, int count, const double* x, Place&& place) {
    for (int e = 0; e < count; ++e) subtract_times_66(A + step * e, x, place(e));
}

template <class Place>
void pull_66(const double* A, std::ptrdiff_t step, int count, double* x, Place&& place) {
    for (int e = 0; e < count; ++e) subtract_times_66(A + step * e, place(e), x);
}

inline void subtract_dense_4(const double* A, std::ptrdiff_t stride, const double* x, double* y, int rows) {
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < rows; ++i) y[i] -= A[i + k * stride] * x[k];
}

#endif

// x := L^-1 x and x := U^-1 x with the factors of a dense n x n matrix, unit diagonal in L: four columns at a time.
inline void lower_dense(const double* A, std::ptrdiff_t stride, int n, double* x) {
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        const double* const D = A + k + k * stride;
        for (int c = 0; c < 4; ++c)
            for (int i = c + 1; i < 4; ++i) x[k + i] -= D[i + c * stride] * x[k + c];
        subtract_dense_4(D + 4, stride, x + k, x + k + 4, n - k - 4);
    }
    for (; k < n; ++k)
        for (int i = k + 1; i < n; ++i) x[i] -= A[i + k * stride] * x[k];
}

inline void upper_dense(const double* A, std::ptrdiff_t stride, int n, double* x) {
    int k = n;
    for (; k >= 4; k -= 4) {
        const double* const above = A + (k - 4) * stride;
        double* const y = x + k - 4;
        for (int c = 3; c >= 0; --c) {
            const double* const column = above + (k - 4) + c * stride;
            y[c] /= column[c];
            for (int i = 0; i < c; ++i) y[i] -= column[i] * y[c];
        }
        subtract_dense_4(above, stride, y, x, k - 4);
    }
    for (int c = k - 1; c >= 0; --c) {
        x[c] /= A[c + c * stride];
        for (int i = 0; i < c; ++i) x[i] -= A[i + c * stride] * x[c];
    }
}

}  // namespace stickslip::kernels
