// What a user has is not lost: inputs are not overwritten, two runs do not write into one folder, a write that fails is told.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "stickslip/record.hpp"
#include "support/command.hpp"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;

constexpr const char* scene = R"(stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  ball: {pose: [0, 0, 0.7], mass: 1, shapes: [{sphere: 0.25}]}
run: {step: 2e-3, end: 0.1}
)";

class NothingLost : public testing::CommandTest {
protected:
    // A shell line in the folder; $C is the command.
    int shell(const std::string& line) const {
        const int status = std::system(("cd " + folder_.string() + " && C=" STICKSLIP_COMMAND "; " + line).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    bool appears(const std::string& name) const {
        for (int k = 0; k < 500 && !fs::exists(folder_ / name); ++k)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return fs::exists(folder_ / name);
    }
    const std::vector<std::string> long_run{"run",   "mechanism:pendulum",    "--step", "1e-5", "--end", "1000",
                                            "--set", "run.record.every=0.01", "-o",     "busy"};
};

TEST_F(NothingLost, ASecondRunInAFolderIsRefusedWhileTheFirstWrites) {
    const pid_t first = start(long_run);
    ASSERT_TRUE(appears("busy/run.h5"));
    for (const char* more : {"", " --force"}) {
        const Outcome second = call(std::string("run mechanism:pendulum --end 0.1 -o busy") + more);
        EXPECT_EQ(second.code, 2);
        EXPECT_NE(second.err.find("another run"), std::string::npos) << second.err;
    }
    kill(first, SIGKILL);
    waitpid(first, nullptr, 0);
    EXPECT_NO_THROW(read_record(path("busy")));
    // What a dead run leaves can be used.
    EXPECT_EQ(call("run mechanism:pendulum --end 0.1 --quiet -o busy --force").code, 0);
}

TEST_F(NothingLost, RunsThatStartTogetherGetFoldersOfTheirOwn) {
    constexpr int runs = 16;
    ASSERT_EQ(shell("for i in $(seq " + std::to_string(runs) +
                    "); do $C run mechanism:pendulum --end 0.05 >o$i.txt 2>e$i.txt & done; wait"),
              0);
    std::set<std::string> folders;
    for (const auto& entry : fs::directory_iterator(folder_ / "runs")) {
        folders.insert(entry.path().filename().string());
        EXPECT_TRUE(read_record(entry.path().string()).complete) << entry.path();
    }
    EXPECT_EQ(folders.size(), static_cast<std::size_t>(runs));
}

TEST_F(NothingLost, OutputsDoNotOverwriteInputs) {
    write("ball.yaml", scene);
    ASSERT_EQ(call("run ball.yaml --quiet -o out").code, 0);
    const std::string record = read("out/run.h5");
    std::string problem;
    ASSERT_EQ(call("run scene:falling-box --quiet -o refused --set solver.tol=1e-30 --set run.policy=certify").code, 1);
    for (const auto& entry : fs::directory_iterator(folder_ / "refused"))
        if (entry.path().filename().string().starts_with("refused_"))
            problem = "refused/" + entry.path().filename().string();
    ASSERT_FALSE(problem.empty());
    const std::string stored = read(problem);
    fs::create_symlink("ball.yaml", folder_ / "soft");
    fs::create_hard_link(folder_ / "ball.yaml", folder_ / "hard-link");
    fs::create_symlink("out", folder_ / "same");
    for (const std::string& line :
         {std::string("report out -o out/run.h5"), std::string("report same -o out/run.h5"),
          "solve " + problem + " -o " + problem, "solve " + problem + " --solver pgs --history " + problem,
          std::string("converge ball.yaml --steps 0.01,0.005 --csv ball.yaml"),
          std::string("converge ball.yaml --steps 0.01,0.005 --svg soft"),
          std::string("compare ball.yaml --steps 0.01,0.005 --schemes euler --csv hard-link"),
          std::string("run ball.yaml --resume out --end 0.2 --force -o out"),
          std::string("run ball.yaml --resume out --end 0.2 --force -o same")}) {
        const Outcome outcome = call(line);
        EXPECT_EQ(outcome.code, 2) << line << outcome.err;
        EXPECT_NE(outcome.err.find("overwrite"), std::string::npos) << line << outcome.err;
    }
    fs::create_directory(folder_ / "trap");
    fs::create_symlink("../ball.yaml", folder_ / "trap/run.csv");
    EXPECT_EQ(call("run ball.yaml --set run.record.csv=true --quiet -o trap").code, 2);
    EXPECT_EQ(read("ball.yaml"), scene);
    EXPECT_EQ(read("out/run.h5"), record);
    EXPECT_EQ(read(problem), stored);
}

TEST_F(NothingLost, AFolderThatVanishesIsToldAndIsAFailure) {
    const pid_t child = start(long_run);
    ASSERT_TRUE(appears("busy/run.h5"));
    fs::rename(folder_ / "busy", folder_ / "elsewhere");
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_NE(read("child-err.txt").find("the record is gone"), std::string::npos) << read("child-err.txt");
    EXPECT_NO_THROW(read_record(path("elsewhere")));
}

// A limit on the size of files is a full disk that every user can have; the signal that comes with it must not kill.
TEST_F(NothingLost, AFullDiskIsToldAndIsAFailure) {
    write("ball.yaml", scene);
    EXPECT_EQ(shell("ulimit -f 8000; $C run mechanism:pendulum --step 1e-5 --end 5 --quiet -o full 2>err.txt"), 1);
    EXPECT_NE(read("err.txt").find("cannot write"), std::string::npos) << read("err.txt");
    EXPECT_NO_THROW(read_record(path("full")));
    ASSERT_EQ(call("run mechanism:pendulum --end 1 --quiet -o small").code, 0);
    EXPECT_EQ(shell("ulimit -f 1; $C report small 2>err.txt >out.txt"), 1);
    EXPECT_NE(read("err.txt").find("cannot write"), std::string::npos) << read("err.txt");
    EXPECT_EQ(shell("ulimit -f 0; $C run mechanism:pendulum --end 1 --quiet -o none 2>/dev/null"), 1);
    for (const char* line : {"list", "schema", "run mechanism:pendulum --end 0.1 --no-record --json", "help"})
        EXPECT_EQ(shell(std::string("$C ") + line + " >/dev/full 2>/dev/null"), 1) << line;
}

// Rows go to the file and leave no trace in memory: five times as many take no more of it. What waits for the next flush
// differs between runs by some megabytes.
TEST_F(NothingLost, MemoryDoesNotGrowWithTheRecord) {
    const auto peak_kb = [&](const char* end) {
        const pid_t child =
            start({"run", "mechanism:pendulum", "--step", "1e-5", "--end", end, "--quiet", "--force", "-o", "out"});
        int status = 0;
        rusage used{};
        wait4(child, &status, 0, &used);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << read("child-err.txt");
        return used.ru_maxrss;
    };
    const long few = peak_kb("1"), many = peak_kb("5");
    EXPECT_LT(many, few + 20000);
    EXPECT_LT(many, 100000);
}

TEST_F(NothingLost, ForceLeavesNothingOfTheOldRun) {
    ASSERT_EQ(
        call("run scene:falling-box --end 0.7 --set solver.tol=1e-30 --set run.policy=certify --quiet --dump-hard "
             "-o out")
            .code,
        1);
    ASSERT_EQ(call("report out").code, 0);
    write("out/notes.txt", "mine");
    ASSERT_EQ(call("run scene:falling-box --end 0.1 --quiet --force -o out").code, 0);
    std::set<std::string> left;
    for (const auto& entry : fs::directory_iterator(folder_ / "out")) left.insert(entry.path().filename().string());
    EXPECT_EQ(left, (std::set<std::string>{"notes.txt", "run.h5"}));
}

TEST_F(NothingLost, ResumingWithOtherSettingsNamesThemAndNeedsForce) {
    write("ball.yaml", scene);
    ASSERT_EQ(call("run ball.yaml --quiet -o out").code, 0);
    for (const auto& [given, named] :
         {std::pair{"--step 1e-3", "scheme.step was 0.002, is 0.001"},
          {"--scheme euler", "scheme was moreau-jean, is euler"},
          {"--solver nsgs", "solver was auto, is nsgs"},
          {"--set solver.tol=1e-7", "solver.tol was (default), is 1e-7"},
          {"--set scheme.theta=0.75", "scheme.theta was (default), is 0.75"},
          {"--set run.policy=budget", "policy was degrade, is budget"},
          {"--set run.policy=budget --set run.budget.factorisations=3", "budget.factorisations was (default), is 3"}}) {
        const std::string line = std::string("run ball.yaml --end 0.2 --quiet --no-record --resume out ") + given;
        const Outcome refused = call(line);
        EXPECT_EQ(refused.code, 2) << given;
        EXPECT_NE(refused.err.find(named), std::string::npos) << given << refused.err;
        EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
    }
    EXPECT_EQ(call("run ball.yaml --end 0.2 --quiet --no-record --resume out --step 1e-3 --force").code, 0);
    EXPECT_EQ(call("run ball.yaml --end 0.2 --quiet --no-record --resume out --step 0.002").code, 0);
    EXPECT_EQ(call("run ball.yaml --end 0.2 --quiet --no-record --resume out").code, 0);
}

TEST_F(NothingLost, PipesDevicesAndFoldersAreNotOpened) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    write("with.yaml", std::string(scene) + "include: pipe\n");
    write("device.yaml", std::string(scene) + "include: /dev/zero\n");
    fs::create_directory(folder_ / "run");
    ASSERT_EQ(mkfifo(path("run/run.h5").c_str(), 0600), 0);
    for (const char* line : {"run pipe", "check pipe", "run with.yaml", "run device.yaml", "run /dev/zero",
                             "solve pipe", "solve /dev/zero", "report pipe", "report run", "report /dev/null",
                             "repair pipe", "run mechanism:pendulum --resume pipe --no-record", "solve run", "run run"})
        EXPECT_EQ(shell(std::string("timeout 5 $C ") + line + " >out.txt 2>err.txt </dev/null"), 2)
            << line << read("err.txt");
}

TEST_F(NothingLost, NamesAreShownWithoutTheirControlCharacters) {
    const std::string name = "a\x1b[31mb.yaml";
    for (const std::string& text :
         {std::string("stickslip: 1\nbodies: {\"x\\e[2J\": {mas: 1}}\n"), std::string("nonsense")}) {
        write(name, text);
        const Outcome outcome = call("run '" + name + "' --no-record");
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find("\\x1b"), std::string::npos) << outcome.err;
    }
    write(name, scene);
    const Outcome shown = call("run '" + name + "' --end 0.01");  // which names model and folder
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ((shown.out + shown.err).find('\x1b'), std::string::npos) << shown.out;
}

