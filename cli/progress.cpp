#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace stickslip::cli {

Progress::Progress(const std::string& name, double end, bool wanted)
    : name_(name), end_(end), drawing_(wanted && isatty(STDERR_FILENO)), start_(Clock::now()), last_(start_) {}

Progress::~Progress() {
    if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(double t) {
    if (!drawing_ || (++calls_ & 15) != 0) return;  // looking at the clock every step would cost more than the step
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    drawn_ = true;
    const double share = std::clamp(t / end_, 0.0, 1.0), seconds = std::chrono::duration<double>(now - start_).count();
    constexpr int width = 30;
    const int full = static_cast<int>(share * width);
    fmt::print(stderr, "\r\033[K{} [{}{}] {:3.0f} %  t = {:.4g} s  {:.0f} s left", name_,
               std::string(static_cast<std::size_t>(full), '#'),
               std::string(static_cast<std::size_t>(width - full), '.'), 100 * share, t,
               share > 0 ? seconds * (1 - share) / share : 0.0);
    std::fflush(stderr);
}

}  // namespace stickslip::cli
