// Impact laws [Anitescu-Potra, s.3; Haddouni, (1.19)-(1.21)]: random frictional impacts of several contacts with joints and
// what they do to the energy, Poisson's law by hand, tangential restitution, Kane's double pendulum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "collision/finder.hpp"
#include "diagnose/wedging.hpp"
#include "papers/impact_cases.hpp"
#include "stickslip/load.hpp"
#include "stickslip/simulation.hpp"
#include "support/models.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Impact;
using testing::Outcome;
using testing::Random;
using testing::set;
using testing::strike;

// M, joints, contacts in the plane (one tangent) or in space (two; discs and polygons), velocities that keep to the joints.
Impact random_impact(Random& random) {
    Impact impact;
    const int nv = 3 + random.below(8), m = random.below(std::min(3, nv - 2)), contacts = 1 + random.below(4);
    const bool space = random.below(2) == 1;
    const MatX B = random.matrix(nv, nv);
    impact.M = B * B.transpose() + 0.3 * MatX::Identity(nv, nv);
    impact.G = random.matrix(m, nv);
    const MatX inverse = impact.M.inverse();
    impact.v = random.vector(nv);
    if (m > 0) {
        const MatX W = impact.G * inverse * impact.G.transpose();
        impact.v -= inverse * impact.G.transpose() * W.inverse() * (impact.G * impact.v);
    }
    for (int i = 0; i < contacts; ++i) {
        MatX H = random.matrix(space ? 3 : 2, nv);
        for (Eigen::Index k = 0; k < H.rows(); ++k) H.row(k).normalize();
        // The first approaches; the others do, or rest, or leave.
        const double speed = H.row(0).dot(impact.v);
        if ((i == 0 || random.below(3) > 0) && speed > 0) H.row(0) *= -1;
        impact.H.push_back(H);
        impact.mu.push_back(random.uniform(0, 1.2));
        impact.e.push_back(random.below(8) == 0 ? 1.0 : random.uniform(0, 1));
        impact.facets.push_back(space && random.below(2) == 1 ? 8 : 0);
    }
    return impact;
}

// Whether no contact forces balance each other.
bool pointed(const Impact& impact) {
    const Model model = impact.model("newton");
    ContactFinder finder;
    BlockMatrix mass;
    BilateralRows joints;
    ContactRows contacts;
    model.system->mass(model.state.q, mass);
    model.system->rows(0, model.state.q, finder, joints, contacts);
    return find_wedges(mass, joints, contacts, 1e-9).pointed();
}

class RandomImpacts : public ::testing::TestWithParam<const char*> {};

TEST_P(RandomImpacts, GainEnergyOnlyWhereTheirLawAllowsAndSaySo) {
    const std::string law = GetParam();
    const bool never = law == "poisson-simple" || law == "newton-common";
    Random random(20260);
    int gains = 0, refused = 0;  // refused: the step has no solution
    double largest = 0;
    for (int k = 0; k < 1000; ++k) {
        const Impact impact = random_impact(random);
        SCOPED_TRACE("impact " + std::to_string(k) + ", " + law);
        const Outcome outcome = strike(impact, law);
        if (outcome.end.end != RunEnd::finished) {
            // Where bodies are squeezed, contacts with different e may ask for what excludes each other; nowhere else.
            EXPECT_EQ(law, "newton") << outcome.end.reason;
            EXPECT_FALSE(pointed(impact)) << outcome.end.reason;
            ++refused;
            continue;
        }
        const double scale = impact.energy(impact.v);
        EXPECT_LT((impact.G * outcome.end.v).norm(), 1e-8);
        for (const MatX& H : impact.H) EXPECT_GT(H.row(0).dot(outcome.end.v), -1e-7);
        // The ledger, the count and the warning say the same as the velocities.
        EXPECT_NEAR(outcome.end.flows.impact_loss, -outcome.gain, 1e-7 * scale);
        // What the residual of the solver leaves, besides rounding.
        const double momentum = (impact.M * outcome.end.v).lpNorm<1>() + (impact.M * impact.v).lpNorm<1>();
        EXPECT_LT(std::abs(outcome.end.imbalance),
                  1e-12 * outcome.end.energy_scale + outcome.end.residual.max * momentum);
        const bool made = outcome.gain > 1e-6 * scale;
        if (std::abs(outcome.gain) > 1e-6 * scale) {
            EXPECT_EQ(outcome.end.impact_gains.count > 0, made);
        }
        bool told = false;
        for (const std::string& text : outcome.end.warnings) told = told || text.find("impacts made") != text.npos;
        EXPECT_EQ(told, outcome.end.impact_gains.count > 0);
        gains += made;
        largest = std::max(largest, outcome.gain / scale);
        if (never) {
            EXPECT_LT(outcome.gain, 1e-9 * scale);
        }
    }
    std::printf("%-15s gained energy in %d of 1000 impacts, at most %.3g of what there was; %d refused\n", law.c_str(),
                gains, largest, refused);
    if (!never) {
        EXPECT_GT(gains, 0);
    }
    EXPECT_LT(refused, 100);
}

