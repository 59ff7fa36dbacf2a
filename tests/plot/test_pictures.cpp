#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <regex>

#include "plot/decimate.hpp"
#include "plot/line_plot.hpp"
#include "plot/page.hpp"
#include "plot/timeline.hpp"
#include "plot/views.hpp"
#include "support/xml.hpp"

namespace stickslip::plot {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// Well-formed, without numbers that are none, and nothing loaded from elsewhere.
void expect_sound(const Picture& picture, const std::string& what) {
    const std::string svg = picture.inline_svg();
    EXPECT_EQ(testing::xml_fault(svg), "") << what;
    EXPECT_EQ(testing::xml_fault(picture.svg_file()), "") << what;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << what;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << what;
    EXPECT_EQ(svg.find("href"), std::string::npos) << what;
    EXPECT_GT(picture.height, 0) << what;
}

// All texts of a picture with an estimate of the pixels they cover, rotated ones left out.
struct Words {
    double left, right, base;
    std::string text;
};
std::vector<Words> words_of(const Picture& picture) {
    std::vector<Words> list;
    const std::regex pattern(
        "<text x=\"([^\"]*)\" y=\"([^\"]*)\"(?: text-anchor=\"([a-z]*)\")?(?: class=\"([a-z]*)\")?>([^<]*)</text>");
    for (std::sregex_iterator i(picture.body.begin(), picture.body.end(), pattern), end; i != end; ++i) {
        // half an em is an ordinary letter; the layout itself reckons with more
        const double x = std::stod((*i)[1]), width = 0.5 * font_size * static_cast<double>((*i)[5].length());
        const double left = (*i)[3] == "middle" ? x - width / 2 : (*i)[3] == "end" ? x - width : x;
        list.push_back({left, left + width, std::stod((*i)[2]), (*i)[5]});
    }
    return list;
}

TEST(Decimate, KeepsEveryPeakOfAMillionSamples) {
    std::vector<Point> line;
    const int n = 1000000;
    for (int i = 0; i < n; ++i) line.push_back({500.0 * i / n, 100 + 20 * std::sin(0.37 * i)});
    line[123456].y = 190;  // one sample wide
    line[654321].y = 5;
    const std::vector<Point> kept = decimated(line);
    EXPECT_LE(kept.size(), 4u * 501u);
    const auto has = [&](const Point& p) {
        return std::any_of(kept.begin(), kept.end(), [&](const Point& k) { return k.x == p.x && k.y == p.y; });
    };
    EXPECT_TRUE(has(line[123456]));
    EXPECT_TRUE(has(line[654321]));
    EXPECT_TRUE(has(line.front()));
    EXPECT_TRUE(has(line.back()));
    // In every column the lowest and the highest sample are still there, to the tenth of a pixel that is written.
    std::vector<double> low(501, inf), high(501, -inf), kept_low(501, inf), kept_high(501, -inf);
    const auto note = [](const std::vector<Point>& points, std::vector<double>& l, std::vector<double>& h) {
        for (const Point& p : points) {
            const auto c = static_cast<std::size_t>(p.x);
            l[c] = std::min(l[c], p.y);
            h[c] = std::max(h[c], p.y);
        }
    };
    note(line, low, high);
    note(kept, kept_low, kept_high);
    for (std::size_t c = 0; c < 500; ++c) {
        EXPECT_NEAR(kept_low[c], low[c], 0.051);
        EXPECT_NEAR(kept_high[c], high[c], 0.051);
    }
}

TEST(Decimate, FewPointsStayAsTheyAre) {
    EXPECT_TRUE(decimated({}).empty());
    EXPECT_EQ(decimated({{1, 2}}).size(), 1u);
    EXPECT_EQ(decimated({{0, 0}, {10, 5}, {20, 0}}).size(), 3u);
    EXPECT_EQ(decimated({{0, 1}, {10, 1}, {20, 1}, {30, 1}}).size(), 2u);  // a straight run
    EXPECT_EQ(decimated({{0, 1}, {10, 1}, {5, 1}}).size(), 3u);            // there and back
}

TEST(LinePlot, AMillionSamplesMakeASmallFile) {
    LinePlot plot;
    for (int i = 0; i < 1000000; ++i) plot.x.push_back(1e-6 * i);
    for (int s = 0; s < 3; ++s) {
        Series series{"noise", {}};
        for (int i = 0; i < 1000000; ++i) series.y.push_back(std::sin(0.1 * i * (s + 1)));
        plot.series.push_back(std::move(series));
    }
    const Picture picture = draw(plot);
    expect_sound(picture, "noise");
    EXPECT_LT(picture.body.size(), 120000u);
}

TEST(LinePlot, GapsAreLeftWhereNothingCanBeShown) {
    LinePlot plot;
    plot.x = {0, 1, 2, 3, 4, 5, 6, 7};
    plot.series.push_back({"", {1, 2, nan, 3, inf, 4, 5, 6}});
    const std::string body = draw(plot).body;
    const std::string path = body.substr(body.rfind(" d=\""));
    EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 3);
    EXPECT_NE(path.find("h0"), std::string::npos);  // a sample between two gaps is a dot
    plot.log_y = true;
    plot.series[0].y = {1, 10, 0, 100, -1, 1, 1, 1};
    const std::string log = draw(plot).body;
    const std::string log_path = log.substr(log.rfind(" d=\""));
    EXPECT_EQ(std::count(log_path.begin(), log_path.end(), 'M'), 3);
}

