#include "stickslip/tolerances.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "stickslip/error.hpp"
#include "stickslip/types.hpp"

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

// A size that can be divided by; 1 if this is none.
double known(double size) { return size > 0 && size < infinity ? size : 1; }

}  // namespace

Scales scales_of(double length, double mass, double gravity, double reach, double fastest) {
    Scales s;
    s.length = known(length);
    s.mass = known(mass);
    // After falling through a twentieth of its length: slow for a body, fast for what counts as rest.
    constexpr double fall = 1.0 / 20;
    s.speed = gravity > 0 ? known(std::sqrt(2 * gravity * fall * s.length)) : fastest > 0 ? known(fastest) : s.length;
    s.extent = std::max(s.length, known(reach));
    s.fastest = fastest < infinity ? std::max(s.speed, fastest) : s.speed;
    return s;
}

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
