// Sub-steps: which attempt is taken, what is taken back, how often they are tried.
#include <cmath>

#include "collision/finder.hpp"
#include "simulation/runs.hpp"
#include "simulation/step_budget.hpp"
#include "simulation/substeps.hpp"
#include "solvers/work_meter.hpp"
#include "support/count_malloc.hpp"

namespace stickslip {
namespace {

using namespace testing;

// Steps of 1/4 s that count themselves. A step is certified if `good` says so of its start and its length; else its residual is its
// length to the power `growth`.
class CountingScheme final : public Scheme {
public:
    struct Work final : SchemeWork {
        int taken = 0;
        void remembered(FieldVisitor& visit) override { visit(taken); }
    };
    std::function<bool(double t, double h)> good;
    double growth = 1;
    mutable int calls = 0;

    std::unique_ptr<SchemeWork> make_work(const System&) const override { return std::make_unique<Work>(); }
    StepReport step(const System&, Solver&, State& x, double t_limit, Step& s) const override {
        ++calls;
        ++dynamic_cast<Work&>(*s.scheme_work).taken;
        StepReport report;
        report.h = std::min(0.25, t_limit - x.t);
        report.solves = 1;
        if (!good(x.t, report.h)) {
            report.status = report.solve.status = Status::not_converged;
            report.solve.residual.contacts = std::pow(report.h, growth);
            report.solve.tol = 1e-3;
        }
        s.memory.h = report.h;
        report.t = x.t += report.h;
        x.v[0] += report.h;
        return report;
    }
};

class SubstepsOfCountedSteps : public ::testing::Test {
protected:
    SubstepsOfCountedSteps() : model_(scene_of(stone)), state_(model_.state), solver_(make_solver("auto")) {
        scheme_.prepare(*model_.system, state_, step_);
    }
    // As the loop does under policy degrade; the reports of the steps that stay.
    std::vector<StepReport> run(double end) {
        std::vector<StepReport> reports;
        const SteppedRun run{*model_.system, scheme_, *solver_, state_, step_};
        while (state_.t < end) {
            StepReport report;
            start_.keep(state_, step_);
            if (!substeps_.go_on(run, report)) {
                report = scheme_.step(*model_.system, *solver_, state_, end, step_);
                if (report.status == Status::ok)
                    substeps_.rest();
                else
                    substeps_.improve(run, start_, end, wrong_, report);
            }
            reports.push_back(report);
        }
        return reports;
    }
    int taken() const { return dynamic_cast<const CountingScheme::Work&>(*step_.scheme_work).taken; }

    Model model_;
    CountingScheme scheme_;
    State state_;
    Step step_;
    Checkpoint start_;
    Substeps substeps_;
    Substeps::WrongMotion wrong_ = [](const StepReport&) { return std::string(); };
    std::unique_ptr<Solver> solver_;
};

TEST_F(SubstepsOfCountedSteps, GoodStepsAreLeftAlone) {
    scheme_.good = [](double, double) { return true; };
    EXPECT_EQ(run(2).size(), 8u);
    EXPECT_EQ(scheme_.calls, 8);
    EXPECT_EQ(substeps_.helped, 0);
}

TEST_F(SubstepsOfCountedSteps, HalvesAreTakenWhereTheyAreCertified) {
    const double v0 = state_.v[0];
    scheme_.good = [](double t, double h) { return t < 0.5 || t >= 0.75 || h <= 0.125; };
    const std::vector<StepReport> reports = run(1);
    ASSERT_EQ(reports.size(), 5u);
    for (const StepReport& report : reports) EXPECT_EQ(report.status, Status::ok);
    EXPECT_EQ(reports[1].parts, 1);
    EXPECT_EQ(reports[2].parts, 2);
    EXPECT_EQ(reports[2].t, 0.625);
    EXPECT_EQ(reports[3].t, 0.75);
    EXPECT_EQ(reports[4].parts, 1);
    EXPECT_EQ(reports[2].rejected, 3);  // the whole step and the two halves that were tried
    EXPECT_EQ(reports[2].solves, 4);
    EXPECT_EQ(substeps_.helped, 1);
    // Of what was taken back nothing is left, neither in the state nor in the memory of the scheme.
    EXPECT_EQ(taken(), 5);
    EXPECT_EQ(state_.v[0], v0 + 1);
    EXPECT_EQ(step_.memory.h, 0.25);
}

TEST_F(SubstepsOfCountedSteps, QuartersAreTakenWhereHalvesDoNotDo) {
    scheme_.good = [](double, double h) { return h <= 0.0625; };
    const std::vector<StepReport> reports = run(0.5);
    EXPECT_EQ(reports.size(), 8u);
    for (const StepReport& report : reports) EXPECT_EQ(report.parts, 4);
    EXPECT_EQ(substeps_.helped, 2);  // an attempt that helped is followed by the next at once
}

TEST_F(SubstepsOfCountedSteps, TheBestAttemptIsTakenWhereNoneIsGood) {
    // Only the first eighth of a second of each step fails: of two halves one is certified, and of four quarters two.
    scheme_.good = [](double t, double) { return std::fmod(t, 0.25) >= 0.125; };
    std::vector<StepReport> reports = run(0.25);
    ASSERT_EQ(reports.size(), 2u);  // one uncertified as with the whole step, but with half of its residual
    EXPECT_EQ(reports[0].status, Status::not_converged);
    EXPECT_EQ(reports[0].parts, 2);
    EXPECT_EQ(reports[1].status, Status::ok);
    EXPECT_EQ(substeps_.helped, 0);
}

TEST_F(SubstepsOfCountedSteps, TheWholeStepIsTakenWherePartsAreWorse) {
    scheme_.good = [](double, double) { return false; };
    scheme_.growth = -1;
    const std::vector<StepReport> reports = run(0.25);
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].parts, 1);
    EXPECT_EQ(reports[0].t, 0.25);
    EXPECT_EQ(taken(), 1);
}

