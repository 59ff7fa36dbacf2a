// Contacts that share their load in many ways: the smallest impulses, against least norms of Eigen and against Dykstra's projections.
#include <gtest/gtest.h>

#include <Eigen/QR>

#include "diagnose/contact_shares.hpp"
#include "problems/cones.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

struct Shared {
    StepProblem problem;
    StepSolution solution;
    ContactShares shares;
    RowVec p, lambda;
    MatX effect;  // H'

    // All velocities zero, impulses as given.
    Shared(const StepProblem& given, const VecX& impulses) : problem(given) {
        solution.size_to(problem);
        solution.p = impulses;
        std::fill(solution.modes.begin(), solution.modes.end(), ContactMode::stick);
        effect = problem.contacts.jacobian.dense(problem.nodes()).transpose();
        p = impulses;
        lambda = solution.lambda;
        shares.make_smallest(problem, solution, p, lambda);
    }
    VecX least_norm() const {
        return Eigen::CompleteOrthogonalDecomposition<MatX>(effect).solve(effect * solution.p.vec());
    }
};

// The point of the cones with the same effect that is nearest to the origin: Dykstra's alternating projections.
VecX nearest_by_dykstra(const Shared& s, int rounds) {
    const Eigen::CompleteOrthogonalDecomposition<MatX> onto(s.effect);
    const VecX f = s.effect * s.solution.p.vec();
    VecX x = VecX::Zero(s.p.size()), left = x;
    for (int round = 0; round < rounds; ++round) {
        const VecX flat = x + onto.solve(f - s.effect * x);  // an affine set needs no memory
        VecX y = flat + left;
        const VecX before = y;
        for (int i = 0; i < s.problem.contacts.size(); ++i)
            project_cone(3, s.problem.contacts.friction[i], s.problem.contacts.facets[i], y.data() + 3 * i);
        left = before - y;
        x = y;
    }
    return x;
}

// How far the direction of a row points along x.
double along_x(const StepProblem& problem, int row) { return problem.contacts.jacobian.dense(problem.nodes())(row, 0); }

VecX on_two_corners(double weight) {
    VecX p = VecX::Zero(12);
    p[0] = p[9] = weight / 2;  // two opposite corners carry all
    return p;
}

TEST(ContactShares, FourCornersOfABoxCarryTheSame) {
    for (const int facets : {0, 8}) {
        const BoxOnPlane box{.facets = facets};
        const double weight = box.mass * 9.81 * box.step;
        Shared s(box.problem(), on_two_corners(weight));
        for (int i = 0; i < 4; ++i) {
            EXPECT_NEAR(s.p[3 * i], weight / 4, 1e-12 * weight);
            EXPECT_NEAR(s.p[3 * i + 1], 0, 1e-12 * weight);
            EXPECT_FALSE(s.shares.unique(i));
        }
        EXPECT_LT((s.p.vec() - s.least_norm()).norm(), 1e-12 * weight);
    }
}

TEST(ContactShares, FrictionThatWouldLeaveItsConeIsSharedInside) {
    for (const int facets : {0, 8}) {
        BoxOnPlane box{.facets = facets};
        box.force = Vec3(8, 0, 0);  // of the 9.81 N that hold; the hind corners have less load than their quarter needs
        const double share = box.force.x() / (box.mass * 9.81);
        VecX p = VecX::Zero(12);
        const StepProblem problem = box.problem();
        // Loads that balance weight and push, friction in proportion to them.
        const double lean = box.force.x() * box.edges.z() / 2 / box.edges.x();  // [N] from each hind pair to the front
        for (int i = 0; i < 4; ++i) {
            p[3 * i] = box.step * (box.mass * 9.81 / 4 + (i & 1 ? 0.5 : -0.5) * lean);
            for (int k = 1; k < 3; ++k) p[3 * i + k] = -share * p[3 * i] * along_x(problem, 3 * i + k);
        }
        Shared s(problem, p);
        EXPECT_LT((s.effect * (s.p.vec() - p)).norm(), 1e-12 * p.norm()) << "the effect is the same";
        EXPECT_LT(s.p.norm(), p.norm() * (1 - 1e-6));
        for (int i = 0; i < 4; ++i) {
            double nearest[3] = {s.p[3 * i], s.p[3 * i + 1], s.p[3 * i + 2]};
            project_cone(3, box.mu, facets, nearest);
            for (int k = 0; k < 3; ++k) EXPECT_NEAR(nearest[k], s.p[3 * i + k], 1e-12 * p.norm());
        }
        EXPECT_GT((s.p.vec() - s.least_norm()).norm(), 1e-4 * p.norm()) << "cones matter here";
        EXPECT_LT((s.p.vec() - nearest_by_dykstra(s, 100000)).norm(), 1e-8 * p.norm()) << facets << " facets";
    }
}

