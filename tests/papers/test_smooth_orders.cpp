// Orders of the methods between events, by whole runs with fixed steps against closed forms and references: smooth motion of
// constrained systems, with and without projection; the same with impacts and with changes between stick and slip inside
// the interval, which must not cost any order. These are judged with projection: without it events still bring positions
// back that are off by more than 1e-9 m, and errors jump where drift passes that.
#include <boost/math/special_functions/ellint_1.hpp>
#include <boost/math/special_functions/jacobi_elliptic.hpp>

#include "smooth_methods.hpp"

namespace stickslip::analytic {
namespace {

using Eigen::Vector4d;

class Smooth : public ::testing::TestWithParam<SmoothGate> {
protected:
    // Drift below `drift_limit` is left alone, which would show as a floor of the errors of projected motion.
    Set with(double h, const char* drift) const {
        return Set{{"run.scheme", GetParam().scheme}, {"scheme.drift", drift}, {"scheme.drift_limit", "0"}}("run.step",
                                                                                                            h);
    }
};

const std::vector<const char*> drifts{"none", "projection"};

VecX part(const std::vector<double>& row, std::size_t at, int n) { return Eigen::Map<const VecX>(row.data() + at, n); }
Quat quaternion(const VecX& q) { return {q[0], q[1], q[2], q[3]}; }

TEST_P(Smooth, ConstrainedPendulumKeepsTheOrder) {
    const Reference reference("pendulum");
    for (const char* drift : drifts)
        expect_orders(GetParam(), std::string("pendulum_") + drift, 0.025, true, [&](double h) {
            Simulation simulation(mechanism("pendulum", with(h, drift)("theta0", pi / 2)));
            RunErrors errors;
            for (const std::vector<double>& state : reference.rows("state")) {
                if (state[0] > 3) break;
                walk_to(simulation, state[0]);
                const State& x = simulation.state();
                errors.include((x.q - part(state, 1, 2)).norm(), (x.v - part(state, 3, 2)).norm(),
                               std::abs(simulation.step().multipliers[0] + state[5]));  // tension pulls inwards
            }
            return errors;
        });
}

TEST_P(Smooth, FourBarLinkageKeepsTheOrder) {
    const Reference reference("four-bar");
    SmoothGate gate = GetParam();
    // The terms of h^5 and h^6 of phem56 cancel here and there: errors fall by 340, 10, 24 and 27 from h = 1/100 on.
    if (std::string("phem56") == gate.scheme) {
        gate.finer = 0;
        gate.halvings = 4;
    }
    for (const char* drift : drifts)
        expect_orders(gate, std::string("four_bar_") + drift, 0.01, true, [&](double h) {
            Simulation simulation(mechanism("four-bar", with(h, drift)));
            RunErrors errors;
            for (const std::vector<double>& state : reference.rows("state")) {
                walk_to(simulation, state[0]);
                const State& x = simulation.state();
                errors.include((x.q - part(state, 1, 3)).norm(), (x.v - part(state, 4, 3)).norm(),
                               (simulation.step().multipliers.vec() - part(state, 7, 2)).norm());
            }
            return errors;
        });
}

TEST_P(Smooth, TopInQuaternionsKeepsTheOrder) {
    const Reference reference("heavy-top");
    expect_orders(GetParam(), "top", 0x1p-7, false, [&](double h) {
        Simulation simulation(mechanism("heavy-top", with(h, "none")));
        RunErrors errors;
        for (const std::vector<double>& state : reference.rows("state")) {
            if (state[0] > 1) break;
            walk_to(simulation, state[0]);
            const State& x = simulation.state();
            errors.include(quaternion(x.q).angularDistance(quaternion(part(state, 1, 4))),
                           (x.v - part(state, 5, 3)).norm());
        }
        return errors;
    });
}

// Strength of the force that holds the tip [N], from the attitude and angular velocity of the reference by Euler's equations.
double force_on_the_tip(const Quat& R, const Vec3& omega) {
    const double weight = 0.3 * g;
    const Vec3 J(0.1, 0.1, 0.02), arm(0, 0, 0.3), up = R.conjugate() * Vec3::UnitZ();
    const Vec3 torque = Vec3(J.cwiseProduct(omega)).cross(omega) - weight * Vec3::UnitZ().cross(up);
    const Vec3 rate = torque.cwiseQuotient(J);
    const Vec3 acceleration = rate.cross(arm) + omega.cross(omega.cross(arm));
    return (acceleration + g * up).norm();
}

TEST_P(Smooth, TopOnABallJointKeepsTheOrder) {
    const char* text = R"scene(
stickslip: 1
bodies:
  top: {pose: {at: [0, -0.3*sin(pi/6), 0.3*cos(pi/6)], rpy_deg: [30, 0, 0]}, mass: 1, inertia: [0.01, 0.01, 0.02],
        angular_velocity: [0, -60*sin(pi/6), 60*cos(pi/6)]}
joints: {tip: {ball: {a: ground, b: top, at: [0, 0, 0]}}}
run: {end: 1}
)scene";
    const Reference reference("heavy-top");
    for (const char* drift : drifts)
        expect_orders(GetParam(), std::string("top_on_joint_") + drift, 0x1p-7, true, [&](double h) {
            Simulation simulation(scene_text(text, with(h, drift)));
            RunErrors errors;
            for (const std::vector<double>& state : reference.rows("state")) {
                if (state[0] > 1) break;
                walk_to(simulation, state[0]);
                const State& x = simulation.state();
                const Quat R = quaternion(part(state, 1, 4));
                const Vec3 omega = part(state, 5, 3), centre = part(state, 8, 3);
                const double turned = quaternion(x.q.tail(4)).angularDistance(R);
                const Vec3 speed = R * omega.cross(Vec3(0, 0, 0.3));
                errors.include(std::hypot(turned, (x.q.head(3) - centre).norm()),
                               std::hypot((x.v.tail(3) - omega).norm(), (x.v.head(3) - speed).norm()),
                               std::abs(simulation.step().multipliers.norm() - force_on_the_tip(R, omega)));
            }
            return errors;
        });
}

// A physical pendulum falls from rest against a wall at its lowest point and rebounds with k' = e k (see mechanism pendulum):
// sin(theta/2) = k' sn(w (t - t*), k'), behind t* = K(k)/w. From several heights, to hit at several places of a step.
TEST_P(Smooth, OneImpactCostsNoOrder) {
    const char* text = R"scene(
stickslip: 1
let: {start: 1}
plane: xz
materials: {default: {friction: 0, restitution: 0.6}}
bodies:
  wall: {fixed: true, shapes: [{half-space: {normal: [1, 0, 0], offset: -0.05}}]}
  bob: {pose: [sin(start), 0, -cos(start)], mass: 1, inertia: 0.02, shapes: [{sphere: 0.05}]}
joints: {hinge: {revolute: {a: ground, b: bob, at: [0, 0, 0]}}}
run: {end: 1.1}
)scene";
    const double w = std::sqrt(g / 1.02);
    const auto errors_from = [&](double start, const Set& set, RunErrors& errors) {
        const double k = std::sin(start / 2), after = 0.6 * k, impact = boost::math::ellint_1(k) / w;
        Simulation simulation(scene_text(text, Set(set)("start", start)));
        for (const double t : {0.9, 1.1}) {
            walk_to(simulation, t);
            double cn = 0, dn = 0;
            const double sn = boost::math::jacobi_elliptic(after, w * (t - impact), &cn, &dn);
            const double theta = 2 * std::asin(after * sn), rate = 2 * after * w * cn;
            const Vec2 along(std::cos(theta), std::sin(theta)), place(std::sin(theta), -std::cos(theta));
            const double pull = rate * rate + g * along[0], shear = (g - w * w) * along[1];
            const State& x = simulation.state();
            errors.include((x.q.head(2) - place).norm(), (x.v.head(2) - rate * along).norm(),
                           std::abs(simulation.step().multipliers.norm() - std::hypot(pull, shear)));
        }
    };
    expect_orders(GetParam(), "wall", 0.1, true, [&](double h) {
        RunErrors errors;
        for (const double start : {1.0, 1.4, 1.8, 2.2}) errors_from(start, with(h, "projection"), errors);
        return errors;
    });
}

