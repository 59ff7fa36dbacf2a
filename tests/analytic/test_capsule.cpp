// Capsules roll, slide, rest and tip as closed forms say: J is the moment about the axis, from the volume integrals of
// cylinder and caps.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

class RollingCapsule : public ::testing::TestWithParam<std::string> {
protected:
    Set set(double h) const { return Set{{"scheme", GetParam()}}("step", h); }
};

// J/(m r^2) of a capsule about its axis.
double roundness(double r, double l) {
    const double cylinder = pi * r * r * l, caps = 4.0 / 3.0 * pi * r * r * r;
    return (cylinder / 2 + 0.4 * caps) / (cylinder + caps);
}

// Lying across a slope that falls in the direction of x.
const char* slope = R"(
stickslip: 1
let: {r: 0.1, l: 0.5, angle: 20, mu: 0.5}
materials: {default: {friction: mu}}
bodies:
  slope: {fixed: true, pose: {at: [0, 0, 0], rpy_deg: [0, angle, 0]}, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  log:
    pose: {at: [r*sin(angle*pi/180), 0, r*cos(angle*pi/180)], rpy_deg: [90, 0, 0]}
    density: 700
    shapes: [{capsule: {radius: r, length: l}}]
run: {end: 1}
)";

TEST_P(RollingCapsule, RollsDownASlopeWithoutSlipping) {
    for (const double angle : {5.0, 20.0, 35.0}) {
        for (const auto& [r, l] : {std::pair{0.1, 0.5}, {0.5, 0.1}, {0.02, 2.0}}) {
            SCOPED_TRACE(text_of(angle) + " degrees, radius " + text_of(r) + ", length " + text_of(l));
            // It sticks while mu >= tan(angle)/(1 + m r^2/J); 0.5 is enough for all.
            Simulation simulation(scene_text(slope, set(1e-3)("angle", angle)("r", r)("l", l)));
            const double a = g * std::sin(angle * pi / 180) / (1 + roundness(r, l));
            const Vec3 down(std::cos(angle * pi / 180), 0, -std::sin(angle * pi / 180));
            const Vec3 start = simulation.state().q.head(3);
            while (simulation.advance()) {
                const State& x = simulation.state();
                const Vec3 v = x.v.head(3);
                ASSERT_LT((v - a * x.t * down).norm(), 1e-9) << x.t;
                ASSERT_NEAR(x.v.tail(3).norm(), a * x.t / r, 1e-9 / r);
                // euler moves by the old velocity: a t (t - h)/2.
                const double way = GetParam() == "euler" ? a * x.t * (x.t - 1e-3) / 2 : a * x.t * x.t / 2;
                ASSERT_LT((Vec3(x.q.head(3)) - start - way * down).norm(), 1e-9) << x.t;
            }
            ASSERT_EQ(simulation.state().t, 1);
        }
    }
}

TEST_P(RollingCapsule, SlipsWhereFrictionIsTooWeak) {
    const double angle = 40, mu = 0.1, r = 0.1, l = 0.5;
    ASSERT_LT(mu, std::tan(angle * pi / 180) / (1 + 1 / roundness(r, l)));
    Simulation simulation(scene_text(slope, set(1e-3)("angle", angle)("mu", mu)));
    const double normal = g * std::cos(angle * pi / 180);
    while (simulation.advance()) {
        const State& x = simulation.state();
        ASSERT_NEAR(x.v.head(3).norm(), (g * std::sin(angle * pi / 180) - mu * normal) * x.t, 1e-9);
        ASSERT_NEAR(x.v.tail(3).norm(), mu * normal * x.t / (r * roundness(r, l)), 1e-8);
    }
    ASSERT_EQ(simulation.state().t, 1);
}

TEST_P(RollingCapsule, FloorCarriesItsWeightWhereItActs) {
    const char* text = R"(
stickslip: 1
let: {r: 1, l: 1, m: 1, off: 0}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  log:
    pose: {at: [0, 0, r], rpy_deg: [90, 0, 30]}
    mass: m
    com: [0, 0, off*l]
    shapes: [{capsule: {radius: r, length: l}}]
run: {end: 0.5}
)";
    for (const char* solver : {"auto", "nsgs", "lemke"}) {
        for (const double m : {1e-3, 1.0, 1e6}) {
            for (const auto& [r, l] : {std::pair{0.005, 0.02}, {0.5, 1.0}, {0.1, 30.0}, {3.0, 0.01}}) {
                for (const double off : {0.0, 0.3}) {
                    SCOPED_TRACE(std::string(solver) + " mass " + text_of(m) + " radius " + text_of(r));
                    Simulation simulation(scene_text(text, set(0.01)("solver", solver)("contacts.cone", "{polygon: 8}")(
                                                               "m", m)("r", r)("l", l)("off", off)));
                    const VecX start = simulation.state().q;
                    const Vec3 com = start.head(3), weight(0, 0, -m * g);
                    while (simulation.advance()) {
                        const Step& step = simulation.step();
                        ASSERT_EQ(step.contacts.size(), 2u);
                        Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
                        for (const ContactRecord& c : step.contacts) {
                            const Vec3 f = -(c.impulse[0] * c.normal + c.impulse[1] * c.tangent +
                                             c.impulse[2] * c.normal.cross(c.tangent)) /
                                           (step.t1 - step.t0);
                            force += f;
                            moment += c.position.cross(f);
                        }
                        ASSERT_LT((force + weight).norm(), 1e-10 * m * g);
                        ASSERT_LT((moment + com.cross(weight)).norm(), 1e-10 * m * g * (r + l));
                    }
                    ASSERT_EQ(simulation.state().t, 0.5);
                    EXPECT_LT((simulation.state().q - start).norm(), 1e-12 * std::max(1.0, l));
                }
            }
        }
    }
}

