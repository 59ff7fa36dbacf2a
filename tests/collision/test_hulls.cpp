// Hulls against other shapes: as boxes where they are boxes, else against distances and depths recomputed from all pairs of features, and
// gaps against finite differences along motions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/pairs/polytope_sat.hpp"
#include "motions.hpp"

namespace stickslip {
namespace {

Hull hull_of(const Box& box) {
    std::vector<Vec3> corners;
    for (int v = 0; v < 8; ++v) corners.push_back(box_features::vertex(box, v));
    return Hull(convex_hull(corners));
}

Hull any_hull(Dice& dice, int points = 14) {
    std::vector<Vec3> list;
    for (int k = 0; k < points; ++k) list.push_back(dice.vector(0.5));
    return Hull(convex_hull(list));
}

struct Triangle {
    Vec3 corner[3];
};

std::vector<Triangle> triangles_of(const Hull& hull, const Pose& pose) {
    std::vector<Triangle> list;
    for (int f = 0; f < static_cast<int>(hull.polytope.faces.size()); ++f) {
        const auto loop = hull.polytope.loop(f);
        for (std::size_t k = 1; k + 1 < loop.size(); ++k)
            list.push_back({{pose * hull.polytope.vertices[loop[0]], pose * hull.polytope.vertices[loop[k]], pose * hull.polytope.vertices[loop[k + 1]]}});
    }
    return list;
}

double to_segment(const Vec3& x, const Vec3& a, const Vec3& b) {
    const double t = std::clamp((x - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
    return (x - a - t * (b - a)).norm();
}

double to_triangle(const Vec3& x, const Triangle& t) {
    const Vec3 n = (t.corner[1] - t.corner[0]).cross(t.corner[2] - t.corner[0]).normalized();
    bool over = true;
    double least = infinity;
    for (int k = 0; k < 3; ++k) {
        const Vec3 &a = t.corner[k], &b = t.corner[(k + 1) % 3];
        over = over && n.dot((b - a).cross(x - a)) >= 0;
        least = std::min(least, to_segment(x, a, b));
    }
    return over ? std::abs(n.dot(x - t.corner[0])) : least;
}

double between_segments(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    double least = std::min({to_segment(a, c, d), to_segment(b, c, d), to_segment(c, a, b), to_segment(d, a, b)});
    const Vec3 u = b - a, v = d - c, w = a - c, n = u.cross(v);
    if (n.norm() < 1e-12) return least;
    const double s = (u.dot(v) * v.dot(w) - v.dot(v) * u.dot(w)) / n.squaredNorm();
    const double t = (u.dot(u) * v.dot(w) - u.dot(v) * u.dot(w)) / n.squaredNorm();
    if (s > 0 && s < 1 && t > 0 && t < 1) least = std::min(least, std::abs(n.dot(w)) / n.norm());
    return least;
}

// Of two solids that are apart: the least over all pairs of triangles.
double distance_of(const std::vector<Triangle>& a, const std::vector<Triangle>& b) {
    double least = infinity;
    for (const Triangle& s : a)
        for (const Triangle& t : b)
            for (int i = 0; i < 3; ++i) {
                least = std::min({least, to_triangle(s.corner[i], t), to_triangle(t.corner[i], s)});
                for (int j = 0; j < 3; ++j)
                    least = std::min(least, between_segments(s.corner[i], s.corner[(i + 1) % 3], t.corner[j], t.corner[(j + 1) % 3]));
            }
    return least;
}

// The largest separation over all normals of faces and all products of edges, by projecting all corners.
double largest_separation(const Hull& a, const Pose& pose_a, const Hull& b, const Pose& pose_b) {
    const auto along = [](const Hull& hull, const Pose& pose, const Vec3& n, double sign) {
        double extreme = -infinity;
        for (const Vec3& v : hull.polytope.vertices) extreme = std::max(extreme, sign * n.dot(pose * v));
        return sign * extreme;
    };
    double largest = -infinity;
    const auto test = [&](const Vec3& n) {
        for (const double sign : {1.0, -1.0})
            largest = std::max(largest, along(a, pose_a, sign * n, -1) - along(b, pose_b, sign * n, 1));
    };
    for (const auto& face : a.polytope.faces) test(pose_a.attitude * face.normal);
    for (const auto& face : b.polytope.faces) test(pose_b.attitude * face.normal);
    for (const auto& e : a.polytope.edges)
        for (const auto& f : b.polytope.edges) {
            const Vec3 d = pose_a.attitude * (a.polytope.vertices[e.to] - a.polytope.vertices[e.from]).normalized();
            const Vec3 n = d.cross(pose_b.attitude * (b.polytope.vertices[f.to] - b.polytope.vertices[f.from]).normalized());
            if (n.norm() > 1e-4) test(n.normalized());
        }
    return largest;
}

// Where they overlap no direction has less depth than the facets of their difference. Where they are apart others may part them by more.
TEST(Hulls, SeparateAsAllTheirAxesDo) {
    Dice dice(1);
    int overlapping = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const Hull a = any_hull(dice), b = any_hull(dice);
        const Geometry one = a, other = b;
        const Pose pose_a{dice.vector(0.6), dice.attitude()}, pose_b{dice.vector(0.6), dice.attitude()};
        PolytopeSeparation s;
        ASSERT_TRUE(separate(placed_polytope(at(one, pose_a)), placed_polytope(at(other, pose_b)), {.cutoff = infinity}, 1e-9, s));
        const double expected = largest_separation(a, pose_a, b, pose_b);
        EXPECT_LE(s.largest, expected + 1e-9) << trial;
        EXPECT_EQ(s.largest > 0, expected > 0) << trial;
        if (expected > 0) continue;
        ++overlapping;
        EXPECT_NEAR(s.largest, expected, 1e-9) << trial;
    }
    EXPECT_GT(overlapping, 100);
}

// Every gap belongs to features that lie over each other: none is below the distance of the two, and where they are apart along a face or
// crossing edges, the least of them is it. Where they overlap, the least is at least their depth, and at most twice.
TEST(Hulls, LeastGapIsDistanceOrDepth) {
    Dice dice(2);
    int apart = 0, deep = 0, seen = 0, exact = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const Hull a = any_hull(dice), b = any_hull(dice);
        const Pose pose_b{dice.vector(0.7), dice.attitude()};
        Pose pose_a{dice.vector(0.7), dice.attitude()};
        // Moved along the best axis, to be near.
        PolytopeSeparation s;
        const Geometry one = a, other = b;
        ASSERT_TRUE(separate(placed_polytope(at(one, pose_a)), placed_polytope(at(other, pose_b)), {.cutoff = infinity}, 1e-9, s));
        pose_a.position += (dice.uniform(-0.05, 0.05) - s.largest) * (s.edge > s.face ? s.edge_normal : s.face_normal);
        const double separation = largest_separation(a, pose_a, b, pose_b);
        const auto contacts = contacts_of(a, pose_a, b, pose_b, 0.05);
        double least = infinity;
        for (const ContactPoint& c : contacts) least = std::min(least, c.gap);
        if (separation > 0) {
            ++apart;
            const double distance = distance_of(triangles_of(a, pose_a), triangles_of(b, pose_b));
            EXPECT_GE(least, separation - 1e-9) << trial;
            if (distance > 0.05 || distance - separation > 1e-9) continue;  // nearest with a corner or edge to a corner or edge
            ++seen;
            EXPECT_NEAR(least, distance, 1e-9) << trial;
        } else {
            ++deep;
            exact += std::abs(least - separation) < 1e-9;
            EXPECT_LE(least, separation + 1e-9) << trial;
            EXPECT_GE(least, 2 * separation - 1e-9) << trial;
        }
    }
    EXPECT_GT(apart, 500);
    EXPECT_GT(seen, 300);
    EXPECT_GT(deep, 500);
    EXPECT_GT(exact, deep / 2);
}

TEST(Hulls, InTheShapeOfBoxesTouchAsBoxesDo) {
    Dice dice(3);
    int contacts_seen = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const Box box_a{Vec3(dice.uniform(.1, .5), dice.uniform(.1, .5), dice.uniform(.1, .5))},
            box_b{Vec3(dice.uniform(.1, .5), dice.uniform(.1, .5), dice.uniform(.1, .5))};
        // Half of them lie flat on each other.
        const bool flat = trial % 2 == 0;
        const Pose below{dice.vector(0.2), flat ? Quat::Identity() : dice.attitude()};
        const Pose above = flat ? Pose{below.position + Vec3(dice.uniform(-.2, .2), dice.uniform(-.2, .2), box_a.half.z() + box_b.half.z() + 1e-4),
                                       rotation_by(Vec3(0, 0, dice.uniform(-3, 3)))}
                                : Pose{dice.vector(0.6), dice.attitude()};
        const auto expected = contacts_of(box_a, below, box_b, above, 1e-2);
        for (const auto& [first, second] : {std::pair<Geometry, Geometry>{hull_of(box_a), hull_of(box_b)}, {box_a, hull_of(box_b)}, {hull_of(box_a), box_b}}) {
            const auto contacts = contacts_of(first, below, second, above, 1e-2);
            EXPECT_EQ(contacts.size(), expected.size()) << trial;
            for (const ContactPoint& e : expected) {
                ++contacts_seen;
                const auto same = [&](const ContactPoint& c) {
                    return (c.position - e.position).norm() < 1e-9 && std::abs(c.gap - e.gap) < 1e-9 && (c.normal - e.normal).norm() < 1e-9;
                };
                EXPECT_EQ(std::count_if(contacts.begin(), contacts.end(), same), 1) << trial;
            }
        }
    }
    EXPECT_GT(contacts_seen, 5000);
}

TEST(Hulls, CapsulesTouchThemAsTheyTouchBoxes) {
    Dice dice(4);
    int seen = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const Box box{Vec3(dice.uniform(.1, .5), dice.uniform(.1, .5), dice.uniform(.1, .5))};
        const Capsule capsule{dice.uniform(.02, .2), dice.uniform(.1, 1)};
        const Pose pose{dice.vector(0.7), dice.attitude()}, other{dice.vector(0.2), dice.attitude()};
        const auto expected = contacts_of(capsule, pose, box, other, 0.05);
        const auto contacts = contacts_of(capsule, pose, hull_of(box), other, 0.05);
        EXPECT_EQ(contacts.size(), expected.size()) << trial;
        for (const ContactPoint& e : expected) {
            ++seen;
            const auto same = [&](const ContactPoint& c) { return (c.position - e.position).norm() < 1e-9 && std::abs(c.gap - e.gap) < 1e-9; };
            EXPECT_EQ(std::count_if(contacts.begin(), contacts.end(), same), 1) << trial;
        }
    }
    EXPECT_GT(seen, 500);
}