INSTANTIATE_TEST_SUITE_P(Laws, RandomImpacts,
                         ::testing::Values("poisson", "poisson-printed", "poisson-simple", "newton", "newton-common"),
                         [](const auto& item) {
                             std::string name = item.param;
                             for (char& c : name)
                                 if (c == '-') c = '_';
                             return name;
                         });

// One contact in the plane, by trying its modes: u = u0 + W p with the normal impulse given + p_N and friction under both.
// Empty where no mode fits, or several do.
std::optional<Vec2> by_modes(const Eigen::Matrix2d& W, const Vec2& u0, double mu, double given) {
    std::optional<Vec2> found;
    int fits = 0;
    const double a = W(0, 0), b = W(0, 1), c = W(1, 1), slack = 1e-10;
    const Vec2 q = u0 + given * W.col(0);
    for (const bool pressed : {false, true}) {
        for (const int side : {0, 1, -1}) {  // sticks, or slides this way
            Vec2 p(0, 0);
            if (side == 0) {
                if (pressed)
                    p = -W.inverse() * q;
                else
                    p[1] = -q[1] / c;
            } else {
                if (pressed) p[0] = -(q[0] - side * mu * b * given) / (a - side * mu * b);
                p[1] = -side * mu * (given + p[0]);
            }
            const Vec2 u = q + W * p;
            bool fit = p[0] >= -slack && u[0] >= -slack;
            fit = fit && (side == 0 ? std::abs(p[1]) <= mu * (given + p[0]) + slack : side * u[1] >= -slack);
            if (!fit || (found && (*found - p).norm() < 1e-8)) continue;
            found = p;
            ++fits;
        }
    }
    return fits == 1 ? found : std::nullopt;
}

// `poisson` has friction under the whole normal impulse of each phase; `poisson-printed` in the decompression under its new impulses
// alone, with e p_c as a push from outside [Anitescu-Potra, (3.4); Potra et al., (78)].
class PoissonByHand : public ::testing::TestWithParam<const char*> {};

TEST_P(PoissonByHand, FrictionActsUnderTheImpulsesThatTheLawSays) {
    const bool printed = std::string(GetParam()) == "poisson-printed";
    Random random(7);
    int compared = 0, slid = 0, turned = 0, pressed = 0;
    for (int k = 0; k < 600; ++k) {
        Impact impact;
        const MatX B = random.matrix(4, 4);
        impact.M = B * B.transpose() + 0.2 * MatX::Identity(4, 4);
        impact.G = MatX(0, 4);
        impact.H = {random.matrix(2, 4)};
        impact.v = random.vector(4);
        if (impact.H[0].row(0).dot(impact.v) > 0) impact.H[0].row(0) *= -1;
        impact.mu = {random.uniform(0.05, 1)};
        impact.e = {random.uniform(0, 1)};
        const MatX& H = impact.H[0];
        const Eigen::Matrix2d W = H * impact.M.inverse() * H.transpose();
        const Vec2 u0 = H * impact.v;
        const auto compression = by_modes(W, u0, impact.mu[0], 0);
        if (!compression) continue;
        const double returned = impact.e[0] * (*compression)[0];
        const Vec2 u_c = u0 + W * *compression;
        const auto decompression = printed ? by_modes(W, u_c + returned * W.col(0), impact.mu[0], 0)
                                           : by_modes(W, u_c, impact.mu[0], returned);
        if (!decompression) continue;
        const Vec2 p = *compression + *decompression + Vec2(returned, 0);
        const VecX v = impact.v + impact.M.inverse() * H.transpose() * p;
        SCOPED_TRACE(k);
        const Outcome outcome = strike(impact, GetParam());
        ASSERT_EQ(outcome.end.end, RunEnd::finished) << outcome.end.reason;
        EXPECT_LT((outcome.end.v - v).norm(), 1e-7 * (1 + v.norm()));
        ++compared;
        const Vec2 u = H * v;
        slid += std::abs(u[1]) > 1e-6;
        turned += u_c[1] * u0[1] < -1e-9 || u[1] * u_c[1] < -1e-9;
        pressed += (*decompression)[0] > 1e-9;
    }
    std::printf("compared %d, slid %d, slip turned %d, pressed in decompression %d\n", compared, slid, turned, pressed);
    EXPECT_GT(compared, 400);
    EXPECT_GT(slid, 20);
    EXPECT_GT(turned, 5);
}