TEST(LinePlot, DegenerateDataStillMakeAPicture) {
    const std::vector<std::vector<double>> cases{
        {},
        {1},
        {nan},
        {nan, inf, -inf},
        {5, 5, 5},
        {0, 0},
        {5, std::nextafter(5, 6), 5},
        {5, 5 + 1e-16},
        {1e308, -1e308, 1.7e308},
        {1e-320, 5e-324},
        {1e299, -1e299},
        {123456789.123, 123456789.124},
        {-1e-300, 1e-300},
    };
    for (const bool log : {false, true})
        for (std::size_t i = 0; i < cases.size(); ++i) {
            LinePlot plot;
            plot.title = "<title> & \"more\"";
            plot.x_label = "t";
            plot.y_label = "a label that is far too long for the height of any picture, and goes on and on and on";
            plot.y_unit = "m";
            plot.log_y = plot.log_x = log;
            for (std::size_t k = 0; k < cases[i].size(); ++k) plot.x.push_back(static_cast<double>(k + 1));
            plot.series.push_back({"<script>", cases[i], {}, true});
            plot.series.push_back({"swapped", plot.x, cases[i]});
            plot.levels.push_back({nan, "none"});
            plot.levels.push_back({1e-9, "tolerance"});
            expect_sound(draw(plot), "case " + std::to_string(i) + (log ? " log" : ""));
        }
    expect_sound(draw(LinePlot()), "nothing at all");
}

TEST(LinePlot, WordsNeitherOverlapNorLeaveThePicture) {
    for (const double scale : {1.0, 1e-9, 1e12, 123456.0})
        for (const bool log : {false, true}) {
            LinePlot plot;
            plot.title = "A title";
            plot.x_label = "t";
            plot.x_unit = "s";
            plot.y_label = "y";
            plot.y_unit = "m";
            plot.log_x = plot.log_y = log;
            for (int i = 1; i < 50; ++i) plot.x.push_back(scale * i);
            for (int s = 0; s < 8; ++s) {
                Series series{"a rather long name of a body, number " + std::to_string(s), {}};
                for (int i = 1; i < 50; ++i) series.y.push_back(7e5 * scale * i * (s + 1));
                plot.series.push_back(std::move(series));
            }
            plot.series[0].name = std::string(300, 'w');
            const Picture picture = draw(plot);
            const std::vector<Words> words = words_of(picture);
            ASSERT_GT(words.size(), 12u);  // title, axes, legend, ticks
            for (std::size_t i = 0; i < words.size(); ++i) {
                EXPECT_GE(words[i].left, 0) << words[i].text;
                EXPECT_LE(words[i].right, picture.width) << words[i].text;
                EXPECT_LE(words[i].base, picture.height) << words[i].text;
                for (std::size_t j = 0; j < i; ++j)
                    EXPECT_FALSE(std::abs(words[i].base - words[j].base) < 10 && words[i].left < words[j].right &&
                                 words[j].left < words[i].right)
                        << words[i].text << " on " << words[j].text;
            }
        }
}

