#include "plot/decimate.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip::plot {

namespace {

// Finer than the tenths of a pixel that are written.
bool same(double a, double b) { return std::abs(a - b) < 0.05; }

}  // namespace

std::vector<Point> decimated(const std::vector<Point>& line, double column) {
    std::vector<Point> kept;
    const auto keep = [&](const Point& p) {
        const std::size_t n = kept.size();
        if (n > 0 && same(kept[n - 1].x, p.x) && same(kept[n - 1].y, p.y)) return;
        // The last point can go only if the line turns neither up nor down nor back there.
        if (n > 1 && same(kept[n - 2].y, p.y) && same(kept[n - 1].y, p.y) && kept[n - 2].x <= kept[n - 1].x &&
            kept[n - 1].x <= p.x)
            kept.pop_back();
        kept.push_back(p);
    };
    for (std::size_t i = 0; i < line.size();) {
        const double place = std::floor(line[i].x / column);
        std::size_t lowest = i, highest = i, end = i + 1;
        for (; end < line.size() && std::floor(line[end].x / column) == place; ++end) {
            if (line[end].y < line[lowest].y) lowest = end;
            if (line[end].y > line[highest].y) highest = end;
        }
        keep(line[i]);
        keep(line[std::min(lowest, highest)]);
        keep(line[std::max(lowest, highest)]);
        keep(line[end - 1]);
        i = end;
    }
    return kept;
}

}  // namespace stickslip::plot