TEST(ContactShares, StacksShareOnEveryLevel) {
    const BoxStack stack{.boxes = 5};
    const double weight = 9.81 * stack.step;
    VecX p = VecX::Zero(60);
    for (int level = 0; level < 5; ++level)
        for (int corner = 0; corner < 4; ++corner)
            p[12 * level + 3 * corner] = (5 - level) * weight * (corner == 0 || corner == 3 ? 0.4 : 0.1);
    Shared s(stack.problem(), p);
    EXPECT_LT((s.p.vec() - s.least_norm()).norm(), 1e-11 * p.norm());
    for (int i = 0; i < 20; ++i) EXPECT_NEAR(s.p[3 * i], (5 - i / 4) * weight / 4, 1e-11 * weight);
}

TEST(ContactShares, LargeIslandsAreMarkedAndLeftAlone) {
    const BoxStack stack{.boxes = 20};
    VecX p = VecX::Zero(240);
    for (int i = 0; i < 80; ++i) p[3 * i] = 1 + i % 3;
    Shared s(stack.problem(), p);
    EXPECT_EQ(s.p.vec(), p);
    for (int i = 0; i < 80; ++i) EXPECT_FALSE(s.shares.unique(i));
}

TEST(ContactShares, BallsAndTripodsHaveOneAnswer) {
    ProblemBuilder build;
    const int ball = build.body(1, Vec3::Ones(), Vec3::Zero(), Vec3(0, 0, -1));
    build.contact(ball, -1, Vec3(0, 0, -1), Vec3::Zero(), 0.5, 0);
    const int tripod = build.body(3, Vec3::Ones(), Vec3::Zero(), Vec3(0, 0, -3));
    for (int leg = 0; leg < 3; ++leg)
        build.contact(tripod, -1, Vec3(std::cos(2.1 * leg), std::sin(2.1 * leg), -1), Vec3::Zero(), 0, 0);
    VecX p = VecX::Zero(12);
    for (int i = 0; i < 4; ++i) p[3 * i] = 1;
    Shared s(build.problem(), p);
    EXPECT_EQ(s.p.vec(), p);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(s.shares.unique(i));
}

// Contacts that slip keep the direction of their friction, those that open carry nothing.
TEST(ContactShares, SlippingContactsStayOnTheirRaysAndOpenOnesStayOut) {
    BoxOnPlane box{.facets = 0};
    StepProblem problem = box.problem();
    const double weight = box.mass * 9.81 * box.step;
    StepSolution solution;
    solution.size_to(problem);
    solution.v[0] = 1;  // along x
    VecX p = VecX::Zero(12);
    for (const int i : {0, 3}) {
        p[3 * i] = weight / 2;
        for (int k = 1; k < 3; ++k) p[3 * i + k] = -box.mu * p[3 * i] * along_x(problem, 3 * i + k);
    }
    solution.p = p;
    std::fill(solution.modes.begin(), solution.modes.end(), ContactMode::slip);
    ContactShares shares;
    RowVec smallest = p, lambda = solution.lambda;
    shares.make_smallest(problem, solution, smallest, lambda);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(smallest[3 * i], weight / 4, 1e-12 * weight);
        const double friction = std::hypot(smallest[3 * i + 1], smallest[3 * i + 2]);
        EXPECT_NEAR(friction, box.mu * smallest[3 * i], 1e-12 * weight);
    }
    problem.c[3 * 1] = 0.1;  // one that carried nothing opens: the others have one answer
    smallest = p;
    shares.make_smallest(problem, solution, smallest, lambda);
    EXPECT_EQ(smallest[3], 0);
    EXPECT_NEAR(smallest[0], weight / 2, 1e-12 * weight);
}

}  // namespace
}  // namespace stickslip