TEST(Hulls, BallsAreAsFarAsTheNearestTriangle) {
    Dice dice(5);
    int inside = 0;
    for (int trial = 0; trial < 5000; ++trial) {
        const Hull hull = any_hull(dice);
        const Pose pose{dice.vector(0.3), dice.attitude()}, ball{dice.vector(0.8), dice.attitude()};
        const auto contacts = contacts_of(Sphere{0.1}, ball, hull, pose, infinity);
        ASSERT_EQ(contacts.size(), 1U);
        double highest = -infinity, least = infinity;
        for (const auto& face : hull.polytope.faces)
            highest = std::max(highest, face.normal.dot(pose.attitude.conjugate() * (ball.position - pose.position)) - face.offset);
        for (const Triangle& t : triangles_of(hull, pose)) least = std::min(least, to_triangle(ball.position, t));
        inside += highest < 0;
        EXPECT_NEAR(contacts[0].gap, (highest < 0 ? highest : least) - 0.1, 1e-9) << trial;
    }
    EXPECT_GT(inside, 200);
}

TEST(Hulls, OverAPlaneTheLowestCornerIsTold) {
    Dice dice(6);
    for (int trial = 0; trial < 2000; ++trial) {
        const Hull hull = any_hull(dice);
        const Pose pose{dice.vector(0.3), dice.attitude()};
        const HalfSpace plane{dice.vector(1), dice.uniform(-.1, .1)};
        double least = infinity, told = infinity;
        for (const Vec3& v : hull.polytope.vertices)
            least = std::min(least, (plane.normal.dot(pose * v) - plane.offset) / plane.normal.norm());
        for (const ContactPoint& c : contacts_of(hull, pose, plane, Pose{}, infinity)) told = std::min(told, c.gap);
        EXPECT_NEAR(told, least, 1e-12);
    }
}

