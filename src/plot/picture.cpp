#include "plot/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plot/text.hpp"

namespace stickslip::plot {

namespace {

// blue, vermilion, green, purple, orange, sky, olive, grey
constexpr std::array<const char*, colours> on_light{"#0072b2", "#d55e00", "#009e73", "#b85c8f",
                                                    "#c98500", "#3a9bd1", "#7a7a1f", "#555555"};
constexpr std::array<const char*, colours> on_dark{"#56b4e9", "#ff8a3d", "#2fd3a2", "#e5a3c8",
                                                   "#f0b429", "#8fd0f5", "#cccc55", "#c0c0c0"};

std::string variables(const std::array<const char*, colours>& palette, const char* ink, const char* faint,
                      const char* grid, const char* paper) {
    std::string text = fmt::format("--ink:{};--faint:{};--grid:{};--paper:{};", ink, faint, grid, paper);
    for (int i = 0; i < colours; ++i) text += fmt::format("--c{}:{};", i, palette[i]);
    return text;
}

constexpr const char *light_ink = "#1a1a1a", *light_faint = "#5c5c5c", *light_grid = "#e2e2e2",
                     *light_paper = "#ffffff";
constexpr double row_height = 17, swatch = 22, swatch_gap = 6, entry_gap = 16;

constexpr const char* rules = R"(
svg text {
  font: 12px system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: var(--ink);
  font-variant-numeric: tabular-nums;
}
svg .title { font-weight: 600 }
svg .faint { fill: var(--faint) }
svg .grid { stroke: var(--grid); stroke-width: 1; fill: none }
svg .frame { stroke: var(--faint); stroke-width: 1; fill: none }
svg .line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round }
svg .dash { stroke-dasharray: 6 3 }
svg .behind { stroke-width: 1; opacity: .4; stroke-dasharray: none }
svg .dots { stroke-dasharray: 2 3 }
svg .ink { stroke: var(--ink) }
svg .blank { fill: var(--grid) }
svg .solid { fill: var(--faint) }
svg .see { fill-opacity: .25 }
)";
static_assert(font_size == 12, "the rules above name it");

}  // namespace

std::string picture_style() {
    const std::string light = variables(on_light, light_ink, light_faint, light_grid, light_paper);
    const std::string dark = variables(on_dark, "#e8e8e8", "#a8a8a8", "#3a3d42", "#16181c");
    std::string css = fmt::format(
        "\n:root {{ color-scheme: light dark; {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n"
        "@media print {{ :root {{ color-scheme: light; {} }} }}",
        light, dark, light);
    css += rules;
    for (int i = 0; i < colours; ++i)
        css += fmt::format("svg .s{0} {{ stroke: var(--c{0}) }} svg .f{0} {{ fill: var(--c{0}) }}\n", i);
    return css;
}

std::string series_class(int i) {
    const int c = i % colours;
    return fmt::format("s{}{}", c, c >= 4 ? " dash" : "");
}

void Picture::text(double x, double y, std::string_view words, Anchor anchor, std::string_view classes,
                   std::string_view more) {
    body += fmt::format("<text x=\"{}\" y=\"{}\"", coordinate(x), coordinate(y));
    if (anchor != Anchor::start) body += anchor == Anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
    if (!classes.empty()) body += fmt::format(" class=\"{}\"", classes);
    if (!more.empty()) body += fmt::format(" {}", more);
    body += fmt::format(">{}</text>\n", escape(words));
}

void Picture::line(double x0, double y0, double x1, double y1, std::string_view classes) {
    body += fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>\n", classes, coordinate(x0), coordinate(y0),
                        coordinate(x1), coordinate(y1));
}

void Picture::rectangle(double x, double y, double w, double h, std::string_view classes) {
    body += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", classes, coordinate(x),
                        coordinate(y), coordinate(std::max(0.0, w)), coordinate(std::max(0.0, h)));
}

std::string Picture::inline_svg() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "aria-label=\"{2}\">\n{3}</svg>\n",
        coordinate(width), coordinate(height), escape(label), body);
}

std::string Picture::svg_file() const {
    std::string text = inline_svg();
    const std::string style =
        fmt::format("<style>{}</style>\n<rect width=\"{}\" height=\"{}\" style=\"fill:var(--paper)\"/>\n",
                    picture_style(), coordinate(width), coordinate(height));
    text.insert(text.find(">\n") + 2, style);
    // Viewers that are no browsers know no variables: a file of its own has the light colours in their place.
    const auto replace = [&](const std::string& name, const char* colour) {
        const std::string variable = "var(--" + name + ")";
        for (std::size_t at = text.find(variable); at != std::string::npos; at = text.find(variable, at))
            text.replace(at, variable.size(), colour);
    };
    replace("ink", light_ink);
    replace("faint", light_faint);
    replace("grid", light_grid);
    replace("paper", light_paper);
    for (int i = 0; i < colours; ++i) replace(fmt::format("c{}", i), on_light[i]);
    return text;
}

double draw_legend(Picture& picture, double x, double y, double width, const std::vector<LegendEntry>& entries) {
    double across = 0, down = 0;
    for (const LegendEntry& entry : entries) {
        const std::string name = shortened(entry.name, font_size, width - swatch - swatch_gap);
        const double wide = swatch + swatch_gap + text_width(name, font_size);
        if (across > 0 && across + wide > width) {
            across = 0;
            down += row_height;
        }
        const double left = x + across, middle = y + down + row_height / 2;
        if (entry.block)
            picture.rectangle(left, middle - 5, swatch, 10, entry.swatch_classes);
        else
            picture.line(left, middle, left + swatch, middle, "line " + entry.swatch_classes);
        picture.text(left + swatch + swatch_gap, middle + 4, name);
        across += wide + entry_gap;
    }
    return entries.empty() ? 0 : down + row_height;
}

}  // namespace stickslip::plot
