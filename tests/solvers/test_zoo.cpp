// Degenerate and hostile problems for every solver of the table. What solves must be certified by `auto`; any other solver
// certifies it or says that it did not, with a reason. Nothing throws, hangs or hands out NaN as a certified answer.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "stickslip/solver.hpp"
#include "support/piles.hpp"

namespace stickslip {
namespace {

using namespace testing;

// Every solver on one problem, with the cones it takes.
void check_every_solver(const std::string& name, const std::function<StepProblem(int facets)>& make, bool solvable) {
    for (const SolverEntry& entry : solvers())
        for (const int facets : {0, 4, 8}) {
            if (facets == 0 ? !entry.disc : !entry.polygon) continue;
            SCOPED_TRACE(name + ", solver " + entry.name + ", facets " + std::to_string(facets));
            const StepProblem problem = make(facets);
            StepSolution solution;
            SolveReport report;
            // `auto` solves problems this small to rounding whatever it is asked for; others are asked for it.
            const OptionValues exactly = std::strcmp(entry.name, "auto") == 0 ? OptionValues{} : OptionValues{{"tol", "1e-9", {}}};
            ASSERT_NO_THROW(report = make_solver(entry.name, exactly)->solve(problem, solution));
            const double truth = residual(problem, solution).max();
            if (report.status == Status::ok) {
                EXPECT_LE(truth, default_tolerance);
                EXPECT_GE(report.residual.max(), truth - 1e-14);  // it tests every law by itself too
                EXPECT_LE(report.residual.max() + report.rounding, default_tolerance);
                EXPECT_TRUE(solution.v.allFinite() && solution.lambda.allFinite() && solution.p.allFinite());
            } else {
                EXPECT_NE(std::strlen(report.reason), 0u) << to_string(report.status);
            }
            if (solvable && std::strcmp(entry.name, "auto") == 0) {
                EXPECT_EQ(report.status, Status::ok) << truth;
            }
            if (!solvable) {
                EXPECT_NE(report.status, Status::ok);
            }
        }
}

TEST(Zoo, AThousandContactsUnderOneBox) {
    const auto make = [](int facets) {
        ProblemBuilder build;
        const double mass = 5, h = 1e-3;
        build.body(mass, box_inertia(mass, Vec3(1, 1, 0.2)), Vec3(0.1, 0, 0), h * Vec3(0, 0, -9.81 * mass));
        for (int i = 0; i < 40; ++i)
            for (int j = 0; j < 25; ++j)
                build.contact(0, -1, Vec3(-0.5 + i / 39.0, -0.5 + j / 24.0, -0.1), Vec3::Zero(), 0.5, facets);
        return build.problem();
    };
    check_every_solver("carpet", make, true);
}

// A bar wedged between parallel walls: the two friction cones contain opposite forces, impulses are not bounded.
TEST(Zoo, BarWedgedBetweenWalls) {
    for (const double squeeze : {0.0, 0.3}) {
        const auto make = [&](int facets) {
            ProblemBuilder build;
            const double mass = 1, h = 1e-2;
            build.body(mass, box_inertia(mass, Vec3(1, 0.1, 0.1)), Vec3(0, squeeze, 0), h * Vec3(0, 0, -9.81 * mass));
            build.contact(0, -1, Vec3(-0.5, 0, 0), Vec3::Zero(), 0.8, facets, Vec3::UnitX());
            build.contact(0, -1, Vec3(0.5, 0, 0), Vec3::Zero(), 0.8, facets, -Vec3::UnitX());
            return build.problem();
        };
        check_every_solver("wedge", make, true);
    }
}

TEST(Zoo, NoFrictionAndTenfoldFriction) {
    for (const double mu : {0.0, 10.0}) {
        const auto box = [&](int facets) {
            BoxOnPlane scene;
            scene.mu = mu;
            scene.facets = facets;
            scene.velocity = Vec3(1, 0.3, -0.2);
            scene.force = Vec3(20, -5, 0);
            return scene.problem();
        };
        check_every_solver("box, mu " + std::to_string(mu), box, true);
        const auto pile = [&](int facets) {
            Pile maker;
            maker.mu = mu;
            maker.facets = facets;
            maker.contacts = 12;
            return maker.problem(2);
        };
        check_every_solver("pile, mu " + std::to_string(mu), pile, true);
    }
}

TEST(Zoo, MassRatiosOverTwelveDecades) {
    for (const double ratio : {1e-6, 1e-3, 1e3, 1e6}) {
        const auto make = [&](int facets) {
            BoxStack scene;
            scene.boxes = 3;
            scene.masses = {1, ratio};
            scene.facets = facets;
            return scene.problem();
        };
        check_every_solver("masses 1 : " + std::to_string(ratio), make, true);
    }
}

TEST(Zoo, EveryContactAndJointGivenTwice) {
    const auto make = [](int facets) {
        ProblemBuilder build;
        const double mass = 2, h = 1e-3;
        const Vec3 edges(0.4, 0.3, 0.2);
        for (int n = 0; n < 2; ++n)
            build.body(mass, box_inertia(mass, edges), Vec3(0.2, 0.1 * n, 0), h * Vec3(0, 0, -9.81 * mass));
        for (int copy = 0; copy < 2; ++copy) {
            for (int n = 0; n < 2; ++n)
                for (int i = 0; i < 4; ++i)
                    build.contact(n, -1, 0.5 * Vec3(i & 1 ? 0.4 : -0.4, i & 2 ? 0.3 : -0.3, -0.2), Vec3::Zero(), 0.4,
                                  facets);
            build.point_joint(1, 0, Vec3(-0.2, 0, 0), Vec3(0.2, 0, 0));
            build.turn_joint(1, 0, Mat3::Identity().topRows(2));
        }
        return build.problem();
    };
    check_every_solver("twice", make, true);
}

TEST(Zoo, JointsThatDemandDifferentVelocities) {
    const auto make = [](int facets) {
        ProblemBuilder build;
        build.body(1, Vec3::Ones(), Vec3(1, 2, 3), Vec3::Zero());
        build.joint_rows(1, {{0, MatX(VecX::Unit(6, 0).transpose())}});
        build.joint_rows(1, {{0, MatX(VecX::Unit(6, 0).transpose())}});
        build.contact(0, -1, Vec3(0, 0, -1), Vec3::Zero(), 0.3, facets);
        StepProblem problem = build.problem();
        problem.b[0] = 0;
        problem.b[1] = 1;
        return problem;
    };
    check_every_solver("contradicting joints", make, false);
}

TEST(Zoo, NothingAtAllAndOneContact) {
    check_every_solver(
        "empty", [](int) { return ProblemBuilder().problem(); }, true);
    const auto flight = [](int) {
        ProblemBuilder build;
        build.body(1, Vec3::Ones(), Vec3(1, 2, 3), Vec3::Zero());
        return build.problem();
    };
    check_every_solver("free flight", flight, true);
    const auto one = [](int facets) {
        ProblemBuilder build;
        build.body(1, Vec3::Constant(0.1), Vec3(1, 2, -3), Vec3::Zero(), Vec3(0, 1, 2));
        build.contact(0, -1, Vec3(0.1, 0.2, -0.5), Vec3::Zero(), 0.3, facets);
        return build.problem();
    };
    check_every_solver("one contact", one, true);
}

// A contact that moves nothing: harmless when it does not close, a contradiction when it does.
TEST(Zoo, ContactsWithoutAJacobian) {
    for (const double c : {0.0, 0.5, -0.5}) {
        const auto make = [&](int facets) {
            ProblemBuilder build;
            build.body(1, Vec3::Constant(0.1), Vec3(1, 0, -1), Vec3::Zero());
            build.contact(0, -1, Vec3(0, 0, -0.5), Vec3::Zero(), 0.3, facets);
            build.contact_rows(3, {{0, MatX::Zero(3, 6)}}, 0.3, facets);
            StepProblem problem = build.problem();
            problem.c[3] = c;
            return problem;
        };
        check_every_solver("zero rows, c = " + std::to_string(c), make, c >= 0);
    }
}

TEST(Zoo, NotANumberAnywhereIsNeverCertified) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto base = [](int facets) {
        ProblemBuilder build;
        build.body(2, Vec3::Constant(0.1), Vec3(0.3, 0, -1), Vec3::Zero());
        for (int i = 0; i < 4; ++i)
            build.contact(0, -1, 0.5 * Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, -1), Vec3::Zero(), 0.4, facets);
        build.turn_joint(0, -1, Vec3::UnitZ().transpose());
        return build.problem();
    };
    const std::pair<const char*, std::function<void(StepProblem&)>> poisons[] = {
        {"A", [&](StepProblem& p) { p.A.values[0] = nan; }},
        {"r", [&](StepProblem& p) { p.r[2] = nan; }},
        {"G", [&](StepProblem& p) { p.joints.jacobian.values[5] = nan; }},
        {"T", [&](StepProblem& p) { p.T[0] = nan; }},
        {"b", [&](StepProblem& p) { p.b[0] = nan; }},
        {"lower", [&](StepProblem& p) { p.lower[0] = nan; }},
        {"upper", [&](StepProblem& p) { p.upper[0] = nan; }},
        {"H", [&](StepProblem& p) { p.contacts.jacobian.values[2] = nan; }},
        {"S", [&](StepProblem& p) { p.S[3] = nan; }},
        {"c", [&](StepProblem& p) { p.c[4] = nan; }},
        {"friction", [&](StepProblem& p) { p.contacts.friction[1] = nan; }},
    };
    for (const auto& [name, poison] : poisons) {
        const auto make = [&](int facets) {
            StepProblem problem = base(facets);
            poison(problem);
            return problem;
        };
        check_every_solver(std::string("NaN in ") + name, make, false);
    }
}

}  // namespace
}  // namespace stickslip
