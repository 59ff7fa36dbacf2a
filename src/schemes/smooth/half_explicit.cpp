// Half-explicit Runge-Kutta methods on the index-2 form [Brasey & Hairer 1993; Murua 1997; Haddouni s.2.2.3]: see tableaux.hpp.
// The velocity form holds at every R_i and at the end to rounding; positions drift with the order of the method.
//
// Error estimates:
//   hem5     I1^2/(I1 + c I2),  I1 = |q1 - Q_8| = O(h^4),  I2 = |q1 - q0 - h (5/2 K_7 - 3/2 K_8)| = O(h^3)   [(2.126)-(2.128)]
//            O(h^5) only once I1 << c I2; c = 0.01 is that of hem5.f
//   phem56   |q1 - Q~|, Q~ = q0 + h sum bbar_i K_i of order 4, the seventh at the end                        [(2.129)]
//
// Multipliers at the ends come from the acceleration form at (q1, v1) [(2.61)], of the order of q and v; phem56's seventh stage
// (order 4) is not needed for that.
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "schemes/smooth/method.hpp"
#include "schemes/smooth/tableaux.hpp"

namespace stickslip {

namespace {

class HalfExplicit final : public SmoothMethod {
public:
    HalfExplicit(const HalfExplicitTableau& tableau, double estimator)
        : t_(tableau), hem5_(tableau.c.size() == 8), c_(estimator) {}
    int error_order() const override { return t_.order; }
    bool has_estimate() const override { return t_.order == 5; }
    int order() const override { return t_.order; }

    bool take(Motion& motion, SmoothStep& s) const override {
        const System& system = motion.system();
        const std::size_t n = t_.c.size();
        const double h = s.h;
        const std::vector<double>& b = t_.A_bar.back();
        s.solves = 0;
        for (std::vector<VecX>* list : {&s.K, &s.A}) list->resize(std::max(list->size(), n + 2));
        if (!s.solve_start(motion)) return false;
        s.sum.begin(motion, s.start);

        MotionPoint *p = &s.start, *r = &s.stage[0], *spare = &s.stage[1];
        VecX &u_end = s.u, &v_end = s.v1;  // of R_i
        s.u_stage.setZero(s.v0.size());
        s.v_stage = s.v0;
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0) {
                if (t_.first_explicit) {
                    combine(t_.A[i], i, s, s.u_stage, s.v_stage);
                    s.q_stage = s.q0;
                    system.advance(s.q_stage, s.u_stage);
                    p = spare;
                    if (!motion.find(s.time(t_.c[i]), s.q_stage, *p)) return false;
                } else {  // Q_i is the R of the stage before
                    s.u_stage = u_end;
                    s.v_stage = v_end;
                    MotionPoint* free = p == &s.start ? spare : p;
                    p = std::exchange(r, free);
                }
                motion.load(s.v_stage, *p);
            }
            if (hem5_ && i == 7) {
                s.u_kept = s.u_stage;
                s.v_kept = s.v_stage;
            }
            system.chart_rate(s.u_stage, s.v_stage, s.K[i]);
            if (t_.first_explicit && i == 0) {
                s.A[0] = s.a0;
                s.sum.add(motion, *p, h * b[0]);
                continue;
            }
            const std::vector<double>& bar = t_.A_bar[i];
            combine(bar, i, s, u_end, v_end);
            u_end += (h * bar[i]) * s.K[i];
            s.q1 = s.q0;
            system.advance(s.q1, u_end);
            if (i + 1 == n) r = &s.end;  // where c_bar = 1: its rows are those of the end
            if (!motion.find(s.time(t_.c_bar[i]), s.q1, *r)) return false;
            if (!solve_stage(motion, s, *p, *r, v_end, h * bar[i], s.A[i])) return false;
            v_end += (h * bar[i]) * s.A[i];
            if (b[i] != 0) s.sum.add(motion, *p, h * b[i]);
        }

        s.error = std::numeric_limits<double>::quiet_NaN();
        if (hem5_) {
            s.work = u_end - s.u_kept;
            s.work2 = v_end - s.v_kept;
            const double I1 = s.norm(s.work, s.work2);
            s.work = u_end - h * (2.5 * s.K[6] - 1.5 * s.K[7]);
            s.work2 = v_end - s.v0 - h * (2.5 * s.A[6] - 1.5 * s.A[7]);
            const double I2 = s.norm(s.work, s.work2);
            s.error = I1 > 0 ? I1 * I1 / (I1 + c_ * I2) : 0.0;
        }
        if (s.own_path && hem5_) {
            if (!stages_of_dense_output(motion, s)) return false;
        } else if (!s.solve_end(motion, s.end.t == s.time(1))) {
            return false;
        }
        system.chart_rate(s.u, s.v1, s.K[n]);
        s.A[n] = s.end.a;
        if (t_.first_explicit) {
            const auto& weights = phem56_dense().embedded;
            s.work = s.u;
            s.work2 = s.v1 - s.v0;
            for (std::size_t i = 0; i < weights.size(); ++i) {
                s.work -= (h * weights[i]) * s.K[i];
                s.work2 -= (h * weights[i]) * s.A[i];
            }
            s.error = s.norm(s.work, s.work2);
        }
        if (s.own_path && hem5_)
            hem5_path(s);
        else if (s.own_path && t_.first_explicit)
            phem56_path(s);
        else
            hermite_path(system, s);
        return true;
    }

private:
    // u = h sum_{j<n} w_j K_j, v = v0 + h sum_{j<n} w_j A_j.
    static void combine(const std::vector<double>& weights, std::size_t n, const SmoothStep& s, VecX& u, VecX& v) {
        const Eigen::Index nv = s.v0.size();
        u.setZero(nv);
        v = s.v0;
        for (std::size_t j = 0; j < n; ++j) {
            if (weights[j] == 0) continue;
            const double weight = s.h * weights[j];
            const double *K = s.K[j].data(), *A = s.A[j].data();
            for (Eigen::Index i = 0; i < nv; ++i) {
                u[i] += weight * K[i];
                v[i] += weight * A[i];
            }
        }
    }

