#include "model/forces/time_function.hpp"

#include <algorithm>

#include "stickslip/types.hpp"

namespace stickslip {

TimeFunction TimeFunction::constant(double value) {
    TimeFunction f;
    f.value_ = value;
    return f;
}

TimeFunction TimeFunction::table(std::vector<std::pair<double, double>> entries, bool stepwise) {
    TimeFunction f;
    f.entries_ = std::move(entries);
    f.stepwise_ = stepwise;
    return f;
}

TimeFunction TimeFunction::of(std::function<double(double)> function) {
    TimeFunction f;
    f.f_ = std::move(function);
    return f;
}

double TimeFunction::operator()(double t) const {
    if (f_) return f_(t);
    if (entries_.empty()) return value_;
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), t,
                                        [](double time, const auto& entry) { return time < entry.first; });
    if (after == entries_.begin()) return entries_.front().second;
    const auto before = after - 1;
    if (stepwise_ || after == entries_.end()) return before->second;
    const double s = (t - before->first) / (after->first - before->first);
    return before->second + s * (after->second - before->second);
}

double TimeFunction::next_discontinuity(double t) const {
    for (const auto& entry : entries_)
        if (entry.first > t) return entry.first;
    return infinity;
}

}  // namespace stickslip