INSTANTIATE_TEST_SUITE_P(Laws, PoissonByHand, ::testing::Values("poisson", "poisson-printed"),
                         [](const auto& item) { return item.param == std::string("poisson") ? "ours" : "printed"; });

// The decompression is a step problem like any other: solvers that take its cones take it.
TEST(PoissonImpact, SolversTakeTheDecompression) {
    std::vector<StepProblem> problems;
    Random random(99);
    for (int k = 0; k < 80; ++k) {
        Simulation simulation(random_impact(random).model("poisson"));
        simulation.watch_solves([&](const SolvedProblem& solved) {
            const auto& id = solved.problem.contacts.id;
            if (std::adjacent_find(id.begin(), id.end()) != id.end()) problems.push_back(solved.problem);
        });
        simulation.run();
    }
    ASSERT_GT(problems.size(), 60u);
    for (const SolverEntry& entry : solvers()) {
        int solved = 0;
        for (const StepProblem& problem : problems) {
            StepSolution solution;
            const auto solver = make_solver(entry.name);
            solved += solver->solve(problem, solution).status == Status::ok &&
                      residual(problem, solution).max() <= default_tolerance;
        }
        std::printf("%-18s solved %d of %zu decompressions\n", entry.name, solved, problems.size());
        if (std::string(entry.name) == "auto") {
            EXPECT_EQ(solved, static_cast<int>(problems.size()));
        }
    }
}

std::string ball(const std::string& material, const std::string& velocity, const std::string& cone = "disc") {
    return R"(stickslip: 1
gravity: [0, 0, 0]
materials: {default: {friction: 0, restitution: 0}, rough: )" +
           material + R"(}
contacts: {cone: )" +
           cone + R"(}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}, material: rough}]}
  ball: {pose: [0, 0, 0.1], mass: 2, shapes: [{sphere: 0.1, material: rough}], velocity: )" +
           velocity + R"(, angular_velocity: [0, 0, 5]}
run: {end: 1e-3, scheme: {name: euler}}
)";
}

RunSummary after(const std::string& text, const OptionValues& values) {
    Simulation simulation(build_model(read_scene_text(text, "scene of a test", values)));
    RunSummary summary = simulation.run();
    EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
    return summary;
}

// A ball that slides all through the impact loses mu (1 + e) |v_N| of its speed, against the slip, and gets the spin of that.
TEST(PoissonImpact, BallInSpaceSlidesThroughBothPhases) {
    const double mu = 0.2, e = 0.5, fall = 2, share = 1 - mu * (1 + e) * fall / 5;
    const std::string text = ball("{friction: 0.2, restitution: 0.5}", "[3, 4, -2]");
    for (const char* law : {"poisson", "poisson-simple", "newton"}) {
        SCOPED_TRACE(law);
        const VecX v = after(text, {set("scheme.impact", law)}).v;
        EXPECT_NEAR(v[0], 3 * share, 1e-8);
        EXPECT_NEAR(v[1], 4 * share, 1e-8);
        EXPECT_NEAR(v[2], e * fall, 1e-8);
        // 2/5 m r^2 omega = r x friction
        const double spin = 2.5 * mu * (1 + e) * fall / 0.1;
        EXPECT_NEAR(v[3], -0.8 * spin, 1e-6);
        EXPECT_NEAR(v[4], 0.6 * spin, 1e-6);
        EXPECT_NEAR(v[5], 5, 1e-9);
    }
    // As printed there is friction in the compression alone; the result names the law.
    const RunSummary printed = after(text, {set("scheme.impact", "poisson-printed")});
    EXPECT_NEAR(printed.v[0], 3 * (1 - mu * fall / 5), 1e-8);
    EXPECT_NEAR(printed.v[1], 4 * (1 - mu * fall / 5), 1e-8);
    EXPECT_NEAR(printed.v[2], e * fall, 1e-8);
    EXPECT_EQ(printed.impact_law, "poisson-printed");
    EXPECT_EQ(after(text, {}).impact_law, "poisson");
    EXPECT_EQ(after(text, {set("scheme.name", "moreau-jean")}).impact_law, "newton, inside the step");
    EXPECT_EQ(after(text, {set("scheme.name", "schatzman-paoli")}).impact_law, "newton, on positions");
}