    // a with J(R)(v + weight a) = w, v what the other stages give.
    static bool solve_stage(Motion& motion, SmoothStep& s, MotionPoint& p, const MotionPoint& r, const VecX& v,
                            double weight, VecX& a) {
        s.r.resize(motion.rows());
        r.rows.product(motion.system().nodes(), v, s.r);
        s.r = (r.target - s.r) / weight;
        motion.solve(p, r, s.r);
        ++s.solves;
        a = p.a;
        return motion.trouble() == Motion::Trouble::none;
    }

    // Stages 9 (at the end) and 10 of hem5's dense output, and its velocity in the middle of the step, into v_kept. The published
    // way finds the acceleration of stage 10 anew for every point of the path, from J v = w there. Done once, in the middle,
    // and with the accelerations at both ends, it gives a quartic of the same local order 5 without a solve per point. Taking
    // that acceleration from the acceleration form and the published polynomial of v has order 4 only: those weights belong
    // to multipliers that satisfy the velocity form.
    static bool stages_of_dense_output(Motion& motion, SmoothStep& s) {
        const System& system = motion.system();
        const Hem5Dense& d = hem5_dense();
        VecX &u = s.u_stage, &v = s.v_stage;
        if (!motion.find(s.time(1), s.q1, s.end)) return false;
        motion.load(s.v1, s.end);
        system.chart_rate(s.u, s.v1, s.K[8]);
        u = s.h * (d.a106 * s.K[5] + d.a107 * s.K[6] + d.a109 * s.K[8]);
        v = s.v0 + s.h * (d.a106 * s.A[5] + d.a107 * s.A[6]);
        s.q_stage = s.q0;
        system.advance(s.q_stage, u);
        MotionPoint& tenth = s.stage[0];
        if (!motion.find(s.time(d.c10), s.q_stage, tenth)) return false;
        if (!solve_stage(motion, s, s.end, tenth, v, s.h * d.a109, s.A[8])) return false;
        v += (s.h * d.a109) * s.A[8];
        motion.load(v, tenth);
        system.chart_rate(u, v, s.K[9]);

        // The middle; its weight of stage 10 is not zero there (it is at 2/5).
        u.setZero();
        v = s.v0;
        for (std::size_t i = 0; i < dense_stages.size(); ++i) {
            const double weight = s.h * dense_weight(i, middle);
            u += weight * s.K[dense_stages[i]];
            if (i + 1 < dense_stages.size()) v += weight * s.A[dense_stages[i]];
        }
        s.q_stage = s.q0;
        system.advance(s.q_stage, u);
        MotionPoint& there = s.stage[1];
        if (!motion.find(s.time(middle), s.q_stage, there)) return false;
        const double weight = s.h * dense_weight(dense_stages.size() - 1, middle);
        if (!solve_stage(motion, s, tenth, there, v, weight, s.A[9])) return false;
        s.v_kept = v + weight * s.A[9];
        return s.solve_end(motion);
    }

    static constexpr double middle = 0.5;
    static constexpr std::array<std::size_t, 6> dense_stages{3, 4, 5, 6, 7, 9};
    // bhat_i(x) of the i-th of them.
    static double dense_weight(std::size_t i, double x) {
        const auto& D = hem5_dense().D;
        return x * (D[0][i] + x * (D[1][i] + x * (D[2][i] + x * D[3][i])));
    }

    static void hem5_path(SmoothStep& s) {
        s.size_paths(4);
        s.path_q[0].setZero();
        for (std::size_t k = 1; k <= 4; ++k) {
            s.path_q[k].setZero();
            for (std::size_t i = 0; i < dense_stages.size(); ++i)
                s.path_q[k] += (s.h * hem5_dense().D[k - 1][i]) * s.K[dense_stages[i]];
        }
        s.work = s.h * s.a0;
        s.work2 = s.h * s.end.a;
        quartic(s.v0, s.work, s.v1, s.work2, middle, s.v_kept, s.path_v);
    }

    // The quartic through both ends with their slopes and the solution at 19/30 of the step.
    static void phem56_path(SmoothStep& s) {
        s.size_paths(4);
        const Phem56Dense& d = phem56_dense();
        VecX &y = s.work, &zero = s.work2, &first = s.u_stage, &last = s.v_stage;
        const auto fill = [&](const VecX& y0, const VecX& y1, const std::vector<VecX>& slope, std::vector<VecX>& path) {
            y = y0;
            for (std::size_t i = 0; i < d.weights.size(); ++i) y += (s.h * d.weights[i]) * slope[i];
            first = s.h * slope[0];
            last = s.h * slope[6];
            quartic(y0, first, y1, last, d.middle, y, path);
        };
        zero.setZero(s.v0.size());
        fill(zero, s.u, s.K, s.path_q);
        fill(s.v0, s.v1, s.A, s.path_v);
    }

    const HalfExplicitTableau& t_;
    bool hem5_;
    double c_;
};

}  // namespace

std::unique_ptr<SmoothMethod> make_half_explicit(const char* name, double estimator) {
    return std::make_unique<HalfExplicit>(half_explicit_tableau(name), estimator);
}

}  // namespace stickslip
