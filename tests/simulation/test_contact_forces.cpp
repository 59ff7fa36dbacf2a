// Contact forces that are not unique: what recorders see does not depend on how the solver came to its own.
#include <fmt/format.h>

#include <Eigen/QR>

#include "runs.hpp"

namespace stickslip::testing {
namespace {

// The impulses of least norm with the same effect, by Eigen, of the problem that the run has just solved: all contacts stick.
VecX least_norm(const Step& step) {
    const MatX effect = step.problem.contacts.jacobian.dense(step.problem.nodes()).transpose();
    return Eigen::CompleteOrthogonalDecomposition<MatX>(effect).solve(effect * step.solution.p.vec());
}

VecX recorded(const Step& step) {
    VecX p(3 * static_cast<Eigen::Index>(step.contacts.size()));
    for (std::size_t i = 0; i < step.contacts.size(); ++i)
        p.segment<3>(3 * static_cast<Eigen::Index>(i)) = step.contacts[i].impulse;
    return p;
}

// Runs to the end and compares the last step with the least norm; returns the normal forces.
std::vector<double> loads(Simulation& simulation) {
    while (simulation.advance()) {
    }
    EXPECT_EQ(simulation.refusal(), "");
    const Step& step = simulation.step();
    const VecX p = recorded(step);
    EXPECT_LT((p - least_norm(step)).norm(), 1e-9 * p.norm());
    std::vector<double> forces;
    for (const ContactRecord& contact : step.contacts) {
        EXPECT_FALSE(contact.unique);
        forces.push_back(contact.impulse[0] / (step.t1 - step.t0));
    }
    return forces;
}

const char* const dropped = R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  box: {pose: [0, 0, 0.52], mass: 2, shapes: [{box: [1, 1, 1]}]}
run: {step: 2^-8, end: 0.5}
)";

TEST(ContactForces, ABoxStandsOnFourEqualCorners) {
    for (const char* solver : {"auto", "nsgs", "cone-newton", "interior-point"}) {
        Simulation simulation(scene_of(dropped, {{"solver.name", solver, {}}}));
        const std::vector<double> forces = loads(simulation);
        ASSERT_EQ(forces.size(), 4u) << solver;
        for (const double force : forces) EXPECT_NEAR(force, 2 * 9.81 / 4, 1e-9 * 2 * 9.81) << solver;
    }
}

TEST(ContactForces, ATableOnSixLegsSharesItsWeightByTheLever) {
    // Legs at x = -1, 0, 1 and y = +-0.5; a load off centre tilts the shares linearly: N = a + b x.
    std::string table = R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  table:
    pose: [0, 0, 0]
    mass: 12
    inertia: 4
    shapes:
)";
    for (const double x : {-1.0, 0.0, 1.0})
        for (const double y : {-0.5, 0.5}) table += fmt::format("      - {{sphere: 0.1, pose: [{}, {}, 0.1]}}\n", x, y);
    table += "run: {step: 2^-8, end: 0.1}\n";
    Simulation simulation(scene_of(table));
    const std::vector<double> forces = loads(simulation);
    ASSERT_EQ(forces.size(), 6u);
    for (const double force : forces) EXPECT_NEAR(force, 2 * 9.81, 1e-9 * 12 * 9.81);
}

TEST(ContactForces, AStackSharesOnEveryLevel) {
    Simulation simulation(scene_of(R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  low: {pose: [0, 0, 0.5], mass: 2, shapes: [{box: [1, 1, 1]}]}
  middle: {pose: [0, 0, 1.5], mass: 3, shapes: [{box: [1, 1, 1]}]}
  top: {pose: [0, 0, 2.5], mass: 4, shapes: [{box: [1, 1, 1]}]}
run: {step: 2^-8, end: 0.2}
)"));
    const std::vector<double> forces = loads(simulation);
    ASSERT_EQ(forces.size(), 12u);
    for (std::size_t i = 0; i < 12; ++i) {
        const double weight = 9.81 * (i < 4 ? 9 : i < 8 ? 7 : 4);
        EXPECT_NEAR(forces[i], weight / 4, 1e-9 * weight) << i;
    }
}

// The record goes its own way: what the solver remembers, and with it every later state, stays the same.
TEST(ContactForces, LookingAtForcesChangesNoState) {
    Simulation seen(scene_of(dropped));
    Witness witness;
    seen.add(witness);
    EXPECT_EQ(seen.run().hash, Simulation(scene_of(dropped)).run().hash);
}

}  // namespace
}  // namespace stickslip::testing
