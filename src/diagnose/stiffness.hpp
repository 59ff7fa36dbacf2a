// The fastest motion that springs, dampers and other forces give the bodies by themselves: what decides how long a step of an explicit
// method may be. A spring of stiffness k swings with the rate sqrt(k w), a damper d settles with d w, where w = G M^-1 G' is what its
// row weighs. Forces with slopes K and C have the rates sqrt|K/M| and |C/M| of their nodes.
//
// Left out: what several springs on one body make together, up to a factor of two or three, and joints, which only slow things down.
// Allocates: to be asked when something has gone wrong.
#pragma once

#include <string>

#include "stickslip/system.hpp"

namespace stickslip {

struct StiffForce {
    double rate = 0;  // [1/s]
    std::string who;  // for messages; empty: nothing is stiff
};

StiffForce stiffest_force(const System& system, const State& x);

// [J] Kinetic energy that drives without a largest force impose: (G v)^2 / (2 G M^-1 G') of their rows. When such a drive starts, bodies have it
// at once, and no scheme can book where it comes from.
double imposed_energy(const System& system, const State& x);

}  // namespace stickslip
