// Kernels of the block LDL' and LU on column-major blocks: sizes 1 to 6 known to the compiler, 6 x 6 by hand where the machine
// has AVX2 and FMA (a 6 x 6 block is nine vectors of four), any other size in plain loops.
//
//   update     C -= L Y'                     m x n, m x q, n x q
//   subtract_product  C -= A B,  subtract_products  C -= sum of A B,  subtract_times  y -= A x     6 x 6, for the LU
//   scale      Y  = L diag(d)                m x q
//   factor     C  = U diag(d) U'             U unit lower, below the diagonal of C; d on it
//   right      C := C U'^-1 diag(d)^-1       m x n
//   forward, backward: y -= L x, x -= L' y; and the triangular solves with U inside a node
//
// No inverse of a block is formed: three digits would be lost.
#pragma once

#include <cstddef>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define STICKSLIP_KERNELS_AVX2 1
#endif

namespace stickslip::kernels {

// C -= L Y' with the number of rows known (M > 0) or not (M = 0).
template <int M>
inline void update(const double* L, const double* Y, double* C, int m_any, int n, int q) {
    const int m = M > 0 ? M : m_any;
    for (int j = 0; j < n; ++j) {
        double* c = C + j * m;
        for (int k = 0; k < q; ++k) {
            const double y = Y[j + k * n];
            const double* l = L + k * m;
            for (int i = 0; i < m; ++i) c[i] -= l[i] * y;
        }
    }
}

// C 6 x 6, with q known (Q > 0) or not.
#ifdef STICKSLIP_KERNELS_AVX2
// Two columns of six are three vectors: c0..3 | c4 c5 c6 c7 | c8..11, with factors y0 | y0 y0 y1 y1 | y1.
// The factor of column j in turn k is Y[Down k + Across j]: of Y' as it lies, or of a block that is not transposed.
template <int Q, int Down = 6, int Across = 1>
inline void accumulate_66(const double* L, const double* Y, __m256d* c, int q_any) {
    const int q = Q > 0 ? Q : q_any;
#pragma GCC unroll 6
    for (int k = 0; k < q; ++k) {
        const __m256d low = _mm256_loadu_pd(L + 6 * k), high = _mm256_loadu_pd(L + 6 * k + 2);
        const __m256d middle = _mm256_permute2f128_pd(low, high, 0x03);
#pragma GCC unroll 3
        for (int j = 0; j < 3; ++j) {
            const double* const y = Y + Down * k + Across * 2 * j;
            const __m256d y0 = _mm256_broadcast_sd(y), y1 = _mm256_broadcast_sd(y + Across);
            c[3 * j] = _mm256_fnmadd_pd(low, y0, c[3 * j]);
            c[3 * j + 1] = _mm256_fnmadd_pd(middle, _mm256_blend_pd(y0, y1, 12), c[3 * j + 1]);
            c[3 * j + 2] = _mm256_fnmadd_pd(high, y1, c[3 * j + 2]);
        }
    }
}

template <int Q>
inline void update_66(const double* L, const double* Y, double* C, int q) {
    __m256d c[9];
    for (int i = 0; i < 9; ++i) c[i] = _mm256_loadu_pd(C + 4 * i);
    accumulate_66<Q>(L, Y, c, q);
    for (int i = 0; i < 9; ++i) _mm256_storeu_pd(C + 4 * i, c[i]);
}

// C -= sum over s of (L_s + at) Y_s', all 6 x 6: C stays in registers.
inline void update_66_run(const double* const* L, std::ptrdiff_t at, const double* Y, double* C, int run) {
    __m256d c[9];
    for (int i = 0; i < 9; ++i) c[i] = _mm256_load_pd(C + 4 * i);
    for (int s = 0; s < run; ++s) accumulate_66<6>(L[s] + at, Y + 36 * s, c, 6);
    for (int i = 0; i < 9; ++i) _mm256_store_pd(C + 4 * i, c[i]);
}

// C -= sum over s of L_s Y_s', C 6 x 6 and three columns each, Y_s one behind the other with `step` numbers between them.
inline void update_63_run(const double* const* L, const double* Y, std::ptrdiff_t step, double* C, int run) {
    __m256d c[9];
    for (int i = 0; i < 9; ++i) c[i] = _mm256_loadu_pd(C + 4 * i);
    for (int s = 0; s < run; ++s) accumulate_66<3>(L[s], Y + step * s, c, 3);
    for (int i = 0; i < 9; ++i) _mm256_storeu_pd(C + 4 * i, c[i]);
}

inline void subtract_product_66(const double* A, const double* B, double* C) {
    __m256d c[9];
    for (int i = 0; i < 9; ++i) c[i] = _mm256_loadu_pd(C + 4 * i);
    accumulate_66<6, 1, 6>(A, B, c, 6);
    for (int i = 0; i < 9; ++i) _mm256_storeu_pd(C + 4 * i, c[i]);
}

// C -= sum over s of (column_s + a) (column_s + b), all 6 x 6: C stays in registers.
inline void subtract_products_66(const double* const* column, std::ptrdiff_t a, std::ptrdiff_t b, double* C, int count) {
    __m256d c[9];
    for (int i = 0; i < 9; ++i) c[i] = _mm256_loadu_pd(C + 4 * i);
    for (int s = 0; s < count; ++s) accumulate_66<6, 1, 6>(column[s] + a, column[s] + b, c, 6);
    for (int i = 0; i < 9; ++i) _mm256_storeu_pd(C + 4 * i, c[i]);
}

// The same for C inside a larger matrix with `stride` numbers per column: four rows and two.
inline void subtract_products_66(const double* const* column, std::ptrdiff_t a, std::ptrdiff_t b, double* C, int count,
                                 std::ptrdiff_t stride) {
    __m256d top[6];
    __m128d low[6];
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
        top[j] = _mm256_loadu_pd(C + j * stride);
        low[j] = _mm_loadu_pd(C + j * stride + 4);
    }
    for (int s = 0; s < count; ++s) {
        const double* const A = column[s] + a;
        const double* const B = column[s] + b;
#pragma GCC unroll 6
        for (int k = 0; k < 6; ++k) {
            const __m256d a_top = _mm256_loadu_pd(A + 6 * k);
            const __m128d a_low = _mm_loadu_pd(A + 6 * k + 4);
#pragma GCC unroll 6
            for (int j = 0; j < 6; ++j) {
                const __m256d y = _mm256_broadcast_sd(B + k + 6 * j);
                top[j] = _mm256_fnmadd_pd(a_top, y, top[j]);
                low[j] = _mm_fnmadd_pd(a_low, _mm256_castpd256_pd128(y), low[j]);
            }
        }
    }
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
        _mm256_storeu_pd(C + j * stride, top[j]);
        _mm_storeu_pd(C + j * stride + 4, low[j]);
    }
}

