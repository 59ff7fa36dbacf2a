// Painleve's rod beyond the critical friction. At force level the sliding rod has no contact force (omega = 0) or two
// (omega = 10); the step in impulses has a solution, and what each scheme takes is one of the enumerated ones:
//
//   moreau-jean, both cases, every solver   the impact without collision: the tip stops, p -> (0.3, 0.4) N s as h -> 0.
//                                           Its rows are those at the start of the step: exactly the `frozen` problem.
//   euler, omega = 0                        the same: the rod does not turn, so its rows at the end are those at the start.
//   euler, omega = 10                       its rows at q (+) h v see the curvature: the `curved` problem up to O(h).
//                                           lemke, auto and nsgs let go (p = 0), which is exactly a `curved` solution.
//                                           cone-newton stops the tip where that is a solution (h <= 1e-3).
#include <array>
#include <optional>

#include "runs.hpp"

namespace stickslip::analytic {
namespace {

struct Answer {
    Vec2 p;  // [N s]
    Vec3 v;
};

// One step of the rod in case `omega`; also checks that the step is certified.
struct OneStep {
    OneStep(const std::string& scheme, const std::string& solver, const std::vector<double>& start, double h)
        : simulation(mechanism("painleve-rod", Set{{"scheme.name", scheme}, {"solver.name", solver}}("run.step", h)(
                                                   "run.end", 2 * h)("omega0", start[0])("vx0", start[1]))) {
        EXPECT_NEAR(simulation.state().v[1], start[2], 1e-15);
        EXPECT_TRUE(simulation.advance());
        const Step& step = simulation.step();
        EXPECT_EQ(step.problem.contacts.size(), 1);
        EXPECT_LE(residual(step.problem, step.solution).max(), 1e-13);
        answer.p = step.solution.p.vec();
        answer.v = simulation.state().v;
    }
    Simulation simulation;
    Answer answer;
};

// All solutions of the step's own problem: open, stick, slip either way.
std::vector<Answer> enumerate(const StepProblem& problem) {
    const MatX A = problem.A.dense(), H = problem.contacts.jacobian.dense(problem.nodes());
    const double mu = problem.contacts.friction[0];
    Mat3 inverse = Mat3::Zero();
    for (int i = 0; i < 3; ++i) inverse(i, i) = 1 / A(i, i);  // the mass of the rod is diagonal
    const Eigen::Matrix2d W = H * inverse * H.transpose();
    const Vec3 free = inverse * problem.r;
    const Vec2 u = H * free + problem.c;
    std::vector<Answer> found;
    const auto add = [&](const Vec2& p) { found.push_back({p, free + inverse * (H.transpose() * p)}); };
    if (u[0] >= 0) add(Vec2::Zero());
    const Vec2 stick = -Vec2(W(1, 1) * u[0] - W(0, 1) * u[1], W(0, 0) * u[1] - W(1, 0) * u[0]) / W.determinant();
    if (stick[0] >= 0 && std::abs(stick[1]) <= mu * stick[0]) add(stick);
    for (const double s : {-1.0, 1.0}) {
        const Vec2 along(1, -mu * s);
        const double p = -u[0] / W.row(0).dot(along);
        if (p > 0 && s * (u[1] + p * W.row(1).dot(along)) > 0) add(p * along);
    }
    return found;
}

double distance(const Answer& a, const std::vector<double>& row) {
    return std::max((a.p - Vec2(row[2], row[3])).norm(), (a.v - Vec3(row[4], row[5], row[6])).norm());
}

// Distance to the nearest solution listed for this case and step.
double distance_to(const Answer& answer, const std::string& list, double omega, double h) {
    static const Reference reference("painleve-rod");
    double least = infinity;
    for (const std::vector<double>& row : reference.rows(list))
        if (row[0] == omega && row[1] == h) least = std::min(least, distance(answer, row));
    return least;
}

const std::vector<double> steps{0.1, 0.01, 1e-3, 1e-4, 1e-6};

TEST(PainleveRod, MoreauJeanStopsTheTipByAnImpactWithoutCollision) {
    const Reference reference("painleve-rod");
    for (const std::vector<double>& start : reference.rows("case")) {
        for (const SolverEntry& solver : solvers()) {
            for (const double h : steps) {
                SCOPED_TRACE(std::string(solver.name) + ", omega " + text_of(start[0]) + ", step " + text_of(h));
                OneStep one("moreau-jean", solver.name, start, h);
                EXPECT_LT(distance_to(one.answer, "frozen", start[0], h), 1e-13);
                // The impulse does not vanish with the step: it is that of the impact at h = 0 in which something happens.
                const std::vector<double> impact = reference.row("frozen", {start[0], 0.0});
                EXPECT_NEAR(impact[2], 0.3, 1e-14);
                EXPECT_LT(distance(one.answer, impact), 10 * h);
                EXPECT_EQ(one.simulation.step().contacts[0].mode, ContactMode::stick);
            }
        }
    }
}

TEST(PainleveRod, EulerStopsTheTipWhereNoForceExists) {
    const std::vector<double> start = Reference("painleve-rod").row("case", {0.0});
    for (const SolverEntry& solver : solvers())
        for (const double h : steps)
            EXPECT_LT(distance_to(OneStep("euler", solver.name, start, h).answer, "frozen", 0, h), 1e-13)
                << solver.name << ", step " << h;
}

TEST(PainleveRod, EulerLetsGoWhereTwoForcesExist) {
    const std::vector<double> start = Reference("painleve-rod").row("case", {10.0});
    for (const std::string solver : {"lemke", "auto", "nsgs"}) {
        for (const double h : steps) {
            OneStep one("euler", solver, start, h);
            EXPECT_EQ(one.answer.p, Vec2::Zero()) << solver << ", step " << h;
            EXPECT_LT(distance_to(one.answer, "curved", 10, h), 1e-13) << solver << ", step " << h;
        }
    }
}

// Whatever a solver takes is one of the solutions of its own problem, and of the enumerated ones as h -> 0.
TEST(PainleveRod, EverySolutionIsOneOfTheEnumeratedOnes) {
    const Reference reference("painleve-rod");
    for (const std::vector<double>& start : reference.rows("case")) {
        for (const std::string& scheme : velocity_level_schemes()) {
            for (const SolverEntry& solver : solvers()) {
                for (const double h : steps) {
                    SCOPED_TRACE(scheme + " with " + solver.name + ", omega " + text_of(start[0]) + ", step " +
                                 text_of(h));
                    OneStep one(scheme, solver.name, start, h);
                    double own = infinity;
                    for (const Answer& answer : enumerate(one.simulation.step().problem))
                        own = std::min(own, (answer.v - one.answer.v).norm() + (answer.p - one.answer.p).norm());
                    EXPECT_LT(own, 1e-12);
                    EXPECT_LT(std::min(distance_to(one.answer, "frozen", start[0], h),
                                       distance_to(one.answer, "curved", start[0], h)),
                              30 * h);
                }
            }
        }
    }
}

// The number of solutions is that of the file: one, or three where the curvature is seen and the step is small.
TEST(PainleveRod, StepProblemsHaveAsManySolutionsAsTheFileLists) {
    const Reference reference("painleve-rod");
    for (const std::vector<double>& start : reference.rows("case")) {
        for (const std::string& scheme : velocity_level_schemes()) {
            for (const double h : steps) {
                const std::string list = scheme == "euler" ? "curved" : "frozen";
                std::size_t listed = 0;
                for (const std::vector<double>& row : reference.rows(list)) listed += row[0] == start[0] && row[1] == h;
                OneStep one(scheme, "lemke", start, h);
                EXPECT_EQ(enumerate(one.simulation.step().problem).size(), listed)
                    << scheme << ", omega " << start[0] << ", step " << h;
            }
        }
    }
}

// Below the critical friction of 4/3 the impulse of a step is a force times h, beyond it is not.
TEST(PainleveRod, ImpulseOfAStepVanishesOnlyBelowTheCriticalFriction) {
    for (const std::string& scheme : velocity_level_schemes()) {
        for (const double mu : {0.5, 1.0, 1.32, 1.34, 2.0, 5.0}) {
            const double h = 1e-7;
            Simulation simulation(
                mechanism("painleve-rod", Set{{"scheme.name", scheme}}("run.step", h)("run.end", 2 * h)("mu", mu)));
            ASSERT_TRUE(simulation.advance());
            const double normal = simulation.step().solution.p[0];
            if (mu < 4.0 / 3) {
                const double c2 = 0.2, s_c = 0.4;  // tan theta = 2
                EXPECT_NEAR(normal, h * g / (1 + 3 * c2 - 3 * mu * s_c), 1e-4 * normal) << scheme << ", mu " << mu;
            } else {
                EXPECT_NEAR(normal, 0.3, 1e-5) << scheme << ", mu " << mu;
            }
        }
    }
}

TEST(PainleveRod, RunsOnToRestWithEveryFriction) {
    for (const std::string& scheme : velocity_level_schemes()) {
        for (const char* solver : {"auto", "lemke"}) {
            for (const double mu : {0.3, 1.3, 1.4, 2.0, 10.0}) {
                for (const double omega : {0.0, 10.0, -10.0}) {
                    SCOPED_TRACE(scheme + " with " + solver + ", mu " + text_of(mu) + ", omega " + text_of(omega));
                    const RunSummary end =
                        run(mechanism("painleve-rod", Set{{"scheme.name", scheme}, {"solver.name", solver}}("mu", mu)(
                                                          "omega0", omega)("run.step", 1e-3)("run.end", 2.0)));
                    EXPECT_LT(end.gap_violation_max, 0.02);
                    EXPECT_LE(std::abs(end.imbalance), 1e-12 * end.energy_scale);
                }
            }
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
