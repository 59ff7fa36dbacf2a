// Two boxes: the contacts of faces in all the ways they can lie on each other, and, at random poses, against the
// distance recomputed from points and segments, and the depth recomputed by projecting corners.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "motions.hpp"

namespace stickslip {
namespace {

constexpr double pi = std::numbers::pi;

Pose lifted(double x, double y, double z, const Vec3& rotation = Vec3::Zero()) {
    return {Vec3(x, y, z), rotation_by(rotation)};
}

// The lower box has its top at z = 0, the upper one its bottom at z = gap.
const Geometry cube = Box{Vec3(0.5, 0.5, 0.5)};
const Pose below = lifted(0, 0, -0.5);

std::vector<SidePair> features(const std::vector<ContactPoint>& contacts) {
    std::vector<SidePair> list;
    for (const ContactPoint& contact : contacts) list.push_back(contact.id.feature);
    return list;
}

// Every one of `expected` (x, y) is the place of exactly one contact, and there are no others.
void expect_places(const std::vector<ContactPoint>& contacts, const std::vector<Vec2>& expected,
                   double tolerance = 1e-9) {
    EXPECT_EQ(contacts.size(), expected.size());
    for (const Vec2& place : expected) {
        const auto here = [&](const ContactPoint& c) { return (c.position.head<2>() - place).norm() < tolerance; };
        EXPECT_EQ(std::count_if(contacts.begin(), contacts.end(), here), 1) << place.transpose();
    }
}

class StackedFaces : public testing::TestWithParam<double> {
protected:
    double gap() const { return GetParam(); }
    // Contacts with the upper box as a: normals must point up.
    std::vector<ContactPoint> on_top(const Geometry& upper, const Pose& pose, const Geometry& lower = cube) const {
        const auto contacts = contacts_of(upper, pose, lower, below, 1e-3);
        for (const ContactPoint& c : contacts) {
            EXPECT_NEAR(c.gap, gap(), 1e-15);
            EXPECT_LT((c.normal - Vec3::UnitZ()).norm(), 1e-14);
        }
        // The same the other way round.
        const auto other = contacts_of(lower, below, upper, pose, 1e-3);
        EXPECT_EQ(other.size(), contacts.size());
        for (const ContactPoint& c : other) EXPECT_LT((c.normal + Vec3::UnitZ()).norm(), 1e-14);
        return contacts;
    }
};

TEST_P(StackedFaces, EqualBoxesTouchAtFourCorners) {
    expect_places(on_top(cube, lifted(0, 0, 0.5 + gap())), {{.5, .5}, {-.5, .5}, {.5, -.5}, {-.5, -.5}});
    for (const double quarter : {pi / 2, pi, -pi / 2})
        expect_places(on_top(cube, lifted(0, 0, 0.5 + gap(), Vec3(0, 0, quarter))),
                      {{.5, .5}, {-.5, .5}, {.5, -.5}, {-.5, -.5}});
}

TEST_P(StackedFaces, TurnedByHalfARightAngleTheyTouchAtEightCrossings) {
    const double s = (std::sqrt(2.0) - 1) / 2;  // corners of the regular octagon inside both squares
    const auto contacts = on_top(cube, lifted(0, 0, 0.5 + gap(), Vec3(0, 0, pi / 4)));
    expect_places(contacts, {{.5, s}, {.5, -s}, {-.5, s}, {-.5, -s}, {s, .5}, {s, -.5}, {-s, .5}, {-s, -.5}});
    for (const ContactPoint& c : contacts) EXPECT_EQ(c.kind, GapKind::line_line);
}

TEST_P(StackedFaces, ShiftedByHalfTheyTouchAtTheCornersOfTheOverlap) {
    expect_places(on_top(cube, lifted(0.5, 0, 0.5 + gap())), {{.5, .5}, {.5, -.5}, {0, .5}, {0, -.5}});
    expect_places(on_top(cube, lifted(0.3, -0.2, 0.5 + gap())), {{.5, .3}, {.5, -.5}, {-.2, .3}, {-.2, -.5}});
}

TEST_P(StackedFaces, SmallOnLargeTouchesAtItsOwnCorners) {
    const Geometry small = Box{Vec3(0.1, 0.2, 0.3)};
    expect_places(on_top(small, lifted(0.2, 0.1, 0.3 + gap())), {{.3, .3}, {.1, .3}, {.3, -.1}, {.1, -.1}});
    const auto turned = on_top(small, lifted(0, 0, 0.3 + gap(), Vec3(0, 0, 0.3)));
    EXPECT_EQ(turned.size(), 4u);
    for (const ContactPoint& c : turned) EXPECT_EQ(c.kind, GapKind::point_plane);
}

TEST_P(StackedFaces, LargeOnSmallTouchesAtTheOthersCorners) {
    const Geometry large = Box{Vec3(2, 2, 0.1)};
    expect_places(on_top(large, lifted(0.3, 0.4, 0.1 + gap())), {{.5, .5}, {-.5, .5}, {.5, -.5}, {-.5, -.5}});
}

TEST_P(StackedFaces, CrossedPlanksTouchWhereTheirEdgesCross) {
    const Geometry plank = Box{Vec3(2, 0.1, 0.05)};
    const auto contacts = on_top(plank, lifted(0, 0, 0.05 + gap()), Box{Vec3(0.2, 3, 0.5)});
    expect_places(contacts, {{.2, .1}, {-.2, .1}, {.2, -.1}, {-.2, -.1}});
    for (const ContactPoint& c : contacts) EXPECT_EQ(c.kind, GapKind::line_line);
}

TEST_P(StackedFaces, ClippedCornerGivesFivePoints) {
    // The upper square, turned by 45 degrees and centred at (-0.4, -0.4), ends at x + y = sqrt(2) - 0.8 and so covers
    // all of the lower one but the corner (0.5, 0.5).
    const Geometry large = Box{Vec3(1, 1, 0.5)};
    const auto contacts = on_top(large, lifted(-0.4, -0.4, 0.5 + gap(), Vec3(0, 0, pi / 4)));
    const double y = std::sqrt(2.0) - 0.8 - 0.5;  // of the cut, on x = 0.5
    expect_places(contacts, {{.5, y}, {y, .5}, {.5, -.5}, {-.5, .5}, {-.5, -.5}});
}

INSTANTIATE_TEST_SUITE_P(Gaps, StackedFaces, testing::Values(0.0, 1e-6, -1e-6, 1e-12, -1e-12, 5e-4, -1e-3));

TEST(BoxBox, SmallTiltKeepsTheCornersWithTheirOwnGaps) {
    for (const double tilt : {1e-9, 1e-6, 1e-4, 1e-3}) {
        const auto contacts = contacts_of(cube, lifted(0, 0, 0.5, Vec3(0, tilt, 0)), cube, below, 1e-2);
        ASSERT_EQ(contacts.size(), 4u) << tilt;
        for (const ContactPoint& c : contacts)
            EXPECT_NEAR(c.gap, -tilt * (c.position.x() > 0 ? 0.5 : -0.5), 2e-6 * tilt + tilt * tilt);
    }
}

TEST(BoxBox, SmallTurnKeepsFourCornersUntilTheEdgesCross) {
    for (const double turn : {1e-12, 1e-9, 1e-6, 5e-5}) {
        const auto contacts = contacts_of(cube, lifted(0, 0, 0.5, Vec3(0, 0, turn)), cube, below, 1e-2);
        expect_places(contacts, {{.5, .5}, {-.5, .5}, {.5, -.5}, {-.5, -.5}}, 1e-4);
        for (const ContactPoint& c : contacts) EXPECT_LT((c.normal - Vec3::UnitZ()).norm(), 1e-10);
    }
    // Tilted as much as turned: the cross products of nearly parallel edges are useless, the support must remain.
    Dice dice(20);
    for (int trial = 0; trial < 2000; ++trial) {
        const double size = std::pow(10.0, dice.uniform(-9, -2));
        const auto contacts = contacts_of(cube, lifted(0, 0, 0.5, dice.vector(size)), cube, below, 0.1);
        double reach[4] = {0, 0, 0, 0};  // how far the support goes into each quadrant
        for (const ContactPoint& c : contacts) {
            EXPECT_GT(c.normal.z(), 0.94);
            double& r = reach[(c.position.x() > 0 ? 1 : 0) + (c.position.y() > 0 ? 2 : 0)];
            r = std::max(r, std::min(std::abs(c.position.x()), std::abs(c.position.y())));
        }
        for (const double r : reach) EXPECT_GT(r, 0.48) << size;
    }
}

TEST(BoxBox, RestingIdsDoNotFlickerWithRounding) {
    struct Rest {
        Geometry upper;
        Pose pose;
    };
    const double half_diagonal = 0.5 * std::sqrt(2.0);
    const std::vector<Rest> rests{
        {cube, lifted(0, 0, 0.5)},
        {cube, lifted(0.5, 0, 0.5)},
        {cube, lifted(0.25, 0.25, 0.5)},
        {cube, lifted(0, 0, 0.5, Vec3(0, 0, pi / 4))},
        {cube, lifted(0, 0, 0.5, Vec3(0, 0, pi / 2))},
        {cube, lifted(0, 0, half_diagonal, Vec3(pi / 4, 0, 0))},      // standing on an edge
        {cube, lifted(0.2, 0.1, half_diagonal, Vec3(0, pi / 4, 0))},  // and overhanging
        {Box{Vec3(0.1, 0.2, 0.3)}, lifted(0.2, 0.1, 0.3)},
        {Box{Vec3(0.5, 0.2, 0.3)}, lifted(0, 0.1, 0.3)},  // flush with two sides
        {Box{Vec3(2, 0.5, 0.01)}, lifted(0, 0, 0.01)},
        {Box{Vec3(2, 0.1, 0.05)}, lifted(0, 0, 0.05)},
    };
    Dice dice(21);
    for (std::size_t i = 0; i < rests.size(); ++i) {
        const auto still = features(contacts_of(rests[i].upper, rests[i].pose, cube, below, 1e-3));
        EXPECT_GE(still.size(), 2u) << i;
        for (const double noise : {1e-15, 1e-12, 1e-9}) {
            for (int trial = 0; trial < 200; ++trial) {
                Pose pose = rests[i].pose;
                pose.position += dice.vector(noise);
                pose.attitude = (rotation_by(dice.vector(noise)) * pose.attitude).normalized();
                const Pose ground{below.position + dice.vector(noise), rotation_by(dice.vector(noise))};
                EXPECT_EQ(features(contacts_of(rests[i].upper, pose, cube, ground, 1e-3)), still) << "rest " << i;
            }
        }
    }
}

TEST(BoxBox, CrossedEdgesTouchInOnePoint) {
    // Lower box with an edge up along y, upper box with an edge down along x.
    const double half_diagonal = 0.5 * std::sqrt(2.0);
    const Pose lower = lifted(0, 0, -half_diagonal, Vec3(0, pi / 4, 0));
    for (const double gap : {1e-4, 0.0, -1e-4}) {
        const Pose upper = lifted(0.1, -0.2, half_diagonal + gap, Vec3(pi / 4, 0, 0));
        const auto contacts = contacts_of(cube, upper, cube, lower, 1e-3);
        ASSERT_EQ(contacts.size(), 1u);
        EXPECT_EQ(contacts[0].kind, GapKind::line_line);
        EXPECT_NEAR(contacts[0].gap, gap, 1e-15);
        EXPECT_LT((contacts[0].normal - Vec3::UnitZ()).norm(), 1e-14);
        EXPECT_LT((contacts[0].position - Vec3(0, -0.2, gap / 2)).norm(), 1e-14);
    }
}

TEST(BoxBox, CornerOnFaceTouchesInOnePoint) {
    const Quat corner_down = Quat::FromTwoVectors(Vec3(1, 1, 1), -Vec3::UnitZ());
    const Pose pose{Vec3(0.1, 0.2, 0.5 * std::sqrt(3.0) - 1e-5), corner_down};
    const auto contacts = contacts_of(cube, pose, cube, below, 1e-3);
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_EQ(contacts[0].kind, GapKind::point_plane);
    EXPECT_EQ(contacts[0].id.feature, feature_code(side_code(FeatureKind::vertex, 7), side_code(FeatureKind::face, 5)));
    EXPECT_NEAR(contacts[0].gap, -1e-5, 1e-15);
}

TEST(BoxBox, SlidingLevelWithTheNextBoxDoesNotCatchItsSide) {
    // Floor of two cubes with a seam at x = 0.5; the third slides across, a little sunk in.
    const Pose next = lifted(1, 0, -0.5);
    for (const double sunk : {0.0, 1e-9, 1e-6, 1e-5}) {
        for (double x = -0.3; x < 1.0; x += 0.0173) {
            for (const ContactPoint& c : contacts_of(cube, lifted(x, 0, 0.5 - sunk), cube, next, 0.02))
                EXPECT_GT(c.normal.z(), 0.999) << x;
        }
    }
    // Sunk in deep it does meet the side.
    EXPECT_EQ(contacts_of(cube, lifted(-0.01, 0, 0.3), cube, next, 0.02).size(), 4u);
}

// Distance of two disjoint boxes: the least over corners to solid and edge to edge.
std::vector<Vec3> corners(const Box& box, const Pose& pose) {
    std::vector<Vec3> list;
    for (int v = 0; v < 8; ++v) list.push_back(pose * box_features::vertex(box, v));
    return list;
}

double distance_to_box(const Vec3& x, const Box& box, const Pose& pose) {
    const Vec3 local = pose.attitude.conjugate() * (x - pose.position);
    return (local.cwiseAbs() - box.half).cwiseMax(0).norm();
}

double segment_distance(const Vec3& p, const Vec3& u, const Vec3& q, const Vec3& v) {  // p + s u, q + t v in [0, 1]
    const Vec3 r = p - q;
    const double a = u.dot(u), b = u.dot(v), e = v.dot(v), c = u.dot(r), f = v.dot(r), det = a * e - b * b;
    double best = infinity;
    const auto consider = [&](double s, double t) {
        s = std::clamp(s, 0.0, 1.0);
        t = std::clamp(t, 0.0, 1.0);
        best = std::min(best, (r + s * u - t * v).norm());
    };
    if (det > 1e-14 * a * e) {
        const double s = (b * f - c * e) / det, t = (a * f - b * c) / det;
        if (s >= 0 && s <= 1 && t >= 0 && t <= 1) consider(s, t);
    }
    for (const double s : {0.0, 1.0}) consider(s, (f + s * b) / e);
    for (const double t : {0.0, 1.0}) consider((t * b - c) / a, t);
    return best;
}

std::vector<std::pair<Vec3, Vec3>> edges(const Box& box, const Pose& pose) {
    const auto list = corners(box, pose);
    std::vector<std::pair<Vec3, Vec3>> found;
    for (int v = 0; v < 8; ++v)
        for (int k = 0; k < 3; ++k)
            if ((v >> k & 1) == 0) found.emplace_back(list[v], list[v | 1 << k] - list[v]);
    return found;
}

struct Nearness {
    double corner_face = infinity;  // least distance of a corner to the other solid
    double edge_edge = infinity;
    double all() const { return std::min(corner_face, edge_edge); }
};

Nearness nearness(const Box& a, const Pose& pose_a, const Box& b, const Pose& pose_b) {
    Nearness n;
    for (const Vec3& x : corners(a, pose_a)) n.corner_face = std::min(n.corner_face, distance_to_box(x, b, pose_b));
    for (const Vec3& x : corners(b, pose_b)) n.corner_face = std::min(n.corner_face, distance_to_box(x, a, pose_a));
    for (const auto& [p, u] : edges(a, pose_a))
        for (const auto& [q, v] : edges(b, pose_b)) n.edge_edge = std::min(n.edge_edge, segment_distance(p, u, q, v));
    return n;
}

// Largest separation over the 15 axes, by projecting all corners.
double projected_separation(const Box& a, const Pose& pose_a, const Box& b, const Pose& pose_b) {
    const Mat3 A = pose_a.attitude.toRotationMatrix(), B = pose_b.attitude.toRotationMatrix();
    std::vector<Vec3> axes;
    for (int i = 0; i < 3; ++i) axes.insert(axes.end(), {A.col(i), B.col(i)});
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) axes.push_back(Vec3(A.col(i)).cross(Vec3(B.col(j))));
    double best = -infinity;
    for (Vec3 axis : axes) {
        if (axis.norm() < 1e-6) continue;
        axis.normalize();
        double low_a = infinity, high_a = -infinity, low_b = infinity, high_b = -infinity;
        for (const Vec3& x : corners(a, pose_a))
            low_a = std::min(low_a, axis.dot(x)), high_a = std::max(high_a, axis.dot(x));
        for (const Vec3& x : corners(b, pose_b))
            low_b = std::min(low_b, axis.dot(x)), high_b = std::max(high_b, axis.dot(x));
        best = std::max({best, low_a - high_b, low_b - high_a});
    }
    return best;
}

struct RandomBoxes {
    Box a, b;
    Pose pose_a, pose_b;
};
RandomBoxes random_boxes(Dice& dice) {
    const auto side = [&] { return std::pow(10.0, dice.uniform(-1, 0.3)); };
    const auto box = [&] {
        const double x = side(), y = side(), z = side();
        return Box{Vec3(x, y, z)};
    };
    RandomBoxes r{box(), box(), {dice.vector(1), dice.attitude()}, {}};
    const bool nearly_aligned = dice.uniform(0, 1) < 0.5;
    r.pose_b.attitude =
        nearly_aligned ? (rotation_by(dice.vector(0.05)) * r.pose_a.attitude).normalized() : dice.attitude();
    r.pose_b.position = r.pose_a.position + dice.vector(2);
    return r;
}

TEST(BoxBox, ApartNoGapIsLessThanTheDistanceAndTheNearestFeaturesAreFound) {
    Dice dice(22);
    const double cutoff = 0.1;
    int apart = 0, found = 0;
    for (int trial = 0; trial < 60000; ++trial) {
        const auto [a, b, pose_a, pose_b] = random_boxes(dice);
        const double separation = projected_separation(a, pose_a, b, pose_b);
        if (separation <= 0 || separation > cutoff) continue;
        const Nearness near = nearness(a, pose_a, b, pose_b);
        const auto contacts = contacts_of(a, pose_a, b, pose_b, cutoff);
        ++apart;
        double least = infinity;
        for (const ContactPoint& c : contacts) least = std::min(least, c.gap);
        // A corner counts as over a face up to 2.5e-4 of the size outside of it: its gap is less than its distance.
        EXPECT_GT(least, near.all() - 5e-4);
        // When the distance is attained along the axis of largest separation, it is a gap of the list.
        if (near.all() < separation * (1 + 1e-9)) {
            ++found;
            EXPECT_LT(least, near.all() + 1e-9) << trial;
        }
    }
    EXPECT_GT(apart, 1000);
    EXPECT_GT(found, apart / 3);
}

TEST(BoxBox, CornerJustBesideTheRimIsNotTakenForADeepOne) {
    Dice dice(25);
    const Box box = std::get<Box>(cube);
    int apart = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        // A corner beside the top face of the lower cube by a hair, and well below it.
        const Quat attitude = dice.attitude();
        const Vec3 corner(0.5 + dice.uniform(0, 1e-4), dice.uniform(-0.4, 0.4), -dice.uniform(0.01, 0.3));
        const Pose pose{corner - attitude * box_features::vertex(box, trial % 8), attitude};
        if (projected_separation(box, pose, box, below) < 0) continue;
        ++apart;
        for (const ContactPoint& c : contacts_of(cube, pose, cube, below, 0.5)) EXPECT_GT(c.gap, -2e-4);
    }
    EXPECT_GT(apart, 500);
}

