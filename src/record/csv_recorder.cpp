// One line per recorded time: t, q, v, the energies, the residual. Numbers are the shortest decimals that read
// back to the same bits. The header names each column with its unit: "x [m or rad]", "kinetic [J]".
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "record/kept_columns.hpp"
#include "record/output_times.hpp"
#include "record/record_layout.hpp"
#include "stickslip/files.hpp"
#include "stickslip/record.hpp"

namespace stickslip {

namespace {

// A field with a comma, quote or line break goes between quotes, quotes doubled [RFC 4180].
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

class CsvRecorder : public Recorder {
public:
    explicit CsvRecorder(std::string path) : path_(std::move(path)) {}
    ~CsvRecorder() override {
        if (file_) std::fclose(file_);
    }

    void begin(const Model& model, const State& state, const Step& step) override {
        require_regular(path_);
        file_ = std::fopen(path_.c_str(), "wb");
        if (!file_) throw Error(fmt::format("cannot write: {}", std::strerror(errno)), {path_});
        times_.begin(model.run.record_every, state.t);
        const std::vector<std::string> names = model.system->coordinate_names();
        const std::size_t nq = static_cast<std::size_t>(state.q.size()), nv = static_cast<std::size_t>(state.v.size());
        std::string line = "t [s]";
        for (std::size_t i = 0; i < nq; ++i)
            line += "," + field(fmt::format("{} [m, rad or 1]", i < names.size() ? names[i] : fmt::format("q{}", i)));
        // Velocities have the names of the coordinates only where there are no quaternions among these.
        for (std::size_t i = 0; i < nv; ++i)
            line += "," + field(nq == nv && i < names.size() ? fmt::format("d{}/dt [m/s or rad/s]", names[i])
                                                             : fmt::format("v{} [m/s or rad/s]", i));
        for (const char* name : energy_names) line += fmt::format(",{} [J]", name);
        put(line + ",residual [m/s]\n");
        energy_ = energy_row(step.ledger);
        residual_ = 0;
        kept_columns_.begin(*model.system);
        nv_ = state.v.size();
        row(*model.system, state);
        at_end_ = true;
        system_ = model.system.get();
    }

    void write(const System& system, const State& state, const Step& step, const StepReport& report) override {
        SS_ASSERT(file_, "write() before begin()");
        energy_ = energy_row(step.ledger);
        residual_ = report.solve.residual.max();
        at_end_ = times_.sample(system, state, step, [&](const State& x) { row(system, x); });
        system_ = &system;
        if (!at_end_) last_ = state;
    }

    void end(const RunSummary&) override {
        SS_ASSERT(file_, "end() before begin()");
        if (!at_end_) row(*system_, last_);
        std::FILE* file = file_;
        file_ = nullptr;
        if (std::fclose(file) != 0) fail();
    }

private:
    void row(const System& system, const State& x) {
        line_.clear();
        auto out = std::back_inserter(line_);
        fmt::format_to(out, "{}", x.t);
        const double* q = kept_columns_.of(system, x.q);
        for (int i = 0; i < kept_columns_.count(); ++i) fmt::format_to(out, ",{}", q[i]);
        for (Eigen::Index i = 0; i < nv_; ++i) fmt::format_to(out, ",{}", x.v[i]);
        for (const double e : energy_) fmt::format_to(out, ",{}", e);
        fmt::format_to(out, ",{}\n", residual_);
        put(line_);
    }
    void put(const std::string& text) {
        if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
    }
    [[noreturn]] void fail() const { throw WriteError(fmt::format("cannot write: {}", std::strerror(errno)), {path_}); }

    std::string path_, line_;
    std::FILE* file_ = nullptr;
    OutputTimes times_;
    KeptColumns kept_columns_;
    Eigen::Index nv_ = 0;
    const System* system_ = nullptr;  // of the last step; lives until end()
    std::array<double, energy_terms> energy_{};
    double residual_ = 0;
    bool at_end_ = true;
    State last_;
};

}  // namespace

std::unique_ptr<Recorder> make_csv_recorder(const std::string& file) { return std::make_unique<CsvRecorder>(file); }

}  // namespace stickslip
