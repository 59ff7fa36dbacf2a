// The verdict on a run: for each reason a run that earns it and one that does not.
#include <algorithm>

#include "runs.hpp"
#include "simulation/verdict.hpp"

namespace stickslip::testing {
namespace {

RunSummary run(Model model) { return Simulation(std::move(model)).run(); }
RunSummary run_mechanism(const std::string& name, const OptionValues& values = {}) {
    return run(load_model("mechanism:" + name, values));
}

// The ground of this kind, or none.
const Verdict::Ground* ground(const RunSummary& s, const std::string& kind) {
    const auto& all = s.verdict.grounds;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& g) { return g.kind == kind; });
    return found == all.end() ? nullptr : &*found;
}

void expect_doubt(const RunSummary& s, const std::string& kind) {
    EXPECT_EQ(s.verdict.status, Trust::doubtful);
    EXPECT_EQ(s.verdict.reasons.size(), s.verdict.grounds.size());
    const Verdict::Ground* found = ground(s, kind);
    ASSERT_NE(found, nullptr) << kind;
    EXPECT_GT(found->value, found->limit);
}

void expect_trust(const RunSummary& s) {
    EXPECT_EQ(s.verdict.status, Trust::trusted)
        << s.scheme << ": " << (s.verdict.reasons.empty() ? "" : s.verdict.reasons[0]);
    EXPECT_TRUE(s.verdict.reasons.empty());
}

TEST(Verdict, GoodRunsAreTrusted) {
    expect_trust(run(scene_of(sliding_box)));
    expect_trust(run(scene_of(stone)));
}

TEST(Verdict, StepsAboveTheToleranceAreCounted) {
    const RunSummary s = run(scene_of(sliding_box, {{"solver.tol", "1e-30", {}}, {"run.policy", "budget", {}}}));
    expect_doubt(s, "residual");
    EXPECT_FALSE(s.certified);
    EXPECT_TRUE(any_contains(s.verdict.reasons, "128 of 128 steps (100 %) are not certified"));
}

const char* const jammed = R"(
stickslip: 1
bodies:
  left: {fixed: true, shapes: [{half-space: {normal: [1, 0, 0], offset: -0.4}}]}
  right: {fixed: true, shapes: [{half-space: {normal: [-1, 0, 0], offset: -0.4}}]}
  box: {mass: 1, shapes: [{box: [1, 1, 1]}]}
run: {scheme: {name: moreau-jean, contact_stabilisation: 1, overlap: leave}, end: 0.1}
)";

TEST(Verdict, RefusedRunsSayWhyAndAreNotCertified) {
    const RunSummary s = run(scene_of(jammed));
    EXPECT_EQ(s.verdict.status, Trust::refused);
    EXPECT_FALSE(s.certified);
    ASSERT_FALSE(s.verdict.reasons.empty());
    EXPECT_EQ(s.verdict.reasons[0], s.reason);
    EXPECT_EQ(s.verdict.grounds[0].kind, "refused");
}

const char* const dropped_box = R"(
stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box: {pose: [0, 0, 0.6], mass: 2, shapes: [{box: [1, 1, 1]}], velocity: [0, 0, -5]}
run: {step: 2^-8, end: 0.5}
)";

TEST(Verdict, OverlapIsMeasuredByTheThickness) {
    expect_trust(run(scene_of(dropped_box)));
    expect_trust(run(scene_of(dropped_box, {{"scheme.overlap", "leave", {}}})));
    const RunSummary s = run(scene_of(dropped_box, {{"run.step", "2^-5", {}}, {"scheme.overlap", "leave", {}}}));
    expect_doubt(s, "overlap");
    EXPECT_TRUE(any_contains(s.verdict.reasons, "floor/box"));
    EXPECT_NEAR(ground(s, "overlap")->limit, 0.04, 1e-12);  // 8 % of half a metre
}

const char* const pendulum = R"(
stickslip: 1
bodies:
  bob: {pose: [1, 0, 0], mass: 2, inertia: 0.1}
joints:
  pin: {revolute: {a: ground, b: bob, at: [0, 0, 0], axis: [0, 1, 0]}}
run: {step: 2^-12, end: 1}
)";

TEST(Verdict, JointsThatDriftApartAreNamed) {
    expect_trust(run(scene_of(pendulum)));
    const RunSummary s = run(scene_of(pendulum, {{"run.step", "2^-5", {}}, {"scheme.name", "euler", {}}}));
    expect_doubt(s, "joint");
    EXPECT_TRUE(any_contains(s.verdict.reasons, "'pin' drifts apart"));
}

