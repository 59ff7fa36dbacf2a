// What a record costs: the falling box (3000 steps, up to four contacts) with nothing, HDF5 and CSV, every step and
// every tenth. The file is made anew each time, so opening and closing it are counted too.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>

#include "stickslip/load.hpp"
#include "stickslip/record.hpp"

namespace {

using namespace stickslip;

enum class Kind { none, hdf5, csv };

void run(benchmark::State& state, Kind kind, const char* every) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stickslip-bench-recording";
    std::filesystem::create_directories(folder);
    const std::string file = (folder / (kind == Kind::csv ? "run.csv" : "run.h5")).string();
    long steps = 0;
    for (auto _ : state) {
        state.PauseTiming();
        Simulation simulation(load_model(STICKSLIP_SCENES "/falling-box.yaml", {{"run.record.every", every, {}}}));
        state.ResumeTiming();
        std::unique_ptr<Recorder> recorder;
        if (kind == Kind::hdf5) recorder = make_hdf5_recorder(file, 0.5, [&] { return simulation.snapshot(); });
        if (kind == Kind::csv) recorder = make_csv_recorder(file);
        if (recorder) simulation.add(*recorder);
        steps += simulation.run().steps;
    }
    state.counters["s/step"] =
        benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.counters["bytes"] = kind == Kind::none ? 0.0 : static_cast<double>(std::filesystem::file_size(file));
    std::filesystem::remove_all(folder);
}

BENCHMARK_CAPTURE(run, no_record, Kind::none, "1e-3")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, hdf5_every_step, Kind::hdf5, "1e-3")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, hdf5_every_tenth, Kind::hdf5, "1e-2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, csv_every_step, Kind::csv, "1e-3")->Unit(benchmark::kMillisecond);

}  // namespace
