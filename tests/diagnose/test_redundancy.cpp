// Dependent joint rows: how many there are, that the right ones are switched off, and the smallest impulses.
#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "diagnose/redundancy.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::ProblemBuilder;
using testing::Random;

constexpr double gap = 1e-6;  // between singular values of dependent rows and others; no drift here

struct Built {
    StepProblem problem;
    MatX G;
    Eigen::JacobiSVD<MatX> svd;  // of G'
    explicit Built(ProblemBuilder& build) : problem(build.problem()) {
        G = problem.joints.jacobian.dense(problem.nodes());
        svd.compute(G.transpose(), Eigen::ComputeThinU | Eigen::ComputeThinV);
        svd.setThreshold(gap);
    }
    int redundant() const { return static_cast<int>(G.rows() - svd.rank()); }
    VecX smallest(const VecX& lambda) const { return svd.solve(G.transpose() * lambda); }
};

std::vector<int> off(const StepProblem& problem) {
    std::vector<int> rows;
    for (int i = 0; i < problem.joints.size(); ++i)
        if (problem.lower[i] == 0 && problem.upper[i] == 0) rows.push_back(i);
    return rows;
}

// Rows left imposed have the rank of all.
void expect_spanning(const Built& built, const std::vector<int>& gone) {
    MatX kept(built.G.rows() - static_cast<Eigen::Index>(gone.size()), built.G.cols());
    Eigen::Index k = 0;
    for (int i = 0; i < built.G.rows(); ++i)
        if (!std::binary_search(gone.begin(), gone.end(), i)) kept.row(k++) = built.G.row(i);
    Eigen::JacobiSVD<MatX> svd(kept);
    svd.setThreshold(gap);
    EXPECT_EQ(svd.rank(), kept.rows());
    EXPECT_EQ(svd.rank(), built.svd.rank());
}

// A random graph of groups between bodies and ground; some groups are mixtures of others on the same bodies.
ProblemBuilder random_joints(Random& random, int nodes, int groups, double mixed) {
    ProblemBuilder build;
    for (int n = 0; n < nodes; ++n) {
        const double m = random.log_uniform(0.1, 100);
        build.body(m, m * Vec3(0.1, 0.2, 0.3), Vec3::Zero(), Vec3::Zero());
    }
    std::vector<ProblemBuilder::Blocks> made;
    for (int g = 0; g < groups; ++g) {
        const int dim = 1 + random.below(3), a = random.below(nodes), b = random.below(nodes);
        ProblemBuilder::Blocks blocks{{a, random.matrix(dim, 6)}};
        if (b != a) blocks.emplace_back(b, random.matrix(dim, 6));
        if (!made.empty() && random.uniform(0, 1) < mixed) {
            blocks = made[random.below(static_cast<int>(made.size()))];
            const MatX mix =
                random.matrix(static_cast<int>(blocks[0].second.rows()), static_cast<int>(blocks[0].second.rows()));
            for (auto& [node, values] : blocks) values = (mix * values).eval();
        }
        made.push_back(blocks);
        build.joint_rows(static_cast<int>(blocks[0].second.rows()), blocks);
    }
    return build;
}

TEST(Redundancy, CountsAndSwitchesOffWhatDependsOnOthers) {
    Random random(7);
    int with = 0;
    for (int round = 0; round < 200; ++round) {
        ProblemBuilder build = random_joints(random, 2 + random.below(6), 2 + random.below(8), 0.4);
        Built built(build);
        Redundancy redundancy;
        redundancy.plan(built.problem.A, built.problem.joints);
        ASSERT_EQ(static_cast<int>(redundancy.redundant().size()), built.redundant()) << "round " << round;
        redundancy.switch_off(built.problem);
        const std::vector<int> gone = off(built.problem);
        EXPECT_EQ(gone, redundancy.redundant());
        if (built.redundant() == 0) continue;
        ++with;
        expect_spanning(built, gone);
        // Any multipliers become the smallest with the same effect, and unique rows keep theirs.
        RowVec lambda;
        lambda.resize(built.G.rows());
        lambda = random.vector(static_cast<int>(built.G.rows()));
        const VecX given = lambda.vec(), expected = built.smallest(given);
        redundancy.smallest(built.problem, lambda);
        EXPECT_LE((lambda - expected).cwiseAbs().maxCoeff(), 1e-9 * (1 + given.norm())) << "round " << round;
        for (int i = 0; i < lambda.size(); ++i)
            if (redundancy.unique(i)) {
                EXPECT_NEAR(lambda[i], given[i], 1e-5);
            }
    }
    EXPECT_GT(with, 50);
}