const char* const oscillator = R"(
stickslip: 1
gravity: [0, 0, 0]
bodies:
  mass: {pose: [1.1, 0, 0], mass: 1, inertia: 0.1}
forces:
  spring: {spring: {a: ground, at_a: [0, 0, 0], b: mass, at_b: [0, 0, 0], length: 1, stiffness: 400}}
run: {step: 1e-3, end: 2}
)";

TEST(Verdict, EnergyMadeByTheSchemeIsDoubted) {
    for (const char* scheme : {"moreau-jean", "hem5"})
        expect_trust(run(scene_of(oscillator, {{"scheme.name", scheme, {}}})));
    // Explicit Euler on a pendulum: its energy grows in every step.
    const RunSummary s = run(scene_of(pendulum, {{"scheme.name", "euler", {}}, {"run.step", "2^-6", {}}}));
    EXPECT_EQ(s.verdict.status, Trust::doubtful);
    EXPECT_NE(ground(s, "scheme-energy"), nullptr);
}

// Throwing a body out of an overlap in one step gives it speed.
TEST(Verdict, EnergyMadeByStabilisationIsDoubted) {
    const RunSummary s = run(scene_of(dropped_box, {{"run.step", "0.01", {}},
                                                    {"scheme.name", "trapezoidal", {}},
                                                    {"scheme.stabilisation", "1", {}},
                                                    {"bodies.box.pose", "[0, 0, 0.46]", {}}}));
    expect_doubt(s, "stabilisation-energy");
    EXPECT_EQ(ground(run(scene_of(pendulum, {{"run.step", "2^-8", {}}})), "stabilisation-energy"), nullptr);
}

TEST(Verdict, ImpactsThatMakeEnergyAreDoubted) {
    expect_doubt(run_mechanism("kane-pendulum"), "impact-energy");
    EXPECT_EQ(ground(run_mechanism("bouncing-ball"), "impact-energy"), nullptr);
}

const char* const spinning = R"(
stickslip: 1
gravity: [0, 0, -9.81]
bodies:
  top: {mass: 1, inertia: [0.01, 0.02, 0.028], angular_velocity: [1000, 10, 5]}
run: {step: 1e-3, end: 0.5}
)";

// The trapezoidal scheme keeps the energy of a free body to rounding whatever the step, but not the direction of its momentum. The default
// follows bodies that nothing turns.
TEST(Verdict, FastSpinsKeepTheirMomentumOrAreDoubted) {
    const RunSummary coarse = run(scene_of(spinning, {{"scheme.name", "trapezoidal", {}}}));
    expect_doubt(coarse, "momentum");
    EXPECT_LT(std::abs(coarse.flows.scheme_loss), 1e-9 * coarse.energy_scale);
    EXPECT_TRUE(any_contains(coarse.verdict.reasons, "angular momentum of 'top'"));
    expect_trust(run(scene_of(spinning, {{"scheme.name", "trapezoidal", {}}, {"run.step", "1e-4", {}}})));
    expect_trust(run(scene_of(spinning, {{"scheme.name", "hem5", {}}})));
    for (const char* h : {"1e-4", "1e-3", "1.9e-3"}) {
        const RunSummary free = run(scene_of(spinning, {{"run.step", h, {}}}));
        expect_trust(free);
        EXPECT_LT(std::abs(free.flows.scheme_loss), 1e-9 * free.energy_scale) << h;
    }
    // A third of a revolution in a step is more than is followed.
    const RunSummary fast = run(scene_of(spinning, {{"run.step", "2.1e-3", {}}}));
    expect_doubt(fast, "momentum");
    EXPECT_LT(std::abs(fast.flows.scheme_loss), 1e-9 * fast.energy_scale);
}

// Two weights on a hinge that fly around each other. Without stabilisation they drift apart and keep none of it.
TEST(Verdict, JointedBodiesInFreeFlightAreOneGroup) {
    const std::string bolas = R"(
stickslip: 1
bodies:
  left: {pose: [-1, 0, 0], mass: 1, inertia: 0.1, velocity: [0, -20, 0], angular_velocity: [0, 0, 20]}
  right: {pose: [1, 0, 0], mass: 1, inertia: 0.1, velocity: [0, 20, 0], angular_velocity: [0, 0, 20]}
joints:
  pin: {ball: {a: left, b: right, at: [0, 0, 0]}}
run: {step: 1e-3, end: 1}
)";
    const RunSummary coarse = run(scene_of(bolas, {{"scheme.name", "euler", {}}}));
    expect_doubt(coarse, "momentum");
    EXPECT_TRUE(any_contains(coarse.verdict.reasons, "'left' and the 1 it is joined to"));
    expect_trust(run(scene_of(bolas, {{"scheme.name", "hem5", {}}})));
}

