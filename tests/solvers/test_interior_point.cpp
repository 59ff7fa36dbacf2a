// The interior point solver: closed forms, then problems nobody chose. What it certifies is recomputed by residual().
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "problems/convert/to_delassus.hpp"
#include "solvers/interior_point.hpp"
#include "support/count_malloc.hpp"
#include "support/piles.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using namespace stickslip::testing;

namespace {

constexpr double g = 9.81, h = 1e-3;

InteriorPointSolver plain_solver() {  // without the direct solve at the end: the iteration itself is on trial
    InteriorPointOptions options;
    options.polish = false;
    return InteriorPointSolver(options);
}

SolveReport certified(const StepProblem& problem, StepSolution& x, bool polish = false) {
    InteriorPointOptions options;
    options.polish = polish;
    InteriorPointSolver solver(options);
    const SolveReport report = solver.solve(problem, x);
    EXPECT_EQ(report.status, Status::ok) << report.reason << " " << report.residual.max();
    EXPECT_STREQ(report.reason, "");
    EXPECT_LE(residual(problem, x).max(), default_tolerance);
    EXPECT_EQ(residual(problem, x).max(), report.residual.max());
    return report;
}

double normal_sum(const StepProblem& problem, const StepSolution& x, int first, int last) {
    double sum = 0;
    for (int i = first; i < last; ++i) sum += x.p[problem.contacts.jacobian.row[i]];
    return sum;
}

void make_discs(StepProblem& problem) {
    for (int& f : problem.contacts.facets) f = 0;
}

bool same_bits(const ConstRef& a, const ConstRef& b) {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

}  // namespace

TEST(InteriorPoint, BoxAtRestIsCarriedAndStays) {
    for (const double mu : {0.0, 1e-3, 0.5, 10.0}) {
        for (const bool polish : {false, true}) {
            BoxOnPlane box;
            box.facets = 0;
            box.mu = mu;
            const StepProblem problem = box.problem();
            StepSolution x;
            certified(problem, x, polish);
            EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-8) << mu;
            EXPECT_NEAR(normal_sum(problem, x, 0, 4), box.mass * g * h, 1e-8);
            for (const ContactMode mode : x.modes) EXPECT_NE(mode, ContactMode::open);
        }
    }
}

TEST(InteriorPoint, SlidingBoxLosesWhatCoulombSays) {
    for (const double mu : {0.1, 0.3}) {
        BoxOnPlane box;
        box.facets = 0;
        box.mu = mu;
        box.velocity = Vec3(0.8, -0.6, 0);
        const StepProblem problem = box.problem();
        StepSolution x;
        certified(problem, x);
        const Vec3 expected = box.velocity * (1 - mu * g * h);  // |velocity| = 1
        EXPECT_LT((x.v.head<3>() - expected).norm(), 1e-7) << x.v.transpose();
        for (const ContactMode mode : x.modes) EXPECT_EQ(mode, ContactMode::slip);
    }
}

TEST(InteriorPoint, FallingBoxTouchesNothing) {
    BoxOnPlane box;
    box.facets = 0;
    box.velocity = Vec3(0.1, 0, 2);
    const StepProblem problem = box.problem();
    StepSolution x;
    certified(problem, x);
    EXPECT_NEAR(x.v[2], 2 - g * h, 1e-8);
    EXPECT_LT(x.p.cwiseAbs().maxCoeff(), 1e-8);
    for (const ContactMode mode : x.modes) EXPECT_EQ(mode, ContactMode::open);
}

TEST(InteriorPoint, StacksOfAThousandToOneCarryTheirWeight) {
    for (const bool heavy_on_top : {true, false}) {
        BoxStack stack;
        stack.boxes = 10;
        stack.facets = 0;
        stack.masses.assign(10, 1.0);
        stack.masses[heavy_on_top ? 9 : 0] = 1000;
        const StepProblem problem = stack.problem();
        StepSolution x;
        certified(problem, x);
        EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-8);
        double above = 0;
        for (int n = 9; n >= 0; --n) {
            above += stack.masses[n];
            EXPECT_NEAR(normal_sum(problem, x, 4 * n, 4 * n + 4), above * g * h, 1e-6 * above) << n;
        }
    }
}

