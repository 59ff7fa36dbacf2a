// Bars are first painted into columns of one pixel, so that a million of them cost no more than the width of the
// picture, and a short one is never lost beside a long one.
#include "plot/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/axis.hpp"
#include "plot/text.hpp"

namespace stickslip::plot {

namespace {

constexpr double lane_height = 18, bar_height = 12, max_name_width = 300, right_margin = 16;

// Columns first .. last that a stretch of time touches; at least one.
struct Painter {
    const Axis& axis;
    int columns;
    bool range(double from, double to, int& first, int& last) const {
        double a = axis.place(from), b = axis.place(to);
        if (std::isnan(a) || std::isnan(b)) return false;
        if (a > b) std::swap(a, b);
        if (b < 0 || a > 1) return false;
        first = std::clamp(static_cast<int>(std::floor(a * columns + 1e-6)), 0, columns - 1);
        last = std::clamp(static_cast<int>(std::ceil(b * columns - 1e-6)) - 1, first, columns - 1);
        return true;
    }
};

}  // namespace

Picture draw(const Timeline& timeline) {
    Picture picture;
    picture.width = timeline.width;
    picture.label = timeline.title;
    if (!timeline.title.empty())
        picture.text(4, 14, shortened(timeline.title, 1.1 * font_size, timeline.width - 8), Picture::Anchor::start,
                     "title");
    std::vector<LegendEntry> entries;
    for (const Timeline::Kind& kind : timeline.kinds) entries.push_back({kind.name, kind.classes, true});
    if (!timeline.mark_name.empty()) entries.push_back({timeline.mark_name, "ink"});
    const double y = 20 + draw_legend(picture, 4, 20, timeline.width - 8, entries) + 8;

    double names = 40;
    for (const Timeline::Row& row : timeline.rows) names = std::max(names, text_width(row.name, font_size));
    names = std::min(names, max_name_width);
    const double x = std::ceil(names + 12), w = std::max(60.0, std::floor(timeline.width - x - right_margin));
    const double h = lane_height * static_cast<double>(std::max<std::size_t>(1, timeline.rows.size()));
    picture.height = y + h + 42;
    const Axis axis = fitted_horizontal_axis(timeline.from, timeline.to, false, w, font_size);
    const Painter painter{axis, static_cast<int>(w)};

    std::string grid;
    for (const Tick& tick : axis.ticks()) {
        const double at = x + w * tick.place;
        grid += fmt::format("M{} {}v{}", coordinate(at), coordinate(y), coordinate(h));
        picture.text(at, y + h + 16, tick.label, Picture::Anchor::middle);
    }
    picture.body += fmt::format("<path class=\"grid\" d=\"{}\"/>\n", grid);
    picture.text(x + w / 2, y + h + 34, axis.title(timeline.x_label, timeline.x_unit), Picture::Anchor::middle,
                 "faint");

    std::vector<int> column;
    for (std::size_t r = 0; r < timeline.rows.size(); ++r) {
        const Timeline::Row& row = timeline.rows[r];
        const double above = y + lane_height * static_cast<double>(r) + (lane_height - bar_height) / 2;
        picture.text(x - 8, above + bar_height - 2, shortened(row.name, font_size, names), Picture::Anchor::end);
        column.assign(static_cast<std::size_t>(painter.columns), -1);
        int first = 0, last = 0;
        for (const Bar& bar : row.bars)
            if (painter.range(bar.from, bar.to, first, last))
                for (int c = first; c <= last; ++c) column[c] = std::max(column[c], bar.kind);
        for (std::size_t k = 0; k < timeline.kinds.size(); ++k) {
            std::string path;
            for (int c = 0; c < painter.columns;) {
                if (column[c] != static_cast<int>(k)) {
                    ++c;
                    continue;
                }
                const int start = c;
                while (c < painter.columns && column[c] == static_cast<int>(k)) ++c;
                path += fmt::format("M{} {}h{}v{}h-{}z", coordinate(x + start), coordinate(above), c - start,
                                    bar_height, c - start);
            }
            if (!path.empty())
                picture.body += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", timeline.kinds[k].classes, path);
        }
        // Marks that share a column are one mark.
        std::vector<int> marks;
        for (const double t : row.marks)
            if (painter.range(t, t, first, last)) marks.push_back(first);
        std::sort(marks.begin(), marks.end());
        marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
        std::string path;
        for (const int c : marks)
            path += fmt::format("M{} {}v{}", coordinate(x + c + 0.5), coordinate(above - 2), bar_height + 4);
        if (!path.empty()) picture.body += fmt::format("<path class=\"ink\" fill=\"none\" d=\"{}\"/>\n", path);
    }
    picture.rectangle(x, y, w, h, "frame");
    if (timeline.rows.empty()) picture.text(x + w / 2, y + h / 2 + 4, "none", Picture::Anchor::middle, "faint");
    return picture;
}

Picture draw(const Shares& shares) {
    Picture picture;
    picture.width = shares.width;
    picture.label = shares.title;
    if (!shares.title.empty())
        picture.text(4, 14, shortened(shares.title, 1.1 * font_size, shares.width - 8), Picture::Anchor::start,
                     "title");
    double sum = 0;
    for (const Shares::Part& part : shares.parts)
        if (part.value > 0 && std::isfinite(part.value)) sum += part.value;
    const double x = 4, w = shares.width - 8, y = 26, h = 24;
    std::vector<LegendEntry> entries;
    double at = x;
    for (std::size_t i = 0; i < shares.parts.size(); ++i) {
        const Shares::Part& part = shares.parts[i];
        const double share = sum > 0 && part.value > 0 && std::isfinite(part.value) ? part.value / sum : 0;
        const std::string classes = fmt::format("f{}", static_cast<int>(i) % colours);
        picture.rectangle(at, y, share * w, h, classes);
        at += share * w;
        entries.push_back({fmt::format("{} {} {} ({} %)", part.name, number(part.value, 3), shares.unit,
                                       number(std::round(1000 * share) / 10, 3)),
                           classes, true});
    }
    picture.rectangle(x, y, w, h, "frame");
    picture.height = y + h + 10 + draw_legend(picture, x, y + h + 8, w, entries);
    return picture;
}

}  // namespace stickslip::plot
