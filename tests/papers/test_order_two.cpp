// alpha = gamma = 1/2 is of second order where nothing touches, alpha = 1 of first: a free body, a top that hangs on joint rows,
// a mechanism whose mass matrix varies; and what is conserved over long runs. [Gavrea et al. 2008; Potra et al. 2006]
#include "analytic/runs.hpp"

namespace stickslip::analytic {
namespace {

// Distance of attitudes, either sign of the quaternion.
double attitude_error(const VecX& q, int at, const std::vector<double>& row, std::size_t first) {
    double plus = 0, minus = 0;
    for (int i = 0; i < 4; ++i) {
        plus = std::hypot(plus, q[at + i] - row[first + static_cast<std::size_t>(i)]);
        minus = std::hypot(minus, q[at + i] + row[first + static_cast<std::size_t>(i)]);
    }
    return std::min(plus, minus);
}

double free_body_error(const std::string& weights, double h) {
    const Reference reference("free-body");
    const VecX q = run(mechanism("free-body", Set{{"run.scheme", "alpha-gamma"},
                                                  {"scheme.alpha", weights},
                                                  {"scheme.gamma", weights}}("run.step", h)("run.end", 2.0)))
                       .q;
    return attitude_error(q, 0, reference.row("state", {2}), 1);
}

// The top as a body of six degrees of freedom on a ball joint.
const char* top_text = R"(
stickslip: 1
bodies:
  top:
    pose: [0, -0.15, 0.25980762113533159, 0.96592582628906829, 0.25881904510252074, 0, 0]
    mass: 1
    inertia: [0.01, 0.01, 0.02]
    angular_velocity: [0, -30, 51.961524227066319]
joints:
  pivot: {ball: {a: ground, b: top, at: [0, 0, 0]}}
run: {end: 0.5}
)";

double top_error(const std::string& weights, double h) {
    const Reference reference("heavy-top");
    const VecX q = run(scene_text(top_text, Set{{"run.scheme", "alpha-gamma"},
                                                {"scheme.alpha", weights},
                                                {"scheme.gamma", weights}}("run.step", h)))
                       .q;
    return attitude_error(q, 3, reference.row("state", {0.5}), 1);
}

TEST(OrderTwo, OfAFreeBody) {
    std::vector<double> half, one;
    for (const double h : {0.01, 0.005, 0.0025, 0.00125}) {
        half.push_back(free_body_error("0.5", h));
        one.push_back(free_body_error("1", h));
    }
    EXPECT_NEAR(observed_order(half), 2, 0.05) << note("half", half);
    EXPECT_NEAR(observed_order(one), 1, 0.2) << note("one", one);
}

TEST(OrderTwo, OfATopOnJointRows) {
    std::vector<double> half, one;
    for (const double h : {4e-4, 2e-4, 1e-4, 5e-5}) {
        half.push_back(top_error("0.5", h));
        one.push_back(top_error("1", h));
    }
    EXPECT_NEAR(observed_order(half), 2, 0.05) << note("half", half);
    EXPECT_NEAR(observed_order(one), 1, 0.2) << note("one", one);
}

// Angles as coordinates: M(q) varies, two loop rows.
TEST(OrderTwo, OfALinkageWhoseMassVaries) {
    const Reference reference("four-bar");
    const std::vector<double>& end = reference.row("state", {0.5});
    std::vector<double> half, one;
    for (const char* weights : {"0.5", "1"})
        for (const double h : {1e-3, 5e-4, 2.5e-4, 1.25e-4}) {
            const VecX q = run(mechanism("four-bar", Set{{"run.scheme", "alpha-gamma"},
                                                         {"scheme.alpha", weights},
                                                         {"scheme.gamma", weights}}("run.step", h)("run.end", 0.5)))
                               .q;
            double error = 0;
            for (int i = 0; i < 3; ++i) error = std::hypot(error, q[i] - end[1 + i]);
            (weights[0] == '0' ? half : one).push_back(error);
        }
    EXPECT_NEAR(observed_order(half), 2, 0.05) << note("half", half);
    EXPECT_NEAR(observed_order(one), 1, 0.2) << note("one", one);
}

TEST(LongRuns, TopKeepsItsEnergy) {
    Simulation simulation(scene_text(top_text, Set{{"run.scheme", "trapezoidal"}}("run.step", 1e-3)("run.end", 40.0)));
    const auto energy = [&] {
        const Energies& e = simulation.step().ledger.now();
        return e.kinetic + e.potential;
    };
    const double start = energy();
    double worst = 0;
    long steps = 0;
    while (simulation.advance()) {
        worst = std::max(worst, std::abs(energy() - start));
        ++steps;
    }
    EXPECT_EQ(steps, 40000);
    EXPECT_LT(worst, 1e-10 * start);
}

TEST(LongRuns, JointErrorOfThePendulumStaysBounded) {
    Simulation simulation(
        mechanism("pendulum", Set{{"run.scheme", "trapezoidal"}}("run.step", 0.01)("run.end", 1000.0)));
    double early = 0, late = 0;
    while (simulation.advance()) {
        const State& x = simulation.state();
        const double error = std::abs(std::hypot(x.q[0], x.q[1]) - 1);
        (x.t < 100 ? early : late) = std::max(x.t < 100 ? early : late, error);
    }
    EXPECT_GE(simulation.state().t, 1000);
    EXPECT_LT(late, 1.5 * early) << early;
    EXPECT_LT(late, 5e-3);
}

// --- oblique sliding in space ---

const char* block_text = R"scene(
stickslip: 1
let: {angle: 0.2268928027592628, speed: 3, push: 1}
materials:
  default: {friction: 0.4, restitution: 0}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  block:
    pose: [0, 0, 0.05]
    mass: 1
    velocity: [speed*cos(angle), speed*sin(angle), 0]
    shapes: [{box: [0.6, 0.6, 0.1]}]
forces:
  push: {load: {body: block, force: ["push*cos(angle)*cos(2*t)", "push*sin(angle)*cos(2*t)", 0]
}
}
run: {end: 1.5}
)scene";

