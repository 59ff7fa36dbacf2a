// The generalized-alpha method [Chung & Hulbert 1993] for constrained motion in index 3 [Arnold & Bruls 2007] and index 2 form, on
// the group of positions [Bruls, Cardona & Arnold 2012; Haddouni (2.53), (2.75), (2.83)]:
//
//   u  = h v0 + h^2 ((1/2 - beta) a_n + beta a_{n+1}),  q1 = q0 (+) u
//   v1 = v0 + h ((1 - gamma) a_n + gamma a_{n+1})
//   (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) x + alpha_f vdot_n
//   M x = f + C y  at (t1, q1, v1)           index 3: g(q1) = 0     index 2: J v1 = w
//
// a is not the acceleration but the one at t_n + (alpha_m - alpha_f) h. In the index 3 form velocity rows and tangents of
// contacts that stick are still imposed on velocities. Misprints: (2.75) has 2 beta h for beta h^2; (2.125) has q'/h for h q'.
//
// Between steps only (q, v, a_n, h) are remembered: vdot_n and the multipliers at both ends come from the acceleration form at
// (q_n, v_n), not from x and y of the last step. They differ by the error of the method in the range of M^-1 C only, so damping
// of high frequencies is that of the method, order two of q, v and the multipliers is kept (for rho = 1, where y need not
// converge, too), and a run resumed from a snapshot has the same bits.
//
// Steps may change: a_n = vdot_n + O(h) is moved to the new step, vdot_n + (h/h_old)(a_n - vdot_n), or order two is lost.
// The first a is vdot_0 + (alpha_m - alpha_f) h d(vdot)/dt, the rate a difference taken inside the step.
//
// Where that rate is unresolved, the motion is not on the slow motion of its stiff forces: after an impact on a stiff damper (rate d/m)
// vdot_0 is d/m times the jump of v, and a velocity that took h times it would gain energy without bound (two-carts with delta 5e5:
// 8 J became 4e6 J). Such steps are taken by the implicit Euler rule, which needs no start and leaves 1/(1 + h d/m) of the jump,
//
//   v1 = v0 + h x,   u = h v1
//
// until the rate is resolved: two or three after each jump, of local order two, so that the method keeps its own. Their path
// does without the accelerations at the ends, which say nothing about the way between them.
#include <algorithm>
#include <cmath>

#include "schemes/parts/work.hpp"
#include "schemes/smooth/method.hpp"
#include "schemes/smooth/motion_newton.hpp"

namespace stickslip {

namespace {

// Fraction of the step over which the rate of the acceleration is taken. If it were larger, stiff forces would make the rate
// useless; if smaller, rounding would.
constexpr double rate_fraction = 1e-3;
// Share of the step over which the acceleration must not change by more than itself, or the step is damped. If it were larger, swings that
// the step resolves (h w < 1.4) would be damped; if smaller, dampers with h d/m = 10 would make energy.
constexpr double looked_ahead = 0.5;
// A step may be longer than the last by this factor. Beyond it a begins afresh, so that what rounding and the damped modes left in
// it is not magnified.
constexpr double max_growth = 4;

// Relative residual of the equations of motion that is no more than rounding.
constexpr double rounding = 1e-14;

struct Work final : SchemeWork {
    MotionNewton newton;
    VecX a0, a1, x;  // a_n, a_{n+1}, vdot_{n+1}
    RowVec y;
    bool damped = false;  // the step is one of the implicit Euler rule
};

class GeneralizedAlpha final : public SmoothMethod {
public:
    GeneralizedAlpha(int index, double rho, double newton_tol)
        : index3_(index == 3),
          tol_(newton_tol),
          alpha_m_((2 * rho - 1) / (rho + 1)),
          alpha_f_(rho / (rho + 1)),
          gamma_(0.5 + alpha_f_ - alpha_m_),
          beta_(0.25 * (gamma_ + 0.5) * (gamma_ + 0.5)) {}
    int error_order() const override { return 2; }
    bool remembers() const override { return true; }
    bool has_estimate() const override { return true; }
    int order() const override { return 2; }

