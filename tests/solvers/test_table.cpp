// The table of solvers: names, options, cones.
#include <gtest/gtest.h>

#include "stickslip/solver.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using namespace stickslip::testing;

TEST(SolverTable, EveryEntryMakesASolverThatSolvesABoxAtRest) {
    for (const SolverEntry& entry : solvers()) {
        EXPECT_STRNE(entry.paper, "");
        EXPECT_STRNE(entry.summary, "");
        EXPECT_FALSE(entry.options().empty());
        for (const int facets : {0, 8}) {
            if (facets == 0 ? !entry.disc : !entry.polygon) continue;
            BoxOnPlane box;
            box.facets = facets;
            const StepProblem problem = box.problem();
            StepSolution x;
            const SolveReport report = make_solver(entry.name)->solve(problem, x);
            EXPECT_EQ(report.status, Status::ok) << entry.name;
            EXPECT_LE(residual(problem, x).max(), default_tolerance) << entry.name;
        }
    }
}

TEST(SolverTable, OptionsReachTheSolver) {
    BoxStack stack;
    stack.facets = 0;
    const StepProblem problem = stack.problem();
    StepSolution x;
    const SolveReport report =
        make_solver("nsgs", {{"max_sweeps", "3", {}}, {"polish", "false", {}}})->solve(problem, x);
    EXPECT_EQ(report.iterations, 3);
    EXPECT_EQ(report.status, Status::not_converged);
}

TEST(SolverTable, WrongNamesAreAnsweredWithTheNearest) {
    const auto message = [](const std::string& name, const OptionValues& values) {
        try {
            make_solver(name, values);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(message("ngss", {}).find("nsgs"), std::string::npos);
    EXPECT_NE(message("nsgs", {{"max_sweps", "3", {}}}).find("max_sweeps"), std::string::npos);
    EXPECT_NE(message("auto", {{"tol", "small", {}}}).find("number"), std::string::npos);
}

TEST(SolverTable, LemkeRefusesDiscsByName) {
    BoxOnPlane box;
    box.facets = 0;
    StepSolution x;
    const SolveReport report = make_solver("lemke")->solve(box.problem(), x);
    EXPECT_NE(report.status, Status::ok);
    EXPECT_NE(std::string(report.reason).find("polygon"), std::string::npos);
}
