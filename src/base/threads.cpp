#include "stickslip/threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <thread>

#include "base/parallel.hpp"

namespace stickslip {

namespace {

std::atomic<int> count_{1};

// What a thread knows of itself.
struct Self {
    double ahead = 0;       // [s] of its own processor time
    bool in_share = false;  // it works for a call of share_out()
};
thread_local Self self;

double own_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void relax() {
#ifdef __x86_64__
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

// Looks until `done()`, but no longer than this, since waking a thread that sleeps takes as long. If longer, threads that have
// nothing to do keep others from their cores; if shorter, workers fall asleep between the parts of a step.
template <class Done>
bool look_for(std::chrono::microseconds longest, const Done& done) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + longest;
    do {
        for (int k = 0; k < 32; ++k) {
            if (done()) return true;
            relax();
        }
    } while (Clock::now() < end);
    return false;
}
constexpr std::chrono::microseconds worker_looks{500}, caller_looks{50};

// A call opens the gate, workers pass it, and the call closes it behind itself: it waits for workers that have come, never for those that
// are still asleep. The gate holds all that in one word: the number of the call, whether it is closed, and who has passed.
class Workers {
public:
    void share_out(int others, void (*share)(void*), void* of) {
        const std::unique_lock<std::mutex> alone(used_, std::try_to_lock);
        if (!alone) {
            share(of);
            return;
        }
        for (; started_ < others; ++started_) std::thread([this, own = started_] { serve(own); }).detach();
        share_ = share;
        of_ = of;
        wanted_ = others;
        left_ = 0;
        gate_ = (gate_ & ~(closed | passed)) + one_call;
        gate_.notify_all();
        share(of);
        const std::uint32_t came = gate_.fetch_or(closed) & passed;
        const auto all_left = [&] { return left_ == came; };
        if (look_for(caller_looks, all_left)) return;
        for (std::uint32_t left = left_; left != came; left = left_) left_.wait(left);
    }

private:
    static constexpr std::uint32_t passed = 0x7fff, closed = 0x8000, one_call = 0x10000;

    void serve(int own) {
        self.in_share = true;
        std::uint32_t seen = closed;
        const auto opened = [&] { return (seen = gate_, (seen & closed) == 0); };
        for (;;) {
            while (!look_for(worker_looks, opened)) gate_.wait(seen);
            if (own < wanted_) {
                if (!gate_.compare_exchange_strong(seen, seen + 1)) continue;
                share_(of_);
                ++left_;
                left_.notify_all();
            }
            // Who has had its share does not come again in this call.
            const std::uint32_t call = seen / one_call;
            const auto over = [&] { return (seen = gate_, (seen & closed) != 0 || seen / one_call != call); };
            while (!look_for(worker_looks, over)) gate_.wait(seen);
        }
    }

    std::mutex used_;  // by one call at a time
    int started_ = 0;
    void (*share_)(void*) = nullptr;
    void* of_ = nullptr;
    std::atomic<int> wanted_{0};
    std::atomic<std::uint32_t> gate_{closed}, left_{0};
};

}  // namespace

void set_threads(int count) { count_ = std::max(count, 1); }
int threads() { return count_; }

double processor_time() { return own_time() + self.ahead; }
void set_processor_time(double now) { self.ahead = now - own_time(); }

void share_out(int others, void (*share)(void*), void* of) {
    if (self.in_share) {
        share(of);
        return;
    }
    static Workers& workers = *new Workers;  // never destroyed: workers sleep until the program ends
    self.in_share = true;
    workers.share_out(others, share, of);
    self.in_share = false;
}

}  // namespace stickslip
