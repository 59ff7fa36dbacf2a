// Shapes: mass properties by closed forms and by cutting solids into parts, bounds that hold every corner and touch.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "geometry/shape.hpp"
#include "stickslip/error.hpp"

namespace stickslip {
namespace {

Quat any_attitude(std::mt19937& random) {
    std::normal_distribution<double> normal;
    Quat q(normal(random), normal(random), normal(random), normal(random));
    return q.normalized();
}

Vec3 any_vector(std::mt19937& random, double scale) {
    std::uniform_real_distribution<double> uniform(-scale, scale);
    return {uniform(random), uniform(random), uniform(random)};
}

void expect_same(const MassProperties& x, const MassProperties& y, double tolerance) {
    EXPECT_NEAR(x.mass, y.mass, tolerance);
    EXPECT_LT((x.centroid - y.centroid).norm(), tolerance);
    EXPECT_LT((x.inertia - y.inertia).norm(), tolerance);
}

TEST(MassProperties, SphereHasTwoFifthsOfItsMassTimesRadiusSquared) {
    const MassProperties m = mass_properties(Shape{Sphere{0.3}, {}});
    EXPECT_DOUBLE_EQ(m.mass, 4.0 / 3.0 * std::numbers::pi * 0.027);
    EXPECT_LT((m.inertia - 0.4 * m.mass * 0.09 * Mat3::Identity()).norm(), 1e-16);
    EXPECT_EQ(m.centroid, Vec3::Zero());
}

TEST(MassProperties, BoxInertiaIsAboutEachAxisOfTheOtherTwoEdges) {
    const MassProperties m = mass_properties(Shape{Box{Vec3(0.5, 1.0, 1.5)}, {}});  // edges 1, 2, 3
    EXPECT_DOUBLE_EQ(m.mass, 6);
    EXPECT_LT((Vec3(m.inertia.diagonal()) - 6.0 / 12 * Vec3(4 + 9, 1 + 9, 1 + 4)).norm(), 1e-14);
    EXPECT_EQ((m.inertia - Mat3(m.inertia.diagonal().asDiagonal())).norm(), 0);
}

TEST(MassProperties, BoxCutIntoEightUnequalPartsWeighsAndTurnsTheSame) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 20; ++trial) {
        const Pose pose{any_vector(random, 2), any_attitude(random)};
        const Vec3 half = Vec3(1.1, 0.7, 0.4);
        const Vec3 cut = any_vector(random, 0.9).cwiseProduct(half);
        std::vector<Shape> parts;
        for (int v = 0; v < 8; ++v) {
            Vec3 h, c;
            for (int k = 0; k < 3; ++k) {
                const double far = (v >> k & 1) != 0 ? half[k] : -half[k];
                h[k] = std::abs(far - cut[k]) / 2;
                c[k] = (far + cut[k]) / 2;
            }
            parts.push_back({Box{h}, {pose * c, pose.attitude}});
        }
        expect_same(mass_properties(parts), mass_properties(Shape{Box{half}, pose}), 1e-12);
    }
}

// int (x - o)(x - o)' dV over the solid does not care how the frame is named.
TEST(MassProperties, TurningTheFrameTurnsTheInertia) {
    std::mt19937 random(8);
    const Pose pose{Vec3(1, -2, 0.5), any_attitude(random)};
    const MassProperties still = mass_properties(Shape{Box{Vec3(0.2, 0.5, 0.9)}, {}});
    const MassProperties turned = mass_properties(Shape{Box{Vec3(0.2, 0.5, 0.9)}, pose});
    const Vec3 w = any_vector(random, 1);
    EXPECT_NEAR((pose.attitude * w).dot(turned.inertia * (pose.attitude * w)), w.dot(still.inertia * w), 1e-14);
    EXPECT_EQ(turned.centroid, pose.position);
}

