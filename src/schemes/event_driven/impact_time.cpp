// The time of an impact as Janin & Lamarque (2001) find it [Haddouni, 2.1.1.2], in place of the correction to rounding. With the gap
// g0 and its rate r0 at the start of the step of length h, and the gap g1 < 0 at its end:
//
//   im1   s = g0/(g0 - g1)                                          t* is wrong by O(h^2): order 2 at most
//   im2   g0 + r0 h s + (g1 - g0 - r0 h) s^2 = 0, the first root    O(h^3): order 3
//   im3   halves of the step until they are shorter than h^p        O(h^p): the order p of the method
//
// t* = t + s h; the step is then taken again to t*, where the contact collides although its gap is not zero but of the order of
// that error, and later moves on from there. h^p is meant in the time scale of the scene, to be the same in all units.
// Where the gap is open again at the end of the step, or the contact was not listed at its start, the exact location answers.
#include <algorithm>
#include <cmath>

#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

constexpr int max_halves = 52;  // then rounding is reached

// The first root of g0 + b s + (g1 - g0 - b) s^2 in (0, 1), where g0 > 0 > g1, without cancellation.
double quadratic_root(double g0, double b, double g1) {
    const double a = g1 - g0 - b, root = std::sqrt(b * b - 4 * a * g0);
    return b <= 0 ? 2 * g0 / (root - b) : (b + root) / (-2 * a);
}

}  // namespace

bool EventStep::estimate_impact() {
    const Watch::Function f = w_.watch.which();
    if (options_.location.index == 0 || f.kind != Watch::Kind::gap) return false;
    const double h = w_.smooth.h, g1 = Watch::value(system_, w_.motion, w_.smooth.end, f);
    const int at = find(w_.open, f.id);
    if (at < 0 || !(w_.open[at].gap > 0) || !(g1 < 0)) return false;
    const double g0 = w_.open[at].gap, r0 = w_.open[at].rate;
    double length = 0;
    switch (options_.location.index) {
        case 1: length = h * g0 / (g0 - g1); break;
        case 2: length = h * quadratic_root(g0, h * r0, g1); break;
        default: length = halve_to_impact(h);
    }
    if (!(length > 0) || !take(length, true)) {
        take(h, true);
        return false;
    }
    hit_ = f.id;
    return true;
}

// The middle of the last of the halves in which the gap closes; 0 where a step could not be taken.
double EventStep::halve_to_impact(double h) {
    const double scale = tolerances_.scales.time();
    const double wanted = scale * std::pow(h / scale, method_.order());  // [s]
    double open = 0, closed = h;
    for (int k = 0; k < max_halves && closed - open > wanted; ++k) {
        const double middle = 0.5 * (open + closed);
        if (!take(middle, true)) return 0;
        const bool is_open = Watch::value(system_, w_.motion, w_.smooth.end, w_.watch.which()) > 0;
        (is_open ? open : closed) = middle;
    }
    return 0.5 * (open + closed);
}

}  // namespace stickslip
