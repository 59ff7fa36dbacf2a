// `stickslip converge` and `stickslip compare` as a user meets them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/command.hpp"
#include "support/xml.hpp"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

using testing::Outcome;

class StudyCommand : public testing::CommandTest {};

TEST_F(StudyCommand, ConvergePrintsOneObjectAndWritesItsFiles) {
    const Outcome outcome =
        call("converge mechanism:pendulum --steps 2^-6..2^-8 --end 1 --scheme euler --json --csv t.csv --svg t.svg");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["scheme"], "euler");
    EXPECT_EQ(json["reference"]["kind"], "exact");
    ASSERT_EQ(json["rows"].size(), 3u);
    EXPECT_EQ(json["rows"][0]["step"], 1.0 / 64);
    EXPECT_NEAR(json["order"]["q"], 1, 0.15);
    EXPECT_EQ(json["joints"][0], "rod");
    EXPECT_EQ(testing::xml_fault(read("t.svg")), "");
    EXPECT_EQ(read("t.csv").find("model,scheme,setting,value"), 0u);
}

TEST_F(StudyCommand, CompareShowsErrorAgainstCost) {
    const Outcome outcome =
        call("compare mechanism:block-stick-slip --schemes moreau-jean,euler --steps 0.01..0.0025 --end 2 --svg w.svg");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("solves to reach"), std::string::npos) << outcome.out;
    EXPECT_EQ(testing::xml_fault(read("w.svg")), "");
}

TEST_F(StudyCommand, TolerancesGiveTheTableOfStepControl) {
    const Outcome outcome =
        call("compare mechanism:pendulum --schemes moreau-jean --tols 1e-2..1e-4 --end 1 --svg w.svg");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (const char* word : {"h mean", "accepted", "rejected", "max|g|", "max|dg/dt|"})
        EXPECT_NE(outcome.out.find(word), std::string::npos) << outcome.out;
    EXPECT_EQ(testing::xml_fault(read("w.svg")), "");
    const Outcome single = call("converge mechanism:pendulum --tols 1e-2../100..1e-4 --end 1 --json");
    ASSERT_EQ(single.code, 0) << single.err;
    EXPECT_EQ(Json::parse(single.out)["rows"].size(), 2u);
    EXPECT_EQ(Json::parse(single.out)["setting"], "scheme.tol");
}

TEST_F(StudyCommand, ProfilesTakeManyModels) {
    const std::string models =
        "compare mechanism:pendulum mechanism:heavy-top --schemes moreau-jean,moreau-jean:theta=1 ";
    const Outcome outcome = call(models + "--tols 1e-3,1e-4 --end 0.5 --profile p.svg --csv p.csv --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["problems"].size(), 4u);
    EXPECT_EQ(json["schemes"][0]["rho"]["inf"], 1.0);
    EXPECT_TRUE(json["models"][0]["schemes"][0]["rows"][0]["error"]["q"].is_null());  // nobody asked
    double best = 0;
    for (const Json& scheme : json["schemes"]) best += scheme["rho"]["1"].get<double>();
    EXPECT_GE(best, 1);
    EXPECT_EQ(testing::xml_fault(read("p.svg")), "");
    EXPECT_EQ(read("p.csv").find("model,setting,value"), 0u);
    // Nobody is that exact, so nothing is solved.
    const Outcome strict = call(models + "--steps 0.01 --end 0.5 --profile p.svg --error-limit 1e-14");
    EXPECT_EQ(strict.code, 1) << strict.err;
    EXPECT_NE(strict.out.find("not solved"), std::string::npos) << strict.out;
}

TEST_F(StudyCommand, ScenesAreStudiedToo) {
    const Outcome outcome = call("converge scene:falling-box --steps 0.01,0.005 --end 0.3 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["reference"]["kind"], "self");
}

TEST_F(StudyCommand, RefusedRunsGiveOneAndWrongInputTwo) {
    const Outcome refused = call("converge scene:falling-box --steps 0.5,0.01 --end 0.6 --set solver.tol=1e-30 --set run.policy=certify");
    EXPECT_EQ(refused.code, 1) << refused.out << refused.err;
    EXPECT_NE(refused.out.find("refused"), std::string::npos);
    for (const char* wrong :
         {"converge", "converge mechanism:pendulum", "converge mechanism:pendulum --steps 0.01..0.003",
          "converge mechanism:pendulm --steps 0.01", "converge mechanism:pendulum --steps 0.01 --reference none.json",
          "converge mechanism:pendulum --steps 0.01 --csv no/such/folder.csv",
          "converge mechanism:heavy-top --steps 0.01 --reference exact",
          "converge mechanism:pendulum --steps 0.01 --at 0", "compare mechanism:pendulum --steps 0.01 --schemes eulr",
          "compare mechanism:pendulum --steps 0.01",
          "compare mechanism:pendulum --steps 0.01 --schemes euler --cost gold",
          "compare mechanism:pendulum --steps 0.01 --tols 1e-3 --schemes moreau-jean",
          "compare mechanism:pendulum --tols 1e-3 --schemes euler", "converge mechanism:pendulum --tols -1",
          "compare mechanism:pendulum mechanism:heavy-top --steps 0.01 --schemes euler",
          "compare mechanism:pendulum --steps 0.01 --schemes euler --error-limit 1",
          "compare mechanism:pendulum --steps 0.01 --schemes euler --profile p.svg --error-limit small",
          "compare mechanism:pendulum --steps 0.01 --schemes euler --profile p.svg --error-limit 1,2",
          "compare mechanism:pendulum --steps 0.01 --schemes euler --profile no/such/p.svg"}) {
        const Outcome outcome = call(wrong);
        EXPECT_EQ(outcome.code, 2) << wrong;
        EXPECT_FALSE(outcome.err.empty()) << wrong;
        EXPECT_EQ(outcome.out, "") << wrong;
    }
}

}  // namespace
}  // namespace stickslip
