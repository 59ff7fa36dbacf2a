// The number of columns is the one that gives the largest scale within a page; a nested <svg> cuts off what lies outside
// its window.
#include "plot/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/text.hpp"

namespace stickslip::plot {

namespace {

constexpr double gap = 10, caption = 18, max_height = 560;  // [px]
constexpr double max_view_height = 300;

struct Window {
    Point low, high;
    double scale;  // [px/m]
    double x(double value) const { return (value - low.x) * scale; }
    double y(double value) const { return (high.y - value) * scale; }
};

// The half-plane as a polygon that covers the window, and its edge.
void draw_ground(const Ground& ground, const Window& w, std::string& out) {
    const double cx = (w.low.x + w.high.x) / 2, cy = (w.low.y + w.high.y) / 2;
    const double reach = std::hypot(w.high.x - w.low.x, w.high.y - w.low.y) + 1e-12;
    const Point n = ground.normal, t{-n.y, n.x};
    const double distance = ground.offset - (n.x * cx + n.y * cy);  // of the line from the middle, along n
    if (!std::isfinite(distance) || std::abs(distance) > reach) {
        if (distance > reach) out += fmt::format("<rect class=\"blank\" width=\"9999\" height=\"9999\"/>\n");
        return;
    }
    const Point foot{cx + n.x * distance, cy + n.y * distance};
    const auto at = [&](double along, double away) {
        return fmt::format("{} {}", coordinate(w.x(foot.x + t.x * along + n.x * away)),
                           coordinate(w.y(foot.y + t.y * along + n.y * away)));
    };
    out += fmt::format("<path class=\"blank\" d=\"M{}L{}L{}L{}z\"/>\n", at(-reach, 0), at(reach, 0),
                       at(reach, -2 * reach), at(-reach, -2 * reach));
    out += fmt::format("<path class=\"line frame\" d=\"M{}L{}\"/>\n", at(-reach, 0), at(reach, 0));
}

void draw_outline(const Outline& o, const Window& w, std::string& out) {
    for (const Point& p : o.points)
        if (!std::isfinite(p.x) || !std::isfinite(p.y)) return;
    if (o.points.empty()) return;
    const std::string stroke = o.colour < 0 ? "frame" : fmt::format("s{}", o.colour % colours);
    const std::string fill = o.colour < 0 ? "solid see" : fmt::format("f{} see", o.colour % colours);
    const double x = w.x(o.points[0].x), y = w.y(o.points[0].y);
    switch (o.kind) {
        case Outline::Kind::circle:
            out += fmt::format("<circle class=\"{} {}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", stroke, fill, coordinate(x),
                               coordinate(y), coordinate(std::max(1.5, o.radius * w.scale)));
            return;
        case Outline::Kind::dot:
            out += fmt::format("<path class=\"line {}\" style=\"stroke-width:7\" d=\"M{} {}h0\"/>\n", stroke,
                               coordinate(x), coordinate(y));
            return;
        default: break;
    }
    std::string path;
    for (const Point& p : o.points)
        path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(w.x(p.x)), coordinate(w.y(p.y)));
    if (o.kind == Outline::Kind::polygon)
        out += fmt::format("<path class=\"{} {}\" d=\"{}z\"/>\n", stroke, fill, path);
    else
        out += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", stroke, path);
}

}  // namespace

Picture draw(const ViewStrip& strip) {
    Picture picture;
    picture.width = strip.width;
    picture.label = strip.title;
    picture.text(4, 14, shortened(strip.title, 1.1 * font_size, strip.width - 8), Picture::Anchor::start, "title");
    Window w{strip.low, strip.high, 1};
    double wide = w.high.x - w.low.x, tall = w.high.y - w.low.y;
    const int n = static_cast<int>(strip.views.size());
    if (n == 0 || !std::isfinite(wide) || !std::isfinite(tall) || wide <= 0 || tall <= 0) {
        picture.text(strip.width / 2, 40, "nothing to show", Picture::Anchor::middle, "faint");
        picture.height = 60;
        return picture;
    }
    // Of all numbers of columns the one with the largest scale.
    int columns = 1;
    w.scale = 0;
    for (int c = 1; c <= n; ++c) {
        const int rows = (n + c - 1) / c;
        const double across = (strip.width - gap * (c + 1)) / (c * wide);
        const double down = std::min(max_view_height, max_height / rows - caption - gap) / tall;
        if (std::min(across, down) > w.scale * (1 + 1e-9)) {
            w.scale = std::min(across, down);
            columns = c;
        }
    }
    // Windows that are narrow beside their place are widened, so that captions fit and columns fill the width.
    const double place = (strip.width - gap * (columns + 1)) / columns;
    const double view_w = std::min(place, std::max(wide * w.scale, 84.0)), view_h = tall * w.scale;
    const double more = (view_w / w.scale - wide) / 2;
    w.low.x -= more;
    w.high.x += more;

    const double y0 = 26;
    for (int i = 0; i < n; ++i) {
        const double x = gap + (i % columns) * (view_w + gap), y = y0 + (i / columns) * (view_h + caption + gap);
        picture.body += fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\n", coordinate(x),
                                    coordinate(y), coordinate(view_w), coordinate(view_h));
        for (const Ground& ground : strip.grounds) draw_ground(ground, w, picture.body);
        for (const Outline& outline : strip.views[i].outlines) draw_outline(outline, w, picture.body);
        picture.body += "</svg>\n";
        picture.rectangle(x, y, view_w, view_h, "grid");
        picture.text(x + view_w / 2, y + view_h + 14, shortened(strip.views[i].title, font_size, view_w),
                     Picture::Anchor::middle);
    }
    const double below = y0 + ((n + columns - 1) / columns) * (view_h + caption + gap);
    // A length to measure with: 1, 2 or 5 times a power of ten, about 80 px long.
    const double about = 80 / w.scale, power = std::pow(10, std::floor(std::log10(about)));
    const double length = about >= 5 * power ? 5 * power : about >= 2 * power ? 2 * power : power;
    const double px = length * w.scale;
    picture.body += fmt::format("<path class=\"line ink\" d=\"M{0} {1}v6m0 -3h{2}m0 -3v6\"/>\n", coordinate(gap),
                                coordinate(below + 2), coordinate(px));
    picture.text(gap + px + 8, below + 9,
                 fmt::format("{} m; {} to the right, {} to the top", number(length, 3), strip.x_label, strip.y_label),
                 Picture::Anchor::start, "faint");
    picture.height = below + 18;
    return picture;
}

}  // namespace stickslip::plot
