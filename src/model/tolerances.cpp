#include "stickslip/tolerances.hpp"

#include <string_view>

#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// One of that unit, in a scene of these sizes.
double scale_of(std::string_view unit, const Scales& s) {
    if (unit.starts_with("m/s^3")) return s.acceleration() / s.time();
    if (unit.starts_with("m/s^2")) return s.acceleration();
    if (unit.starts_with("m/s")) return s.speed;
    if (unit.starts_with("m")) return s.length;
    if (unit == "s") return s.time();
    SS_ASSERT(unit == "J", "a tolerance with a unit that has no scale");
    return s.energy();
}

}  // namespace

Tolerances derived_tolerances(const Scales& scales) {
    Tolerances t;
    t.scales = scales;
    t.fields([&](const char*, double& member, const char* unit, const char*) { member *= scale_of(unit, scales); });
    // Rounding goes with the coordinates, however small the bodies are.
    const double far = std::max(1.0, scales.extent / scales.length),
                 fast = std::max(1.0, scales.fastest / scales.speed);
    t.drift_limit *= far;
    t.gap_rounding *= far;
    t.slip_rounding *= fast;
    return t;
}

}  // namespace stickslip
