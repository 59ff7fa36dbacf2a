// Curves: what defines the spline, the nearest point against brute force, and the rows' derivatives on and off the curve
// against differences of rows whose foot was found anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "model/joints/curve.hpp"
#include "stickslip/error.hpp"
#include "support/count_malloc.hpp"

namespace stickslip {
namespace {

constexpr double pi = std::numbers::pi;

class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    double uniform(double lower, double upper) { return std::uniform_real_distribution<double>(lower, upper)(engine_); }
    int below(int n) { return static_cast<int>(uniform(0, n)); }
    Vec3 vector(double scale) {
        const double x = uniform(-scale, scale), y = uniform(-scale, scale), z = uniform(-scale, scale);
        return {x, y, z};
    }

private:
    std::mt19937 engine_;
};

enum class Form { open_space, closed_space, open_plane, closed_plane, straight };
constexpr Form forms[] = {Form::open_space, Form::closed_space, Form::open_plane, Form::closed_plane, Form::straight};

// Points on a wavy line or ring, shaken, in a random frame.
Curve any_curve(Dice& dice, Form form) {
    const bool closed = form == Form::closed_space || form == Form::closed_plane;
    const bool flat = form == Form::open_plane || form == Form::closed_plane;
    const int n = 4 + dice.below(8);
    const Quat R = Quat(1, dice.uniform(-1, 1), dice.uniform(-1, 1), dice.uniform(-1, 1)).normalized();
    const Vec3 origin = dice.vector(2);
    std::vector<Vec3> points;
    for (int i = 0; i < n; ++i) {
        Vec3 x;
        if (form == Form::straight) {
            x = Vec3(i + dice.uniform(-0.3, 0.3), 0, 0);
        } else {
            const double angle = 2 * pi * i / n;
            x = closed ? Vec3(Vec3(std::cos(angle), std::sin(angle), 0.4 * std::sin(2 * angle)) * (0.2 * n))
                       : Vec3(i, 0.5 * std::sin(i), 0.5 * std::cos(1.3 * i));
            x += dice.vector(0.2);
            if (flat) x.z() = 0;
        }
        points.push_back(origin + R * x);
    }
    return {points, closed};
}

double smallest_clearance(const Curve& curve, double s, const Vec3& p) {
    return curve.rows(s, curve.reference_axis(s), p).clearance;
}

TEST(Curve, PassesThroughItsPointsWithContinuousTangentAndBend) {
    Dice dice(1);
    for (int trial = 0; trial < 100; ++trial) {
        const bool closed = trial % 2 == 0;
        std::vector<Vec3> points;
        for (int i = 0; i < 3 + trial % 7; ++i) points.push_back(Vec3(i, std::sin(2.0 * i), 0) + dice.vector(0.3));
        const Curve curve(points, closed);
        double s = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const CurvePoint x = curve.at(s);
            EXPECT_LT((x.c - points[i]).norm(), 1e-13);
            const double h = 1e-7;
            const CurvePoint before = curve.at(s - h), after = curve.at(s + h);
            EXPECT_LT((before.d1 - x.d1).norm() + (after.d1 - x.d1).norm(), 2e-5);
            EXPECT_LT((before.d2 - x.d2).norm() + (after.d2 - x.d2).norm(), 2e-5);
            if (!closed && (i == 0 || i + 1 == points.size())) {
                EXPECT_LT(x.d2.norm(), 1e-13);
            }
            s += (points[(i + 1) % points.size()] - points[i]).norm();
        }
        if (closed) {
            EXPECT_NEAR(curve.length(), s, 1e-12);
        }
    }
}

TEST(Curve, DerivativesAreThoseOfTheCurve) {
    Dice dice(2);
    for (int trial = 0; trial < 200; ++trial) {
        const Curve curve = any_curve(dice, forms[trial % 5]);
        const double s = dice.uniform(-0.5, curve.length() + 0.5), h = 1e-4;
        const CurvePoint x = curve.at(s), before = curve.at(s - h), after = curve.at(s + h);
        EXPECT_LT(((after.c - before.c) / (2 * h) - x.d1).norm(), 1e-6);
        EXPECT_LT(((after.d1 - before.d1) / (2 * h) - x.d2).norm(), 1e-2 * h / 1e-4);
        if ((before.d3 - after.d3).norm() > 1e-12) continue;  // a given point between
        EXPECT_LT(((after.d1 - before.d1) / (2 * h) - x.d2).norm(), 1e-9);
        EXPECT_LT(((after.d2 - before.d2) / (2 * h) - x.d3).norm(), 1e-9);
    }
}

