#include "schemes/smooth/target_rates.hpp"

#include <algorithm>

namespace stickslip {

bool find_target_rates(const System& system, const Tolerances& tolerances, double t, const VecX& q, const VecX& v,
                       const BilateralRows& joints, double shortest_servo, ContactFinder& finder,
                       TargetRateScratch& scratch, RowVec& rates) {
    rates.setZero(joints.size());
    const bool driven = std::any_of(joints.target.begin(), joints.target.end(), [](double w) { return w != 0; }) ||
                        std::any_of(joints.servo.begin(), joints.servo.end(), [](double w) { return w > 0; });
    if (!driven) return false;
    const double span = tolerances.target_span, short_span = tolerances.short_target_span;
    const auto add = [&](double ahead, double weight) {
        scratch.q = q;
        scratch.move = ahead * v;
        system.advance(scratch.q, scratch.move);
        system.rows(t + ahead, scratch.q, finder, scratch.joints, scratch.contacts);
        scratch.joints.slow_servos(shortest_servo);
        for (int i = 0; i < rates.size(); ++i) rates[i] += weight * scratch.joints.target[i];
    };
    const double jump = std::min(system.next_discontinuity(t - 2 * span), system.next_jump(t - 2 * span));
    if (jump > t + 2 * span) {
        add(-2 * span, 1 / (12 * span));
        add(-span, -8 / (12 * span));
        add(span, 8 / (12 * span));
        add(2 * span, -1 / (12 * span));
    } else {
        const double side = jump <= t ? short_span : -short_span;
        add(0, -1 / side);
        add(side, 1 / side);
    }
    return true;
}

}  // namespace stickslip
