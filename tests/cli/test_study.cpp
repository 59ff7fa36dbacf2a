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

TEST_F(StudyCommand, ScenesAreStudiedToo) {
    const Outcome outcome = call("converge scene:falling-box --steps 0.01,0.005 --end 0.3 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["reference"]["kind"], "self");
}

TEST_F(StudyCommand, RefusedRunsGiveOneAndWrongInputTwo) {
    const Outcome refused = call("converge scene:falling-box --steps 0.5,0.01 --end 3");
    EXPECT_EQ(refused.code, 1) << refused.out << refused.err;
    EXPECT_NE(refused.out.find("refused"), std::string::npos);
    for (const char* wrong :
         {"converge", "converge mechanism:pendulum", "converge mechanism:pendulum --steps 0.01..0.003",
          "converge mechanism:pendulm --steps 0.01", "converge mechanism:pendulum --steps 0.01 --reference none.json",
          "converge mechanism:pendulum --steps 0.01 --csv no/such/folder.csv",
          "converge mechanism:heavy-top --steps 0.01 --reference exact",
          "converge mechanism:pendulum --steps 0.01 --at 0", "compare mechanism:pendulum --steps 0.01 --schemes eulr",
          "compare mechanism:pendulum --steps 0.01",
          "compare mechanism:pendulum --steps 0.01 --schemes euler --cost gold"}) {
        const Outcome outcome = call(wrong);
        EXPECT_EQ(outcome.code, 2) << wrong;
        EXPECT_FALSE(outcome.err.empty()) << wrong;
        EXPECT_EQ(outcome.out, "") << wrong;
    }
}

}  // namespace
}  // namespace stickslip
