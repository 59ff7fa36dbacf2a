#include "solvers/local/contact_solve.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"

namespace stickslip {

namespace {

// Pivots below this share of the largest entry count as zero: the local problem gets a proximal term.
constexpr double singular = 1e-11;
constexpr double proximal = 1e-6;  // of the trace; larger slows the sweeps on singular W, smaller loses digits
constexpr int proximal_tries = 4;  // a hundred times more each time, up to the trace itself

// x = A^-1 b by elimination with partial pivoting; false when A is singular to `singular`.
template <int N>
bool solve_small(const double* A, const double* b, double* x) {
    double a[N][N + 1];
    double largest = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            a[i][j] = A[i + j * N];
            largest = std::max(largest, std::abs(a[i][j]));
        }
        a[i][N] = b[i];
    }
    for (int k = 0; k < N; ++k) {
        int best = k;
        for (int i = k + 1; i < N; ++i)
            if (std::abs(a[i][k]) > std::abs(a[best][k])) best = i;
        if (!(std::abs(a[best][k]) > singular * largest)) return false;
        if (best != k)
            for (int j = 0; j <= N; ++j) std::swap(a[k][j], a[best][j]);
        const double inverse = 1 / a[k][k];
        for (int i = k + 1; i < N; ++i) {
            const double s = a[i][k] * inverse;
            for (int j = k + 1; j <= N; ++j) a[i][j] -= s * a[k][j];
        }
    }
    for (int k = N - 1; k >= 0; --k) {
        double sum = a[k][N];
        for (int j = k + 1; j < N; ++j) sum -= a[k][j] * x[j];
        x[k] = sum / a[k][k];
    }
    return true;
}

struct Spatial {
    const double* W;
    const double* q;
    double mu;
    Vec2 q_T, W_TN, W_NT;

    Spatial(const double* W_, const double* q_, double mu_)
        : W(W_), q(q_), mu(mu_), q_T(q_[1], q_[2]), W_TN(W_[1], W_[2]), W_NT(W_[3], W_[6]) {}
    Vec2 W_TT(const Vec2& x) const { return {W[4] * x[0] + W[7] * x[1], W[5] * x[0] + W[8] * x[1]}; }
    // p_N for p_T = p_N y from u_N = 0; negative or infinite when y is not possible
    double normal(const Vec2& y) const {
        const double denominator = W[0] + W_NT.dot(y);
        return denominator > 0 ? -q[0] / denominator : -1;
    }
    Vec2 slip(double p_N, const Vec2& y) const { return q_T + p_N * (W_TN + W_TT(y)); }
};

// The secular equation; d is the slip direction. False when the root it finds has no positive p_N.
bool slide_secular(const Spatial& c, Vec2& d) {
    const double q_N = c.q[0], mu = c.mu;
    const Vec2 a = c.W[0] * c.q_T - q_N * c.W_TN;
    const double m00 = mu * (c.q_T[0] * c.W_NT[0] - q_N * c.W[4]), m01 = mu * (c.q_T[0] * c.W_NT[1] - q_N * c.W[7]);
    const double m10 = mu * (c.q_T[1] * c.W_NT[0] - q_N * c.W[5]), m11 = mu * (c.q_T[1] * c.W_NT[1] - q_N * c.W[8]);
    const double half_trace = 0.5 * (m00 + m11), half_gap = 0.5 * (m00 - m11);
    const double discriminant = half_gap * half_gap + m01 * m10;
    double low = 0;
    if (discriminant >= 0) low = std::max(0.0, -half_trace + std::sqrt(discriminant));
    double high = low + a.norm() + std::abs(m00) + std::abs(m01) + std::abs(m10) + std::abs(m11);
    // |d(t)| = 1 by Newton on 1/|d| - 1, which is nearly linear in t, kept inside the bracket
    double t = low;
    for (int k = 0; k < 100; ++k) {
        const double det = (m00 + t) * (m11 + t) - m01 * m10;
        const Vec2 x(((m11 + t) * a[0] - m01 * a[1]) / det, ((m00 + t) * a[1] - m10 * a[0]) / det);
        const double size = x.norm();
        double next;
        if (!(size < infinity) || det <= 0) {
            low = std::max(low, t);
            next = 0.5 * (low + high);
        } else {
            d = x / size;
            if (size > 1)
                low = t;
            else
                high = t;
            if (std::abs(size - 1) < 4e-16) break;
            // x' = -(M + t)^-1 x
            const Vec2 dx(-((m11 + t) * x[0] - m01 * x[1]) / det, -((m00 + t) * x[1] - m10 * x[0]) / det);
            const double slope = x.dot(dx) / size;  // of |x|
            next = t + (1 - size) * size / slope;
            if (!(next > low && next < high)) next = 0.5 * (low + high);
        }
        if (next == t || !(high - low > 1e-16 * high)) break;
        t = next;
    }
    return c.normal(-mu * d) > 0 && d.dot(c.slip(c.normal(-mu * d), -mu * d)) >= 0;
}

