// Four-bar and slider-crank as a differential-algebraic residual, written out once more and apart from the library: bars with the
// angles q from the horizontal, y up, uniform. The first two are coupled, a third hangs on the loop only:
//
//   M(q) v' = F(q, v) + G' lambda,   M = [J1, k cos(q1 - q2), 0; ., J2, 0; 0, 0, J3]
//   F = (tau - w1 cos q1 - s v2^2,  -w2 cos q2 + s v1^2,  -w3 cos q3),   s = k sin(q1 - q2)
//   g = sum b_i (cos q_i, sin q_i) - (d, 0)      four-bar: both rows; slider-crank: the second row only
//
// Two forms are offered (see Form); both have their exact Jacobian dr/dy + cj dr/dy'.
#pragma once

#include <array>
#include <cmath>
#include <string>

namespace linkage {

// index1: y = (q, v, lambda)      q' = v,  M v' = F + G' lambda,  G v' = -dG/dt v
// ggl:    y = (q, v, lambda, mu)  q' = v + G' mu,  M v' = F + G' lambda,  G v = 0,  g = 0
//         [Gear, Leimkuhler & Gupta 1985]: index 2, no drift
enum class Form { index1, ggl };

struct Linkage {
    std::string name;
    int n = 3;                      // bars
    int first_row = 0, rows = 2;    // of g: 0 along x, 1 along y
    double J1, J2, J3;              // [kg m^2]
    double k;                       // [kg m^2]
    double w1, w2, w3;              // [N m]
    double tau;                     // [N m] on the first bar
    std::array<double, 3> b;        // [m] lengths, signed as they go around the loop
    double d;                       // [m]
    double end;                     // [s]
    std::array<double, 3> q0, v0;   // [rad], [rad/s] at t = 0,
    std::array<double, 3> a0;       // [rad/s^2]
    std::array<double, 2> lambda0;  // [N]
    std::array<double, 3> q_end;    // [rad] at `end`: extrapolation in 40 digits, good to 1e-19

    int size(Form form) const { return 2 * n + rows * (form == Form::ggl ? 2 : 1); }

    // Row r of G (counted from first_row), entry of bar i; its derivative with q_i is minus the bar along that row.
    double slope(int r, int i, const double* c, const double* s) const {
        return first_row + r == 0 ? -b[i] * s[i] : b[i] * c[i];
    }
    double along(int r, int i, const double* c, const double* s) const {
        return first_row + r == 0 ? b[i] * c[i] : b[i] * s[i];
    }

    void residual(Form form, const double* y, const double* dy, double* out) const {
        const double *q = y, *v = y + n, *lambda = y + 2 * n, *a = dy + n;
        double c[3], s[3];
        for (int i = 0; i < n; ++i) {
            c[i] = std::cos(q[i]);
            s[i] = std::sin(q[i]);
        }
        const double kc = k * std::cos(q[0] - q[1]), ks = k * std::sin(q[0] - q[1]);
        for (int i = 0; i < n; ++i) out[i] = dy[i] - v[i];
        double* r = out + n;
        r[0] = J1 * a[0] + kc * a[1] - (tau - w1 * c[0] - ks * v[1] * v[1]);
        r[1] = kc * a[0] + J2 * a[1] - (-w2 * c[1] + ks * v[0] * v[0]);
        if (n > 2) r[2] = J3 * a[2] + w3 * c[2];
        for (int j = 0; j < rows; ++j)
            for (int i = 0; i < n; ++i) r[i] -= slope(j, i, c, s) * lambda[j];
        double* g = out + 2 * n;
        for (int j = 0; j < rows; ++j) {
            double sum = 0, closed = first_row + j == 0 ? -d : 0.0;
            for (int i = 0; i < n; ++i) {
                const double G = slope(j, i, c, s), bar = along(j, i, c, s);
                sum += form == Form::index1 ? G * a[i] - bar * v[i] * v[i] : G * v[i];
                closed += bar;
                if (form == Form::ggl) out[i] -= G * lambda[rows + j];
            }
            g[j] = sum;
            if (form == Form::ggl) g[rows + j] = closed;
        }
    }

