// Direct solve of joints and normals, sweeps for friction: judged by residual() and by closed forms.
#include <gtest/gtest.h>

#include "solvers/direct_iterative.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using namespace stickslip::testing;

namespace {

void expect_solved(const StepProblem& problem, StepSolution& x, const char* what) {
    DirectIterativeSolver solver;
    const SolveReport report = solver.solve(problem, x);
    EXPECT_EQ(report.status, Status::ok) << what << ": " << report.reason << " " << report.residual.max();
    EXPECT_LE(residual(problem, x).max(), default_tolerance) << what;
    EXPECT_EQ(residual(problem, x).max(), report.residual.max()) << what;
    EXPECT_STREQ(report.solver, "direct-iterative");
}

}  // namespace

TEST(DirectIterative, PushedBoxSticksExactlyBelowTheLimitAndSlidesAgainstFrictionAbove) {
    for (int k = 0; k < 12; ++k) {
        const double angle = 0.1 + k * M_PI / 6;
        const Vec3 d(std::cos(angle), std::sin(angle), 0);
        for (const double share : {0.97, 1.6}) {
            BoxOnPlane box;
            box.facets = 0;
            box.force = share * box.mu * box.mass * 9.81 * d;
            const StepProblem problem = box.problem();
            StepSolution x;
            expect_solved(problem, x, "box");
            const double speed = share < 1 ? 0 : (share - 1) * box.mu * 9.81 * box.step;  // from rest, Coulomb
            EXPECT_LT((x.v.head<3>() - speed * d).norm(), 1e-14);
        }
    }
}

TEST(DirectIterative, StacksStandWhateverTheOrderOfMasses) {
    for (const int facets : {0, 8}) {
        for (const auto& masses : {std::vector<double>{1}, {1, 1000}, {1000, 1}, {1e-3, 1e3, 1}}) {
            BoxStack stack;
            stack.boxes = 12;
            stack.masses = masses;
            stack.facets = facets;
            const StepProblem problem = stack.problem();
            StepSolution x;
            expect_solved(problem, x, "stack");
            EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-12);
            double weight = 0, carried = 0;
            for (int n = 0; n < stack.boxes; ++n)
                weight += 9.81 * stack.step * masses[static_cast<std::size_t>(n) % masses.size()];
            for (int i = 0; i < 4; ++i) carried += x.p[3 * i];
            EXPECT_NEAR(carried, weight, 1e-9 * weight);
        }
    }
}

TEST(DirectIterative, PushedStackSlidesOnTop) {
    for (const int facets : {0, 8}) {
        BoxStack stack;
        stack.boxes = 6;
        stack.facets = facets;
        stack.push = Vec3(6, 0, 0);  // more than mu m g = 4.9 N
        const StepProblem problem = stack.problem();
        StepSolution x;
        expect_solved(problem, x, "stack");
        const int top = 6 * (stack.boxes - 1);
        EXPECT_NEAR(x.v[top], stack.step * (6 - 0.5 * 9.81), 1e-10);
        EXPECT_LT(x.v.head(top).cwiseAbs().maxCoeff(), 1e-10);
    }
}

TEST(DirectIterative, ChainCarriesALoadAMillionTimesItsLinks) {
    ProblemBuilder build;
    const double h = 1e-3;
    const int links = 50;
    for (int i = 0; i <= links; ++i) {
        const double m = i == links ? 1e4 : 1e-2;
        build.body(m, Vec3::Constant(0.1 * m), Vec3::Zero(), Vec3(0, 0, -h * m * 9.81));
        build.point_joint(i, i - 1, Vec3(0, 0, 0.5), Vec3(0, 0, -0.5));
    }
    // The load touches a wall that does not carry it.
    build.contact(links, -1, Vec3(-1, 0, 0), Vec3::Zero(), 0.3, 0, Vec3::UnitX());
    const StepProblem problem = build.problem();
    StepSolution x;
    expect_solved(problem, x, "chain");
    EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-9);
    const double weight = h * 9.81 * (1e4 + links * 1e-2);
    EXPECT_NEAR(x.lambda[2], weight, 1e-9 * weight);
}

TEST(DirectIterative, MotorBrakeContactAndJointTogether) {
    // A cart on a table, driven through a motor of limited force; beside it a crate it cannot push away.
    for (const int facets : {0, 8}) {
        for (const double strength : {1.0, 1000.0}) {
            ProblemBuilder build;
            const double h = 1e-2, g = 9.81;
            const int cart = build.body(5, Vec3::Ones(), Vec3::Zero(), Vec3(0, 0, -5 * g * h));
            const int crate = build.body(20, 4 * Vec3::Ones(), Vec3::Zero(), Vec3(0, 0, -20 * g * h));
            for (const int body : {cart, crate})
                for (int i = 0; i < 4; ++i)
                    build.contact(body, -1, Vec3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, -0.5), Vec3::Zero(), 0.2,
                                  facets);
            build.contact(cart, crate, Vec3(0.5, 0, 0), Vec3(-0.5, 0, 0), 0.2, facets, -Vec3::UnitX());
            MatX J = MatX::Zero(1, 6);
            J(0, 0) = 1;
            const int motor = build.joint_rows(1, {{cart, J}});
            J.setZero();
            J(0, 1) = 1;
            build.joint_rows(1, {{crate, J}});
            StepProblem problem = build.problem();
            problem.b[motor] = 0.5;  // [m/s] wanted
            problem.lower[motor] = -strength * h;
            problem.upper[motor] = strength * h;
            StepSolution x;
            expect_solved(problem, x, "cart");
            if (strength < 2) {
                EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-12);  // 1 N moves nothing
                EXPECT_EQ(x.lambda[motor], strength * h);
            } else {
                EXPECT_NEAR(x.v[0], x.v[6], 1e-10);  // pushed along
                EXPECT_GT(x.v[0], 0.1);
            }
        }
    }
}

