// Sweeps and their local contact solves.
#include <gtest/gtest.h>

#include "problems/cones.hpp"
#include "solvers/local/contact_solve.hpp"
#include "solvers/nsgs.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using namespace stickslip::testing;

namespace {

// The natural map of the local answer, relative to the velocities at play.
double local_error(int dim, double mu, int facets, const MatX& W, const VecX& q, VecX& p, ContactMode& mode) {
    p = VecX::Zero(dim);
    mode = solve_contact(dim, mu, facets, W.data(), q.data(), p.data());
    const VecX u = W * p + q;
    const double scale = q.norm() + (W * p).norm();
    return contact_natural_map(dim, mu, facets, dim / W.trace(), u.data(), p.data()) / scale;
}

}  // namespace

TEST(ContactSolve, HundredThousandRandomContactsObeyTheirCone) {
    Random random(1);
    int seen[3] = {0, 0, 0};
    for (int k = 0; k < 100000; ++k) {
        const MatX root = random.matrix(3, 3), twist = random.matrix(3, 3);
        const MatX W = root * root.transpose() + 0.01 * MatX::Identity(3, 3) +
                       (k % 3 == 0 ? 0.3 : 0.0) * (twist - twist.transpose());
        const double mu = k % 2 ? random.uniform(0.01, 1) : random.log_uniform(1e-3, 10);
        const int shapes[] = {0, 0, 0, 4, 6, 8, 12, 2};
        const VecX q = random.vector(3);
        VecX p;
        ContactMode mode;
        EXPECT_LT(local_error(3, mu, shapes[k % 8], W, q, p, mode), 1e-9) << "contact " << k << " mu " << mu;
        ++seen[static_cast<int>(mode)];
    }
    for (const int count : seen) EXPECT_GT(count, 5000);  // open, stick and slip all occur
}

TEST(ContactSolve, PlanarAndFrictionlessContactsToo) {
    Random random(2);
    for (int k = 0; k < 20000; ++k) {
        const int dim = 1 + k % 2;
        const MatX root = random.matrix(dim, dim);
        const MatX W = root * root.transpose() + 0.01 * MatX::Identity(dim, dim);
        const VecX q = random.vector(dim);
        VecX p;
        ContactMode mode;
        EXPECT_LT(local_error(dim, k % 7 ? random.uniform(0.01, 3) : 0.0, 0, W, q, p, mode), 1e-10);
    }
}

TEST(ContactSolve, SlipOpposesFrictionExactly) {
    const MatX W = Vec3(1, 2, 2).asDiagonal();
    const VecX q = Vec3(-1, 3, 4);
    VecX p;
    ContactMode mode;
    EXPECT_LT(local_error(3, 0.5, 0, W, q, p, mode), 1e-15);
    EXPECT_EQ(mode, ContactMode::slip);  // isotropic: p_N = 1 and p_T against (3, 4)
    EXPECT_NEAR(p[0], 1, 1e-15);
    EXPECT_NEAR(p[1], -0.3, 1e-15);
    EXPECT_NEAR(p[2], -0.4, 1e-15);
}

TEST(ContactSolve, SingularBlockIsSolvedByRepetition) {
    // One velocity behind three rows: the proximal term keeps the true solution as fixed point.
    const Vec3 h(1, 0.4, 0.2);
    const MatX W = h * h.transpose();
    const VecX q = -2 * h;
    VecX p = VecX::Zero(3);
    for (int k = 0; k < 60; ++k) solve_contact(3, 0.7, 0, W.data(), q.data(), p.data());
    const VecX u = W * p + q;
    EXPECT_LT(contact_natural_map(3, 0.7, 0, 3 / W.trace(), u.data(), p.data()), 1e-12);
}

TEST(Nsgs, PushedBoxSticksExactlyBelowTheLimitAndSlidesAgainstFrictionAbove) {
    NsgsSolver solver;
    for (int k = 0; k < 36; ++k) {
        const double angle = k * M_PI / 18;
        const Vec3 d(std::cos(angle), std::sin(angle), 0);
        for (const double share : {0.97, 1.6}) {
            BoxOnPlane box;
            box.facets = 0;
            box.force = share * box.mu * box.mass * 9.81 * d;
            const StepProblem problem = box.problem();
            StepSolution x;
            const SolveReport report = solver.solve(problem, x);
            ASSERT_EQ(report.status, Status::ok) << k;
            EXPECT_EQ(residual(problem, x).max(), report.residual.max());
            if (share < 1) {
                EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-15);
                continue;
            }
            const double speed = (share - 1) * box.mu * 9.81 * box.step;  // from rest, Coulomb
            EXPECT_LT((x.v.head<3>() - speed * d).norm(), 1e-15);
            EXPECT_LT(x.v.tail<3>().norm(), 1e-14);
            for (int i = 0; i < 4; ++i) {
                const Vec3 n = Vec3::UnitZ(), t1 = frame_of(n).row(1), t2 = frame_of(n).row(2);
                const Vec3 friction = x.p[3 * i + 1] * t1 + x.p[3 * i + 2] * t2;
                EXPECT_LT((friction + box.mu * x.p[3 * i] * d).norm(), 1e-14);
            }
        }
    }
}

