// The command as a user meets it: exit codes, messages, JSON, capsules, interruption, resumption.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "stickslip/record.hpp"
#include "support/command.hpp"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

using testing::Outcome;

class Command : public testing::CommandTest {};

TEST_F(Command, TolAsksForStepControl) {
    const Outcome outcome = call("run mechanism:bouncing-ball --tol 1e-5 --no-record --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_GT(json["rejected"], 5);
    EXPECT_LT(json["steps"], 1000);  // 3000 of the fixed ones
    EXPECT_LT(json["gap_violation_max"], 1e-4);
    const Outcome none = call("run mechanism:bouncing-ball --scheme euler --tol 1e-5 --no-record");
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.err.find("moreau-jean"), std::string::npos) << none.err;
    const Outcome wrong = call("run mechanism:bouncing-ball --tol small --no-record");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("--tol"), std::string::npos) << wrong.err;
}

TEST_F(Command, JsonHasEveryPromisedField) {
    const Outcome run = call("run scene:falling-box --end 0.2 --json -o out");
    ASSERT_EQ(run.code, 0) << run.err;
    const Json json = Json::parse(run.out);
    for (const char* field : {"model",
                              "scheme",
                              "solver",
                              "cone",
                              "policy",
                              "t",
                              "q",
                              "v",
                              "v_weighted",
                              "steps",
                              "rejected",
                              "wall_s",
                              "step_ms",
                              "step_cpu_ms",
                              "residual",
                              "certified",
                              "uncertified",
                              "substepped",
                              "ladder",
                              "deterministic",
                              "gap_violation_max",
                              "joint_violation",
                              "energy",
                              "contacts",
                              "events",
                              "hash",
                              "bodies"})
        EXPECT_TRUE(json.contains(field)) << field;
    for (const char* field : {"kinetic", "potential", "elastic", "applied_work", "motor_work", "friction_loss",
                              "impact_loss", "regularisation_loss", "scheme_loss", "imbalance", "edits"})
        EXPECT_TRUE(json["energy"].contains(field)) << field;
    EXPECT_EQ(json["bodies"]["box"]["pose"].size(), 7u);
    EXPECT_EQ(json["bodies"]["box"]["velocity"].size(), 6u);
    EXPECT_TRUE(fs::exists(path("out/run.h5")));
}

// The summary tells of restless velocities and broken bounds where there are any, and only there.
TEST_F(Command, SummaryTellsOfVariationAndBoundsWhereTheySaySomething) {
    for (const char* model : {"mechanism:joint-flipflop --scheme alpha-gamma", "mechanism:four-bar --step 1e-3",
                              "scene:falling-box --end 0.2", "mechanism:bouncing-ball"}) {
        const std::string line = std::string("run ") + model + " --no-record";
        const Outcome text = call(line), run = call(line + " --json");
        ASSERT_EQ(run.code, 0) << run.err;
        const Json json = Json::parse(run.out);
        for (const char* field : {"impact_gains", "unlocated_events", "paradox_steps"})
            EXPECT_TRUE(json.contains(field)) << field;
        const double v = json["variation"]["v"], weighted = json["variation"]["v_weighted"];
        EXPECT_EQ(text.out.find("\n  variation") != std::string::npos, v > 1.2 * weighted + 1e-9) << model;
        EXPECT_EQ(text.out.find("\n  energy bound") != std::string::npos, json["energy_bound_violations"] > 0) << model;
    }
    const Outcome flip = call("run mechanism:joint-flipflop --scheme alpha-gamma --no-record");
    EXPECT_NE(flip.out.find("of v_weighted, the velocity that converges"), std::string::npos) << flip.out;
}

