// A driven oscillator before a stop [Janin & Lamarque 2001; Haddouni (2.3), (2.4)]:
//
//   m (x'' + 2 a x' + w^2 x) = F cos(Omega t + phase),   x <= x_max,   x'(t+) = -e x'(t-) at the stop
//
// Between impacts the motion is known in closed form, so the exact solution needs roots only: of the gap x_max - x, and of its rate,
// which tells a dip between two samples. Impacts that accumulate end at rest on the stop, until the drive no longer
// presses.
#include <cmath>
#include <numbers>

#include "math/roots.hpp"
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

namespace {

constexpr int samples = 64;  // per period of the faster of drive and oscillator
// Rebounds slower than this share of w (|x_max| + |F|/(m w^2)) have ended: their height, of its square, is less than the rounding
// of x. What still follows of them is shorter than this share of a period, and nothing of it is left afterwards.
constexpr double at_rest = 1e-7;
constexpr int max_impacts = 1000000;  // then the motion is not followed any further

// The motion of the oscillator without the stop, from (t, x, v).
struct Flight {
    Flight(const ImpactOscillator& oscillator, double t, double x_start, double v_start) : p(oscillator), t0(t) {
        const double d = p.w * p.w - p.Omega * p.Omega, c = 2 * p.a * p.Omega, f = p.F / p.m;
        in_phase = f * d / (d * d + c * c);
        behind = f * c / (d * d + c * c);
        wd = std::sqrt(p.w * p.w - p.a * p.a);
        C = x_start - driven(t);
        S = (v_start - driven_rate(t) + p.a * C) / wd;
    }
    double x(double t) const {
        const double s = t - t0;
        return std::exp(-p.a * s) * (C * std::cos(wd * s) + S * std::sin(wd * s)) + driven(t);
    }
    double v(double t) const {
        const double s = t - t0, cos = std::cos(wd * s), sin = std::sin(wd * s);
        return std::exp(-p.a * s) * ((S * wd - p.a * C) * cos - (C * wd + p.a * S) * sin) + driven_rate(t);
    }
    double driven(double t) const {
        const double y = p.Omega * t + p.phase;
        return in_phase * std::cos(y) + behind * std::sin(y);
    }
    double driven_rate(double t) const {
        const double y = p.Omega * t + p.phase;
        return p.Omega * (behind * std::cos(y) - in_phase * std::sin(y));
    }

    const ImpactOscillator& p;
    double t0, in_phase = 0, behind = 0, wd = 0, C = 0, S = 0;
};

class ExactMotion {
public:
    explicit ExactMotion(const ImpactOscillator& p)
        : p_(p),
          span_(2 * std::numbers::pi / (samples * std::max({p.w, std::abs(p.Omega)}))),
          slow_(at_rest * p.w * (std::abs(p.x_max) + std::abs(p.F) / (p.m * p.w * p.w))) {}

    State at(double t) const {
        double t0 = 0, x0 = p_.x0, v0 = p_.v0;
        bool released = false;  // it has just left the stop from rest: the gap grows from zero
        for (int k = 0; k < max_impacts; ++k) {
            const Flight flight(p_, t0, x0, v0);
            const double hit = next_impact(flight, released, t);
            if (!(hit < t)) return {t, VecX::Constant(1, flight.x(t)), VecX::Constant(1, flight.v(t))};
            t0 = hit;
            x0 = p_.x_max;
            v0 = -p_.e * flight.v(hit);
            released = false;
            if (!(v0 > -slow_)) continue;
            t0 = release(hit, t);
            if (!(t0 < t)) return {t, VecX::Constant(1, p_.x_max), VecX::Zero(1)};
            v0 = 0;
            released = t0 > hit;
            if (!released) v0 = -slow_;  // nothing presses: it leaves
        }
        return {t, VecX::Constant(1, std::nan("")), VecX::Constant(1, std::nan(""))};
    }

private:
    // [m/s^2] with which the drive presses the resting mass against the stop.
    double pressing(double t) const { return p_.F / p_.m * std::cos(p_.Omega * t + p_.phase) - p_.w * p_.w * p_.x_max; }
    // When it lets go, or `end` if later.
    double release(double from, double end) const {
        const auto f = [&](double t) { return pressing(t); };
        for (double a = from; a < end && f(a) > 0; a += span_) {
            const double b = a + span_;
            if (f(b) <= 0) return bracketed_root(f, a, b, f(a), f(b));
        }
        return pressing(from) > 0 ? end : from;
    }
    // When the gap closes next, or later than `end`.
    double next_impact(const Flight& flight, bool released, double end) const {
        const auto gap = [&](double t) { return p_.x_max - flight.x(t); };
        const auto rate = [&](double t) { return -flight.v(t); };
        for (double a = flight.t0 + (released ? span_ : 0); a < end; a += span_) {
            const double b = a + span_;
            double open = a, closed = b;
            if (rate(a) > 0 && rate(b) < 0) {  // a crest: the gap falls from there
                open = bracketed_root(rate, a, b, rate(a), rate(b));
            } else if (rate(a) < 0 && rate(b) > 0) {  // a dip
                const auto back = [&](double t) { return -rate(t); };
                closed = bracketed_root(back, a, b, back(a), back(b));
            }
            if (gap(closed) <= 0 && gap(open) > 0) return bracketed_root(gap, open, closed, gap(open), gap(closed));
        }
        return 2 * end + 1;
    }

    const ImpactOscillator& p_;
    double span_;  // [s] between two samples
    double slow_;  // [m/s]
};

}  // namespace

Mechanism ImpactOscillator::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(w > 0, "w must be positive [rad/s]", values, "w");
    require(a >= 0 && a < w, "a must lie in [0, w): the oscillator swings [1/s]", values, "a");
    require(a > 0 || std::abs(Omega) != w, "without damping Omega must not be w: the motion grows for ever", values,
            "Omega");
    require(e >= 0 && e <= 1, "e must lie in [0, 1]", values, "e");
    require(x0 <= x_max, "x0 must not lie behind the stop x_max [m]", values, "x0");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x"};
    model.nv = 1;
    model.constant_mass = MatX::Constant(1, 1, m);
    model.potential = [p = *this](const VecX& q) { return 0.5 * p.m * p.w * p.w * q[0] * q[0]; };
    model.potential_force = [p = *this](const VecX& q, VecX& k) { k[0] = -p.m * p.w * p.w * q[0]; };
    model.applied = [p = *this](double t, const VecX&, const VecX& v, VecX& k) {
        k[0] = p.F * std::cos(p.Omega * t + p.phase) - 2 * p.m * p.a * v[0];
    };
    model.slopes = [p = *this](double, const VecX&, const VecX&, MatX& K, MatX& C) {
        K(0, 0) = p.m * p.w * p.w;
        C(0, 0) = 2 * p.m * p.a;
    };
    LagrangianModel::Contact stop;
    stop.name = "stop";
    stop.restitution = e;
    stop.gap = [p = *this](const VecX& q) { return p.x_max - q[0]; };
    stop.jacobian = [](const VecX&, MatX& H) { H(0, 0) = -1; };
    stop.bias = [](const VecX&, const VecX&, VecX&) {};
    model.contacts.push_back(stop);
    mechanism.state = {0, VecX::Constant(1, x0), VecX::Constant(1, v0)};
    mechanism.end = 20;
    mechanism.exact = [p = *this](double t) { return ExactMotion(p).at(t); };
    return mechanism;
}

}  // namespace stickslip
