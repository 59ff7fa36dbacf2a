// A strip of side views: outlines at several moments, all at one scale in one window, so that motion can be seen.
#pragma once

#include <string>
#include <vector>

#include "plot/decimate.hpp"
#include "plot/picture.hpp"

namespace stickslip::plot {

struct Outline {
    enum class Kind { polygon, line, circle, dot };
    Kind kind = Kind::polygon;
    std::vector<Point> points;  // [m] to the right and up; of a circle and a dot the middle
    double radius = 0;          // [m] of a circle
    int colour = 0;             // of the palette; -1: faint, for what stands still
};

// Everything behind a line: points with normal . x <= offset.
struct Ground {
    Point normal;  // unit, away from the solid
    double offset = 0;
};

struct ViewStrip {
    struct View {
        std::string title;
        std::vector<Outline> outlines;
    };
    std::string title;
    std::string x_label, y_label;  // names of the axes to the right and up
    std::vector<View> views;
    std::vector<Ground> grounds;
    Point low, high;      // [m] the window, the same for all views
    double width = 1140;  // [px]
};

Picture draw(const ViewStrip& strip);

}  // namespace stickslip::plot
