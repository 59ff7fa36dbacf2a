// Time per step of the runs listed in bench/cases.txt: what Simulation::advance takes, without a recorder.
//
// Every repetition starts anew and times the same steps, so that a row of the table always means the same work and can
// be set beside the instructions that bench/steps.py counts for it.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "stickslip/load.hpp"

namespace {

using namespace stickslip;

struct Case {
    std::string name;  // the line of the list, which is how bench/steps.py finds it again
    std::string model;
    OptionValues overrides;
    int from = 0, to = 0;  // steps that are timed
};

std::vector<Case> read_cases(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot open " + file);
    std::vector<Case> cases;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        Case c;
        std::string scheme, solver, step;
        if (!(words >> c.model >> scheme >> solver >> step >> c.from >> c.to))
            throw std::runtime_error(file + ": cannot read " + line);
        c.name = c.model + " " + scheme + " " + solver;
        c.overrides = {
            {"run.scheme", scheme, {}}, {"run.solver", solver, {}}, {"run.step", step, {}}, {"run.end", "1e9", {}}};
        for (std::string set; words >> set;) {
            const auto equals = set.find('=');
            c.overrides.push_back({set.substr(0, equals), set.substr(equals + 1), {}});
            c.name += " " + set;
        }
        cases.push_back(c);
    }
    return cases;
}

void time_steps(benchmark::State& state, const Case& c) {
    Simulation simulation(load_model(c.model, c.overrides));
    for (int i = 0; i < c.from; ++i) simulation.advance();
    for (auto _ : state)
        if (!simulation.advance()) state.SkipWithError("a step was refused");
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    for (const Case& c : read_cases(STICKSLIP_SCENES "/../bench/cases.txt"))
        benchmark::RegisterBenchmark(c.name.c_str(), [c](benchmark::State& state) { time_steps(state, c); })
            ->Iterations(c.to - c.from)
            ->Unit(benchmark::kMicrosecond);
    benchmark::RunSpecifiedBenchmarks();
}
