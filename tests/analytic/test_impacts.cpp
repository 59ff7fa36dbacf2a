// Impacts: the post-impact speed, the heights of a bouncing ball, and the times at which a double pendulum strikes.
#include <array>

#include "runs.hpp"

namespace stickslip::analytic {
namespace {

struct Rule {
    std::string scheme, law;  // law is for euler only
};
std::ostream& operator<<(std::ostream& out, const Rule& rule) { return out << rule.scheme << ' ' << rule.law; }
const std::vector<Rule> rules{
    {"moreau-jean", ""}, {"euler", "poisson"}, {"euler", "poisson-simple"}, {"euler", "newton"}};

Set with(const Rule& rule, double h) {
    Set set{{"scheme.name", rule.scheme}, {"run.step", text_of(h)}};
    if (!rule.law.empty()) set("scheme.impact", rule.law);
    return set;
}

class Impact : public ::testing::TestWithParam<Rule> {};

// [m/s] Slower impacts do not rebound in euler, on purpose: its restitution_threshold. Only then may e be replaced, and only by 0.
double too_slow(const Rule& rule) { return rule.scheme == "euler" ? 1e-3 : 1e-9; }

void expect_newton(const RunSummary& end, const Rule& rule, double e, double h, double first_speed) {
    int seen = 0;
    for (const Event& event : end.events) {
        if (event.kind != EventKind::impact || event.normal_speed_before > -1e-9) continue;
        const bool slow = event.normal_speed_before > -1.0001 * too_slow(rule);
        if (slow && std::abs(event.normal_speed_after) < 1e-12) continue;
        EXPECT_NEAR(event.normal_speed_after, -e * event.normal_speed_before, 1e-12) << "at " << event.t;
        if (seen++ == 0) {
            EXPECT_NEAR(event.normal_speed_before, -first_speed, 2 * g * h);
        }
    }
    // Moreau-Jean overlaps by v h/2 at worst, so that a small rebound may end before the ball is out again.
    EXPECT_GE(seen, e > 0.2 ? 2 : 1);
}

TEST_P(Impact, BallLeavesWithRestitutionTimesItsSpeed) {
    const Reference reference("bouncing-ball");
    for (const double e : {0.0, 0.1, 0.5, 0.8, 1.0}) {
        for (const double h : {0.01, 0.001}) {
            SCOPED_TRACE("e " + text_of(e) + ", step " + text_of(h));
            const double speed = -reference.row("impact", {e, 1})[3];
            expect_newton(run(mechanism("bouncing-ball", with(GetParam(), h)("e", e))), GetParam(), e, h, speed);
            expect_newton(run(scene("bouncing-ball", with(GetParam(), h)("e", e))), GetParam(), e, h, speed);
        }
    }
}

// The normal of a sphere does not feel friction, so spin and slip change nothing in the law.
TEST_P(Impact, SpinningSphereWithFrictionLeavesWithRestitutionTimesItsSpeed) {
    for (const double e : {0.0, 0.1, 0.5, 0.8, 1.0}) {
        SCOPED_TRACE("e " + text_of(e));
        const RunSummary end =
            run(scene("bouncing-ball", with(GetParam(), 0.002)("e", e)("materials.default.friction", 0.4)(
                                           "materials.rubber.friction", 0.4)("bodies.ball.velocity", "[2, -1, 0]")(
                                           "bodies.ball.angular_velocity", "[3, 30, -7]")));
        expect_newton(end, GetParam(), e, 0.002, std::sqrt(2 * g));
    }
}

// Two balls hit the floor at different times and each other never: each contact has its own e (but poisson-simple
// allows one e for all contacts of one impact).
TEST_P(Impact, ContactsKeepTheirOwnRestitution) {
    const std::string text = R"(
stickslip: 1
materials: {default: {friction: 0.3, restitution: 0}, hard: {friction: 0.3, restitution: 0.9}, soft: {friction: 0.3, restitution: 0.2}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  quick: {pose: [0, 0, 1.1], mass: 1, shapes: [{sphere: 0.1, material: hard}]}
  dull: {pose: [3, 0, 0.73], mass: 5, shapes: [{sphere: 0.2, material: soft}]}
run: {end: 1.5}
)";
    const RunSummary end = run(scene_text(text, with(GetParam(), 0.002)));
    std::array<int, 2> seen{};
    for (const Event& event : end.events) {
        const bool dull = event.contact.a == 2 || event.contact.b == 2;
        const double e = dull ? 0.2 : 0.9;
        if (event.kind != EventKind::impact || event.normal_speed_before > -1.0001 * too_slow(GetParam())) continue;
        ++seen[dull];
        EXPECT_NEAR(event.normal_speed_after, -e * event.normal_speed_before, 1e-12);
    }
    EXPECT_GE(seen[0], 2);
    EXPECT_GE(seen[1], 2);
}

// A slab hits the floor with its right edge while its left edge rests there: the impact presses the left edge down too, and
// what it gives back must not depend on whether its speed is +0, -0 or a rounding error.
TEST_P(Impact, RoundingOfARestingContactDoesNotDecideItsRebound) {
    std::vector<VecX> after;
    for (const double error : {0.0, 1e-15, -1e-15}) {
        const std::string text = R"(
stickslip: 1
plane: xz
materials: {default: {friction: 0.4, restitution: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  slab: {pose: [0, 0, 0.1], mass: 1, shapes: [{box: [1, 1, 0.2]}], velocity: [1, 0, 0], angular_velocity: [0, 1, 0]}
run: {end: 1}
)";
        Model model = scene_text(text, with(GetParam(), 1e-3));
        model.state.v[1] = -0.5 + error;
        Simulation simulation(std::move(model));
        ASSERT_TRUE(simulation.advance());
        after.push_back(simulation.state().v);
    }
    EXPECT_GT(after[0][1], -0.1) << "it hit the floor";
    EXPECT_LT((after[1] - after[0]).norm(), 1e-12);
    EXPECT_LT((after[2] - after[0]).norm(), 1e-12);
}

// Highest points after the first and the second impact.
std::array<double, 2> apexes(Model model, double floor) {
    Simulation simulation(std::move(model));
    std::array<double, 2> highest{};
    int impacts = 0;
    bool falling = false;
    while (impacts < 3 && simulation.advance()) {
        const double v = simulation.state().v[simulation.state().v.size() == 1 ? 0 : 2];
        const double z = simulation.state().q[simulation.state().q.size() == 1 ? 0 : 2] - floor;
        if (falling && v >= 0) ++impacts;
        falling = v < 0;
        if (impacts == 1 || impacts == 2) highest[impacts - 1] = std::max(highest[impacts - 1], z);
    }
    return highest;
}

// The error depends on where in a step the impact falls: the worst of 12 drop heights is what halves. Without loss
// (e = 1) Moreau-Jean keeps the energy and reaches the height to rounding.
TEST_P(Impact, ApexErrorHalvesWithTheStep) {
    const Reference reference("bouncing-ball");
    const double top = 1.4;
    for (const double e : {0.5, 0.8, 1.0}) {
        std::vector<double> first, second;
        for (int k = 7; k <= 11; ++k) {
            double worst[2] = {0, 0};
            for (int i = 0; i < 12; ++i) {
                const double height = top - 0.037 * i;
                const auto apex =
                    apexes(mechanism("bouncing-ball", with(GetParam(), std::ldexp(1, -k))("e", e)("z0", height)), 0);
                for (int n = 0; n < 2; ++n) {
                    const double exact = height * reference.row("impact", {e, n + 1.0})[5];
                    worst[n] = std::max(worst[n], std::abs(apex[n] - exact));
                }
            }
            first.push_back(worst[0]);
            second.push_back(worst[1]);
        }
        const std::string numbers = note("first_" + text_of(e), first) + "; " + note("second_" + text_of(e), second);
        if (e == 1 && GetParam().scheme == "moreau-jean") {
            EXPECT_LT(std::max(*std::max_element(first.begin(), first.end()),
                               *std::max_element(second.begin(), second.end())),
                      1e-12)
                << numbers;
            continue;
        }
        EXPECT_NEAR(observed_order(first), 1, 0.15) << numbers;
        EXPECT_NEAR(observed_order(second), 1, 0.15) << numbers;
        EXPECT_LT(first.back(), 1.05 * std::sqrt(2 * g * top) * std::ldexp(1, -11))
            << numbers;  // impact speed times the step
    }
}

// Infinitely many impacts end at sqrt(2 z0/g)(1 + e)/(1 - e). Explicit Euler gains m g v h in a hop, which balances the loss of an
// impact at v = g h/(1 - e): it is at rest only if its threshold lies above, and goes on hopping no faster than that if not.
TEST_P(Impact, BallIsAtRestWhenItsImpactsHaveAccumulated) {
    const bool euler = GetParam().scheme == "euler";
    for (const double e : {0.0, 0.2, 0.5, 0.8}) {
        for (const double h : {0.01, 0.001}) {
            const double hop = g * h / (1 - e);  // [m/s]
            for (const bool quiet : {true, false}) {
                if (!quiet && !euler) continue;
                SCOPED_TRACE("e " + text_of(e) + ", step " + text_of(h) + (quiet ? "" : ", hopping"));
                const double rest = std::sqrt(2 / g) * (1 + e) / (1 - e);
                Set set = with(GetParam(), h)("e", e)("run.end", rest + 5);
                if (quiet && euler) set("scheme.restitution_threshold", 1.2 * hop);
                Simulation simulation(mechanism("bouncing-ball", set));
                double speed = 0, height = 0;
                while (simulation.advance()) {
                    if (simulation.state().t < rest + 4) continue;
                    speed = std::max(speed, std::abs(simulation.state().v[0]));
                    height = std::max(height, std::abs(simulation.state().q[0]));
                }
                EXPECT_LT(speed, quiet ? 1e-12 : 1.05 * hop);
                EXPECT_LT(height, std::sqrt(2 * g) * h);
            }
        }
    }
}

// A box that fell on its edge comes to rest on a face: with Moreau-Jean to rounding, and no event happens any more. Euler may
// go on rocking: an edge lifted by less than g h^2 falls back with the speed g h of a whole step, which pays for the next impact.
TEST_P(Impact, FallenBoxSettlesOnAFace) {
    const bool euler = GetParam().scheme == "euler";
    for (const double e : {0.0, 0.2, 0.6}) {
        for (const double h : {0.01, 0.002}) {
            SCOPED_TRACE("e " + text_of(e) + ", step " + text_of(h));
            Set set{{"scheme", GetParam().scheme}, {"end", "6"}};
            set("step", h)("materials.default.restitution", e);
            if (euler) set("scheme.impact", GetParam().law);
            Simulation simulation(scene("falling-box", set));
            const double settled = 8 * g * h / (1 - e);  // [m/s] a few hops of a step each
            while (simulation.advance()) {
                if (simulation.state().t < 5) continue;
                ASSERT_LT(simulation.state().v.norm(), euler ? settled : 1e-10) << "at " << simulation.state().t;
                if (euler) continue;
                ASSERT_TRUE(simulation.step().events.empty())
                    << to_string(simulation.step().events[0].kind) << " at " << simulation.state().t;
            }
            EXPECT_EQ(simulation.state().t, 6);
            // Moreau-Jean overlaps by the speed of the fall times h at worst.
            EXPECT_NEAR(simulation.state().q[2], 0.25, euler ? settled * h : 6.3 * h);
        }
    }
}

TEST_P(Impact, BallOfASceneBouncesAsTheMechanism) {
    const auto ball = apexes(scene("bouncing-ball", with(GetParam(), 0.002)("e", 0.8)("end", 3)), 0.1);
    const auto point = apexes(mechanism("bouncing-ball", with(GetParam(), 0.002)("e", 0.8)), 0);
    for (const std::size_t n : {0u, 1u}) EXPECT_NEAR(ball[n], point[n], 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Rules, Impact, ::testing::ValuesIn(rules), [](const auto& each) {
    const std::string& law = each.param.law;
    return law.empty()        ? "MoreauJean"
           : law == "poisson" ? "EulerPoisson"
           : law == "newton"  ? "EulerNewton"
                              : "EulerPoissonSimple";
});

class Wall : public ::testing::TestWithParam<std::string> {};

// All impacts are of one frictionless contact, so the three laws agree.
TEST_P(Wall, DoublePendulumStrikesFiveTimesAndTheTimesConverge) {
    const Reference reference("double-pendulum-wall");
    const auto& exact = reference.rows("impact");
    std::vector<std::vector<double>> errors(exact.size());
    std::vector<double> speed_errors;
    for (int k = 10; k <= 14; ++k) {
        const RunSummary end =
            run(mechanism("double-pendulum-wall",
                          Set{{"scheme.name", "euler"}, {"scheme.impact", GetParam()}}("run.step", std::ldexp(1, -k))));
        std::vector<Event> impacts;
        for (const Event& event : end.events)
            if (event.kind == EventKind::impact) impacts.push_back(event);
        ASSERT_EQ(impacts.size(), exact.size()) << "step 2^-" << k;
        double worst = 0;
        for (std::size_t i = 0; i < exact.size(); ++i) {
            EXPECT_EQ(impacts[i].contact.a + 1, exact[i][0]) << "impact " << i << ", step 2^-" << k;
            errors[i].push_back(std::abs(impacts[i].t - exact[i][1]));
            worst = std::max(worst, std::abs(impacts[i].normal_speed_before - exact[i][2]));
            EXPECT_NEAR(impacts[i].normal_speed_after, -0.1 * impacts[i].normal_speed_before, 1e-12);
        }
        speed_errors.push_back(worst);
    }
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const std::string numbers = note("impact_" + std::to_string(i + 1), errors[i]);
        EXPECT_NEAR(observed_order(errors[i]), 1, 0.3) << numbers;
    }
    EXPECT_NEAR(observed_order(speed_errors), 1, 0.3) << note("speeds", speed_errors);
}

INSTANTIATE_TEST_SUITE_P(Laws, Wall, ::testing::Values("poisson", "poisson-simple", "newton"), [](const auto& each) {
    return each.param == "poisson" ? "Poisson" : each.param == "newton" ? "Newton" : "PoissonSimple";
});

// Moreau-Jean finds no times, but its configuration converges between the impacts.
TEST(MoreauJeanWall, DoublePendulumStatesConverge) {
    const Reference reference("double-pendulum-wall");
    std::vector<double> errors;
    for (int k = 9; k <= 13; ++k) {
        const double h = std::ldexp(1, -k);
        Simulation simulation(mechanism("double-pendulum-wall", Set{{"scheme.name", "moreau-jean"}}("run.step", h)));
        double worst = 0;
        for (const std::vector<double>& state : reference.rows("state")) {
            while (simulation.state().t < state[0] - h / 2) ASSERT_TRUE(simulation.advance());
            ASSERT_NEAR(simulation.state().t, state[0], 1e-12);
            for (int i = 0; i < 4; ++i) worst = std::max(worst, std::abs(simulation.state().q[i] - state[1 + i]));
        }
        errors.push_back(worst);
    }
    const std::string numbers = note("errors", errors);
    EXPECT_NEAR(observed_order(errors), 1, 0.4) << numbers;
    EXPECT_LT(errors.back(), 1e-2) << numbers;
}

}  // namespace
}  // namespace stickslip::analytic