// Box a above box b along the common normal of two edges, which cross at the distance `gap` where b has a corner nearby.
struct CrossedEdges {
    Box a, b;
    Pose pose_a, pose_b;
    Vec3 normal;  // from b to a
    double size;  // [m] the larger extent of the smaller box
};
CrossedEdges edges_beside_a_corner(Dice& dice, double gap) {
    const RandomBoxes r = random_boxes(dice);
    CrossedEdges c{r.a, r.b, r.pose_a, r.pose_b, Vec3::Zero(), 0};
    c.pose_b.attitude = (rotation_by(dice.vector(0.4)) * c.pose_a.attitude).normalized();
    c.size = std::min(c.a.half.maxCoeff(), c.b.half.maxCoeff());
    const Mat3 A = c.pose_a.attitude.toRotationMatrix(), B = c.pose_b.attitude.toRotationMatrix();
    const int i = static_cast<int>(dice.uniform(0, 3)), j = (i + 1) % 3;
    c.normal = Vec3(A.col(i)).cross(Vec3(B.col(j))).normalized();
    const Vec3 n_a = A.transpose() * c.normal, n_b = B.transpose() * c.normal;
    Vec3 on_a, on_b;  // where they cross, in the frames of the boxes
    for (int k = 0; k < 3; ++k) {
        on_a[k] = n_a[k] > 0 ? -c.a.half[k] : c.a.half[k];
        on_b[k] = n_b[k] > 0 ? c.b.half[k] : -c.b.half[k];
    }
    on_a[i] = dice.uniform(-0.8, 0.8) * c.a.half[i];
    const double beside = c.size * std::pow(10.0, dice.uniform(-5, -2.5));
    on_b[j] = (dice.uniform(0, 1) < 0.5 ? -1 : 1) * std::max(c.b.half[j] - beside, 0.0);
    c.pose_a.position = c.pose_b * on_b + gap * c.normal - A * on_a;
    return c;
}

