// How often the program asked the heap for memory; counted when one of its files includes support/count_malloc.hpp.
#pragma once

#include <atomic>

namespace stickslip::testing {
inline std::atomic<long> allocations{0};
}
