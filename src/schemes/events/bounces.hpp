// The memory of contacts that rebound: when their impacts come ever faster, and when that would end.
#pragma once

#include "stickslip/scheme.hpp"

namespace stickslip {

// In the memory of schemes that locate impacts.
struct BounceMemory {
    std::vector<ContactId> contact;            // sorted: those that rebounded,
    std::vector<std::array<double, 3>> times;  // [s] and their last three impacts, newest last; NaN: none
    int short_steps = 0;                       // sub-steps in a row that impacts cut very short,
    int low_hops = 0;                          // and flights that stay within the gap of a closed contact

    template <class F>
    void fields(F&& f) {
        f(contact);
        f(times);
        f(short_steps);
        f(low_hops);
    }
};

// Contact `id` has rebounded at t.
void note_bounce(const ContactId& id, double t, BounceMemory& memory);
// [s] How long it would go on bouncing after an impact at t; infinity while its intervals do not shrink.
double bounces_left(const ContactId& id, double t, const BounceMemory& memory);
// After an impact whose events start at `first_event`: whom it left bouncing (parting faster than the tolerance [m/s]), and
// whose bounces have come to an end, which is an event of its own. `plastic`: those without restitution may come back too, as the
// corners of a body that rocks.
void note_bounces(std::size_t first_event, double tolerance, const State& x, Step& s, BounceMemory& memory,
                  bool plastic = false);
// Contact `id` was hit at t and stays. When its last three intervals shrank alike, the time at which they would have added up;
// else infinity. Its bounces are forgotten.
double end_bounces(const ContactId& id, double t, BounceMemory& memory);

}  // namespace stickslip
