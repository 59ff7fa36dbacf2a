#include "model/forces/time_function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/forces/unseen.hpp"
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

TimeFunction TimeFunction::of(std::function<double(double)> function, std::string origin,
                              std::vector<JumpSearch::Branch> branches) {
    TimeFunction f;
    f.f_ = std::move(function);
    f.origin_ = std::move(origin);
    if (!branches.empty()) f.jumps_ = std::make_shared<JumpSearch>(std::move(branches));
    return f;
}

std::string TimeFunction::undefined(double t) const {
    if (!f_) return {};
    const double value = f_(t);
    if (std::isfinite(value)) return {};
    return fmt::format("{} is {} at t = {:.9g} s", origin_, std::isnan(value) ? "not a number" : "infinite", t);
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

double TimeFunction::rate(double t) const {
    if (f_) {
        // of the two one-sided differences the smaller: a jump within the difference is no speed
        constexpr double dt = 1e-6;
        const double here = f_(t), left = (here - f_(t - dt)) / dt, right = (f_(t + dt) - here) / dt;
        return std::abs(left) < std::abs(right) ? left : right;
    }
    if (entries_.empty() || stepwise_ || t < entries_.front().first || t >= entries_.back().first) return 0;
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), t,
                                        [](double time, const auto& entry) { return time < entry.first; });
    const auto before = after - 1;
    return (after->second - before->second) / (after->first - before->first);
}

double TimeFunction::next_discontinuity(double t) const {
    for (const auto& entry : entries_)
        if (entry.first > t) return entry.first;
    return infinity;
}

double TimeFunction::next_jump(double t) const { return jumps_ ? jumps_->next(t) : infinity; }

bool TimeFunction::hasty(double t0, double t1) const {
    if (!f_ || next_jump(t0) < t1) return false;  // a jump has its own time
    // Ends of steps may be jumps: there the values inside the step count.
    const double first = f_(std::nextafter(t0, infinity)), middle = f_(0.5 * (t0 + t1)),
                 last = f_(std::nextafter(t1, -infinity));
    double size = std::max({std::abs(first), std::abs(middle), std::abs(last)}), off = 0;
    for (const double c : unseen_places) {
        const double value = f_(t0 + c * (t1 - t0));
        size = std::max(size, std::abs(value));
        off = std::max(off, std::abs(value - parabola(c, first, middle, last)));
    }
    return off > unseen_share * size;
}

}  // namespace stickslip