TEST_F(SubstepsOfCountedSteps, PartsThatAreNoMechanicsAreNotTaken) {
    scheme_.good = [](double, double h) { return h < 0.25; };
    wrong_ = [](const StepReport& report) { return report.h < 0.25 ? std::string("tunnels") : std::string(); };
    const std::vector<StepReport> reports = run(0.25);
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].status, Status::not_converged);
}

// Attempts after 2, 4, 8, 16, 32, 32 steps that are not tried; each costs seven steps more than one that is not tried.
TEST_F(SubstepsOfCountedSteps, AttemptsThatDoNotHelpBecomeRare) {
    scheme_.good = [](double, double) { return false; };
    scheme_.growth = -1;
    const std::vector<StepReport> reports = run(0.25 * 100);
    std::vector<std::size_t> tried;
    for (std::size_t k = 0; k < reports.size(); ++k)
        if (reports[k].rejected > 0) tried.push_back(k);
    EXPECT_EQ(tried, (std::vector<std::size_t>{0, 3, 8, 17, 34, 67}));
    EXPECT_EQ(scheme_.calls, 100 + 6 * 7);
}

TEST_F(SubstepsOfCountedSteps, StepsOfNoLengthAreNotCut) {
    scheme_.good = [](double, double) { return false; };
    const SteppedRun run{*model_.system, scheme_, *solver_, state_, step_};
    start_.keep(state_, step_);
    StepReport report = scheme_.step(*model_.system, *solver_, state_, state_.t, step_);
    substeps_.improve(run, start_, 1, wrong_, report);
    EXPECT_EQ(scheme_.calls, 1);
}

// The start of every step is kept, for nothing mostly: that must cost no memory, in schemes that remember much either.
TEST(Checkpoint, CertifiedStepsUnderPolicyDegradeAllocateNothing) {
    if (!STICKSLIP_COUNTS_MALLOC) GTEST_SKIP();
    for (const char* scheme : {"moreau-jean", "trapezoidal", "schatzman-paoli"}) {
        Simulation simulation(scene_of(sliding_box, {set("run.scheme", scheme), set("run.end", "1")}));
        ASSERT_EQ(simulation.model().run.policy, Policy::degrade);
        for (int k = 0; k < 120; ++k) ASSERT_TRUE(simulation.advance());
        const long before = allocations;
        for (int k = 0; k < 60; ++k) simulation.advance();
        EXPECT_EQ(allocations - before, 0) << scheme;
    }
}

// What is taken back is all that a snapshot holds, for every scheme: taking the step again gives the same bits.
TEST(Checkpoint, AStepTakenBackAndTakenAgainIsTheSame) {
    for (const SchemeEntry& entry : schemes()) {
        const Model model = scene_of(sliding_box, {set("run.scheme", entry.name)});
        const auto scheme = make_scheme(entry.name, model.run.scheme.options);
        const auto solver = make_solver("auto");
        State state = model.state;
        Step step;
        step.tolerances = run_tolerances(model);
        scheme->prepare(*model.system, state, step);
        Checkpoint start;
        for (int k = 0; k < 80; ++k) {
            start.keep(state, step);
            static_cast<void>(scheme->step(*model.system, *solver, state, 0.5, step));
            const std::string once = state_hash(state);
            start.go_back(state, step);
            static_cast<void>(scheme->step(*model.system, *solver, state, state.t + 1e-3, step));
            start.go_back(state, step);
            static_cast<void>(scheme->step(*model.system, *solver, state, 0.5, step));
            ASSERT_EQ(state_hash(state), once) << entry.name << " step " << k + 1;
        }
    }
}

// What a solver is dealt.
class GreedySolver final : public Solver {
public:
    explicit GreedySolver(std::vector<Budget>& dealt) : dealt_(dealt) {}
    SolveReport solve(const StepProblem&, StepSolution&) override { return {}; }
    void set_budget(const Budget& budget) override { dealt_.push_back(budget); }

private:
    std::vector<Budget>& dealt_;
};

// A clock that only the test moves.
double clock_now = 0;
double told_time() { return clock_now; }

