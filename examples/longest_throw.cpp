// When to let go? A stone on a rod swings down from the left and is cut loose at a moment; the program looks for the one that
// throws it farthest. Simulation::edit changes the model between two steps.
//
// Method: moreau-jean, step 1 ms. Exact: from energy, v^2 = 2 g cos(a) at the angle a, and the parabola from there.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "stickslip/edit.hpp"
#include "stickslip/load.hpp"

using namespace stickslip;

constexpr const char* scene = R"(
stickslip: 1
bodies:
  stone: {pose: [-1, 0, 2], mass: 1, inertia: 1e-6}
joints:
  rod: {distance: {a: ground, at_a: [0, 0, 2], b: stone}}
run: {step: 1e-3, end: 5}
)";

// Where the stone reaches the ground when it is let go at time t.
double thrown(double t) {
    Simulation simulation(build_model(read_scene_text(scene, "throw")));
    while (simulation.state().t < t) simulation.advance();
    simulation.edit(Edit::cut("rod"));
    double x = 0, z = 2;
    while (simulation.advance() && simulation.state().q[2] > 0)
        x = simulation.state().q[0], z = simulation.state().q[2];
    return x + (simulation.state().q[0] - x) * z / (z - simulation.state().q[2]);
}

double exact(double angle) {
    const double g = 9.81, v = std::sqrt(2 * g * std::cos(angle)), up = v * std::sin(angle), z = 2 - std::cos(angle);
    return std::sin(angle) + v * std::cos(angle) * (up + std::sqrt(up * up + 2 * g * z)) / g;
}

int main() {
    double best = 0, when = 0, farthest = 0;
    for (double t = 0.5; t < 1; t += 0.01)
        if (const double x = thrown(t); x > best) best = x, when = t;
    for (double angle = 0; angle < 1.5; angle += 1e-4) farthest = std::max(farthest, exact(angle));
    std::printf("let go after %.2f s and it flies to %.3f m, at best %.3f m\n", when, best, farthest);
    return std::abs(best - farthest) < 0.01 ? 0 : 1;
}
