// Islands are solved apart, each in proportion to its own speeds, with the same bits for any number of threads.
#include <gtest/gtest.h>

#include <filesystem>

#include "stickslip/solver.hpp"
#include "stickslip/threads.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

struct Threads {
    explicit Threads(int count) { set_threads(count); }
    ~Threads() { set_threads(1); }
};

std::string data(const char* name) { return std::string(STICKSLIP_TEST_DATA "/problems/") + name; }

// [m/s] rms over contacts of |H A^-1 r + c|, by dense matrices.
double speed_at_contacts(const StepProblem& problem) {
    const MatX H = problem.contacts.jacobian.dense(problem.nodes());
    const VecX v = problem.A.dense().partialPivLu().solve(problem.r);
    const VecX u = H * v + VecX(problem.c.vec());
    return u.norm() / std::sqrt(static_cast<double>(problem.contacts.size()));
}

// [m/s] rms over contacts of |diag(W) p|.
double load_at_contacts(const StepProblem& problem, const RowVec& p) {
    const MatX H = problem.contacts.jacobian.dense(problem.nodes());
    const VecX w = (H * problem.A.dense().partialPivLu().solve(H.transpose())).diagonal();
    return w.cwiseProduct(p.vec()).norm() / std::sqrt(static_cast<double>(problem.contacts.size()));
}

TEST(IslandSolver, GivesTheSameBitsForAnyNumberOfThreads) {
    for (const char* name : {"rocks_120_contacts.h5", "dominoes_119_contacts.h5"}) {
        StepProblem problem;
        StepSolution guess, first;
        load_problem(data(name), problem, guess);
        for (const int count : {1, 2, 4, 8}) {
            const Threads threads(count);
            StepSolution x = guess;
            make_solver("auto")->solve(problem, x);
            if (count == 1) first = x;
            EXPECT_EQ(first.v, x.v) << name << " " << count;
            EXPECT_EQ(first.p, x.p) << name << " " << count;
            EXPECT_EQ(first.modes, x.modes) << name << " " << count;
        }
    }
}

// A time that is used up is used up for every thread, also for one whose own clock has just started.
TEST(IslandSolver, ADeadlineHoldsOnEveryThread) {
    while (processor_time() < 0.01) {
    }
    int alone = 0;
    for (const int count : {1, 2, 4}) {
        const Threads threads(count);
        StepProblem problem;
        StepSolution x;
        load_problem(data("rocks_120_contacts.h5"), problem, x);
        const auto solver = make_solver("auto");
        Budget budget;
        budget.deadline = processor_time();
        solver->set_budget(budget);
        const int factorisations = solver->solve(problem, x).factorisations;
        if (count == 1) alone = factorisations;
        EXPECT_EQ(factorisations, alone) << count;
    }
    StepProblem problem;
    StepSolution x;
    load_problem(data("rocks_120_contacts.h5"), problem, x);
    EXPECT_GT(make_solver("auto")->solve(problem, x).factorisations, alone);
}

TEST(IslandSolver, DoesNotDependOnWhatItSolvedBefore) {
    const auto solver = make_solver("auto");
    StepProblem rocks, dominoes;
    StepSolution rocks_guess, dominoes_guess;
    load_problem(data("rocks_120_contacts.h5"), rocks, rocks_guess);
    load_problem(data("dominoes_119_contacts.h5"), dominoes, dominoes_guess);
    StepSolution alone = rocks_guess, after = rocks_guess, other = dominoes_guess;
    make_solver("auto")->solve(rocks, alone);
    solver->solve(dominoes, other);
    solver->solve(rocks, after);
    EXPECT_EQ(alone.v, after.v);
    EXPECT_EQ(alone.p, after.p);
}