TEST(Nsgs, SweepsAloneReachTheToleranceAndPolishGoesToRounding) {
    BoxOnPlane box;
    box.facets = 0;
    box.force = Vec3(3, 4, 0);
    NsgsOptions options;
    options.polish = false;
    NsgsSolver plain(options), polished;
    StepSolution x, y;
    const StepProblem problem = box.problem();
    EXPECT_EQ(plain.solve(problem, x).status, Status::ok);
    EXPECT_EQ(polished.solve(problem, y).status, Status::ok);
    EXPECT_LE(residual(problem, x).max(), default_tolerance);
    EXPECT_LE(residual(problem, y).max(), 1e-16);
}

TEST(Nsgs, TooFewSweepsAreToldHonestly) {
    BoxStack stack;
    stack.boxes = 10;
    stack.facets = 0;
    NsgsOptions options;
    options.polish = false;
    options.max_sweeps = 5;
    NsgsSolver solver(options);
    const StepProblem problem = stack.problem();
    StepSolution x;
    const SolveReport report = solver.solve(problem, x);
    EXPECT_EQ(report.status, Status::not_converged);
    EXPECT_EQ(report.iterations, 5);
    EXPECT_GT(report.residual.max(), default_tolerance);
    EXPECT_STRNE(report.reason, "");
}

TEST(Nsgs, CoupledAndGyroscopicMassMatricesAreTaken) {
    Random random(9);
    for (int k = 0; k < 20; ++k) {
        ProblemBuilder b;
        for (int n = 0; n < 2; ++n) {
            const MatX twist = random.matrix(6, 6);
            b.node(2 * MatX::Identity(6, 6) + 0.2 * (twist - twist.transpose()), random.vector(6));
        }
        const MatX ab = 0.1 * random.matrix(6, 6);
        b.couple(0, 1, ab);
        b.couple(1, 0, ab.transpose());
        for (int i = 0; i < 3; ++i)
            b.contact_rows(3, {{0, random.matrix(3, 6)}, {1, random.matrix(3, 6)}}, 0.5, i == 2 ? 8 : 0);
        b.joint_rows(1, {{0, random.matrix(1, 6)}});
        const StepProblem problem = b.problem();
        NsgsOptions options;
        options.polish = k % 2 == 0;
        NsgsSolver solver(options);
        StepSolution x;
        EXPECT_EQ(solver.solve(problem, x).status, Status::ok);
        EXPECT_LE(residual(problem, x).max(), default_tolerance);
    }
}

TEST(Nsgs, MotorRowStopsAtItsBound) {
    // A slider on ice with a drive towards 1 m/s: v = min(1, bound / m), by sweeps and by fixed modes.
    for (const bool polish : {false, true}) {
        for (const double bound : {0.5, 10.0}) {
            ProblemBuilder b;
            const int slider = b.body(2, Vec3(1, 1, 1), Vec3::Zero(), Vec3(0, 0, -0.02));
            b.contact(slider, -1, Vec3::Zero(), Vec3::Zero(), 0, 0);
            b.point_joint(slider, -1, Vec3::Zero(), Vec3::Zero(), Vec3::UnitX().transpose());
            StepProblem problem = b.problem();
            problem.b[0] = 1;
            problem.lower[0] = -bound;
            problem.upper[0] = bound;
            NsgsOptions options;
            options.polish = polish;
            NsgsSolver solver(options);
            StepSolution x;
            ASSERT_EQ(solver.solve(problem, x).status, Status::ok);
            EXPECT_NEAR(x.v[0], std::min(1.0, bound / 2), 1e-9);
            EXPECT_NEAR(x.lambda[0], std::min(2.0, bound), 1e-9);
        }
    }
}

TEST(Nsgs, WrongOptionsAreRefused) {
    NsgsOptions options;
    options.relaxation = 2.5;
    EXPECT_THROW(NsgsSolver{options}, Error);
}