// With friction enough to stop the slip: Poisson and Newton leave none, a tangential restitution turns it round.
TEST(NewtonImpact, TangentialRestitutionTurnsTheSlipRound) {
    const auto slip = [](const VecX& v) { return Vec2(v[0] - 0.1 * v[4], v[1] + 0.1 * v[3]); };
    const std::string text = ball("{friction: 3, restitution: 0.5, tangential_restitution: 0.6}", "[0.3, 0.4, -2]");
    for (const char* law : {"poisson", "newton", "newton-common", "poisson-simple"}) {
        SCOPED_TRACE(law);
        const RunSummary end = after(text, {set("scheme.impact", law)});
        const std::string name = law;
        const double e_T = name == "poisson" ? 0 : name == "newton" ? 0.6 : 0.5;
        EXPECT_NEAR(end.v[2], 1, 1e-8);
        EXPECT_NEAR(slip(end.v)[0], -e_T * 0.3, 1e-8);
        EXPECT_NEAR(slip(end.v)[1], -e_T * 0.4, 1e-8);
        EXPECT_EQ(end.impact_gains.count, 0);
    }
    // The same law inside the step of moreau-jean.
    const RunSummary end = after(text, {set("scheme.name", "moreau-jean")});
    EXPECT_NEAR(slip(end.v)[0], -0.6 * 0.3, 1e-8);
    EXPECT_NEAR(slip(end.v)[1], -0.6 * 0.4, 1e-8);
}

// After an impact the next step is told who has left and who has stayed.
TEST(ImpactModes, SayWhoSeparatesAndWhoStays) {
    const std::string text = R"(stickslip: 1
plane: xz
materials: {default: {friction: 0.5, restitution: 0}, hard: {friction: 0.5, restitution: 0.8}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  bouncer: {pose: [0, 0, 0.1], mass: 1, shapes: [{sphere: 0.1, material: hard}], velocity: [1, 0, -1]}
  slider: {pose: [3, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}], velocity: [5, 0, -0.1]}
  sticker: {pose: [6, 0, 0.1], mass: 1, shapes: [{sphere: 0.1}], velocity: [0, 0, -1]}
run: {end: 1, scheme: {name: euler}}
)";
    for (const std::string law : {"poisson", "poisson-printed", "poisson-simple", "newton", "newton-common"}) {
        SCOPED_TRACE(law);
        Simulation simulation(build_model(read_scene_text(text, "scene of a test", {set("scheme.impact", law)})));
        ASSERT_TRUE(simulation.advance());
        const bool one_e = law == "poisson-simple" || law == "newton-common";
        const StepMemory& memory = simulation.step().memory;
        ASSERT_EQ(memory.mode.size(), 3u);
        EXPECT_EQ(memory.mode[0], ContactMode::open);
        EXPECT_EQ(memory.mode[1], one_e ? ContactMode::open : ContactMode::slip);
        EXPECT_EQ(memory.mode[2], one_e ? ContactMode::open : ContactMode::stick);
        EXPECT_EQ(simulation.step().problem.contacts.size(), 3);
        EXPECT_EQ(simulation.step().solution.p.size(), 6);
        // The record and the events have the impulses of the whole impact.
        ASSERT_EQ(simulation.step().contacts.size(), 3u);
        EXPECT_NEAR(simulation.step().contacts[0].impulse[0], 1.8, 1e-8);
        EXPECT_NEAR(std::abs(simulation.step().contacts[1].impulse[1]), 0.5 * simulation.step().contacts[1].impulse[0],
                    1e-8);
        EXPECT_NEAR(simulation.step().events[0].impulse, 1.8, 1e-8);
        EXPECT_NEAR(simulation.step().events[0].normal_speed_after, 0.8, 1e-8);
    }
}

// Hammers in guides strike a slope, one driven down by a motor: what has a largest force does nothing in no time, and the guide
// takes what friction and the slope push aside.
TEST(ImpactWithJoints, MotorsRestAndGuidesHold) {
    const std::string text = R"(stickslip: 1
gravity: [0, 0, 0]
materials: {default: {friction: 0.8, restitution: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0.6, 0, 0.8], offset: 0}}]}
  driven: {pose: [0, 0, 0.125], mass: 3, shapes: [{sphere: 0.1}], velocity: [0, 0, -2]}
  loose: {pose: [0, 5, 0.125], mass: 3, shapes: [{sphere: 0.1}], velocity: [0, 0, -2]}
joints:
  guide: {prismatic: {a: ground, b: driven, at: [0, 0, 0], axis: [0, 0, 1], motor: {speed: -2, max_force: 1e4}}}
  sleeve: {prismatic: {a: ground, b: loose, at: [0, 5, 0], axis: [0, 0, 1]}}
