// Every member of the family of piles is solved by pivots. Public implementations of Lemke's method end in rays or lose
// their basis on part of it from ten contacts on.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "solvers/lemke.hpp"
#include "support/piles.hpp"

namespace stickslip {
namespace {

using namespace testing;

struct Family {
    int dim, facets;
};
constexpr Family families[] = {{2, 2}, {3, 4}, {3, 8}};

Pile pile_of(const Family& family, int contacts) {
    Pile pile;
    pile.dim = family.dim;
    pile.facets = family.facets;
    pile.contacts = contacts;
    return pile;
}

// Solves from nothing and says what it took; the answer is judged by residual() alone.
void expect_solved(const Pile& pile, std::uint32_t seed) {
    const StepProblem problem = pile.problem(seed);
    ASSERT_EQ(problem.contacts.size(), pile.contacts);
    LemkeSolver solver;
    StepSolution solution;
    const auto start = std::chrono::steady_clock::now();
    const SolveReport report = solver.solve(problem, solution);
    const double ms = 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("dim %d, %d facets, %d contacts%s%s: %d pivots, %.2f ms\n", pile.dim, pile.facets, pile.contacts,
                pile.joints ? ", joints" : "", pile.glued ? ", glued" : "", report.iterations, ms);
    EXPECT_EQ(report.status, Status::ok) << report.reason;
    EXPECT_LT(residual(problem, solution).max(), 1e-10);
    // a path that works needs a few pivots per contact; the largest met is 13
    EXPECT_LT(report.iterations, 40 * pile.contacts);
}

TEST(Piles, EverySmallOneIsSolved) {
    for (const Family& family : families)
        for (const int n : {5, 10, 20, 50})
            for (std::uint32_t seed = 0; seed < 3; ++seed) expect_solved(pile_of(family, n), seed);
}

TEST(Piles, LargeOnesAreSolved) {
    for (const Family& family : families)
        for (const int n : {100, 200}) expect_solved(pile_of(family, n), 0);
}

TEST(Piles, WithBallJointsAndHingesBetweenNeighbours) {
    for (const Family& family : families)
        for (const int n : {5, 10, 20, 50, 100, 200})
            for (std::uint32_t seed = 0; seed < (n <= 20 ? 3u : 1u); ++seed) {
                Pile pile = pile_of(family, n);
                pile.joints = true;
                expect_solved(pile, seed);
            }
}

// Where a joint holds the point of a contact, its row of W vanishes.
TEST(Piles, WithContactsThatJointsHold) {
    for (const Family& family : families)
        for (const int n : {5, 10, 20, 50, 100})
            for (std::uint32_t seed = 0; seed < (n <= 20 ? 3u : 1u); ++seed) {
                Pile pile = pile_of(family, n);
                pile.joints = pile.glued = true;
                expect_solved(pile, seed);
            }
}

// The next step of the same pile: all contacts keep their modes, and one factorisation with them is the answer.
TEST(Piles, AStepWithAnUnchangedBasisCostsOneFactorisation) {
    for (const Family& family : families)
        for (const int n : {10, 20, 50}) {  // larger ones have idle contacts, whose mode is free
            StepProblem problem = pile_of(family, n).problem(3);
            LemkeSolver solver;
            StepSolution solution;
            ASSERT_EQ(solver.solve(problem, solution).status, Status::ok);
            EXPECT_GT(solver.work().pivots, n);
            problem.r *= 1 + 1e-6;  // all laws are homogeneous: the impulses grow, the basis stays
            const SolveReport report = solver.solve(problem, solution);
            EXPECT_EQ(report.status, Status::ok);
            EXPECT_LT(report.residual.max(), 1e-10);
            EXPECT_EQ(solver.work().pivots, 0);
            EXPECT_EQ(solver.work().factorisations, 1) << family.dim << " " << family.facets << " " << n;
        }
}

// Another load changes some modes: pivots start from the basis of the last step and need fewer than from nothing.
TEST(Piles, AChangedLoadStartsFromTheLastBasis) {
    int warm = 0, cold = 0;
    for (const Family& family : families)
        for (std::uint32_t seed = 0; seed < 4; ++seed) {
            StepProblem problem = pile_of(family, 60).problem(seed);
            LemkeSolver solver;
            StepSolution solution;
            ASSERT_EQ(solver.solve(problem, solution).status, Status::ok);
            Random random(seed);
            for (Eigen::Index k = 0; k < problem.r.size(); ++k) problem.r[k] *= random.uniform(0.8, 1.2);
            const SolveReport report = solver.solve(problem, solution);
            EXPECT_EQ(report.status, Status::ok) << report.reason;
            EXPECT_LT(residual(problem, solution).max(), 1e-10);
            warm += solver.work().pivots;
            LemkeSolver fresh;
            StepSolution from_nothing;
            ASSERT_EQ(fresh.solve(problem, from_nothing).status, Status::ok);
            cold += fresh.work().pivots;
        }
    std::printf("%d pivots from the last basis, %d from nothing\n", warm, cold);
    EXPECT_LT(warm, cold / 2);
}

TEST(Piles, SlipperyAndRoughOnesAreSolved) {
    for (const Family& family : families)
        for (const double mu : {0.0, 0.01, 2.0, 10.0}) {
            Pile pile = pile_of(family, 40);
            pile.mu = mu;
            expect_solved(pile, 7);
        }
}

}  // namespace
}  // namespace stickslip
