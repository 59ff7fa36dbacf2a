// Independent parts of one piece of work on several threads, for work of a tenth of a millisecond and more: islands, pairs of
// shapes, the trailing updates of large factorisations. With one thread nothing is started.
#pragma once

#include <atomic>
#include <thread>

#include "stickslip/threads.hpp"

namespace stickslip {

double processor_time();              // as in solver.hpp
void add_shared_time(double seconds);  // to shared_time(); nothing within a share, which is counted as a whole
void set_processor_time(double now);  // [s] sets the clock of the calling thread; processor_time() goes on from there

// Calls share(of) once on this thread, and once on each of up to `others` workers that come before this thread is done with its
// own; returns when all have. Workers are started when they are first wanted and stay, asleep: starting one for each call costs
// as much as the work of a small step. Within a share, and while another thread uses the workers, there are none.
void share_out(int others, void (*share)(void*), void* of);

// part(k) for k = 0 .. parts - 1, each exactly once, in any order; they must not touch each other's results nor throw. The
// clocks of all threads start at that of the caller, so that a deadline means the same to each; the caller's then goes on
// from the one that took longest.
template <class Part>
void in_parallel(int parts, Part&& part) {
    const int workers = threads() < parts ? threads() : parts;
    if (workers <= 1) {
        for (int k = 0; k < parts; ++k) part(k);
        return;
    }
    struct Work {
        Part& part;
        int parts;
        double start;                   // [s]
        std::thread::id caller;         // whose clock shows it already
        std::atomic<int> next{0};       // whoever is done takes the next part: they may differ in length
        std::atomic<double> latest{0};  // [s]
    } work{part, parts, processor_time(), std::this_thread::get_id()};
    share_out(
        workers - 1,
        [](void* of) {
            Work& w = *static_cast<Work*>(of);
            if (std::this_thread::get_id() != w.caller) set_processor_time(w.start);
            for (int k = w.next++; k < w.parts; k = w.next++) w.part(k);
            const double end = processor_time();
            for (double latest = w.latest; latest < end && !w.latest.compare_exchange_weak(latest, end);) {
            }
        },
        &work);
    set_processor_time(work.latest);
    add_shared_time(work.latest - work.start);
}

// one(i) for i = 0 .. count - 1, `width` of them in a part. What one(i) computes depends on i alone, so that bits do not depend on the
// number of threads.
template <class One>
void each_in_parallel(int count, int width, One&& one) {
    in_parallel((count + width - 1) / width, [&](int part) {
        const int end = count < (part + 1) * width ? count : (part + 1) * width;
        for (int i = part * width; i < end; ++i) one(i);
    });
}

}  // namespace stickslip
