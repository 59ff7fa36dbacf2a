// A progress bar on stderr, only on a terminal.
#pragma once

#include <chrono>
#include <string>

namespace stickslip::cli {

class Progress {
public:
    Progress(const std::string& name, double end, bool wanted);
    ~Progress();
    void show(double t);  // cheap: draws at most ten times a second

private:
    using Clock = std::chrono::steady_clock;
    std::string name_;
    double end_;
    bool drawing_, drawn_ = false;
    int calls_ = 0;
    Clock::time_point start_, last_;
};

}  // namespace stickslip::cli
