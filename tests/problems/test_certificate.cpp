// Certificates that must not be given, and contradictions that must be named. tests/project/test_certificates.py hunts for others.
#include <gtest/gtest.h>

#include "problems/certificate.hpp"
#include "stickslip/contradiction.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

// Points of these masses on a line, nodes of one velocity each.
StepProblem points(const std::vector<double>& masses) {
    StepProblem problem;
    Nodes nodes;
    for (std::size_t i = 0; i < masses.size(); ++i) nodes.add(1);
    problem.A.shape_diagonal(nodes);
    for (std::size_t i = 0; i < masses.size(); ++i) problem.A.block(static_cast<int>(i))(0, 0) = masses[i];
    problem.r.setZero(nodes.nv());
    return problem;
}

// u_N = sum of coefficient times velocity, without friction.
void add_contact(StepProblem& problem, const std::vector<std::pair<int, double>>& entries) {
    problem.contacts.begin_contact(
        {ContactKind::shapes, static_cast<std::uint32_t>(problem.contacts.size()), 0, {}, {}}, 1, 0, 0, 0, disc_facets);
    for (const auto& [node, value] : entries) problem.contacts.jacobian.add_block(node, 1)(0, 0) = value;
}

void add_joint(StepProblem& problem, const std::vector<std::pair<int, double>>& entries) {
    problem.joints.begin_group(static_cast<std::uint32_t>(problem.joints.size()), 1, RowKind::velocity);
    for (const auto& [node, value] : entries) problem.joints.jacobian.add_block(node, 1)(0, 0) = value;
}

// As problem.size_to_rows(), with r kept.
void finish(StepProblem& problem) {
    const VecX r = problem.r;
    problem.size_to_rows();
    problem.r = r;
}

StepSolution nothing(const StepProblem& problem) {
    StepSolution solution;
    solution.size_to(problem);
    return solution;
}

Certificate certified(const StepProblem& problem, const StepSolution& solution, double tol = default_tolerance) {
    CertificateWork work;
    return certify(problem, solution, tol, work);
}

TEST(Certificate, BoxAtRestHoldsWithRoomToSpare) {
    const BoxOnPlane scene;
    const StepProblem problem = scene.problem();
    StepSolution solution = nothing(problem);
    for (int i = 0; i < 4; ++i) solution.p[3 * i] = scene.mass * 9.81 * scene.step / 4;
    const Certificate certificate = certified(problem, solution);
    EXPECT_LT(certificate.bound(), 1e-13);
    EXPECT_GT(certificate.rounding, 0);
    // A tolerance near rounding asks for more digits, and gets them.
    EXPECT_LT(certified(problem, solution, 1e-14).bound(), 1e-14);
}

// A point of 1 kg between the floor and one of 1e13 kg: the balance of the light one is lost beside the impulses.
TEST(Certificate, HeavyOnLightIsNotCertifiedByLostDigits) {
    StepProblem problem = points({1, 1e13});
    problem.r << -9.81e-3, -9.81e10;
    add_contact(problem, {{0, 1.0}});
    add_contact(problem, {{0, -1.0}, {1, 1.0}});
    finish(problem);
    StepSolution solution = nothing(problem);
    solution.p[1] = 9.81e10;
    solution.p[0] = 9.81e10;  // 9.81e-3 is missing and too small to be seen in the sum of the two
    EXPECT_LT(residual(problem, solution).contacts, 1e-9);
    EXPECT_GT(certified(problem, solution).bound(), 1e-6);
}

// An impulse so large that u vanishes beside it: the natural map alone is exactly zero.
TEST(Certificate, RunawayImpulseHidesNoVelocity) {
    StepProblem problem = points({1});
    add_contact(problem, {{0, 0.0}});
    finish(problem);
    problem.c[0] = -1;
    StepSolution solution = nothing(problem);
    solution.p[0] = 1e18;
    EXPECT_EQ(residual(problem, solution).max(), 0);
    EXPECT_GE(certified(problem, solution).bound(), 1);
}

// Two points coupled so stiffly that only their common motion is light.
TEST(Certificate, DynamicsAreJudgedWithTheWholeMatrix) {
    StepProblem problem = points({1 + 1e9, 1 + 1e9});
    const BlockMatrix::Coupling up = problem.A.add_coupling(0, 1);
    problem.A.block(up)(0, 0) = -1e9;
    const BlockMatrix::Coupling low = problem.A.add_coupling(1, 0);
    problem.A.block(low)(0, 0) = -1e9;
    problem.r << 1, 1;
    finish(problem);
    StepSolution solution = nothing(problem);
    EXPECT_LT(residual(problem, solution).max(), 2e-9);  // by diagonal blocks it looks nearly solved
    EXPECT_NEAR(certified(problem, solution, 1).residual.dynamics, 1, 1e-6);
    solution.v << 1, 1;
    EXPECT_LT(certified(problem, solution).bound(), 1e-9);
}

