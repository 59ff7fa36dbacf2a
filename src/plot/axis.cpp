#include "plot/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plot/text.hpp"

namespace stickslip::plot {

namespace {

constexpr double vast = 1e300;
// A range smaller than this share of the values would need labels of five digits and more.
constexpr double offset_share = 2e-3;
// Below half a decade a logarithmic axis cannot be told from a linear one, and 1-2-5 leaves it without labels.
constexpr double least_decades = 0.5;
constexpr std::string_view minus = "\xe2\x88\x92";

// The smallest of 1, 2, 5 times a power of ten that is not below x > 0.
double nice_step(double x) {
    const double power = std::pow(10, std::floor(std::log10(x)));
    for (const double m : {1.0, 2.0, 5.0})
        if (m * power >= x * (1 - 1e-9)) return m * power;
    return 10 * power;
}

// "-1.50" with a real minus sign, never "-0".
std::string fixed(double x, int decimals) {
    std::string text = fmt::format("{:.{}f}", std::abs(x), decimals);
    const bool zero = text.find_first_not_of("0.") == std::string::npos;
    return x < 0 && !zero ? std::string(minus) + text : text;
}

bool order(double& low, double& high, bool log) {
    if (!showable(low, log) || !showable(high, log)) return false;
    if (low > high) std::swap(low, high);
    return true;
}

}  // namespace

bool showable(double value, bool log) {
    return std::isfinite(value) && std::abs(value) < vast && (!log || value > 1 / vast);
}

double Axis::place(double value) const {
    if (!showable(value, log_)) return std::numeric_limits<double>::quiet_NaN();
    const double x = log_ ? std::log10(value) : value - offset_;
    return (x - low_) / (high_ - low_);
}

std::string Axis::title(const std::string& label, const std::string& unit) const {
    std::string text = label + offset_text_;
    std::string inside = power_ ? power_of_ten(power_) : "";
    if (!unit.empty()) inside += (inside.empty() ? "" : " ") + unit;
    if (!inside.empty()) text += (text.empty() ? "[" : " [") + inside + "]";
    return text;
}

Axis linear_axis(double low, double high, int max_ticks, double margin) {
    Axis axis;
    if (!order(low, high, false)) low = 0, high = 1;
    const double size = std::max(std::abs(low), std::abs(high));
    if (high - low < 1 / vast) {  // a constant stands in the middle
        const double half = size < 1 / vast ? 1 : 0.1 * size;
        low -= half;
        high += half;
    } else if (high - low < offset_share * size) {
        // As few digits as tell the offset from the values: the differences themselves are exact in doubles.
        const double middle = low + (high - low) / 2;
        const int digits = std::clamp(static_cast<int>(std::ceil(std::log10(size / (high - low)))), 1, 16);
        const std::string text = fmt::format("{:.{}g}", middle, digits);
        axis.offset_ = std::strtod(text.c_str(), nullptr);
        if (axis.offset_ != 0)
            axis.offset_text_ =
                (axis.offset_ < 0 ? " + " : " " + std::string(minus) + " ") + text.substr(axis.offset_ < 0 ? 1 : 0);
        low -= axis.offset_;
        high -= axis.offset_;
    }
    const double pad = margin * (high - low);
    low -= pad;
    high += pad;
    axis.low_ = low;
    axis.high_ = high;

    double step = nice_step((high - low) / std::max(1, max_ticks));
    const auto first = [&] { return std::ceil(low / step - 1e-9); };
    const auto last = [&] { return std::floor(high / step + 1e-9); };
    while (last() - first() < 1) step = nice_step(0.4 * step);  // one label alone tells no scale
    const double largest = std::max(std::abs(low), std::abs(high));
    // 1e-2 .. 1e5 are read at a glance; beyond, thousands and thousandths as units have them.
    if (largest >= 1e5 || largest < 1e-2) axis.power_ = 3 * static_cast<int>(std::floor(std::log10(largest) / 3));
    const double unit = std::pow(10, axis.power_);
    const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step / unit) - 1e-9)));
    for (double i = first(), end = last(); i <= end && axis.ticks_.size() < 100; ++i)
        axis.ticks_.push_back({(i * step - low) / (high - low), fixed(i * (step / unit), decimals)});
    return axis;
}

Axis log_axis(double low, double high, int max_ticks, double margin) {
    if (!order(low, high, true)) low = 0.1, high = 10;
    double from = std::log10(low), to = std::log10(high);
    if (to == from) from -= 0.5, to += 0.5;
    if (to - from < least_decades) return linear_axis(low, high, max_ticks, margin);
    Axis axis;
    axis.log_ = true;
    const double pad = margin * (to - from);
    axis.low_ = from - pad;
    axis.high_ = to + pad;
    const auto place = [&](double exponent) { return (exponent - axis.low_) / (axis.high_ - axis.low_); };
    const int first = static_cast<int>(std::ceil(axis.low_ - 1e-9)),
              last = static_cast<int>(std::floor(axis.high_ + 1e-9));
    const int decades = last - first + 1;
    // Multiples of a decade that do not fall on a label: shown as short lines only.
    const auto between = [&](bool labelled) {
        for (int k = first - 1; k <= last; ++k)
            for (int m = 2; m <= 9; ++m) {
                const double p = place(k + std::log10(m));
                if (p < 0 || p > 1) continue;
                const bool label = labelled && (m == 2 || m == 5);
                axis.ticks_.push_back({p, label ? number(m * std::pow(10, k), 3) : ""});
            }
    };
    const bool plain = axis.low_ > -3.5 && axis.high_ < 4.5;
    if (decades <= 2 && plain) {
        for (int k = first; k <= last; ++k) axis.ticks_.push_back({place(k), number(std::pow(10, k), 3)});
        between(3 * decades + 2 <= std::max(4, max_ticks));
    } else {
        // The coarsest labels that are not too many; a coarse one may fall outside altogether.
        const auto multiples = [&](int s) {
            int count = 0;
            for (int k = first; k <= last; ++k) count += k % s == 0 ? 1 : 0;
            return count;
        };
        int stride = 1;
        for (const int s : {2, 3, 5, 10, 20, 50, 100, 200})
            if (multiples(stride) > std::max(2, max_ticks) && multiples(s) > 0) stride = s;
        for (int k = first; k <= last; ++k)
            if (k % stride == 0)
                axis.ticks_.push_back({place(k), plain ? number(std::pow(10, k), 3) : power_of_ten(k)});
        if (stride == 1 && decades <= 8) between(false);
        if (stride > 1)
            for (int k = first; k <= last && decades < 60; ++k)
                if (k % stride != 0) axis.ticks_.push_back({place(k), ""});
    }
    return axis;
}

Axis fitted_horizontal_axis(double low, double high, bool log, double pixels, double font_size, double margin) {
    for (int most = 10;; --most) {
        Axis axis = log ? log_axis(low, high, most, margin) : linear_axis(low, high, most, margin);
        if (most <= 1) return axis;
        // Neighbours keep a gap of one character.
        std::vector<std::pair<double, double>> spans;
        for (const Tick& tick : axis.ticks())
            if (!tick.label.empty()) {
                const double half = text_width(tick.label, font_size) / 2 + font_size / 2;
                spans.emplace_back(tick.place * pixels - half, tick.place * pixels + half);
            }
        std::sort(spans.begin(), spans.end());
        bool fits = true;
        for (std::size_t i = 1; i < spans.size(); ++i) fits = fits && spans[i].first >= spans[i - 1].second;
        if (fits) return axis;
    }
}

}  // namespace stickslip::plot
