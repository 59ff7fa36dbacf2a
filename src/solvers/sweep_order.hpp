// In which order a sweep visits its contacts, and which it leaves out for a while: those that no longer move.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

namespace stickslip {

class SweepOrder {
public:
    // seed 0: as the contacts come; else shuffled, the same way for the same seed.
    void start(int contacts, int seed) {
        order_.resize(static_cast<std::size_t>(contacts));
        for (int i = 0; i < contacts; ++i) order_[i] = i;
        calm_.assign(order_.size(), 0);
        asleep_.assign(order_.size(), 0);
        if (seed == 0) return;
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
    }
    // visit(i) tells whether contact i moved by more than what counts. `all`: nobody is left out.
    template <class Visit>
    void sweep(bool all, Visit&& visit) {
        for (const int i : order_) {
            if (!all && asleep_[i] > 0) {
                --asleep_[i];
                continue;
            }
            calm_[i] = visit(i) ? 0 : calm_[i] + 1;
            asleep_[i] = std::clamp(calm_[i] - patience, 0, longest_sleep);
        }
    }

private:
    static constexpr int patience = 3;        // visits without movement before a contact is left out
    static constexpr int longest_sleep = 16;  // sweeps; a neighbour that starts to move is noticed that late
    std::vector<int> order_, calm_, asleep_;
};

}  // namespace stickslip
