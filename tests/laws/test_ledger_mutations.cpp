// The ledger must notice: a stage booked with one impulse falsified by 1e-6, or with the work of one row dropped, must
// leave an imbalance far above rounding. A ledger that closes by construction would not.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "support/models.hpp"

namespace stickslip {
namespace {

using testing::set;

// Passes every stage on to the true solver and keeps nothing but what the test needs.
struct BookedStep {
    std::unique_ptr<Simulation> simulation;
    const Step& step() const { return simulation->step(); }
};

// A model run up to a step in which the wanted impulse is at work.
BookedStep run_until(const std::string& spec, const OptionValues& options,
                     const std::function<bool(const Step&)>& wanted) {
    BookedStep booked{std::make_unique<Simulation>(load_model(spec, options))};
    while (booked.simulation->advance())
        if (wanted(booked.step())) return booked;
    ADD_FAILURE() << "the wanted step never came in " << spec;
    return booked;
}

// Books the last step again, from its own start, with what the test falsified.
EnergyLedger book_again(const BookedStep& booked, const StepProblem& problem, const StepSolution& solution,
                        const VecX& v1) {
    const Step& step = booked.step();
    const System& system = *booked.simulation->model().system;
    EnergyLedger ledger;
    ledger.begin(system, {step.t0, step.q0, step.v0});
    Stage stage{.t0 = step.t0, .t1 = step.t1};
    stage.q0 = &step.q0;
    stage.v0 = &step.v0;
    stage.q1 = &step.q1;
    stage.v1 = &v1;
    stage.problem = &problem;
    stage.solution = &solution;
    stage.impulses = &step.terms.impulses;
    stage.mass = &step.terms.mass;
    stage.stabilisation = &step.terms.stabilisation;
    stage.alpha = stage.gamma = 0.5;
    ledger.book(system, stage);
    return ledger;
}

// The yardstick is the energy that the step itself moved.
double share(const EnergyLedger& ledger) {
    return std::abs(ledger.imbalance()) / (ledger.now().kinetic + ledger.start().kinetic);
}

double imbalance_of(const BookedStep& booked, const StepSolution& solution) {
    return share(book_again(booked, booked.step().problem, solution, booked.step().v1));
}

constexpr double rounding = 1e-13;

TEST(LedgerMutations, SlidingFrictionImpulse) {
    const BookedStep booked =
        run_until(STICKSLIP_SCENES "/sliding-box.yaml", {}, [](const Step& s) { return s.t1 > 0.1; });
    EXPECT_LT(imbalance_of(booked, booked.step().solution), rounding);
    StepSolution falsified = booked.step().solution;
    for (Eigen::Index i = 0; i < falsified.p.size(); ++i)
        if (i % 3 != 0) falsified.p[i] *= 1 + 1e-6;
    EXPECT_GT(imbalance_of(booked, falsified), 100 * rounding);
    StepSolution dropped = booked.step().solution;
    dropped.p[1] = dropped.p[2] = 0;
    EXPECT_GT(imbalance_of(booked, dropped), 1e6 * rounding);
}

TEST(LedgerMutations, NormalImpulseOfAnImpact) {
    const BookedStep booked =
        run_until("mechanism:bouncing-ball", {}, [](const Step& s) { return !s.contacts.empty(); });
    EXPECT_LT(imbalance_of(booked, booked.step().solution), rounding);
    StepSolution falsified = booked.step().solution;
    falsified.p[0] *= 1 + 1e-6;
    EXPECT_GT(imbalance_of(booked, falsified), 1e3 * rounding);
}

TEST(LedgerMutations, JointReaction) {
    const BookedStep booked =
        run_until("mechanism:pendulum", {set("scheme.step", "0.05")}, [](const Step& s) { return s.t1 > 0.4; });
    EXPECT_LT(imbalance_of(booked, booked.step().solution), rounding);
    StepSolution falsified = booked.step().solution;
    falsified.lambda[0] *= 1 + 1e-6;
    EXPECT_GT(imbalance_of(booked, falsified), 100 * rounding);
    falsified.lambda[0] = 0;
    EXPECT_GT(imbalance_of(booked, falsified), 1e6 * rounding);
}

TEST(LedgerMutations, AppliedLoad) {
    const BookedStep booked = run_until("mechanism:block-stick-slip", {}, [](const Step& s) { return s.t1 > 0.1; });
    const Step& step = booked.step();
    const auto imbalance = [&](double factor) {
        // A load that did factor times the work that the problem contains.
        StepProblem problem = step.problem;
        problem.r[0] += (factor - 1) * step.terms.impulses.applied[0];
        return share(book_again(booked, problem, step.solution, step.v1));
    };
    EXPECT_LT(imbalance(1), rounding);
    EXPECT_GT(imbalance(1 + 1e-6), 100 * rounding);
}

TEST(LedgerMutations, VelocityThatIsNotTheSolution) {
    const BookedStep booked = run_until("mechanism:double-pendulum-wall", {}, [](const Step& s) { return s.t1 > 0.3; });
    const Step& step = booked.step();
    VecX wrong = step.v1;
    wrong[2] += 1e-9;
    EXPECT_GT(share(book_again(booked, step.problem, step.solution, wrong)), 1e3 * rounding);
}

}  // namespace
}  // namespace stickslip