// Any sliding angle, by sampling: only reached when friction can wedge (W_NN < mu |W_NT|).
bool slide_sampled(const Spatial& c, Vec2& d) {
    constexpr double turn = 6.283185307179586;
    const auto across = [&](double angle) {  // cross product of d and u_T times the denominator of p_N
        const Vec2 x(std::cos(angle), std::sin(angle)), y = -c.mu * x;
        const Vec2 f = (c.W[0] + c.W_NT.dot(y)) * c.q_T - c.q[0] * (c.W_TN + c.W_TT(y));
        return x[0] * f[1] - x[1] * f[0];
    };
    for (const int samples : {32, 512}) {
        double before = across(0);
        for (int k = 1; k <= samples; ++k) {
            double low = turn * (k - 1) / samples, high = turn * k / samples;
            const double after = across(high);
            double f_low = before;
            before = after;
            if ((f_low > 0) == (after > 0)) continue;
            for (int b = 0; b < 60; ++b) {
                const double middle = 0.5 * (low + high), f = across(middle);
                if ((f > 0) == (f_low > 0)) {
                    low = middle;
                    f_low = f;
                } else {
                    high = middle;
                }
            }
            const Vec2 x(std::cos(low), std::sin(low));
            const double p_N = c.normal(-c.mu * x);
            if (p_N > 0 && p_N < infinity && x.dot(c.slip(p_N, -c.mu * x)) >= 0) {
                d = x;
                return true;
            }
        }
    }
    return false;
}

bool slide_disc(const Spatial& c, double* p) {
    Vec2 d = Vec2::Zero();
    if (!slide_secular(c, d) && !slide_sampled(c, d)) return false;
    p[0] = c.normal(-c.mu * d);
    p[1] = -c.mu * p[0] * d[0];
    p[2] = -c.mu * p[0] * d[1];
    return true;
}

// Corners and edges of the polygon; keeps the one that violates its inequalities least, relative to their size.
bool slide_polygon(const Spatial& c, int facets, double* p) {
    const Polygon& section = polygon(facets);
    double least = infinity;
    const auto offer = [&](double violation, double p_N, const Vec2& p_T) {
        if (!(violation < least)) return;
        least = violation;
        p[0] = p_N;
        p[1] = p_T[0];
        p[2] = p_T[1];
    };
    for (int j = 0; j < section.facets && least > 0; ++j) {
        const Vec2 y = c.mu * section.corner[j];
        if (const double p_N = c.normal(y); p_N > 0 && p_N < infinity) {
            const Vec2 u = c.slip(p_N, y);
            const int after = (j + 1) % section.facets, before = (j + section.facets - 1) % section.facets;
            const double here = section.corner[j].dot(u);
            const double better =
                std::max({0.0, here - section.corner[after].dot(u), here - section.corner[before].dot(u)});
            offer(better / (c.q_T.norm() + std::abs(c.q[0])), p_N, p_N * y);
        }
        // u_N = 0 and u.e = 0 for p_T = mu a p_N o + t e
        const Vec2 o = section.outward[j], e(-o[1], o[0]);
        const Vec2 y_o = c.mu * section.apothem * o;
        const Vec2 column = c.W_TN + c.W_TT(y_o), along = c.W_TT(e);
        const double A[4] = {c.W[0] + c.W_NT.dot(y_o), column.dot(e), c.W_NT.dot(e), along.dot(e)};
        const double b[2] = {-c.q[0], -c.q_T.dot(e)};
        double x[2];
        if (!solve_small<2>(A, b, x) || !(x[0] > 0)) continue;
        const Vec2 u = c.q_T + x[0] * column + x[1] * along;
        const double beyond = std::max(0.0, std::abs(x[1]) - c.mu * x[0] * section.half_edge) / x[0];
        const double backward = std::max(0.0, u.dot(o)) / (c.q_T.norm() + std::abs(c.q[0]));
        offer(std::max(beyond, backward), x[0], x[0] * y_o + x[1] * e);
    }
    return least < 1e-9;
}

