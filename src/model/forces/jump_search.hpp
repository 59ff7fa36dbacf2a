// The times at which a function of time changes its branch. A branch is told by numbers that are constant on it: whether a < b, floor(x),
// the sign of x. Each of them is looked at on a grid of times, and where it differs between two neighbours the change is bisected down to
// two adjacent doubles. So a comparison with t itself is found however short the pulse is that it begins, and a periodic one while it
// keeps each value longer than the grid.
//
// The grid is absolute, so that what is found does not depend on when it is asked for. What has been searched is kept; searches may be
// asked from several threads.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace stickslip {

class JumpSearch {
public:
    using Branch = std::function<double(double t)>;  // piecewise constant
    explicit JumpSearch(std::vector<Branch> branches);

    // [s] The first time after t that is on another branch than the times before it; infinity if none is found.
    double next(double t);

private:
    void search_until(double t);
    double far_jump(double from) const;
    double change_between(const Branch& branch, double low, double high) const;

    std::mutex mutex_;
    std::vector<Branch> branches_;
    std::vector<double> jumps_, found_;   // [s] sorted, in [from_, until_); those of one interval of the grid
    std::vector<double> before_, now_;    // of the branches, at neighbours of the grid
    double from_ = 0, until_ = 0;         // [s] searched; nothing if equal
    double far_ = 0, far_from_ = -1;      // [s] the first jump after that, and the until_ of which it is the first
};

}  // namespace stickslip