// [Potra et al. 2006, 10.1]: behind the first and the second impact, and later.
TEST_P(Smooth, DoublePendulumHitsTheWallTwiceWithoutLossOfOrder) {
    const Reference reference("double-pendulum-wall");
    expect_orders(GetParam(), "double_pendulum", 0.025, true, [&](double h) {
        Simulation simulation(mechanism("double-pendulum-wall", with(h, "projection")("run.end", 1.25)));
        RunErrors errors;
        std::size_t hits = 0;
        for (const double t : {0.75, 1.0, 1.25}) {
            while (simulation.state().t < t - 1e-12) {
                if (!simulation.advance()) break;
                const State& x = simulation.state();
                for (const Event& event : simulation.step().events) {
                    if (event.kind != EventKind::impact) continue;
                    const std::vector<double>& behind = reference.rows("after")[hits++];
                    errors.include((x.q - part(behind, 1, 4)).norm(), (x.v - part(behind, 5, 4)).norm());
                    EXPECT_NEAR(event.t, behind[0], 10 * h * h * h) << GetParam().scheme;
                }
            }
            const State& x = simulation.state();
            EXPECT_NEAR(x.t, t, 1e-12);
            const std::vector<double>& state = reference.row("motion", {t});
            errors.include((x.q - part(state, 1, 4)).norm(), (x.v - part(state, 5, 4)).norm(),
                           (simulation.step().multipliers.vec() + part(state, 9, 2)).norm());
        }
        EXPECT_EQ(hits, 2u);
        return errors;
    });
}

