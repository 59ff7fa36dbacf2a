// From the text of a scene to something that can step: reading (YAML, formulas, checks) and building.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

#include "stickslip/load.hpp"

namespace {

std::string text_of(const std::string& scene) {
    std::ifstream in(STICKSLIP_SCENES "/" + scene + ".yaml");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void read(benchmark::State& state, const std::string& scene) {
    const std::string text = text_of(scene);
    for (auto _ : state) benchmark::DoNotOptimize(stickslip::read_scene_text(text, scene));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void build(benchmark::State& state, const std::string& scene) {
    const stickslip::Scene read = stickslip::read_scene_text(text_of(scene), scene);
    for (auto _ : state) benchmark::DoNotOptimize(stickslip::build_model(read));
}

BENCHMARK_CAPTURE(read, falling_box, "falling-box")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(read, stack_20, "stack-20")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(build, falling_box, "falling-box")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(build, stack_20, "stack-20")->Unit(benchmark::kMicrosecond);

}  // namespace