// lambda = clamp(m (target - v0), bounds): the row of one mass on a line, both bounds, one, none, and bounds that meet.
TEST(InteriorPoint, MotorsPushUpToTheirBounds) {
    struct Motor {
        double lower, upper, expected;
    };
    const double m = 2, v0 = 1, target = 4;  // wants 6
    for (const Motor& motor : std::vector<Motor>{{-infinity, infinity, 6},
                                                 {-1, 1, 1},
                                                 {-10, 10, 6},
                                                 {8, 9, 8},
                                                 {-infinity, 2, 2},
                                                 {7, infinity, 7},
                                                 {-5, infinity, 6},
                                                 {3, 3, 3},
                                                 {0, 0, 0},
                                                 {-2, -2, -2},
                                                 {6, 7, 6},
                                                 {2 - 1e-9, 2, 2}}) {
        for (const bool with_contact : {false, true}) {
            ProblemBuilder build;
            build.node(MatX::Identity(1, 1) * m, VecX::Constant(1, m * v0));
            build.joint_rows(1, {{0, MatX::Ones(1, 1)}});
            if (with_contact) {
                build.node(MatX::Identity(1, 1), VecX::Constant(1, -1));
                build.contact_rows(1, {{1, MatX::Ones(1, 1)}}, 0, 0);
            }
            StepProblem problem = build.problem();
            problem.b[0] = target;
            problem.lower[0] = motor.lower;
            problem.upper[0] = motor.upper;
            StepSolution x;
            certified(problem, x);
            EXPECT_NEAR(x.lambda[0], motor.expected, 1e-8) << motor.lower << " " << motor.upper;
            EXPECT_NEAR(x.v[0], v0 + motor.expected / m, 1e-8);
            if (with_contact) {
                EXPECT_NEAR(x.v[1], 0, 1e-8);
                EXPECT_NEAR(x.p[0], 1, 1e-8);
            }
        }
    }
}

TEST(InteriorPoint, RedundantJointsAndTheirCompliance) {
    for (const double compliance : {0.0, 0.25}) {
        ProblemBuilder build;
        build.node(MatX::Identity(1, 1) * 2, VecX::Constant(1, 2.0));
        for (int k = 0; k < 3; ++k) build.joint_rows(1, {{0, MatX::Ones(1, 1)}});
        StepProblem problem = build.problem();
        for (int k = 0; k < 3; ++k) problem.T[k] = compliance;
        StepSolution x;
        certified(problem, x);
        // 2 v = 2 + sum lambda, v + T lambda_k = 0
        const double v = compliance > 0 ? 2 / (2 + 3 / compliance) : 0;
        EXPECT_NEAR(x.v[0], v, 1e-9);
        EXPECT_NEAR(x.lambda.sum(), 2 * v - 2, 1e-8);
    }
    // four ball joints weld two boxes; one stands on the ground
    BoxOnPlane box;
    ProblemBuilder build;
    for (int k = 0; k < 2; ++k)
        build.body(1 + 9 * k, Vec3(0.1, 0.2, 0.3), Vec3::Zero(), Vec3(0, 0, -(1 + 9 * k) * g * h));
    for (int k = 0; k < 4; ++k) {
        const Vec3 arm = 0.5 * Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, -1);
        build.point_joint(1, 0, arm, arm + Vec3(0, 0, 1));
        build.contact(0, -1, arm, Vec3::Zero(), 0.5, 0);
    }
    const StepProblem problem = build.problem();
    StepSolution x;
    certified(problem, x);
    EXPECT_NEAR(normal_sum(problem, x, 0, 4), 11 * g * h, 1e-8);
}

TEST(InteriorPoint, CompliantContactsGiveWay) {
    // p = m g h + m (v - v0), u = v + S p = 0, one compliant normal row; friction rows compliant too
    for (const double S : {1e-9, 1e-3, 1.0, 1e3}) {
        BoxOnPlane box;
        box.facets = 0;
        StepProblem problem = box.problem();
        for (int k = 0; k < problem.S.size(); ++k) problem.S[k] = S;
        StepSolution x;
        certified(problem, x);
        // four equal springs in parallel: v = -S/4 P, m (v + g h) = P
        const double P = box.mass * g * h / (1 + box.mass * S / 4);
        EXPECT_NEAR(normal_sum(problem, x, 0, 4), P, 1e-7 * (1 + P)) << S;
        EXPECT_NEAR(x.v[2], -S / 4 * P, 1e-7) << S;
    }
}

// With the direct solve at the end every planar pile is certified. The iteration alone jams above the tolerance in one of nine of
// them (44 and 46 of 400 with two orders of elimination); rounding decides in which.
TEST(InteriorPoint, PlanarAndFrictionlessProblems) {
    int count = 0;
    for (std::uint32_t seed = 1; seed <= 100; ++seed) {
        Pile pile;
        pile.dim = 2;
        pile.facets = 0;
        pile.mu = seed % 2 ? 0.5 : 0.0;
        const StepProblem problem = pile.problem(seed);
        StepSolution x;
        count += plain_solver().solve(problem, x).status == Status::ok;
        certified(problem, x = {}, true);
        ProblemBuilder build;  // one row each
        Random random(seed);
        for (int n = 0; n < 5; ++n) build.node(MatX::Identity(3, 3), random.vector(3));
        for (int k = 0; k < 12; ++k)
            build.contact_rows(1, {{k % 5, random.matrix(1, 3)}, {(k + 1 + k / 5) % 5, random.matrix(1, 3)}}, 0.5, 0);
        certified(build.problem(), x = {});
    }
    EXPECT_GE(count, 80);
}