// The spline through points of a circle nears it with the fourth power of the spacing.
TEST(Curve, ClosedThroughACircleIsACircleToFourthOrder) {
    double error[2];
    for (int k = 0; k < 2; ++k) {
        const int n = 16 << k;
        std::vector<Vec3> points;
        for (int i = 0; i < n; ++i) points.emplace_back(std::cos(2 * pi * i / n), 0, std::sin(2 * pi * i / n));
        const Curve circle(points, true);
        EXPECT_TRUE(circle.planar());
        error[k] = 0;
        for (int i = 0; i < 1000; ++i)
            error[k] = std::max(error[k], std::abs(circle.at(circle.length() * i / 1000).c.norm() - 1));
        EXPECT_NEAR(circle.arc_length(), 2 * pi, 20 * error[k]);
    }
    EXPECT_LT(error[1], 1e-5);
    EXPECT_GT(error[0] / error[1], 14);
    EXPECT_LT(error[0] / error[1], 18);
}

TEST(Curve, NearestIsTheLeastOfAll) {
    Dice dice(3);
    for (int trial = 0; trial < 500; ++trial) {
        const Curve curve = any_curve(dice, forms[trial % 5]);
        const Vec3 p = curve.at(dice.uniform(0, curve.length())).c + dice.vector(trial % 3 == 0 ? 3 : 0.5);
        double least = infinity;
        const int samples = 20000;
        for (int i = 0; i <= samples; ++i)
            least = std::min(least, (p - curve.at(curve.length() * i / samples).c).norm());
        const double s = curve.nearest(p);
        const CurvePoint x = curve.at(s);
        EXPECT_LE((p - x.c).norm(), least + 1e-12);
        EXPECT_NEAR((p - x.c).dot(x.d1), 0, 1e-12);
        // Sampling misses the least by half a spacing at most.
        if (s >= 0 && s <= curve.length()) {
            EXPECT_GT((p - x.c).norm(), least - 1.5 * curve.length() / samples);
        }
    }
}

TEST(Curve, FootFollowsAMovingPointWithoutJumps) {
    Dice dice(4);
    for (int trial = 0; trial < 50; ++trial) {
        const Curve curve = any_curve(dice, forms[trial % 4]);
        // Along the curve and beyond it, beside it by a tenth: two turns of a closed one.
        const double from = curve.closed() ? 0 : -1, to = curve.closed() ? 2 * curve.length() : curve.length() + 1;
        const Vec3 beside = dice.vector(0.06);
        double s = curve.nearest(curve.at(from).c + beside, from);
        const int steps = 4000;
        for (int k = 0; k <= steps; ++k) {
            const double t = from + (to - from) * k / steps;
            const double next = curve.nearest(curve.at(t).c + beside, s);
            EXPECT_LT(std::abs(next - s), 8 * (to - from) / steps + 1e-9) << trial << " " << t;
            s = next;
        }
        EXPECT_NEAR(s, to, 0.5);
    }
}