    bool take(Motion& motion, SmoothStep& s) const override {
        auto& w = work_in<Work>(s.method_work);
        const System& system = motion.system();
        const double h = s.h;
        s.solves = 0;
        if (!s.solve_start(motion)) return false;
        if (!find_a(motion, s, w)) return false;
        if (!solve_step(motion, s, w)) return false;

        MotionPoint& p = s.stage[0];
        if (w.newton.last().forces > rounding) {
            if (!match_forces(motion, s, w)) return false;
        } else {
            p.a = w.x;
            p.y = w.y;
        }
        book(motion, s, w);
        if (!s.solve_end(motion)) return false;
        s.error = estimate(system, s);
        s.remembered = w.a1;
        s.remembered_step = w.damped ? 0 : h;
        if (w.damped)
            damped_path(s);
        else
            hermite_path(system, s);
        return true;
    }

private:
    // v1 - v0 in terms of a_n, vdot_n and vdot_{n+1}.
    void book(const Motion& motion, SmoothStep& s, const Work& w) const {
        const double h = s.h;
        s.sum.begin(motion, s.start);
        if (w.damped) {
            s.sum.add(motion, s.stage[0], h);
            return;
        }
        s.sum.add_remembered(s.start.mass, w.a0, h * (1 - gamma_) - h * gamma_ * alpha_m_ / (1 - alpha_m_));
        s.sum.add(motion, s.start, h * gamma_ * alpha_f_ / (1 - alpha_m_), h / 2);
        s.sum.add(motion, s.stage[0], h * gamma_ * (1 - alpha_f_) / (1 - alpha_m_), h / 2);
    }

    // From the velocity of the start, so that a contact that opens and is closed again at the end shows.
    static void damped_path(SmoothStep& s) {
        s.size_paths(2);
        s.path_q[0].setZero();
        s.path_q[1] = s.h * s.v0;
        s.path_q[2] = s.u - s.h * s.v0;
        s.path_v[0] = s.v0;
        s.path_v[1] = s.v1 - s.v0;
        s.path_v[2].setZero();
    }

    // a_n for a step of length s.h, and whether the step is damped.
    bool find_a(Motion& motion, SmoothStep& s, Work& w) const {
        VecX& a = w.a0;
        w.damped = false;
        const bool known = s.remembered.size() == s.v0.size() && !s.switch_before && s.remembered_step > 0 &&
                           s.h <= max_growth * s.remembered_step;
        if (known) {
            a = s.remembered;
            if (s.h != s.remembered_step) a = s.a0 + (s.h / s.remembered_step) * (a - s.a0);
            return true;
        }
        a = s.a0;
        const double ahead = (alpha_m_ - alpha_f_) * s.h, span = rate_fraction * s.h;
        if (!find_change(motion, s, rate_fraction)) return false;
        // Oscillations that the step does not resolve (h w > 1) have rates without meaning for it; they are known by a change
        // beyond the acceleration itself and beyond what would turn the velocity around.
        const BlockMatrix& M = s.start.mass;
        const double most = std::sqrt(M.quadratic(s.a0)) + std::sqrt(M.quadratic(s.v0)) / s.h;
        const double size = std::sqrt(M.quadratic(s.work)) / span, change = std::abs(ahead) * size;
        s.work *= ahead / span;
        a += std::min(1.0, change > 0 ? most / change : 1.0) * s.work;
        if (!(looked_ahead * s.h * size > most)) return true;
        // A load that changes in time does so without being stiff.
        if (!find_change(motion, s, 0)) return false;
        w.damped = looked_ahead * s.h / span * std::sqrt(M.quadratic(s.work)) > most;
        return true;
    }

