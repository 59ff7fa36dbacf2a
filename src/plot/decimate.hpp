// Fewer points for the same picture. Neighbours in one column of pixels are replaced by the first, the lowest, the highest
// and the last of them: what is drawn covers the same pixels, and no peak is lost.
#pragma once

#include <vector>

namespace stickslip::plot {

struct Point {
    double x = 0, y = 0;
};

// One line without gaps, in pixels. Points that stand on a straight horizontal run between equal neighbours go too.
std::vector<Point> decimated(const std::vector<Point>& line, double column = 1);

}  // namespace stickslip::plot