TEST(DirectIterative, RedundantJointsShareWithoutHarm) {
    ProblemBuilder build;
    const double h = 1e-3;
    const int beam = build.body(3, Vec3::Ones(), Vec3::Zero(), Vec3(0.1, 0, -3 * 9.81 * h));
    for (int k = 0; k < 3; ++k) {
        build.point_joint(beam, -1, Vec3(0.3 * k - 0.3, 0, 0), Vec3::Zero());
        build.point_joint(beam, -1, Vec3(0.3 * k - 0.3, 0, 0), Vec3::Zero());
    }
    build.contact(beam, -1, Vec3(0, 0, -0.1), Vec3::Zero(), 0.5, 0);
    const StepProblem problem = build.problem();
    StepSolution x;
    expect_solved(problem, x, "beam");
    EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-12);
}

TEST(DirectIterative, FrictionlessProblemsAreSolvedByPivotsAlone) {
    Random random(7);
    DirectIterativeOptions options;
    options.max_rounds = 1;
    options.polish = false;
    DirectIterativeSolver solver(options);
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        RandomProblem wanted;
        wanted.nodes = 6;
        wanted.contacts = 12;
        wanted.joints = 3;
        wanted.mass_low = 0.1;
        wanted.mass_high = 10;
        StepProblem problem = wanted.problem(seed);
        for (double& mu : problem.contacts.friction) mu = 0;
        for (int j = 0; j < problem.joints.size(); j += 2) {
            problem.lower[j] = -random.uniform(0, 1);
            problem.upper[j] = random.uniform(0, 1);
        }
        StepSolution x;
        const SolveReport report = solver.solve(problem, x);
        EXPECT_EQ(report.status, Status::ok) << "seed " << seed << " " << report.residual.max();
    }
}

TEST(DirectIterative, TurnsAloneReachTheTolerance) {
    DirectIterativeOptions options;
    options.polish = false;
    options.max_rounds = 1000;
    DirectIterativeSolver solver(options);
    BoxOnPlane box;
    box.facets = 0;
    box.force = Vec3(3, 4, 0);
    BoxStack stack;
    stack.facets = 0;
    stack.push = Vec3(2, 0, 0);
    for (const StepProblem& problem : {box.problem(), stack.problem()}) {
        StepSolution x;
        const SolveReport report = solver.solve(problem, x);
        EXPECT_EQ(report.status, Status::ok) << report.residual.max();
        EXPECT_LE(residual(problem, x).joints, 1e-12);
    }
}

TEST(DirectIterative, RandomProblemsWithSpinAreSolvedOrToldHonestly) {
    int solved = 0, all = 0;
    DirectIterativeSolver solver;
    for (std::uint32_t seed = 1; seed <= 100; ++seed) {
        RandomProblem wanted;
        wanted.mass_low = 0.1;
        wanted.mass_high = 10;
        wanted.skew = seed % 2 ? 0.02 : 0.0;
        wanted.polygons_only = false;
        const StepProblem problem = wanted.problem(seed);
        StepSolution x;
        const SolveReport report = solver.solve(problem, x);
        const double now = residual(problem, x).max();
        EXPECT_EQ(report.status == Status::ok, now <= default_tolerance) << "seed " << seed;
        EXPECT_EQ(report.residual.max(), now) << "seed " << seed;
        if (report.status != Status::ok) {
            EXPECT_STRNE(report.reason, "");
        }
        solved += report.status == Status::ok;
        ++all;
    }
    EXPECT_GE(solved, 95) << "of " << all;
}

TEST(DirectIterative, SameProblemSameBitsAndEmptyProblemsAreFine) {
    RandomProblem wanted;
    const StepProblem problem = wanted.problem(3);
    DirectIterativeSolver a, b;
    StepSolution x, y, z;
    a.solve(problem, x);
    a.solve(BoxStack().problem(), z);
    z = {};
    a.solve(problem, z);
    b.solve(problem, y);
    EXPECT_TRUE((x.v.array() == y.v.array()).all() && (x.p.array() == y.p.array()).all());
    EXPECT_TRUE((z.v.array() == y.v.array()).all() && (z.p.array() == y.p.array()).all());
    StepProblem empty;
    empty.A.shape_diagonal(Nodes());
    empty.size_to_rows();
    StepSolution nothing;
    EXPECT_EQ(a.solve(empty, nothing).status, Status::ok);
}

TEST(DirectIterative, WrongOptionsAreRefused) {
    EXPECT_THROW(make_solver("direct-iterative", {{"tol", "0", {}}}), Error);
    EXPECT_THROW(make_solver("direct-iterative", {{"sweeps", "0", {}}}), Error);
}