TEST(Redundancy, RowsWithComplianceOrBoundsAreLeftAlone) {
    Random random(3);
    ProblemBuilder build;
    build.body(1, Vec3::Ones(), Vec3::Zero(), Vec3::Zero());
    const MatX rows = random.matrix(3, 6);
    build.joint_rows(3, {{0, rows}});
    build.joint_rows(3, {{0, rows}});
    Built built(build);
    Redundancy redundancy;
    redundancy.plan(built.problem.A, built.problem.joints);
    ASSERT_EQ(redundancy.redundant(), (std::vector<int>{3, 4, 5}));
    built.problem.T.array() += 1e-3;
    redundancy.switch_off(built.problem);
    EXPECT_TRUE(off(built.problem).empty());
    RowVec lambda;
    lambda.resize(6);
    lambda.setZero();
    lambda[0] = 1;
    redundancy.smallest(built.problem, lambda);
    EXPECT_EQ(lambda[0], 1);
    EXPECT_EQ(lambda[3], 0);
    // motors are none of its business
    for (RowKind& kind : built.problem.joints.kind) kind = RowKind::velocity;
    redundancy.plan(built.problem.A, built.problem.joints);
    EXPECT_FALSE(redundancy.any());
}

TEST(Redundancy, RowsOfAnotherSystemArePlannedAnew) {
    Random random(11);
    ProblemBuilder one, two;
    for (ProblemBuilder* build : {&one, &two}) build->body(1, Vec3::Ones(), Vec3::Zero(), Vec3::Zero());
    const MatX rows = random.matrix(2, 6);
    one.joint_rows(2, {{0, rows}});
    for (int k = 0; k < 3; ++k) two.joint_rows(2, {{0, rows}});
    StepProblem first = one.problem(), second = two.problem();
    Redundancy redundancy;
    redundancy.plan(first.A, first.joints);
    EXPECT_FALSE(redundancy.any());
    redundancy.switch_off(second);
    EXPECT_EQ(off(second).size(), 4u);
}

// A ladder of loops with more rows than are chosen anew in every step.
TEST(Redundancy, LongLaddersKeepTheirChoiceAndTheirImpulsesAreTheSmallest) {
    Random random(5);
    ProblemBuilder build;
    constexpr int rungs = 40;
    for (int n = 0; n < rungs; ++n) build.body(1, Vec3::Constant(0.5), Vec3::Zero(), Vec3::Zero());
    for (int n = 0; n + 1 < rungs; ++n) {
        const ProblemBuilder::Blocks blocks{{n, random.matrix(3, 6)}, {n + 1, random.matrix(3, 6)}};
        for (int twice = 0; twice < 2; ++twice) build.joint_rows(3, blocks);
    }
    Built built(build);
    ASSERT_EQ(built.redundant(), 3 * (rungs - 1));
    Redundancy redundancy;
    redundancy.plan(built.problem.A, built.problem.joints);
    EXPECT_EQ(redundancy.left_out(), 0);
    EXPECT_EQ(static_cast<int>(redundancy.redundant().size()), built.redundant());
    redundancy.switch_off(built.problem);
    EXPECT_EQ(off(built.problem), redundancy.redundant());
    expect_spanning(built, redundancy.redundant());
    RowVec lambda;
    lambda.resize(built.G.rows());
    lambda = random.vector(static_cast<int>(built.G.rows()));
    const VecX expected = built.smallest(lambda.vec());
    redundancy.smallest(built.problem, lambda);
    EXPECT_LE((lambda - expected).norm(), 1e-8 * expected.norm());
}

TEST(Redundancy, ThousandsOfRowsInATreeCostNothing) {
    Random random(2);
    ProblemBuilder build;
    for (int n = 0; n < 2000; ++n) {
        build.body(1, Vec3::Ones(), Vec3::Zero(), Vec3::Zero());
        ProblemBuilder::Blocks blocks{{n, random.matrix(5, 6)}};
        if (n > 0) blocks.emplace_back(random.below(n), random.matrix(5, 6));
        build.joint_rows(5, blocks);
    }
    const StepProblem problem = build.problem();
    Redundancy redundancy;
    redundancy.plan(problem.A, problem.joints);
    EXPECT_FALSE(redundancy.any());
    EXPECT_EQ(redundancy.left_out(), 0);
}

}  // namespace
}  // namespace stickslip
