// The algebra of Lorentz' cone, judged by its laws: in the middle of the cone, next to its border, and at sizes from
// 1e-8 to 1e8. Where a law is a product of large and small matrices, its error is measured against the sizes of the
// factors (backward error), which is all that rounding allows next to the border.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "solvers/lorentz.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using stickslip::testing::Random;

namespace {

constexpr double eps = 2.2e-16;

// A point of the cone in `dim` dimensions: x_0 = size, |x_T| = (1 - border) size.
Vec3 point(Random& random, int dim, double size, double border) {
    if (dim == 1) return {size, 0, 0};
    const double angle = random.uniform(0, 6.283185307179586), t = size * (1 - border);
    if (dim == 2) return {size, random.below(2) ? t : -t, 0};
    return {size, t * std::cos(angle), t * std::sin(angle)};
}

Vec3 direction(Random& random, int dim, double size) {
    Vec3 d = Vec3::Zero();
    for (int k = 0; k < dim; ++k) d[k] = size * random.normal();
    return d;
}

// x_0 + a d_0 - |x_T + a d_T| in wide numbers
long double depth(const Vec3& x, const Vec3& d, long double a) {
    const long double s = x[0] + a * d[0], t1 = x[1] + a * d[1], t2 = x[2] + a * d[2];
    return s - std::sqrt(t1 * t1 + t2 * t2);
}

long double reach_by_bisection(const Vec3& x, const Vec3& d) {
    long double low = 0, high = 1e-30L;
    while (depth(x, d, high) >= 0) {
        high *= 2;
        if (high > 1e40L) return std::numeric_limits<long double>::infinity();
    }
    for (int k = 0; k < 300; ++k) {
        const long double middle = (low + high) / 2;
        (depth(x, d, middle) >= 0 ? low : high) = middle;
    }
    return low;
}

template <class Use>
void for_points(Use&& use) {
    Random random(1);
    for (int dim = 1; dim <= 3; ++dim)
        for (const double size : {1e-8, 1e-3, 1.0, 1e3, 1e8})
            for (const double border : {0.9, 0.5, 1e-2, 1e-6, 1e-12})
                for (int k = 0; k < 20; ++k) use(random, dim, size, border);
}

}  // namespace

TEST(Lorentz, ScalingTakesImpulsesToVelocities) {
    for_points([](Random& random, int dim, double size, double border) {
        const Vec3 z = point(random, dim, size, border);
        const Vec3 t = point(random, dim, random.log_uniform(1e-8, 1e8), random.below(2) ? border : 0.4);
        lorentz::Scaling s;
        lorentz::scale(z, t, s);
        const double big = s.theta.norm(), small = s.theta_inverse.norm();
        EXPECT_LE((s.theta * z - t).norm(), 20 * eps * big * z.norm());
        EXPECT_LE((s.theta_inverse * t - z).norm(), 20 * eps * small * t.norm());
        EXPECT_LE((s.G * s.G - s.theta).norm(), 20 * eps * big);
        EXPECT_LE((s.G_inverse * s.G_inverse - s.theta_inverse).norm(), 20 * eps * small);
        EXPECT_LE((s.theta * s.theta_inverse - Mat3::Identity()).norm(), 20 * eps * big * small);
        EXPECT_LE((s.G * s.G_inverse - Mat3::Identity()).norm(), 20 * eps * s.G.norm() * s.G_inverse.norm());
        EXPECT_LE((s.G * z - s.middle).norm(), 20 * eps * s.G.norm() * z.norm());
        EXPECT_LE((s.G_inverse * t - s.middle).norm(),
                  20 * eps * (s.G_inverse.norm() * t.norm() + s.G.norm() * z.norm()));
        EXPECT_EQ(s.theta, s.theta.transpose());
        EXPECT_EQ(s.G, s.G.transpose());
        for (int k = dim; k < 3; ++k) {  // dimensions that are not there stay apart
            for (int l = 0; l < dim; ++l) EXPECT_EQ(s.theta(k, l), 0);
            EXPECT_EQ(s.middle[k], 0);
        }
    });
}

// Far from the border the laws hold to rounding without any help from the size of the factors.
TEST(Lorentz, ScalingOfInteriorPointsIsExact) {
    Random random(2);
    for (int k = 0; k < 2000; ++k) {
        const int dim = 1 + random.below(3);
        const double a = random.log_uniform(1e-8, 1e8), b = random.log_uniform(1e-8, 1e8);
        const Vec3 z = point(random, dim, a, 0.5), t = point(random, dim, b, 0.5);
        lorentz::Scaling s;
        lorentz::scale(z, t, s);
        EXPECT_LE((s.theta * z - t).norm(), 1e-13 * t.norm());
        EXPECT_LE((s.theta * s.theta_inverse - Mat3::Identity()).norm(), 1e-13);
        EXPECT_LE((s.G * z - s.G_inverse * t).norm(), 1e-13 * s.middle.norm());
        // both in the middle: <z, t> is the squared size of the scaled point
        EXPECT_NEAR(s.middle.squaredNorm() / z.dot(t), 1, 1e-13);
        EXPECT_GT(lorentz::determinant(s.middle), 0);
        // theta maps the cone onto itself
        const Vec3 image = s.theta * point(random, dim, 1, 1e-3);
        EXPECT_GT(image[0], std::hypot(image[1], image[2]));
    }
}

