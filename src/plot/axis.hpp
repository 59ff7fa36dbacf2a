// Axes: which part of the number line is shown, and where it is labelled.
//
// Linear ticks are multiples of 1, 2 or 5 times a power of ten. Labels stay short whatever the data: a common power of
// ten goes into the title ("z [10⁻⁶ m]"), and so does a common value when the range is small beside it ("z - 5 [10⁻¹⁵ m]").
// Logarithmic ticks are decades, or 1-2-5 when there are few; a range below half a decade is drawn as a linear one.
#pragma once

#include <string>
#include <vector>

namespace stickslip::plot {

struct Tick {
    double place = 0;   // 0 .. 1 along the axis
    std::string label;  // not escaped; empty for a minor tick
};

class Axis {
public:
    // 0 .. 1 for values inside; NaN for what the axis cannot show: not finite, vast, or <= 0 on a logarithmic axis.
    double place(double value) const;
    bool log() const { return log_; }
    const std::vector<Tick>& ticks() const { return ticks_; }
    // "label - offset [10^k unit]"
    std::string title(const std::string& label, const std::string& unit) const;

private:
    friend Axis linear_axis(double, double, int, double);
    friend Axis log_axis(double, double, int, double);
    bool log_ = false;
    double low_ = 0, high_ = 1;  // ends, offset taken off; exponents of ten on a logarithmic axis
    double offset_ = 0;
    std::string offset_text_;
    int power_ = 0;
    std::vector<Tick> ticks_;
};

// Can this value be shown at all? Not finite and beyond 1e300 (whose differences overflow) cannot.
bool showable(double value, bool log);

// For data in low .. high, with at most about `max_ticks` labels. `margin` is added at both ends, as a share of the range.
// Any order and any values are taken; when there is nothing to show the axis runs from 0 to 1.
Axis linear_axis(double low, double high, int max_ticks, double margin = 0);
Axis log_axis(double low, double high, int max_ticks, double margin = 0);

// As many labels as fit side by side into `pixels` without touching.
Axis fitted_horizontal_axis(double low, double high, bool log, double pixels, double font_size, double margin = 0);

}  // namespace stickslip::plot