// p(t) = p + t u + t^2/2 w: g_i along it, its foot found anew each time.
TEST(Curve, DerivativesOfTheRowsAreThoseOfTheFunctionOnAndOffTheCurve) {
    Dice dice(5);
    int seen[5] = {0, 0, 0, 0, 0}, extended = 0, curved_away = 0;
    double worst_first = 0, worst_second = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const int form = trial % 5;
        const Curve curve = any_curve(dice, forms[form]);
        const double place = dice.uniform(curve.closed() ? 0 : -0.3, curve.length() + (curve.closed() ? 0 : 0.3));
        const double off = trial % 4 == 0 ? 0 : 0.3;
        const Vec3 p = curve.at(place).c + dice.vector(off), u = dice.vector(1), w = dice.vector(1);
        const double s = curve.nearest(p, place);
        if (smallest_clearance(curve, s, p) < 0.5) continue;
        const int reference = curve.reference_axis(s);
        const double h = 5e-4;
        double value[5][2], foot[5];
        bool one_piece = true;
        for (int k = -2; k <= 2; ++k) {
            const double t = k * h;
            const Vec3 x = p + t * u + t * t / 2 * w;
            foot[k + 2] = curve.nearest(x, s);
            if ((curve.at(foot[k + 2]).d3 - curve.at(s).d3).norm() > 1e-12) one_piece = false;
            const CurveRows there = curve.rows(foot[k + 2], reference, x);
            for (int i = 0; i < 2; ++i) value[k + 2][i] = there.value[i];
        }
        if (!one_piece) continue;  // differences across a given point see the jump of c'''
        ++seen[form];
        if (s < 0 || s > curve.length()) ++extended;
        const CurveRows rows = curve.rows(s, reference, p, u, w);
        const auto first = [&](auto&& f) { return (8 * (f(3) - f(1)) - (f(4) - f(0))) / (12 * h); };
        EXPECT_NEAR(rows.parameter_rate, first([&](int k) { return foot[k]; }), 1e-7);
        for (int i = 0; i < 2; ++i) {
            const auto g = [&](int k) { return value[k][i]; };
            const double rate = first(g);
            const double rate2 = (16 * (g(3) + g(1)) - (g(4) + g(0)) - 30 * g(2)) / (12 * h * h);
            EXPECT_NEAR(rows.gradient[i].dot(u), rate, 1e-8) << trial;
            EXPECT_NEAR(rows.second[i], rate2, 2e-6 * (1 + std::abs(rate2))) << trial;
            worst_first = std::max(worst_first, std::abs(rows.gradient[i].dot(u) - rate));
            worst_second = std::max(worst_second, std::abs(rows.second[i] - rate2));
            EXPECT_NEAR(rows.normal[i].dot(curve.at(s).d1), 0, 1e-14);
            EXPECT_NEAR(rows.normal[i].norm(), 1, 1e-14);
            if ((rows.gradient[i] - rows.normal[i]).norm() > 1e-3) ++curved_away;
        }
        EXPECT_NEAR(rows.normal[0].dot(rows.normal[1]), 0, 1e-14);
        // Both rows zero means on the curve: what is away from it is along the normals.
        EXPECT_NEAR(std::hypot(rows.value[0], rows.value[1]), (p - curve.at(s).c).norm(), 1e-13);
        if (off == 0) {
            EXPECT_LT((rows.gradient[0] - rows.normal[0]).norm() + (rows.gradient[1] - rows.normal[1]).norm(), 1e-12);
        }
    }
    for (const int count : seen) EXPECT_GT(count, 200);
    EXPECT_GT(extended, 20);
    EXPECT_GT(curved_away, 200);  // the gradient off the curve is more than the normal
    RecordProperty("worst_first", std::to_string(worst_first));
    RecordProperty("worst_second", std::to_string(worst_second));
}

TEST(Curve, RowsOfACircleAreHeightAndRadius) {
    std::vector<Vec3> points;
    for (int i = 0; i < 64; ++i) points.emplace_back(2 * std::cos(2 * pi * i / 64), 2 * std::sin(2 * pi * i / 64), 1);
    const Curve circle(points, true, Vec3(0, 0, -1));
    EXPECT_EQ(circle.reference_axis(0.3), 3);
    const Vec3 p(1.5, 0.7, 1.2);
    const CurveRows rows = circle.rows(circle.nearest(p), 3, p);
    EXPECT_NEAR(rows.value[0], -0.2, 1e-12);  // n_1 was asked to point down
    EXPECT_NEAR(rows.value[1], p.head<2>().norm() - 2, 1e-5);
    EXPECT_LT((rows.gradient[1] - Vec3(p.x(), p.y(), 0).normalized()).norm(), 1e-3);
    EXPECT_NEAR(rows.clearance, p.head<2>().norm() / 2, 1e-3);
    // Second derivative of the radius: u_t^2/r along a straight line; the bend of the spline is exact to h^2 only.
    const Vec3 across = Vec3(-p.y(), p.x(), 0).normalized();
    EXPECT_NEAR(circle.rows(circle.nearest(p), 3, p, across).second[1], 1 / p.head<2>().norm(), 1e-2);
}