inline void subtract_times_66(const double* A, const double* x, double* y) {
    __m256d top = _mm256_loadu_pd(y);
    __m128d low = _mm_loadu_pd(y + 4);
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
        const __m256d s = _mm256_broadcast_sd(x + k);
        top = _mm256_fnmadd_pd(_mm256_loadu_pd(A + 6 * k), s, top);
        low = _mm_fnmadd_pd(_mm_loadu_pd(A + 6 * k + 4), _mm256_castpd256_pd128(s), low);
    }
    _mm256_storeu_pd(y, top);
    _mm_storeu_pd(y + 4, low);
}
#else
inline void subtract_product_66(const double* A, const double* B, double* C, std::ptrdiff_t stride = 6) {
    for (int j = 0; j < 6; ++j)
        for (int k = 0; k < 6; ++k)
            for (int i = 0; i < 6; ++i) C[i + j * stride] -= A[i + 6 * k] * B[k + 6 * j];
}
inline void subtract_products_66(const double* const* column, std::ptrdiff_t a, std::ptrdiff_t b, double* C, int count,
                                 std::ptrdiff_t stride = 6) {
    for (int s = 0; s < count; ++s) subtract_product_66(column[s] + a, column[s] + b, C, stride);
}
inline void subtract_times_66(const double* A, const double* x, double* y) {
    for (int k = 0; k < 6; ++k)
        for (int i = 0; i < 6; ++i) y[i] -= A[i + 6 * k] * x[k];
}
template <int Q>
inline void update_66(const double* L, const double* Y, double* C, int q_any) {
    const int q = Q > 0 ? Q : q_any;
    for (int k = 0; k < q; ++k)
        for (int j = 0; j < 6; ++j)
            for (int i = 0; i < 6; ++i) C[i + 6 * j] -= L[i + 6 * k] * Y[j + 6 * k];
}
inline void update_63_run(const double* const* L, const double* Y, std::ptrdiff_t step, double* C, int run) {
    for (int s = 0; s < run; ++s) update_66<3>(L[s], Y + step * s, C, 3);
}
inline void update_66_run(const double* const* L, std::ptrdiff_t at, const double* Y, double* C, int run) {
    for (int s = 0; s < run; ++s) update_66<6>(L[s] + at, Y + 36 * s, C, 6);
}
#endif

