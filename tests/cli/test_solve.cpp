// `stickslip solve` on files of the FCLIB layout, and what scripts/check-solution, which shares no code with us, says of
// its answers.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/hdf5_file.hpp"
#include "problems/convert/to_delassus.hpp"
#include "stickslip/solver.hpp"
#include "stickslip/stored_problem.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;
namespace fs = std::filesystem;
using Json = nlohmann::json;

class Solve : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "stickslip-solve-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    struct Outcome {
        int code = -1;
        std::string out, err;
        Json json() const { return Json::parse(out); }
    };
    Outcome shell(const std::string& command) const {
        const int status = std::system(("cd " + folder_.string() + " && " + command + " >out.txt 2>err.txt").c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out.txt"), read("err.txt")};
    }
    Outcome solve(const std::string& arguments) const { return shell(STICKSLIP_COMMAND " solve --json " + arguments); }
    Outcome check(const std::string& arguments) const {
        const fs::path script = fs::path(STICKSLIP_TEST_DATA).parent_path().parent_path() / "scripts/check-solution";
        return shell("/usr/bin/python3 " + script.string() + " " + arguments);
    }
    static bool has_python() { return std::system("/usr/bin/python3 -c 'import numpy, h5py' >/dev/null 2>&1") == 0; }
    std::string read(const std::string& name) const {
        std::ifstream in(folder_ / name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    // What the command claims of its answer is what the file says, and the file holds the problem it was given.
    void expect_true_claims(const std::string& arguments, double tol) const {
        const Outcome answer = solve(arguments + " -o answer.h5");
        ASSERT_EQ(answer.code, 0) << answer.out << answer.err;
        const Json json = answer.json();
        EXPECT_TRUE(json["certified"].get<bool>());
        EXPECT_LE(json["err_vel"].get<double>(), tol);
        const Outcome checked = check("answer.h5 --tol " + Json(tol).dump());
        ASSERT_EQ(checked.code, 0) << checked.out << checked.err;
        const Json seen = checked.json();
        // both are sums of rounding errors near a solution
        EXPECT_NEAR(seen["err_vel"].get<double>(), json["err_vel"].get<double>(), 1e-12);
        EXPECT_NEAR(seen["fclib_error"].get<double>(), json["fclib_error"].get<double>(), 1e-12);
        EXPECT_LT(seen["u_difference"].get<double>(), 1e-12);
        EXPECT_EQ(seen["contacts"], json["contacts"]);
    }

    fs::path folder_;
};

StepProblem pushed_stack() {
    BoxStack stack;
    stack.boxes = 4;
    stack.masses = {1, 3, 0.5};
    stack.facets = 0;
    stack.push = Vec3(8, 3, 0);
    return stack.problem();
}

TEST_F(Solve, GlobalProblemsAreSolvedAndTheAnswerCanBeCheckedByAnyone) {
    if (!has_python()) GTEST_SKIP() << "no h5py";
    save_fclib(path("stack.h5"), pushed_stack());
    expect_true_claims("stack.h5", 1e-8);
    expect_true_claims("stack.h5 --solver nsgs --tol 1e-6", 1e-6);
    // with a joint and in the order of velocities the file has, not ours
    StepProblem problem = pushed_stack();
    ProblemBuilder build;
    const int first = build.body(2, Vec3(1, 1, 1), Vec3(0.3, 0, 0), Vec3(0, 0, -0.02));
    const int second = build.body(1, Vec3(1, 2, 1), Vec3(0, -0.2, 0), Vec3(0, 0, -0.01));
    build.contact(first, -1, Vec3(0, 0, -0.5), Vec3::Zero(), 0.4, 0);
    build.contact(second, -1, Vec3(0.2, 0, -0.5), Vec3::Zero(), 0.4, 0);
    build.point_joint(first, second, Vec3(0.5, 0, 0), Vec3(-0.5, 0, 0));
    problem = build.problem();
    problem.b[1] = 0.01;
    FclibWriting how;
    for (int k = 0; k < 12; ++k) how.velocities.push_back((5 * k) % 12);
    save_fclib(path("pair.h5"), problem, nullptr, how);
    expect_true_claims("pair.h5", 1e-8);
}

TEST_F(Solve, LocalProblemsAreSolvedByTheSolversThatTakeThem) {
    if (!has_python()) GTEST_SKIP() << "no h5py";
    bool any = false;
    save_fclib(path("stack.h5"), to_delassus(pushed_stack()));
    for (const SolverEntry& entry : solvers()) {
        if (entry.local) {
            any = true;
            if (entry.disc) expect_true_claims("stack.h5 --solver " + std::string(entry.name), 1e-8);
        } else {
            const Outcome no = solve("stack.h5 --solver " + std::string(entry.name));
            EXPECT_EQ(no.code, 2) << entry.name;
            EXPECT_NE(no.err.find("takes step problems only"), std::string::npos) << no.err;
            EXPECT_NE(no.err.find("valid: auto"), std::string::npos) << no.err;
        }
    }
    EXPECT_TRUE(any);
}

TEST_F(Solve, EveryPromisedFieldIsThere) {
    save_fclib(path("global.h5"), pushed_stack());
    save_fclib(path("local.h5"), to_delassus(pushed_stack()));
    save_problem(path("own.h5"), pushed_stack());
    for (const char* name : {"global.h5", "local.h5", "own.h5"}) {
        const Json json = solve(name).json();
        for (const char* field : {"solver", "certified", "residual", "err_vel", "fclib_error", "iterations", "wall_s",
                                  "contacts", "status"})
            EXPECT_TRUE(json.contains(field)) << name << " " << field;
        EXPECT_EQ(json["contacts"], 16);
    }
}

TEST_F(Solve, StoredSolutionsAreNotTrusted) {
    const StepProblem problem = pushed_stack();
    StepSolution lie;
    lie.size_to(problem);
    lie.p.setConstant(lie.p.size(), 1e3);
    save_fclib(path("lie.h5"), problem, &lie);
    save_fclib(path("plain.h5"), problem);
    const Json cold = solve("lie.h5").json(), plain = solve("plain.h5").json();
    EXPECT_EQ(cold["err_vel"], plain["err_vel"]);
    EXPECT_EQ(cold["iterations"], plain["iterations"]);
    const Outcome warm = solve("lie.h5 --warm -o warm.h5");
    EXPECT_EQ(warm.code == 0, warm.json()["err_vel"].get<double>() <= 1e-8);
    EXPECT_EQ(solve("plain.h5 --warm").code, 2);
    EXPECT_EQ(solve("lie.h5 --warm --cold").code, 2);
}

// A problem in other units is the same problem: impulses in g mm/s, velocities in mm/s.
TEST_F(Solve, TheToleranceIsRelative) {
    StepProblem problem = pushed_stack();
    for (double& x : problem.A.values) x *= 1e-9;
    problem.r *= 1e-12;
    save_fclib(path("tiny.h5"), problem);
    const Outcome answer = solve("tiny.h5");
    EXPECT_EQ(answer.code, 0) << answer.out;
    EXPECT_LE(answer.json()["err_vel"].get<double>(), 1e-8);
}

TEST_F(Solve, WrongFilesAndOptionsAreInputErrors) {
    {
        Hdf5File out(path("rolling.h5"), Hdf5File::Open::create);
        out.write<std::int32_t>("fclib_global_rolling/spacedim", std::vector<std::int32_t>{5});
        out.close();
    }
    const Outcome rolling = solve("rolling.h5");
    EXPECT_EQ(rolling.code, 2);
    EXPECT_NE(rolling.err.find("rolling friction"), std::string::npos) << rolling.err;
    save_fclib(path("stack.h5"), pushed_stack());
    for (const char* tol : {"0", "-1", "nan", "inf", "1e-8x", "''"})
        EXPECT_EQ(solve("stack.h5 --tol " + std::string(tol)).code, std::string(tol) == "''" ? 0 : 2) << tol;
    EXPECT_EQ(solve("stack.h5 -o no/such/folder/a.h5").code, 2);
    std::ofstream(path("text.h5")) << "not HDF5";
    EXPECT_EQ(solve("text.h5").code, 2);
}

TEST_F(Solve, TheCheckFindsWrongAnswers) {
    if (!has_python()) GTEST_SKIP() << "no h5py";
    const StepProblem problem = pushed_stack();
    StepSolution wrong;
    wrong.size_to(problem);
    Random random(7);
    wrong.p = 0.01 * random.vector(static_cast<int>(wrong.p.size()));
    save_fclib(path("global.h5"), problem, &wrong);
    const DelassusProblem local = to_delassus(problem);
    DelassusSolution same;
    same.size_to(local);
    same.p = wrong.p.vec();
    save_fclib(path("local.h5"), local, &same);
    const double expected = relative_errors(local, wrong.p).contacts;
    ASSERT_GT(expected, 0.01);
    for (const char* name : {"global.h5", "local.h5"}) {
        const Outcome seen = check(name);
        EXPECT_EQ(seen.code, 1) << seen.err;
        EXPECT_NEAR(seen.json()["err_vel"].get<double>(), expected, 1e-12 * expected);
        EXPECT_NEAR(seen.json()["fclib_error"].get<double>(), relative_errors(local, wrong.p).natural, 1e-12);
    }
    save_fclib(path("none.h5"), problem);
    EXPECT_EQ(check("none.h5").code, 2);
    EXPECT_EQ(check("missing.h5").code, 2);
}

TEST_F(Solve, HistoryOfSweepsIsWrittenLineByLine) {
    save_problem(path("own.h5"), pushed_stack());
    const Outcome answer = solve("own.h5 --solver pgs --set polish=false --set max_sweeps=12 --history sweeps.csv");
    EXPECT_NE(answer.code, 0);  // twelve sweeps do not certify a stack
    std::istringstream lines(read("sweeps.csv"));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "sweep,residual,changed");
    int count = 0;
    while (std::getline(lines, line)) EXPECT_EQ(line.rfind(std::to_string(++count) + ",", 0), 0u) << line;
    EXPECT_EQ(count, 12);

    const Outcome wrong = solve("own.h5 --solver lemke --history sweeps.csv");
    EXPECT_NE(wrong.code, 0);
    EXPECT_NE(wrong.err.find("pgs"), std::string::npos);
}

// The problems a run keeps are those its solver saw: solving them again takes the same path.
TEST_F(Solve, HardProblemsOfARunAreReplayed) {
    const std::string heap = (fs::path(STICKSLIP_TEST_DATA) / "scenes/heap.yaml").string();
    const std::string options = " --end 0.06 --set solver.tol=1e-9 --json";  // `solve` knows no other: runs have theirs in proportion
    const Outcome plain = shell(STICKSLIP_COMMAND " run " + heap + options + " -o plain");
    ASSERT_EQ(plain.code, 0) << plain.err;
    const Outcome run = shell(STICKSLIP_COMMAND " run " + heap + options + " --dump-hard=2 -o run");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.json()["hash"], plain.json()["hash"]);
    EXPECT_NE(run.err.find("run/hard"), std::string::npos) << run.err;
    std::ifstream in(folder_ / "run/hard/index.csv");
    int kept = 0;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        ++kept;
        std::vector<std::string> fields;
        std::stringstream stream(line);
        for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
        ASSERT_EQ(fields.size(), 9u) << line;
        const Json again = solve("run/hard/" + fields[0]).json();
        EXPECT_EQ(again["iterations"], std::stoi(fields[4]));
        EXPECT_EQ(again["contacts"], std::stoi(fields[3]));
        EXPECT_EQ(again["residual"].get<double>(), std::stod(fields[5]));
        EXPECT_EQ(again["solver"], fields[6]);
    }
    EXPECT_EQ(kept, 2);
    EXPECT_EQ(shell(STICKSLIP_COMMAND " run " + heap + " --dump-hard --no-record").code, 2);
    EXPECT_EQ(shell(STICKSLIP_COMMAND " run " + heap + " --dump-hard=0").code, 2);
}

}  // namespace
}  // namespace stickslip
