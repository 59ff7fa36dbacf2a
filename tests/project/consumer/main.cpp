#include <iostream>
#include <stickslip/load.hpp>

int main() {
    const char* text =
        "stickslip: 1\n"
        "bodies: {ball: {pose: [0, 0, 10], velocity: [1, 0, 0], mass: 1, shapes: [{sphere: 0.1}]}}\n"
        "run: {step: 1/128, end: 0.5}\n";
    stickslip::Simulation simulation(stickslip::build_model(stickslip::read_scene_text(text, "ball.yaml")));
    const stickslip::RunSummary summary = simulation.run();
    std::cout << "t = " << summary.t << ", x = " << simulation.state().q[0] << "\n";
}
