// The broad phase against every pair: sizes from 1 to 1000, bodies that move, spin, are lost and come back, models that are
// edited; in space and in the plane. And the tree of boxes alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/box_tree.hpp"
#include "collision/finder.hpp"
#include "motions.hpp"
#include "support/count_malloc.hpp"

namespace stickslip {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairs sorted(std::span<const std::pair<int, int>> pairs) {
    Pairs list;
    for (const auto& [i, j] : pairs) list.push_back(std::minmax(i, j));
    std::sort(list.begin(), list.end());
    return list;
}

// Sides from 1 mm to 1 m, in a room of one metre; now and then a wall, a point or an empty box.
Aabb any_box(Dice& dice) {
    const Vec3 centre = dice.vector(0.5), half = std::pow(10, dice.uniform(-3.3, -0.3)) * (dice.vector(0.5).array() + 0.6);
    const double kind = dice.uniform(0, 1);
    if (kind < 0.02) return {};
    if (kind < 0.04) return {centre, centre};
    if (kind < 0.06) return {centre - Vec3(1, 0.01, 1), centre + Vec3(1, 0.01, 1)};
    return {centre - half, centre + half};
}

bool meets(const Aabb& x, const Aabb& y) {
    for (int k = 0; k < 3; ++k)
        if (x.lower[k] > y.upper[k] || y.lower[k] > x.upper[k]) return false;
    return true;
}

TEST(BoxTree, FindsEveryOverlappingPairOnceAlsoAfterBoxesMoved) {
    Dice dice(51);
    std::size_t total = 0;
    BoxTree tree;
    for (const int count : {0, 1, 2, 8, 9, 17, 100, 700}) {
        std::vector<Aabb> boxes;
        std::vector<int> members;
        for (int i = 0; i < count; ++i) {
            boxes.push_back(any_box(dice));
            if (dice.uniform(0, 1) < 0.9) members.push_back(i);
        }
        tree.build(boxes, members);
        for (int round = 0; round < 4; ++round) {
            Pairs expected;
            for (std::size_t i = 0; i < members.size(); ++i)
                for (std::size_t j = i + 1; j < members.size(); ++j)
                    if (meets(boxes[members[i]], boxes[members[j]])) expected.emplace_back(members[i], members[j]);
            ASSERT_EQ(sorted(tree.all_pairs()), expected);
            const Aabb question = any_box(dice);
            Pairs with;
            for (const int i : members)
                if (meets(question, boxes[i])) with.emplace_back(-1, i);
            ASSERT_EQ(sorted(tree.pairs_with(question, -1)), with);
            total += expected.size();
            for (Aabb& box : boxes)
                if (dice.uniform(0, 1) < 0.3) box = any_box(dice);
            tree.refit(boxes);
        }
    }
    EXPECT_GT(total, 10000u);
}

struct World {
    CollisionModel model;
    std::vector<Pose> poses;
    std::vector<Twist> twists;
};

// A floor, a wall, and spheres, boxes and capsules of 2 mm to 2 m, each on a body that moves by up to its own size in a few
// steps; a half-space on a moving body in space.
World world_of(Dice& dice, int bodies, bool planar) {
    World w;
    std::uint32_t id = 0;
    w.model.colliders.push_back({id++, -1, {HalfSpace{Vec3::UnitZ(), -0.5}, {}}});
    w.model.colliders.push_back({id++, -1, {Box{Vec3(3, 3, 0.05)}, {Vec3(0, 0, -0.3), Quat::Identity()}}});
    for (int b = 0; b < bodies; ++b) {
        const double size = std::pow(10, dice.uniform(-3, 0) * dice.uniform(0, 1));
        Shape shape{Sphere{size}, {}};
        if (b % 3 == 1) shape.geometry = Box{size * Vec3(1, 0.4, 0.7)};
        if (b % 3 == 2) shape.geometry = Capsule{0.3 * size, 0.6 * size};
        if (b == 4 && !planar) shape.geometry = HalfSpace{Vec3(0.6, 0, 0.8), -2.0};
        w.model.colliders.push_back({id, b, shape});
        id += 1 + static_cast<std::uint32_t>(dice.uniform(0, 3));
        Pose pose{dice.vector(2), dice.attitude()};
        Twist twist;
        twist.linear = dice.vector(0.1 * size);
        twist.angular = dice.vector(0.3);
        if (planar) {
            pose = {Vec3(pose.position.x(), 0, pose.position.z()), rotation_by(dice.uniform(-3, 3) * Vec3::UnitY())};
            twist.linear.y() = 0;
            twist.angular = twist.angular.y() * Vec3::UnitY();
        }
        w.poses.push_back(pose);
        w.twists.push_back(twist);
    }
    w.model.fixed.assign(w.poses.size(), 0);
    w.model.fixed[7] = 1;
    w.twists[7] = {};
    w.model.ignored_bodies = {{-1, 3}, {5, 6}, {8, 12}};
    if (planar) w.model.plane_normal = Vec3::UnitY();
    return w;
}

// Every pair of colliders alone, in a model and with a finder of its own; so nothing of the broad phase is used.
std::vector<std::pair<ContactId, double>> by_every_pair(const World& w, const ContactFinder& settings) {
    std::vector<std::pair<ContactId, double>> list;
    const auto& all = w.model.colliders;
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            const int a = all[i].body, b = all[j].body;
            if (a == b || (w.model.is_fixed(a) && w.model.is_fixed(b))) continue;
            const auto& ignored = w.model.ignored_bodies;
            if (std::count(ignored.begin(), ignored.end(), std::pair(std::min(a, b), std::max(a, b))) > 0) continue;
            const auto pose = [&](int body) { return body < 0 ? Pose{} : w.poses[body]; };
            if (!pose(a).position.allFinite() || !pose(b).position.allFinite()) continue;
            CollisionModel two;
            two.plane_normal = w.model.plane_normal;
            two.fixed = {0, 0};
            two.colliders = {{all[i].id, 0, all[i].shape}, {all[j].id, 1, all[j].shape}};
            ContactFinder finder;
            finder.margin = settings.margin;
            finder.reach = {a < 0 ? 0 : settings.reach[a], b < 0 ? 0 : settings.reach[b]};
            finder.find(two, std::vector<Pose>{pose(a), pose(b)});
            for (const ContactPoint& contact : finder.contacts()) list.emplace_back(contact.id, contact.gap);
        }
    }
    return list;
}

