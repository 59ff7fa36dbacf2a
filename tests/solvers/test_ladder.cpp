// The rungs of `auto` that work on the normal map, each by itself.
#include <gtest/gtest.h>

#include "problems/cones.hpp"
#include "solvers/admm.hpp"
#include "solvers/normal_map.hpp"
#include "solvers/smoothing_newton.hpp"
#include "solvers/soft_contacts.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

TEST(NormalMap, EveryPointStandsForAPairThatObeysCoulomb) {
    Random random(3);
    double z[3], D[9];
    for (int k = 0; k < 2000; ++k) {
        const int dim = 1 + k % 3;
        const double mu = k % 7 == 0 ? 0.0 : random.uniform(0.05, 2), rho = random.log_uniform(1e-3, 1e3);
        const double xi[3] = {random.normal(), random.normal(), random.normal()};
        const ContactMode mode = normal_map(dim, mu, 0, 3, xi, z, D);
        double u[3];
        for (int i = 0; i < dim; ++i) u[i] = -rho * (xi[i] - z[i]);
        EXPECT_LE(contact_natural_map(dim, mu, 0, 1 / rho, u, z), 1e-12 * rho) << k;
        EXPECT_EQ(mode == ContactMode::open, z[0] == 0) << k;
        if (mode == ContactMode::stick && dim > 1 && mu > 0) {
            EXPECT_EQ(u[1], 0) << k;
        }
    }
}

TEST(NormalMap, SlopesAreThoseOfFiniteDifferences) {
    Random random(4);
    for (int k = 0; k < 500; ++k) {
        const int dim = 1 + k % 3;
        const double mu = random.uniform(0.1, 1.5), width = random.log_uniform(1e-2, 1), wider = random.uniform(0.5, 3);
        double xi[3] = {random.normal(), random.normal(), random.normal()}, z[3], D[9], low[3], high[3], unused[9];
        normal_map(dim, mu, width, wider, xi, z, D);
        for (int c = 0; c < dim; ++c) {
            const double step = 1e-6, here = xi[c];
            xi[c] = here + step;
            normal_map(dim, mu, width, wider, xi, high, unused);
            xi[c] = here - step;
            normal_map(dim, mu, width, wider, xi, low, unused);
            xi[c] = here;
            for (int r = 0; r < dim; ++r) EXPECT_NEAR(D[r + 3 * c], (high[r] - low[r]) / (2 * step), 1e-6) << k;
        }
        // On the central path: z_N u_N = rho d^2, here with rho = 1.
        EXPECT_NEAR(z[0] * (z[0] - xi[0]), width * width, 1e-12 * (1 + z[0] * z[0]));
    }
}

TEST(RowWeights, SeeTheMachineBehindAJoint) {
    ProblemBuilder build;
    const Vec3 inertia(1e6, 1e6, 1e6);  // turns do not matter
    const int machine = build.body(1000, inertia, Vec3::Zero(), Vec3::Zero());
    const int wheel = build.body(1, inertia, Vec3::Zero(), Vec3::Zero());
    build.point_joint(machine, wheel, Vec3::Zero(), Vec3::Zero());
    build.contact(wheel, -1, Vec3::Zero(), Vec3::Zero(), 0.5, 0);
    StepProblem problem = build.problem();
    problem.c[0] = -3;
    RowWeights weights;
    ASSERT_TRUE(weights.prepare(problem));
    EXPECT_NEAR(weights.contact()[0], 1 / 1001.0, 1e-5);
    EXPECT_NEAR(weights.speed(), 3, 1e-12);
}

// A stack that is easy for Newton's method, pushed until it slides: alternating directions get near, softened contacts nearer.
TEST(Ladder, RungsAgreeOnTheVelocitiesOfAPushedStack) {
    for (const double push : {0.0, 5.0, 30.0, 200.0}) {
        BoxStack stack;
        stack.boxes = 5;
        stack.masses = {1, 2, 1, 3, 1};
        stack.push = Vec3(push, push / 2, 0);
        const StepProblem problem = stack.problem();
        RowWeights weights;
        ASSERT_TRUE(weights.prepare(problem));
        const double tol = 1e-8 * weights.speed();
        ModeSolver modes;
        StepSolution start;
        start.size_to(problem);
        weights.velocity(problem, start.lambda, start.p, start.v);
        WorkMeter meter;

        SolveReport by_admm, by_newton;
        by_admm.residual = by_newton.residual = residual(problem, start);
        StepSolution x = start, y = start, z;
        Admm admm;
        admm.improve(problem, weights, modes, {}, tol, meter, x, by_admm);
        EXPECT_LT(residual(problem, x).max(), residual(problem, start).max()) << push;
        EXPECT_NEAR(residual(problem, x).max(), by_admm.residual.max(), 1e-12) << push;

        SmoothingNewton newton;
        newton.run(problem, weights, {}, tol, meter, start, y, by_newton);
        Residual exact;
        EXPECT_TRUE(modes.improve(problem, y, tol, exact)) << push;
        ModeSolver from_admm;
        if (from_admm.improve(problem, x, tol, exact)) {
            EXPECT_LT((x.v - y.v).cwiseAbs().maxCoeff(), 1e-6) << push;
        }

        // Contacts that give way approach the rigid ones as they stiffen, and the report says by how much they give.
        SoftContacts soft;
        SolveReport softened;
        const double compliance = soft.solve(problem, weights, newton, modes, tol, meter, start, z, softened);
        EXPECT_GT(compliance, 0) << push;
        EXPECT_LT((y.v - z.v).cwiseAbs().maxCoeff(), 1e-4 * (1 + push)) << push;
        EXPECT_LE(softened.residual.max(), 4 * compliance * z.p.cwiseAbs().maxCoeff() + tol) << push;
    }
}

}  // namespace
}  // namespace stickslip
