// Steps and times as users write them.
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/study.hpp"

namespace stickslip {
namespace {

std::string complaint(const std::string& text) {
    try {
        parse_steps(text, Place{"--steps", 0, 0});
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Steps, PowersGoOneByOne) {
    const std::vector<double> steps = parse_steps("2^-5..2^-11");
    ASSERT_EQ(steps.size(), 7u);
    for (int i = 0; i < 7; ++i) EXPECT_EQ(steps[i], std::ldexp(1, -5 - i));
    EXPECT_EQ(parse_steps("10^-2..10^-4").size(), 3u);
}

TEST(Steps, RangesTakeHalvesThenTenthsThenWhatIsSaid) {
    EXPECT_EQ(parse_steps("0.01..0.00125"), (std::vector<double>{0.01, 0.005, 0.0025, 0.00125}));
    const std::vector<double> tenths = parse_steps("1e-2..1e-4");
    ASSERT_EQ(tenths.size(), 3u);
    EXPECT_EQ(tenths.back(), 1e-4);
    const std::vector<double> thirds = parse_steps("1/10../3..1/270");
    ASSERT_EQ(thirds.size(), 4u);
    EXPECT_NEAR(thirds[1], 1.0 / 30, 1e-17);
    EXPECT_EQ(parse_steps("0.5..0.5").size(), 1u);
}

TEST(Steps, ListsAreSortedAndMayHoldRanges) {
    EXPECT_EQ(parse_steps("0.005, 1/60,0.01"), (std::vector<double>{1.0 / 60, 0.01, 0.005}));
    EXPECT_EQ(parse_steps("0.3,2^-5..2^-7").size(), 4u);
}

TEST(Steps, WrongOnesSayWhatWasExpected) {
    EXPECT_NE(complaint("0.01..0.003").find("0.01../3.333..0.003"), std::string::npos) << complaint("0.01..0.003");
    EXPECT_NE(complaint("2^-11..2^-5").find("2^-5..2^-11"), std::string::npos) << complaint("2^-11..2^-5");
    EXPECT_NE(complaint("0.01,0.01").find("twice"), std::string::npos);
    EXPECT_NE(complaint("0.1../3..0.002").find("nearest"), std::string::npos) << complaint("0.1../3..0.002");
    for (const char* text : {"",
                             ",",
                             "0.01,",
                             "a",
                             "0..1",
                             "..",
                             "1e-2..",
                             "..1e-2",
                             "0",
                             "-0.1",
                             "inf",
                             "nan",
                             "1e-2../..1e-3",
                             "1e-2..3..1e-3",
                             "1e-2../1..1e-3",
                             "1e-2../0.5..1e-3",
                             "1..2..3..4",
                             "1../1.0000001..0.5",
                             "2^-1..2^-1000",
                             "0^1..0^2",
                             "-2^1..-2^2",
                             "inf..1",
                             "1e-2../nan..1e-3"})
        EXPECT_NE(complaint(text).find("--steps"), std::string::npos) << "'" << text << "': " << complaint(text);
}

TEST(Steps, TimesAreSortedAndPositive) {
    EXPECT_EQ(parse_times("2,0.5,1"), (std::vector<double>{0.5, 1, 2}));
    EXPECT_THROW(parse_times("0,1"), Error);
    EXPECT_THROW(parse_times("1,1"), Error);
    EXPECT_THROW(parse_times("1..2"), Error);
}

}  // namespace
}  // namespace stickslip