TEST_F(NothingLost, WhatIsNoSceneIsNotShownByAnInclude) {
    for (const char* text : {"secret: 42\n", "user:hash:0:0\n", "- secret\n", "secret\n"}) {
        write("private", text);
        write("open.yaml", std::string(scene) + "include: private\n");
        const Outcome outcome = call("run open.yaml --no-record");
        EXPECT_EQ(outcome.code, 2);
        for (const char* word : {"secret", "hash"}) EXPECT_EQ(outcome.err.find(word), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find("no scene"), std::string::npos) << outcome.err;
    }
}

TEST_F(NothingLost, TolerancesThatCertifyEverythingAreRefused) {
    write("ball.yaml", scene);
    for (const char* tol : {"1e300", "inf", "1.5", "0", "-1e-9", "nan"}) {
        for (const char* model : {"ball.yaml", "mechanism:pendulum"}) {
            const Outcome outcome = call(std::string("run ") + model + " --no-record --set solver.tol=" + tol);
            EXPECT_EQ(outcome.code, 2) << model << tol;
            EXPECT_NE(outcome.err.find("solver.tol"), std::string::npos) << outcome.err;
        }
    }
    EXPECT_EQ(call("run ball.yaml --no-record --set solver.tol=1").code, 0);
}

}  // namespace
}  // namespace stickslip