// Gaps of all pairs change as their normals say: phi' = n . (v_a - v_b) at P, and n' and P' as contact_rates() says.
TEST(Hulls, GapsFollowMotions) {
    Dice dice(7);
    int seen = 0;
    for (int trial = 0; trial < 600; ++trial) {
        const Geometry hull = any_hull(dice);
        const Geometry others[] = {any_hull(dice), Box{Vec3(.2, .3, .4)}, Sphere{0.2}, Capsule{0.1, 0.5}, HalfSpace{Vec3(0, 0, 1), 0}};
        for (const Geometry& other : others) {
            const Pose pose_a{dice.vector(0.5), dice.attitude()}, pose_b{dice.vector(0.5), dice.attitude()};
            const Twist a{pose_a.position, dice.vector(1), dice.vector(1)}, b{pose_b.position, dice.vector(1), dice.vector(1)};
            const double dt = 1e-5;
            const auto now = contacts_of(hull, pose_a, other, pose_b, 0.3);
            const auto later = contacts_of(hull, after(pose_a, a, dt), other, after(pose_b, b, dt), 0.3);
            const auto before = contacts_of(hull, after(pose_a, a, -dt), other, after(pose_b, b, -dt), 0.3);
            for (const ContactPoint& c : now) {
                const ContactPoint *next = with_feature(later, c.id.feature), *last = with_feature(before, c.id.feature);
                if (next == nullptr || last == nullptr) continue;
                ++seen;
                const double rate = c.normal.dot(velocity_at(a, c.position) - velocity_at(b, c.position));
                EXPECT_NEAR((next->gap - last->gap) / (2 * dt), rate, 1e-5);
                const ContactRates rates = contact_rates(c, a, b);
                EXPECT_LT(((next->normal - last->normal) / (2 * dt) - rates.normal_rate).norm(), 1e-4 * (1 + rates.normal_rate.norm()));
            }
        }
    }
    EXPECT_GT(seen, 1000);
}

}  // namespace
}  // namespace stickslip
