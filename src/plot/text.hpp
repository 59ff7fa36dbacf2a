// Text as it goes into SVG and HTML: escaped, with numbers that are short, and an estimate of its width, because the
// browser's fonts are not known here and nothing may overlap or run out of the picture.
#pragma once

#include <string>
#include <string_view>

namespace stickslip::plot {

// Safe inside elements and quoted attributes. Bytes that are not UTF-8 and control characters become U+FFFD; line
// breaks and tabs become spaces.
std::string escape(std::string_view text);

// A coordinate of a picture: at most one decimal, "12.5", "12", "0"; what is not finite becomes 0.
std::string coordinate(double x);

// A number for people: `digits` significant digits, "0.25", "1.2e-9", "12300"; "not a number", "infinite".
std::string number(double x, int digits = 4);

// "1 event", "2 events".
std::string counted(long long n, std::string_view noun);

// "10⁻³"
std::string power_of_ten(int exponent);

// Upper estimate [px] of a sans-serif font of this size; DejaVu Sans, the widest of the usual ones.
double text_width(std::string_view text, double size);
// The text itself, or its beginning and an ellipsis if it is wider than `width`. Not escaped.
std::string shortened(std::string_view text, double size, double width);

}  // namespace stickslip::plot
