// Bodies of convex hulls: cubes that rest as boxes do, heaps that come to rest, an arch that stands or falls by its thickness.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

// [m] How far the centres of the bodies are from where they started, the farthest.
double farthest(const VecX& start, const VecX& end) {
    double most = 0;
    for (Eigen::Index k = 0; k + 6 < start.size(); k += 7) most = std::max(most, (end - start).segment<3>(k).norm());
    return most;
}

const char* const cube_on = R"(
stickslip: 1
let: {a: 0.2}
bodies:
  floor: {fixed: true, shapes: [FLOOR]}
  cube: {pose: {at: [0.03, -0.02, a/2], rpy_deg: [0, 0, 20]}, mass: 3, com: [0.02, 0.01, -0.03], inertia: 0.02, shapes: [CUBE]}
run: {step: 1/240, end: 60}
)";

std::string with_shapes(std::string text, const std::string& floor, const std::string& cube) {
    text.replace(text.find("FLOOR"), 5, floor);
    return text.replace(text.find("CUBE"), 4, cube);
}

const std::string box = "{box: [a, a, a]}";
const std::string hull =
    "{hull: {points: [[-a/2,-a/2,-a/2],[a/2,-a/2,-a/2],[-a/2,a/2,-a/2],[a/2,a/2,-a/2],[-a/2,-a/2,a/2],[a/2,-a/2,a/2],[-a/2,a/2,a/2],[a/2,a/2,a/2]]}}";
const std::string slab = "{box: [2, 2, 0.1], pose: [0, 0, -0.05]}";
const std::string hull_slab = "{hull: {points: [[-1,-1,-0.1],[1,-1,-0.1],[-1,1,-0.1],[1,1,-0.1],[-1,-1,0],[1,-1,0],[-1,1,0],[1,1,0]]}}";

TEST(HullAtRest, BearsTheForcesOfABoxAndDoesNotDrift) {
    std::vector<double> expected;
    for (const std::string& cube : {box, hull})
        for (const std::string& floor : {std::string("{half-space: {normal: [0, 0, 1]}}"), slab, hull_slab}) {
            Simulation simulation(scene_text(with_shapes(cube_on, floor, cube)));
            const VecX start = simulation.state().q;
            while (simulation.advance()) {
            }
            EXPECT_EQ(simulation.state().t, 60) << simulation.refusal();
            EXPECT_LE((simulation.state().q - start).lpNorm<Eigen::Infinity>(), 1e-12);
            std::vector<double> forces;
            for (const ContactRecord& contact : simulation.step().contacts) forces.push_back(contact.impulse[0] * 240);
            std::sort(forces.begin(), forces.end());
            ASSERT_EQ(forces.size(), 4U);
            if (expected.empty()) expected = forces;
            for (int k = 0; k < 4; ++k) EXPECT_NEAR(forces[k], expected[k], 1e-9 * 3 * g);
        }
}

TEST(HullsInAHeap, ComeToRest) {
    // Octahedra, tetrahedra and wedges, dropped one over the other.
    const char* const text = R"(
stickslip: 1
let: {e: 0, r: 0.1}
materials: {default: {friction: 0.5, restitution: e}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  octahedron-{k}:
    repeat: {k: 4}
    pose: {at: [0.03*sin(9*k), 0.03*cos(7*k), 0.7*k], rpy_deg: [31*k, 17*k, 0]}
    density: 2500
    shapes: [{hull: {points: [[r,0,0],[-r,0,0],[0,r,0],[0,-r,0],[0,0,r],[0,0,-r]]}}]
  tetrahedron-{k}:
    repeat: {k: 4}
    pose: {at: [0.03*sin(5*k), 0.03*cos(8*k), 0.2 + 0.7*k], rpy_deg: [11*k, 47*k, 0]}
    density: 2500
    shapes: [{hull: {points: [[r,r,r],[-r,-r,r],[-r,r,-r],[r,-r,-r]]}}]
  wedge-{k}:
    repeat: {k: 4}
    pose: {at: [0.03*sin(4*k), 0.03*cos(3*k), 0.45 + 0.7*k], rpy_deg: [77*k, 5*k, 0]}
    density: 2500
    shapes: [{hull: {points: [[-r,-r,0],[r,-r,0],[-r,r,0],[r,r,0],[-r,0,r],[r,0,r]]}}]
run: {step: 1/240, end: 10}
)";
    for (const double e : {0.0, 0.3}) {
        Simulation simulation(scene_text(text, Set{}("e", e)));
        while (simulation.advance()) {
        }
        EXPECT_EQ(simulation.state().t, 10) << simulation.refusal();
        EXPECT_LE(simulation.state().v.lpNorm<Eigen::Infinity>(), 1e-12) << e;
        double deepest = 0;
        for (const ContactRecord& contact : simulation.step().contacts) deepest = std::max(deepest, -contact.gap);
        EXPECT_LE(deepest, 1e-4) << e;
    }
}

// Milankovitch's least thickness of a semicircle is 0.1075 of its mean radius; some per cent less where few joints cannot open where they would.
TEST(Arch, StandsOrFallsByItsThickness) {
    for (const int n : {7, 11, 25}) {
        for (const double thickness : {0.26, 0.13, 0.08}) {  // of the mean radius
            Simulation simulation(scene("arch", Set{}("n", n)("inner", 1 - thickness / 2)("outer", 1 + thickness / 2)("end", 1.5)));
            const VecX start = simulation.state().q;
            while (simulation.advance()) {
            }
            EXPECT_EQ(simulation.state().t, 1.5) << simulation.refusal();
            const double moved = farthest(start, simulation.state().q);
            if (thickness > 0.1)
                EXPECT_LE(moved, 1e-4) << n << ' ' << thickness;
            else
                EXPECT_GE(moved, 0.5) << n << ' ' << thickness;
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
