// The rungs of `auto` that work on the normal map, each by itself.
#include <gtest/gtest.h>

#include "problems/cones.hpp"
#include "solvers/admm.hpp"
#include "solvers/normal_pieces.hpp"
#include "solvers/path_newton.hpp"
#include "solvers/soft_contacts.hpp"
#include "support/free_motion.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

ContactCone random_cone(Random& random, int k) {
    constexpr int facets[] = {0, 4, 6, 8, 2};
    return {1 + k % 3, k % 7 == 0 ? 0.0 : random.uniform(0.05, 2), facets[k % 5]};
}

TEST(NormalPieces, EveryPointStandsForAPairThatObeysCoulomb) {
    Random random(3);
    double z[3], again[3], D[9];
    for (int k = 0; k < 5000; ++k) {
        const ContactCone cone = random_cone(random, k);
        const double rho = random.log_uniform(1e-3, 1e3);
        const double xi[3] = {random.normal(), random.normal(), random.normal()};
        const ContactMode mode = project_state(cone, xi, z);
        double u[3];
        for (int i = 0; i < cone.dim; ++i) u[i] = -rho * (xi[i] - z[i]);
        EXPECT_LE(contact_natural_map(cone.dim, cone.mu, cone.facets, 1 / rho, u, z), 1e-12 * rho) << k;
        EXPECT_EQ(mode == ContactMode::open, z[0] == 0) << k;
        if (mode == ContactMode::stick && cone.tangents() > 0) {
            EXPECT_EQ(u[1], 0) << k;
        }
        map_piece(cone, piece_at(cone, xi), xi, again, D);
        for (int i = 0; i < cone.dim; ++i) EXPECT_NEAR(again[i], z[i], 1e-14) << k;
    }
}

TEST(NormalPieces, SlopesAreThoseOfFiniteDifferences) {
    Random random(4);
    for (int k = 0; k < 2000; ++k) {
        const ContactCone cone = random_cone(random, k);
        double xi[3] = {random.normal(), random.normal(), random.normal()}, z[3], D[9], low[3], high[3], unused[9];
        const NormalPiece piece = piece_at(cone, xi);
        map_piece(cone, piece, xi, z, D);
        const double size = std::hypot(xi[1], xi[2]);
        for (int c = 0; c < cone.dim; ++c) {
            const double step = 1e-6 * size, here = xi[c];
            xi[c] = here + step;
            map_piece(cone, piece, xi, high, unused);
            xi[c] = here - step;
            map_piece(cone, piece, xi, low, unused);
            xi[c] = here;
            for (int r = 0; r < cone.dim; ++r) EXPECT_NEAR(D[r + 3 * c], (high[r] - low[r]) / (2 * step), 1e-6 / size) << k;
        }
    }
}

