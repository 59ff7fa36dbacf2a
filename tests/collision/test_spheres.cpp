// Balls against balls, boxes and planes: closed forms, and the distance to a box by clamping.
#include <gtest/gtest.h>

#include <cmath>

#include "motions.hpp"

namespace stickslip {
namespace {

Pose at(const Vec3& x) { return {x, Quat::Identity()}; }

TEST(SphereSphere, GapIsTheDistanceOfCentresLessTheRadii) {
    const auto contacts = contacts_of(Sphere{0.5}, at(Vec3(3, 4, 0)), Sphere{1.5}, at(Vec3::Zero()), 10);
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_DOUBLE_EQ(contacts[0].gap, 3);
    EXPECT_LT((contacts[0].normal - Vec3(0.6, 0.8, 0)).norm(), 1e-15);
    EXPECT_LT((contacts[0].position - 3 * Vec3(0.6, 0.8, 0)).norm(), 1e-14);  // midway between 1.5 and 4.5
    EXPECT_TRUE(contacts_of(Sphere{0.5}, at(Vec3(3, 4, 0)), Sphere{1.5}, at(Vec3::Zero()), 2.99).empty());
}

TEST(SphereSphere, CoincidentCentresPartSomewhere) {
    const auto contacts = contacts_of(Sphere{0.5}, at(Vec3(1, 2, 3)), Sphere{0.25}, at(Vec3(1, 2, 3)), 0);
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_DOUBLE_EQ(contacts[0].gap, -0.75);
    EXPECT_DOUBLE_EQ(contacts[0].normal.norm(), 1);
    const Twist a{Vec3(1, 2, 3), Vec3(1, 0, 0), Vec3(0, 1, 0)};
    const ContactRates rates = contact_rates(contacts[0], a, Twist{});
    EXPECT_TRUE(rates.position_rate.allFinite() && rates.normal_rate.allFinite());
}

TEST(SphereHalfSpace, GapIsTheHeightLessTheRadius) {
    // Plane 3x + 4z <= 10, not normalised: at distance 2 from the origin; ball at 7 along its normal.
    const Vec3 m(0.6, 0, 0.8);
    const auto contacts = contacts_of(Sphere{0.5}, at(7 * m), HalfSpace{Vec3(3, 0, 4), 10}, at(Vec3::Zero()), 10);
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_NEAR(contacts[0].gap, 4.5, 1e-14);
    EXPECT_LT((contacts[0].normal - m).norm(), 1e-15);
    // The plane as shape a: the normal turns around.
    const auto other = contacts_of(HalfSpace{Vec3(3, 0, 4), 10}, at(Vec3::Zero()), Sphere{0.5}, at(7 * m), 10);
    ASSERT_EQ(other.size(), 1u);
    EXPECT_EQ(other[0].normal, Vec3(-contacts[0].normal));
}

TEST(SphereBox, GapIsTheDistanceToTheNearestPoint) {
    Dice dice(31);
    const Box box{Vec3(0.3, 0.7, 1.1)};
    int kinds[4] = {0, 0, 0, 0};
    for (int trial = 0; trial < 5000; ++trial) {
        const Pose pose{dice.vector(1), dice.attitude()};
        const Vec3 local = dice.vector(2);
        const Vec3 nearest = local.cwiseMin(box.half).cwiseMax(-box.half);
        if (nearest == local) continue;
        const auto contacts = contacts_of(Sphere{0.2}, at(pose * local), box, pose, 10);
        ASSERT_EQ(contacts.size(), 1u);
        EXPECT_NEAR(contacts[0].gap, (local - nearest).norm() - 0.2, 1e-14);
        EXPECT_LT((contacts[0].normal - pose.attitude * (local - nearest).normalized()).norm(), 1e-12);
        ++kinds[static_cast<int>(contacts[0].kind)];
    }
    EXPECT_GT(kinds[static_cast<int>(GapKind::point_plane)], 100);
    EXPECT_GT(kinds[static_cast<int>(GapKind::point_line)], 100);
    EXPECT_GT(kinds[static_cast<int>(GapKind::point_point)], 100);
}

TEST(SphereBox, CentreInsideLeavesThroughTheNearestFace) {
    Dice dice(32);
    const Box box{Vec3(0.3, 0.7, 1.1)};
    for (int trial = 0; trial < 1000; ++trial) {
        const Vec3 local = dice.vector(1).cwiseProduct(box.half);
        const double depth = (box.half - local.cwiseAbs()).minCoeff();
        const Pose pose{dice.vector(1), dice.attitude()};
        const auto contacts = contacts_of(Sphere{0.2}, at(pose * local), box, pose, 0);
        ASSERT_EQ(contacts.size(), 1u);
        EXPECT_NEAR(contacts[0].gap, -depth - 0.2, 1e-8);  // 1e-9 of the half extent decides between equal faces
    }
    const auto centred = contacts_of(Sphere{0.2}, Pose{}, box, Pose{}, 0);
    ASSERT_EQ(centred.size(), 1u);
    EXPECT_DOUBLE_EQ(centred[0].gap, -0.5);
}

TEST(SphereBox, BallOverTheRimKeepsItsId) {
    Dice dice(33);
    const Box box{Vec3(0.5, 0.5, 0.5)};
    for (const Vec3& rest : {Vec3(0.5, 0.2, 0.7), Vec3(0.5, 0.5, 0.7)}) {
        const auto still = contacts_of(Sphere{0.2}, at(rest), box, Pose{}, 1e-3);
        ASSERT_EQ(still.size(), 1u);
        for (int trial = 0; trial < 500; ++trial) {
            const auto moved = contacts_of(Sphere{0.2}, at(rest + dice.vector(1e-12)), box, Pose{}, 1e-3);
            ASSERT_EQ(moved.size(), 1u);
            EXPECT_EQ(moved[0].id.feature, still[0].id.feature);
        }
    }
}

TEST(BoxHalfSpace, FlatEdgeAndCornerTouchInFourTwoOne) {
    const Box box{Vec3(0.5, 0.5, 0.5)};
    const HalfSpace ground{};
    const auto count = [&](const Quat& attitude, double height) {
        return contacts_of(box, {Vec3(0, 0, height), attitude}, ground, Pose{}, 1e-3).size();
    };
    EXPECT_EQ(count(Quat::Identity(), 0.5), 4u);
    EXPECT_EQ(count(rotation_by(Vec3(std::acos(-1) / 4, 0, 0)), 0.5 * std::sqrt(2.0)), 2u);
    EXPECT_EQ(count(Quat::FromTwoVectors(Vec3(1, 1, 1), -Vec3::UnitZ()), 0.5 * std::sqrt(3.0)), 1u);
    // A plate thinner than the margin shows only its lower side, also when it lies far below the ground.
    EXPECT_EQ(contacts_of(Box{Vec3(0.5, 0.5, 1e-5)}, Pose{}, ground, Pose{}, 1e-3).size(), 4u);
    EXPECT_EQ(count(Quat::Identity(), -3), 4u);
}

TEST(BoxHalfSpace, GapsAreTheHeightsOfTheCorners) {
    Dice dice(34);
    const Box box{Vec3(0.3, 0.4, 0.5)};
    for (int trial = 0; trial < 300; ++trial) {
        const Pose pose{Vec3(0, 0, 0.3), dice.attitude()};
        double lowest = infinity;
        for (int v = 0; v < 8; ++v) lowest = std::min(lowest, (pose * box_features::vertex(box, v)).z());
        double least = infinity;
        for (const ContactPoint& c : contacts_of(box, pose, HalfSpace{}, Pose{}, 1)) {
            const int v = static_cast<int>(feature_number(c.id.feature.a));
            EXPECT_NEAR(c.gap, (pose * box_features::vertex(box, v)).z(), 1e-15);
            least = std::min(least, c.gap);
        }
        EXPECT_NEAR(least, lowest, 1e-15);
    }
}

}  // namespace
}  // namespace stickslip
