#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "record/fake_run.hpp"

namespace stickslip {
namespace {

using namespace testing;

TEST(CsvRecorder, NumbersReadBackToTheSameBits) {
    const Folder folder("csv");
    const FakeRun run;
    const auto recorder = make_csv_recorder(folder.file("run.csv"));
    const Model model = run.model();
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder->begin(model, model.state, step);
    for (std::uint64_t k = 1; k <= 20; ++k) {
        run.fill(k, step, report);
        recorder->write(*model.system, run.state(k), step, report);
    }
    recorder->end({});

    std::ifstream in(folder.file("run.csv"));
    std::string line;
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(line,
              "t [s],\"x [m, rad or 1]\",\"y [m, rad or 1]\",\"angle, third [m, rad or 1]\",v0 [m/s or rad/s],v1 [m/s "
              "or rad/s],"
              "kinetic [J],potential [J],elastic [J],applied_work [J],motor_work [J],friction_loss [J],impact_loss [J],"
              "regularisation_loss [J],scheme_loss [J],imbalance [J],edits [J],residual [m/s]");
    std::uint64_t k = 0;
    for (; std::getline(in, line); ++k) {
        std::vector<double> numbers;
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ',');)
            numbers.push_back(std::strtod(field.c_str(), nullptr));
        ASSERT_EQ(numbers.size(), 18u);
        const State x = run.state(k);
        EXPECT_TRUE(same_bits(numbers[0], x.t));
        for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(numbers[1 + i], x.q[static_cast<Eigen::Index>(i)]));
        for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(same_bits(numbers[4 + i], x.v[static_cast<Eigen::Index>(i)]));
        for (std::size_t i = 0; i < 9; ++i) EXPECT_TRUE(same_bits(numbers[6 + i], known(k, 10 + i)));
        EXPECT_TRUE(same_bits(numbers[16], known(k, 19)));
        EXPECT_TRUE(same_bits(numbers[17], run.residual(k)));
    }
    EXPECT_EQ(k, 21u);
}

TEST(CsvRecorder, TheFinalStateIsWrittenAlsoBetweenOutputTimes) {
    const Folder folder("csv");
    const FakeRun run;
    const auto recorder = make_csv_recorder(folder.file("run.csv"));
    const Model model = run.model(1000.0);
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder->begin(model, model.state, step);
    for (std::uint64_t k = 1; k <= 3; ++k) {
        run.fill(k, step, report);
        recorder->write(*model.system, run.state(k), step, report);
    }
    recorder->end({});
    std::ifstream in(folder.file("run.csv"));
    std::string line, last;
    int lines = 0;
    for (; std::getline(in, line); ++lines) last = line;
    EXPECT_EQ(lines, 3);  // header, start, end
    EXPECT_TRUE(same_bits(std::strtod(last.c_str(), nullptr), run.state(3).t));
}

// /dev/full accepts nothing; what is lost there is lost on a full disk.
TEST(CsvRecorder, AFullDiskIsAnError) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
    const FakeRun run;
    const auto recorder = make_csv_recorder("/dev/full");
    const Model model = run.model();
    Step step;
    StepReport report;
    run.fill(0, step, report);
    EXPECT_THROW(
        {
            recorder->begin(model, model.state, step);
            recorder->end({});
        },
        Error);
}

}  // namespace
}  // namespace stickslip
