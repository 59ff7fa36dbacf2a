// The order conditions of ordinary differential equations, one per rooted tree [Hairer, Norsett & Wanner, II.2], and row sums.
#include <gtest/gtest.h>

#include <cmath>

#include "schemes/smooth/tableaux.hpp"

namespace stickslip {
namespace {

using Vector = std::vector<double>;

Vector times(const std::vector<Vector>& A, const Vector& x) {
    Vector y(A.size(), 0.0);
    for (std::size_t i = 0; i < A.size(); ++i)
        for (std::size_t j = 0; j < A[i].size(); ++j) y[i] += A[i][j] * x[j];
    return y;
}

Vector mul(const Vector& a, const Vector& b) {
    Vector y(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) y[i] = a[i] * b[i];
    return y;
}

double sum(const Vector& b, const Vector& x) {
    double s = 0;
    for (std::size_t i = 0; i < b.size(); ++i) s += b[i] * x[i];
    return s;
}

// Largest residual of the conditions of one order.
double residual(int order, const std::vector<Vector>& A, const Vector& b) {
    const Vector one(A.size(), 1.0), c = times(A, one), c2 = mul(c, c), c3 = mul(c2, c), Ac = times(A, c);
    const Vector AAc = times(A, Ac), Ac2 = times(A, c2);
    const auto off = [&](const Vector& x, double density) { return std::abs(sum(b, x) - 1 / density); };
    switch (order) {
        case 1: return off(one, 1);
        case 2: return off(c, 2);
        case 3: return std::max(off(c2, 3), off(Ac, 6));
        case 4: return std::max({off(c3, 4), off(mul(c, Ac), 8), off(Ac2, 12), off(AAc, 24)});
        default:
            return std::max({off(mul(c3, c), 5), off(mul(c2, Ac), 10), off(mul(c, Ac2), 15), off(mul(c, AAc), 30),
                             off(mul(Ac, Ac), 20), off(times(A, c3), 20), off(times(A, mul(c, Ac)), 40),
                             off(times(A, Ac2), 60), off(times(A, AAc), 120)});
    }
}

void expect_order(int order, const std::vector<Vector>& A, const Vector& b) {
    for (int p = 1; p <= order; ++p) EXPECT_LT(residual(p, A, b), 1e-14) << "order " << p;
    if (order < 5) {
        EXPECT_GT(residual(order + 1, A, b), 1e-4) << "higher order than it says";
    }
}

TEST(Tableaux, ExplicitMethodsFulfilTheConditionsOfTheirOrder) {
    for (const char* name : {"rk4", "rkf45", "dopri5"}) {
        SCOPED_TRACE(name);
        const ExplicitTableau& t = explicit_tableau(name);
        expect_order(t.order, t.A, t.b);
        const Vector c = times(t.A, Vector(t.A.size(), 1.0));
        for (std::size_t i = 0; i < c.size(); ++i) EXPECT_NEAR(c[i], t.c[i], 1e-15);
    }
    expect_order(5, explicit_tableau("rkf45").A, explicit_tableau("rkf45").embedded);
    expect_order(4, explicit_tableau("dopri5").A, explicit_tableau("dopri5").embedded);
}

TEST(Tableaux, HalfExplicitMethodsFulfilTheConditionsOfEquationsWithoutConstraints) {
    for (const char* name : {"hem3", "hem4", "hem5", "phem56"}) {
        SCOPED_TRACE(name);
        const HalfExplicitTableau& t = half_explicit_tableau(name);
        expect_order(t.order, t.A, t.A_bar.back());
        for (std::size_t i = t.first_explicit ? 1 : 0; i < t.A_bar.size(); ++i) {
            EXPECT_EQ(t.A_bar[i].size(), i + 1);
            EXPECT_NE(t.A_bar[i].back(), 0.0);
            double row = 0;
            for (const double a : t.A_bar[i]) row += a;
            EXPECT_NEAR(row, t.c_bar[i], 2e-15);
        }
    }
}

}  // namespace
}  // namespace stickslip
