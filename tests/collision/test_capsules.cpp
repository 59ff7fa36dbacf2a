// Capsules against balls, planes, capsules and boxes: closed forms, how many contacts a resting capsule has, and, at
// random poses, the distance recomputed by minimising a convex function along the axis and the depth by projecting.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "collision/finder.hpp"
#include "motions.hpp"

namespace stickslip {
namespace {

constexpr double pi = std::numbers::pi;

Pose at(const Vec3& x, const Vec3& rotation = Vec3::Zero()) { return {x, rotation_by(rotation)}; }
const Vec3 along_x(0, pi / 2, 0), along_y(-pi / 2, 0, 0);  // rotations that lay the axis down

double least_gap(const std::vector<ContactPoint>& contacts) {
    double least = infinity;
    for (const ContactPoint& c : contacts) least = std::min(least, c.gap);
    return least;
}

std::vector<SidePair> features(const std::vector<ContactPoint>& contacts) {
    std::vector<SidePair> list;
    for (const ContactPoint& c : contacts) list.push_back(c.id.feature);
    return list;
}

std::uint32_t end_code(int i) { return side_code(FeatureKind::vertex, i); }
const std::uint32_t side = side_code(FeatureKind::edge, 0);

Vec3 axis_point(const Capsule& capsule, const Pose& pose, double s) {  // s from -1 to 1
    return pose * Vec3(0, 0, s * capsule.length / 2);
}

double distance_to_axis(const Vec3& x, const Capsule& capsule, const Pose& pose) {
    const Vec3 local = pose.attitude.conjugate() * (x - pose.position);
    const double half = capsule.length / 2;
    return (local - Vec3(0, 0, std::clamp(local.z(), -half, half))).norm();
}

double distance_to_box(const Vec3& x, const Box& box, const Pose& pose) {
    const Vec3 local = pose.attitude.conjugate() * (x - pose.position);
    return (local.cwiseAbs() - box.half).cwiseMax(0).norm();
}

// Of a convex function of s in [-1, 1], by golden sections.
template <class Function>
double minimum(Function&& f) {
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    double low = -1, high = 1;
    double x = high - ratio * (high - low), y = low + ratio * (high - low);
    double fx = f(x), fy = f(y);
    for (int k = 0; k < 90; ++k) {
        if (fx <= fy) {
            high = y, y = x, fy = fx;
            x = high - ratio * (high - low);
            fx = f(x);
        } else {
            low = x, x = y, fx = fy;
            y = low + ratio * (high - low);
            fy = f(y);
        }
    }
    return std::min({fx, fy, f(-1.0), f(1.0)});
}

TEST(SphereCapsule, GapIsTheDistanceToTheAxisLessTheRadii) {
    Dice dice(61);
    const Capsule capsule{0.3, 1.2};
    int sides = 0, caps = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const Pose pose{dice.vector(1), dice.attitude()};
        const Vec3 x = pose.position + dice.vector(1.5);
        const auto contacts = contacts_of(Sphere{0.2}, at(x), capsule, pose, 10);
        ASSERT_EQ(contacts.size(), 1u);
        EXPECT_NEAR(contacts[0].gap, distance_to_axis(x, capsule, pose) - 0.5, 1e-14);
        (contacts[0].kind == GapKind::point_line ? sides : caps)++;
    }
    EXPECT_GT(sides, 500);
    EXPECT_GT(caps, 500);
}

TEST(SphereCapsule, CentreOnTheAxisPartsAcrossIt) {
    const Capsule capsule{0.3, 1.2};
    for (const double z : {0.0, 0.1, 0.6, -0.6}) {
        const auto contacts = contacts_of(Sphere{0.2}, at(Vec3(0, 0, z)), capsule, Pose{}, 0);
        ASSERT_EQ(contacts.size(), 1u);
        EXPECT_NEAR(contacts[0].gap, -0.5, 1e-15);
        EXPECT_NEAR(contacts[0].normal.norm(), 1, 1e-15);
        EXPECT_NEAR(contacts[0].normal.z(), 0, 1e-15);
        const ContactRates rates =
            contact_rates(contacts[0], Twist{Vec3::Zero(), Vec3(1, 2, 3), Vec3(3, 2, 1)}, Twist{});
        EXPECT_TRUE(rates.position_rate.allFinite() && rates.normal_rate.allFinite());
    }
}

TEST(CapsuleHalfSpace, LyingRestsOnTwoPointsAndStandingOnOne) {
    const Capsule capsule{0.3, 1.2};
    const auto lying = contacts_of(capsule, at(Vec3(0, 0, 0.3), along_x), HalfSpace{}, Pose{}, 1e-3);
    ASSERT_EQ(lying.size(), 2u);
    EXPECT_LT((lying[0].position - Vec3(-0.6, 0, 0)).norm(), 1e-15);
    EXPECT_LT((lying[1].position - Vec3(0.6, 0, 0)).norm(), 1e-15);
    const auto standing = contacts_of(capsule, at(Vec3(0, 0, 0.9 + 1e-4)), HalfSpace{}, Pose{}, 1e-3);
    ASSERT_EQ(standing.size(), 1u);
    EXPECT_NEAR(standing[0].gap, 1e-4, 1e-15);
    EXPECT_EQ(standing[0].id.feature, feature_code(end_code(0), side_code(FeatureKind::face)));
    // Tilted, each end has its own height.
    const auto tilted = contacts_of(capsule, at(Vec3(0, 0, 1), Vec3(0, pi / 2 + 0.1, 0)), HalfSpace{}, Pose{}, 10);
    ASSERT_EQ(tilted.size(), 2u);
    EXPECT_NEAR(tilted[0].gap, 1 - 0.3 + 0.6 * std::sin(0.1), 1e-14);
    EXPECT_NEAR(tilted[1].gap, 1 - 0.3 - 0.6 * std::sin(0.1), 1e-14);
}

TEST(CapsuleCapsule, CrossedTouchOnce) {
    const Capsule upper{0.2, 1.5}, lower{0.3, 1.0};
    for (const double gap : {1e-4, 0.0, -1e-4, -0.02}) {
        for (const double angle : {pi / 2, 1.0, 0.5}) {
            const Pose pose{Vec3(0.1, -0.05, 0.5 + gap), rotation_by(Vec3(0, 0, angle)) * rotation_by(along_x)};
            const auto contacts = contacts_of(upper, pose, lower, at(Vec3::Zero(), along_x), 1e-3);
            ASSERT_EQ(contacts.size(), 1u) << gap << " " << angle;
            EXPECT_EQ(contacts[0].id.feature, feature_code(side, side));
            EXPECT_NEAR(contacts[0].gap, gap, 1e-15);
            EXPECT_LT((contacts[0].normal - Vec3::UnitZ()).norm(), 1e-14);
            // Where the lines meet seen from above: y = -0.05 + s sin = 0.
            EXPECT_NEAR(contacts[0].position.y(), 0, 1e-14);
            EXPECT_NEAR(contacts[0].position.x(), 0.1 + 0.05 * std::cos(angle) / std::sin(angle), 1e-14);
            EXPECT_NEAR(contacts[0].position.z(), 0.3 + gap / 2, 1e-14);
        }
    }
}

TEST(CapsuleCapsule, ParallelTouchTwiceAtTheEndsOfWhatTheyShare) {
    const Capsule a{0.2, 1.0}, b{0.3, 1.6};
    const auto places = [&](const Capsule& upper, double shift, double gap) {
        const auto contacts = contacts_of(upper, at(Vec3(shift, 0, 0.3 + upper.radius + gap), along_x), b,
                                          at(Vec3::Zero(), along_x), 1e-3);
        std::set<double> x;
        for (const ContactPoint& c : contacts) {
            EXPECT_NEAR(c.gap, gap, 1e-15);
            EXPECT_LT((c.normal - Vec3::UnitZ()).norm(), 1e-14);
            x.insert(std::round(1e9 * c.position.x()) / 1e9);
        }
        EXPECT_EQ(contacts.size(), x.size());
        return x;
    };
    for (const double gap : {0.0, 1e-5, -1e-5, -0.2}) {
        EXPECT_EQ(places(a, 0, gap), (std::set<double>{-0.5, 0.5}));
        EXPECT_EQ(places(a, 0.7, gap), (std::set<double>{0.2, 0.8}));
        EXPECT_EQ(places(a, 0.3, gap), (std::set<double>{-0.2, 0.8}));  // flush at one end
        EXPECT_EQ(places(b, 0, gap), (std::set<double>{-0.8, 0.8}));    // flush at both
        EXPECT_EQ(places(a, 1.3, gap), (std::set<double>{0.8}));        // end on end
    }
}

TEST(CapsuleCapsule, RestingIdsDoNotFlickerWithRounding) {
    const Capsule a{0.2, 1.0}, b{0.3, 1.6};
    struct Rest {
        Capsule upper;
        Pose pose;
    };
    const Quat turned = rotation_by(Vec3(0, 0, 0.01)) * rotation_by(along_x);
    const std::vector<Rest> rests{{a, at(Vec3(0, 0, 0.5), along_x)},   {a, at(Vec3(0.3, 0, 0.5), along_x)},
                                  {b, at(Vec3(0, 0, 0.6), along_x)},   {a, at(Vec3(1.3, 0, 0.5), along_x)},
                                  {a, at(Vec3(0.8, 0, 0.5), along_y)}, {a, at(Vec3(0, 0.5, 0.5), along_y)},
                                  {a, at(Vec3(1.8, 0, 0), along_x)},   {a, {Vec3(0, 0, 0.5), turned}}};
    Dice dice(62);
    for (std::size_t i = 0; i < rests.size(); ++i) {
        const auto still = features(contacts_of(rests[i].upper, rests[i].pose, b, at(Vec3::Zero(), along_x), 1e-3));
        EXPECT_GE(still.size(), 1u) << i;
        for (const double noise : {1e-15, 1e-12, 1e-10}) {
            for (int trial = 0; trial < 100; ++trial) {
                Pose pose = rests[i].pose;
                pose.position += dice.vector(noise);
                pose.attitude = (rotation_by(dice.vector(noise)) * pose.attitude).normalized();
                EXPECT_EQ(features(contacts_of(rests[i].upper, pose, b, at(Vec3::Zero(), along_x), 1e-3)), still) << i;
            }
        }
    }
}

struct RandomPair {
    Capsule a;
    Pose pose_a, pose_b;
    double length;  // [m] of the other
};
// Half of them nearly parallel, at angles from 1e-9 to 0.1.
RandomPair random_pair(Dice& dice) {
    const auto size = [&] { return std::pow(10.0, dice.uniform(-1.3, 0.3)); };
    RandomPair r{{size(), size()}, {dice.vector(1), dice.attitude()}, {dice.vector(1), dice.attitude()}, size()};
    if (dice.uniform(0, 1) < 0.5) {
        const Vec3 tilt = std::pow(10.0, dice.uniform(-9, -1)) * dice.vector(1);
        r.pose_b.attitude = (rotation_by(tilt) * r.pose_a.attitude).normalized();
    }
    return r;
}

TEST(CapsuleCapsule, LeastGapIsTheDistanceAndNoneIsLess) {
    Dice dice(63);
    for (int trial = 0; trial < 20000; ++trial) {
        const RandomPair r = random_pair(dice);
        const Capsule b{dice.uniform(0.05, 0.5), r.length};
        const double apart =
            minimum([&](double s) { return distance_to_axis(axis_point(r.a, r.pose_a, s), b, r.pose_b); });
        const auto contacts = contacts_of(r.a, r.pose_a, b, r.pose_b, 10);
        // parallel_lines: a crossing at less than 3e-5 radii of sideways reach may be left to the ends
        EXPECT_NEAR(least_gap(contacts), apart - r.a.radius - b.radius, 2e-9 * (r.a.radius + b.radius) + 1e-14)
            << trial;
        EXPECT_LE(contacts.size(), 5u);
    }
}

TEST(CapsuleCapsule, CoincidentAndCrossingAxesPartAcrossThem) {
    Dice dice(64);
    for (int trial = 0; trial < 2000; ++trial) {
        const RandomPair r = random_pair(dice);
        const Capsule b{0.3, r.length};
        Pose pose_b = r.pose_b;
        if (trial % 2 == 0) pose_b.attitude = r.pose_a.attitude;
        // A point of one axis on a point of the other.
        const double s = trial % 3 == 0 ? 0 : trial % 3 == 1 ? 1 : dice.uniform(-1, 1);
        pose_b.position += r.pose_a.position - axis_point(b, pose_b, s);
        const auto contacts = contacts_of(r.a, r.pose_a, b, pose_b, 0.01);
        ASSERT_FALSE(contacts.empty());
        // Nearly parallel axes are left to their ends, which are aside by up to 3e-5 of the radii (parallel_lines).
        EXPECT_NEAR(least_gap(contacts), -r.a.radius - 0.3, 3e-5 * (r.a.radius + 0.3));
        for (const ContactPoint& c : contacts) {
            EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
            EXPECT_TRUE(c.position.allFinite());
        }
    }
}

// The box has its top at z = 0.
const Box cube{Vec3(0.5, 0.5, 0.5)};
const Pose below = at(Vec3(0, 0, -0.5));

// (x, y) of the contacts of a capsule lying on the cube, whose gaps and normals must be those of the top.
std::set<std::pair<double, double>> on_top(const Capsule& capsule, const Pose& pose, double gap) {
    std::set<std::pair<double, double>> places;
    const auto round = [](double x) { return std::round(1e9 * x) / 1e9 + 0.0; };
    const auto contacts = contacts_of(capsule, pose, cube, below, 1e-4);
    for (const ContactPoint& c : contacts) {
        EXPECT_NEAR(c.gap, gap, 1e-15);
        EXPECT_LT((c.normal - Vec3::UnitZ()).norm(), 1e-14);
        places.insert({round(c.position.x()), round(c.position.y())});
    }
    EXPECT_EQ(contacts.size(), places.size());
    const auto other = contacts_of(cube, below, capsule, pose, 1e-4);
    EXPECT_EQ(other.size(), contacts.size());
    for (const ContactPoint& c : other) EXPECT_LT((c.normal + Vec3::UnitZ()).norm(), 1e-14);
    return places;
}

TEST(CapsuleBox, LyingOnAFaceTouchesAtEndsAndRims) {
    using Places = std::set<std::pair<double, double>>;
    for (const double gap : {0.0, 1e-5, -1e-5, -0.1}) {
        const double z = 0.2 + gap;
        EXPECT_EQ(on_top({0.2, 0.6}, at(Vec3(0, 0, z), along_x), gap), (Places{{-.3, 0}, {.3, 0}}));
        EXPECT_EQ(on_top({0.2, 0.6}, at(Vec3(0.4, 0.1, z), along_x), gap), (Places{{.1, .1}, {.5, .1}}));
        EXPECT_EQ(on_top({0.2, 3.0}, at(Vec3(0.4, 0.1, z), along_x), gap), (Places{{-.5, .1}, {.5, .1}}));
        EXPECT_EQ(on_top({0.2, 1.0}, at(Vec3(0, 0.1, z), along_x), gap), (Places{{-.5, .1}, {.5, .1}}));
        EXPECT_EQ(on_top({0.2, 0.6}, at(Vec3(0, 0.5, z), along_x), gap), (Places{{-.3, .5}, {.3, .5}}));
        EXPECT_EQ(on_top({0.2, 3.0}, at(Vec3(0, 0.5, z), along_x), gap), (Places{{-.5, .5}, {.5, .5}}));
        EXPECT_EQ(on_top({0.2, 1.0}, at(Vec3(0, 0.5, z), along_x), gap), (Places{{-.5, .5}, {.5, .5}}));
        // Across a corner: x + y = 0.7 from one rim to the other.
        const Pose diagonal{Vec3(0.35, 0.35, z), rotation_by(Vec3(0, 0, -pi / 4)) * rotation_by(along_x)};
        EXPECT_EQ(on_top({0.2, 3.0}, diagonal, gap), (Places{{.2, .5}, {.5, .2}}));
        EXPECT_EQ(on_top({0.2, 0.6}, at(Vec3(0.2, 0.1, z + 0.3)), gap), (Places{{.2, .1}}));  // standing
    }
}

TEST(CapsuleBox, SmallTiltKeepsBothContactsWithTheirOwnGaps) {
    for (const double length : {0.6, 3.0}) {
        for (const double tilt : {1e-9, 1e-6, 1e-3, 0.05}) {
            for (const double y : {0.0, 0.5}) {
                const Pose pose = at(Vec3(0, y, 0.2), Vec3(0, pi / 2 + tilt, 0));
                const auto contacts = contacts_of(Capsule{0.2, length}, pose, cube, below, 0.1);
                ASSERT_EQ(contacts.size(), 2u) << tilt << " " << length << " " << y;
                for (const ContactPoint& c : contacts)
                    EXPECT_NEAR(c.gap, -tilt * c.position.x(), 2e-9 + 2 * tilt * tilt);
            }
        }
    }
}

TEST(CapsuleBox, LeaningOnAnEdgeAndUnderACornerTouchOnce) {
    // A ladder against the edge along y at (0.5, 0, 0), at 45 degrees.
    const Vec3 out = Vec3(1, 0, 1).normalized();
    const Pose ladder{Vec3(0.5, 0.1, 0) + 0.2 * out, rotation_by(Vec3(0, 3 * pi / 4, 0))};
    const auto edge_contact = contacts_of(Capsule{0.2, 2}, ladder, cube, below, 1e-3);
    ASSERT_EQ(edge_contact.size(), 1u);
    EXPECT_EQ(edge_contact[0].kind, GapKind::line_line);
    EXPECT_NEAR(edge_contact[0].gap, 0, 1e-15);
    EXPECT_LT((edge_contact[0].normal - out).norm(), 1e-14);
    EXPECT_LT((edge_contact[0].position - Vec3(0.5, 0.1, 0)).norm(), 1e-14);
    // Its side on the corner (0.5, 0.5, 0), axis across the diagonal of the cube.
    const Vec3 diagonal = Vec3(1, 1, 1).normalized();
    const Pose over{Vec3(0.5, 0.5, 0) + 0.2 * diagonal,
                    Quat::FromTwoVectors(Vec3::UnitZ(), Vec3(1, -1, 0).normalized())};
    const auto corner_contact = contacts_of(Capsule{0.2, 2}, over, cube, below, 1e-3);
    ASSERT_EQ(corner_contact.size(), 1u);
    EXPECT_EQ(corner_contact[0].kind, GapKind::point_line);
    EXPECT_EQ(corner_contact[0].id.feature, feature_code(side, side_code(FeatureKind::vertex, 7)));
    EXPECT_LT((corner_contact[0].normal - diagonal).norm(), 1e-14);
}

TEST(CapsuleBox, RestingIdsDoNotFlickerWithRounding) {
    Dice dice(65);
    struct Rest {
        Capsule capsule;
        Pose pose;
    };
    const Pose diagonal{Vec3(0.35, 0.35, 0.2), rotation_by(Vec3(0, 0, -pi / 4)) * rotation_by(along_x)};
    const std::vector<Rest> rests{
        {{0.2, 0.6}, at(Vec3(0, 0, 0.2), along_x)},     {{0.2, 0.6}, at(Vec3(0.4, 0.1, 0.2), along_x)},
        {{0.2, 3.0}, at(Vec3(0.4, 0.1, 0.2), along_x)}, {{0.2, 1.0}, at(Vec3(0, 0.1, 0.2), along_x)},
        {{0.2, 0.6}, at(Vec3(0, 0.5, 0.2), along_x)},   {{0.2, 3.0}, at(Vec3(0, 0.5, 0.2), along_x)},
        {{0.2, 1.0}, at(Vec3(0, 0.5, 0.2), along_y)},   {{0.2, 3.0}, diagonal}};
    for (std::size_t i = 0; i < rests.size(); ++i) {
        const auto still = features(contacts_of(rests[i].capsule, rests[i].pose, cube, below, 1e-4));
        EXPECT_EQ(still.size(), 2u) << i;
        for (const double noise : {1e-15, 1e-12, 1e-10}) {
            for (int trial = 0; trial < 100; ++trial) {
                Pose pose = rests[i].pose;
                pose.position += dice.vector(noise);
                pose.attitude = (rotation_by(dice.vector(noise)) * pose.attitude).normalized();
                EXPECT_EQ(features(contacts_of(rests[i].capsule, pose, cube, below, 1e-4)), still) << i;
            }
        }
    }
}

TEST(CapsuleBox, LeastGapIsTheDistanceAndNoneIsLess) {
    Dice dice(66);
    int apart = 0;
    int kinds[4] = {0, 0, 0, 0};
    for (int trial = 0; trial < 30000; ++trial) {
        const RandomPair r = random_pair(dice);
        const auto half = [&] { return std::pow(10.0, dice.uniform(-1.3, 0.2)); };
        const double x = half(), y = half(), z = half();
        const Box box{Vec3(x, y, z)};
        const double distance =
            minimum([&](double s) { return distance_to_box(axis_point(r.a, r.pose_a, s), box, r.pose_b); });
        if (distance < 1e-6) continue;
        ++apart;
        const auto contacts = contacts_of(r.a, r.pose_a, box, r.pose_b, 10);
        EXPECT_NEAR(least_gap(contacts), distance - r.a.radius, 2e-9 * r.a.radius + 1e-13) << trial;
        for (const ContactPoint& c : contacts)
            if (c.gap == least_gap(contacts)) ++kinds[static_cast<int>(c.kind)];
    }
    EXPECT_GT(apart, 10000);
    for (const int count : kinds) EXPECT_GT(count, 500);
}

// Depth of an axis inside the box: least over all directions of the shift that parts them, by projecting.
double axis_depth(const Capsule& capsule, const Pose& pose, const Box& box, const Pose& pose_b) {
    const Mat3 B = pose_b.attitude.toRotationMatrix();
    const Vec3 ends[2] = {axis_point(capsule, pose, -1), axis_point(capsule, pose, 1)};
    double best = -infinity;
    for (int k = 0; k < 6; ++k) {
        Vec3 axis = B.col(k % 3);
        if (k >= 3) axis = axis.cross(ends[1] - ends[0]).normalized();
        double low = infinity, high = -infinity;
        for (int v = 0; v < 8; ++v) {
            const double x = axis.dot(pose_b * box_features::vertex(box, v));
            low = std::min(low, x), high = std::max(high, x);
        }
        const double e0 = axis.dot(ends[0]), e1 = axis.dot(ends[1]);
        best = std::max({best, std::min(e0, e1) - high, low - std::max(e0, e1)});
    }
    return best;
}

TEST(CapsuleBox, AxisInsideTheLeastGapIsTheDepth) {
    Dice dice(67);
    int inside = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const RandomPair r = random_pair(dice);
        const Box box{Vec3(dice.uniform(0.1, 1), dice.uniform(0.1, 1), dice.uniform(0.1, 1))};
        const double depth = axis_depth(r.a, r.pose_a, box, r.pose_b);
        if (depth > -1e-4) continue;
        ++inside;
        const auto contacts = contacts_of(r.a, r.pose_a, box, r.pose_b, 0.01);
        ASSERT_FALSE(contacts.empty());
        EXPECT_NEAR(least_gap(contacts), depth - r.a.radius, 3e-5 * r.a.radius + 1e-12) << trial;
        for (const ContactPoint& c : contacts) EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
    }
    EXPECT_GT(inside, 2000);
    // Through the middle, along an axis and askew.
    for (const Vec3& rotation : {Vec3(0, 0, 0), along_x, Vec3(0.3, 0.4, 0.5)}) {
        const auto contacts = contacts_of(Capsule{0.1, 4}, at(Vec3::Zero(), rotation), cube, Pose{}, 0.01);
        ASSERT_FALSE(contacts.empty());
        EXPECT_LE(least_gap(contacts), -0.6 + 1e-12);
        EXPECT_GE(least_gap(contacts), -0.1 - 0.5 * std::sqrt(2.0));
    }
}

