// Projected gradients with a momentum per contact: where they are tried, and how far they come.
#include "solvers/accelerated_gradient.hpp"

#include <gtest/gtest.h>

#include "solvers/admm.hpp"
#include "stickslip/threads.hpp"
#include "support/free_motion.hpp"
#include "support/piles.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

constexpr double share = 1e-3;  // of the speeds: what steps are certified by

struct Outcome {
    bool reached = false;
    int iterations = 0;
    double residual = 0;  // measured anew
    StepSolution point;
};

Outcome descend(const StepProblem& problem, RowWeights& weights, const StepSolution& start, double tol) {
    AcceleratedGradient gradient;
    EXPECT_TRUE(gradient.suits(problem));
    Outcome outcome{.point = start};
    SolveReport report;
    report.residual = residual(problem, start);
    WorkMeter meter;
    outcome.reached = gradient.improve(problem, weights, {.max_idle = 100}, tol, meter, outcome.point, report);
    outcome.iterations = report.iterations;
    outcome.residual = residual(problem, outcome.point).max();
    EXPECT_EQ(outcome.residual, report.residual.max());
    return outcome;
}

void expect_solved(const Pile& pile) {
    const StepProblem problem = pile.problem(3);
    RowWeights weights;
    const StepSolution start = free_motion(problem, weights);
    const double tol = share * weights.speed();
    const Outcome outcome = descend(problem, weights, start, tol);
    EXPECT_TRUE(outcome.reached) << outcome.residual / tol;
    EXPECT_LE(outcome.residual, tol);
    const Outcome again = descend(problem, weights, start, tol);
    EXPECT_EQ(again.iterations, outcome.iterations);
    EXPECT_EQ((again.point.v - outcome.point.v).cwiseAbs().maxCoeff(), 0) << "the same bits";
}

TEST(AcceleratedGradient, PilesOfSpheresAreSolvedFromNothing) {
    expect_solved({.dim = 3, .facets = 0, .contacts = 600});
    expect_solved({.dim = 3, .facets = 8, .contacts = 600});
}

// Bodies and contacts are moved in parts that threads take as they come: four of contacts, and the whole is judged in two.
TEST(AcceleratedGradient, HasTheSameBitsForAnyNumberOfThreads) {
    const StepProblem problem = Pile{.dim = 3, .facets = 0, .contacts = 600}.problem(3);
    const auto solved = [&](int count) {
        set_threads(count);
        RowWeights weights;
        const StepSolution start = free_motion(problem, weights);
        const Outcome outcome = descend(problem, weights, start, share * weights.speed());
        set_threads(1);
        return outcome;
    };
    const Outcome one = solved(1);
    EXPECT_GE(one.iterations, 50);
    for (const int count : {2, 4}) {
        const Outcome other = solved(count);
        EXPECT_EQ(other.iterations, one.iterations) << count << " threads";
        EXPECT_EQ(other.residual, one.residual) << count << " threads";
        EXPECT_TRUE(other.point.v == one.point.v && other.point.p == one.point.p && other.point.modes == one.point.modes) << count << " threads";
    }
}

// A lattice of discs has more contacts than it has room for motions: slower, and not solved from nothing with 600.
TEST(AcceleratedGradient, PilesOfDiscsAreSolvedFromNothing) { expect_solved({.dim = 2, .contacts = 150}); }

// What it is for: jammed heaps. In the time of a back substitution it takes several of its iterations.
TEST(AcceleratedGradient, JammedSpheresNeedFewIterations) {
    StepProblem problem;
    StepSolution start;
    load_problem(STICKSLIP_TEST_DATA "/problems/spheres_274_contacts.h5", problem, start);
    RowWeights weights;
    ASSERT_TRUE(weights.prepare(problem));
    const Outcome outcome = descend(problem, weights, start, share * weights.speed());
    EXPECT_TRUE(outcome.reached);
    EXPECT_LE(outcome.iterations, 2000);
}

TEST(AcceleratedGradient, IsNotTriedOnWallsAndJoints) {
    AcceleratedGradient gradient;
    StepProblem wall;
    StepSolution unused;
    load_problem(STICKSLIP_TEST_DATA "/problems/wall_6x6_hit.h5", wall, unused);
    EXPECT_FALSE(gradient.suits(wall)) << "bodies that touch at many points";
    EXPECT_FALSE(gradient.suits(Pile{.contacts = 100, .joints = true}.problem(1)));
    EXPECT_TRUE(gradient.suits(Pile{.contacts = 100}.problem(1)));
}

}  // namespace
}  // namespace stickslip
