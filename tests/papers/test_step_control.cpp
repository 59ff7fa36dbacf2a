// Step control of the methods between events [Haddouni s.2.2.7]: errors follow the tolerance, rejected steps are counted and cost
// nothing but time, the PI controller rejects less.
#include "smooth_methods.hpp"

namespace stickslip::analytic {
namespace {

class StepControl : public ::testing::TestWithParam<SmoothGate> {
protected:
    Set with(double tol) const { return Set{{"run.scheme", GetParam().scheme}}("scheme.tol", tol)("run.step", 1e-3); }
};

struct Ending {
    double error = 0;  // of q, 2-norm, largest of the reference times: these lie inside steps
    RunSummary summary;
};

Ending follow(Model model, const std::string& reference, int nq, double end) {
    Simulation simulation(std::move(model));
    Ending ending;
    const Reference table(reference);
    for (const std::vector<double>& state : table.rows("state")) {
        if (state[0] > end) break;
        while (simulation.state().t < state[0])
            if (!simulation.advance()) break;
        State x;
        simulation.step().at(*simulation.model().system, state[0], x);
        ending.error = std::max(ending.error, (x.q - Eigen::Map<const VecX>(state.data() + 1, nq)).norm());
    }
    ending.summary = simulation.run();
    EXPECT_EQ(ending.summary.end, RunEnd::finished) << ending.summary.reason;
    EXPECT_TRUE(ending.summary.certified);
    return ending;
}

Ending four_bar(const Set& set) { return follow(mechanism("four-bar", set), "four-bar", 3, 2); }

Ending pendulum(const Set& set) {
    return follow(mechanism("pendulum", Set(set)("theta0", pi / 2)("run.end", 3.0)), "pendulum", 2, 3);
}

// Errors per step of order p + 1 held at the tolerance make h = tol^(1/(p + 1)) and errors in the end tol^(p/(p + 1)); hem5's
// estimate is larger than its error and falls with h^4 to h^5, so that its errors fall faster.
TEST_P(StepControl, ErrorsFallWithTheTolerance) {
    const double p = std::round(GetParam().order + 0.15), expected = p / (p + 1);
    const double first = p > 4 ? 1e-6 : p > 3 ? 1e-7 : 1e-5;  // where errors are those of the leading term
    const std::vector<double> tols{first, 1e-2 * first, 1e-4 * first};
    for (const bool linkage : {true, false}) {
        std::vector<double> errors, steps;
        for (const double tol : tols) {
            const Set set = with(tol)("scheme.longest_step", 1.0);
            const Ending ending = linkage ? four_bar(set) : pendulum(set);
            errors.push_back(ending.error);
            steps.push_back(static_cast<double>(ending.summary.steps));
        }
        const std::string name = std::string(GetParam().scheme) + (linkage ? "_four_bar" : "_pendulum");
        const std::string numbers = note(name + "_errors", errors) + "; " + note(name + "_steps", steps);
        const double slope = std::log(errors.front() / errors.back()) / std::log(tols.front() / tols.back());
        EXPECT_GT(slope, expected - 0.1) << numbers;
        EXPECT_LT(slope, 1.4) << numbers;
        for (std::size_t i = 1; i < errors.size(); ++i) {
            EXPECT_LT(errors[i], errors[i - 1] / 10) << numbers;
            EXPECT_GT(steps[i], steps[i - 1]) << numbers;
        }
    }
}

// Counts what steps report.
class Rejections final : public Recorder {
public:
    void begin(const Model&, const State&, const Step&) override {}
    void write(const System&, const State&, const Step& step, const StepReport& report) override {
        total += report.rejected;
        ++steps;
        length += report.h;
        EXPECT_NEAR(step.t1 - step.t0, report.h, 1e-12);
        if (steps == 1) first = report;
    }
    void end(const RunSummary&) override {}
    long total = 0, steps = 0;
    double length = 0;
    StepReport first;
};

TEST_P(StepControl, FirstStepTooLongIsRejectedUntilItFits) {
    Simulation simulation(mechanism("four-bar", with(1e-8)("run.step", 0.5)));
    Rejections rejections;
    simulation.add(rejections);
    const RunSummary summary = simulation.run();
    ASSERT_EQ(summary.end, RunEnd::finished) << summary.reason;
    EXPECT_GT(rejections.first.rejected, 0);
    EXPECT_LT(rejections.first.h, 0.1);
    EXPECT_EQ(rejections.total, summary.rejected);
    EXPECT_EQ(rejections.steps, summary.steps);
    EXPECT_NEAR(rejections.length, 2, 1e-11);
    EXPECT_LE(std::abs(summary.imbalance), 1e-12 * summary.energy_scale);  // what was thrown away is not in the ledger
    EXPECT_LT(four_bar(with(1e-8)("run.step", 0.5)).error, 10 * four_bar(with(1e-8)).error + 1e-9);
}

// Over all tolerances of the thesis.
TEST_P(StepControl, PiControllerRejectsLessAtTheSameError) {
    const bool low = GetParam().order < 3.5;
    std::vector<double> plain_rejected, pi_rejected, plain_errors, pi_errors, plain_steps, pi_steps;
    for (const double tol : {1e-3, 1e-4, 1e-6, 1e-8}) {
        if (low && tol < 1e-7) continue;
        const Ending plain = four_bar(with(tol)), better = four_bar(with(tol)("scheme.control", "pi"));
        plain_rejected.push_back(static_cast<double>(plain.summary.rejected));
        pi_rejected.push_back(static_cast<double>(better.summary.rejected));
        plain_steps.push_back(static_cast<double>(plain.summary.steps));
        pi_steps.push_back(static_cast<double>(better.summary.steps));
        plain_errors.push_back(plain.error);
        pi_errors.push_back(better.error);
    }
    const std::string name = std::string(GetParam().scheme);
    const std::string numbers =
        note(name + "_plain_rejected", plain_rejected) + "; " + note(name + "_pi_rejected", pi_rejected) + "; " +
        note(name + "_plain_steps", plain_steps) + "; " + note(name + "_pi_steps", pi_steps) + "; " +
        note(name + "_plain_errors", plain_errors) + "; " + note(name + "_pi_errors", pi_errors);
    double plain_total = 0, pi_total = 0;
    for (std::size_t i = 0; i < plain_rejected.size(); ++i) {
        plain_total += plain_rejected[i];
        pi_total += pi_rejected[i];
    }
    EXPECT_GT(plain_total, 0) << numbers;
    EXPECT_LT(pi_total, plain_total) << numbers;
    EXPECT_LT(pi_errors.back(), 10 * plain_errors.back()) << numbers;
}

INSTANTIATE_TEST_SUITE_P(Methods, StepControl, ::testing::ValuesIn(smooth_gates()),
                         [](const auto& method) { return std::string(method.param.scheme); });

}  // namespace
}  // namespace stickslip::analytic
