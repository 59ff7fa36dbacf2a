#include <gtest/gtest.h>

#include <limits>

#include "plot/page.hpp"
#include "plot/text.hpp"
#include "support/xml.hpp"

namespace stickslip::plot {
namespace {

TEST(XmlFault, NoticesWhatIsWrong) {
    for (const char* good : {"<a/>", "<a b=\"c\">d &amp; e<f/></a>", "<!DOCTYPE html>\n<html><p>x</p></html>\n"})
        EXPECT_EQ(testing::xml_fault(good), "") << good;
    for (const char* bad : {"", "<a>", "<a></b>", "<a>&</a>", "<a b=c/>", "<a b=\"<\"/>", "<a/><b/>", "x<a/>",
                            "<a b=\"1\" b=\"2\"/>", "<a>\x01</a>", "<a><b></a></b>"})
        EXPECT_NE(testing::xml_fault(bad), "") << bad;
}

TEST(Text, HostileNamesAreEscaped) {
    EXPECT_EQ(escape("<script>alert(\"1\" & '2')</script>"),
              "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
    EXPECT_EQ(escape("10 \xc2\xb0 \xe2\x82\xac"), "10 \xc2\xb0 \xe2\x82\xac");
    // Cut and overlong characters, surrogates, control characters, zero bytes: never passed on.
    const std::string broken[] = {"\xc3", "\xe2\x82",           "\xc0\xaf", "\xed\xa0\x80",
                                  "\xff", std::string(1, '\0'), "\x1b[31m"};
    for (const std::string& text : broken) EXPECT_EQ(escape(text).substr(0, 3), "\xef\xbf\xbd");
    EXPECT_EQ(escape("a\nb\tc"), "a b c");
}

// Every pair of bytes, valid or not, becomes a page that a strict parser takes.
TEST(Text, AnyBytesMakeAWellFormedPage) {
    Page page("\xff<title>");
    for (int a = 0; a < 256; ++a) {
        std::string text;
        for (int b = 0; b < 256; ++b) text += {static_cast<char>(a), static_cast<char>(b)};
        page.paragraph(text, "a\"b");
        page.source(text, text);
        page.table({{{text, true}}, {{text}, {}}});
    }
    EXPECT_EQ(testing::xml_fault(page.html()), "");
}

TEST(Text, NumbersAreShort) {
    EXPECT_EQ(coordinate(12.04), "12");
    EXPECT_EQ(coordinate(-0.04), "0");
    EXPECT_EQ(coordinate(-12.36), "-12.4");
    EXPECT_EQ(coordinate(std::numeric_limits<double>::quiet_NaN()), "0");
    EXPECT_EQ(coordinate(std::numeric_limits<double>::infinity()), "0");
    EXPECT_EQ(number(1.25e-9, 3), "1.25e-9");
    EXPECT_EQ(number(12345, 3), "12300");
    EXPECT_EQ(number(0.25), "0.25");
    EXPECT_EQ(number(-1e300, 2), "-1e300");
    EXPECT_EQ(power_of_ten(-12), "10\xe2\x81\xbb\xc2\xb9\xc2\xb2");
}

TEST(Text, ShortenedTextFitsAndKeepsWholeCharacters) {
    EXPECT_EQ(shortened("short", 12, 200), "short");
    const std::string accents(400, '\0');
    std::string text;
    for (int i = 0; i < 200; ++i) text += "\xc3\xa9";
    for (double width = 1; width < 300; width += 7) {
        const std::string cut = shortened(text, 12, width);
        EXPECT_LE(text_width(cut, 12), std::max(width, 12.0));
        EXPECT_EQ(escape(cut), cut);  // no half characters
    }
}

}  // namespace
}  // namespace stickslip::plot