    // The change of the acceleration along the first moments of the step, in s.work; the time is that fraction of the step later.
    static bool find_change(Motion& motion, SmoothStep& s, double later) {
        MotionPoint& p = s.stage[0];
        const double span = rate_fraction * s.h;
        s.work = span * (s.v0 + (0.5 * span) * s.a0);
        s.q_stage = s.q0;
        motion.system().advance(s.q_stage, s.work);
        s.v_stage = s.v0 + span * s.a0;
        if (!motion.find(s.time(later), s.q_stage, p)) return false;
        if (!s.accelerate(motion, s.v_stage, p)) return false;
        s.work = p.a - s.a0;
        return true;
    }

    // x, y, a_{n+1} and the end (u, q1, v1); the equations there are stage[0].
    bool solve_step(Motion& motion, SmoothStep& s, Work& w) const {
        const System& system = motion.system();
        const double h = s.h, weight = (1 - alpha_f_) / (1 - alpha_m_);
        const double B = w.damped ? h * h : h * h * beta_ * weight, D = w.damped ? h : h * gamma_ * weight;
        MotionPoint& p = s.stage[0];
        w.newton.set_levels(motion, s.start, index3_);
        w.x = s.a0;
        w.y = s.start.y;
        const auto evaluate = [&] {
            move(s, w);
            if (w.damped)
                s.u = h * s.v1;
            else
                s.u = h * s.v0 + (h * h) * ((0.5 - beta_) * w.a0 + beta_ * w.a1);
            s.q1 = s.q0;
            system.advance(s.q1, s.u);
            if (!motion.find(s.time(1), s.q1, p)) return false;
            motion.load(s.v1, p);
            w.newton.take_rows(motion, p, B, D);
            return true;
        };
        return w.newton.run(motion, p, s.u, s.q1, B, D, true, tol_, w.x, w.y, s.solves, evaluate);
    }

    // a_{n+1} and v1 from x.
    void move(SmoothStep& s, Work& w) const {
        if (w.damped) {
            w.a1 = w.x;
            s.v1 = s.v0 + s.h * w.x;
            return;
        }
        w.a1 = ((1 - alpha_f_) * w.x + alpha_f_ * s.a0 - alpha_m_ * w.a0) / (1 - alpha_m_);
        s.v1 = s.v0 + s.h * ((1 - gamma_) * w.a0 + gamma_ * w.a1);
    }

    // Where rounding of q leaves a residual (stiff springs), velocities are those of the forces found, to the last digit.
    bool match_forces(Motion& motion, SmoothStep& s, Work& w) const {
        const double D = w.damped ? s.h : s.h * gamma_ * (1 - alpha_f_) / (1 - alpha_m_);
        MotionPoint& p = s.stage[0];
        s.r.resize(motion.rows());
        p.rows.product(motion.system().nodes(), w.x, s.r);
        for (int i = 0; i < motion.rows(); ++i)
            if (!w.newton.at_position()[i]) s.r[i] -= p.row_speed[i] / D;
        motion.solve(p, p, s.r);
        ++s.solves;
        w.x = p.a;
        move(s, w);
        return motion.trouble() == Motion::Trouble::none;
    }

    // l = u - h v0 - h^2/3 u''(0) - h^2/6 u''(h)  [Haddouni (2.125)], for v the difference to the trapezoidal rule. Where
    // attitudes turn, u'' is not the acceleration: its end is a difference along the motion.
    static double estimate(const System& system, SmoothStep& s) {
        const double h = s.h;
        s.find_end_rates(system);
        const VecX& dd1 = s.work2;
        s.work = s.u - h * s.v0 - (h * h) * (s.a0 / 3 + dd1 / 6);
        s.work2 = s.v1 - s.v0 - (h / 2) * (s.a0 + s.end.a);
        return s.norm(s.work, s.work2);
    }

    bool index3_;
    double tol_, alpha_m_, alpha_f_, gamma_, beta_;
};

}  // namespace

std::unique_ptr<SmoothMethod> make_generalized_alpha(int index, double rho, double newton_tol) {
    return std::make_unique<GeneralizedAlpha>(index, rho, newton_tol);
}

}  // namespace stickslip