TEST(Lorentz, DivideUndoesTheProduct) {
    for_points([](Random& random, int dim, double size, double border) {
        const Vec3 x = point(random, dim, size, border), y = direction(random, dim, random.log_uniform(1e-8, 1e8));
        const Vec3 b = lorentz::product(x, y);
        EXPECT_NEAR(b[0], x.dot(y), 4 * eps * x.norm() * y.norm());
        // backward: what comes out has the product that went in, to the size of what came out
        const Vec3 z = lorentz::divide(x, b);
        EXPECT_LE((lorentz::product(x, z) - b).norm(), 20 * eps * x.norm() * (z.norm() + y.norm()));
        // forward: the condition of x o . is 1 / border
        EXPECT_LE((z - y).norm(), 50 * eps / (dim == 1 ? 1 : border) * y.norm());
        EXPECT_EQ(lorentz::product(x, y), lorentz::product(y, x));
    });
}

TEST(Lorentz, DeterminantKeepsItsDigitsAtTheBorder) {
    Random random(3);
    for (int k = 0; k < 1000; ++k) {
        const Vec3 x = point(random, 3, random.log_uniform(1e-8, 1e8), random.log_uniform(1e-12, 1));
        const long double t1 = x[1], t2 = x[2], x0 = x[0];
        const long double exact = x0 * x0 - t1 * t1 - t2 * t2;
        const double size = x[0] * x[0];
        EXPECT_NEAR(lorentz::determinant(x), static_cast<double>(exact), 4 * eps * size);
    }
}

TEST(Lorentz, ReachIsWhereBisectionFindsTheBorder) {
    int endless = 0, ended = 0;
    for_points([&](Random& random, int dim, double size, double border) {
        const Vec3 x = point(random, dim, size, border), d = direction(random, dim, random.log_uniform(1e-8, 1e8));
        const double a = lorentz::reach(x, d);
        const long double exact = reach_by_bisection(x, d);
        if (std::isinf(exact)) {
            ++endless;
            EXPECT_EQ(a, infinity);
            return;
        }
        ++ended;
        // x itself is known to eps |x|, and the border it sees with it.
        EXPECT_NEAR(a / static_cast<double>(exact), 1, 1e-13 + 50 * eps / (dim == 1 ? 1 : border))
            << x.transpose() << " along " << d.transpose();
    });
    EXPECT_GT(endless, 100);
    EXPECT_GT(ended, 1000);
}

// Directions that graze: straight to the tip, along the border, nearly so. A step of 0.999 of the reach stays inside.
TEST(Lorentz, StepsShortOfTheReachStayInside) {
    Random random(4);
    for (int k = 0; k < 20000; ++k) {
        const int dim = 1 + random.below(3);
        const double border = random.log_uniform(1e-10, 1);
        const Vec3 x = point(random, dim, random.log_uniform(1e-8, 1e8), border);
        Vec3 d = random.below(2) ? Vec3(-x) : Vec3(x[0], -x[1], -x[2]);
        if (random.below(2)) d = -d;
        d += direction(random, dim, random.log_uniform(1e-16, 1) * x[0]);
        d *= random.log_uniform(1e-6, 1e6);
        const double a = lorentz::reach(x, d);
        ASSERT_GT(a, 0);
        const double step = std::min(0.999 * a, 1e9 * x[0] / d.norm());
        ASSERT_GT(static_cast<double>(depth(x, d, step)), -4 * eps * x[0])
            << x.transpose() << " border " << border << " along " << d.transpose();
    }
}

TEST(Lorentz, NoDirectionHasNoEnd) {
    EXPECT_EQ(lorentz::reach({1, 0.5, 0}, Vec3::Zero()), infinity);
    EXPECT_EQ(lorentz::reach({1, 0.5, 0}, {1, 1, 0}), infinity) << "along the border";
    EXPECT_EQ(lorentz::reach({1, 0, 0}, {2, 0, 0}), infinity);
    EXPECT_DOUBLE_EQ(lorentz::reach({1, 0, 0}, {-2, 0, 0}), 0.5);
    EXPECT_DOUBLE_EQ(lorentz::reach({1, 0, 0}, {0, 0, 4}), 0.25);
    EXPECT_DOUBLE_EQ(lorentz::reach({3, 1, 0}, {-1, -1, 0}), 2);
}
