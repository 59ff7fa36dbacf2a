// Times of steps without keeping them all: bins of equal ratio, from 0.1 microseconds to 100 seconds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace stickslip {

class StepTimes {
public:
    void add(double seconds) {
        ++count_;
        sum_ += seconds;
        longest_ = std::max(longest_, seconds);
        const double place = std::log2(std::max(seconds, shortest) / shortest) * per_octave;
        ++bins_[static_cast<std::size_t>(std::min(place, static_cast<double>(bins_.size() - 1)))];
    }
    double mean() const { return count_ ? sum_ / static_cast<double>(count_) : 0; }
    double longest() const { return longest_; }
    // The time that a share of the steps did not exceed, to 9 percent (the width of a bin).
    double quantile(double share) const {
        long seen = 0;
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            seen += bins_[i];
            if (static_cast<double>(seen) >= share * static_cast<double>(count_))
                return std::min(longest_, shortest * std::exp2((static_cast<double>(i) + 0.5) / per_octave));
        }
        return longest_;
    }

private:
    static constexpr double shortest = 1e-7;  // [s]
    static constexpr double per_octave = 8;
    std::array<long, 240> bins_{};
    long count_ = 0;
    double sum_ = 0, longest_ = 0;
};

}  // namespace stickslip
