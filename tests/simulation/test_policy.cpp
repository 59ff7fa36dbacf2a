// Who judges a step, what is refused, and what a refused run leaves behind.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "simulation/runs.hpp"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using namespace testing;

// One sweep of Gauss-Seidel, which does not solve a box on four corners.
const OptionValues weak{set("run.solver", "pgs"), set("solver.max_sweeps", "1"), set("solver.polish", "false")};

const char* const policies[] = {"degrade", "certify", "budget"};

OptionValues with(OptionValues values, const std::string& key, const std::string& text) {
    values.push_back(set(key, text));
    return values;
}

TEST(Policy, TakesAStrongerSolverWhereTheChosenOneFails) {
    const RunSummary summary = Simulation(scene_of(sliding_box, weak)).run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    EXPECT_EQ(summary.policy, "degrade");
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
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    EXPECT_TRUE(summary.certified);
    // What residuals of this size leave open in the ledger is told, and no reason to refuse.
    EXPECT_GT(std::abs(summary.imbalance), 1e-6 * summary.energy_scale);
    EXPECT_EQ(summary.verdict.status, Trust::doubtful);
    EXPECT_TRUE(any_contains(summary.verdict.reasons, "missing in the ledger"));
    EXPECT_EQ(summary.certified_steps, summary.steps);
    EXPECT_GT(summary.residual.max, default_tolerance);
}

TEST(Policy, AToleranceBelowRoundingIsRefusedAtTheFirstStep) {
    Simulation simulation(scene_of(sliding_box, {set("solver.tol", "1e-30"), set("run.policy", "certify")}));
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
    Simulation simulation(scene_of(sliding_box, {set("solver.tol", "1e-30"), set("run.policy", "certify")}));
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
    Simulation simulation(scene_of(sliding_box, {set("solver.tol", "1e-30"), set("run.policy", "certify")}));
    simulation.set_capsule_folder(folder_ + "/nowhere");
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::refused);
    EXPECT_TRUE(summary.refused_problem.empty());
    EXPECT_TRUE(contains(summary.reason, "could not be saved")) << summary.reason;
}

TEST(Policy, NumbersThatAreNotFiniteAreRefusedUnderEveryPolicy) {
    for (const char* policy : policies) {
        Model model = scene_of(stone, {set("run.policy", policy)});
        model.state.v[0] = std::numeric_limits<double>::max();
        Simulation simulation(std::move(model));
        const RunSummary summary = simulation.run();
        EXPECT_EQ(summary.end, RunEnd::refused) << policy;
        EXPECT_TRUE(contains(summary.reason, "not finite")) << summary.reason;
    }
}

TEST(Policy, BodiesThatStartInsideEachOtherAreRefusedUnderEveryPolicy) {
    const char* text = R"(
stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, -0.4], mass: 1, shapes: [{sphere: 0.5}]}
run: {step: 1e-3, end: 0.01}
)";
    for (const char* policy : policies) {
        const RunSummary refused = Simulation(scene_of(text, {set("run.policy", policy)})).run();
        EXPECT_EQ(refused.end, RunEnd::refused) << policy;
        EXPECT_TRUE(contains(refused.reason, "overlap by 0.9 m")) << refused.reason;
    }
}

TEST(Policy, AJointTornApartIsRefusedUnderEveryPolicy) {
    const char* text = R"(
stickslip: 1
bodies:
  bob: {pose: [1, 0, 0], mass: 1, shapes: [{sphere: 0.1}], velocity: [0, 0, -200]}
joints:
  pin: {ball: {a: ground, b: bob, at: [0, 0, 0]}}
run: {step: 0.05, end: 1}
)";
    for (const char* policy : policies) {
        const RunSummary refused =
            Simulation(scene_of(text, {set("run.policy", policy), set("scheme.stabilisation", "0")})).run();
        EXPECT_EQ(refused.end, RunEnd::refused) << policy;
        EXPECT_TRUE(contains(refused.reason, "joint 'pin' is open by")) << refused.reason;
    }
}

// A ball in a slot that is too narrow by a quarter of its radius: it rests there, but nobody may call that right.
TEST(Policy, BodiesSqueezedBetweenOthersAreNotCertified) {
    const char* text = R"(
stickslip: 1
bodies:
  left: {fixed: true, shapes: [{half-space: {normal: [1, 0, 0], offset: -0.3}}]}
  right: {fixed: true, shapes: [{half-space: {normal: [-1, 0, 0], offset: -0.3}}]}
  ball: {mass: 2, shapes: [{sphere: 0.4}]}
run: {end: 0.05}
)";
    const RunSummary taken = Simulation(scene_of(text, {set("run.policy", "degrade")})).run();
    EXPECT_EQ(taken.end, RunEnd::finished) << taken.reason;
    EXPECT_FALSE(taken.certified);
    EXPECT_EQ(taken.verdict.status, Trust::doubtful);
    const RunSummary refused = Simulation(scene_of(text, {set("run.policy", "certify")})).run();
    EXPECT_EQ(refused.end, RunEnd::refused);
    EXPECT_TRUE(contains(refused.reason, "squeezed from both sides")) << refused.reason;
}

