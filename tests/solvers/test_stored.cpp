// Steps that some solver once could not certify: `auto` must, warm and cold.
#include <gtest/gtest.h>

#include <filesystem>

#include "stickslip/solver.hpp"

namespace stickslip {
namespace {

// [m/s] of what the contacts have to stop, by dense matrices.
double fastest_contact(const StepProblem& problem) {
    const VecX v = problem.A.dense().partialPivLu().solve(problem.r);
    return (problem.contacts.jacobian.dense(problem.nodes()) * v + VecX(problem.c.vec())).cwiseAbs().maxCoeff();
}

TEST(StoredProblems, AutoCertifiesEachWarmAndCold) {
    int count = 0;
    for (const auto& file : std::filesystem::directory_iterator(STICKSLIP_TEST_DATA "/problems")) {
        if (file.path().extension() != ".h5") continue;
        ++count;
        for (const bool cold : {false, true}) {
            StepProblem problem;
            StepSolution solution;
            load_problem(file.path().string(), problem, solution);
            if (cold) {
                solution = {};
                solution.size_to(problem);
            }
            const SolveReport report = make_solver("auto")->solve(problem, solution);
            EXPECT_EQ(report.status, Status::ok) << file.path() << (cold ? " cold" : " warm");
            const Residual res = residual(problem, solution);
            EXPECT_LE(res.max(), report.tol);
            // The load of a guess counts up to ten times the speeds.
            EXPECT_LE(report.tol, (cold ? 2 : 20) * default_share * fastest_contact(problem)) << file.path();
            EXPECT_LE(res.dynamics, 1e-12) << "momentum closes to rounding whatever the contacts left";
        }
    }
    EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace stickslip
