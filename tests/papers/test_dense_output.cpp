// Dense output of the methods between events [Haddouni s.2.2.8]: Step::at inside a step, by quintic Hermite and by the methods' own
// polynomials, is of local order 5 and of global order 4 at least; and looking there changes nothing.
#include "smooth_methods.hpp"
#include "stickslip/record.hpp"

namespace stickslip::analytic {
namespace {

struct Dense {
    const char* scheme;
    const char* dense;
};

class DenseOutput : public ::testing::TestWithParam<Dense> {
protected:
    Set with(double h) const {
        return Set{{"run.scheme", GetParam().scheme}, {"scheme.dense", GetParam().dense}}("run.step", h);
    }
    std::string key() const { return std::string(GetParam().scheme) + "_" + GetParam().dense; }
};

void expect_order(const std::string& what, const std::vector<double>& errors, double order) {
    const std::string numbers = note(what, errors);
    EXPECT_GE(observed_order(errors), order) << numbers;
}

const std::vector<double> shares{0.07, 0.21, 0.5, 0.63, 0.86};

// One step from exact values: errors inside it are those of the interpolant.
TEST_P(DenseOutput, OneStepOfThePendulumIsFollowedWithOrderFive) {
    std::vector<double> q, v;
    for (int k = 0; k <= 3; ++k) {
        const double h = std::ldexp(0.1, -k);
        double q_error = 0, v_error = 0;
        for (const double start : {0.2, 0.55, 0.9}) {
            Model model = mechanism("pendulum", with(h)("theta0", pi / 2)("run.end", h));
            const std::function<State(double)> exact = model.exact;
            model.state = exact(start);
            model.state.t = 0;
            Simulation simulation(std::move(model));
            ASSERT_TRUE(simulation.advance());
            ASSERT_NEAR(simulation.state().t, h, 1e-15);
            for (const double share : shares) {
                State x;
                simulation.step().at(*simulation.model().system, share * h, x);
                const State there = exact(start + share * h);
                q_error = std::max(q_error, (x.q - there.q).norm());
                v_error = std::max(v_error, (x.v - there.v).norm());
            }
        }
        q.push_back(q_error);
        v.push_back(v_error);
    }
    expect_order(key() + "_local_q", q, 4.8);
    expect_order(key() + "_local_v", v, 4.8);
}

// The step divides no time of the reference, which are met at different places of a step.
TEST_P(DenseOutput, FourBarIsFollowedBetweenTheSteps) {
    const Reference reference("four-bar");
    std::vector<double> q, v;
    for (int k = 0; k <= 3; ++k) {
        const double h = std::ldexp(0.0061803398875, -k);
        Simulation simulation(mechanism("four-bar", with(h)));
        double q_error = 0, v_error = 0;
        for (const std::vector<double>& state : reference.rows("state")) {
            if (state[0] == 2) break;
            while (simulation.state().t < state[0]) ASSERT_TRUE(simulation.advance());
            ASSERT_GT(simulation.state().t, state[0] + 1e-9);
            State x;
            simulation.step().at(*simulation.model().system, state[0], x);
            q_error = std::max(q_error, (x.q - Eigen::Map<const VecX>(state.data() + 1, 3)).norm());
            v_error = std::max(v_error, (x.v - Eigen::Map<const VecX>(state.data() + 4, 3)).norm());
        }
        q.push_back(q_error);
        v.push_back(v_error);
    }
    expect_order(key() + "_global_q", q, 4);
    expect_order(key() + "_global_v", v, 4);
}

// Attitudes between the steps: the reference at 0.5 s lies in the middle of a step.
TEST_P(DenseOutput, TopIsFollowedBetweenTheSteps) {
    const std::vector<double> state = Reference("heavy-top").row("state", {0.5});
    const Quat R(state[1], state[2], state[3], state[4]);
    std::vector<double> q, v;
    for (const int n : {64, 128, 256}) {
        Simulation simulation(mechanism("heavy-top", with(0.5 / (n - 0.5))));
        for (int i = 0; i < n; ++i) ASSERT_TRUE(simulation.advance());
        ASSERT_GT(simulation.state().t, 0.5);
        State x;
        simulation.step().at(*simulation.model().system, 0.5, x);
        q.push_back(Quat(x.q[0], x.q[1], x.q[2], x.q[3]).angularDistance(R));
        v.push_back((x.v - Eigen::Map<const VecX>(state.data() + 5, 3)).norm());
        EXPECT_NEAR(x.q.norm(), 1, 1e-12);
    }
    expect_order(key() + "_top_q", q, 4);
    expect_order(key() + "_top_v", v, 4);
}

TEST_P(DenseOutput, BeginsAndEndsWhereTheStepDoes) {
    for (const char* name : {"four-bar", "heavy-top", "double-pendulum-wall"}) {
        Simulation simulation(mechanism(name, with(0.01)("scheme.drift", "none")("run.end", 0.3)));
        while (simulation.advance()) {
            const Step& step = simulation.step();
            State x;
            step.at(*simulation.model().system, step.t0, x);
            ASSERT_LT((x.q - step.q0).norm() + (x.v - step.v0).norm(), 1e-13) << name << " " << step.t0;
            const double before_end = step.t1 - 1e-9 * (step.t1 - step.t0);
            step.at(*simulation.model().system, before_end, x);
            ASSERT_LT((x.q - step.q1).norm(), 1e-9) << name << " " << step.t0;
            ASSERT_LT((x.v - step.v1).norm(), 1e-8) << name << " " << step.t0;
        }
    }
}

// Without events the interpolant is for looking at only.
TEST_P(DenseOutput, ChoiceOfInterpolantChangesNoStep) {
    for (const char* name : {"four-bar", "heavy-top"}) {
        const Set set = with(1e-3)("scheme.tol", 1e-6)("run.end", 1.0);
        const RunSummary one = run(mechanism(name, set)),
                         other = run(mechanism(name, Set(set)("scheme.dense", "hermite")));
        EXPECT_EQ(one.hash, other.hash) << name;
        EXPECT_EQ(one.steps, other.steps) << name;
    }
}

// Looks at many times inside every step.
class Sampler final : public Recorder {
public:
    void begin(const Model&, const State&, const Step&) override {}
    void write(const System& system, const State&, const Step& step, const StepReport& report) override {
        State x;
        for (double t = step.t0; t < step.t1; t += 1e-3) step.at(system, t, x);
        lengths.push_back(report.h);
    }
    void end(const RunSummary&) override {}
    std::vector<double> lengths;
};

TEST_P(DenseOutput, RecordingBetweenTheStepsChangesNoStep) {
    for (const char* name : {"four-bar", "double-pendulum-wall"}) {
        const Set set = with(1e-3)("scheme.tol", 1e-6)("run.end", 2.0);
        const RunSummary alone = run(mechanism(name, set));
        Model dense = mechanism(name, set);
        dense.run.record_every = 7e-4;
        Simulation simulation(std::move(dense));
        Sampler sampler;
        const std::string file = ::testing::TempDir() + "dense-output-" + key() + ".csv";
        const std::unique_ptr<Recorder> csv = make_csv_recorder(file);
        simulation.add(sampler);
        simulation.add(*csv);
        const RunSummary watched = simulation.run();
        std::remove(file.c_str());
        EXPECT_EQ(watched.hash, alone.hash) << name;
        EXPECT_EQ(watched.steps, alone.steps) << name;
        EXPECT_EQ(watched.rejected, alone.rejected) << name;
        EXPECT_EQ(static_cast<long>(sampler.lengths.size()), alone.steps) << name;
        // and steps are longer than what is recorded
        EXPECT_GT(*std::max_element(sampler.lengths.begin(), sampler.lengths.end()), 5e-3) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Methods, DenseOutput,
                         ::testing::Values(Dense{"hem5", "hermite"}, Dense{"hem5", "own"}, Dense{"phem56", "hermite"},
                                           Dense{"phem56", "own"}, Dense{"dopri5", "hermite"}, Dense{"dopri5", "own"}),
                         [](const auto& way) { return std::string(way.param.scheme) + "_" + way.param.dense; });

}  // namespace
}  // namespace stickslip::analytic
