// The finder: every near pair once, in order, whatever the sweep does; frames that persist; planar scenes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "collision/finder.hpp"
#include "motions.hpp"
#include "stickslip/threads.hpp"

namespace stickslip {
namespace {

Pose at(double x, double y, double z) { return {Vec3(x, y, z), Quat::Identity()}; }

const Shape unit_cube{Box{Vec3(0.5, 0.5, 0.5)}, {}};

CollisionModel stack_model(int boxes) {
    CollisionModel model;
    model.colliders.push_back({3, -1, {HalfSpace{}, {}}});
    for (int b = 0; b < boxes; ++b) model.colliders.push_back({static_cast<std::uint32_t>(10 + 2 * b), b, unit_cube});
    model.fixed.assign(static_cast<std::size_t>(boxes), 0);
    return model;
}

std::vector<Pose> stack_poses(int boxes) {
    std::vector<Pose> poses;
    for (int b = 0; b < boxes; ++b) poses.push_back(at(0, 0, 0.5 + b));
    return poses;
}

std::vector<ContactId> ids(const ContactFinder& finder) {
    std::vector<ContactId> list;
    for (const ContactPoint& contact : finder.contacts()) list.push_back(contact.id);
    return list;
}

struct Crowd {
    CollisionModel model;
    std::vector<Pose> poses;
};

// Bodies with one to three shapes of all kinds, half-spaces on moving bodies among them.
Crowd crowd(Dice& dice, int bodies) {
    Crowd c;
    std::uint32_t id = 0;
    for (int b = -1; b < bodies; ++b) {
        const int shapes = 1 + static_cast<int>(dice.uniform(0, 3));
        for (int s = 0; s < shapes; ++s) {
            id += 1 + static_cast<std::uint32_t>(dice.uniform(0, 3));
            Shape shape{Sphere{dice.uniform(0.1, 0.5)}, {dice.vector(0.3), dice.attitude()}};
            if (dice.uniform(0, 1) < 0.5) shape.geometry = Box{Vec3::Constant(0.1) + dice.vector(0.5).cwiseAbs()};
            if (dice.uniform(0, 1) < 0.3) shape.geometry = Capsule{dice.uniform(0.05, 0.3), dice.uniform(0.1, 0.8)};
            if (dice.uniform(0, 1) < 0.05) shape.geometry = HalfSpace{dice.vector(1), -4};
            c.model.colliders.push_back({id, b, shape});
        }
        if (b >= 0) {
            c.poses.push_back({dice.vector(2), dice.attitude()});
            c.model.fixed.push_back(dice.uniform(0, 1) < 0.2);
        }
    }
    for (int a = -1; a < bodies; ++a)
        for (int b = a + 1; b < bodies; ++b)
            if (dice.uniform(0, 1) < 0.1) c.model.ignored_bodies.emplace_back(a, b);
    return c;
}

TEST(ContactFinder, FindsWhatTestingEveryPairFinds) {
    Dice dice(41);
    std::size_t total = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const Crowd c = crowd(dice, 25);
        ContactFinder finder;
        finder.inner_edges = true;
        finder.margin = dice.uniform(0, 0.1);
        for (std::size_t b = 0; b < c.poses.size(); ++b) finder.reach.push_back(dice.uniform(0, 0.1));
        set_threads(1 + trial % 3);  // in parts or at one go
        finder.find(c.model, c.poses);
        set_threads(1);

        std::vector<ContactPoint> expected;
        const auto& colliders = c.model.colliders;
        for (int i = 0; i < static_cast<int>(colliders.size()); ++i) {
            for (int j = i + 1; j < static_cast<int>(colliders.size()); ++j) {
                const int a = colliders[i].body, b = colliders[j].body;
                const bool still_a = a < 0 || c.model.fixed[a] != 0, still_b = b < 0 || c.model.fixed[b] != 0;
                if (a == b || (still_a && still_b)) continue;
                const auto& ignored = c.model.ignored_bodies;
                if (std::count(ignored.begin(), ignored.end(), std::pair(std::min(a, b), std::max(a, b))) > 0) continue;
                const auto pose = [&](const Collider& x) {
                    return placed(x.body < 0 ? Pose{} : c.poses[x.body], x.shape.pose_B);
                };
                const double cutoff = finder.margin + (a < 0 ? 0 : finder.reach[a]) + (b < 0 ? 0 : finder.reach[b]);
                for (ContactPoint p : contacts_of(colliders[i].shape.geometry, pose(colliders[i]),
                                                  colliders[j].shape.geometry, pose(colliders[j]), cutoff)) {
                    p.id.a = colliders[i].id;
                    p.id.b = colliders[j].id;
                    expected.push_back(p);
                }
            }
        }
        ASSERT_EQ(finder.contacts().size(), expected.size());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            const ContactPoint& p = finder.contacts()[k];
            EXPECT_EQ(p.id, expected[k].id);
            EXPECT_EQ(p.gap, expected[k].gap);
            EXPECT_EQ(c.model.colliders[p.collider_a].id, p.id.a);
            EXPECT_EQ(c.model.colliders[p.collider_b].body, p.body_b);
            EXPECT_TRUE(k == 0 || expected[k - 1].id < p.id);
        }
        total += expected.size();
    }
    EXPECT_GT(total, 1000u);
}