TEST(MassProperties, TwoBallsAtDistanceObeyParallelAxes) {
    const double r = 0.25, d = 1.7;
    const std::vector<Shape> dumbbell{{Sphere{r}, {Vec3(d / 2, 0, 0), Quat::Identity()}},
                                      {Sphere{r}, {Vec3(-d / 2, 0, 0), Quat::Identity()}}};
    const MassProperties m = mass_properties(dumbbell);
    const double ball = 4.0 / 3.0 * std::numbers::pi * r * r * r;
    EXPECT_NEAR(m.inertia(0, 0), 2 * 0.4 * ball * r * r, 1e-15);
    EXPECT_NEAR(m.inertia(1, 1), 2 * ball * (0.4 * r * r + d * d / 4), 1e-14);
    EXPECT_LT(m.centroid.norm(), 1e-16);
    expect_same(scaled(m, 3), {3 * m.mass, m.centroid, 3 * m.inertia}, 1e-15);
}

// Cut into discs across the axis: radius(z)^2 integrated by Gauss's rule with three points, exact for the polynomials of
// degree 4 and 5 that the discs of cylinder and caps add up to.
TEST(MassProperties, CapsuleWeighsAndTurnsAsTheSumOfItsDiscs) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> size(0.05, 2);
    for (int trial = 0; trial < 50; ++trial) {
        const double r = size(random), l = size(random);
        double mass = 0, along = 0, across = 0;
        const auto slab = [&](double from, double to, double cap_centre) {
            const double nodes[3] = {-std::sqrt(0.6), 0, std::sqrt(0.6)}, weights[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
            for (int k = 0; k < 3; ++k) {
                const double z = (from + to) / 2 + (to - from) / 2 * nodes[k];
                const double beyond = std::abs(z) > l / 2 ? z - cap_centre : 0;
                const double square = r * r - beyond * beyond;
                const double disc = std::numbers::pi * square * weights[k] * (to - from) / 2;
                mass += disc;
                along += disc * square / 2;
                across += disc * (square / 4 + z * z);
            }
        };
        slab(-l / 2 - r, -l / 2, -l / 2);
        slab(-l / 2, l / 2, 0);
        slab(l / 2, l / 2 + r, l / 2);
        const MassProperties m = mass_properties(Shape{Capsule{r, l}, {}});
        EXPECT_NEAR(m.mass, mass, 1e-14 * mass);
        EXPECT_LT((m.inertia - Mat3(Vec3(across, across, along).asDiagonal())).norm(), 1e-13 * across);
        EXPECT_EQ(m.centroid, Vec3::Zero());
    }
    // Ever shorter, it becomes a ball; ever thinner, a rod.
    const MassProperties ball = mass_properties(Shape{Sphere{0.3}, {}});
    expect_same(mass_properties(Shape{Capsule{0.3, 1e-13}, {}}), ball, 1e-12);
    const MassProperties rod = mass_properties(Shape{Capsule{1e-6, 2}, {}});
    EXPECT_NEAR(rod.inertia(0, 0) / rod.mass, 2.0 * 2.0 / 12, 3e-6);
}

TEST(MassProperties, HalfSpaceHasNone) {
    EXPECT_FALSE(has_mass({HalfSpace{}, {}}));
    EXPECT_THROW(mass_properties(Shape{HalfSpace{}, {}}), Error);
}

TEST(Shape, BoundingBallHoldsEveryCornerAndTouchesOne) {
    std::mt19937 random(9);
    for (int trial = 0; trial < 50; ++trial) {
        const Box box{Vec3(0.3, 0.8, 0.1)};
        const Shape shape{box, {any_vector(random, 1), any_attitude(random)}};
        const Vec3 centre = any_vector(random, 1);
        double farthest = 0;
        for (int v = 0; v < 8; ++v)
            farthest = std::max(farthest, (shape.pose_B * box_features::vertex(box, v) - centre).norm());
        EXPECT_NEAR(bounding_radius(shape, centre), farthest, 1e-14);
    }
    EXPECT_DOUBLE_EQ(bounding_radius({Sphere{0.5}, {Vec3(3, 4, 0), Quat::Identity()}}, Vec3::Zero()), 5.5);
    EXPECT_EQ(bounding_radius({HalfSpace{}, {}}, Vec3::Zero()), infinity);
}

