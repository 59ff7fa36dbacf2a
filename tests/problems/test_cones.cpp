#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "problems/cones.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Random;

struct Cone {
    int dim;
    double mu;
    int facets;
};

const std::vector<Cone> cones = {{1, 0.0, 0}, {1, 0.7, 8}, {2, 0.4, 0}, {2, 0.9, 6},  {2, 0.0, 0},
                                 {3, 0.6, 0}, {3, 1.7, 0}, {3, 0.0, 0}, {3, 0.0, 8},  {3, 0.5, 2},
                                 {3, 0.5, 4}, {3, 1.3, 6}, {3, 0.3, 8}, {3, 0.8, 12}, {3, 0.4, 32}};

VecX project(const Cone& cone, const VecX& x) {
    VecX p = x;
    project_cone(cone.dim, cone.mu, cone.facets, p.data());
    return p;
}

// Rays that span the cone, from its definition.
std::vector<VecX> rays(const Cone& cone) {
    std::vector<VecX> list;
    const int count = cone.dim == 1 ? 1 : cone.dim == 2 ? 2 : cone.facets == 0 ? 720 : cone.facets;
    for (int j = 0; j < count; ++j) {
        const double angle = 2 * std::numbers::pi * j / count;
        VecX ray(cone.dim);
        ray[0] = 1;
        if (cone.dim > 1) ray[1] = cone.mu * std::cos(angle);
        if (cone.dim > 2) ray[2] = cone.mu * std::sin(angle);
        list.push_back(ray);
    }
    return list;
}

VecX random_point(Random& random, int dim) {
    VecX x = random.log_uniform(1e-3, 1e3) * random.vector(dim);
    for (int k = 0; k < dim; ++k)
        if (random.below(4) == 0) x[k] = 0;  // axes, tangent plane, apex
    return x;
}

// x - P x must be normal to the cone: nonpositive against every ray and orthogonal to P x (a cone's variational
// inequality), and P x must be a member, that is at most as far along every direction as the rays.
TEST(Cones, ProjectionSatisfiesItsVariationalInequality) {
    Random random(1);
    for (const Cone& cone : cones) {
        for (int trial = 0; trial < 400; ++trial) {
            const VecX x = random_point(random, cone.dim), p = project(cone, x);
            const double scale = x.norm();
            EXPECT_NEAR((x - p).dot(p), 0, 1e-13 * scale * scale);
            for (const VecX& ray : rays(cone)) EXPECT_LE((x - p).dot(ray), 1e-13 * scale * ray.norm());
        }
    }
}

TEST(Cones, ProjectedPointsAreMembersAndStay) {
    Random random(2);
    for (const Cone& cone : cones) {
        for (int trial = 0; trial < 400; ++trial) {
            const VecX x = random_point(random, cone.dim), p = project(cone, x);
            EXPECT_GE(p[0], 0);
            if (cone.dim > 1) {
                EXPECT_LE(p.tail(cone.dim - 1).norm(), cone.mu * p[0] + 1e-14 * x.norm());
            }
            if (cone.dim == 3) {
                for (int j = 0; j < cone.facets; ++j) {  // half planes of the polygon
                    const double angle = std::numbers::pi * (2 * j + 1) / cone.facets;
                    EXPECT_LE(p[1] * std::cos(angle) + p[2] * std::sin(angle),
                              cone.mu * p[0] * std::cos(std::numbers::pi / cone.facets) + 1e-14 * x.norm());
                }
            }
            EXPECT_LE((project(cone, p) - p).norm(), 1e-14 * x.norm());
        }
    }
}

// Moreau: x = P_K(x) + P_polar(x); the polar part of x is P_K's remainder and projects to zero.
TEST(Cones, RemainderLiesInThePolarCone) {
    Random random(3);
    for (const Cone& cone : cones) {
        for (int trial = 0; trial < 200; ++trial) {
            const VecX x = random_point(random, cone.dim);
            const VecX rest = x - project(cone, x);
            EXPECT_LE(project(cone, rest).norm(), 1e-13 * x.norm());
        }
    }
}

