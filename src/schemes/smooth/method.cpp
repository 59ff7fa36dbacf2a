#include "schemes/smooth/method.hpp"

#include <cmath>

namespace stickslip {

namespace {

constexpr double rate_span = 1e-5;  // fraction of the step over which the rate of du/dt is differenced

}  // namespace

double SmoothStep::time(double c) const {
    if (c <= 0) return switch_before ? std::nextafter(t, infinity) : t;
    if (c >= 1) return switch_after ? std::nextafter(t + h, -infinity) : t + h;
    return t + c * h;
}

void SmoothStep::size_paths(int new_degree) {
    degree = new_degree;
    const auto n = static_cast<std::size_t>(new_degree + 1);
    for (std::vector<VecX>* path : {&path_q, &path_v}) {
        if (path->size() < n) path->resize(n);
        for (VecX& x : *path) x.resize(v0.size());
    }
}

void SmoothStep::stabilise(const Motion& motion, const MotionPoint& p, RowVec& rate) const {
    if (baumgarte == 0) return;
    int row = 0;
    for (const Motion::Source& source : motion.sources()) {
        for (int k = 0; k < source.dim; ++k, ++row) {
            rate[row] -= 2 * baumgarte * p.row_speed[row];
            if (k > 0) continue;
            double g = 0;
            if (source.contact >= 0) {
                g = p.contacts.gap[p.place[source.contact]];
            } else {
                const auto i = static_cast<std::size_t>(p.joints.jacobian.row[source.joint_group] + source.first);
                if (p.joints.kind[i] == RowKind::holonomic) g = p.joints.value[i];
            }
            rate[row] -= baumgarte * baumgarte * g;
        }
    }
}

bool SmoothStep::solve_start(Motion& motion) {
    if (start_known) return true;
    if (!motion.solved(start, time(0), q0, v0)) {
        if (!motion.find(time(0), q0, start) || !accelerate(motion, v0, start)) return false;
    }
    a0 = start.a;
    start_known = true;
    return true;
}

bool SmoothStep::solve_end(Motion& motion, bool found) {
    if (!found && !motion.find(time(1), q1, end)) return false;
    return accelerate(motion, v1, end);
}

bool SmoothStep::accelerate(Motion& motion, const VecX& v, MotionPoint& p) {
    motion.load(v, p);
    motion.acceleration_side(p, r);
    stabilise(motion, p, r);
    motion.solve(p, p, r);
    ++solves;
    if (motion.trouble() != Motion::Trouble::none) return false;
    motion.mark_solved(p);
    return true;
}

double SmoothStep::norm(const VecX& position_error, const VecX& velocity_error) const {
    const double q = position_error.squaredNorm();
    return std::sqrt(error_of == ErrorOf::both ? q + velocity_error.squaredNorm() : q);
}

void quartic(const VecX& y0, const VecX& d0, const VecX& y1, const VecX& d1, double x, const VecX& y,
             std::vector<VecX>& path) {
    path[0] = y0;
    path[1] = d0;
    path[2] = 3 * (y1 - y0) - 2 * d0 - d1;
    path[3] = 2 * (y0 - y1) + d0 + d1;
    // The cubic has these; x^2 (1 - x)^2 takes it to the fifth number.
    const double bump = x * x * (1 - x) * (1 - x);
    path[4] = (y - (path[0] + x * (path[1] + x * (path[2] + x * path[3])))) / bump;
    path[2] += path[4];
    path[3] -= 2 * path[4];
}

void SmoothStep::find_end_rates(const System& system) {
    VecX &d1 = work, &dd1 = work2;
    system.chart_rate(u, v1, d1);
    if (d1 == v1) {
        dd1 = end.a;
        return;
    }
    const double span = rate_span * h;
    u_stage = u + span * d1;
    v_stage = v1 + span * end.a;
    system.chart_rate(u_stage, v_stage, dd1);
    u_stage = u - span * d1;
    v_stage = v1 - span * end.a;
    system.chart_rate(u_stage, v_stage, u_kept);
    dd1 = (dd1 - u_kept) / (2 * span);
}

void hermite_path(const System& system, SmoothStep& s) {
    const double h = s.h;
    s.size_paths(5);
    s.find_end_rates(system);
    VecX &d1 = s.work, &dd1 = s.work2, &u = s.u_stage, &v = s.v_stage;
    s.path_q[0].setZero();
    s.path_q[1] = h * s.v0;
    s.path_q[2] = (0.5 * h * h) * s.a0;
    s.path_q[3] = 10 * s.u - h * (6 * s.v0 + 4 * d1) - (h * h) * (1.5 * s.a0 - 0.5 * dd1);
    s.path_q[4] = -15 * s.u + h * (8 * s.v0 + 7 * d1) + (h * h) * (1.5 * s.a0 - dd1);
    s.path_q[5] = 6 * s.u - (3 * h) * (s.v0 + d1) - (0.5 * h * h) * (s.a0 - dd1);

    // v in the middle, from du/dt there: v = du/dt - (rate(u, v) - v), which contracts by the turn of half a step.
    const double x = 0.5;
    u = x * s.path_q[5];
    VecX &du = s.u_kept, &rate = s.work2;
    du = 5 * x * s.path_q[5];
    for (int k = 4; k >= 1; --k) {
        u = x * (u + s.path_q[k]);
        du = (k > 1 ? x : 1.0) * (du + k * s.path_q[k]);
    }
    du /= h;
    v = du;
    for (int round = 0; round < 8; ++round) {
        system.chart_rate(u, v, rate);
        if (rate == du) break;
        v += du - rate;
    }
    d1 = h * s.a0;
    rate = h * s.end.a;
    quartic(s.v0, d1, s.v1, rate, x, v, s.path_v);
    s.path_v[5].setZero();
}

}  // namespace stickslip
