// The wave in a row of dominoes against van Leeuwen's train of one degree of freedom (J. M. J. van Leeuwen, "The domino effect",
// Am. J. Phys. 78, 2010), integrated here on its own.
#include <numeric>

#include "runs.hpp"

namespace stickslip::analytic {
namespace {

// Dominoes of height H and thickness d, s apart, each tilted by theta_i about its front edge; the front upper edge of each slides
// without friction on the back of the next:  H sin(theta_i - theta_{i+1}) = (s + d) cos theta_{i+1} - d.
struct Train {
    double H, d, s;

    // Of k dominoes whose head has theta, per unit of mass: twice the kinetic energy at a unit rate of the head, and the
    // potential energy.
    struct Shape {
        double inertia = 0, potential = 0;
    };
    Shape shape(double theta, int k) const {
        const double own = (H * H + d * d) / 3;  // about an edge
        Shape sum;
        double rate = 1;
        for (int i = 0; i < k; ++i) {
            sum.inertia += own * rate * rate;
            sum.potential += g * (H * std::cos(theta) + d * std::sin(theta)) / 2;
            const double behind = theta + std::asin(((s + d) * std::cos(theta) - d) / H);
            rate *= 1 - (s + d) * std::sin(theta) / (H * std::cos(behind - theta));
            theta = behind;
        }
        return sum;
    }

    // [s] When domino 2, 3, .. n is hit, if the first starts upright with this rate [rad/s].
    std::vector<double> hits(int n, double rate) const {
        const double hit = std::asin(s / H);
        std::vector<double> times;
        double t = 0;
        for (int k = 1; k < n; ++k) {
            const Shape start = shape(0, k), end = shape(hit, k);
            const double energy = start.inertia * rate * rate / 2 + start.potential;
            // t = integral of dtheta / rate by the midpoint rule: smooth, as the train never rests.
            constexpr int parts = 400;
            for (int j = 0; j < parts; ++j) {
                const Shape middle = shape(hit * (j + 0.5) / parts, k);
                t += hit / parts / std::sqrt(2 * (energy - middle.potential) / middle.inertia);
            }
            times.push_back(t);
            // The next one stands upright, so the head keeps the rate of the next: momentum goes over into one domino more.
            rate = std::sqrt(2 * (energy - end.potential) / end.inertia) * end.inertia /
                   (end.inertia + (H * H + d * d) / 3);
        }
        return times;
    }
};

// [m/s] Of the wave between two dominoes that do not slip on the floor, by the times at which they have turned by a little.
double wave_speed(double h, int from, int to, double apart) {
    constexpr double turned = 0.02;  // [rad]
    Simulation simulation(scene("dominoes", Set()("step", h)("grip", 3)));
    std::vector<double> before(static_cast<std::size_t>(to) + 1, 0.0), time(before.size(), -1.0);
    double t_old = 0;
    while (time[to] < 0 && simulation.advance()) {
        for (const int k : {from, to}) {
            const Pose pose = simulation.model().system->body_state(k, simulation.state().q, simulation.state().v).pose;
            const double angle = 2 * std::atan2(pose.attitude.y(), pose.attitude.w());
            if (time[k] < 0 && angle >= turned)
                time[k] = t_old + (simulation.state().t - t_old) * (turned - before[k]) / (angle - before[k]);
            before[k] = angle;
        }
        t_old = simulation.state().t;
    }
    return (to - from) * apart / (time[to] - time[from]);
}

TEST(Dominoes, WaveHasTheSpeedOfATrainOfOneDegreeOfFreedom) {
    const Train train{.H = 0.048, .d = 0.0075, .s = 0.0165};
    const int from = 14, to = 22;  // bodies: the table is 0; the speed has settled by then
    const std::vector<double> hits = train.hits(to, 5);
    const double exact = (to - from) * (train.s + train.d) / (hits[to - 2] - hits[from - 2]);
    std::vector<double> speed;
    for (const double h : {1e-3, 5e-4, 2.5e-4}) speed.push_back(wave_speed(h, from, to, train.s + train.d));
    const double limit = 2 * speed[2] - speed[1];  // order one
    EXPECT_NEAR(limit, exact, 0.03 * exact) << note("speeds", speed) << ", train " << exact;
}

// The model against itself: with a single domino it is a pendulum, and one more at rest takes half of the rate.
TEST(Dominoes, TrainKeepsEnergyAndMomentum) {
    const Train train{.H = 0.1, .d = 1e-6, .s = 0.03};
    const double hit = std::asin(0.3), start = 3;
    const double rate = std::sqrt(start * start + 3 * g * (1 - std::cos(hit)) / train.H);
    const std::vector<double> hits = train.hits(3, start);
    EXPECT_GT(hits[0], hit / rate);
    EXPECT_LT(hits[0], hit / start);
    EXPECT_GT(hits[1] - hits[0], hit / (3 * rate));
    EXPECT_NEAR(train.shape(0.2, 1).inertia, (0.01 + 1e-12) / 3, 1e-15);
}

}  // namespace
}  // namespace stickslip::analytic
