// Independent parts of one piece of work on several threads. Threads are started for each call (some 20 us), so it is for
// work of milliseconds: the trailing updates of large factorisations. With one thread nothing is started or allocated.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "stickslip/threads.hpp"

namespace stickslip {

// part(k) for k = 0 .. parts - 1, each exactly once, in any order; they must not touch each other's results nor throw.
template <class Part>
void in_parallel(int parts, Part&& part) {
    const int workers = threads() < parts ? threads() : parts;
    if (workers <= 1) {
        for (int k = 0; k < parts; ++k) part(k);
        return;
    }
    std::atomic<int> next{0};  // whoever is done takes the next part: they may differ in length
    const auto share = [&] {
        for (int k = next++; k < parts; k = next++) part(k);
    };
    std::vector<std::thread> others;
    others.reserve(static_cast<std::size_t>(workers) - 1);
    for (int worker = 1; worker < workers; ++worker) others.emplace_back(share);
    share();
    for (std::thread& other : others) other.join();
}

}  // namespace stickslip
