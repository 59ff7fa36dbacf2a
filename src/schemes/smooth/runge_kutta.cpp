// Explicit Runge-Kutta methods on the index-1 form [Haddouni s.2.2.2, A.1]:
//
//   a_i = a(t + c_i h, Q_i, V_i) from M a = f + C y, J a = dw/dt - dJ/dt v      K_i = du/dt there
//   U_i = h sum_{j<i} a_ij K_j,   V_i = v0 + h sum_{j<i} a_ij a_j
//
// Neither positions nor velocities stay on the constraints: Baumgarte's terms or projection take the drift out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "schemes/smooth/method.hpp"
#include "schemes/smooth/tableaux.hpp"

namespace stickslip {

namespace {

class RungeKutta final : public SmoothMethod {
public:
    explicit RungeKutta(const ExplicitTableau& tableau) : t_(tableau) {}
    int error_order() const override { return t_.error_order; }
    bool has_estimate() const override { return !t_.embedded.empty(); }
    int order() const override { return t_.order; }

    bool take(Motion& motion, SmoothStep& s) const override {
        const System& system = motion.system();
        const std::size_t n = t_.c.size();
        s.solves = 0;
        s.K.resize(std::max(s.K.size(), n));
        s.A.resize(std::max(s.A.size(), n));
        if (!s.solve_start(motion)) return false;
        s.A[0] = s.a0;
        s.K[0] = s.v0;
        s.sum.begin(motion, s.start);
        s.sum.add(motion, s.start, s.h * t_.b[0]);
        MotionPoint& p = s.stage[0];
        const bool last_is_end = t_.b.back() == 0 && std::equal(t_.A.back().begin(), t_.A.back().end(), t_.b.begin());
        for (std::size_t i = 1; i < n; ++i) {
            if (i + 1 == n && last_is_end) break;
            combine(t_.A[i], s);
            s.q_stage = s.q0;
            system.advance(s.q_stage, s.u_stage);
            if (!motion.find(s.time(t_.c[i]), s.q_stage, p)) return false;
            if (!s.accelerate(motion, s.v_stage, p)) return false;
            s.A[i] = p.a;
            system.chart_rate(s.u_stage, s.v_stage, s.K[i]);
            if (t_.b[i] != 0) s.sum.add(motion, p, s.h * t_.b[i]);
        }
        combine(t_.b, s, last_is_end ? n - 1 : n);
        s.u = s.u_stage;
        s.v1 = s.v_stage;
        s.q1 = s.q0;
        system.advance(s.q1, s.u);
        if (!s.solve_end(motion)) return false;
        if (last_is_end) {
            s.A[n - 1] = s.end.a;
            system.chart_rate(s.u, s.v1, s.K[n - 1]);
        }
        s.error = std::numeric_limits<double>::quiet_NaN();
        if (has_estimate()) {
            s.work.setZero(s.v0.size());
            s.work2.setZero(s.v0.size());
            for (std::size_t i = 0; i < n; ++i) {
                s.work += (s.h * (t_.b[i] - t_.embedded[i])) * s.K[i];
                s.work2 += (s.h * (t_.b[i] - t_.embedded[i])) * s.A[i];
            }
            s.error = s.norm(s.work, s.work2);
        }
        if (s.own_path && !t_.dense.empty())
            own_path(s);
        else
            hermite_path(system, s);
        return true;
    }

private:
    static void combine(const std::vector<double>& weights, SmoothStep& s) { combine(weights, s, weights.size()); }
    static void combine(const std::vector<double>& weights, SmoothStep& s, std::size_t n) {
        s.u_stage.setZero(s.v0.size());
        s.v_stage = s.v0;
        for (std::size_t j = 0; j < n; ++j) {
            if (weights[j] == 0) continue;
            s.u_stage += (s.h * weights[j]) * s.K[j];
            s.v_stage += (s.h * weights[j]) * s.A[j];
        }
    }

    // u = r1 + x (r2 + (1 - x)(r3 + x (r4 + (1 - x) r5))) with r2 = y1 - y0, r3 = h k1 - r2, r4 = r2 - h k7 - r3,
    // r5 = h sum d_i k_i: the quartic x (h k1) + ... written out in powers of x.
    void own_path(SmoothStep& s) const {
        s.size_paths(4);
        const auto fill = [&](const VecX& y0, const VecX& y1, const std::vector<VecX>& k, std::vector<VecX>& path) {
            VecX &r3 = s.work, &r4 = s.work2, &r5 = s.u_stage;
            r3 = s.h * k[0] - (y1 - y0);
            r4 = (y1 - y0) - s.h * k[t_.c.size() - 1] - r3;
            r5.setZero(y0.size());
            for (std::size_t i = 0; i < t_.c.size(); ++i) r5 += (s.h * t_.dense[i]) * k[i];
            path[0] = y0;
            path[1] = (y1 - y0) + r3;
            path[2] = -r3 + r4 + r5;
            path[3] = -r4 - 2 * r5;
            path[4] = r5;
        };
        s.u_kept.setZero(s.v0.size());
        fill(s.u_kept, s.u, s.K, s.path_q);
        fill(s.v0, s.v1, s.A, s.path_v);
    }

    const ExplicitTableau& t_;
};

}  // namespace

std::unique_ptr<SmoothMethod> make_runge_kutta(const char* name) {
    return std::make_unique<RungeKutta>(explicit_tableau(name));
}

}  // namespace stickslip