    // `entry(i, j)` is set, zero on entry.
    template <class Entry>
    void jacobian(Form form, double cj, const double* y, const double* dy, Entry&& entry) const {
        const double *q = y, *v = y + n, *lambda = y + 2 * n, *mu = lambda + rows, *a = dy + n;
        double c[3], s[3];
        for (int i = 0; i < n; ++i) {
            c[i] = std::cos(q[i]);
            s[i] = std::sin(q[i]);
        }
        const double kc = k * std::cos(q[0] - q[1]), ks = k * std::sin(q[0] - q[1]);
        for (int i = 0; i < n; ++i) {
            entry(i, i) = cj;
            entry(i, n + i) = -1;
        }
        const double first = -ks * a[1] + kc * v[1] * v[1], second = -ks * a[0] - kc * v[0] * v[0];
        entry(n, 0) = first - w1 * s[0];
        entry(n, 1) = -first;
        entry(n + 1, 0) = second;
        entry(n + 1, 1) = -second - w2 * s[1];
        entry(n, n) = cj * J1;
        entry(n, n + 1) = cj * kc + 2 * ks * v[1];
        entry(n + 1, n) = cj * kc - 2 * ks * v[0];
        entry(n + 1, n + 1) = cj * J2;
        if (n > 2) {
            entry(n + 2, 2) = -w3 * s[2];
            entry(n + 2, n + 2) = cj * J3;
        }
        for (int j = 0; j < rows; ++j) {
            const int row = 2 * n + j;
            for (int i = 0; i < n; ++i) {
                const double G = slope(j, i, c, s), bar = along(j, i, c, s);
                entry(n + i, i) += bar * lambda[j];
                entry(n + i, row) = -G;
                if (form == Form::index1) {
                    entry(row, i) = -bar * a[i] - G * v[i] * v[i];
                    entry(row, n + i) = cj * G - 2 * bar * v[i];
                } else {
                    entry(i, i) += bar * mu[j];
                    entry(i, row + rows) = -G;
                    entry(row, i) = -bar * v[i];
                    entry(row, n + i) = G;
                    entry(row + rows, i) = G;
                }
            }
        }
    }
};

// [Haddouni, 3.1.1] with l2 = sqrt(0.13) m, which closes the loop; 1 kg each, from rest.
inline Linkage four_bar() {
    const double l1 = 0.3, l2 = std::sqrt(0.13), l3 = 0.4, g = 9.81;
    return {.name = "four-bar",
            .J1 = 4.0 / 3 * l1 * l1,
            .J2 = l2 * l2 / 3,
            .J3 = l3 * l3 / 3,
            .k = l1 * l2 / 2,
            .w1 = 1.5 * g * l1,
            .w2 = 0.5 * g * l2,
            .w3 = 0.5 * g * l3,
            .tau = 6,
            .b = {l1, l2, -l3},
            .d = 0.7,
            .end = 2,
            .q0 = {1.0471975511965979, 0.24256387409548527, 2.0943951023931957},
            .v0 = {0, 0, 0},
            .a0 = {53.63928571428571, -40.229464285714286, 30.172098214285715},
            .lambda0 = {-1.2783024676604502, 5.354977678571428},
            .q_end = {0.27016472167390993849, -1.2613123892181030835, 3.86027838704583878884}};
}

// [Haddouni, 3.1.2] with the physical mass matrix and l2 = 2 m, which makes the printed velocities consistent; 1 kg each.
inline Linkage slider_crank() {
    const double l1 = 1, l2 = 2, g = 9.81;
    return {.name = "slider-crank",
            .n = 2,
            .first_row = 1,
            .rows = 1,
            .J1 = (1.0 / 3 + 2) * l1 * l1,
            .J2 = (1.0 / 3 + 1) * l2 * l2,
            .J3 = 0,
            .k = 1.5 * l1 * l2,
            .w1 = 2.5 * g * l1,
            .w2 = 1.5 * g * l2,
            .w3 = 0,
            .tau = 0,
            .b = {l1, l2, 0},
            .d = 0,
            .end = 1,
            .q0 = {0, 0, 0},
            .v0 = {4, -2, 0},
            .a0 = {-14.715, 7.3575, 0},
            .lambda0 = {12.2625, 0},
            .q_end = {-0.7983299365234461226, 0.3662276190134756120, 0}};
}

}  // namespace linkage