// A block on a rough table between a spring and a periodic push, pressed onto the table the harder the farther it is:
//   x'' = A sin(w t) - k x - mu (g + c x) sgn(x'),    sticks while |A sin(w t) - k x| <= mu (g + c x)
// Pieces of slip are harmonic, so that the exact motion needs roots of elementary functions only.
class RoughOscillator {
public:
    static constexpr double A = 8, w = 5, k = 90, mu = 0.35, c = 6;
    struct Piece {
        double t;
        int s;  // sign of the slip; 0: sticks
        double x, v;
    };

    explicit RoughOscillator(double end) {
        pieces_.push_back({0, 0, 0, 0});
        while (pieces_.back().t < end) {
            const Piece now = pieces_.back();
            // The first change of sign on a fine grid, then halving.
            const auto f = [&](double t) { return now.s == 0 ? margin(t, now.x) : now.s * at(now, t)[1]; };
            double t = now.t + 1e-4;
            while (f(t) > 0 && t < end) t += 1e-4;
            if (t >= end) break;
            double low = t - 1e-4, high = t;
            for (int i = 0; i < 60; ++i) (f(0.5 * (low + high)) > 0 ? low : high) = 0.5 * (low + high);
            const double x = at(now, high)[0], push = A * std::sin(w * high) - k * x;
            const bool stays = now.s != 0 && margin(high, x) > 0;
            pieces_.push_back({high, stays ? 0 : push > 0 ? 1 : -1, x, 0});
        }
    }
    Vec2 state(double t) const { return at(piece(t), t); }
    // Normal force and friction along x.
    Vec2 force(double t) const {
        const double x = state(t)[0], normal = g + c * x;
        const int s = piece(t).s;
        return {normal, s == 0 ? k * x - A * std::sin(w * t) : -s * mu * normal};
    }
    const std::vector<Piece>& pieces() const { return pieces_; }

    static Model model() {
        LagrangianModel model;
        model.name = "rough oscillator";
        model.coordinates = {"x", "y"};
        model.nv = 2;
        model.constant_mass = MatX::Identity(2, 2);
        model.potential = [](const VecX& q) { return g * q[1] + k * q[0] * q[0] / 2; };
        model.potential_force = [](const VecX& q, VecX& f) { f << -k * q[0], -g; };
        model.applied = [](double t, const VecX& q, const VecX&, VecX& f) { f << A * std::sin(w * t), -c * q[0]; };
        LagrangianModel::Contact table;
        table.name = "table";
        table.tangents = 1;
        table.friction = mu;
        table.gap = [](const VecX& q) { return q[1]; };
        table.jacobian = [](const VecX&, MatX& H) { H << 0, 1, 1, 0; };
        table.bias = [](const VecX&, const VecX&, VecX&) {};
        model.contacts.push_back(table);
        Model whole;
        whole.name = model.name;
        whole.system = make_lagrangian_system(std::move(model));
        whole.state = {0, Vec2::Zero(), Vec2::Zero()};
        return whole;
    }

private:
    const Piece& piece(double t) const {
        std::size_t i = pieces_.size() - 1;
        while (pieces_[i].t > t) --i;
        return pieces_[i];
    }
    static double margin(double t, double x) { return mu * (g + c * x) - std::abs(A * std::sin(w * t) - k * x); }
    static Vec2 at(const Piece& p, double t) {
        if (p.s == 0) return {p.x, 0};
        const double stiffness = k + p.s * mu * c, W = std::sqrt(stiffness), P = A / (stiffness - w * w);
        const double middle = -p.s * mu * g / stiffness;
        const double a = p.x - P * std::sin(w * p.t) - middle, b = (p.v - P * w * std::cos(w * p.t)) / W;
        const double C = std::cos(W * (t - p.t)), S = std::sin(W * (t - p.t));
        return {P * std::sin(w * t) + middle + a * C + b * S, P * w * std::cos(w * t) + W * (b * C - a * S)};
    }
    std::vector<Piece> pieces_;
};

