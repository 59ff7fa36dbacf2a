// The energy ledger of whole runs: it closes to rounding whatever the options, and its entries are the closed forms.
#include "runs.hpp"
#include "support/models.hpp"

namespace stickslip::analytic {
namespace {

constexpr double rounding = 1e-12;  // of the energies and of what was booked, for runs of up to 1e4 steps

void expect_closed(const RunSummary& end, const std::string& what) {
    EXPECT_GT(end.energy_scale, 0) << what;
    const EnergyFlows& f = end.flows;
    const double booked = std::abs(f.applied_work) + std::abs(f.friction_loss) + std::abs(f.impact_loss) +
                          std::abs(f.regularisation_loss) + std::abs(f.scheme_loss);
    EXPECT_LE(std::abs(end.imbalance), rounding * (end.energy_scale + booked))
        << what << ": " << end.imbalance << " J of " << end.energy_scale << " J";
}

struct Variant {
    std::string name;
    std::vector<std::pair<std::string, std::string>> options;
    double longest;  // [s] runs are cut here
};
std::ostream& operator<<(std::ostream& out, const Variant& variant) { return out << variant.name; }

std::vector<Variant> variants() {
    std::vector<Variant> list;
    for (const char* theta : {"0.5", "0.7", "1"})
        for (const char* chi : {"0", "0.2", "1"})
            list.push_back({std::string("moreau_jean_theta_") + theta + "_stabilisation_" + chi,
                            {{"scheme.name", "moreau-jean"}, {"scheme.theta", theta}, {"scheme.stabilisation", chi}},
                            std::string(theta) == "0.5" && std::string(chi) == "0" ? infinity : 1.0});
    for (const char* law : {"poisson", "poisson-simple", "newton"})
        for (const char* chi : {"0", "0.2", "1"})
            list.push_back({std::string("euler_") + law + "_stabilisation_" + chi,
                            {{"scheme.name", "euler"}, {"scheme.impact", law}, {"scheme.stabilisation", chi}},
                            std::string(law) == "poisson" && std::string(chi) == "0" ? infinity : 1.0});
    for (Variant& variant : list) std::erase_if(variant.name, [](char c) { return c == '.' || c == '-'; });
    return list;
}

class EnergyBalance : public ::testing::TestWithParam<Variant> {
protected:
    void add_options(Model& model) const {
        std::erase_if(model.run.scheme.options, [](const OptionValue& option) { return option.key != "step"; });
        for (const auto& [key, text] : GetParam().options) {
            if (key == "scheme.name")
                model.run.scheme.name = text;
            else
                model.run.scheme.options.push_back({key.substr(std::string("scheme.").size()), text, {}});
        }
    }
};

TEST_P(EnergyBalance, ClosesForEveryShippedSceneAndMechanism) {
    double worst = 0;
    for (const std::string& name : stickslip::testing::every_model()) {
        Model model = load_model(name);
        add_options(model);
        // Explicit Euler is unstable on an elastic rod without damping, at any step.
        if (model.run.scheme.name == "euler" && name == "mechanism:flexible-slider-crank") continue;
        model.run.end = std::min(model.run.end, GetParam().longest);
        // It locates some twenty thousand impacts of a row of dominoes, and steps of a wall take a tenth of a second.
        if (model.run.scheme.name == "euler" && name.ends_with("dominoes.yaml")) model.run.end = 0.1;
        if (model.run.scheme.name == "euler" && name.ends_with("brick-wall.yaml")) model.run.end = 0.02;
        const RunSummary end = run(std::move(model));
        expect_closed(end, name);
        worst = std::max(worst, std::abs(end.imbalance) / end.energy_scale);
    }
    note("imbalance", {worst});
}

// Spinning bodies of very unequal inertia on springs and dampers, a hinge, a floor with friction and rebound, loads.
TEST_P(EnergyBalance, ClosesForSpringsOfAnyStiffness) {
    const char* text = R"yaml(
stickslip: 1
let: {k: 100, d: 0}
materials: {default: {friction: 0.4, restitution: 0.3}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  hook: {pose: [0, 0, 2], mass: 2, inertia: [0.1, 0.2, 0.25, 0.01, 0.02, 0.03], angular_velocity: [3, -8, 5], velocity: [1, 0, 0]}
  load: {pose: [0.3, 0.2, 1], mass: 1, shapes: [{box: [0.2, 0.3, 0.4]}], angular_velocity: [-9, 4, 12]}
  flag: {pose: [0.5, 0.2, 1.1], mass: 0.2, shapes: [{box: [0.2, 0.02, 0.1]}]}
joints:
  hinge: {revolute: {a: load, b: flag, at: [0.4, 0.2, 1.1], axis: [0, 1, 0]}}
forces:
  tie: {spring: {a: ground, at_a: [0, 0, 3], b: hook, at_b: [0.1, 0, 0.2], stiffness: k, damping: d}}
  rope: {spring: {a: hook, at_a: [0.1, 0.1, -0.1], b: load, at_b: [0.05, -0.1, 0.2], stiffness: k/3, damping: d/2}}
  breaks: {spring: {a: ground, at_a: [1, 1, 1], b: load, damping: 1 + d}}
  wind: {load: {body: flag, at: [0.1, 0, 0], force: ["sin(9*t)", 2, "t"], torque: [0, "0.1*cos(t)", 0], from: 0.1, until: 0.8}}
run: {end: 1, step: 1e-3}
)yaml";
    double worst = 0;
    for (const char* k : {"1e2", "1e4", "1e6", "1e8"}) {
        for (const char* d : {"0", "3", "1e4"}) {
            Model model = scene_text(text, Set{{"k", k}, {"d", d}});
            add_options(model);
            const RunSummary end = run(std::move(model));
            expect_closed(end, std::string("stiffness ") + k + ", damping " + d);
            worst = std::max(worst, std::abs(end.imbalance) / end.energy_scale);
        }
    }
    note("imbalance", {worst});
}

INSTANTIATE_TEST_SUITE_P(Variants, EnergyBalance, ::testing::ValuesIn(variants()),
                         [](const auto& each) { return each.param.name; });

// What leaves a sliding box leaves it by friction: all of m v^2/2.
TEST(EnergyEntries, FrictionTakesTheKineticEnergyOfASlide) {
    for (const std::string& scheme : velocity_level_schemes()) {
        const RunSummary end = run(scene("sliding-box", Set{{"scheme", scheme}}));
        EXPECT_NEAR(end.flows.friction_loss, 0.5 * 10 * 36, 1e-9) << scheme;
        EXPECT_LT(
            std::abs(end.flows.impact_loss) + std::abs(end.flows.scheme_loss) + std::abs(end.flows.regularisation_loss),
            1e-9)
            << scheme;
        EXPECT_EQ(end.flows.applied_work, 0);
    }
}

// What leaves in impacts is (1 - e^2) m v^2/2 each; explicit Euler gains m g^2 h t/2 in each flight of length t.
TEST(EnergyEntries, ImpactsTakeTheirShareAndEulerGainsInFlight) {
    const double e = 0.6, h = 1e-3, m = 2;
    Model model =
        mechanism("bouncing-ball", Set{{"scheme.name", "euler"}, {"run.end", "1.5"}}("e", e)("run.step", h)("m", m));
    const RunSummary end = run(std::move(model));
    double lost = 0, gained = 0, t = 0;
    for (const Event& event : end.events) {
        ASSERT_EQ(event.kind, EventKind::impact);
        lost += 0.5 * m * (1 - e * e) * event.normal_speed_before * event.normal_speed_before;
        gained += 0.5 * m * g * g * h * (event.t - t);
        t = event.t;
    }
    gained += 0.5 * m * g * g * h * (1.5 - t);
    EXPECT_NEAR(end.flows.impact_loss, lost, 1e-9);
    // Steps cut by an impact gain with their own length, so a flight of n steps is off by at most one step in n.
    EXPECT_NEAR(-end.flows.scheme_loss, gained, 0.02 * gained);
}

// A ball dropped without rebound: the impact takes m g z0.
TEST(EnergyEntries, PlasticImpactTakesTheHeight) {
    const RunSummary moreau = run(mechanism("bouncing-ball", Set{{"e", "0"}, {"run.step", "1e-4"}, {"run.end", "1"}}));
    EXPECT_NEAR(moreau.flows.impact_loss, g, 2 * g * std::sqrt(2 * g) * 1e-4);
    EXPECT_LT(std::abs(moreau.flows.scheme_loss), 1e-10);
}

// Work of a constant force over the way it makes; the way is exact for the trapezoidal rule.
TEST(EnergyEntries, AppliedWorkIsForceTimesWay) {
    const RunSummary end = run(scene("box-pushed-diagonally", Set{{"push", "7"}, {"end", "2"}}));
    const double way = std::hypot(end.q[0], end.q[1]);
    EXPECT_NEAR(end.flows.applied_work, 7 * way, 1e-9);
    EXPECT_NEAR(end.flows.friction_loss, 0.5 * g * way, 1e-9);
    EXPECT_NEAR(end.energies.kinetic, (7 - 0.5 * g) * way, 1e-9);
}

// A damped oscillator: what the damper takes is what the oscillation had, and theta = 1/2 adds nothing to it.
TEST(EnergyEntries, DamperTakesTheOscillation) {
    const char* text = R"yaml(
stickslip: 1
gravity: [0, 0, 0]
bodies: {mass: {pose: [1.5, 0, 0], mass: 2, inertia: 1}}
forces: {tie: {spring: {a: ground, b: mass, stiffness: 50, damping: 4, length: 1}}}
run: {end: 20, step: 2e-3}
)yaml";
    const RunSummary end = run(scene_text(text));
    EXPECT_NEAR(end.flows.applied_work, -0.5 * 50 * 0.25, 1e-9);
    EXPECT_LT(std::abs(end.flows.scheme_loss), 1e-10);
    EXPECT_NEAR(end.q[0], 1, 1e-6);
}

// The energy that the discretisation takes or gives vanishes with the step: a wrong force would leave a remainder here.
TEST(EnergyEntries, SchemeLossVanishesWithTheStep) {
    struct Case {
        const char *model, *end;
    };
    for (const Case& each :
         {Case{"mechanism:pendulum", "1"}, Case{"mechanism:block-stick-slip", "5"},
          Case{STICKSLIP_SCENES "/chain-10.yaml", "0.5"}, Case{STICKSLIP_SCENES "/four-bar.yaml", "1"}}) {
        for (const std::string& scheme : velocity_level_schemes()) {
            std::vector<double> losses;
            for (const double h : {0.001, 0.0005, 0.00025}) {
                const RunSummary end =
                    run(load_model(each.model, Set{{"run.scheme", scheme}, {"run.end", each.end}}("run.step", h)));
                losses.push_back(std::abs(end.flows.scheme_loss) / end.energy_scale);
            }
            const std::string name = std::string(each.model).substr(std::string(each.model).find_last_of("/:") + 1);
            const std::string numbers = note(name + "_" + scheme, losses);
            if (losses.front() < 1e-12) continue;  // constant forces: the trapezoidal rule loses nothing
            EXPECT_GT(observed_order(losses), 0.85) << numbers;
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
