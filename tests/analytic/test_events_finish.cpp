// Event-driven schemes finish scenes that time-stepping finishes: where corners are redundant, and Newton's method or the modes find no way,
// time-stepping takes over.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

// A box on four corners, pushed along a diagonal with less than friction holds.
const char* const pushed = R"(
stickslip: 1
materials: {default: {friction: 0.45, restitution: 0}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  box: {pose: [0.3, -0.2, 0.15], mass: 2.3, shapes: [{box: [0.8, 0.6, 0.3]}]}
forces:
  push: {load: {body: box, force: [5.5, 6.5, 0]}}
run: {step: 4e-3, end: 1}
)";

TEST(EventsFinish, OnRedundantCornersThatStick) {
    for (const char* scheme : {"hem5", "phem56", "dopri5", "rk4", "rattle", "generalized-alpha", "hybrid"}) {
        Simulation simulation(scene_text(pushed, Set{{"scheme", scheme}}));
        const RunSummary end = simulation.run();
        ASSERT_EQ(end.end, RunEnd::finished) << scheme << ": " << end.reason;
        EXPECT_NEAR(end.q[0], 0.3, 1e-9) << scheme;
        EXPECT_NEAR(end.q[1], -0.2, 1e-9) << scheme;
        EXPECT_NEAR(end.q[2], 0.15, 1e-9) << scheme;
    }
}

// The same box under a push F sin(w t) that exceeds friction for a while: it slides once, from t0 to t1.
TEST(EventsFinish, OnRedundantCornersThatSlideAndStop) {
    constexpr double F = 12, w = 3, m = 2.3, grip = 0.45 * g;
    const double t0 = std::asin(grip * m / F) / w;
    const auto speed = [&](double t) { return F / (w * m) * (std::cos(w * t0) - std::cos(w * t)) - grip * (t - t0); };
    double before = t0 + 0.2, t1 = 1.2;  // the speed rises and falls once in between
    for (int round = 0; round < 100; ++round) (speed(0.5 * (before + t1)) > 0 ? before : t1) = 0.5 * (before + t1);
    const double way = F / (w * m) * (std::cos(w * t0) * (t1 - t0) - (std::sin(w * t1) - std::sin(w * t0)) / w) -
                       0.5 * grip * (t1 - t0) * (t1 - t0);
    std::string text = pushed;
    text.replace(text.find("5.5, 6.5"), 8, "\"12*sin(3*t)\", 0");
    for (const char* scheme : {"hem5", "phem56", "dopri5", "rk4", "rattle", "generalized-alpha", "hybrid"}) {
        Simulation simulation(scene_text(text, Set{{"scheme", scheme}, {"run.step", "1e-3"}, {"run.end", "1.3"}}));
        const RunSummary end = simulation.run();
        ASSERT_EQ(end.end, RunEnd::finished) << scheme << ": " << end.reason;
        EXPECT_NEAR(end.q[0], 0.3 + way, 2e-6) << scheme;
    }
}

}  // namespace
}  // namespace stickslip::analytic
