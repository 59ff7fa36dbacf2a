// Who judges a step, what is refused, and what a refused run leaves behind.
#include <filesystem>
#include <limits>

#include "simulation/runs.hpp"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using namespace testing;

// One sweep of Gauss-Seidel, which does not solve a box on four corners.
const OptionValues weak{set("run.solver", "pgs"), set("solver.max_sweeps", "1"), set("solver.polish", "false")};

OptionValues with(OptionValues values, const std::string& key, const std::string& text) {
    values.push_back(set(key, text));
    return values;
}

TEST(Policy, CertifyTakesAStrongerSolverWhereTheChosenOneFails) {
    const RunSummary summary = Simulation(scene_of(sliding_box, weak)).run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    EXPECT_EQ(summary.policy, "certify");
    EXPECT_EQ(summary.solver, "pgs");
    EXPECT_TRUE(summary.certified);
    EXPECT_EQ(summary.certified_steps, summary.steps);
    EXPECT_LE(summary.residual.max, default_tolerance);
}

TEST(Policy, BudgetTakesWhatTheSolverGaveAndStatesTheResidual) {
    const RunSummary summary = Simulation(scene_of(sliding_box, with(weak, "run.policy", "budget"))).run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    EXPECT_EQ(summary.policy, "budget");
    EXPECT_FALSE(summary.certified);
    EXPECT_LT(summary.certified_steps, summary.steps);
    EXPECT_GT(summary.residual.max, default_tolerance);
    EXPECT_GE(summary.residual.max, summary.residual.mean);
    EXPECT_GT(summary.residual.mean, 0);
}

TEST(Policy, TheToleranceOfTheSolverIsTheOneInForce) {
    const OptionValues loose = with(with(weak, "run.policy", "budget"), "solver.tol", "1");
    const RunSummary summary = Simulation(scene_of(sliding_box, loose)).run();
    EXPECT_TRUE(summary.certified);
    EXPECT_EQ(summary.certified_steps, summary.steps);
    EXPECT_GT(summary.residual.max, default_tolerance);
}

TEST(Policy, AToleranceBelowRoundingIsRefusedAtTheFirstStep) {
    Simulation simulation(scene_of(sliding_box, {set("solver.tol", "1e-30")}));
    const Bytes before = simulation.snapshot();
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::refused);
    EXPECT_TRUE(contains(summary.reason, "step 1 at t = ")) << summary.reason;
    EXPECT_TRUE(contains(summary.reason, "could not be certified")) << summary.reason;
    EXPECT_GT(summary.refused_residual, 1e-30);
    EXPECT_LT(summary.refused_residual, default_tolerance);
    EXPECT_EQ(summary.steps, 0);
    EXPECT_EQ(summary.t, 0);
    EXPECT_TRUE(summary.refused_problem.empty());
    // The state and the ledger are those before the step, and nothing goes on from here.
    EXPECT_EQ(state_hash(simulation.state()), state_hash(simulation.model().state));
    EXPECT_EQ(simulation.step().ledger.imbalance(), 0);
    EXPECT_FALSE(simulation.advance());
    EXPECT_FALSE(simulation.until(0.1));
    EXPECT_EQ(simulation.refusal(), summary.reason);
    EXPECT_THROW(simulation.edit(Edit::remove("box")), Error);
    EXPECT_EQ(simulation.run().reason, summary.reason);
}

class Capsules : public ::testing::Test {
protected:
    Capsules() { fs::create_directories(folder_); }
    ~Capsules() override { fs::remove_all(folder_); }
    static std::string test_name() { return ::testing::UnitTest::GetInstance()->current_test_info()->name(); }
    std::string folder_ = (fs::temp_directory_path() / ("stickslip_capsules_" + test_name())).string();
};

TEST_F(Capsules, ARefusedStepLeavesItsProblemAndItsGuess) {
    Simulation simulation(scene_of(sliding_box, {set("solver.tol", "1e-30")}));
    simulation.set_capsule_folder(folder_);
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.refused_problem, folder_ + "/refused_000001.h5");
    EXPECT_TRUE(contains(summary.reason, "stickslip solve " + summary.refused_problem)) << summary.reason;
    StepProblem problem;
    StepSolution guess;
    load_problem(summary.refused_problem, problem, guess);
    EXPECT_EQ(problem.contacts.size(), 4);
    EXPECT_EQ(problem.r, simulation.step().problem.r);
    const SolveReport report = make_solver("auto")->solve(problem, guess);
    EXPECT_EQ(report.status, Status::ok);
}

TEST_F(Capsules, AFolderThatIsNotThereIsNamed) {
    Simulation simulation(scene_of(sliding_box, {set("solver.tol", "1e-30")}));
    simulation.set_capsule_folder(folder_ + "/nowhere");
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::refused);
    EXPECT_TRUE(summary.refused_problem.empty());
    EXPECT_TRUE(contains(summary.reason, "could not be saved")) << summary.reason;
}

TEST(Policy, NumbersThatAreNotFiniteAreRefusedUnderBothPolicies) {
    for (const char* policy : {"certify", "budget"}) {
        Model model = scene_of(stone, {set("run.policy", policy)});
        model.state.v[0] = std::numeric_limits<double>::max();
        Simulation simulation(std::move(model));
        const RunSummary summary = simulation.run();
        EXPECT_EQ(summary.end, RunEnd::refused) << policy;
        EXPECT_TRUE(contains(summary.reason, "not finite")) << summary.reason;
    }
}

TEST(Policy, BodiesThatStartInsideEachOtherAreRefusedUnlessOnABudget) {
    const char* text = R"(
stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, -0.4], mass: 1, shapes: [{sphere: 0.5}]}
run: {step: 1e-3, end: 0.01}
)";
    const RunSummary refused = Simulation(scene_of(text)).run();
    EXPECT_EQ(refused.end, RunEnd::refused);
    EXPECT_TRUE(contains(refused.reason, "overlap by 0.9 m")) << refused.reason;
    const RunSummary budget = Simulation(scene_of(text, {set("run.policy", "budget")})).run();
    EXPECT_EQ(budget.end, RunEnd::finished) << budget.reason;
    EXPECT_NEAR(budget.gap_violation_max, 0.9, 1e-3);
    EXPECT_TRUE(any_contains(budget.warnings, "floor/ball:f0/s0 overlap by 0.9 m"));
}

TEST(Policy, AJointTornApartIsRefusedUnlessOnABudget) {
    const char* text = R"(
stickslip: 1
bodies:
  bob: {pose: [1, 0, 0], mass: 1, shapes: [{sphere: 0.1}], velocity: [0, 0, -200]}
joints:
  pin: {ball: {a: ground, b: bob, at: [0, 0, 0]}}
run: {step: 0.05, end: 1}
)";
    const RunSummary refused = Simulation(scene_of(text)).run();
    EXPECT_EQ(refused.end, RunEnd::refused);
    EXPECT_TRUE(contains(refused.reason, "joint 'pin' is open by")) << refused.reason;
    const RunSummary budget = Simulation(scene_of(text, {set("run.policy", "budget")})).run();
    EXPECT_EQ(budget.end, RunEnd::finished) << budget.reason;
    EXPECT_GT(budget.joint_violation.position_max, 1);
    EXPECT_TRUE(any_contains(budget.warnings, "joint 'pin' drifts apart"));
}

}  // namespace
}  // namespace stickslip
