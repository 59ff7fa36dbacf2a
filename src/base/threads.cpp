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
    double shared = 0;      // [s] of it in work that was shared out
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

using Clock = std::chrono::steady_clock;

// Looks until `done()`, but no longer than this, since waking a thread that sleeps takes as long. If longer, threads that have
// nothing to do keep others from their cores; if shorter, workers fall asleep between the parts of a step.
template <class Done>
bool look_for(std::chrono::microseconds longest, const Done& done) {
    const Clock::time_point end = Clock::now() + longest;
    do {
        for (int k = 0; k < 32; ++k) {
            if (done()) return true;
            relax();
        }
        std::this_thread::yield();  // to whoever has something to do on this core, the caller perhaps
    } while (Clock::now() < end);
    return false;
}
constexpr std::chrono::microseconds worker_looks{500}, caller_looks{50};

// A worker that other programs keep from its core lets all wait for the part it has taken. From then on the caller works alone for so many
// times what was lost, and then asks again: no more than a tenth is lost on a busy machine.
constexpr int times_alone = 10;
constexpr double least_lost = 1e-4;  // [s] if smaller, interrupts count

// A call opens the gate, workers pass it, and the call closes it behind itself: it waits for workers that have come, never for those that
// are still asleep. The gate holds all that in one word: the number of the call, whether it is closed, and who has passed.
class Workers {
public:
    void share_out(int others, void (*share)(void*), void* of) {
        const std::unique_lock<std::mutex> alone(used_, std::try_to_lock);
        if (!alone || Clock::now() < alone_until_) {
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
        if (!look_for(caller_looks, all_left))
            for (std::uint32_t left = left_; left != came; left = left_) left_.wait(left);
        const double lost = lost_.exchange(0);
        if (lost > 0) alone_until_ = Clock::now() + std::chrono::microseconds(static_cast<long>(1e6 * times_alone * lost));
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
                const Clock::time_point began = Clock::now();
                const double began_own = own_time();
                share_(of_);
                const double lost = std::chrono::duration<double>(Clock::now() - began).count() - (own_time() - began_own);
                if (lost > least_lost) lost_ = lost;
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
    std::atomic<double> lost_{0};      // [s] by one of the workers in this call: time that was not processor time
    Clock::time_point alone_until_{};
    std::atomic<std::uint32_t> gate_{closed}, left_{0};
};

}  // namespace

void set_threads(int count) { count_ = std::max(count, 1); }
int threads() { return count_; }

double processor_time() { return own_time() + self.ahead; }
void set_processor_time(double now) { self.ahead = now - own_time(); }
double shared_time() { return self.shared; }
void add_shared_time(double seconds) {
    if (!self.in_share) self.shared += seconds;
}

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