TEST_F(Command, ProfileTellsTheTimesOfTheStepAndWhoSolvedTheIslands) {
    const std::string line = "run scene:falling-box --end 0.2 --no-record --profile";
    const Outcome text = call(line), run = call(line + " --json");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_NE(text.out.find("  profile      part "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("  ladder       rung "), std::string::npos) << text.out;
    const Json json = Json::parse(run.out);
    ASSERT_FALSE(json["ladder"].empty());
    long islands = 0;
    for (const auto& [rung, count] : json["ladder"].items()) {
        islands += count.get<long>();
        EXPECT_NE(text.out.find("               " + rung + " "), std::string::npos) << rung << "\n" << text.out;
    }
    EXPECT_GE(islands, json["steps"].get<long>());  // one body: an island per solve
}

TEST_F(Command, AProgramWithoutItsScenesSaysHowToNameThem) {
    fs::copy_file(STICKSLIP_COMMAND, path("alone"));
    const std::string line =
        "cd " + folder_.string() + " && env -u STICKSLIP_SCENES ./alone run scene:falling-box 2>err.txt";
    EXPECT_NE(std::system(line.c_str()), 0);
    EXPECT_NE(read("err.txt").find("STICKSLIP_SCENES"), std::string::npos) << read("err.txt");
}

TEST_F(Command, ParametersOfMechanismsMayBeFormulas) {
    const auto hash = [&](const std::string& angle) {
        const Outcome run = call("run mechanism:four-bar --end 0.01 --no-record --json --set 'phi1_0=" + angle + "'");
        EXPECT_EQ(run.code, 0) << angle << ": " << run.err;
        return run.code == 0 ? Json::parse(run.out)["hash"].get<std::string>() : angle;
    };
    EXPECT_EQ(hash("pi/4"), hash("0.78539816339744828"));
    EXPECT_EQ(hash("atan(1)"), hash("0.78539816339744828"));
    EXPECT_EQ(call("run mechanism:four-bar --no-record --set phi1_0=pie/4").code, 2);
    EXPECT_EQ(call("run mechanism:four-bar --no-record --set phi1_0=t").code, 2);
}

TEST_F(Command, EveryBadSceneIsRefusedWithItsPlaceAndCodeTwo) {
    int count = 0;
    for (const auto& file : fs::directory_iterator(std::string(STICKSLIP_TEST_DATA) + "/bad_scenes")) {
        if (file.path().extension() != ".yaml") continue;
        ++count;
        const Outcome run = call("run " + file.path().string() + " --no-record");
        EXPECT_EQ(run.code, 2) << file.path() << run.err;
        EXPECT_NE(run.err.find(file.path().filename().string() + ":"), std::string::npos) << run.err;
    }
    EXPECT_GE(count, 20);
}

TEST_F(Command, WrongNamesGetTheNearestOne) {
    EXPECT_NE(call("run mechanism:bouncing-bal").err.find("did you mean 'bouncing-ball'"), std::string::npos);
    EXPECT_NE(call("run scene:falling-bx").err.find("did you mean 'falling-box'"), std::string::npos);
    EXPECT_NE(call("run scene:falling-box --scheme moro").err.find("stickslip: --scheme: no scheme 'moro'"),
              std::string::npos);
    EXPECT_NE(call("run scene:falling-box --end -1").err.find("stickslip: --end: expected a number > 0 [s]"),
              std::string::npos);
    EXPECT_NE(call("run scene:falling-box --scheme moreau-jaen").err.find("did you mean 'moreau-jean'"),
              std::string::npos);
    EXPECT_NE(call("run scene:falling-box --solver lemky").err.find("did you mean 'lemke'"), std::string::npos);
    EXPECT_NE(call("run scene:falling-box --set scheme.thetta=1")
                  .err.find("scheme moreau-jean has no option 'thetta', did you mean 'theta'?"),
              std::string::npos);
    EXPECT_NE(call("run mechanism:pendulum --set theta=1").err.find("did you mean 'theta0'"), std::string::npos);
    for (const char* bad :
         {"run missing.yaml", "run", "jump", "run scene:falling-box --step 0", "run scene:falling-box --step -1",
          "run scene:falling-box --end nan", "run scene:falling-box --set bodies.box.mass=-1", "solve missing.h5",
          "repair missing", "run mechanism:pendulum --set m=-1", "run mechanism:pendulum --resume missing",
          "list nonsense"})
        EXPECT_EQ(call(bad).code, 2) << bad;
}

TEST_F(Command, RefusedStepLeavesACapsuleThatReplaysToTheSameNumbers) {
    const Outcome run = call("run scene:falling-box --set solver.tol=1e-30 --set run.policy=certify --json -o out");
    ASSERT_EQ(run.code, 1);
    const Json json = Json::parse(run.out);
    EXPECT_EQ(json["end"], "refused");
    ASSERT_TRUE(json.contains("capsule"));
    EXPECT_NE(run.err.find("stickslip solve"), std::string::npos);
    const Outcome replay = call("solve " + json["capsule"].get<std::string>() + " --tol 1e-30 --json -o solution.h5");
    EXPECT_EQ(replay.code, 1);
    EXPECT_EQ(Json::parse(replay.out)["residual"].get<double>(), json["refused_residual"].get<double>());
    // What was recorded before the refusal is still there.
    const RecordContents record = read_record(path("out"));
    EXPECT_EQ(record.t.back(), json["t"].get<double>());
}

// Steps so long that the box would be on the other side of the floor before its contact is seen are cut.
TEST_F(Command, RunInOneStepDoesNotTunnel) {
    for (const char* step : {"3", "0.5"}) {
        for (const char* policy : {"degrade", "certify", "budget"}) {
            const Outcome run = call(std::string("run scene:falling-box --end 3 --no-record --json --step ") + step +
                                     " --set run.policy=" + policy);
            ASSERT_EQ(run.code, 0) << run.err;
            EXPECT_GT(Json::parse(run.out)["bodies"]["box"]["pose"][2].get<double>(), 0.04) << step << policy;
        }
    }
}

// Steps so long that hinges open wider than the wheels they hold; and the steps of the scene, doubled, are no false alarm.
TEST_F(Command, RunWhoseJointsComeApartIsRefused) {
    for (const char* step : {"0.5", "0.1"}) {
        const Outcome run =
            call(std::string("run scene:differential --set scheme.stabilisation=0 --no-record --json --step ") + step);
        EXPECT_EQ(run.code, 1) << step;
        EXPECT_EQ(Json::parse(run.out)["end"], "refused");
        EXPECT_NE(run.err.find("has come apart"), std::string::npos) << run.err;
    }
    for (const char* policy : {"certify", "budget"})
        EXPECT_EQ(call(std::string("run scene:differential --set scheme.stabilisation=0 --no-record --step 0.5 "
                                   "--set run.policy=") +
                       policy)
                      .code,
                  1);
    for (const char* scene : {"differential", "slider-crank", "door", "crane"})
        EXPECT_EQ(call(std::string("run scene:") + scene + " --no-record --step 2e-3").code, 0) << scene;
}

// By default joints stay shut even then, but the motion is not to be trusted, and that is said.
TEST_F(Command, StepsTooLongForTheSpeedsOfJointsAreDoubted) {
    const Outcome run = call("run scene:differential --no-record --json --step 0.1");
    ASSERT_EQ(run.code, 0) << run.err;
    const Json json = Json::parse(run.out);
    EXPECT_EQ(json["verdict"]["status"], "doubtful");
    EXPECT_EQ(json["verdict"]["grounds"][0]["kind"], "joint-speed");
    EXPECT_LT(json["joint_violation"]["position_max"].get<double>(), 2e-4);
    const Json fine = Json::parse(call("run scene:differential --no-record --json --step 5e-3").out);
    EXPECT_EQ(fine["verdict"]["status"], "trusted");
}

TEST_F(Command, BudgetPolicyAcceptsAndSaysSo) {
    // The box meets the floor at 0.588 s; no solver reaches this tolerance, and each step takes its time to find out.
    const Outcome run =
        call("run scene:falling-box --end 0.65 --set solver.tol=1e-30 --set run.policy=budget --json --no-record");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_FALSE(Json::parse(run.out)["certified"].get<bool>());
}

// The same by default: exit code 0, and every such step is counted and listed with what was done.
TEST_F(Command, StepsThatCannotBeCertifiedAreTakenAndListed) {
    const Outcome run = call("run scene:falling-box --end 0.65 --set solver.tol=1e-30 --json -o out");
    ASSERT_EQ(run.code, 0) << run.err;
    const Json json = Json::parse(run.out);
    EXPECT_EQ(json["policy"], "degrade");
    EXPECT_EQ(json["end"], "finished");
    EXPECT_FALSE(json["certified"].get<bool>());
    EXPECT_TRUE(json["deterministic"].get<bool>());
    EXPECT_EQ(json["verdict"]["status"], "doubtful");
    EXPECT_EQ(json["verdict"]["grounds"][0]["kind"], "residual");
    const Json& listed = json["uncertified"]["listed"];
    const long count = json["uncertified"]["steps"].get<long>();
    ASSERT_GT(count, 0);
    ASSERT_EQ(static_cast<long>(listed.size()), std::min(count, 100L));
    for (const Json& step : listed) {
        EXPECT_GT(step["t"].get<double>(), 0);
        EXPECT_LT(step["residual"].get<double>(), 1e-9);  // may be 0: rounding alone is more than this tolerance
        EXPECT_EQ(step["tol"].get<double>(), 1e-30);
        EXPECT_NE(step["action"].get<std::string>().find("best point"), std::string::npos);
        EXPECT_FALSE(step["solver"].get<std::string>().empty());
        EXPECT_LE(step["who"].size(), step["contacts"].get<std::size_t>());
    }
    const RecordContents record = read_record(path("out"));
    ASSERT_EQ(static_cast<long>(record.uncertified.size()), count);
    for (std::size_t i = 0; i < listed.size(); ++i) {
        const UncertifiedStep& step = record.uncertified[i];
        EXPECT_EQ(step.step, listed[i]["step"].get<long>());
        EXPECT_EQ(step.residual, listed[i]["residual"].get<double>());
        EXPECT_EQ(step.action(), listed[i]["action"].get<std::string>());
        EXPECT_EQ(step.solver, listed[i]["solver"].get<std::string>());
        EXPECT_EQ(step.who, listed[i]["who"].get<std::vector<std::string>>());
    }
    const Outcome text = call("run scene:falling-box --end 0.65 --set solver.tol=1e-30 --no-record");
    EXPECT_NE(text.out.find("\n  uncertified  t = "), std::string::npos) << text.out;
}

TEST_F(Command, BudgetsOfTimeDependOnTheMachineAndSaySo) {
    const std::string line = "run scene:falling-box --end 0.65 --no-record --json --set run.policy=budget";
    const Outcome timed = call(line + " --set run.budget.ms=10");
    ASSERT_EQ(timed.code, 0) << timed.err;
    EXPECT_FALSE(Json::parse(timed.out)["deterministic"].get<bool>());
    const Json counted = Json::parse(call(line + " --set run.budget.factorisations=2").out);
    EXPECT_TRUE(counted["deterministic"].get<bool>());
    EXPECT_EQ(counted["hash"], Json::parse(call(line + " --set run.budget.factorisations=2").out)["hash"]);
    for (const char* wrong : {"--set run.budget.ms=10", "--set run.policy=budget --set run.budget.ms=0",
                              "--set run.policy=budget --set run.budget.factorisations=0"})
        for (const char* model : {"scene:falling-box", "mechanism:bouncing-ball"})
            EXPECT_EQ(call(std::string("run ") + model + " --no-record " + wrong).code, 2) << model << wrong;
}

TEST_F(Command, OutputThatCannotBeWrittenIsAFailure) {
    const std::string line = "cd " + folder_.string() + " && " STICKSLIP_COMMAND " schema >/dev/full 2>err.txt";
    const int status = std::system(line.c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_NE(read("err.txt").find("cannot write"), std::string::npos) << read("err.txt");
}

TEST_F(Command, InterruptedRunKeepsItsRecordAndResumesToTheSameBits) {
    const std::string model = "mechanism:double-pendulum-wall";
    const std::vector<std::string> settings{"--set", "scheme.step=2e-6",     "--end", "2",
                                            "--set", "run.record.every=0.01"};
    std::vector<std::string> arguments{"run", model};
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    arguments.insert(arguments.end(), {"-o", "cut"});
    const pid_t child = start(arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0) FAIL() << "the run ended before it could be interrupted";
    EXPECT_EQ(WEXITSTATUS(status), 1);
    const RecordContents record = read_record(path("cut"));
    EXPECT_TRUE(record.complete);
    EXPECT_GT(record.t.size(), 1u);

    std::string line;
    for (const std::string& word : settings) line += " " + word;
    const Json resumed = Json::parse(call("run " + model + line + " --resume cut --json -o rest").out);
    const Json through = Json::parse(call("run " + model + line + " --json --no-record").out);
    EXPECT_EQ(resumed["hash"], through["hash"]);
    EXPECT_EQ(resumed["energy"]["imbalance"], through["energy"]["imbalance"]);
    EXPECT_LT(resumed["steps"].get<long>(), through["steps"].get<long>());
}

TEST_F(Command, RunsResumeAcrossActionsToTheSameBits) {
    const std::string model = "run scene:crane --end 0.6 ";
    const Json through = Json::parse(call(model + "--json --no-record").out);
    std::vector<std::string> kinds;
    for (const Json& event : through["events"])
        if (event["kind"] == "cut" || event["kind"] == "drive") kinds.push_back(event["kind"]);
    EXPECT_EQ(kinds, (std::vector<std::string>{"drive", "cut"}));
    for (const char* end : {"0.1", "0.3", "0.4", "0.45", "0.5"}) {  // between and at the actions
        ASSERT_EQ(call("run scene:crane --quiet --force -o part --end " + std::string(end)).code, 0);
        const Json resumed = Json::parse(call(model + "--resume part --json --no-record").out);
        EXPECT_EQ(resumed["hash"], through["hash"]) << end;
        EXPECT_EQ(resumed["energy"], through["energy"]) << end;
    }
}

TEST_F(Command, KilledRunsAreReadBackUpToTheLastFlush) {
    // Seeded moments between 50 and 450 ms; every kill leaves a file that opens, holds whole rows and can be resumed.
    unsigned seed = 12345;
    for (int k = 0; k < 20; ++k) {
        seed = seed * 1103515245u + 12345u;
        const int wait_ms = 50 + static_cast<int>((seed >> 16) % 400);
        const std::string out = "killed" + std::to_string(k);
        const pid_t child =
            start({"run", "scene:block-stick-slip", "--step", "1e-5", "--set", "run.record.every=1e-4", "-o", out});
        std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        if (!fs::exists(path(out + "/run.h5"))) continue;  // killed before it opened its record
        RecordContents record;
        ASSERT_NO_THROW(record = read_record(path(out))) << "killed after " << wait_ms << " ms";
        const auto n = static_cast<Eigen::Index>(record.t.size());
        ASSERT_EQ(record.q.cols(), n);
        ASSERT_EQ(record.v.cols(), n);
        ASSERT_EQ(record.energy.cols(), n);
        for (Eigen::Index i = 0; i < n; ++i) ASSERT_NEAR(record.t[i], 1e-4 * static_cast<double>(i), 1e-9);
        repair_record(path(out));
        ASSERT_NO_THROW(read_record(path(out)));
    }
}

TEST_F(Command, SameBitsForAnyThreadCount) {
    std::string first;
    for (const char* threads : {"1", "2", "8"}) {
        const Json json =
            Json::parse(call(std::string("run scene:falling-box --json --no-record --threads ") + threads).out);
        if (first.empty()) first = json["hash"];
        EXPECT_EQ(json["hash"], first);
    }
}

TEST_F(Command, ListNamesEverythingAndHelpWorks) {
    const std::string list = call("list").out;
    for (const char* word : {"moreau-jean", "euler", "lemke", "nsgs", "auto", "bouncing-ball", "revolute", "half-space",
                             "falling-box", "theta"})
        EXPECT_NE(list.find(word), std::string::npos) << word;
    EXPECT_EQ(call("help").code, 0);
    EXPECT_EQ(call("help run").code, 0);
    EXPECT_EQ(call("--version").code, 0);
    EXPECT_EQ(call("run --help").code, 0);
}

TEST_F(Command, ReportWritesAPageBesideTheRecordOrWhereItIsTold) {
    ASSERT_EQ(call("run scene:falling-box --end 0.2 --quiet -o out").code, 0);
    const Outcome beside = call("report out");
    EXPECT_EQ(beside.code, 0) << beside.err;
    EXPECT_EQ(beside.out, "out/report.html\n");
    EXPECT_TRUE(fs::exists(path("out/report.html")));
    EXPECT_EQ(call("report out/run.h5 --plot box,box.qw -o page.html").out, "page.html\n");
    EXPECT_NE(read("page.html").find(">box.qw<"), std::string::npos);
    const Outcome wrong = call("report out --plot bx.z");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("did you mean 'box.z'"), std::string::npos) << wrong.err;
    for (const char* bad : {"report", "report missing", "report out -o no/such/page.html"})
        EXPECT_EQ(call(bad).code, 2) << bad;
    EXPECT_NE(call("help report").out.find("--plot"), std::string::npos);
}

TEST_F(Command, HostileNumbersAreAnsweredNotRun) {
    // A step as long as the run, a vast velocity, a body far away: an answer with a reason, never a crash or a hang.
    for (const char* arguments :
         {"run scene:falling-box --step 3 --no-record", "run scene:falling-box --step 1e9 --no-record",
          "run scene:falling-box --set bodies.box.velocity=[1e200,0,0] --no-record",
          "run scene:falling-box --set bodies.box.pose=[0,0,1e12] --end 0.1 --no-record",
          "run scene:falling-box --set gravity=[0,0,-1e300] --no-record",
          "run mechanism:pendulum --set L=1e-300 --end 0.1 --no-record"}) {
        const Outcome run = call(arguments);
        EXPECT_GE(run.code, 0) << arguments;
        EXPECT_LE(run.code, 2) << arguments << run.err;
        EXPECT_EQ(run.code == 0, run.err.empty()) << arguments << run.err;
    }
}

TEST_F(Command, CheckTellsFindingsWithPlacesAndAnswersByItsExitCode) {
    const Outcome clean = call("check scene:sliding-box");
    EXPECT_EQ(clean.code, 0) << clean.err;
    EXPECT_EQ(clean.out,
              "friction bound 0 at t = 0, floor and box (4 contacts): friction 0.5 is not below it, so uniqueness of "
              "accelerations and normal forces is not guaranteed\n"
              "sliding-box: 0 errors, 0 warnings, 0 notes\n");
    const Json rod = Json::parse(call("check mechanism:painleve-rod --set mu=0.5 --json").out)["friction_bound"];
    ASSERT_EQ(rod.size(), 1u);
    EXPECT_TRUE(rod[0]["unique"]);
    EXPECT_NEAR(rod[0]["bound"], rod[0]["sigma_min_nn"].get<double>() / rod[0]["sigma_max_nt"].get<double>(), 1e-12);
    const Outcome sizes = call("check scene:sliding-box --tolerances --set run.tolerances.length=0.25");
    EXPECT_NE(sizes.out.find("kept_gap                 0.00025 m"), std::string::npos) << sizes.out;
    const Outcome wedge = call("check scene:wedge --json");
    EXPECT_EQ(wedge.code, 0) << wedge.err;
    const Json json = Json::parse(wedge.out);
    EXPECT_EQ(json["warnings"], 1);
    EXPECT_EQ(json["findings"][0]["topic"], "wedging");
    EXPECT_GT(json["findings"][0]["place"]["line"], 0);
    EXPECT_NE(call("check scene:wedge --set friction=0.2").out.find("\nwedge: 0 errors, 0 warnings, 0 notes\n"),
              std::string::npos);
    write("sunk.yaml", R"(stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  box: {pose: [0, 0, -0.4], mass: 1, shapes: [{box: [1, 1, 1]}]}
)");
    const Outcome sunk = call("check sunk.yaml");
    EXPECT_EQ(sunk.code, 1);
    EXPECT_EQ(sunk.out.find("sunk.yaml:4:3: error: 'floor' and 'box' overlap by 0.9 m"), 0u) << sunk.out;
    EXPECT_EQ(call("check no-such.yaml").code, 2);
    EXPECT_EQ(call("check scene:wedgie").code, 2);
}

TEST_F(Command, RedundantJointsAreNamedInSummaryJsonAndRecord) {
    write("door.yaml", R"(stickslip: 1
bodies:
  door: {pose: [0.5, 0, 1], mass: 30, shapes: [{box: [1, 0.05, 2]}]}
joints:
  upper: {revolute: {a: ground, b: door, at: [0, 0, 1.8], axis: [0, 0, 1]}}
  lower: {revolute: {a: ground, b: door, at: [0, 0, 0.2], axis: [0, 0, 1]}}
forces: {tie: {spring: {a: ground, b: door, at_b: [0.5, 0, 0], stiffness: 10}}}
run: {step: 1e-2, end: 0.1}
)");
    const Outcome text = call("run door.yaml -o run");
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_NE(text.out.find("of upper, lower are not unique (redundant rows: lower row 1"), std::string::npos)
        << text.out;
    const Json json = Json::parse(call("run door.yaml --no-record --json").out);
    EXPECT_EQ(json["redundant"].size(), 5u);
    EXPECT_EQ(json["not_unique"], (Json{"upper", "lower"}));
    const RecordContents record = read_record(path("run"));
    ASSERT_EQ(record.reaction_names.size(), 11u);
    EXPECT_EQ(record.reaction_names[5], "lower row 1");
    EXPECT_EQ(record.reaction_names[10], "tie");
    EXPECT_EQ(record.redundant.size(), 5u);
    for (int i = 0; i < 11; ++i) EXPECT_EQ(record.reaction_unique[i], i < 10 ? 0 : 1);
    EXPECT_EQ(record.reaction_start.back() % 11, 0u);
}

}  // namespace
}  // namespace stickslip