TEST(StepBudget, CountsAreTheSameForEveryStep) {
    std::vector<Budget> dealt;
    BudgetedSolver solver(std::make_unique<GreedySolver>(dealt), {.ms = {}, .factorisations = 20});
    for (int k = 0; k < 3; ++k) {
        solver.start_step();
        solver.end_step();
    }
    ASSERT_EQ(dealt.size(), 3u);
    for (const Budget& budget : dealt) {
        EXPECT_EQ(budget.factorisations, 20);
        EXPECT_EQ(budget.deadline, infinity);
    }
}

// A step of 20 ms, of which 18 are planned, and whose rest takes 4: the next solver gets 14, or 5.4 where the rest takes all of it.
TEST(StepBudget, TimeIsReservedForWhatFollowsTheSolve) {
    std::vector<Budget> dealt;
    BudgetedSolver solver(std::make_unique<GreedySolver>(dealt), {.ms = 20, .factorisations = {}}, told_time);
    StepProblem problem;
    StepSolution solution;
    const auto allowed = [&] {
        solver.start_step();
        return dealt.back().deadline - clock_now;
    };
    EXPECT_NEAR(allowed(), 0.018, 1e-9);
    static_cast<void>(solver.solve(problem, solution));
    clock_now += 0.003;
    solver.end_motion();
    clock_now += 0.001;
    solver.end_step();
    EXPECT_NEAR(allowed(), 0.014, 1e-9);
    EXPECT_NEAR(solver.end_of_motion() - clock_now, 0.017, 1e-9);
    static_cast<void>(solver.solve(problem, solution));
    clock_now += 0.03;
    solver.end_motion();
    solver.end_step();
    EXPECT_NEAR(allowed(), 0.0054, 1e-9);  // the share that is never reserved
    EXPECT_EQ(dealt.back().factorisations, Budget{}.factorisations);
}

// Works in units of half a millisecond until its deadline, then ends with 5 us for each contact.
class UnitSolver final : public Solver {
public:
    static constexpr double unit = 5e-4, ending = 5e-6;
    SolveReport solve(const StepProblem& problem, StepSolution&) override {
        while (clock_now < budget_.deadline) clock_now += unit;
        clock_now += ending * problem.contacts.size();
        return {};
    }
    void set_budget(const Budget& budget) override { budget_ = budget; }

private:
    Budget budget_;
};

// Finding contacts, solving, moving bodies and judging all take their time for each contact, and a heap grows from 200 contacts to 1000 from one
// step to the next: from the second step on none is longer than its budget by more than one unit of work, and none gives time away.
TEST(StepBudget, NoStepIsLongerThanItsBudgetByMoreThanAUnitOfWork) {
    BudgetedSolver solver(std::make_unique<UnitSolver>(), {.ms = 20, .factorisations = {}}, told_time);
    StepSolution solution;
    for (int step = 0; step < 20; ++step) {
        const int contacts = step < 10 ? 200 : 1000;
        StepProblem problem;
        for (int i = 0; i < contacts; ++i) problem.contacts.begin_contact({}, 1, 0, 0, 0, 0);
        const double start = clock_now;
        solver.start_step();
        clock_now += 1e-6 * contacts;  // contacts are found
        static_cast<void>(solver.solve(problem, solution));
        clock_now += 4e-6 * contacts;  // bodies are moved
        solver.end_motion();
        clock_now += 1e-6 * contacts;  // the step is judged
        solver.end_step();
        const double took = clock_now - start;
        if (step > 0) {
            EXPECT_LE(took, 0.018 + UnitSolver::unit + 1e-9) << step;
            EXPECT_GE(took, 0.015) << step;
        }
    }
}

// Forty boxes start 5 mm inside the floor. A budget that every step has used up before bodies are moved leaves each one
// sweep with the rows of the step, which is enough to have them out in the end.
TEST(StepBudget, OverlapGoesAwayWhenTheTimeIsUsedUp) {
    const char* const sunk = R"(
stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box-{i}: {repeat: {i: 40}, pose: [2*i, 0, 0.495], mass: 1, shapes: [{box: [1, 1, 1]}]}
run: {step: 1/60, end: 1, policy: budget, budget: {ms: 1e-6}}
)";
    Simulation simulation(scene_of(sunk));
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    for (int b = 1; b <= 40; ++b)
        EXPECT_GT(simulation.model().system->body_state(b, summary.q, summary.v).pose.position.z(), 0.497) << b;
    EXPECT_LT(summary.v.cwiseAbs().maxCoeff(), 1e-3);
    // Bodies are moved by the rows at hand: contacts are found once in a step, and once for the summary.
    EXPECT_LE(simulation.step().finder->counts.rows, summary.steps + 4);
}

TEST(WorkMeter, NoFactorisationIsBegunThatCannotEndInTime) {
    WorkMeter meter;
    Budget budget;
    budget.deadline = processor_time() + 10;
    meter.start(budget);
    EXPECT_FALSE(meter.used_up());
    EXPECT_FALSE(meter.used_up(1e9));
    EXPECT_TRUE(meter.used_up(1e12));
    meter.start({});
    EXPECT_FALSE(meter.used_up(1e30));
}

}  // namespace
}  // namespace stickslip
