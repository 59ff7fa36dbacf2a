// [m/s^2] How fast the targets of drives change at (t, q, v), per bilateral row. Targets change by design and may depend on
// the configuration, so they are differenced along the motion: by five points where none of them lies beyond a jump of the
// schedule (exact to rounding for what changes over a hundred times Tolerances::target_span), else by two on the side that has none.
#pragma once

#include "stickslip/system.hpp"

namespace stickslip {

struct TargetRateScratch {
    VecX q, move;
    BilateralRows joints;
    ContactRows contacts;
};

// `joints` are the rows at (t, q), position motors slowed to `shortest_servo` (BilateralRows::slow_servos). True if anything is driven; else rates are zero and the finder has not been used.
bool find_target_rates(const System& system, const Tolerances& tolerances, double t, const VecX& q, const VecX& v,
                       const BilateralRows& joints, double shortest_servo, ContactFinder& finder,
                       TargetRateScratch& scratch, RowVec& rates);

}  // namespace stickslip