run: {end: 1, scheme: {name: euler}}
)";
    for (const std::string law : {"poisson", "poisson-simple", "newton", "newton-common"}) {
        SCOPED_TRACE(law);
        Simulation simulation(build_model(read_scene_text(text, "scene of a test", {set("scheme.impact", law)})));
        ASSERT_TRUE(simulation.advance());
        const VecX& v = simulation.state().v;
        EXPECT_EQ(simulation.state().t, 0);
        EXPECT_EQ(simulation.step().ledger.flows().motor_work, 0);
        for (const int body : {0, 6}) {
            EXPECT_LT(std::hypot(v[body], v[body + 1]), 1e-9);
            EXPECT_LT(v.segment<3>(body + 3).norm(), 1e-8);
            if (law != "poisson") {
                EXPECT_NEAR(v[body + 2], 1, 1e-8);
            } else {
                // Normal and friction stop the one degree of freedom together, so p_N of the compression is anything from
                // m v/(0.8 + 0.6 mu) to m v/(0.8 - 0.6 mu); e p_N comes back against friction under it.
                EXPECT_GT(v[body + 2], 2 * 0.5 * (0.8 - 0.48) / (0.8 + 0.48) - 1e-8);
                EXPECT_LT(v[body + 2], 2 * 0.5 + 1e-8);
            }
        }
    }
}

// Two rods whose tip strikes a rough floor (Kane 1984): the numbers of docs/schemes.md, from the 2 x 2 problem by hand.
TEST(KanesPendulum, NewtonsLawGainsEnergyAndTheOthersDoNot) {
    const double t1 = std::acos(-1.0) / 9, t2 = std::acos(-1.0) / 6, mu = 0.5, e = 0.7;
    Eigen::Matrix2d M, H;
    M << 4.0 / 3, 0.5 * std::cos(t1 - t2), 0.5 * std::cos(t1 - t2), 1.0 / 3;
    H << std::sin(t1), std::sin(t2), std::cos(t1), std::cos(t2);
    const Vec2 v(-0.1, -0.2), u = H * v;
    const Eigen::Matrix2d W = H * M.inverse() * H.transpose();
    const auto energy = [&](const Vec2& x) { return 0.5 * x.dot(M * x); };
    const auto moved = [&](const Vec2& p) { return Vec2(v + M.inverse() * H.transpose() * p); };
    const Vec2 compression = by_modes(W, u, mu, 0).value(), v_c = moved(compression);
    const double returned = e * compression[0];
    const std::vector<std::pair<const char*, double>> laws{
        {"newton", energy(moved(by_modes(W, u + Vec2(e * u[0], 0), mu, 0).value()))},
        {"newton-common", energy(moved(by_modes(W, u + e * u, mu, 0).value()))},
        {"poisson", energy(moved(compression + Vec2(returned, 0) + by_modes(W, H * v_c, mu, returned).value()))},
        {"poisson-printed",
         energy(moved(compression + Vec2(returned, 0) + by_modes(W, H * v_c + returned * W.col(0), mu, 0).value()))},
        {"poisson-simple", energy((1 + e) * v_c - e * v)}};
    EXPECT_NEAR(energy(v), 0.0231814, 1e-7);
    for (const auto& [law, expected] : laws) {
        Simulation simulation(
            load_model("mechanism:kane-pendulum", {set("scheme.name", "euler"), set("scheme.impact", law)}));
        ASSERT_TRUE(simulation.advance());
        const Vec2 after_impact = simulation.state().v;
        std::printf("%-15s kinetic energy %.6f -> %.6f J (%.1f %%)\n", law, energy(v), energy(after_impact),
                    100 * energy(after_impact) / energy(v));
        EXPECT_NEAR(energy(after_impact), expected, 1e-9);
        EXPECT_NEAR(simulation.step().ledger.flows().impact_loss, energy(v) - expected, 1e-9);
    }
    EXPECT_NEAR(laws[0].second / energy(v), 2.7576, 1e-4);
    for (std::size_t k = 1; k < laws.size(); ++k) EXPECT_LT(laws[k].second, 0.65 * energy(v));
    const RunSummary end =
        Simulation(load_model("mechanism:kane-pendulum", {set("scheme.name", "euler"), set("scheme.impact", "newton")}))
            .run();
    EXPECT_EQ(end.impact_gains.count, 1);
    EXPECT_NEAR(end.impact_gains.energy, 1.7576 * energy(v), 1e-4 * energy(v));
    ASSERT_FALSE(end.warnings.empty());
    EXPECT_TRUE(end.warnings[0].starts_with("doubtful: impacts made 0.0407 J")) << end.warnings[0];
}

}  // namespace
}  // namespace stickslip