TEST(Shape, CapsuleIsBoundedByTheBallsAtItsEnds) {
    std::mt19937 random(12);
    for (int trial = 0; trial < 50; ++trial) {
        const Shape shape{Capsule{0.3, 1.4}, {any_vector(random, 1), any_attitude(random)}};
        const Pose body{any_vector(random, 3), any_attitude(random)};
        const Vec3 centre = any_vector(random, 1);
        Aabb ends;
        double farthest = 0;
        for (const double z : {-0.7, 0.7}) {
            const Shape ball{Sphere{0.3}, {shape.pose_B * Vec3(0, 0, z), Quat::Identity()}};
            const Aabb bounds = world_bounds(ball, body);
            ends.lower = ends.lower.cwiseMin(bounds.lower);
            ends.upper = ends.upper.cwiseMax(bounds.upper);
            farthest = std::max(farthest, bounding_radius(ball, centre));
        }
        const Aabb bounds = world_bounds(shape, body);
        EXPECT_LT((bounds.lower - ends.lower).norm() + (bounds.upper - ends.upper).norm(), 1e-13);
        EXPECT_NEAR(bounding_radius(shape, centre), farthest, 1e-13);
    }
    EXPECT_EQ(half_thickness(Shape{Capsule{0.3, 1.4}, {}}), 0.3);
}

TEST(Shape, WorldBoxIsTheBoxOfTheCorners) {
    std::mt19937 random(10);
    for (int trial = 0; trial < 50; ++trial) {
        const Box box{Vec3(0.3, 0.8, 0.1)};
        const Shape shape{box, {any_vector(random, 1), any_attitude(random)}};
        const Pose body{any_vector(random, 3), any_attitude(random)};
        Aabb corners;
        for (int v = 0; v < 8; ++v) {
            const Vec3 x = body * (shape.pose_B * box_features::vertex(box, v));
            corners.lower = corners.lower.cwiseMin(x);
            corners.upper = corners.upper.cwiseMax(x);
        }
        const Aabb bounds = world_bounds(shape, body);
        EXPECT_LT((bounds.lower - corners.lower).norm() + (bounds.upper - corners.upper).norm(), 1e-13);
    }
    const Aabb all = world_bounds({HalfSpace{}, {}}, Pose{});
    EXPECT_EQ(all.lower, Vec3::Constant(-infinity));
    EXPECT_EQ(all.upper, Vec3::Constant(infinity));
}

TEST(Shape, ImpossibleSizesAreRefused) {
    EXPECT_THROW(check_shape({Sphere{0}, {}}), Error);
    EXPECT_THROW(check_shape({Sphere{std::nan("")}, {}}), Error);
    EXPECT_THROW(check_shape({Box{Vec3(1, -1, 1)}, {}}), Error);
    EXPECT_THROW(check_shape({HalfSpace{Vec3::Zero(), 0}, {}}), Error);
    for (const auto& [radius, length] :
         {std::pair{0.0, 1.0}, {-1.0, 1.0}, {1.0, 0.0}, {1.0, -2.0}, {1.0, infinity}, {std::nan(""), 1.0}})
        EXPECT_THROW(check_shape({Capsule{radius, length}, {}}), Error);
    EXPECT_NO_THROW(check_shape({Capsule{1, 1e-9}, {}}));
    EXPECT_NO_THROW(check_shape({Box{Vec3(1, 1, 1)}, {}}));
}

TEST(Shape, TableNamesEveryKindInOrder) {
    ASSERT_EQ(shape_table().size(), shape_kinds);
    EXPECT_STREQ(shape_table()[0].name, "sphere");
    EXPECT_STREQ(shape_table()[1].name, "box");
    EXPECT_STREQ(shape_table()[2].name, "capsule");
    EXPECT_STREQ(shape_table()[3].name, "half-space");
    EXPECT_STREQ(shape_name(Box{}), "box");
    for (const ShapeEntry& entry : shape_table()) EXPECT_GT(std::string(entry.summary).size(), 10u);
}

}  // namespace
}  // namespace stickslip