TEST(Timeline, ShortImpactsAreNotLostAmongLongRests) {
    Timeline timeline;
    timeline.kinds = {{"rest", "f0"}, {"impact", "f1"}};
    timeline.from = 0;
    timeline.to = 1000;
    timeline.rows.push_back({"<script>", {{0, 500, 0}, {500, 500.0001, 1}, {500.0001, 1000, 0}}, {2, 2, 999, nan}});
    for (int i = 0; i < 100000; ++i) timeline.rows[0].bars.push_back({0.01 * i, 0.01 * i + 0.005, 0});
    const Picture picture = draw(timeline);
    expect_sound(picture, "timeline");
    EXPECT_NE(picture.body.find("class=\"f1\" d=\"M"), std::string::npos);
    EXPECT_LT(picture.body.size(), 5000u);
    EXPECT_EQ(picture.body.find("<script>"), std::string::npos);
    expect_sound(draw(Timeline()), "no rows");
    timeline.from = timeline.to = 3;
    timeline.rows[0].bars = {{3, 3, 1}, {nan, 4, 1}, {-inf, inf, 0}};
    expect_sound(draw(timeline), "a moment");
}

TEST(Shares, BarsFillTheWidthAndBadValuesCountAsNone) {
    const Picture picture = draw(Shares{"Time", "s", {{"a", 1}, {"b", 3}, {"c", 0}}, 408});
    expect_sound(picture, "shares");
    EXPECT_NE(picture.body.find("width=\"100\""), std::string::npos);
    EXPECT_NE(picture.body.find("width=\"300\""), std::string::npos);
    EXPECT_NE(picture.body.find("75 %"), std::string::npos);
    expect_sound(draw(Shares{"", "s", {}, 400}), "none");
    const Picture odd = draw(Shares{"", "s", {{"a", 0}, {"b", -1}}, 400});
    expect_sound(odd, "nothing positive");
}

TEST(Views, OutlinesKeepTheirProportionsAndDegenerateWindowsAreAnswered) {
    ViewStrip strip;
    strip.title = "s";
    strip.low = {0, 0};
    strip.high = {2, 1};
    strip.views.push_back(
        {"t = 0", {{Outline::Kind::polygon, {{0.5, 0.25}, {1.5, 0.25}, {1.5, 0.75}, {0.5, 0.75}}, 0, 0}}});
    strip.grounds = {{{0, 1}, 0.1}, {{1, 0}, -5}, {{0, 1}, 1e9}, {{0, 1}, nan}};
    const Picture picture = draw(strip);
    expect_sound(picture, "views");
    const std::regex corners("class=\"s0 f0 see\" d=\"M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)");
    std::smatch m;
    ASSERT_TRUE(std::regex_search(picture.body, m, corners));
    const auto value = [&](int i) { return std::stod(m[i]); };
    EXPECT_NEAR(value(3) - value(1), 2 * (value(4) - value(6)), 0.31);  // twice as wide as high, up is up
    for (const Point bad : {Point{0, 0}, Point{nan, 1}, Point{inf, 1}, Point{-1, -1}}) {
        strip.high = bad;
        expect_sound(draw(strip), "bad window");
    }
    strip.high = {1, 1};
    strip.views[0].outlines.push_back({Outline::Kind::circle, {{nan, 0}}, inf, 3});
    strip.views[0].outlines.push_back({Outline::Kind::dot, {}, 0, -1});
    expect_sound(draw(strip), "bad outlines");
}

}  // namespace
}  // namespace stickslip::plot