TEST(Cones, ManySidedPolygonApproachesTheDisc) {
    Random random(4);
    for (int trial = 0; trial < 100; ++trial) {
        const VecX x = random.vector(3);
        const VecX many = project({3, 0.6, 720}, x), round = project({3, 0.6, 0}, x);
        EXPECT_NEAR((many - x).norm(), (round - x).norm(), 2e-5 * x.norm());  // 1 - cos(pi/720) = 1e-5
        EXPECT_LE((many - round).norm(), 5e-3 * x.norm());                    // half an edge along the facet
        EXPECT_NEAR(section_support(3, 720, x.data()), section_support(3, 0, x.data()), 2e-5 * x.norm());
    }
}

TEST(Cones, SupportIsTheLargestDissipationOverTheSection) {
    Random random(5);
    for (const Cone& cone : cones) {
        if (cone.mu == 0 || cone.dim == 1) continue;
        for (int trial = 0; trial < 100; ++trial) {
            const VecX u = random.vector(cone.dim);
            double best = -infinity;
            for (const VecX& ray : rays(cone))
                best = std::max(best, -u.tail(cone.dim - 1).dot(ray.tail(cone.dim - 1)) / cone.mu);
            const double tolerance = cone.dim == 3 && cone.facets == 0 ? 2e-5 : 1e-14;
            EXPECT_NEAR(section_support(cone.dim, cone.facets, u.data()), best, tolerance * (1 + u.norm()));
        }
    }
}

TEST(Cones, FirstCornerLiesOnTheFirstTangentExactly) {
    for (int facets : {2, 4, 6, 8, 12}) {
        EXPECT_EQ(polygon(facets).corner[0], Vec2(1, 0));
        EXPECT_EQ(polygon(facets).corner[static_cast<std::size_t>(facets) / 2], Vec2(-1, 0));
    }
}

// Hand-made solutions of the contact law have no residual; wrong ones have one.
TEST(Cones, NaturalMapVanishesExactlyAtSolutions) {
    const double mu = 0.5, rho = 0.7;
    const double slip_u[] = {0, 2, 0}, slip_p[] = {3, -1.5, 0};
    EXPECT_NEAR(contact_natural_map(3, mu, 0, rho, slip_u, slip_p), 0, 1e-15);
    EXPECT_NEAR(contact_natural_map(3, mu, 8, rho, slip_u, slip_p), 0, 1e-15);
    const double stick_u[] = {0, 0, 0}, stick_p[] = {3, 0.2, 1.0};
    EXPECT_NEAR(contact_natural_map(3, mu, 0, rho, stick_u, stick_p), 0, 1e-15);
    const double open_u[] = {0.1, 4, -3}, open_p[] = {0, 0, 0};
    EXPECT_EQ(contact_natural_map(3, mu, 0, rho, open_u, open_p), 0);
    // slip along a corner's neighbour: the octagon answers with its own corner, the disc does not
    const double u[] = {0, std::cos(0.1), std::sin(0.1)};
    EXPECT_NEAR(contact_natural_map(3, mu, 8, rho, u, slip_p), 0, 1e-15);
    EXPECT_GT(contact_natural_map(3, mu, 0, rho, u, slip_p), 1e-2);
    // approaching, pulling and slipping without friction are no solutions
    const double into_u[] = {-0.3, 0, 0}, pull_p[] = {-0.3, 0, 0}, still[] = {0, 0, 0};
    EXPECT_NEAR(contact_natural_map(3, mu, 0, rho, into_u, still), 0.3, 1e-15);
    EXPECT_NEAR(contact_natural_map(3, mu, 0, rho, still, pull_p), 0.3 / rho, 1e-15);
    const double bare_p[] = {3, 0, 0};
    EXPECT_GT(contact_natural_map(3, mu, 0, rho, slip_u, bare_p), 0.1);
}

TEST(Cones, NotANumberStaysOne) {
    for (const Cone& cone : cones) {
        for (int k = 0; k < cone.dim; ++k) {
            double u[] = {0.1, 0.2, 0.3}, p[] = {1, 0.1, 0.1};
            u[k] = std::nan("");
            EXPECT_TRUE(std::isnan(contact_natural_map(cone.dim, cone.mu, cone.facets, 1.0, u, p)));
            u[k] = 0;
            p[k] = std::nan("");
            EXPECT_TRUE(std::isnan(contact_natural_map(cone.dim, cone.mu, cone.facets, 1.0, u, p)));
        }
    }
}

}  // namespace
}  // namespace stickslip