// Bodies wander, mostly a little and now and then far away: candidates found before must never hide a contact.
TEST(ContactFinder, CandidatesOfBeforeGiveTheContactsOfASearchFromScratch) {
    Dice dice(43);
    long asked = 0, found = 0, contacts = 0;
    for (int trial = 0; trial < 20; ++trial) {
        Crowd c = crowd(dice, 20);
        ContactFinder finder;
        finder.margin = dice.uniform(0, 0.1);
        for (std::size_t b = 0; b < c.poses.size(); ++b) finder.reach.push_back(dice.uniform(0, 0.1));
        for (int move = 0; move < 40; ++move) {
            for (std::size_t b = 0; b < c.poses.size(); ++b) {
                if (c.model.fixed[b] != 0) continue;
                const double far = dice.uniform(0, 1) < 0.003 ? 2 : 0.002;
                c.poses[b].position += dice.vector(far);
                c.poses[b].attitude = (c.poses[b].attitude * Quat(Eigen::AngleAxisd(far, Vec3::UnitX()))).normalized();
                if (dice.uniform(0, 1) < 0.02) finder.reach[b] = dice.uniform(0, 0.1);
            }
            if (move % 5 == 0) finder.find_candidates(c.model, c.poses);
            finder.evaluate(c.model, c.poses);
            ContactFinder fresh;
            fresh.margin = finder.margin;
            fresh.reach = finder.reach;
            fresh.find(c.model, c.poses);
            ASSERT_EQ(ids(finder), ids(fresh));
            for (std::size_t k = 0; k < fresh.contacts().size(); ++k) {
                const ContactPoint& x = finder.contacts()[k];
                const auto pose = [&](int body) { return body < 0 ? Pose{} : c.poses[body]; };
                EXPECT_EQ(x.gap, fresh.contacts()[k].gap);
                EXPECT_EQ(finder.gap(c.model, x.collider_a, x.collider_b, pose(x.body_a), pose(x.body_b), x.id), x.gap);
                ++contacts;
            }
            ++asked;
        }
        found += finder.counts.finds;
    }
    EXPECT_LT(found, asked / 2);
    EXPECT_GT(contacts, 5000);
}

TEST(ContactFinder, CandidatesOfOneModelAreNotThoseOfAnother) {
    const CollisionModel two = stack_model(2);
    CollisionModel apart = two;
    apart.ignored_bodies = {{0, 1}};
    apart.identity = std::make_shared<const char>();
    ContactFinder finder;
    for (const bool touching : {true, false, true}) {
        finder.evaluate(touching ? two : apart, stack_poses(2));
        EXPECT_EQ(finder.contacts().size(), touching ? 8u : 4u);
    }
    EXPECT_EQ(finder.counts.finds, 3);
}

TEST(ContactFinder, StackOfBoxesHasFourContactsPerInterface) {
    const CollisionModel model = stack_model(20);
    const auto poses = stack_poses(20);
    ContactFinder finder;
    finder.find(model, poses);
    EXPECT_EQ(finder.contacts().size(), 80u);
    for (const ContactPoint& contact : finder.contacts()) {
        EXPECT_NEAR(contact.gap, 0, 1e-14);
        EXPECT_LT((contact.normal + Vec3::UnitZ()).norm(), 1e-14);  // from the upper (later) to the lower
    }
}

TEST(ContactFinder, ReachExtendsTheMarginBodyByBody) {
    const CollisionModel model = stack_model(2);
    const std::vector<Pose> poses{at(0, 0, 0.5), at(0, 0, 1.5 + 0.01)};
    ContactFinder finder;
    finder.find(model, poses);
    EXPECT_EQ(finder.contacts().size(), 4u);
    finder.reach = {0.004, 0.004};
    finder.find(model, poses);
    EXPECT_EQ(finder.contacts().size(), 4u);
    finder.reach = {0.004, 0.0051};
    finder.find(model, poses);
    EXPECT_EQ(finder.contacts().size(), 8u);
}

TEST(ContactFinder, ABodyLostToNanTouchesNothing) {
    const CollisionModel model = stack_model(3);
    auto poses = stack_poses(3);
    poses[1].position.z() = std::nan("");
    ContactFinder finder;
    finder.find(model, poses);
    EXPECT_EQ(finder.contacts().size(), 4u);
}