// A box between two walls that both push it out: no velocity satisfies them, and no policy lets that pass.
TEST(Policy, ContradictionsAreRefusedUnderEveryPolicy) {
    const char* text = R"(
stickslip: 1
bodies:
  left: {fixed: true, shapes: [{half-space: {normal: [1, 0, 0], offset: -0.4}}]}
  right: {fixed: true, shapes: [{half-space: {normal: [-1, 0, 0], offset: -0.4}}]}
  box: {mass: 1, shapes: [{box: [1, 1, 1]}]}
run: {scheme: {name: moreau-jean, contact_stabilisation: 1, overlap: leave}, end: 0.1}
)";
    for (const char* policy : policies) {
        const RunSummary refused = Simulation(scene_of(text, {set("run.policy", policy)})).run();
        EXPECT_EQ(refused.end, RunEnd::refused) << policy;
        EXPECT_TRUE(contains(refused.reason, "contradict each other")) << refused.reason;
        EXPECT_EQ(refused.steps, 0);
    }
}

TEST(Policy, TheOlderNameOfThePolicyStillWorks) {
    Model model = scene_of(sliding_box, {set("solver.tol", "1e-30")});
    model.run.certify = true;
    const RunSummary strict = Simulation(std::move(model)).run();
    EXPECT_EQ(strict.end, RunEnd::refused);
    EXPECT_EQ(strict.policy, "certify");
}

// No solver reaches this tolerance, so every step is taken without a certificate. The motion is that of a box under Coulomb friction
// nevertheless: from 1 m/s it comes to rest within v^2 / (2 mu g).
TEST(Degrade, StepsThatCannotBeCertifiedAreTakenCountedAndListed) {
    const RunSummary s = Simulation(scene_of(sliding_box, {set("solver.tol", "1e-30")})).run();
    EXPECT_EQ(s.end, RunEnd::finished) << s.reason;
    EXPECT_EQ(s.policy, "degrade");
    EXPECT_EQ(s.steps, 128);
    EXPECT_EQ(s.uncertified.steps, 128);
    EXPECT_EQ(s.certified_steps, 0);
    EXPECT_FALSE(s.certified);
    EXPECT_EQ(s.verdict.status, Trust::doubtful);
    EXPECT_EQ(s.verdict.grounds.at(0).kind, "residual");
    EXPECT_EQ(s.verdict.grounds.at(0).limit, 1e-30);
    ASSERT_EQ(s.uncertified.listed.size(), max_uncertified_listed);
    for (std::size_t i = 0; i < s.uncertified.listed.size(); ++i) {
        const UncertifiedStep& u = s.uncertified.listed[i];
        EXPECT_EQ(u.step, static_cast<long>(i) + 1);
        EXPECT_EQ(u.t, std::ldexp(static_cast<double>(i) + 1, -8));
        EXPECT_GT(u.residual, u.tol);
        EXPECT_EQ(u.tol, 1e-30);
        EXPECT_EQ(u.action(), "best point");
        EXPECT_FALSE(u.solver.empty());
        EXPECT_EQ(u.who.size(), u.worst.size());
        for (const std::string& who : u.who) EXPECT_TRUE(contains(who, "floor/box:")) << who;
    }
    EXPECT_NEAR(s.q[0], 1 / (2 * 0.5 * 9.81), 0.004);  // a step of 2^-8 s at 1 m/s
    EXPECT_LT(s.v.norm(), 1e-12);
}

// A resting box: what rounding may hide in a step grows with its impulses, hence with its length. Below the tolerance at which whole
// steps are just certified, halves still are.
TEST(Degrade, SubStepsCertifyWhatWholeStepsDoNot) {
    const auto run_with = [](double tol, const char* policy) {
        return Simulation(scene_of(sliding_box, {set("bodies.box.velocity", "[0, 0, 0]"), set("run.policy", policy),
                                                 set("solver.tol", fmt::format("{}", tol))}))
            .run();
    };
    double tol = 1e-14;
    while (tol > 1e-20 && run_with(tol, "certify").end == RunEnd::finished) tol /= 1.1;
    const RunSummary s = run_with(tol, "degrade");
    EXPECT_EQ(s.end, RunEnd::finished) << s.reason;
    EXPECT_TRUE(s.certified) << s.uncertified.steps << " of " << s.steps;
    EXPECT_GT(s.substepped, 0);
    EXPECT_GE(s.steps, 128 + s.substepped);
    EXPECT_GT(s.rejected, 0);
    EXPECT_EQ(s.t, 0.5);
    EXPECT_EQ(s.uncertified.steps, 0);
    EXPECT_TRUE(s.uncertified.listed.empty());
    EXPECT_EQ(s.verdict.status, Trust::trusted);
}

// Snapshots at every step of a degraded run, also between two sub-steps and while none are tried: each goes on to the same bits.
TEST(Degrade, RestoredRunsGoOnToTheSameBits) {
    for (const char* tol : {"1.5e-17", "1e-17", "1e-30"}) {
        for (const char* scheme : {"moreau-jean", "trapezoidal", "hem5", "schatzman-paoli"}) {
            const OptionValues values{set("solver.tol", tol), set("run.end", "0.06"), set("run.scheme", scheme),
                                      set("bodies.box.velocity", "[0.02, 0, 0]")};
            Simulation whole(scene_of(sliding_box, values));
            std::vector<Bytes> bytes{whole.snapshot()};
            while (whole.advance()) bytes.push_back(whole.snapshot());
            EXPECT_EQ(whole.refusal(), "");
            for (std::size_t k = 0; k < bytes.size(); k += 3) {
                Simulation resumed(scene_of(sliding_box, values));
                resumed.restore(bytes[k]);
                while (resumed.advance()) {
                }
                ASSERT_EQ(resumed.snapshot(), bytes.back()) << scheme << " from step " << k << ", tol " << tol;
            }
        }
    }
}

}  // namespace
}  // namespace stickslip
