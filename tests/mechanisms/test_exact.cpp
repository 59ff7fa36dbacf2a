// Closed forms of the mechanisms, against numbers of 40 digits made elsewhere and against their own laws.
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/mechanism.hpp"
#include "support/reference.hpp"

namespace stickslip {
namespace {

using testing::Reference;

OptionValues set(std::initializer_list<std::pair<const char*, double>> list) {
    OptionValues values;
    for (const auto& [key, value] : list) {
        char text[32];
        std::snprintf(text, sizeof text, "%.17g", value);
        values.push_back({key, text, {}});
    }
    return values;
}

TEST(ExactSolution, BallBouncesAndRestsAsInTheReference) {
    const Reference reference("bouncing-ball");
    ASSERT_GE(reference.rows("state").size(), 25u);
    for (const std::vector<double>& row : reference.rows("state")) {
        const Mechanism ball = make_mechanism("bouncing-ball", set({{"e", row[0]}}));
        const State state = ball.exact(row[1]);
        EXPECT_NEAR(state.q[0], row[2], 1e-14) << "e " << row[0] << " t " << row[1];
        EXPECT_NEAR(state.v[0], row[3], 1e-13) << "e " << row[0] << " t " << row[1];
    }
    for (const std::vector<double>& row : reference.rows("zeno")) {
        const Mechanism ball = make_mechanism("bouncing-ball", set({{"e", row[0]}}));
        EXPECT_EQ(ball.exact(row[1] + 1e-9).q[0], 0) << row[0];
        if (row[0] > 0) {
            EXPECT_GT(ball.exact(row[1] - 1e-3).q[0], 0) << row[0];
        }
    }
}

TEST(ExactSolution, BallThrownDownFromTheFloorReboundsAtOnce) {
    const State state = make_mechanism("bouncing-ball", set({{"z0", 0}, {"v0", -2}, {"e", 0.5}})).exact(0);
    EXPECT_EQ(state.v[0], 1);
    EXPECT_FALSE(make_mechanism("bouncing-ball", set({{"g", 0}})).exact);  // it never comes back
}

TEST(ExactSolution, BlockSlipsAndSticksAsInTheReference) {
    const Reference reference("block-stick-slip");
    const Mechanism block = make_mechanism("block-stick-slip");
    for (const std::vector<double>& row : reference.rows("state")) {
        const State state = block.exact(row[0]);
        EXPECT_NEAR(state.q[0], row[1], 2e-15 * 3) << row[0];
        EXPECT_NEAR(state.v[0], row[2], 1e-15) << row[0];
        EXPECT_EQ(state.q[1], 0);
    }
    for (const std::vector<double>& row : reference.rows("phase")) {  // just inside the end of each
        const State state = block.exact(row[2] - 1e-4);
        EXPECT_EQ(state.v[0] > 0 ? 1 : (state.v[0] < 0 ? -1 : 0), static_cast<int>(row[0])) << row[2];
    }
}

// Coulomb's law at every moment, for pushes that stick, slip for ever, reverse without sticking, and begin in motion.
TEST(ExactSolution, BlockObeysCoulombWhateverThePush) {
    for (const OptionValues& values :
         {set({{"A", 30}, {"w", 2}}), set({{"A", 9}, {"w", -3}, {"phase", 1.3}}), set({{"A", -12}, {"v0", 2}}),
          set({{"A", 5}, {"v0", -3}}), set({{"mu", 0}, {"v0", 1}}), set({{"A", 7.8481}}),
          set({{"A", 7.848}, {"phase", 1}})}) {
        const Mechanism block = make_mechanism("block-stick-slip", values);
        double A = 8, w = 1, phase = 0, mu = 0.8;
        for (const OptionValue& value : values) {
            const double x = std::stod(value.text);
            (value.key == "A"       ? A
             : value.key == "w"     ? w
             : value.key == "phase" ? phase
                                    : mu) = value.key == "v0" ? mu : x;
        }
        const double R = mu * 9.81, d = 1e-5;
        int checked = 0;
        for (double t = 0.013; t < 12; t += 0.0137) {
            const State a = block.exact(t - d), b = block.exact(t), c = block.exact(t + d);
            const double push = A * std::cos(w * t + phase), acceleration = (c.v[0] - a.v[0]) / (2 * d);
            EXPECT_NEAR((c.q[0] - a.q[0]) / (2 * d), b.v[0], 1e-3 * (1 + std::abs(A))) << t;  // never jumps
            if (a.v[0] * c.v[0] < 0 || (a.v[0] == 0) != (c.v[0] == 0)) continue;              // a switch in between
            ++checked;
            if (b.v[0] == 0 && a.v[0] == 0) {
                EXPECT_LE(std::abs(push), R * (1 + 1e-9)) << t;
            } else {
                EXPECT_NEAR(acceleration, push - (b.v[0] > 0 ? R : -R), 1e-6 * (1 + std::abs(A))) << t;
            }
        }
        EXPECT_GT(checked, 800);
    }
}

TEST(ExactSolution, PendulumSwingsAsInTheReference) {
    const Mechanism pendulum = make_mechanism("pendulum");
    const Reference reference("pendulum");
    for (const std::vector<double>& row : reference.rows("state")) {
        const State state = pendulum.exact(row[0]);
        for (int i = 0; i < 2; ++i) {
            EXPECT_NEAR(state.q[i], row[1 + i], 2e-14) << row[0];
            EXPECT_NEAR(state.v[i], row[3 + i], 1e-13) << row[0];
        }
    }
    const Mechanism other = make_mechanism("pendulum", set({{"theta0", -2.8}, {"L", 0.4}, {"g", 3}, {"m", 7}}));
    for (const double t : {0.3, 1.1, 4.0}) {  // energy and length
        const State state = other.exact(t);
        EXPECT_NEAR(state.q.norm(), 0.4, 1e-14);
        EXPECT_NEAR(state.v.squaredNorm() / 2 + 3 * state.q[1], -3 * 0.4 * std::cos(-2.8), 1e-13);
        EXPECT_NEAR(state.v.dot(state.q), 0, 1e-14);
    }
    EXPECT_FALSE(make_mechanism("pendulum", set({{"theta0", 3.1415926535897931}})).exact);
}

TEST(ExactSolution, OscillatorAndJointAreWhatTheyShould) {
    const Reference reference("harmonic-constraint");
    for (const std::vector<double>& row : reference.rows("exact")) {
        const State state = make_mechanism("harmonic-constraint", set({{"frequency_hz", row[0]}})).exact(row[1] / 60);
        EXPECT_NEAR(state.q[0], row[2], 1e-12 * (1 + row[0])) << row[0] << " " << row[1];
        EXPECT_NEAR(state.v[0], row[3], 1e-10 * (1 + row[0] * row[0])) << row[0] << " " << row[1];
    }
    EXPECT_EQ(make_mechanism("joint-flipflop").exact(0.7).v[0], 0);
}

// At t = 0 a closed form is the initial state, except where an impact happens at once.
TEST(ExactSolution, BeginsAtTheInitialState) {
    int closed = 0;
    for (const MechanismEntry& entry : mechanisms()) {
        const Mechanism mechanism = entry.make({});
        if (!mechanism.exact || std::string(entry.name) == "joint-flipflop") continue;
        ++closed;
        const State state = mechanism.exact(0);
        EXPECT_LT((state.q - mechanism.state.q).norm(), 1e-15) << entry.name;
        EXPECT_LT((state.v - mechanism.state.v).norm(), 1e-13) << entry.name;
    }
    EXPECT_GE(closed, 4);
}

}  // namespace
}  // namespace stickslip
