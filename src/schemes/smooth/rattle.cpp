// RATTLE [Andersen 1983; Hairer, Lubich & Wanner, Geometric Numerical Integration, VII.1.4], for forces that depend on velocities,
// on the group of positions:
//
//   vm = v0 + h/2 x0,   M(q0) x0 = f(t0, q0, vm) + C(q0, vm) y0      (implicit in vm)
//   q1 = q0 (+) h vm,   g(q1) = 0
//   v1 = vm + h/2 x1,   M(q1) x1 = f(t1, q1, vm) + C(q1, vm) y1      J(q1) v1 = w(t1)
//
// The second half is the first one backwards, so the method is symmetric whatever f depends on, of order two, and its energy has
// no drift where the motion can be reversed; with constant M and forces from a potential it is symplectic. Rows without a
// position (velocity rows, tangents of contacts that stick) hold in the middle too: J(qm) vm = w(t0 + h/2), qm = q0 (+) h/2 vm.
// Explicit in stiff forces: h w < 2. Multipliers at the ends come from the acceleration form.
#include <cmath>
#include <limits>

#include "schemes/parts/work.hpp"
#include "schemes/smooth/method.hpp"
#include "schemes/smooth/motion_newton.hpp"

namespace stickslip {

namespace {

constexpr double acceptable = 1e-10;  // relative residual above which the step has failed

struct Work final : SchemeWork {
    MotionNewton newton;
    VecX x, q_middle;
    RowVec y;
};

class Rattle final : public SmoothMethod {
public:
    int error_order() const override { return 2; }
    bool has_estimate() const override { return false; }
    int order() const override { return 2; }

    bool take(Motion& motion, SmoothStep& s) const override {
        auto& w = work_in<Work>(s.method_work);
        const System& system = motion.system();
        s.solves = 0;
        s.error = std::numeric_limits<double>::quiet_NaN();
        if (!s.solve_start(motion)) return false;
        if (!solve_first(motion, s, w)) return false;
        MotionPoint &first = s.stage[0], &second = s.stage[1];
        first.a = w.x;
        first.y = w.y;

        motion.load(s.v_stage, second);
        s.r.resize(motion.rows());
        if (motion.rows() > 0) s.r = (-2 / s.h) * second.row_speed;
        motion.solve(second, second, s.r);
        ++s.solves;
        if (motion.trouble() != Motion::Trouble::none) return false;
        s.v1 = s.v_stage + (0.5 * s.h) * second.a;

        s.sum.begin(motion, s.start);
        s.sum.add(motion, first, s.h / 2);
        s.sum.add(motion, second, s.h / 2);
        if (!s.solve_end(motion)) return false;
        hermite_path(system, s);
        return true;
    }

private:
    // x0, y0, vm (v_stage), u and q1. The equations at the start with vm are stage[0], the rows at the end stage[1].
    static bool solve_first(Motion& motion, SmoothStep& s, Work& w) {
        const System& system = motion.system();
        const double h = s.h, B = 0.5 * h * h, D = 0.5 * h;
        MotionPoint &first = s.stage[0], &second = s.stage[1], &middle = s.end;
        MotionNewton& newton = w.newton;
        if (!motion.find(s.time(0), s.q0, first)) return false;
        newton.set_levels(motion, first, true);
        const bool rolls = newton.any_at_velocity();
        w.x = s.a0;
        w.y = s.start.y;
        const auto evaluate = [&] {
            s.v_stage = s.v0 + D * w.x;
            s.u = h * s.v_stage;
            s.q1 = s.q0;
            system.advance(s.q1, s.u);
            if (!motion.find(s.time(1), s.q1, second)) return false;
            if (rolls) {
                s.u_stage = D * s.v_stage;
                w.q_middle = s.q0;
                system.advance(w.q_middle, s.u_stage);
                if (!motion.find(s.time(0.5), w.q_middle, middle)) return false;
            }
            motion.load(s.v_stage, first);
            newton.take_rows(motion, second, rolls ? middle : second, s.v_stage, B, D);
            return true;
        };
        return newton.run(motion, first, s.u, s.q1, B, D, false, acceptable, w.x, w.y, s.solves, evaluate);
    }
};

}  // namespace

std::unique_ptr<SmoothMethod> make_rattle() { return std::make_unique<Rattle>(); }

}  // namespace stickslip