// Two balls that meet off centre without gravity, and what they have afterwards of the momentum before.
const char* const billiards = R"(
stickslip: 1
gravity: [0, 0, 0]
materials: {default: {friction: 0.3, restitution: 0.8}}
bodies:
  left: {pose: [-1, 0, 0], mass: 1, shapes: [{sphere: 0.2}], velocity: [3, 0, 0]}
  right: {pose: [1, 0.2, 0], mass: 2, shapes: [{sphere: 0.2}], velocity: [-3, 0, 0]}
run: {step: 2^-10, end: 0.6}
)";

Vec3 momentum_of(const VecX& v) { return v.segment<3>(0) + 2 * v.segment<3>(6); }

TEST(Verdict, CollidingBallsKeepTheirLinearMomentumAtAnyStep) {
    for (const char* scheme : {"moreau-jean", "euler", "stewart-trinkle", "hem5"}) {
        const RunSummary s = run(scene_of(billiards, {{"scheme.name", scheme, {}}}));
        EXPECT_GT(std::abs(s.v[1]), 0.1) << scheme << ": they did collide";
        EXPECT_LT((momentum_of(s.v) - Vec3(-3, 0, 0)).norm(), 1e-12) << scheme;
        EXPECT_EQ(ground(s, "linear-momentum"), nullptr) << scheme;
        EXPECT_EQ(ground(s, "momentum"), nullptr) << scheme;
    }
}

// The impulse acts where the balls were at the start of the step, half a step of flight away from where they part.
TEST(Verdict, CollisionsInFlightThatTurnTheMomentumAreDoubted) {
    const RunSummary s = run(scene_of(billiards, {{"run.step", "0.02", {}}}));
    expect_doubt(s, "momentum");
    EXPECT_TRUE(any_contains(s.verdict.reasons, "'left' and the 1 it touches, which collide in flight"));
    EXPECT_EQ(ground(s, "linear-momentum"), nullptr);
    EXPECT_EQ(ground(run(scene_of(billiards, {{"run.step", "0.02", {}}, {"scheme.name", "euler", {}}})), "momentum"),
              nullptr);  // which stops at impacts
}

// Schatzman-Paoli's velocity is that of half a step before: a body that starts from rest lacks half a step of weight.
TEST(Verdict, VelocitiesThatLagBehindTheWeightAreDoubted) {
    const std::string drop = R"(
stickslip: 1
bodies:
  stone: {mass: 3, inertia: 1}
run: {scheme: schatzman-paoli, step: 2^-4, end: 1}
)";
    expect_doubt(run(scene_of(drop)), "linear-momentum");
    expect_trust(run(scene_of(drop, {{"run.step", "2^-8", {}}})));
    expect_trust(run(scene_of(drop, {{"scheme.name", "moreau-jean", {}}})));
}

TEST(Verdict, TorquesAndTouchesAreNoErrorsOfMomentum) {
    const std::string loaded = std::string(spinning) + R"(
forces:
  screw: {load: {body: top, torque: [0, 3, 0]}}
)";
    EXPECT_EQ(ground(run(scene_of(loaded)), "momentum"), nullptr);
    const RunSummary bouncing = run(scene_of(R"(
stickslip: 1
materials: {default: {friction: 0.5, restitution: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.5], mass: 2, shapes: [{sphere: 0.2}], velocity: [1, 0, 0], angular_velocity: [0, 50, 0]}
run: {step: 2^-9, end: 1}
)"));
    EXPECT_EQ(ground(bouncing, "momentum"), nullptr);
}

// Seventy balls that land two milliseconds after each other. A scheme that is told to take no sub-steps that short gives up after fifty.
TEST(Verdict, EventsThatWereNotLocatedAreCounted) {
    std::string hail = R"(
stickslip: 1
materials: {default: {restitution: 0.5}}
run: {scheme: trapezoidal, step: 0.1, end: 0.4}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
)";
    for (int i = 0; i < 70; ++i) {
        const double t = 0.2 + 0.002 * i;
        hail += fmt::format("  ball-{}: {{pose: [{}, 0, {:.9f}], mass: 1, shapes: [{{sphere: 0.1}}]}}\n", i, i,
                            0.1 + 9.81 / 2 * t * t);
    }
    const RunSummary s = run(scene_of(hail, {{"scheme.shortest_substep", "0.3", {}}}));
    expect_doubt(s, "unlocated");
    EXPECT_EQ(ground(s, "unlocated")->value, static_cast<double>(s.unlocated_events));
    EXPECT_TRUE(any_contains(s.verdict.reasons, "events were not located"));
    const RunSummary finer = run(scene_of(hail));
    EXPECT_EQ(finer.unlocated_events, 0);
    expect_trust(finer);
}