inline void update_any(const double* L, const double* Y, double* C, int m, int n, int q) {
    if (m == 6 && n == 6) {
        if (q == 6) return update_66<6>(L, Y, C, q);
        if (q == 3) return update_66<3>(L, Y, C, q);
        return update_66<0>(L, Y, C, q);
    }
    switch (m) {
        case 1: return update<1>(L, Y, C, m, n, q);
        case 2: return update<2>(L, Y, C, m, n, q);
        case 3: return update<3>(L, Y, C, m, n, q);
        case 4: return update<4>(L, Y, C, m, n, q);
        case 5: return update<5>(L, Y, C, m, n, q);
        case 6: return update<6>(L, Y, C, m, n, q);
        default: return update<0>(L, Y, C, m, n, q);
    }
}

inline void scale(const double* L, const double* d, double* Y, int m, int q) {
    if (m == 6 && q == 6) {
        for (int k = 0; k < 6; ++k)
            for (int i = 0; i < 6; ++i) Y[i + 6 * k] = L[i + 6 * k] * d[k];
        return;
    }
    for (int k = 0; k < q; ++k)
        for (int i = 0; i < m; ++i) Y[i + m * k] = L[i + m * k] * d[k];
}

// Reads and writes the lower triangle. Returns the first column whose pivot has not the sign `sign` (+1, -1) or is
// within floor[k] of zero, n when there is none; writes 1/d into `inverse`.
template <int N>
inline int factor(double* C, double* inverse, const double* floor, double sign, int n_any) {
    const int n = N > 0 ? N : n_any;
    for (int k = 0; k < n; ++k) {
        double* c = C + k * n;
        if (!(sign * c[k] > floor[k])) return k;
        const double d = 1 / c[k];
        inverse[k] = d;
        for (int j = k + 1; j < n; ++j) {
            const double l = c[j] * d;
            double* to = C + j * n;
            for (int i = j; i < n; ++i) to[i] -= c[i] * l;
        }
        for (int i = k + 1; i < n; ++i) c[i] *= d;
    }
    return n;
}

inline int factor_any(double* C, double* inverse, const double* floor, double sign, int n) {
    switch (n) {
        case 1: return factor<1>(C, inverse, floor, sign, n);
        case 2: return factor<2>(C, inverse, floor, sign, n);
        case 3: return factor<3>(C, inverse, floor, sign, n);
        case 4: return factor<4>(C, inverse, floor, sign, n);
        case 5: return factor<5>(C, inverse, floor, sign, n);
        case 6: return factor<6>(C, inverse, floor, sign, n);
        default: return factor<0>(C, inverse, floor, sign, n);
    }
}

