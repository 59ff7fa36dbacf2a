// The memory of contacts that rebound: when their impacts come ever faster, and when that would end.
#pragma once

#include "stickslip/scheme.hpp"

namespace stickslip {

// Contact `id` has rebounded at t.
void note_bounce(const ContactId& id, double t, StepMemory& memory);
// [s] How long it would go on bouncing after an impact at t; infinity while its intervals do not shrink.
double bounces_left(const ContactId& id, double t, const StepMemory& memory);
// Contact `id` was hit at t and stays. When its last three intervals shrank alike, the time at which they would have added up;
// else infinity. Its bounces are forgotten.
double end_bounces(const ContactId& id, double t, StepMemory& memory);

}  // namespace stickslip