TEST(Verdict, PainleveIsDoubtedInEveryScheme) {
    for (const char* scheme : {"moreau-jean", "euler", "trapezoidal", "stewart-trinkle", "hem5", "dopri5", "rattle",
                               "generalized-alpha", "hybrid"}) {
        const OptionValues values{{"scheme.name", scheme, {}}, {"run.end", "0.01", {}}};
        const RunSummary s = run_mechanism("painleve-rod", values);
        EXPECT_EQ(s.verdict.status, Trust::doubtful) << scheme;
        ASSERT_NE(ground(s, "paradox"), nullptr) << scheme;
        EXPECT_NEAR(ground(s, "paradox")->limit, 4.0 / 3, 1e-2) << scheme;
        EXPECT_EQ(std::count_if(s.verdict.grounds.begin(), s.verdict.grounds.end(),
                                [](const auto& g) { return g.kind == "paradox"; }),
                  1)
            << scheme << ": the other tip is in the air";
        OptionValues smooth = values;
        smooth.push_back({"mu", "0.5", {}});
        EXPECT_EQ(ground(run_mechanism("painleve-rod", smooth), "paradox"), nullptr) << scheme;
    }
}

TEST(Verdict, ForcesThatAreNotUniqueAreRemarkedOnly) {
    const RunSummary four = run(scene_of(sliding_box));
    EXPECT_EQ(four.verdict.status, Trust::trusted);
    EXPECT_TRUE(any_contains(four.verdict.remarks, "4 contacts"));
    const RunSummary one = run(scene_of(R"(
stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  ball: {pose: [0, 0, 0.2], mass: 2, shapes: [{sphere: 0.2}]}
run: {step: 2^-8, end: 0.1}
)"));
    EXPECT_TRUE(one.verdict.remarks.empty());
}

TEST(Verdict, TheImpactLawIsNamedWhereLawsDiffer) {
    const std::string box = R"(
stickslip: 1
materials: {default: {friction: 0.5, restitution: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box: {pose: [0, 0, 0.6], mass: 2, shapes: [{box: [1, 1, 1]}], velocity: [1, 0, 0]}
run: {step: 2^-9, end: 0.3}
)";
    EXPECT_TRUE(any_contains(run(scene_of(box)).verdict.remarks, "the law was newton"));
    EXPECT_TRUE(
        any_contains(run(scene_of(box, {{"scheme.name", "euler", {}}})).verdict.remarks, "the law was poisson"));
    const RunSummary smooth = run(scene_of(box, {{"materials.default.friction", "0", {}}}));
    for (const std::string& remark : smooth.verdict.remarks) EXPECT_FALSE(contains(remark, "the law was")) << remark;
}

// The energy that friction takes while a box lands belongs to friction, and moving the origin up changes no yardstick.
TEST(Verdict, TheLedgerDoesNotDependOnTheOrigin) {
    const auto landing = [](double z) {
        return run(scene_of(fmt::format(R"(
stickslip: 1
materials: {{default: {{friction: 0.5}}}}
bodies:
  floor: {{fixed: true, shapes: [{{half-space: {{normal: [0, 0, 1], offset: {}}}}}]}}
  box: {{pose: [0, 0, {}], mass: 2, shapes: [{{box: [1, 1, 1]}}], velocity: [3, 0, -1]}}
run: {{step: 2^-9, end: 0.5}}
)",
                                        z, z + 0.5)));
    };
    const RunSummary low = landing(0), high = landing(1024);
    EXPECT_NEAR(low.energy_scale, high.energy_scale, 1e-6 * low.energy_scale);
    EXPECT_LE(std::abs(low.imbalance), 1e-12 * low.energy_scale);
    EXPECT_NEAR(low.flows.impact_loss, 1, 0.05);    // of the normal speed: m v_N^2 / 2
    EXPECT_NEAR(low.flows.friction_loss, 9, 0.05);  // of the rest, part of it in the step that lands
}

}  // namespace
}  // namespace stickslip::testing
