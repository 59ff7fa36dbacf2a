// The start of a step, for schemes that may take it back.
#pragma once

#include "collision/finder.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

// What a trial may spoil: state, memory, contact frames and ledger. What a scheme remembers in its own workspace is its own matter.
struct StepStart {
    State x;
    StepMemory memory;
    ContactFinder::Frames frames;
    EnergyLedger::Snapshot ledger;

    void keep(const State& now, const Step& s) {
        x = now;
        memory = s.memory;
        frames = s.finder->frames();
        ledger = s.ledger.snapshot();
    }
    void go_back(State& now, Step& s) const {
        now = x;
        s.memory = memory;
        s.finder->set_frames(frames);
        s.ledger.restore(ledger);
    }
};

}  // namespace stickslip
