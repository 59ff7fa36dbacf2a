// The default solver: everything certified, whoever has to answer.
#include <gtest/gtest.h>

#include "solvers/auto.hpp"
#include "support/free_motion.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using namespace stickslip::testing;

namespace {

void expect_certified(AutoSolver& solver, const StepProblem& problem, StepSolution& x, const char* what) {
    const SolveReport report = solver.solve(problem, x);
    EXPECT_EQ(report.status, Status::ok) << what << " " << report.residual.max();
    EXPECT_LE(residual(problem, x).max(), default_tolerance) << what;
    EXPECT_TRUE(x.warm);
}

TEST(Auto, WorkThatIsNoneIsRefused) {
    for (const char* work : {"0", "-1"}) EXPECT_THROW(make_solver("auto", {{"max_work", work, {}}}), Error) << work;
}

}  // namespace

TEST(Auto, HeavyTopOnTwentyBoxesIsCertifiedColdAndWarm) {
    for (const int facets : {0, 8}) {
        for (const double push : {0.0, 100.0, 1000.0, 8000.0}) {  // at rest, leaning, tipping, sliding
            BoxStack stack;
            stack.boxes = 20;
            stack.facets = facets;
            stack.masses.assign(20, 1.0);
            stack.masses[19] = 1000;
            stack.push = Vec3(push, push / 3, 0);
            const StepProblem problem = stack.problem();
            AutoSolver solver;
            StepSolution x;
            expect_certified(solver, problem, x, "cold");
            const std::vector<ContactMode> modes = x.modes;
            const SolveReport again = solver.solve(problem, x);
            EXPECT_EQ(again.status, Status::ok);
            EXPECT_EQ(x.modes, modes);
            // The modes are known; directions of sliding on a disc may need Newton's last steps again.
            EXPECT_LE(again.factorisations, facets == 0 && push >= 1000 ? 4 : 1);
            EXPECT_LT(residual(problem, x).max(), 1e-12);
            if (push == 0) {
                EXPECT_LT(x.v.cwiseAbs().maxCoeff(), 1e-15);
                double weight = 0;
                for (int i = 0; i < 4; ++i) weight += x.p[3 * i];
                EXPECT_NEAR(weight, 1019 * 9.81e-3, 1e-12);
            }
        }
    }
}

// Islands that come after the budget is used up are swept a few times all the same: bodies that feel no contact fall into each other.
TEST(Auto, ContactsAreFeltWhenTheBudgetIsUsedUp) {
    BoxStack stack;
    stack.boxes = 5;
    stack.masses = {1, 2, 1, 3, 1};
    stack.push = Vec3(5, 2, 0);
    const StepProblem problem = stack.problem();
    RowWeights weights;
    const StepSolution free = free_motion(problem, weights);
    AutoSolver solver;
    Budget nothing;
    nothing.factorisations = 0;
    solver.set_budget(nothing);
    StepSolution x;
    const SolveReport report = solver.solve(problem, x);
    EXPECT_EQ(report.factorisations, 0);
    EXPECT_GT(x.p.cwiseAbs().maxCoeff(), 0);
    EXPECT_LT(residual(problem, x).max(), 0.5 * residual(problem, free).max());
    EXPECT_LT(residual(problem, x).dynamics, 1e-12) << "momentum is kept whatever the contacts lack";
}

TEST(Auto, RandomRedundantProblemsWithMassRatiosAreAllCertified) {
    RandomProblem random;
    random.mass_low = 1e-2;
    random.mass_high = 1e2;
    random.polygons_only = false;
    AutoSolver solver;
    int count = 0;
    for (const auto& [nodes, contacts, joints, skew] :
         {std::tuple{4, 6, 2, 0.0}, {4, 6, 2, 0.1}, {10, 25, 2, 0.0}, {20, 20, 5, 0.02}, {10, 40, 5, 0.0}}) {
        random.nodes = nodes;
        random.contacts = contacts;
        random.joints = joints;
        random.skew = skew;
        for (std::uint32_t seed = 0; seed < 60; ++seed, ++count) {
            const StepProblem problem = random.problem(seed);
            StepSolution x;
            expect_certified(solver, problem, x,
                             ("nodes " + std::to_string(nodes) + " seed " + std::to_string(seed)).c_str());
        }
    }
    EXPECT_EQ(count, 300);
}