TEST(Curve, ReferenceAxisIsKeptWhileItsAngleIsGood) {
    // A quarter turn from x to z in space: y stays good all along, x becomes bad early on the way back.
    std::vector<Vec3> points;
    for (int i = 0; i <= 8; ++i) {
        const double a = pi / 2 * i / 8;
        points.emplace_back(std::sin(a), 0.1 * std::sin(3 * a), 1 - std::cos(a));
    }
    const Curve curve(points, false);
    EXPECT_FALSE(curve.planar());
    int reference = curve.reference_axis(0);
    const int first = reference;
    int changes = 0;
    for (double s = 0; s < curve.length(); s += 0.01) {
        const int next = curve.reference_axis(s, reference);
        if (next != reference) ++changes;
        reference = next;
        EXPECT_LT(std::abs(curve.at(s).d1.normalized()[reference]), 0.87);
    }
    EXPECT_LE(changes, 1);
    EXPECT_NE(first, 0);
}

TEST(Curve, StraightOnesTakeTheWishedNormal) {
    const std::vector<Vec3> points{{0, 0, 0}, {1, 1, 0}, {3, 3, 0}};
    const Curve line(points, false, Vec3::UnitY());
    EXPECT_TRUE(line.planar());
    const CurveRows rows = line.rows(line.nearest(Vec3(1, 1, 2)), 3, Vec3(1, 1, 2));
    EXPECT_NEAR(rows.normal[0].dot(Vec3(-1, 1, 0).normalized()), 1, 1e-14);
    EXPECT_NEAR(std::abs(rows.value[1]), 2, 1e-14);
    EXPECT_NEAR(line.arc_length(), std::sqrt(18.0), 1e-13);
    // A wish along the line cannot be granted.
    const Curve other(points, false, Vec3(1, 1, 0));
    EXPECT_NEAR(other.rows(1, 3, Vec3::Zero()).normal[0].dot(Vec3(1, 1, 0)), 0, 1e-14);
}

TEST(Curve, ImpossiblePointsAreRefused) {
    using Points = std::vector<Vec3>;
    const Vec3 a(0, 0, 0), b(1, 0, 0), c(1, 1, 0);
    EXPECT_THROW(Curve(Points{a}, false), Error);
    EXPECT_THROW(Curve(Points{a, b}, true), Error);
    EXPECT_THROW(Curve(Points{a, b, b, c}, false), Error);
    EXPECT_THROW(Curve(Points{a, b, c, a}, true), Error);
    EXPECT_THROW(Curve(Points{a, b, a}, false), Error);  // turns back on the spot
    EXPECT_THROW(Curve(Points{a, Vec3(0, std::nan(""), 0)}, false), Error);
    EXPECT_NO_THROW(Curve(Points{a, b}, false));
    EXPECT_NO_THROW(Curve(Points{a, b, c}, true));
}

TEST(Curve, EvaluationAllocatesNothing) {
    if (!STICKSLIP_COUNTS_MALLOC) return;  // the sanitizer owns malloc
    Dice dice(6);
    const Curve curve = any_curve(dice, Form::closed_space);
    const long before = testing::allocations;
    double sum = curve.arc_length();
    for (int k = 0; k < 100; ++k) {
        const Vec3 p = dice.vector(3);
        const double s = curve.nearest(p, curve.nearest(p));
        sum += curve.rows(s, curve.reference_axis(s), p, p, p).second[0] + curve.at(s).c.x();
    }
    EXPECT_EQ(testing::allocations - before, 0);
    EXPECT_TRUE(std::isfinite(sum));
}

TEST(Curve, PointAtTheCentreOfCurvatureGivesNoClearance) {
    std::vector<Vec3> points;
    for (int i = 0; i < 64; ++i) points.emplace_back(2 * std::cos(2 * pi * i / 64), 2 * std::sin(2 * pi * i / 64), 0);
    const Curve circle(points, true);
    const double s = circle.nearest(Vec3(1e-9, 0, 0));
    EXPECT_TRUE(std::isfinite(s));
    EXPECT_NEAR(circle.rows(s, 3, Vec3(1e-9, 0, 0)).clearance, 0, 2e-2);
}

}  // namespace
}  // namespace stickslip