TEST(ObliqueBlock, SlidesStraightAndStopsWithOrderTwo) {
    // v = v0 - mu g t + (A/w) sin w t until it vanishes; then it sticks.
    const double A = 1, w = 2, deceleration = 0.4 * g;
    double low = 0.5, high = 1.2;
    for (int i = 0; i < 100; ++i) {
        const double t = (low + high) / 2;
        (3 - deceleration * t + A / w * std::sin(w * t) > 0 ? low : high) = t;
    }
    const double distance = 3 * low - deceleration * low * low / 2 + A / (w * w) * (1 - std::cos(w * low));
    const double angle = 0.2268928027592628;
    for (const char* form : {"I", "II"}) {
        std::vector<double> errors;
        for (const double h : {0.02, 0.01, 0.005, 0.0025}) {
            const RunSummary summary =
                run(scene_text(block_text, Set{{"run.scheme", "trapezoidal"}, {"scheme.form", form}}("run.step", h)));
            const double along = std::cos(angle) * summary.q[0] + std::sin(angle) * summary.q[1];
            const double aside = -std::sin(angle) * summary.q[0] + std::cos(angle) * summary.q[1];
            EXPECT_LT(std::abs(aside), 1e-9) << form << " " << h;
            EXPECT_LT(summary.v.norm(), 1e-12) << form << " " << h;
            errors.push_back(std::abs(along - distance));
        }
        EXPECT_NEAR(observed_order(errors), 2, 0.1) << form << note("errors", errors);
    }
}

TEST(ObliqueBlock, PolygonsTurnItByLessThanHalfTheirCorner) {
    for (const int facets : {4, 8, 16}) {
        for (const double angle : {0.1, 0.2268928027592628, 0.6}) {
            const RunSummary summary = run(scene_text(
                block_text, Set{{"run.scheme", "trapezoidal"}}("run.step", 0.005)("push", 0.0)("angle", angle)(
                                "contacts.cone", "{polygon: " + std::to_string(facets) + "}")));
            EXPECT_LT(std::abs(std::atan2(summary.q[1], summary.q[0]) - angle), pi / facets) << facets << " " << angle;
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