// Along any motion the least gap changes no faster than the bodies move: no jumps between features, in and out.
TEST(Capsule, LeastGapIsContinuousAlongMotions) {
    Dice dice(68);
    for (int trial = 0; trial < 300; ++trial) {
        const RandomPair r = random_pair(dice);
        const Geometry others[] = {Capsule{0.3, r.length}, Box{Vec3(0.4, 0.2, 0.7)}, Sphere{0.3}};
        for (const Geometry& other : others) {
            const Twist twist{r.pose_b.position, dice.vector(1), dice.vector(1)};
            const double h = 1e-3;
            const double fastest = (twist.linear.norm() + twist.angular.norm() * 3) * h;
            double before = infinity;
            for (int k = 0; k < 400; ++k) {
                const auto contacts = contacts_of(r.a, r.pose_a, other, after(r.pose_b, twist, k * h), 10);
                ASSERT_FALSE(contacts.empty());
                const double now = least_gap(contacts);
                ASSERT_LT(k > 0 ? std::abs(now - before) : 0.0, fastest) << shape_name(other) << " " << trial;
                before = now;
            }
        }
    }
}

// Axes in the plane xz that cut each other: the least shift along the normal of either axis that parts them.
double planar_depth(const Capsule& a, const Pose& pose_a, const Capsule& b, const Pose& pose_b) {
    double best = -infinity;
    for (const Pose& owner : {pose_a, pose_b}) {
        const Vec3 m = Vec3::UnitY().cross(owner.attitude * Vec3::UnitZ());
        const double a0 = m.dot(axis_point(a, pose_a, -1)), a1 = m.dot(axis_point(a, pose_a, 1));
        const double b0 = m.dot(axis_point(b, pose_b, -1)), b1 = m.dot(axis_point(b, pose_b, 1));
        best = std::max({best, std::min(a0, a1) - std::max(b0, b1), std::min(b0, b1) - std::max(a0, a1)});
    }
    return best;
}