TEST(BoxBox, EdgesThatCrossBesideACornerTouchWhenTheyDo) {
    for (const double gap : {1e-4, 1e-6, -1e-8}) {
        Dice dice(26);
        for (int trial = 0; trial < 20000; ++trial) {
            const CrossedEdges c = edges_beside_a_corner(dice, gap);
            const double rounding = 2e-9 * c.size;
            double least = infinity;
            for (const ContactPoint& contact : contacts_of(c.a, c.pose_a, c.b, c.pose_b, 0.1))
                least = std::min(least, contact.gap);
            ASSERT_LT(least, gap + rounding) << gap << " " << trial;
            ASSERT_GT(least, (gap > 0 ? gap : 2 * gap) - rounding) << gap << " " << trial;
        }
    }
}

TEST(BoxBox, OverlappingTheDeepestGapIsTheDepth) {
    Dice dice(23);
    int overlapping = 0, exact = 0;
    for (int trial = 0; trial < 30000; ++trial) {
        const auto [a, b, pose_a, pose_b] = random_boxes(dice);
        const double separation = projected_separation(a, pose_a, b, pose_b);
        if (separation >= -1e-3) continue;
        ++overlapping;
        const auto contacts = contacts_of(a, pose_a, b, pose_b, 0.01);
        ASSERT_FALSE(contacts.empty()) << trial;
        double nearest = infinity;  // of all gaps, to the depth
        for (const ContactPoint& c : contacts) {
            EXPECT_GT(c.gap, 2 * separation - 1e-3);
            nearest = std::min(nearest, std::abs(c.gap - separation));
        }
        if (nearest < 1e-9) ++exact;
    }
    EXPECT_GT(overlapping, 3000);
    EXPECT_GT(exact, overlapping * 9 / 10);
}

TEST(BoxBox, CoincidentAndDeepBoxesGiveFiniteContacts) {
    Dice dice(24);
    for (int trial = 0; trial < 3000; ++trial) {
        auto [a, b, pose_a, pose_b] = random_boxes(dice);
        pose_b.position = pose_a.position;
        if (trial % 3 == 0) pose_b.attitude = pose_a.attitude;
        if (trial % 6 == 0) b = a;
        const auto contacts = contacts_of(a, pose_a, b, pose_b, 0.01);
        EXPECT_FALSE(contacts.empty());
        std::set<SidePair> ids;
        for (const ContactPoint& c : contacts) {
            EXPECT_TRUE(std::isfinite(c.gap) && c.position.allFinite() && c.normal.allFinite());
            EXPECT_NEAR(c.normal.norm(), 1, 1e-12);
            EXPECT_TRUE(ids.insert(c.id.feature).second) << "id given twice";
        }
    }
}

}  // namespace
}  // namespace stickslip
