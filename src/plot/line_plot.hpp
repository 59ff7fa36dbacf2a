// Lines over a common axis: time series, convergence (log-log with markers), work-precision, performance profiles.
#pragma once

#include <string>
#include <vector>

#include "plot/picture.hpp"

namespace stickslip::plot {

struct Series {
    std::string name;         // for the legend
    std::vector<double> y;    // NaN, infinities and, on logarithmic axes, values <= 0 are gaps
    std::vector<double> x{};  // empty: the x of the plot
    bool markers = false;     // a dot at every sample
    bool line = true;
    std::string classes{};  // empty: the next colour
};

// A level to compare with, such as a tolerance: dashed, with an entry in the legend.
struct Level {
    double y = 0;
    std::string name;
};

struct LinePlot {
    std::string title;
    std::string x_label, x_unit, y_label, y_unit;
    bool log_x = false, log_y = false;
    std::vector<double> x;
    std::vector<Series> series;
    std::vector<Level> levels;
    double width = 560, height = 300;  // [px]; the height grows with the legend
};

Picture draw(const LinePlot& plot);

}  // namespace stickslip::plot
