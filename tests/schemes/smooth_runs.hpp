// Fixed steps of a method between events on problems with known solutions, and what they leave behind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "math/so3.hpp"
#include "schemes/parts/parts.hpp"
#include "schemes/smooth/method.hpp"
#include "stickslip/mechanism.hpp"
#include "support/reference.hpp"

namespace stickslip::testing {

struct SmoothProblem {
    std::unique_ptr<System> system;
    std::vector<int> quaternions;  // their first index in q
    State start, end;              // the end as the reference has it
    VecX multipliers;              // [N] of the imposed rows at the end; empty: unknown
    Modes modes;
};

struct SmoothRun {
    State end;
    VecX multipliers;  // of the acceleration form at the end,
    VecX own;          // and of the last stage
    VecX remembered;
    double g = 0, speed = 0;                        // largest |g| and |J v - w| of imposed rows at ends of steps
    double imbalance = 0;                           // of the ledger, as a share of its scale
    double lowest = infinity, highest = -infinity;  // [J] energy at ends of steps
    double error = 0;                               // the last estimate
    long solves = 0;
    bool done = true;
};

inline SmoothRun run_smooth(const SmoothMethod& method, const SmoothProblem& problem, int steps, int longer_every = 0) {
    SmoothRun run;
    const System& system = *problem.system;
    State x = problem.start;
    Step step;
    plan_redundancy(system, x, step);
    step.ledger.begin(system, x);
    Motion motion;
    SmoothStep s;
    // Every so manieth step is twice as long as the others.
    int units = steps;
    for (int k = 0; longer_every > 0 && k < steps; ++k) units += k % longer_every == 0;
    const double unit = (problem.end.t - x.t) / units;
    int at = 0;
    for (int k = 0; k < steps; ++k) {
        motion.begin(system, problem.modes, x, step);
        const int length = longer_every > 0 && k % longer_every == 0 ? 2 : 1;
        s.t = x.t;
        s.h = length * unit;
        s.q0 = x.q;
        s.v0 = x.v;
        if (!method.take(motion, s)) {
            run.done = false;
            run.end = x;
            ADD_FAILURE() << "step " << k << " failed";
            return run;
        }
        run.solves += s.solves;
        at += length;
        x = {problem.start.t + at * unit, s.q1, s.v1};
        step.ledger.book(system, x, s.sum.flows(system, s.q0, s.v0, s.q1, s.v1));
        int row = 0;
        for (const Motion::Source& source : motion.sources()) {
            if (source.contact >= 0) {
                run.g = std::max(run.g, std::abs(s.end.contacts.gap[0]));
            } else {
                const auto i = static_cast<std::size_t>(s.end.joints.jacobian.row[source.joint_group] + source.first);
                if (s.end.joints.kind[i] == RowKind::holonomic)
                    run.g = std::max(run.g, std::abs(s.end.joints.value[i]));
            }
            for (int i = 0; i < source.dim; ++i, ++row) run.speed = std::max(run.speed, std::abs(s.end.row_speed[row]));
        }
        const Energies e = system.energies(x.t, x.q, x.v);
        const double sum = e.kinetic + e.potential + e.elastic;
        run.lowest = std::min(run.lowest, sum);
        run.highest = std::max(run.highest, sum);
        s.start = s.end;
        s.a0 = s.end.a;
        s.start_known = true;
    }
    run.end = x;
    run.multipliers = s.start.y.vec();
    run.own = s.stage[0].y.vec();
    run.remembered = s.remembered;
    run.error = s.error;
    run.imbalance = std::abs(step.ledger.imbalance()) / step.ledger.scale();
    return run;
}

struct SmoothError {
    double q, v, multipliers, own;
};

inline SmoothError error_of(const SmoothRun& run, const SmoothProblem& problem) {
    VecX q = run.end.q;
    for (const int i : problem.quaternions)
        if (q.segment<4>(i).dot(problem.end.q.segment<4>(i)) < 0) q.segment<4>(i) *= -1;
    SmoothError e{(q - problem.end.q).cwiseAbs().maxCoeff(), (run.end.v - problem.end.v).cwiseAbs().maxCoeff(), 0, 0};
    if (problem.multipliers.size() > 0) {
        e.multipliers = (run.multipliers - problem.multipliers).cwiseAbs().maxCoeff();
        e.own = (run.own - problem.multipliers).cwiseAbs().maxCoeff();
    }
    return e;
}

inline SmoothProblem mechanism_problem(const std::string& name, double end) {
    Mechanism mechanism = make_mechanism(name);
    SmoothProblem problem;
    problem.quaternions = mechanism.model.quaternion_blocks;
    problem.start = mechanism.state;
    problem.end = {end, {}, {}};
    problem.system = make_lagrangian_system(std::move(mechanism.model));
    return problem;
}

inline VecX numbers(const std::vector<double>& row, std::size_t first, std::size_t count) {
    return Eigen::Map<const VecX>(row.data() + first, static_cast<Eigen::Index>(count));
}

// A point on a rod in Cartesian coordinates, from the horizontal.
inline SmoothProblem pendulum_problem(double end = 2) {
    SmoothProblem problem = mechanism_problem("pendulum", end);
    const std::vector<double> row = Reference("pendulum").row("state", {end});
    problem.end.q = numbers(row, 1, 2);
    problem.end.v = numbers(row, 3, 2);
    problem.multipliers = VecX::Constant(1, -row[5]);
    return problem;
}

inline SmoothProblem four_bar_problem(double end = 0.5) {
    SmoothProblem problem = mechanism_problem("four-bar", end);
    const std::vector<double> row = Reference("four-bar").row("state", {end});
    problem.end.q = numbers(row, 1, 3);
    problem.end.v = numbers(row, 4, 3);
    problem.multipliers = numbers(row, 7, 2);
    return problem;
}

// A top without rows: attitude alone.
inline SmoothProblem heavy_top_problem(double end = 0.5) {
    SmoothProblem problem = mechanism_problem("heavy-top", end);
    const std::vector<double> row = Reference("heavy-top").row("state", {end});
    problem.end.q = numbers(row, 1, 4);
    problem.end.v = numbers(row, 5, 3);
    return problem;
}

// The same top as a free body whose pivot is held by three rows c - R (0, 0, l) = 0.
inline SmoothProblem held_top_problem(double end = 0.5) {
    constexpr double m = 1, l = 0.3, weight = 9.81;
    const Vec3 arm(0, 0, l), I(0.01, 0.01, 0.02);
    LagrangianModel model;
    model.name = "held top";
    model.coordinates = {"x", "y", "z", "q0", "q1", "q2", "q3"};
    model.nv = 6;
    model.quaternion_blocks = {3};
    model.constant_mass = MatX::Identity(6, 6) * m;
    model.constant_mass.bottomRightCorner<3, 3>() = I.asDiagonal();
    model.gyroscopic = [I](const VecX& v, MatX& F) {
        F.bottomRightCorner<3, 3>() = hat(I.cwiseProduct(Vec3(v.tail<3>())));
    };
    model.potential = [](const VecX& q) { return m * weight * q[2]; };
    model.potential_force = [](const VecX&, VecX& k) { k[2] = -m * weight; };
    model.joints = 3;
    model.joint_value = [arm](double, const VecX& q, VecX& g) {
        const Mat3 R = read_quaternion(q.data() + 3).toRotationMatrix();
        for (int i = 0; i < 3; ++i) g[i] = q[i] - R.row(i).dot(arm);
    };
    model.joint_jacobian = [arm](double, const VecX& q, MatX& G) {
        G.leftCols<3>() = Mat3::Identity();
        G.rightCols<3>() = read_quaternion(q.data() + 3).toRotationMatrix() * hat(arm);
    };
    model.joint_bias = [arm](double, const VecX& q, const VecX& v, VecX& c) {
        const Vec3 omega = v.tail<3>();
        const Mat3 R = read_quaternion(q.data() + 3).toRotationMatrix();
        for (int i = 0; i < 3; ++i) c[i] = R.row(i).dot(omega.cross(arm.cross(omega)));
    };
    const SmoothProblem free = heavy_top_problem(end);
    SmoothProblem problem;
    problem.quaternions = {3};
    const auto whole = [&](const State& x) {
        const Mat3 R = read_quaternion(x.q.data()).toRotationMatrix();
        State y{x.t, VecX(7), VecX(6)};
        for (int i = 0; i < 3; ++i) {
            y.q[i] = R.row(i).dot(arm);
            y.v[i] = R.row(i).dot(Vec3(x.v).cross(arm));
        }
        y.q.tail<4>() = x.q;
        y.v.tail<3>() = x.v;
        return y;
    };
    problem.start = whole(free.start);
    problem.end = whole(free.end);
    problem.system = make_lagrangian_system(std::move(model));
    return problem;
}

// A disc that rolls: one holonomic and two velocity rows.
inline SmoothProblem rolling_disc_problem(double end = 0.5) {
    SmoothProblem problem = mechanism_problem("rolling-disc", end);
    const std::vector<double> row = Reference("rolling-disc").row("state", {end});
    problem.end.q.resize(7);
    problem.end.q << numbers(row, 8, 3), numbers(row, 1, 4);
    problem.end.v.resize(6);
    problem.end.v << numbers(row, 11, 3), numbers(row, 5, 3);
    return problem;
}

// A disc of radius 0.2 m in a bowl of 1 m, in the plane: it rolls (stick) or slides with its lowest point forward (slip).
inline SmoothProblem bowl_problem(ContactMode mode, double end) {
    static constexpr double way = 0.8, radius = 0.2, m = 2, inertia = 0.04, weight = 9.81;
    LagrangianModel model;
    model.name = "disc in a bowl";
    model.coordinates = {"x", "y", "phi"};
    model.nv = 3;
    model.constant_mass = m * MatX::Identity(3, 3);
    model.constant_mass(2, 2) = inertia;
    model.potential = [](const VecX& q) { return m * weight * q[1]; };
    model.potential_force = [](const VecX&, VecX& k) { k[1] = -m * weight; };
    model.contacts.push_back({.name = "bowl",
                              .tangents = 1,
                              .friction = 0.2,
                              .gap = [](const VecX& q) { return way - std::hypot(q[0], q[1]); },
                              .jacobian =
                                  [](const VecX& q, MatX& H) {
                                      const double r = std::hypot(q[0], q[1]);
                                      H << -q[0] / r, -q[1] / r, 0, -q[1] / r, q[0] / r, radius;
                                  },
                              .bias =
                                  [](const VecX& q, const VecX& v, VecX& c) {
                                      const double r = std::hypot(q[0], q[1]), along = q[0] * v[0] + q[1] * v[1];
                                      c[0] = -(v[0] * v[0] + v[1] * v[1]) / r + along * along / (r * r * r);
                                      c[1] = -(q[0] * v[1] - q[1] * v[0]) * along / (r * r * r);
                                  }});
    SmoothProblem problem;
    problem.system = make_lagrangian_system(std::move(model));
    const double turn = mode == ContactMode::stick ? -1.5 / radius : 20.0;
    problem.start = {0, numbers({0, -way, 0}, 0, 3), numbers({1.5, 0, turn}, 0, 3)};
    problem.modes.contact = {ContactId{}};
    problem.modes.mode = {mode};
    problem.modes.slip = {mode == ContactMode::stick ? Vec2(0, 0) : Vec2(1, 0)};
    problem.end.t = end;
    const SmoothRun reference = run_smooth(*make_half_explicit("hem5"), problem, 2000);
    problem.end = reference.end;
    problem.multipliers = reference.multipliers;
    return problem;
}

// m x'' + d x' + k x = 0 by a spring, in closed form.
inline SmoothProblem oscillator_problem(double stiffness, double damping, double end) {
    LagrangianModel model;
    model.name = "oscillator";
    model.coordinates = {"x"};
    model.nv = 1;
    model.constant_mass = MatX::Identity(1, 1);
    model.springs.push_back({.name = "spring",
                             .stiffness = stiffness,
                             .damping = damping,
                             .value = [](const VecX& q) { return q[0]; },
                             .gradient = [](const VecX&, VecX& G) { G[0] = 1; },
                             .bias = {}});
    SmoothProblem problem;
    problem.system = make_lagrangian_system(std::move(model));
    problem.start = {0, VecX::Constant(1, 1.0), VecX::Constant(1, 0.0)};
    const double decay = damping / 2, w = std::sqrt(stiffness - decay * decay);
    const double c = std::cos(w * end), s = std::sin(w * end), e = std::exp(-decay * end);
    problem.end = {end, VecX::Constant(1, e * (c + decay / w * s)),
                   VecX::Constant(1, -e * s * (w + decay * decay / w))};
    return problem;
}

}  // namespace stickslip::testing