TEST(BroadPhase, MovingBodiesOfAllSizesTouchAsWhenEveryPairIsTested) {
    Dice dice(52);
    std::size_t total = 0;
    long finds = 0, steps = 0;
    for (const bool planar : {false, true}) {
        for (int trial = 0; trial < 4; ++trial) {
            World w = world_of(dice, 60, planar);
            ContactFinder finder;
            finder.inner_edges = true;
            finder.margin = 0.002;
            finder.reach.assign(w.poses.size(), 0.0);
            Pose lost;
            for (int step = 0; step < 30; ++step, ++steps) {
                for (std::size_t b = 0; b < w.poses.size(); ++b) {
                    // Half of the time the bodies creep, so that only few leave their regions.
                    const double h = step % 10 < 5 ? 0.2 : (b % 10 == 0 ? 1.0 : 1e-3);
                    w.poses[b] = after(w.poses[b], w.twists[b], h);
                    finder.reach[b] = w.model.fixed[b] != 0 ? 0 : 2 * h * w.twists[b].linear.norm();
                }
                if (step == 11) {
                    lost = w.poses[10];
                    w.poses[10].position.x() = std::nan("");
                }
                if (step == 14) w.poses[10] = lost;
                if (step == 18) {  // an edit: a body goes, pairs are no longer ignored
                    w.model.colliders.erase(w.model.colliders.begin() + 15);
                    w.model.ignored_bodies.pop_back();
                    w.model.identity = std::make_shared<const char>();
                }
                if (step == 24) finder.margin = 0.02;
                if (step % 3 == 0) finder.find_candidates(w.model, w.poses);
                finder.evaluate(w.model, w.poses);
                const auto expected = by_every_pair(w, finder);
                ASSERT_EQ(finder.contacts().size(), expected.size()) << planar << " " << trial << " " << step;
                for (std::size_t k = 0; k < expected.size(); ++k) {
                    ASSERT_EQ(finder.contacts()[k].id, expected[k].first);
                    ASSERT_EQ(finder.contacts()[k].gap, expected[k].second);
                }
                total += expected.size();
            }
            finds += finder.counts.finds;
        }
    }
    EXPECT_GT(total, 20000u);
    EXPECT_GT(finds, steps / 2);  // the test would be idle if nobody left its region
}

TEST(BroadPhase, OnlyWhoLeavesItsRegionCostsAndNothingIsAllocated) {
    // A pile at rest through which one small body flies for a hundred steps.
    World w;
    for (int b = 0; b < 500; ++b) {
        w.model.colliders.push_back({static_cast<std::uint32_t>(b), b, {Sphere{0.05}, {}}});
        w.poses.push_back({0.1 * Vec3(b % 8, b / 8 % 8, b / 64), Quat::Identity()});
    }
    w.model.fixed.assign(w.poses.size(), 0);
    ContactFinder finder;
    finder.reach.assign(w.poses.size(), 0.0);
    finder.reach[3] = 0.02;
    finder.find(w.model, w.poses);
    finder.find(w.model, w.poses);
    finder.commit_frames();
    const long before = finder.counts.finds;
    const long allocations = testing::allocations.load();
    for (int step = 0; step < 100; ++step) {
        w.poses[3].position.x() -= 0.01;
        finder.find_candidates(w.model, w.poses);
        finder.evaluate(w.model, w.poses);
    }
    EXPECT_EQ(testing::allocations.load(), allocations);
    EXPECT_LT(finder.counts.finds - before, 50);
    EXPECT_GT(finder.counts.finds - before, 10);
}

}  // namespace
}  // namespace stickslip