TEST(InteriorPoint, NothingToDoIsDone) {
    StepSolution x;
    const StepProblem empty = ProblemBuilder().problem();
    certified(empty, x);
    ProblemBuilder build;
    build.body(2, Vec3(1, 1, 1), Vec3(1, 2, 3), Vec3::Zero());
    const StepProblem free = build.problem();
    certified(free, x = {});
    EXPECT_LT((x.v.head<3>() - Vec3(1, 2, 3)).norm(), 1e-15);

    DelassusProblem none;
    DelassusSolution y;
    EXPECT_EQ(plain_solver().solve_local(none, y).status, Status::ok);
}

TEST(InteriorPoint, NumbersThatAreNoneAreRefused) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int where = 0; where < 6; ++where) {
        for (const double bad : {nan, infinity}) {
            BoxOnPlane box;
            box.facets = 0;
            StepProblem problem = box.problem();
            if (where == 0) problem.r[0] = bad;
            if (where == 1) problem.A.values[0] = bad;
            if (where == 2) problem.c[0] = bad;
            if (where == 3) problem.contacts.jacobian.values[0] = bad;
            if (where == 4) problem.contacts.friction[0] = nan;
            if (where == 5) problem.S[0] = nan;
            StepSolution x;
            InteriorPointSolver solver;
            const SolveReport report = solver.solve(problem, x);
            EXPECT_NE(report.status, Status::ok) << where << " " << bad;
            EXPECT_STRNE(report.reason, "") << where << " " << bad;
            EXPECT_FALSE(report.residual.max() <= default_tolerance);
            // and the next problem does not suffer
            const StepProblem good = box.problem();
            StepSolution y;
            EXPECT_EQ(solver.solve(good, y).status, Status::ok);
        }
    }
    BoxOnPlane box;
    box.facets = 0;
    DelassusProblem local = to_delassus(box.problem());
    local.q[1] = nan;
    DelassusSolution y;
    const SolveReport report = plain_solver().solve_local(local, y);
    EXPECT_EQ(report.status, Status::diverged);
    EXPECT_STRNE(report.reason, "");
}

TEST(InteriorPoint, PolygonsAreRefusedByName) {
    BoxOnPlane box;
    box.facets = 8;
    const StepProblem problem = box.problem();
    StepSolution x;
    const SolveReport report = plain_solver().solve(problem, x);
    EXPECT_EQ(report.status, Status::not_converged);
    EXPECT_NE(std::string(report.reason).find("polygon"), std::string::npos);
    DelassusSolution y;
    const SolveReport local = plain_solver().solve_local(to_delassus(problem), y);
    EXPECT_EQ(local.status, Status::not_converged);
    EXPECT_NE(std::string(local.reason).find("polygon"), std::string::npos);
    EXPECT_THROW(InteriorPointSolver({.tol = -1}), Error);
    EXPECT_THROW(InteriorPointSolver({.max_steps = 0}), Error);
}

TEST(InteriorPoint, ABudgetTooSmallIsToldWithoutGarbage) {
    InteriorPointOptions options;
    options.max_work = 1e-12;
    options.polish = false;
    BoxOnPlane box;
    box.facets = 0;
    box.velocity.x() = 1;
    const StepProblem problem = box.problem();
    StepSolution x, y;
    InteriorPointSolver solver(options);
    EXPECT_EQ(solver.solve(problem, x).status, Status::not_converged);
    EXPECT_EQ(x.p.cwiseAbs().maxCoeff(), 0);
    InteriorPointSolver(options).solve(problem, y);
    EXPECT_EQ(x.modes, y.modes);
    EXPECT_TRUE(x.v.allFinite());
}

// One tangent of two, in space: friction along t1 only.
TEST(InteriorPoint, TwoFacetsRubAlongOneTangent) {
    ProblemBuilder build;
    build.body(1, Vec3(1, 1, 1), Vec3(0.5, 0.5, 0), Vec3(0, 0, -1));
    build.contact(0, -1, Vec3::Zero(), Vec3::Zero(), 0.1, 2);
    const StepProblem problem = build.problem();
    StepSolution x;
    certified(problem, x);
    EXPECT_NEAR(x.p[0], 1, 1e-8);
    EXPECT_NEAR(std::abs(x.p[1]), 0.1, 1e-8);
    EXPECT_EQ(x.p[2], 0);
}

