// What only one scheme remembers between steps, for tests that look at it.
#pragma once

#include "schemes/hybrid.hpp"

namespace stickslip {

// Of an event-driven scheme or the hybrid one.
inline const EventDrivenMemory& event_memory(const Step& step) {
    return dynamic_cast<const Hybrid::Work&>(*step.scheme_work).events.memory;
}

// [s] What the step control of moreau-jean wants next.
inline double wanted_step(const Step& step) {
    return dynamic_cast<const MoreauJean::Work&>(*step.scheme_work).halved.next_step;
}

}  // namespace stickslip
