// Convex polytopes: hulls hold their points, features fit together, volumes and inertias against closed forms and random points.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "geometry/shape.hpp"
#include "stickslip/error.hpp"

namespace stickslip {
namespace {

std::vector<Vec3> random_points(std::mt19937& random, int count, const Vec3& size) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Vec3> points;
    for (int k = 0; k < count; ++k) points.push_back(Vec3(uniform(random), uniform(random), uniform(random)).cwiseProduct(size));
    return points;
}

std::vector<Vec3> corners_of(const Box& box) {
    std::vector<Vec3> corners;
    for (int v = 0; v < 8; ++v) corners.push_back(box_features::vertex(box, v));
    return corners;
}

std::string refusal(const std::vector<Vec3>& points) {
    try {
        convex_hull(points);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ConvexHull, OfABoxAndPointsInsideIsTheBox) {
    std::mt19937 random(1);
    const Box box{Vec3(0.3, 0.2, 0.7)};
    std::vector<Vec3> points = random_points(random, 40, 0.999 * box.half);
    for (const Vec3& corner : corners_of(box)) points.push_back(corner);
    points.push_back(Vec3(0.1, 0.05, 0.7));  // on a face
    const Hull hull(convex_hull(points));
    EXPECT_EQ(hull.polytope.vertices.size(), 8U);
    EXPECT_EQ(hull.polytope.faces.size(), 6U);
    EXPECT_EQ(hull.polytope.edges.size(), 12U);
    const MassProperties m = unit_density_mass(hull), expected = unit_density_mass(box);
    EXPECT_NEAR(m.mass, expected.mass, 1e-14);
    EXPECT_LT(m.centroid.norm(), 1e-14);
    EXPECT_LT((m.inertia - expected.inertia).norm(), 1e-14);
    EXPECT_NEAR(half_thickness(hull), 0.2, 1e-15);
}

TEST(ConvexHull, HoldsItsPointsAtEveryScale) {
    std::mt19937 random(2);
    for (const double scale : {1e-6, 1.0, 1e6}) {
        for (const Vec3& shape : {Vec3(1, 1, 1), Vec3(1, 1, 1e-4), Vec3(1, 1e-4, 1e-4)}) {
            for (int count = 4; count < 200; count += 15) {
                const std::vector<Vec3> points = random_points(random, count, scale * shape);
                const Polytope p = convex_hull(points);
                EXPECT_EQ(p.vertices.size() + p.faces.size(), p.edges.size() + 2) << "Euler's formula";
                for (const Polytope::Face& face : p.faces)
                    for (const Vec3& x : points) ASSERT_LE(face.normal.dot(x) - face.offset, 1e-6 * scale);
                EXPECT_GT(unit_density_mass(p).mass, 0);
            }
        }
    }
}

TEST(ConvexHull, EdgesLieBetweenTheirFacesAndSpokesEndInTheirCorner) {
    std::mt19937 random(3);
    const Polytope p = convex_hull(random_points(random, 60, Vec3(1, 2, 0.5)));
    for (const Polytope::Edge& edge : p.edges) {
        const Vec3 d = p.vertices[edge.to] - p.vertices[edge.from];
        for (const int f : {edge.left, edge.right}) EXPECT_NEAR(p.faces[f].normal.dot(d), 0, 1e-12);
        // Counter-clockwise seen from outside: the left face lies to the left, and the solid is convex there.
        const Vec3 into_left = p.faces[edge.left].normal.cross(d);
        EXPECT_LT(p.faces[edge.right].normal.dot(into_left), 0);
    }
    for (int v = 0; v < static_cast<int>(p.vertices.size()); ++v) {
        EXPECT_GE(p.spokes_of(v).size(), 3U);
        for (const int e : p.spokes_of(v)) EXPECT_TRUE(p.edges[e].from == v || p.edges[e].to == v);
    }
}

TEST(ConvexHull, WeighsWhatRandomPointsInsideSay) {
    std::mt19937 random(4);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int trial = 0; trial < 3; ++trial) {
        const Hull hull(convex_hull(random_points(random, 30, Vec3(1, 1, 1))));
        const MassProperties m = unit_density_mass(hull);
        int inside = 0;
        const int thrown = 400000;
        Vec3 first = Vec3::Zero();
        Mat3 second = Mat3::Zero();
        for (int k = 0; k < thrown; ++k) {
            const Vec3 x(uniform(random), uniform(random), uniform(random));
            bool holds = true;
            for (const Polytope::Face& face : hull.polytope.faces) holds = holds && face.normal.dot(x) <= face.offset;
            if (!holds) continue;
            ++inside;
            first += x;
            const Vec3 r = x - m.centroid;
            second += r.squaredNorm() * Mat3::Identity() - r * r.transpose();
        }
        const double part = 8.0 / thrown;  // four standard deviations are below 1 %
        EXPECT_NEAR(m.mass, part * inside, 0.01 * m.mass);
        EXPECT_LT((m.centroid - first / inside).norm(), 0.01);
        EXPECT_LT((m.inertia - part * second).norm(), 0.02 * m.inertia.norm());
    }
}

TEST(ConvexHull, RefusesWhatHasNoVolume) {
    EXPECT_NE(refusal({Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)}).find("at least 4"), std::string::npos);
    EXPECT_NE(refusal({Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(1, 1, 0), Vec3(.3, .2, 0)}).find("plane"), std::string::npos);
    EXPECT_NE(refusal({Vec3(1, 1, 1), Vec3(1, 1, 1), Vec3(1, 1, 1), Vec3(1, 1, 1)}).find("the same"), std::string::npos);
    EXPECT_NE(refusal({Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, NAN, 1)}).find("finite"), std::string::npos);
    EXPECT_EQ(refusal({Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(0, 0, 1)}), "");  // one twice
}

}  // namespace
}  // namespace stickslip
