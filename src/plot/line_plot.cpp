// Layout from top to bottom: title, legend in as many rows as it needs, the plot, labels of the ticks, title of the x axis.
// The legend stands above the data and never on them.
#include "plot/line_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/axis.hpp"
#include "plot/decimate.hpp"
#include "plot/text.hpp"

namespace stickslip::plot {

namespace {

constexpr double top = 20, bottom = 42, right = 16, tick_length = 4;
constexpr double y_margin = 0.05;  // share of the range left free above and below, so that no line hides on the frame
constexpr double tick_distance = 27;      // [px] between labels of the y axis, at least
constexpr std::size_t max_markers = 300;  // more dots than this are a thick line, and a large file

struct Range {
    double low = 0, high = 0;
    bool empty = true;
    void add(double value, bool log) {
        if (!showable(value, log)) return;
        low = empty ? value : std::min(low, value);
        high = empty ? value : std::max(high, value);
        empty = false;
    }
};

struct Frame {
    double x, y, w, h;
    Axis across, up;
    Point at(double px, double py) const { return {x + w * px, y + h * (1 - py)}; }
};

void draw_axes(const LinePlot& plot, const Frame& f, Picture& picture) {
    std::string grid;
    for (const Tick& tick : f.up.ticks()) {
        if (tick.place < -1e-6 || tick.place > 1 + 1e-6) continue;
        const double y = f.y + f.h * (1 - tick.place);
        if (tick.label.empty()) {
            picture.line(f.x, y, f.x + tick_length, y, "frame");
            continue;
        }
        grid += fmt::format("M{} {}h{}", coordinate(f.x), coordinate(y), coordinate(f.w));
        picture.text(f.x - 6, y + 4, tick.label, Picture::Anchor::end);
    }
    for (const Tick& tick : f.across.ticks()) {
        if (tick.place < -1e-6 || tick.place > 1 + 1e-6) continue;
        const double x = f.x + f.w * tick.place;
        if (tick.label.empty()) {
            picture.line(x, f.y + f.h - tick_length, x, f.y + f.h, "frame");
            continue;
        }
        grid += fmt::format("M{} {}v{}", coordinate(x), coordinate(f.y), coordinate(f.h));
        picture.text(x, f.y + f.h + 16, tick.label, Picture::Anchor::middle);
    }
    if (!grid.empty()) picture.body += fmt::format("<path class=\"grid\" d=\"{}\"/>\n", grid);
    picture.rectangle(f.x, f.y, f.w, f.h, "frame");
    picture.text(f.x + f.w / 2, f.y + f.h + 34, shortened(f.across.title(plot.x_label, plot.x_unit), font_size, f.w),
                 Picture::Anchor::middle, "faint");
    const double middle = f.y + f.h / 2;
    picture.text(14, middle, shortened(f.up.title(plot.y_label, plot.y_unit), font_size, f.h + 30),
                 Picture::Anchor::middle, "faint", fmt::format("transform=\"rotate(-90 14 {})\"", coordinate(middle)));
}

void append_path(const std::vector<Point>& line, std::string& path) {
    const std::vector<Point> points = decimated(line);
    for (std::size_t i = 0; i < points.size(); ++i)
        path += fmt::format("{}{} {}",
                            i == 0   ? "M"
                            : i == 1 ? "L"
                                     : " ",
                            coordinate(points[i].x), coordinate(points[i].y));
    if (points.size() == 1) path += "h0";  // a dot, by the round ends of the line
}

void draw_series(const LinePlot& plot, const Series& series, const std::string& classes, const Frame& f,
                 Picture& picture) {
    const std::vector<double>& x = series.x.empty() ? plot.x : series.x;
    const std::size_t n = std::min(x.size(), series.y.size());
    std::string path, dots;
    std::vector<Point> line;
    for (std::size_t i = 0; i <= n; ++i) {
        const double px = i < n ? f.across.place(x[i]) : NAN, py = i < n ? f.up.place(series.y[i]) : NAN;
        if (std::isnan(px) || std::isnan(py)) {
            if (series.line && !line.empty()) append_path(line, path);
            line.clear();
            continue;
        }
        line.push_back(f.at(px, py));
        if (series.markers && n <= max_markers)
            dots += fmt::format("M{} {}h0", coordinate(line.back().x), coordinate(line.back().y));
    }
    if (!path.empty()) picture.body += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", classes, path);
    if (!dots.empty())
        picture.body += fmt::format(
            "<path class=\"line {}\" style=\"stroke-width:6;stroke-dasharray:none\" d=\"{}\"/>\n", classes, dots);
}

}  // namespace

Picture draw(const LinePlot& plot) {
    Picture picture;
    picture.width = plot.width;
    picture.label = plot.title;
    Range xs, ys;
    std::vector<LegendEntry> entries;
    std::vector<std::string> classes;
    int colour = 0;
    for (const Series& series : plot.series) {
        const std::vector<double>& x = series.x.empty() ? plot.x : series.x;
        const std::size_t n = std::min(x.size(), series.y.size());
        // Samples without a y still have their place: pictures above each other show the same stretch of x.
        for (std::size_t i = 0; i < n; ++i) {
            xs.add(x[i], plot.log_x);
            if (showable(x[i], plot.log_x)) ys.add(series.y[i], plot.log_y);
        }
        classes.push_back(series.classes.empty() ? series_class(colour++) : series.classes);
        if (!series.name.empty()) entries.push_back({series.name, classes.back()});
    }
    const bool empty = xs.empty || ys.empty;
    for (const Level& level : plot.levels) {
        if (!showable(level.y, plot.log_y)) continue;
        ys.add(level.y, plot.log_y);
        entries.push_back({level.name, "ink dots"});
    }

    double y = top;
    if (!plot.title.empty())
        picture.text(4, 14, shortened(plot.title, 1.1 * font_size, plot.width - 8), Picture::Anchor::start, "title");
    y += draw_legend(picture, 4, y, plot.width - 8, entries) + 8;
    Frame f;
    f.y = y;
    f.h = std::max(60.0, plot.height - top - bottom - 8);
    picture.height = f.y + f.h + bottom;

    // With nothing to show the axes have no numbers.
    const int labels = static_cast<int>(f.h / tick_distance);
    if (!empty)
        f.up =
            plot.log_y ? log_axis(ys.low, ys.high, labels, y_margin) : linear_axis(ys.low, ys.high, labels, y_margin);
    double widest = 0;
    for (const Tick& tick : f.up.ticks()) widest = std::max(widest, text_width(tick.label, font_size));
    f.x = std::ceil(24 + widest + 8);
    f.w = std::max(60.0, plot.width - f.x - right);
    if (!empty) f.across = fitted_horizontal_axis(xs.low, xs.high, plot.log_x, f.w, font_size, plot.log_x ? 0.03 : 0);
    draw_axes(plot, f, picture);
    if (empty) {
        picture.text(f.x + f.w / 2, f.y + f.h / 2 + 4, "no data", Picture::Anchor::middle, "faint");
        return picture;
    }
    for (const Level& level : plot.levels) {
        if (!showable(level.y, plot.log_y)) continue;
        const double py = f.y + f.h * (1 - f.up.place(level.y));
        picture.line(f.x, py, f.x + f.w, py, "line ink dots");
    }
    for (std::size_t i = 0; i < plot.series.size(); ++i) draw_series(plot, plot.series[i], classes[i], f, picture);
    return picture;
}

}  // namespace stickslip::plot