TEST(ContactFinder, RollingBallKeepsItsFrameAndASnapshotRestoresIt) {
    // A ball rolls around a fixed ball: the tangent is transported, not looked up in the world axes.
    CollisionModel model;
    model.colliders = {{0, 0, {Sphere{1}, {}}}, {1, 1, {Sphere{0.5}, {}}}};
    model.fixed = {1, 0};
    const auto poses_at = [](double angle) {
        return std::vector<Pose>{Pose{}, at(1.5 * std::cos(angle), 1.5 * std::sin(angle), 0)};
    };
    ContactFinder finder;
    finder.find(model, poses_at(0));
    ASSERT_EQ(finder.contacts().size(), 1u);
    Vec3 tangent = finder.contacts()[0].tangent;
    EXPECT_EQ(tangent, Vec3::UnitY());
    ContactFinder copy;
    for (int k = 1; k <= 200; ++k) {
        finder.commit_frames();
        const double angle = 2 * std::numbers::pi * k / 200;
        finder.find(model, poses_at(angle));
        const Vec3 next = finder.contacts()[0].tangent;
        EXPECT_LT((next - tangent).norm(), 0.04) << "jumps at step " << k;
        EXPECT_LT((next - Vec3(-std::sin(angle), std::cos(angle), 0)).norm(), 1e-12);
        tangent = next;
        if (k == 100) copy = finder;
    }
    copy.commit_frames();
    ContactFinder restored;
    restored.set_frames(copy.frames());
    copy.find(model, poses_at(3.2));
    restored.find(model, poses_at(3.2));
    EXPECT_EQ(copy.contacts()[0].tangent, restored.contacts()[0].tangent);
    // find() alone does not touch the memory.
    EXPECT_EQ(copy.frames().tangent, restored.frames().tangent);
}

TEST(ContactFinder, IdsOfARestingStackSurviveRounding) {
    Dice dice(42);
    const CollisionModel model = stack_model(10);
    ContactFinder finder;
    finder.find(model, stack_poses(10));
    const auto still = ids(finder);
    for (int trial = 0; trial < 100; ++trial) {
        auto poses = stack_poses(10);
        for (Pose& pose : poses) {
            pose.position += dice.vector(1e-12);
            pose.attitude = rotation_by(dice.vector(1e-12));
        }
        finder.find(model, poses);
        EXPECT_EQ(ids(finder), still);
    }
}

TEST(PlanarFinder, EveryCornerIsOneContactWithTheTangentInThePlane) {
    CollisionModel model = stack_model(2);
    model.plane_normal = Vec3::UnitY();
    std::vector<Pose> poses{at(0, 0, 0.5), at(0.25, 0, 1.5)};
    ContactFinder finder;
    finder.find(model, poses);
    ASSERT_EQ(finder.contacts().size(), 4u);
    for (const ContactPoint& contact : finder.contacts()) {
        EXPECT_LT((contact.normal + Vec3::UnitZ()).norm(), 1e-14);
        EXPECT_LT((contact.tangent - Vec3::UnitY().cross(contact.normal)).norm(), 1e-14);
    }
    EXPECT_LT((finder.contacts()[0].tangent + Vec3::UnitX()).norm(), 1e-14);
}

TEST(PlanarFinder, ThicknessAcrossThePlaneDoesNotMatter) {
    // Boxes of different thickness, at random angles in the plane: the same contacts as for equal thickness, and
    // never one across the plane, however thin they are.
    Dice dice(43);
    std::size_t total = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const std::vector<Pose> poses{
            {Vec3::Zero(), rotation_by(dice.uniform(-3, 3) * Vec3::UnitY())},
            {Vec3(dice.uniform(-1, 1), 0, dice.uniform(-1, 1)), rotation_by(dice.uniform(-3, 3) * Vec3::UnitY())}};
        std::vector<Vec3> places;
        for (const double thickness : {0.5, 2.0, 0.02}) {
            CollisionModel model;
            model.plane_normal = Vec3::UnitY();
            model.fixed = {0, 0};
            model.colliders = {{0, 0, unit_cube}, {1, 1, {Box{Vec3(0.4, thickness, 0.6)}, {}}}};
            ContactFinder finder;
            finder.margin = 0.02;
            finder.find(model, poses);
            std::vector<Vec3> now;
            for (const ContactPoint& contact : finder.contacts()) {
                EXPECT_NEAR(contact.normal.y(), 0, 1e-12);
                EXPECT_NEAR(contact.position.y(), 0, 1e-12);
                now.push_back({contact.position.x(), contact.gap, contact.position.z()});
            }
            std::sort(now.begin(), now.end(), [](const Vec3& x, const Vec3& y) {
                return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
            });
            if (thickness == 0.5) places = now;
            ASSERT_EQ(now.size(), places.size()) << trial << " " << thickness;
            for (std::size_t i = 0; i < now.size(); ++i) EXPECT_LT((now[i] - places[i]).norm(), 1e-9);
        }
        total += places.size();
    }
    EXPECT_GT(total, 100u);
}

}  // namespace
}  // namespace stickslip