TEST(PlanarCapsule, TouchesInThePlane) {
    Dice dice(69);
    int cut = 0, inside = 0;
    for (int trial = 0; trial < 6000; ++trial) {
        const Capsule a{dice.uniform(0.1, 0.4), dice.uniform(0.2, 2)}, b{dice.uniform(0.1, 0.4), dice.uniform(0.2, 2)};
        const Box box{Vec3(dice.uniform(0.1, 1), dice.uniform(0.01, 2), dice.uniform(0.1, 1))};
        const Pose pose_a = at(Vec3(dice.uniform(-1, 1), 0, dice.uniform(-1, 1)), Vec3(0, dice.uniform(-3, 3), 0));
        const Pose pose_b = at(Vec3(dice.uniform(-1, 1), 0, dice.uniform(-1, 1)), Vec3(0, dice.uniform(-3, 3), 0));
        CollisionModel model;
        model.plane_normal = Vec3::UnitY();
        model.fixed = {0, 0};
        const Geometry others[] = {b, box, Sphere{0.3}, HalfSpace{}};
        for (const Geometry& other : others) {
            model.colliders = {{0, 0, {a, {}}}, {1, 1, {other, {}}}};
            ContactFinder finder;
            finder.margin = 5;
            finder.find(model, std::vector<Pose>{pose_a, pose_b});
            ASSERT_FALSE(finder.contacts().empty());
            double least = infinity;
            for (const ContactPoint& c : finder.contacts()) {
                EXPECT_NEAR(c.normal.y(), 0, 1e-12);
                EXPECT_NEAR(c.position.y(), 0, 1e-12);
                EXPECT_LT((c.tangent - Vec3::UnitY().cross(c.normal)).norm(), 1e-12);
                least = std::min(least, c.gap);
            }
            const auto on_axis = [&](auto&& f) {
                return minimum([&](double s) { return f(axis_point(a, pose_a, s)); });
            };
            if (&other == &others[0]) {
                const double apart = on_axis([&](const Vec3& x) { return distance_to_axis(x, b, pose_b); });
                const double expected = apart > 1e-6 ? apart : planar_depth(a, pose_a, b, pose_b);
                if (apart <= 1e-6) {
                    ++cut;
                    EXPECT_EQ(finder.contacts().size(), 1u);
                }
                EXPECT_NEAR(least, expected - a.radius - b.radius, 2e-6);  // apart or cut, told by 1e-6
            } else if (&other == &others[1]) {
                const double apart = on_axis([&](const Vec3& x) { return distance_to_box(x, box, pose_b); });
                if (apart <= 1e-6) ++inside;
                EXPECT_GE(least, apart > 1e-6 ? apart - a.radius - 1e-8 : -infinity);
                EXPECT_LE(least, apart - a.radius + 1e-8);
            } else if (&other == &others[2]) {
                EXPECT_NEAR(least, distance_to_axis(pose_b.position, a, pose_a) - a.radius - 0.3, 1e-14);
            } else {
                EXPECT_EQ(finder.contacts().size(), 2u);
            }
        }
    }
    EXPECT_GT(cut, 500);
    EXPECT_GT(inside, 500);
}

