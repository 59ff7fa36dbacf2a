// What was the case when: a row of coloured bars per subject. And where something went: one bar cut into shares.
#pragma once

#include <string>
#include <vector>

#include "plot/picture.hpp"

namespace stickslip::plot {

struct Bar {
    double from = 0, to = 0;
    int kind = 0;
};

struct Timeline {
    struct Kind {
        std::string name;
        std::string classes;  // of its fill
    };
    struct Row {
        std::string name;
        std::vector<Bar> bars;
        std::vector<double> marks;  // moments, drawn as thin lines
    };
    std::string title;
    std::string x_label, x_unit;
    std::vector<Kind> kinds;  // where several fall into one column of pixels, the last in this list is drawn
    std::string mark_name;    // for the legend; empty if there are no marks
    std::vector<Row> rows;
    double from = 0, to = 0;
    double width = 1140;  // [px]
};
Picture draw(const Timeline& timeline);

struct Shares {
    struct Part {
        std::string name;
        double value = 0;
    };
    std::string title, unit;
    std::vector<Part> parts;
    double width = 560;  // [px]
};
Picture draw(const Shares& shares);

}  // namespace stickslip::plot
