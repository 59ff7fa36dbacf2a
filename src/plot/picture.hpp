// One SVG picture: what is common to all plots. Colours are classes, so that the same picture is light on a light page,
// dark on a dark one and black on white in print: s0 .. s7 strokes and f0 .. f7 fills of the palette, `ink`, `faint`, `grid`;
// `behind` makes a line thin and pale.
//
// The palette is that of Okabe and Ito, made for the colour-blind, without its yellow (invisible on white) and with an
// olive; on dark pages the same hues are lighter. The second four lines are dashed as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stickslip::plot {

inline constexpr int colours = 8;
inline constexpr double font_size = 12;  // [px] of all text in pictures

struct Picture {
    double width = 0, height = 0;  // [px]
    std::string label;             // what it shows, for those who do not see it
    std::string body;              // SVG elements

    enum class Anchor { start, middle, end };
    void text(double x, double y, std::string_view words, Anchor anchor = Anchor::start, std::string_view classes = "",
              std::string_view more = "");
    void line(double x0, double y0, double x1, double y1, std::string_view classes);
    void rectangle(double x, double y, double w, double h, std::string_view classes);

    std::string inline_svg() const;  // for a Page, which holds the style
    std::string svg_file() const;    // a file by itself
};

// Names with a swatch each, in rows that end before `width`; a name longer than a row is shortened.
struct LegendEntry {
    std::string name;
    std::string swatch_classes;
    bool block = false;  // a block instead of a line
};
// Draws at (x, y) downwards and returns the height used.
double draw_legend(Picture& picture, double x, double y, double width, const std::vector<LegendEntry>& entries);

// Rules for the classes above, for a page or a file.
std::string picture_style();
std::string series_class(int i);  // "s3", dashed beyond the fourth

}  // namespace stickslip::plot
