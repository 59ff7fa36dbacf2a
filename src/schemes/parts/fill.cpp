#include <algorithm>
#include <cmath>

#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// StepProblem::gained: |h k|/M of the coordinate in which a node gains most energy, and of all nodes the median.
double median_gain(const BlockMatrix& mass, const Forces& impulses, std::vector<double>& gains) {
    const Nodes& nodes = mass.nodes;
    gains.clear();
    for (int n = 0; n < nodes.size(); ++n) {
        const auto M = mass.block(n);
        double energy = 0, speed = 0;
        for (int i = 0; i < M.rows(); ++i) {
            const int k = nodes.start[n] + i;
            const double impulse = impulses.potential[k] + impulses.applied[k];
            if (!(impulse * impulse > energy * M(i, i))) continue;
            energy = impulse * impulse / M(i, i);
            speed = std::abs(impulse) / M(i, i);
        }
        gains.push_back(speed);
    }
    if (gains.empty()) return 0;
    const auto middle = gains.begin() + static_cast<long>(gains.size() / 2);
    std::nth_element(gains.begin(), middle, gains.end());
    return *middle;
}

// [m/s, rad/s] What a position motor asks of v+. Its law, e' = -servo e for the error e = goal - x, has e(t + h) = e(t) exp(-servo h).
// With x+ = x + h ((1 - g) v + g v+), and m the error that would be left at the end if v+ were the rate of the goal,
//   v+ = goal_rate + m (1 - exp(-servo h))/h   gives   m+ = m exp(-servo h),   e+ = m (1 - g (1 - exp(-servo h)))
// the same decay in every step, however long: for servo h -> 0 the law itself, to second order where g = 1/2, and for servo h -> infinity the
// goal is reached in one step (g = 1) or two, without ever being passed. `x` is where the start velocity leads to, x + (1 - g) h v.
double servo_speed(const BilateralRows& joints, int i, double h, double x, double g, double goals_ahead) {
    const double rate = joints.goal_rate[i];
    const double left = joints.goal[i] + (1 - goals_ahead - g) * h * rate - x;
    return rate - std::expm1(-joints.servo[i] * h) / h * left;
}

}  // namespace

void fill_impulses(const System& system, const State& x, double h, double a, Step& s) {
    system.forces(inside_end(x.t, h), x.q, x.v, s.terms.end_forces);
    system.forces(std::nextafter(x.t, infinity), x.q, x.v, s.terms.start_forces);
    find_unseen_loads(system, x, h, a, s);
    mix_impulses(h, a, s);
}

// One rounding inside the step, so that a load switching at either end is taken on the step's own side.
double inside_end(double t, double h) { return std::nextafter(t + h, -infinity); }

void mix_impulses(double h, double a, Step& s) {
    StepTerms& terms = s.terms;
    const Forces &first = terms.start_forces, &last = terms.end_forces;
    terms.impulses.potential = h * ((1 - a) * first.potential + a * last.potential);
    terms.impulses.applied = h * ((1 - a) * first.applied + a * last.applied);
    if (terms.loads_unseen) terms.impulses.applied += terms.load_mean;
    s.problem.gained = median_gain(terms.mass, terms.impulses, terms.gains);
}

void fill_explicit_rule(const System& system, const State& x, double h, Step& s) {
    StepProblem& problem = s.problem;
    fill_impulses(system, x, h, 0, s);
    // With A = M - h/2 F*, h F* (v + v+)/2 is (M v - A v) on the right and the rest of it on the left.
    s.terms.v_star = x.v + (h / 2) * s.memory.v_rate;
    system.add_gyroscopic(-h / 2, s.terms.v_star, problem.A);
    problem.A.add_product(-1, x.v, problem.r);
    s.terms.mass.add_product(2, x.v, problem.r);
    problem.r += s.terms.impulses.potential + s.terms.impulses.applied;
}

double correcting_speed(double phi, double h, double full) { return phi / (phi < 0 && h < full ? full : h); }

bool servo_jumps(const VecX& v, Step& s) {
    constexpr double jump = 0.1;  // of the speed: more than a goal and its error change in a step that resolves them
    const BilateralRows& joints = s.problem.joints;
    if (std::none_of(joints.servo.begin(), joints.servo.end(), [](double servo) { return servo > 0; })) return false;
    const RowVec& speed = joint_speeds(v, s);
    for (int i = 0; i < joints.size(); ++i) {
        if (!(joints.servo[i] > 0) || joints.force_upper[i] < infinity) continue;
        if (std::abs(speed[i] - joints.target[i]) > jump * std::abs(joints.target[i])) return true;
    }
    return false;
}

// Compliant rows, stiffness k and damping d with weights (a, g), c1 = a g h^2 k + a h d:
//   G v+ + lambda/c1 = -(h k phi + a (1-g) h^2 k G v + (1-a) h d G v)/c1
// which is the implicit spring in a form that stays well conditioned as k or d grow without bound.
void fill_bilateral(const VecX& v, const RowWeights& weights, Step& s) {
    const auto [h, alpha, gamma, mean, friction_mean, motor_mean, chi, position_weight, goals_ahead, turned, ahead] = weights;
    StepProblem& problem = s.problem;
    BilateralRows& joints = problem.joints;
    const RowVec& speed = joint_speeds(v, s);
    if (!ahead) s.terms.joint_stabilisation.setZero(joints.size());
    for (int i = 0; i < joints.size(); ++i) {
        const double unit = joints.impulsive[i] ? 1.0 : h, Gv = speed[i];
        const double value = joints.value[i];  // at q
        const bool bounded = joints.force_lower[i] > -infinity || joints.force_upper[i] < infinity;
        if (joints.force_lower[i] > -infinity) problem.lower[i] = unit * joints.force_lower[i];
        if (joints.force_upper[i] < infinity) problem.upper[i] = unit * joints.force_upper[i];
        switch (joints.kind[i]) {
            case RowKind::holonomic:
                if (!ahead && chi > 0 && h > 0) s.terms.joint_stabilisation[i] = -chi * value / (position_weight * h);
                problem.b[i] = s.terms.joint_stabilisation[i] - mean * Gv;
                if (ahead) problem.b[i] += (*ahead)[i] - turned * Gv;
                break;
            case RowKind::velocity:
                if (joints.servo[i] > 0 && h > 0)
                    joints.target[i] = servo_speed(joints, i, h, value + (1 - gamma) * h * Gv, gamma, goals_ahead);
                // A motor's speed may jump when it is switched on: asked of the mean it would flip from step to step.
                if (bounded)
                    problem.b[i] = (1 + motor_mean) * joints.target[i] - motor_mean * Gv;
                else
                    problem.b[i] = joints.target[i] != 0 || joints.servo[i] > 0 ? joints.target[i] : -mean * Gv;
                if (ahead) problem.b[i] += (*ahead)[i] - turned * Gv;
                break;
            case RowKind::friction: problem.b[i] = -friction_mean * Gv; break;
            case RowKind::compliant: {
                const double k = joints.stiffness[i], d = joints.damping[i];
                const double c1 = alpha * gamma * h * h * k + alpha * h * d;
                const double known = h * k * value + alpha * (1 - gamma) * h * h * k * Gv + (1 - alpha) * h * d * Gv;
                if (c1 > 0) {
                    problem.T[i] = 1 / c1;
                    problem.b[i] = -known / c1;
                } else {
                    problem.lower[i] = problem.upper[i] = -known;  // explicit; nothing at h = 0
                }
                break;
            }
        }
    }
}

}  // namespace stickslip
