// The block under the push A cos(w t + phase) with friction R = mu m g, phase by phase in closed form. While it slips in
// the direction s,
//
//   m v(t) = m v0 + (A/w) (sin a - sin a0) - s R (t - t0),   a = w t + phase,
//
// and s v rises and falls between the times at which s A cos a = R: the first fall below zero holds the time of arrest. At
// rest it sticks until |A cos a| exceeds R.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "math/roots.hpp"
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

namespace {

using std::numbers::pi;
// [rad] Angles nearer than this are the same: a slip that begins where A cos a = R must not find that point again. Larger
// and short slips (A/R just above one) are missed.
constexpr double same_angle = 1e-9;

struct Block {
    double m, A, w, phase, R;
    double t = 0, x = 0, v = 0;  // start of the current phase
    int slip = 0;                // its direction

    double angle(double time) const { return w * time + phase; }
    double push(double time) const { return A * std::cos(angle(time)); }
    double velocity(double time) const {
        if (slip == 0) return 0;
        return v + (A / w * (std::sin(angle(time)) - std::sin(angle(t))) - slip * R * (time - t)) / m;
    }
    double position(double time) const {
        if (slip == 0) return x;
        const double d = time - t;
        const double wave = -(std::cos(angle(time)) - std::cos(angle(t))) / w - d * std::sin(angle(t));
        return x + v * d + (A / w * wave - slip * R * d * d / 2) / m;
    }

    // First time after `from` with a = `a` modulo `period`.
    double next(double from, double a, double period) const {
        const double turns = std::ceil((angle(from) + same_angle - a) / period);
        return (a + turns * period - phase) / w;
    }

    // Direction of slip of a block at rest, just after `time`.
    int direction(double time) const {
        const double force = push(time);
        if (std::abs(force) > R * (1 + 1e-14)) return force > 0 ? 1 : -1;
        return 0;
    }

    // End of the current phase.
    double phase_end(double latest) const {
        if (slip == 0) {
            if (std::abs(A) <= R) return infinity;
            return next(t, -std::acos(R / std::abs(A)), pi);
        }
        const auto forward = [this](double time) { return slip * velocity(time); };
        double low = t, f_low = forward(t);
        while (low < latest) {
            double high = 0;
            if (R < std::abs(A)) {
                const double a = std::acos(slip * R / A);
                high = std::min(next(low, a, 2 * pi), next(low, -a, 2 * pi));
            } else {
                high = low + 2 * pi / w;  // it only ever falls
            }
            const double f_high = forward(high);
            if (f_high <= 0) return f_low > 0 ? bracketed_root(forward, low, high, f_low, f_high) : low;
            low = high;
            f_low = f_high;
        }
        return infinity;
    }
};

}  // namespace

State BlockStickSlip::exact_state(double time) const {
    // A cosine does not see the sign of its frequency.
    Block b{m, A, std::abs(w), w < 0 ? -phase : phase, mu * m * g};
    b.x = x0;
    b.v = v0;
    b.slip = v0 != 0 ? (v0 > 0 ? 1 : -1) : b.direction(0);
    if (mu == 0) b.slip = 1;
    while (mu > 0) {
        const double end = b.phase_end(time);
        if (end > time) break;
        b.x = b.position(end);
        b.v = 0;
        if (b.slip == 0)  // the push that ends a stick is that of its next extreme
            b.slip = b.A * std::cos(b.angle(end) + std::acos(b.R / std::abs(b.A))) > 0 ? 1 : -1;
        else
            b.slip = end > b.t ? b.direction(end) : 0;  // a slip too short to be told from none
        b.t = end;
    }
    return {time, Vec2(b.position(time), 0), Vec2(b.velocity(time), 0)};
}

}  // namespace stickslip
