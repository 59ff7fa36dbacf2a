// Painleve's check against the closed form of the rod and against dense elimination of joints.
#include <gtest/gtest.h>

#include <cmath>

#include "diagnose/painleve.hpp"
#include "problems/convert/elimination.hpp"
#include "support/count_malloc.hpp"
#include "support/problems.hpp"
#include "support/reference.hpp"

namespace stickslip {
namespace {

using testing::ProblemBuilder;
using testing::Random;
using testing::RandomProblem;

constexpr double l = 0.5;  // [m] half the rod, 1 kg

StepProblem rod(double theta, double mu) {
    ProblemBuilder build;
    const int node = build.node(Vec3(1, 1, l * l / 3).asDiagonal(), VecX::Zero(3));
    MatX H(2, 3);
    H << 0, 1, -l * std::cos(theta), 1, 0, l * std::sin(theta);
    build.contact_rows(2, {{node, H}}, mu, 0);
    return build.problem();
}

const std::vector<SlidingContact>& check(PainleveCheck& check, const StepProblem& problem, const VecX& v) {
    return check.check(problem.A, problem.joints, problem.contacts, v);
}

TEST(PainleveCheck, RodHasThePublishedCriticalFriction) {
    const testing::Reference reference("painleve-rod");
    PainleveCheck painleve;
    for (const std::vector<double>& row : reference.rows("critical")) {
        for (const double share : {0.9, 0.999, 1.001, 3.0}) {
            const auto& found = check(painleve, rod(row[0], share * row[1]), Vec3(-1, 0, 0));
            ASSERT_EQ(found.size(), 1u);
            EXPECT_NEAR(found[0].critical_friction, row[1], 1e-13 * row[1]);
            EXPECT_EQ(found[0].paradox(), share > 1) << "theta " << row[0];
            EXPECT_EQ(found[0].slip, 1);
        }
    }
}

TEST(PainleveCheck, RodPressesItselfApartOnlyOnTheSideItLeansTo) {
    const testing::Reference reference("painleve-rod");
    const std::vector<double>& coefficient = reference.rows("coefficient")[0];
    PainleveCheck painleve;
    const StepProblem problem = rod(std::atan(2.0), 2);
    EXPECT_NEAR(check(painleve, problem, Vec3(-1, 0, 0))[0].value, coefficient[0], 1e-14);
    EXPECT_TRUE(painleve.check(problem.A, problem.joints, problem.contacts, Vec3(-1, 0, 0))[0].paradox());
    EXPECT_NEAR(check(painleve, problem, Vec3(1, 0, 0))[0].value, coefficient[1], 1e-14);
    EXPECT_EQ(check(painleve, problem, Vec3(1, 0, 0))[0].critical_friction, infinity);
    // With its centre the rod may go the other way: it is the tip that counts.
    EXPECT_TRUE(check(painleve, problem, Vec3(1, l * std::cos(std::atan(2.0)) * -10, -10))[0].paradox());
}

TEST(PainleveCheck, SeesOnlyContactsThatSlide) {
    PainleveCheck painleve;
    const StepProblem problem = rod(std::atan(2.0), 2);
    EXPECT_TRUE(check(painleve, problem, Vec3::Zero()).empty()) << "sticks";
    EXPECT_TRUE(check(painleve, problem, Vec3(-1, 1, 0)).empty()) << "opens";
    EXPECT_EQ(check(painleve, problem, Vec3(-1, -1, 0)).size(), 1u) << "hits while sliding";
    EXPECT_TRUE(check(painleve, rod(std::atan(2.0), 0), Vec3(-1, 0, 0)).empty()) << "has no friction";
}

// Contacts of random systems, in one to three dimensions, free and jointed (some joints twice), against W = H B H' of the
// dense elimination.
TEST(PainleveCheck, EqualsTheDenseEliminationOfJoints) {
    PainleveCheck painleve;
    Elimination elimination;
    Random random(3);
    int compared = 0, paradox = 0, held = 0;
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        RandomProblem random_problem;
        random_problem.joints = static_cast<int>(seed % 4);
        random_problem.nodes = 5;
        random_problem.polygons_only = false;
        random_problem.mass_low = 0.1;
        random_problem.mass_high = 10;
        const StepProblem problem = random_problem.problem(seed);
        const VecX v = random.vector(problem.nodes().nv());
        const auto& found = check(painleve, problem, v);
        elimination.compute(problem);
        const VecX u = problem.contacts.jacobian.dense(problem.nodes()) * v;
        std::size_t next = 0;
        for (int i = 0; i < problem.contacts.size(); ++i) {
            const int row = problem.contacts.jacobian.row[i];
            const int dim = problem.contacts.jacobian.dim(i);
            const double mu = problem.contacts.friction[i];
            if (dim == 1 || mu == 0 || u[row] > 1e-6) continue;
            const VecX slip = u.segment(row + 1, dim - 1);
            double value = elimination.W()(row, row);
            for (int t = 1; t < dim; ++t) value -= mu * elimination.W()(row, row + t) * slip[t - 1] / slip.norm();
            ASSERT_LT(next, found.size());
            EXPECT_EQ(found[next].contact, i);
            EXPECT_NEAR(found[next].slip, slip.norm(), 1e-12);
            EXPECT_NEAR(found[next].value, value, 1e-7 * elimination.diagonal()[row]) << "seed " << seed;
            paradox += found[next].paradox();
            ++next;
            ++compared;
            held += random_problem.joints > 0;
        }
        EXPECT_EQ(next, found.size());
        EXPECT_EQ(painleve.left_out(), 0);
    }
    EXPECT_GT(compared, 200);
    EXPECT_GT(held, 100);
    EXPECT_GT(paradox, 10);
}

// A rod whose centre runs in a vertical slot, with a load welded to it: it cannot give way sideways, and
// N B N' - mu N B D' = 1/(1 kg + load) + 3 c^2 - 3 mu s c.
TEST(PainleveCheck, JointsAndHeavyLoadsBehindThemCount) {
    const double theta = std::atan(2.0), c = std::cos(theta), s = std::sin(theta), mu = 3;
    for (const double load : {1e-6, 1.0, 1e6}) {  // [kg] welded to the rod's centre
        ProblemBuilder build;
        const int node = build.node(Vec3(1, 1, l * l / 3).asDiagonal(), VecX::Zero(3));
        const int weight = build.node(load * MatX::Identity(2, 2), VecX::Zero(2));
        MatX H(2, 3);
        H << 0, 1, -l * c, 1, 0, l * s;
        build.contact_rows(2, {{node, H}}, mu, 0);
        MatX here(2, 3), there = -MatX::Identity(2, 2);
        here << 1, 0, 0, 0, 1, 0;
        build.joint_rows(2, {{node, here}, {weight, there}});
        build.joint_rows(1, {{weight, MatX(Vec2(1, 0).transpose())}});
        const StepProblem problem = build.problem();
        PainleveCheck painleve;
        const auto& found = check(painleve, problem, (VecX(5) << -1, 0, 0, -1, 0).finished());
        ASSERT_EQ(found.size(), 1u);
        const double exact = 1 / (1 + load) + 3 * c * c - 3 * mu * s * c;
        EXPECT_NEAR(found[0].value, exact, 1e-6) << "load " << load;
        EXPECT_TRUE(found[0].paradox());
    }
}

// A sledge on rails, pushed along the floor that the rails keep it on: nothing can press it apart, whatever rounding says.
TEST(PainleveCheck, ContactHeldByJointsIsNoParadox) {
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
        Random random(seed);
        ProblemBuilder build;
        const MatX root = random.matrix(3, 3);
        const int node = build.node(MatX::Identity(3, 3) + root * root.transpose(), VecX::Zero(3));
        const MatX rails = random.matrix(2, 3);
        MatX H(2, 3);
        H << random.uniform(-1, 1) * rails.row(0) + rails.row(1), random.matrix(1, 3);
        build.contact_rows(2, {{node, H}}, 5, 0);
        build.joint_rows(2, {{node, rails}});
        const Vec3 along = Vec3(rails.row(0)).cross(Vec3(rails.row(1)));
        PainleveCheck painleve;
        const auto& found = check(painleve, build.problem(), along);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].value, 0);
        EXPECT_EQ(found[0].critical_friction, infinity);
    }
}

TEST(PainleveCheck, SaysHowManyJointedContactsItLeftOut) {
    RandomProblem many;
    many.contacts = 40;
    many.joints = 6;
    const StepProblem problem = many.problem(1);
    const VecX v = Random(2).vector(problem.nodes().nv());
    PainleveCheck all, few;
    all.max_jointed = 1000;
    few.max_jointed = 3;
    const std::size_t found = check(all, problem, v).size();
    EXPECT_EQ(check(few, problem, v).size() + static_cast<std::size_t>(few.left_out()), found);
    EXPECT_GT(few.left_out(), 0);
}

TEST(PainleveCheck, AllocatesNothingAfterWarmUp) {
    if (!STICKSLIP_COUNTS_MALLOC) return;
    RandomProblem some;
    some.contacts = 20;
    const StepProblem problem = some.problem(4);
    const VecX v = Random(2).vector(problem.nodes().nv()), still = VecX::Zero(problem.nodes().nv());
    PainleveCheck painleve;
    ASSERT_FALSE(check(painleve, problem, v).empty());
    const long before = testing::allocations;
    check(painleve, problem, still);
    check(painleve, problem, v);
    EXPECT_EQ(testing::allocations - before, 0);
}

}  // namespace
}  // namespace stickslip