// Two bodies coupled so that the whole matrix moves them less by an imbalance than each mass alone would: the larger number counts, since
// that is the residual as documented.
TEST(Certificate, CoupledDynamicsAreJudgedInTheScaleOfEachBodyToo) {
    StepProblem problem = points({1, 1});
    const BlockMatrix::Coupling up = problem.A.add_coupling(0, 1);
    problem.A.block(up)(0, 0) = 0.9;
    const BlockMatrix::Coupling low = problem.A.add_coupling(1, 0);
    problem.A.block(low)(0, 0) = 0.9;
    problem.r << 1e-6, 1e-6;  // A v = r has v = r / 1.9
    finish(problem);
    const Certificate certificate = certified(problem, nothing(problem));
    EXPECT_NEAR(certificate.residual.dynamics, 1e-6, 1e-15);
}

// Friction is missing by 0.3 m/s on a body of 1e-200 kg: squares of its impulses are zero in doubles.
TEST(Certificate, MassesBeyondTheRangeAreNotCertified) {
    for (const double mass : {1.0, 1e-60, 1e-200}) {
        StepProblem problem;
        Nodes nodes;
        nodes.add(3);
        problem.A.shape_diagonal(nodes);
        problem.A.block(0).diagonal().setConstant(mass);
        problem.contacts.begin_contact({ContactKind::shapes, 0, 0, {}, {}}, 3, 0, 0.3, 0, disc_facets);
        problem.contacts.jacobian.add_block(0, 3).setIdentity();
        problem.size_to_rows();
        problem.r << -mass, mass, 0;
        StepSolution solution = nothing(problem);
        solution.p[0] = mass;
        solution.v << 0, 1, 0;
        EXPECT_GT(certified(problem, solution).bound(), 0.1) << mass;
    }
}

TEST(Certificate, NothingThatIsNotANumberIsCertified) {
    StepProblem problem = points({1});
    add_contact(problem, {{0, 1.0}});
    finish(problem);
    for (double* number : {&problem.r[0], &problem.c[0], &problem.S[0]}) {
        const double before = *number;
        *number = std::numeric_limits<double>::quiet_NaN();
        EXPECT_FALSE(certified(problem, nothing(problem)).bound() <= 1e300);
        *number = before;
    }
    EXPECT_EQ(certified(problem, nothing(problem)).bound(), 0);
}

// A ball between two walls that come nearer, and a bystander.
TEST(Contradiction, NamesTheWallsAndNotTheBystander) {
    StepProblem problem = points({1, 1});
    add_contact(problem, {{0, 1.0}});
    add_contact(problem, {{1, 1.0}});
    add_contact(problem, {{0, -1.0}});
    finish(problem);
    problem.c[0] = -1;
    problem.c[1] = -5;
    problem.c[2] = -2;
    const Contradiction found = find_contradiction(problem);
    ASSERT_TRUE(found);
    ASSERT_EQ(found.parts.size(), 2u);
    std::vector<int> who{found.parts[0].index, found.parts[1].index};
    std::sort(who.begin(), who.end());
    EXPECT_EQ(who, (std::vector<int>{0, 2}));
    EXPECT_NEAR(found.speed, 1.5, 1e-12);  // 3 m/s too little, shared by both

    problem.S[0] = 1e-6;  // a wall that gives way contradicts nobody
    EXPECT_FALSE(find_contradiction(problem));
}

TEST(Contradiction, FindsJointsAgainstContactsAlongAChain) {
    const int n = 40;
    StepProblem problem = points(std::vector<double>(n, 1.0));
    for (int i = 0; i + 1 < n; ++i) add_joint(problem, {{i, -1.0}, {i + 1, 1.0}});
    add_contact(problem, {{0, 1.0}});
    add_contact(problem, {{n - 1, -1.0}});
    finish(problem);
    problem.c[0] = -1e-3;
    problem.c[1] = 1;
    EXPECT_FALSE(find_contradiction(problem));  // the chain may leave
    problem.c[1] = -1e-3;
    const Contradiction found = find_contradiction(problem);
    ASSERT_TRUE(found);
    EXPECT_EQ(found.parts.size(), static_cast<std::size_t>(n + 1));
    EXPECT_FALSE(contradiction_text(found, [](const auto&) { return "x"; }).empty());
}

TEST(Contradiction, ToleratesWhatAFastBodyCanSatisfy) {
    StepProblem problem = points({1, 1});
    add_contact(problem, {{0, 1.0}, {1, 1.0}});
    add_contact(problem, {{0, -1.0}, {1, -1.0 + 1e-2}});
    finish(problem);
    problem.c[0] = problem.c[1] = -1;  // a wedge of a hundredth: 200 m/s will do
    EXPECT_FALSE(find_contradiction(problem));
}

TEST(Contradiction, KnowsStoredProblemsWithoutMass) {
    DelassusProblem problem;
    Nodes nodes;
    nodes.add(3);
    problem.W.shape_diagonal(nodes);
    problem.q.resize(3);
    problem.q << -1, 0.2, 0.1;
    problem.friction = {0.5};
    problem.facets = {disc_facets};
    EXPECT_TRUE(find_contradiction(problem));
    VecX p = VecX::Zero(3);
    p[0] = 1e18;
    EXPECT_GT(certify(problem, p, 1e-8).bound(), 0.5);
}

}  // namespace
}  // namespace stickslip