TEST(InteriorPoint, CertifiesNearlyAllRandomPiles) {
    int ok = 0, all = 0, joined = 0, all_joined = 0;
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        for (const bool joints : {false, true}) {
            Pile pile;
            pile.facets = 0;
            pile.contacts = 10 + static_cast<int>(seed % 6) * 10;
            pile.mu = 0.2 + 0.1 * (seed % 7);
            pile.joints = joints;
            pile.glued = seed % 2 == 0;
            const StepProblem problem = pile.problem(seed);
            StepSolution x;
            const SolveReport report = InteriorPointSolver().solve(problem, x);
            const Residual true_residual = residual(problem, x);
            EXPECT_EQ(report.status == Status::ok, true_residual.max() <= default_tolerance);
            (joints ? joined : ok) += report.status == Status::ok;
            ++(joints ? all_joined : all);
        }
    }
    // 57 and 49 when this was written; those that jam have joints that hold contacts, or wedge.
    EXPECT_GE(ok, all - 6) << "of " << all;
    EXPECT_GE(joined, all_joined - 15) << "of " << all_joined;
}

TEST(InteriorPoint, WhatItCertifiesIsTrueOnProblemsNobodyChose) {
    int ok = 0;
    const int all = 200;
    for (std::uint32_t seed = 1; seed <= all; ++seed) {
        RandomProblem make;
        make.contacts = 1 + static_cast<int>(seed % 12);
        make.joints = static_cast<int>(seed % 4);
        make.skew = seed % 5 == 0 ? 0.3 : 0;
        make.mass_low = seed % 3 ? 0.1 : 1e-3;
        make.mass_high = seed % 3 ? 10 : 1e3;
        StepProblem problem = make.problem(seed);
        make_discs(problem);
        Random random(seed);
        for (int j = 0; j < problem.joints.size(); ++j) {
            if (random.below(2)) problem.lower[j] = -random.log_uniform(1e-3, 1e3);
            if (random.below(2)) problem.upper[j] = random.log_uniform(1e-3, 1e3);
            if (random.below(4) == 0) problem.T[j] = random.log_uniform(1e-4, 1);
        }
        for (int k = 0; k < problem.S.size(); ++k)
            if (random.below(6) == 0) problem.S[k] = random.log_uniform(1e-6, 1);
        StepSolution x;
        const SolveReport report = InteriorPointSolver().solve(problem, x);
        EXPECT_EQ(report.status == Status::ok, residual(problem, x).max() <= default_tolerance) << seed;
        ok += report.status == Status::ok;
    }
    EXPECT_GE(ok, all * 97 / 100);
}

TEST(InteriorPoint, SameBitsTwiceAndNoAllocationTheSecondTime) {
    for (const bool polish : {false, true}) {
        InteriorPointOptions options;
        options.polish = polish;
        InteriorPointSolver solver(options), other(options);
        const StepProblem problem = Pile{.facets = 0, .contacts = 60, .joints = true}.problem(3);
        StepSolution x, y, z;
        other.solve(Pile{.facets = 0, .contacts = 25}.problem(4), y);  // another past
        y = {};
        const SolveReport first = solver.solve(problem, x);
        other.solve(problem, y);
        EXPECT_TRUE(same_bits(x.p, y.p) && same_bits(x.v, y.v) && same_bits(x.lambda, y.lambda));
        z.size_to(problem);
        const long before = allocations;
        const SolveReport second = solver.solve(problem, z);
        if (STICKSLIP_COUNTS_MALLOC) {
            EXPECT_EQ(allocations - before, 0);
        }
        EXPECT_EQ(first.iterations, second.iterations);
        EXPECT_TRUE(same_bits(x.p, z.p) && same_bits(x.v, z.v) && same_bits(x.lambda, z.lambda));
        EXPECT_EQ(x.modes, z.modes);
    }
}

// Where W is regular the contact velocities are the same in both forms, and with them the impulses.
TEST(InteriorPoint, LocalFormHasTheSolutionOfItsStepProblem) {
    int compared = 0;
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        Pile pile;
        pile.facets = 0;
        pile.contacts = 12;
        const StepProblem problem = pile.problem(seed);
        const DelassusProblem local = to_delassus(problem);
        const MatX W = local.W.dense();
        const InteriorPointOptions options;
        StepSolution x;
        DelassusSolution y;
        const SolveReport a = InteriorPointSolver(options).solve(problem, x);
        const SolveReport b = InteriorPointSolver(options).solve_local(local, y);
        EXPECT_EQ(b.status == Status::ok, relative_error(local, y.p) <= options.tol);
        if (a.status != Status::ok || b.status != Status::ok || W.fullPivLu().rcond() < 1e-6) continue;
        ++compared;
        EXPECT_LE((x.p - y.p).norm(), 1e-5 * x.p.norm()) << seed;
    }
    EXPECT_GE(compared, 10);
}