TEST(IslandSolver, JudgesInProportionToSpeedsAndLoadsUnlessToldOtherwise) {
    for (const double faster : {1.0, 1e-6, 1e6}) {
        StepProblem problem;
        StepSolution x;
        load_problem(data("spheres_274_contacts.h5"), problem, x);
        problem.r *= faster;
        problem.c *= faster;
        problem.b *= faster;
        x.v *= faster;
        x.p *= faster;
        x.lambda *= faster;
        StepSolution strict = x;
        for (const bool warm : {true, false}) {
            StepSolution y = x;
            y.warm = warm;
            const double speed = speed_at_contacts(problem), load = warm ? load_at_contacts(problem, x.p) : 0.0;
            const double scale = std::min(std::max(speed, load), 10 * speed);
            const SolveReport report = make_solver("auto")->solve(problem, y);
            EXPECT_EQ(report.status, Status::ok) << faster;
            EXPECT_LE(residual(problem, y).max(), 1.01 * default_share * scale) << faster;
            EXPECT_NEAR(report.tol, default_share * scale, 0.05 * report.tol) << faster;
        }
        const SolveReport given = make_solver("auto", {{"tol", "3e-8", {}}})->solve(problem, strict);
        EXPECT_EQ(given.tol, 3e-8);
    }
}

TEST(IslandSolver, EndsWithinItsBudgetAndSaysSo) {
    StepProblem problem;
    StepSolution guess;
    load_problem(data("spheres_274_contacts.h5"), problem, guess);
    double last = infinity;
    for (const long factorisations : {1, 3, 10, 30}) {
        const auto solver = make_solver("auto");
        solver->set_budget({.factorisations = factorisations});
        StepSolution x = guess, again = guess;
        const SolveReport report = solver->solve(problem, x);
        EXPECT_LE(report.factorisations, factorisations + 1);
        EXPECT_LE(report.residual.max(), last) << factorisations;
        last = report.residual.max();
        solver->solve(problem, again);
        EXPECT_EQ(x.v, again.v) << "counts are deterministic";
        if (report.status != Status::ok) {
            EXPECT_EQ(report.uncertified_contacts, problem.contacts.size());
        }
    }
    // A deadline that has passed leaves one unit of work at most.
    const auto solver = make_solver("auto");
    solver->set_budget({.deadline = processor_time()});
    StepSolution x = guess;
    const SolveReport late = solver->solve(problem, x);
    EXPECT_LE(late.factorisations, 1);
    EXPECT_LE(late.iterations, 15) << "sweeps";
    EXPECT_EQ(late.residual.max(), residual(problem, x).max());
}

TEST(IslandSolver, SolvesIslandsOfJointsAloneToo) {
    ProblemBuilder build;
    const Vec3 inertia = box_inertia(1, Vec3(1, 1, 1));
    const int a = build.body(1, inertia, Vec3(1, 0, 0), Vec3::Zero()), b = build.body(1, inertia, Vec3(3, 0, 0), Vec3::Zero());
    const int c = build.body(2, inertia, Vec3(0, 1, 0), Vec3::Zero()), d = build.body(2, inertia, Vec3::Zero(), Vec3::Zero());
    build.point_joint(a, b, Vec3::Zero(), Vec3::Zero());
    build.point_joint(c, d, Vec3::Zero(), Vec3::Zero());
    const StepProblem problem = build.problem();
    for (const char* name : {"auto", "nsgs", "lemke", "direct-iterative"}) {
        StepSolution x;
        const SolveReport report = make_solver(name)->solve(problem, x);
        EXPECT_EQ(report.status, Status::ok) << name;
        EXPECT_NEAR(x.v[0], 2, 1e-12) << name;
        EXPECT_NEAR(x.v[6], 2, 1e-12) << name;
        EXPECT_NEAR(x.v[13], 0.5, 1e-12) << name;
        EXPECT_NEAR(x.v[19], 0.5, 1e-12) << name;
    }
}

TEST(IslandSolver, ABodyAtRestCostsNoFactorisation) {
    BoxStack stack;
    stack.boxes = 6;
    stack.masses.assign(6, 1.0);
    const StepProblem problem = stack.problem();
    const auto solver = make_solver("auto");
    StepSolution x;
    x.size_to(problem);
    EXPECT_GT(solver->solve(problem, x).factorisations, 0);
    const StepSolution before = x;
    const SolveReport report = solver->solve(problem, x);
    EXPECT_EQ(report.factorisations, 0);
    EXPECT_STREQ(report.solver, "rest");
    EXPECT_EQ(report.status, Status::ok);
    EXPECT_EQ(before.p, x.p);
    // Pushed anew it is solved anew.
    stack.push = Vec3(3, 0, 0);
    const StepProblem pushed = stack.problem();
    EXPECT_GT(solver->solve(pushed, x).factorisations, 0);
    EXPECT_LE(residual(pushed, x).max(), 1e-12);
}

}  // namespace
}  // namespace stickslip