TEST(Auto, RepeatedJointsAndContactsMoveLikeSingleOnes) {
    const auto build = [](int copies) {
        ProblemBuilder b;
        const int a = b.body(5, box_inertia(5, Vec3(1, 1, 1)), Vec3(0.3, 0, -0.2), Vec3(0, 0, -0.05), Vec3(0, 1, 0));
        const int c = b.body(0.01, box_inertia(0.01, Vec3(0.1, 0.1, 0.1)), Vec3::Zero(), Vec3(0, 0, -1e-4));
        for (int k = 0; k < copies; ++k) {
            b.point_joint(a, c, Vec3(0, 0, -0.5), Vec3(0, 0, 0.05));
            b.contact(c, -1, Vec3(0, 0, -0.05), Vec3::Zero(), 0.6, 0);
        }
        return b.problem();
    };
    AutoSolver solver;
    StepSolution one, two;
    expect_certified(solver, build(1), one, "one");
    expect_certified(solver, build(3), two, "three");
    EXPECT_LT((one.v - two.v).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(Auto, OneContactShortcutAgreesWithTheGeneralWay) {
    Random random(4);
    AutoSolver solver;
    NsgsSolver sweeps;
    for (int k = 0; k < 300; ++k) {
        const int dofs[] = {6, 3, 4};
        const int d = dofs[k % 3];
        const MatX root = random.matrix(d, d);
        MatX block = MatX::Identity(d, d) + root * root.transpose();
        if (k % 2) block = VecX(block.diagonal()).asDiagonal();
        ProblemBuilder b;
        b.node(block, random.vector(d));
        const int dim = 1 + k % 3;
        b.contact_rows(dim, {{0, random.matrix(dim, d)}}, 0.4, k % 5 == 0 ? 8 : 0);
        StepProblem problem = b.problem();
        for (int i = 0; i < dim; ++i) problem.c[i] = 0.1 * random.normal();
        if (k % 4 == 0) problem.S.setConstant(0.1);
        StepSolution x, y;
        const SolveReport report = solver.solve(problem, x);
        EXPECT_EQ(report.status, Status::ok);
        const Residual judged = residual(problem, x);
        EXPECT_NEAR(judged.max(), report.residual.max(), 1e-14);
        EXPECT_LT(judged.max(), 1e-12);
        if (sweeps.solve(problem, y).status == Status::ok) {
            EXPECT_LT((x.v - y.v).norm(), 1e-9);
            EXPECT_EQ(x.modes[0], y.modes[0]);
        }
    }
}

TEST(Auto, NothingToSolveIsSolved) {
    AutoSolver solver;
    StepSolution x;
    StepProblem empty;
    empty.A.shape_diagonal(Nodes{});
    empty.size_to_rows();
    EXPECT_EQ(solver.solve(empty, x).status, Status::ok);

    ProblemBuilder b;
    for (int n = 0; n < 3; ++n) b.body(2, Vec3(1, 2, 3), Vec3(1, 2, n), Vec3(0, 0, -1));
    const StepProblem flying = b.problem();
    EXPECT_EQ(solver.solve(flying, x).status, Status::ok);
    for (int n = 0; n < 3; ++n) EXPECT_NEAR(x.v[6 * n + 2], n - 0.5, 1e-15);
}

TEST(Auto, ContradictingRowsAreNeverCalledSolved) {
    ProblemBuilder b;
    const int body = b.body(1, Vec3(1, 1, 1), Vec3::Zero(), Vec3::Zero());
    for (int k = 0; k < 2; ++k) b.point_joint(body, -1, Vec3::Zero(), Vec3::Zero(), Vec3::UnitX().transpose());
    b.contact(body, -1, Vec3::Zero(), Vec3::Zero(), 0.5, 0);
    StepProblem problem = b.problem();
    problem.b[0] = 1;
    problem.b[1] = -1;
    AutoSolver solver;
    StepSolution x;
    const SolveReport report = solver.solve(problem, x);
    EXPECT_NE(report.status, Status::ok);
    EXPECT_GT(residual(problem, x).max(), 0.1);
    EXPECT_EQ(residual(problem, x).max(), report.residual.max());
    EXPECT_STRNE(report.reason, "");
}

TEST(Auto, BoxedRowsAmongContacts) {
    // A crate dragged by a winch that holds at most F: it sticks while F stays below mu m g, else slides.
    for (const double share : {0.5, 3.0}) {
        BoxOnPlane box;
        box.facets = 0;
        ProblemBuilder b;
        const double step = box.step, weight = box.mass * 9.81;
        const int crate = b.body(box.mass, box_inertia(box.mass, box.edges), Vec3::Zero(), Vec3(0, 0, -weight * step));
        for (int i = 0; i < 4; ++i)
            b.contact(crate, -1, 0.5 * Vec3(i & 1 ? .4 : -.4, i & 2 ? .3 : -.3, -.2), Vec3::Zero(), box.mu, 0);
        b.point_joint(crate, -1, Vec3::Zero(), Vec3::Zero(), Vec3::UnitX().transpose());
        StepProblem problem = b.problem();
        problem.b[0] = 0.2;
        problem.upper[0] = share * box.mu * weight * step;
        problem.lower[0] = -problem.upper[0];
        AutoSolver solver;
        StepSolution x;
        expect_certified(solver, problem, x, "winch");
        EXPECT_NEAR(x.lambda[0], problem.upper[0], 1e-15);
        EXPECT_NEAR(x.v[0], std::max(0.0, share - 1) * box.mu * 9.81 * step, 1e-15);
    }
}

TEST(Auto, EveryStepOfASlowlyTurningPushIsCertifiedFromTheLastOne) {
    AutoSolver solver;
    StepSolution x;
    for (int k = 0; k < 200; ++k) {
        BoxStack stack;
        stack.boxes = 5;
        stack.facets = 0;
        stack.edge = 1;
        stack.push = 0.05 * k * Vec3(std::cos(0.05 * k), std::sin(0.05 * k), 0);
        expect_certified(solver, stack.problem(), x, ("step " + std::to_string(k)).c_str());
    }
}
