#include <gtest/gtest.h>

#include <regex>

#include "stickslip/version.hpp"

namespace stickslip {
namespace {

TEST(Version, IsThreeNumbersAndOpensTheDetails) {
    const std::string words = version();
    EXPECT_TRUE(std::regex_match(words, std::regex("[0-9]+\\.[0-9]+\\.[0-9]+"))) << words;
    EXPECT_EQ(version_details().rfind(words + ", ", 0), 0u) << version_details();
}

}  // namespace
}  // namespace stickslip
