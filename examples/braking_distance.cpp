// How far does a crate slide? A scene written in the program, and a recorder of one's own that watches it.
//
// Method: moreau-jean, step 1 ms. Exact answer: v^2 / (2 mu g) = 3.6697 m after v / (mu g) = 1.2232 s.
#include <cmath>
#include <cstdio>

#include "stickslip/load.hpp"

using namespace stickslip;

constexpr const char* scene = R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  crate: {pose: [0, 0, 0.1], mass: 10, shapes: [{box: [1, 1, 0.2]}], velocity: [6, 0, 0]}
run: {step: 1e-3, end: 2}
)";

// Notes when and where the crate stops: q = (x, y, z, quaternion), v = (velocity, angular velocity).
struct StopWatcher : Recorder {
    double t = 0, x = 0;
    void begin(const Model&, const State&, const Step&) override {}
    void write(const System&, const State& state, const Step&, const StepReport&) override {
        if (t == 0 && std::abs(state.v[0]) < 1e-12) t = state.t, x = state.q[0];
    }
    void end(const RunSummary& summary) override {
        std::printf("%ld steps, residual at most %.0e m/s, friction took %.3f J\n", summary.steps, summary.residual.max,
                    summary.flows.friction_loss);
    }
};

int main() {
    Simulation simulation(build_model(read_scene_text(scene, "crate")));
    StopWatcher watcher;
    simulation.add(watcher);
    const RunSummary summary = simulation.run();
    const double exact = 6.0 * 6.0 / (2 * 0.5 * 9.81);
    std::printf("stopped after %.4f s and %.4f m, exactly %.4f m\n", watcher.t, watcher.x, exact);
    return summary.certified && std::abs(watcher.x - exact) < 6.0 * 1e-3 ? 0 : 1;  // within v h
}
