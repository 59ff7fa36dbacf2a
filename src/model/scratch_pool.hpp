// Scratch memory that constant objects lend to their own calls. A call borrows one object and gives it back when it ends, so
// calls may nest (a force function that runs another simulation) and run in several threads, each with scratch of its own. In
// one thread without nesting it is always the same object, and nothing is allocated after the first call.
#pragma once

#include <atomic>
#include <memory>

namespace stickslip {

template <class Scratch>
class ScratchPool {
public:
    ScratchPool() = default;
    ScratchPool(const ScratchPool&) = delete;
    ScratchPool& operator=(const ScratchPool&) = delete;
    ~ScratchPool() { delete spare_.load(); }

    class Loan {
    public:
        explicit Loan(const ScratchPool& pool) : pool_(pool), scratch_(pool.spare_.exchange(nullptr)) {
            if (!scratch_) scratch_ = new Scratch;
        }
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;
        // One is kept: the inner call of two gives its own back first, and the outer one replaces it.
        ~Loan() { delete pool_.spare_.exchange(scratch_); }
        Scratch* operator->() const { return scratch_; }
        Scratch& operator*() const { return *scratch_; }

    private:
        const ScratchPool& pool_;
        Scratch* scratch_;
    };
    Loan borrow() const { return Loan(*this); }

private:
    mutable std::atomic<Scratch*> spare_ = nullptr;
};

}  // namespace stickslip