// C := C U'^-1 D^-1
template <int M>
inline void right(const double* U, const double* inverse, double* C, int m_any, int n) {
    const int m = M > 0 ? M : m_any;
    for (int k = 0; k < n; ++k) {
        const double* c = C + k * m;
        for (int j = k + 1; j < n; ++j) {
            const double u = U[j + k * n];
            double* to = C + j * m;
            for (int i = 0; i < m; ++i) to[i] -= c[i] * u;
        }
    }
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < m; ++i) C[i + k * m] *= inverse[k];
}

#ifdef STICKSLIP_KERNELS_AVX2
inline void right_66(const double* U, const double* inverse, double* C) {
    __m256d a[6];
    __m128d b[6];
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
        a[k] = _mm256_loadu_pd(C + 6 * k);
        b[k] = _mm_loadu_pd(C + 6 * k + 4);
    }
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
#pragma GCC unroll 6
        for (int j = k + 1; j < 6; ++j) {
            const __m256d u = _mm256_broadcast_sd(U + j + 6 * k);
            a[j] = _mm256_fnmadd_pd(a[k], u, a[j]);
            b[j] = _mm_fnmadd_pd(b[k], _mm256_castpd256_pd128(u), b[j]);
        }
    }
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
        const __m256d d = _mm256_broadcast_sd(inverse + k);
        _mm256_storeu_pd(C + 6 * k, _mm256_mul_pd(a[k], d));
        _mm_storeu_pd(C + 6 * k + 4, _mm_mul_pd(b[k], _mm256_castpd256_pd128(d)));
    }
}
#else
inline void right_66(const double* U, const double* inverse, double* C) { right<6>(U, inverse, C, 6, 6); }
#endif

inline void right_any(const double* U, const double* inverse, double* C, int m, int n) {
    if (m == 6 && n == 6) return right_66(U, inverse, C);
    switch (m) {
        case 1: return right<1>(U, inverse, C, m, n);
        case 2: return right<2>(U, inverse, C, m, n);
        case 3: return right<3>(U, inverse, C, m, n);
        case 4: return right<4>(U, inverse, C, m, n);
        case 5: return right<5>(U, inverse, C, m, n);
        case 6: return right<6>(U, inverse, C, m, n);
        default: return right<0>(U, inverse, C, m, n);
    }
}

// y -= L x
template <int M>
inline void forward(const double* L, const double* x, double* y, int m_any, int n) {
    const int m = M > 0 ? M : m_any;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < m; ++i) y[i] -= L[i + k * m] * x[k];
}

inline void forward_any(const double* L, const double* x, double* y, int m, int n) {
    if (m == 6) return forward<6>(L, x, y, m, n);
    if (m == 3) return forward<3>(L, x, y, m, n);
    forward<0>(L, x, y, m, n);
}

// x -= L' y
template <int M>
inline void backward(const double* L, const double* y, double* x, int m_any, int n) {
    const int m = M > 0 ? M : m_any;
    for (int k = 0; k < n; ++k) {
        double sum = 0;
        for (int i = 0; i < m; ++i) sum += L[i + k * m] * y[i];
        x[k] -= sum;
    }
}

inline void backward_any(const double* L, const double* y, double* x, int m, int n) {
    if (m == 6) return backward<6>(L, y, x, m, n);
    if (m == 3) return backward<3>(L, y, x, m, n);
    backward<0>(L, y, x, m, n);
}

// x := U^-1 x and x := U'^-1 x
inline void unit_lower(const double* U, double* x, int n) {
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i) x[i] -= U[i + k * n] * x[k];
}
inline void unit_upper(const double* U, double* x, int n) {
    for (int k = n - 1; k >= 0; --k)
        for (int i = k + 1; i < n; ++i) x[k] -= U[i + k * n] * x[i];
}

}  // namespace stickslip::kernels
