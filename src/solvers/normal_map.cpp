#include "solvers/normal_map.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

// s(x) and its slope.
struct Smooth {
    double value, slope;
    Smooth(double x, double d) {
        if (d == 0) {
            value = std::max(x, 0.0);
            slope = x > 0 ? 1 : 0;
            return;
        }
        const double root = std::sqrt(x * x + 4 * d * d);
        value = x > 0 ? 0.5 * (x + root) : 2 * d * d / (root - x);  // without cancellation
        slope = value / root;
    }
};

}  // namespace

ContactMode normal_map(int dim, double mu, double width, double tangential_width, const double* xi, double* z, double* D) {
    std::fill_n(D, 9, 0.0);
    const Smooth normal(xi[0], width);
    z[0] = normal.value;
    D[0] = normal.slope;
    const bool closed = xi[0] > 0;
    if (dim == 1) return closed ? ContactMode::stick : ContactMode::open;
    for (int k = 1; k < dim; ++k) z[k] = 0;
    if (mu <= 0 || (width == 0 && !closed)) return closed ? ContactMode::slip : ContactMode::open;

    const double size = dim == 2 ? std::abs(xi[1]) : std::hypot(xi[1], xi[2]);
    const double g = mu * normal.value;
    const Smooth beyond(size - g, tangential_width * mu * width);
    const double m = g + beyond.value, f = m > 0 ? g / m : 0.0;
    // dz_T = f dxi_T + xi_T (dg / m - g dm / m^2),  dm = dg (1 - slope) + slope d|xi_T|
    for (int k = 1; k < dim; ++k) {
        z[k] = f * xi[k];
        if (!(m > 0)) continue;
        D[k] = xi[k] / m * (1 - f * (1 - beyond.slope)) * mu * normal.slope;
        for (int l = 1; l < dim; ++l)
            D[k + 3 * l] = (k == l ? f : 0.0) - (size > 0 ? xi[k] * f / m * beyond.slope * xi[l] / size : 0.0);
    }
    if (!closed) return ContactMode::open;
    return size > g ? ContactMode::slip : ContactMode::stick;
}

}  // namespace stickslip
