#include "stickslip/threads.hpp"

#include <algorithm>
#include <atomic>

namespace stickslip {

namespace {

std::atomic<int> count_{1};

}  // namespace

void set_threads(int count) { count_ = std::max(count, 1); }
int threads() { return count_; }

}  // namespace stickslip
