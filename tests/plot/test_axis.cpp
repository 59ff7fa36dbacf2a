#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "plot/axis.hpp"
#include "plot/text.hpp"

namespace stickslip::plot {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<std::string> labels(const Axis& axis) {
    std::vector<std::string> list;
    for (const Tick& tick : axis.ticks())
        if (!tick.label.empty()) list.push_back(tick.label);
    return list;
}

TEST(Axis, RoundRangesHaveRoundTicks) {
    EXPECT_EQ(labels(linear_axis(0, 10, 5)), (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
    EXPECT_EQ(labels(linear_axis(0, 1, 5)), (std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
    EXPECT_EQ(labels(linear_axis(-3, 3, 4)), (std::vector<std::string>{"\xe2\x88\x92"
                                                                       "2",
                                                                       "0", "2"}));
    EXPECT_EQ(labels(log_axis(1e-8, 1e2, 12)).size(), 11u);
    EXPECT_EQ(labels(log_axis(1, 1000, 8)), (std::vector<std::string>{"1", "10", "100", "1000"}));
}

TEST(Axis, CommonPowersAndOffsetsGoIntoTheTitle) {
    EXPECT_EQ(linear_axis(0, 3e-6, 5).title("z", "m"), "z [10\xe2\x81\xbb\xe2\x81\xb6 m]");
    EXPECT_EQ(linear_axis(0, 2, 5).title("z", "m"), "z [m]");
    EXPECT_EQ(linear_axis(0, 2, 5).title("", ""), "");
    const Axis tiny = linear_axis(5, std::nextafter(5, 6), 5);
    EXPECT_EQ(tiny.title("z", "m").substr(0, 7), "z \xe2\x88\x92 5");
    EXPECT_EQ(tiny.place(5), 0);
    EXPECT_EQ(tiny.place(std::nextafter(5, 6)), 1);
    EXPECT_EQ(linear_axis(-1000.001, -1000, 5).title("z", "m").substr(0, 8), "z + 1000");
}

// Whatever the range: ticks inside, in order, all labels different and short, places linear in the value.
TEST(Axis, LabelsStayShortAndDistinctForAnyRange) {
    std::uint64_t seed = 1;
    const auto random = [&] {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(seed >> 11) / 9007199254740992.0;
    };
    for (int k = 0; k < 20000; ++k) {
        const double centre = (random() < 0.5 ? -1 : 1) * std::pow(10, 600 * random() - 300);
        const double span = random() < 0.1 ? 0 : std::pow(10, 600 * random() - 300);
        const bool log = random() < 0.3;
        const int most = 2 + static_cast<int>(10 * random());
        const Axis axis = log ? log_axis(std::abs(centre), std::abs(centre) + span, most, 0.05)
                              : linear_axis(centre, centre + span, most, 0.05);
        std::set<std::string> seen;
        for (const Tick& tick : axis.ticks()) {
            ASSERT_GE(tick.place, -1e-6) << centre << " " << span;
            ASSERT_LE(tick.place, 1 + 1e-6) << centre << " " << span;
            if (tick.label.empty()) continue;
            ASSERT_TRUE(seen.insert(tick.label).second) << tick.label << " twice in " << centre << " + " << span;
            ASSERT_LE(text_width(tick.label, 10), 75) << tick.label;
        }
        ASSERT_GE(seen.size(), 1u) << centre << " " << span << (log ? " log" : "");
        ASSERT_LE(seen.size(), static_cast<std::size_t>(2 * most + 3));
        ASSERT_LE(axis.title("z", "m").size(), 60u);
        if (span > 0 && showable(centre + span, false) && !log) {
            const double a = axis.place(centre), b = axis.place(centre + span);
            ASSERT_TRUE(a >= -1e-6 && b <= 1 + 1e-6 && a <= b) << centre << " " << span << " " << a << " " << b;
        }
    }
}

TEST(Axis, WhatCannotBeShownHasNoPlace) {
    const Axis linear = linear_axis(0, 1, 5), log = log_axis(1e-3, 1e3, 5);
    for (const double x : {inf, -inf, std::nan(""), 1.7e308}) {
        EXPECT_TRUE(std::isnan(linear.place(x)));
        EXPECT_TRUE(std::isnan(log.place(x)));
    }
    EXPECT_TRUE(std::isnan(log.place(0)));
    EXPECT_TRUE(std::isnan(log.place(-1)));
    EXPECT_NEAR(log.place(1), 0.5, 1e-12);
    // Nothing to show at all: still an axis.
    for (const Axis& axis : {linear_axis(std::nan(""), 1, 5), log_axis(-1, 0, 5), linear_axis(-inf, inf, 5)})
        EXPECT_GE(labels(axis).size(), 1u);
}

TEST(Axis, HorizontalLabelsDoNotTouch) {
    for (const double pixels : {60.0, 120.0, 400.0, 1000.0})
        for (const double low : {0.0, 1e-7, 12345.6, 99999.9})
            for (const double span : {1e-9, 1.0, 3.3e6}) {
                const Axis axis = fitted_horizontal_axis(low, low + span, false, pixels, 12);
                double end = -1e9;
                for (const Tick& tick : axis.ticks()) {
                    const double half = text_width(tick.label, 12) / 2;
                    EXPECT_GT(tick.place * pixels - half, end) << low << " " << span << " on " << pixels;
                    end = tick.place * pixels + half;
                }
            }
}

}  // namespace
}  // namespace stickslip::plot
