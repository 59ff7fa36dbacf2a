// Products with the rows of a contact: three rows of six velocities, row-major. By hand where the machine has AVX2 and FMA.
#pragma once

#include "math/block_kernels.hpp"

namespace stickslip::kernels {

#ifdef STICKSLIP_KERNELS_AVX2

// u = sum of J x over the blocks of a contact.
class ThreeRows {
public:
    void add(const double* J, const double* x) {
        const __m256d first = _mm256_loadu_pd(x), last = _mm256_loadu_pd(x + 2),
                      turned = _mm256_permute2f128_pd(last, first, 0x21);
        a_ = _mm256_fmadd_pd(_mm256_loadu_pd(J), first, a_);         // row 0
        ab_ = _mm256_fmadd_pd(_mm256_loadu_pd(J + 4), turned, ab_);  // its end, and the start of row 1
        b_ = _mm256_fmadd_pd(_mm256_loadu_pd(J + 8), last, b_);
        c_ = _mm256_fmadd_pd(_mm256_loadu_pd(J + 12), first, c_);
        c_end_ = _mm_fmadd_pd(_mm_loadu_pd(J + 16), _mm256_extractf128_pd(last, 1), c_end_);
    }
    void sums(double* u) const {
        const __m128d a = _mm_add_pd(halves(a_), _mm256_castpd256_pd128(ab_)),
                      b = _mm_add_pd(halves(b_), _mm256_extractf128_pd(ab_, 1)), c = _mm_add_pd(halves(c_), c_end_);
        _mm_storeu_pd(u, _mm_hadd_pd(a, b));
        _mm_store_sd(u + 2, _mm_hadd_pd(c, c));
    }

private:
    static __m128d halves(__m256d x) { return _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1)); }

    __m256d a_ = _mm256_setzero_pd(), ab_ = _mm256_setzero_pd(), b_ = _mm256_setzero_pd(), c_ = _mm256_setzero_pd();
    __m128d c_end_ = _mm_setzero_pd();
};

// y += J' p
inline void add_transpose_36(const double* J, const double* p, double* y) {
    __m256d top = _mm256_loadu_pd(y);
    __m128d low = _mm_loadu_pd(y + 4);
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
        const __m256d s = _mm256_broadcast_sd(p + i);
        top = _mm256_fmadd_pd(_mm256_loadu_pd(J + 6 * i), s, top);
        low = _mm_fmadd_pd(_mm_loadu_pd(J + 6 * i + 4), _mm256_castpd256_pd128(s), low);
    }
    _mm256_storeu_pd(y, top);
    _mm_storeu_pd(y + 4, low);
}

// T = -B J, B column-major 3 x 3.
inline void minus_times_36(const double* B, const double* J, double* T) {
    __m256d top[3];
    __m128d low[3];
#pragma GCC unroll 3
    for (int s = 0; s < 3; ++s) {
        top[s] = _mm256_loadu_pd(J + 6 * s);
        low[s] = _mm_loadu_pd(J + 6 * s + 4);
    }
#pragma GCC unroll 3
    for (int r = 0; r < 3; ++r) {
        __m256d sum = _mm256_setzero_pd();
        __m128d end = _mm_setzero_pd();
#pragma GCC unroll 3
        for (int s = 0; s < 3; ++s) {
            const __m256d b = _mm256_broadcast_sd(B + r + 3 * s);
            sum = _mm256_fnmadd_pd(top[s], b, sum);
            end = _mm_fnmadd_pd(low[s], _mm256_castpd256_pd128(b), end);
        }
        _mm256_storeu_pd(T + 6 * r, sum);
        _mm_storeu_pd(T + 6 * r + 4, end);
    }
}

#else

inline void minus_times_36(const double* B, const double* J, double* T) {
    for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 6; ++k) T[6 * r + k] = -(B[r] * J[k] + B[r + 3] * J[6 + k] + B[r + 6] * J[12 + k]);
}

class ThreeRows {
public:
    void add(const double* J, const double* x) {
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 6; ++k) u_[i] += J[6 * i + k] * x[k];
    }
    void sums(double* u) const {
        for (int i = 0; i < 3; ++i) u[i] = u_[i];
    }

private:
    double u_[3] = {0, 0, 0};
};

inline void add_transpose_36(const double* J, const double* p, double* y) {
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 6; ++k) y[k] += J[6 * i + k] * p[i];
}

#endif

}  // namespace stickslip::kernels