// Dropped on its end, a little askew in the plane xz, it tips over and lies still; in space as in the plane. Restitution
// without an end to the hops is left to moreau-jean: euler goes on hopping by a step's fall, boxes as well.
TEST_P(RollingCapsule, DroppedOnItsEndItTipsAndComesToRest) {
    const double r = 0.1, l = 0.6, tilt = 5 * pi / 180;
    for (const double e : {0.0, 0.3}) {
        double ends_at[2] = {0, 0};  // [m] x in space and in the plane
        for (const bool flat : {false, true}) {
            const char* plane = flat ? "plane: xz\n" : "";
            if (e > 0 && GetParam() == "euler") continue;
            const std::string text = std::string("stickslip: 1\n") + plane +
                                     "materials: {default: {friction: 0.6, restitution: " + text_of(e) +
                                     "}}\nbodies:\n"
                                     "  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}\n"
                                     "  log: {pose: {at: [0, 0, 0.6], rpy_deg: [0, 5, 0]}, mass: 2, shapes: "
                                     "[{capsule: {radius: 0.1, length: 0.6}}]}\nrun: {end: 4}\n";
            SCOPED_TRACE(plane + text_of(e));
            Simulation simulation(scene_text(text, set(1e-3)));
            const System& system = *simulation.model().system;
            bool low = false;
            double deepest = 0;
            while (simulation.advance()) {
                const State& x = simulation.state();
                const BodyState log = system.body_state(1, x.q, x.v);
                deepest = std::max(deepest, simulation.step().violation.gap);
                // Until the lower cap arrives, free fall.
                if (x.t < std::sqrt(2 * (0.6 - r - l / 2 * std::cos(tilt)) / g) - 2e-3) {
                    ASSERT_NEAR(log.velocity.z(), -g * x.t, 1e-12);
                }
                low = low || log.pose.position.z() < r + 1e-3;
            }
            const BodyState log = system.body_state(1, simulation.state().q, simulation.state().v);
            EXPECT_EQ(simulation.state().t, 4);
            EXPECT_TRUE(low);
            EXPECT_LT(log.velocity.norm() + log.angular_velocity.norm(), 1e-9);
            EXPECT_NEAR(log.pose.position.z(), r, 5e-3);
            EXPECT_NEAR(std::abs((log.pose.attitude * Vec3::UnitZ()).x()), 1, 1e-4);
            EXPECT_LT(deepest, 0.02) << note("deepest", {deepest});
            ends_at[flat ? 1 : 0] = log.pose.position.x();
        }
        EXPECT_NEAR(ends_at[0], ends_at[1], 1e-9);
    }
}

// A box laid on two parallel capsules: each end of a capsule carries a share, together the weight.
TEST_P(RollingCapsule, CarriesABoxAndAnotherCapsule) {
    const char* text = R"(
stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  left: {pose: {at: [-0.3, 0, 0.1], rpy_deg: [90, 0, 0]}, mass: 1, shapes: [{capsule: {radius: 0.1, length: 0.8}}]}
  right: {pose: {at: [0.3, 0, 0.1], rpy_deg: [90, 0, 0]}, mass: 1, shapes: [{capsule: {radius: 0.1, length: 0.8}}]}
  board: {pose: [0, 0, 0.225], mass: 4, shapes: [{box: [1, 0.5, 0.05]}]}
  top: {pose: {at: [0, 0, 0.35], rpy_deg: [0, 90, 0]}, mass: 2, shapes: [{capsule: {radius: 0.1, length: 2}}]}
run: {end: 0.5}
)";
    Simulation simulation(scene_text(text, set(0.01)));
    const VecX start = simulation.state().q;
    while (simulation.advance()) {
        double on_floor = 0, on_board = 0;
        for (const ContactRecord& c : simulation.step().contacts) {
            if (c.id.a == 0) on_floor += c.impulse[0] / 0.01;
            if (c.id.b == 4) on_board += c.impulse[0] / 0.01;
        }
        ASSERT_NEAR(on_floor, 8 * g, 1e-8 * g) << simulation.state().t;
        ASSERT_NEAR(on_board, 2 * g, 1e-8 * g);
        ASSERT_EQ(simulation.step().contacts.size(), 10u);
    }
    EXPECT_EQ(simulation.state().t, 0.5);
    EXPECT_LT((simulation.state().q - start).norm(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Schemes, RollingCapsule, ::testing::ValuesIn(velocity_level_schemes()),
                         [](const auto& each) { return word_of(each.param); });

}  // namespace
}  // namespace stickslip::analytic