bool in_cone(int dim, double mu, int facets, const double* p) {
    if (!(p[0] >= 0)) return false;
    if (dim == 2) return std::abs(p[1]) <= mu * p[0];
    if (is_disc(facets)) return p[1] * p[1] + p[2] * p[2] <= mu * mu * p[0] * p[0];
    const Polygon& section = polygon(facets);
    for (const Vec2& o : section.outward)
        if (o[0] * p[1] + o[1] * p[2] > mu * p[0] * section.apothem) return false;
    return true;
}

ContactMode solve_planar(double mu, const double* W, const double* q, double* p) {
    double x[2];
    const double minus[2] = {-q[0], -q[1]};
    if (solve_small<2>(W, minus, x) && in_cone(2, mu, 0, x)) {
        p[0] = x[0];
        p[1] = x[1];
        return ContactMode::stick;
    }
    // p_T = side mu p_N must oppose u_T; with wedging both sides are tried and the better one kept
    double least = infinity;
    for (const double side : {-1.0, 1.0}) {
        const double denominator = W[0] + side * mu * W[2];
        if (!(denominator > 0)) continue;
        const double p_N = -q[0] / denominator;
        const double u_T = q[1] + p_N * (W[1] + side * mu * W[3]);
        const double wrong = std::max(0.0, side * u_T);
        if (wrong < least) {
            least = wrong;
            p[0] = p_N;
            p[1] = side * mu * p_N;
        }
    }
    return ContactMode::slip;
}

// Without a proximal term; false when W is too singular to decide.
bool solve_plain(int dim, double mu, int facets, const double* W, const double* q, double* p, ContactMode& mode) {
    double x[3];
    const double minus[3] = {-q[0], -q[1], -q[2]};
    if (!solve_small<3>(W, minus, x)) return false;
    if (in_cone(dim, mu, facets, x)) {
        std::copy(x, x + 3, p);
        mode = ContactMode::stick;
        return true;
    }
    const Spatial contact(W, q, mu);
    mode = ContactMode::slip;
    return is_disc(facets) ? slide_disc(contact, p) : slide_polygon(contact, facets, p);
}

}  // namespace

ContactMode solve_contact(int dim, double mu, int facets, const double* W, const double* q, double* p) {
    if (q[0] >= 0) {
        std::fill(p, p + dim, 0.0);
        return ContactMode::open;
    }
    double trace = 0;
    for (int k = 0; k < dim; ++k) trace += W[k * (dim + 1)];
    // No impulse moves this contact, or the numbers have overflowed.
    if (!(trace > 0 && trace < infinity)) return p[0] > 0 ? ContactMode::stick : ContactMode::open;
    if (dim == 1 || mu <= 0) {
        std::fill(p + 1, p + dim, 0.0);
        p[0] = W[0] > 0 ? -q[0] / W[0] : p[0];
        return dim == 1 ? ContactMode::stick : ContactMode::slip;
    }
    if (dim == 3 && facets == 2) {  // friction along t1 only
        const double flat[4] = {W[0], W[1], W[3], W[4]};
        p[2] = 0;
        return solve_contact(2, mu, 0, flat, q, p);
    }
    if (dim == 2) {
        const double det = W[0] * W[3] - W[1] * W[2];
        if (det > singular * W[0] * W[0]) return solve_planar(mu, W, q, p);
        const double extra = proximal * (W[0] + W[3]);
        const double W_near[4] = {W[0] + extra, W[1], W[2], W[3] + extra};
        const double q_near[2] = {q[0] - extra * p[0], q[1] - extra * p[1]};
        if (q_near[0] >= 0) {
            p[0] = p[1] = 0;
            return ContactMode::open;
        }
        return solve_planar(mu, W_near, q_near, p);
    }
    ContactMode mode = ContactMode::stick;
    if (solve_plain(dim, mu, facets, W, q, p, mode)) return mode;
    double extra = proximal * trace;
    for (int k = 0; k < proximal_tries; ++k, extra *= 100) {
        double W_near[9], q_near[3], x[3];
        std::copy(W, W + 9, W_near);
        for (int i = 0; i < 3; ++i) {
            W_near[4 * i] += extra;
            q_near[i] = q[i] - extra * p[i];
        }
        if (q_near[0] >= 0) {
            std::fill(p, p + 3, 0.0);
            return ContactMode::open;
        }
        if (solve_plain(dim, mu, facets, W_near, q_near, x, mode)) {
            std::copy(x, x + 3, p);
            return mode;
        }
    }
    return mode;
}

}  // namespace stickslip