TEST(PlanarCapsule, AcrossThePlaneItIsADisc) {
    Dice dice(70);
    const Quat across = rotation_by(along_y);
    for (int trial = 0; trial < 500; ++trial) {
        const auto contacts = [&](const Geometry& first, const Geometry& second) {
            CollisionModel model;
            model.plane_normal = Vec3::UnitY();
            model.fixed = {0, 0};
            model.colliders = {{0, 0, {first, {Vec3::Zero(), across}}}, {1, 1, {second, {Vec3::Zero(), across}}}};
            Dice again(static_cast<unsigned>(trial));
            const Pose pose = at(Vec3(again.uniform(-1, 1), 0, again.uniform(-1, 1)), Vec3(0, again.uniform(-3, 3), 0));
            ContactFinder finder;
            finder.margin = 1;
            finder.find(model, std::vector<Pose>{Pose{}, pose});
            return std::vector<ContactPoint>(finder.contacts().begin(), finder.contacts().end());
        };
        const Geometry disc = Capsule{0.3, dice.uniform(0.01, 3)}, ball = Sphere{0.3};
        const Geometry others[] = {Box{Vec3(0.5, 0.2, 0.4)}, Sphere{0.2}, Capsule{0.1, 0.5}, HalfSpace{Vec3::UnitX()}};
        for (const Geometry& other : others) {
            const auto as_disc = contacts(disc, other), as_ball = contacts(ball, other);
            const auto swapped = contacts(other, disc);
            ASSERT_EQ(as_disc.size(), as_ball.size());
            for (std::size_t i = 0; i < as_disc.size(); ++i) {
                EXPECT_NEAR(as_disc[i].gap, as_ball[i].gap, 1e-15);
                EXPECT_LT((as_disc[i].position - as_ball[i].position).norm(), 1e-15);
            }
            EXPECT_EQ(swapped.size(), contacts(other, ball).size());
        }
    }
}

}  // namespace
}  // namespace stickslip
