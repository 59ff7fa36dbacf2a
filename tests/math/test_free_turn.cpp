// Bodies that nothing turns: what is constant stays so, and parts of a turn make the whole.
#include <gtest/gtest.h>

#include <random>

#include "math/free_turn.hpp"
#include "math/so3.hpp"

namespace stickslip {
namespace {

struct Spinner {
    Mat3 inertia;
    Vec3 omega;
};

// Of any three principal moments that a body may have, turned anyhow, at 1 rad/s.
Spinner any_spinner(std::mt19937& random) {
    std::uniform_real_distribution<double> share(0, 1);
    const auto side = [&] { return share(random) - 0.5; };
    Vec3 moments(share(random) + 0.1, share(random) + 0.1, 0);
    const double least = std::abs(moments[0] - moments[1]);
    moments[2] = least + share(random) * (moments[0] + moments[1] - least);
    const Mat3 R = Quat(side(), side(), side(), side()).normalized().toRotationMatrix();
    const Vec3 omega(side(), side(), side());
    return {R * moments.asDiagonal() * R.transpose(), omega.normalized()};
}

TEST(FreeTurn, KeepsMomentumAndEnergy) {
    std::mt19937 random(7);
    for (int k = 0; k < 2000; ++k) {
        const Spinner body = any_spinner(random);
        const double way = std::pow(10.0, -3.5 + 3.8 * k / 2000);  // [rad] up to 2
        FreeTurn turn;
        if (!turn_freely(body.inertia, way, body.omega, turn)) continue;
        const Vec3 before = body.inertia * body.omega;
        const Vec3 after = rotation_by(turn.angle) * Vec3(body.inertia * turn.omega);
        EXPECT_LT((after - before).norm(), 1e-7 * std::max(way, 0.05) * before.norm()) << way;
        const double energy = body.omega.dot(before);
        EXPECT_NEAR(turn.omega.dot(body.inertia * turn.omega), energy, 1e-14 * energy) << way;
    }
}

TEST(FreeTurn, TwoHalvesMakeTheWhole) {
    std::mt19937 random(8);
    for (int k = 0; k < 200; ++k) {
        const Spinner body = any_spinner(random);
        const double way = 0.0099 * (k + 1);
        FreeTurn whole, first, second;
        ASSERT_TRUE(turn_freely(body.inertia, way, body.omega, whole));
        ASSERT_TRUE(turn_freely(body.inertia, way / 2, body.omega, first));
        ASSERT_TRUE(turn_freely(body.inertia, way / 2, first.omega, second));
        EXPECT_LT((whole.omega - second.omega).norm(), 1e-6 * way) << way;
        const Quat parts = rotation_by(first.angle) * rotation_by(second.angle);
        EXPECT_LT(rotation_by(whole.angle).angularDistance(parts), 1e-6 * way) << way;
    }
}

TEST(FreeTurn, LeavesSpinsThatDoNotChangeAndThoseTooFastToFollow) {
    const Mat3 inertia = Vec3(0.01, 0.02, 0.028).asDiagonal();
    FreeTurn turn;
    EXPECT_FALSE(turn_freely(inertia, 0.1, Vec3(0, 3, 0), turn));           // a principal axis
    EXPECT_FALSE(turn_freely(Mat3::Identity(), 0.1, Vec3(1, 2, 3), turn));  // a ball
    EXPECT_FALSE(turn_freely(inertia, 0.1, Vec3::Zero(), turn));
    EXPECT_FALSE(turn_freely(inertia, 1, Vec3(1000, 2, 3), turn));
}

}  // namespace
}  // namespace stickslip
