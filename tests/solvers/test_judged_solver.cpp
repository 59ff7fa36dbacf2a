// Answers that a solver holds for good and the certificate does not.
#include <gtest/gtest.h>

#include "solvers/judged_solver.hpp"

using namespace stickslip;

namespace {

// Comes as near as it is told to, and calls what it misses by a tenth its goal.
class Optimist final : public Solver {
public:
    explicit Optimist(std::vector<double>& goals) : goals_(goals) {}
    SolveReport solve(const StepProblem&, StepSolution&) override { return {}; }
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override {
        solution.size_to(problem);
        solution.p[0] = 1 - 1.1 * goals_.back();
        return {};
    }
    void set_tolerance(double tol, double) override { goals_.push_back(tol); }

private:
    std::vector<double>& goals_;
};

// One contact without friction: u = p - 1.
DelassusProblem one_contact() {
    DelassusProblem problem;
    Nodes nodes;
    nodes.add(1);
    problem.W.shape_diagonal(nodes);
    problem.W.block(0)(0, 0) = 1;
    problem.q = VecX::Constant(1, -1);
    problem.friction = {0.0};
    problem.facets = {0};
    return problem;
}

}  // namespace

// Sweeps creep: a quarter of the tolerance may take for ever where four fifths of it are enough.
TEST(JudgedSolver, AStoredProblemIsTriedAgainNoStricterThanNeeded) {
    std::vector<double> goals;
    JudgedSolver judged(std::make_unique<Optimist>(goals), 1e-6, false);
    DelassusSolution solution;
    EXPECT_EQ(judged.solve_local(one_contact(), solution).status, Status::ok);
    EXPECT_EQ(goals, (std::vector<double>{1e-6, 0.8 * 1e-6}));
    EXPECT_NEAR(solution.p[0], 1, 1e-6);
}