// Walks along straight lines from border to border: the pieces met are those of the points, and z does not jump.
TEST(NormalPieces, PathsCrossTheBordersWhereThePiecesMeet) {
    Random random(5);
    int crossed = 0;
    for (int k = 0; k < 3000; ++k) {
        const ContactCone cone = random_cone(random, k);
        double xi[3] = {random.normal(), random.normal(), random.normal()}, way[3], left = 4, before[3], after[3], D[9];
        for (double& w : way) w = random.normal();
        NormalPiece piece = piece_at(cone, xi);
        for (int borders = 0; borders < 20; ++borders) {
            const PieceCrossing crossing = first_crossing(cone, piece, xi, way);
            const double step = std::min(crossing.at, left);
            double middle[3], unused[3];
            for (int i = 0; i < 3; ++i) middle[i] = xi[i] + 0.5 * step * way[i];
            map_piece(cone, piece, middle, unused, D);
            project_state(cone, middle, before);
            for (int i = 0; i < cone.dim; ++i) ASSERT_NEAR(unused[i], before[i], 1e-9) << k << " " << borders;
            for (int i = 0; i < 3; ++i) xi[i] += step * way[i];
            left -= step;
            if (!(left > 0)) break;
            map_piece(cone, piece, xi, before, D);
            map_piece(cone, crossing.to, xi, after, D);
            for (int i = 0; i < cone.dim; ++i) ASSERT_NEAR(before[i], after[i], 1e-9) << k << " " << borders;
            double outward = 0;
            for (int i = 0; i < cone.dim; ++i) outward += crossing.outward[i] * way[i];
            ASSERT_GT(outward, 0) << k << " " << borders;
            piece = crossing.to;
            ++crossed;
        }
        ASSERT_LE(left, 0) << k;
    }
    EXPECT_GT(crossed, 2000);
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

// Boxes pushed until they slide, with round and with angular cones: the path ends at the solution to rounding from nothing, and every
// other rung that gets there finds the same velocities.
TEST(Ladder, RungsAgreeOnTheVelocitiesOfAPushedStack) {
    for (const double push : {0.0, 5.0, 30.0, 200.0}) {
        BoxStack stack;
        stack.boxes = 5;
        stack.masses = {1, 2, 1, 3, 1};
        stack.push = Vec3(push, push / 2, 0);
        const StepProblem problem = stack.problem();
        RowWeights weights;
        const StepSolution start = free_motion(problem, weights);
        const double tol = 1e-9 * weights.speed();
        WorkMeter meter;
        ModeSolver modes;
        ModeTries none(modes);  // the rungs alone
        none.start(0);

        SolveReport by_path, by_admm;
        by_path.residual = by_admm.residual = residual(problem, start);
        StepSolution x = start, y = start, z;
        PathNewton path;
        EXPECT_TRUE(path.improve(problem, weights, {}, tol, meter, none, y, by_path)) << push;
        EXPECT_LE(residual(problem, y).max(), tol) << push;
        EXPECT_EQ(residual(problem, y).max(), by_path.residual.max()) << push;

        // Full steps before the path lead to the same point.
        StepSolution full = start;
        SolveReport by_steps;
        by_steps.residual = residual(problem, start);
        EXPECT_TRUE(path.improve(problem, weights, {.full_steps = 100}, tol, meter, none, full, by_steps)) << push;
        EXPECT_LE(residual(problem, full).max(), tol) << push;
        EXPECT_LT((full.v - y.v).cwiseAbs().maxCoeff(), 1e-6) << push;

        // Alternating directions come near by themselves, and no nearer than the path takes them.
        Admm admm;
        const AdmmOptions patient{.max_blocks = 200, .least_fall = 0.999, .max_idle = 200};
        admm.improve(problem, weights, patient, tol, meter, none, x, by_admm);
        EXPECT_LT(residual(problem, x).max(), 1e-3 * weights.speed()) << push;
        EXPECT_LT((x.v - y.v).cwiseAbs().maxCoeff(), 1e-2 * weights.speed()) << push;
        EXPECT_TRUE(path.improve(problem, weights, {}, tol, meter, none, x, by_admm)) << push;
        EXPECT_LT((x.v - y.v).cwiseAbs().maxCoeff(), 1e-6) << push;

        // Contacts that give way approach the rigid ones as they stiffen, and the report says by how much they give.
        SoftContacts soft;
        SolveReport softened;
        const double compliance = soft.solve(problem, weights, path, none, tol, meter, start, z, softened);
        EXPECT_GT(compliance, 0) << push;
        EXPECT_LT((y.v - z.v).cwiseAbs().maxCoeff(), 1e-4 * (1 + push)) << push;
        EXPECT_LE(softened.residual.max(), 4 * compliance * z.p.cwiseAbs().maxCoeff() + tol) << push;
    }
}

// A try leaves the point as it was unless it solves the step, is not made again before the residual has fallen, and on the way of alternating
// directions it ends them early.
TEST(ModeTries, EndARungWhereTheModesAreRightAndChangeNothingElsewhere) {
    BoxStack stack;
    stack.boxes = 5;
    stack.masses = {1, 2, 1, 3, 1};
    stack.push = Vec3(30, 15, 0);
    const StepProblem problem = stack.problem();
    RowWeights weights;
    const StepSolution start = free_motion(problem, weights);
    const double tol = 1e-9 * weights.speed();
    WorkMeter meter;
    ModeSolver modes;
    ModeTries tries(modes);

    tries.start(infinity);
    SolveReport report;
    report.residual = residual(problem, start);
    StepSolution x = start;
    const bool at_once = tries.found(problem, tol, x, report);
    if (!at_once) {
        EXPECT_EQ(x.p, start.p);
        EXPECT_EQ(report.residual.max(), residual(problem, start).max());
        const int spent = report.factorisations;
        EXPECT_GT(spent, 0);
        EXPECT_FALSE(tries.found(problem, tol, x, report));
        EXPECT_EQ(report.factorisations, spent);
    }

    const auto iterations = [&](double below) {
        tries.start(below);
        Admm admm;
        SolveReport now;
        now.residual = residual(problem, start);
        StepSolution y = start;
        const AdmmOptions patient{.max_blocks = 200, .least_fall = 0.999, .max_idle = 200};
        admm.improve(problem, weights, patient, tol, meter, tries, y, now);
        if (below > 0) {
            EXPECT_LE(residual(problem, y).max(), tol);
            EXPECT_EQ(residual(problem, y).max(), now.residual.max());
        }
        return now.iterations;
    };
    EXPECT_LT(iterations(weights.speed()), iterations(0));
}

// A motor that reaches its largest torque, on the path: the row ends at its bound and the joint gives way.
TEST(PathNewton, BoundedRowsEndAtTheirBounds) {
    for (const double target : {0.05, 0.3, 2.0}) {
        ProblemBuilder build;
        const int body = build.body(2, Vec3(1, 1, 1), Vec3::Zero(), Vec3::Zero());
        build.contact(body, -1, Vec3::Zero(), Vec3::Zero(), 0.5, 0);
        const int other = build.body(1, Vec3(1, 1, 1), Vec3::Zero(), Vec3::Zero());
        build.point_joint(body, other, Vec3::Zero(), Vec3::Zero());
        StepProblem problem = build.problem();
        problem.b[0] = target;
        problem.lower[0] = -0.4, problem.upper[0] = 0.4;  // [N s] the joint may pull along x
        problem.c[0] = -1;
        RowWeights weights;
        StepSolution x = free_motion(problem, weights);
        SolveReport report;
        report.residual = residual(problem, x);
        WorkMeter meter;
        ModeSolver modes;
        ModeTries none(modes);
        none.start(0);
        PathNewton path;
        EXPECT_TRUE(path.improve(problem, weights, {}, 1e-10, meter, none, x, report)) << target;
        EXPECT_LE(residual(problem, x).max(), 1e-10);
        EXPECT_LE(std::abs(x.lambda[0]), 0.4);
        EXPECT_EQ(std::abs(x.lambda[0]) == 0.4, target > 0.6) << target << " " << x.lambda[0];
    }
}

}  // namespace
}  // namespace stickslip