TEST_P(Smooth, BlockThatSticksAndSlipsKeepsTheOrder) {
    const double end = 2;
    const RoughOscillator exact(end);
    int stops = 0, starts = 0;
    for (std::size_t i = 1; i < exact.pieces().size(); ++i) {
        stops += exact.pieces()[i].s == 0;
        starts += exact.pieces()[i].s != 0 && exact.pieces()[i - 1].s == 0;
    }
    ASSERT_GE(stops, 2);
    ASSERT_GE(starts, 2);
    for (const char* drift : drifts)
        expect_orders(GetParam(), std::string("rough_") + drift, 0.05, true, [&](double h) {
            Model model = RoughOscillator::model();
            model.run.scheme = {GetParam().scheme, Set{{"drift", drift}, {"drift_limit", "0"}}("step", h), {}};
            model.run.end = end;
            Simulation simulation(std::move(model));
            RunErrors errors;
            long counted_stops = 0, counted_starts = 0;
            for (const double t : {0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0}) {
                while (simulation.state().t < t - 1e-12) {
                    if (!simulation.advance()) break;
                    for (const Event& event : simulation.step().events) {
                        counted_stops += event.kind == EventKind::slip_to_stick;
                        counted_starts += event.kind == EventKind::stick_to_slip;
                    }
                }
                const State& x = simulation.state();
                EXPECT_NEAR(x.t, t, 1e-12);
                const Vec2 there = exact.state(t), force = exact.force(t);
                EXPECT_EQ(simulation.step().contacts.size(), 1u);
                errors.include(std::abs(x.q[0] - there[0]), std::abs(x.v[0] - there[1]),
                               (simulation.step().contacts[0].force.head<2>() - force).norm());
                EXPECT_NEAR(x.q[1], 0, 1e-13);
            }
            EXPECT_EQ(counted_stops, stops) << GetParam().scheme << " " << h;
            EXPECT_EQ(counted_starts, starts) << GetParam().scheme << " " << h;
            return errors;
        });
}

// A block on an incline of 20 degrees, pushed off across it: friction turns with the slip, and the path bends into the fall line.
TEST_P(Smooth, FrictionThatTurnsWithTheSlipKeepsTheOrder) {
    const Reference reference("block-incline");
    const double tilt = pi / 9, across = 47 * pi / 180;
    const auto block = [&](double h) {
        LagrangianModel model;
        model.name = "block";
        model.coordinates = {"x", "y", "z"};
        model.nv = 3;
        model.constant_mass = MatX::Identity(3, 3);
        model.potential = [=](const VecX& q) { return g * (std::cos(tilt) * q[2] - std::sin(tilt) * q[0]); };
        model.potential_force = [=](const VecX&, VecX& f) { f << g * std::sin(tilt), 0, -g * std::cos(tilt); };
        LagrangianModel::Contact plane;
        plane.name = "incline";
        plane.tangents = 2;
        plane.friction = 0.5;
        plane.gap = [](const VecX& q) { return q[2]; };
        plane.jacobian = [](const VecX&, MatX& H) { H << 0, 0, 1, 1, 0, 0, 0, 1, 0; };
        plane.bias = [](const VecX&, const VecX&, VecX&) {};
        model.contacts.push_back(plane);
        Model whole;
        whole.name = model.name;
        whole.system = make_lagrangian_system(std::move(model));
        whole.state = {0, Vec3::Zero(), 3 * Vec3(std::cos(across), std::sin(across), 0)};
        whole.run.scheme = {GetParam().scheme, Set()("step", h), {}};
        whole.run.end = 1;
        return whole;
    };
    expect_orders(GetParam(), "incline", 0.2, false, [&](double h) {
        Simulation simulation(block(h));
        RunErrors errors;
        for (const std::vector<double>& state : reference.rows("state")) {
            walk_to(simulation, state[0]);
            const State& x = simulation.state();
            errors.include((x.q.head(2) - part(state, 1, 2)).norm(), (x.v.head(2) - part(state, 3, 2)).norm());
        }
        return errors;
    });
}

// [Potra et al. 2006, 10.3], gamma 100, delta 10: an impact, six reversals of slip, and between 1.3656 s and 1.3670 s cart 1
// sticks, for a time shorter than the steps; then cart 2 stops for good.
TEST_P(Smooth, TwoCartsKeepTheOrderThroughAllTheirEvents) {
    const Reference reference("two-carts");
    expect_orders(GetParam(), "carts", 0x1p-5, false, [&](double h) {
        Simulation simulation(mechanism("two-carts", with(h, "projection")("gamma", 100.0)("delta", 10.0)("x1_0", 0.2)(
                                                         "x2_0", 5.2)("v1_0", -3.0)("v2_0", -3.0)("run.end", 1.625)));
        RunErrors errors;
        for (const std::vector<double>& state : reference.rows("state")) {
            if (state[0] != 100 || state[1] != 10 || state[2] > 1.625) continue;
            walk_to(simulation, state[2]);
            const State& x = simulation.state();
            errors.include((x.q - part(state, 3, 2)).norm(), (x.v - part(state, 5, 2)).norm());
        }
        return errors;
    });
}

INSTANTIATE_TEST_SUITE_P(Methods, Smooth, ::testing::ValuesIn(smooth_gates()),
                         [](const auto& method) { return std::string(method.param.scheme); });

}  // namespace
}  // namespace stickslip::analytic
