#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "stickslip/hard_problems.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;
namespace fs = std::filesystem;

class HardProblemsTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "stickslip-hard-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string hard_folder() const { return (folder_ / "hard").string(); }
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const fs::directory_entry& entry : fs::directory_iterator(hard_folder()))
            names.insert(entry.path().filename().string());
        return names;
    }
    std::vector<std::string> lines() const {
        std::ifstream in(fs::path(hard_folder()) / "index.csv");
        std::vector<std::string> result;
        for (std::string line; std::getline(in, line);) result.push_back(line);
        return result;
    }
    fs::path folder_;
};

struct Story {
    long step;
    int iterations;
    const char* solver;
    Status status = Status::ok;
};

void tell(HardProblems& hard, const Story& story, const StepProblem& problem) {
    StepSolution guess;
    guess.size_to(problem);
    SolveReport report;
    report.iterations = story.iterations;
    report.solver = story.solver;
    report.status = story.status;
    hard.see({problem, guess, report, story.step, 0.001 * static_cast<double>(story.step), 1e-4});
}

TEST_F(HardProblemsTest, EscalatedOnesComeFirstThenTheSlowest) {
    const StepProblem problem = BoxOnPlane{}.problem();
    HardProblems hard(hard_folder(), 3, "auto");
    tell(hard, {1, 900, "mode-solve"}, problem);
    tell(hard, {2, 5, "nsgs"}, problem);
    tell(hard, {3, 0, "one-node"}, problem);
    tell(hard, {4, 2, "mode-solve", Status::not_converged}, problem);
    tell(hard, {5, 800, "mode-solve"}, problem);
    EXPECT_EQ(files(), (std::set<std::string>{"index.csv", "step_000001.h5", "step_000002.h5", "step_000004.h5"}));
    tell(hard, {5, 7, "lemke"}, problem);  // the second problem of step 5
    EXPECT_EQ(files(), (std::set<std::string>{"index.csv", "step_000002.h5", "step_000004.h5", "step_000005_2.h5"}));
    tell(hard, {6, 2, "nsgs"}, problem);  // as hard as step 4, but later
    ASSERT_EQ(lines().size(), 4u);
    EXPECT_EQ(lines()[0], "file,step,t [s],contacts,iterations,residual [m/s],solver,status,wall [s]");
    EXPECT_EQ(lines()[2].rfind("step_000004.h5,4,0.004,4,2,0,mode-solve,not_converged,", 0), 0u) << lines()[2];
    EXPECT_EQ(hard.hard(), 4);
    EXPECT_EQ(hard.kept(), 3);
    EXPECT_NE(hard.text().find("4 of 7 problems"), std::string::npos) << hard.text();
    EXPECT_NE(hard.text().find("(1 with fewer iterations left out)"), std::string::npos) << hard.text();
}

// Against a sort of everything, over an order of problems nobody chose.
TEST_F(HardProblemsTest, TheFilesAreThoseOfASortOfAll) {
    const StepProblem problem = BoxOnPlane{}.problem();
    Random random(5);
    HardProblems hard(hard_folder(), 6, "nsgs");
    std::vector<std::tuple<int, int, long>> all;
    for (long step = 1; step <= 60; ++step) {
        const bool escalated = random.below(20) == 0;
        const int iterations = random.below(30);
        tell(hard, {step, iterations, escalated ? "lemke" : "nsgs"}, problem);
        if (escalated || iterations > 0) all.emplace_back(escalated ? 0 : 1, -iterations, step);
    }
    std::sort(all.begin(), all.end());
    std::set<std::string> expected{"index.csv"};
    for (int k = 0; k < 6; ++k) {
        char name[32];
        std::snprintf(name, sizeof name, "step_%06ld.h5", std::get<2>(all[k]));
        expected.insert(name);
    }
    EXPECT_EQ(files(), expected);
    EXPECT_EQ(lines().size(), 7u);
}

TEST_F(HardProblemsTest, OldFilesOfTheSameNamesGoAndOthersStay) {
    fs::create_directories(hard_folder());
    std::ofstream(fs::path(hard_folder()) / "step_000777.h5") << "old";
    std::ofstream(fs::path(hard_folder()) / "notes.txt") << "mine";
    HardProblems hard(hard_folder(), 2, "auto");
    EXPECT_EQ(files(), (std::set<std::string>{"index.csv", "notes.txt"}));
    EXPECT_THROW(HardProblems(hard_folder(), 0, "auto"), Error);
    std::ofstream(folder_ / "file") << "in the way";
    EXPECT_THROW(HardProblems((folder_ / "file").string(), 2, "auto"), Error);
    tell(hard, {1, 5, "mode-solve"}, StepProblem{});  // nothing to solve
    EXPECT_EQ(hard.seen(), 0);
}

}  // namespace
}  // namespace stickslip
