// Connections do not know which coordinates their bodies have: one mechanism as planar and as spatial bodies is the same.
#include <gtest/gtest.h>

#include <cmath>

#include "math/so3.hpp"
#include "model/multibody.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Random;

// A rod that hangs on a hinge along y, with a ball at its end above rough ground, pulled by a spring and a load.
MultibodyModel pendulum(bool planar, double angle, double ground) {
    MultibodyModel model;
    model.gravity = Vec3(0, 0, -9.81);
    if (planar) model.plane = {0, 2};
    RigidBody rod;
    rod.mass = 1.7;
    rod.inertia = Vec3(0.01, 0.3, 0.4).asDiagonal();
    const Quat turned = rotation_by(angle * Vec3::UnitY());
    rod.pose = {turned * Vec3(0.5, 0, 0), turned};
    rod.radius = 0.7;
    model.bodies.push_back(rod);
    Joint hinge;
    hinge.kind = &joint_kind("revolute");
    hinge.b = 0;
    hinge.point_b = Vec3(-0.5, 0, 0);
    hinge.axes_a << 1, 0, 0, 0, 0, 1, 0, -1, 0;
    hinge.axes_b = turned.conjugate().toRotationMatrix() * hinge.axes_a;
    model.joints.push_back(hinge);
    Spring spring;
    spring.b = 0;
    spring.point_a = Vec3(0.3, 0, 1);
    spring.point_b = Vec3(0.2, 0, 0);
    spring.stiffness = 40;
    spring.length = 0.4;
    model.springs.push_back(spring);
    Load load;
    load.body = 0;
    load.point = Vec3(0.1, 0, 0.05);
    load.force = {TimeFunction::constant(3), TimeFunction::constant(0), TimeFunction::constant(-2)};
    load.torque = {TimeFunction::constant(0), TimeFunction::constant(0.7), TimeFunction::constant(0)};
    model.loads.push_back(load);
    model.drags.push_back({"drag", 0, 0.3, 0.2, 0.1});
    model.collision.colliders = {{0, -1, {HalfSpace{Vec3::UnitZ(), ground}, {}}},
                                 {1, 0, {Sphere{0.1}, {Vec3(0.5, 0, 0), Quat::Identity()}}}};
    model.collision.ignored_bodies = {};
    model.material = {0, 0};
    model.materials = 1;
    model.surface = {{0.4, 0.5}};
    return model;
}

MatX dense(const BlockRows& rows, const Nodes& nodes) {
    MatX J(rows.rows(), nodes.nv());
    for (int j = 0; j < nodes.nv(); ++j) {
        VecX column(rows.rows());
        rows.product(nodes, VecX::Unit(nodes.nv(), j), column);
        J.col(j) = column;
    }
    return J;
}

// What happens when the ball strikes: the impulses in W, and the motion and forces right after.
struct Impact {
    Vec3 contact = Vec3::Zero(), hinge = Vec3::Zero();  // [N s]
    Twist after;
    double gap = 0;
    Vec3 force = Vec3::Zero();  // [N] applied and by weight, at the centre of mass
    double power = 0;           // [W] of those forces in the motion before
    double spring_rate = 0;     // [m/s]
    double bias = 0;            // [m/s^2] of the gap
    Energies energies;
};

Impact strike(bool planar, double angle, double omega, double ground) {
    const MultibodySystem system(pendulum(planar, angle, ground));
    const Vec3 w = omega * Vec3::UnitY();
    const State x = system.initial_state({w.cross(system.model().bodies[0].pose.position)}, {w});
    ContactFinder finder;
    finder.margin = 1;
    BilateralRows joints;
    ContactRows contacts;
    system.rows(0, x.q, finder, joints, contacts);
    system.bias(0, x.q, x.v, finder, joints, contacts);
    BlockMatrix mass;
    system.mass(x.q, mass);
    const MatX J = dense(joints.jacobian, system.nodes()), H = dense(contacts.jacobian, system.nodes());
    const int nv = system.nv(), spring = static_cast<int>(J.rows()) - 1, rows = spring + 1;

    // The ball slips along d = y x n while it strikes: p = p_N (n - mu sign(u_d) d).
    const Vec3 n = contacts.normal[0], t = contacts.tangent[0], d = Vec3::UnitY().cross(n);
    VecX slip = t.dot(d) * H.row(1);
    if (!planar) slip += n.cross(t).dot(d) * H.row(2).transpose();
    const double pull = -contacts.friction[0] * (slip.dot(x.v) > 0 ? 1 : -1);
    MatX velocity(rows, nv), force(rows, nv);
    velocity << J.topRows(spring), H.row(0);
    force << J.topRows(spring), H.row(0) + pull * slip.transpose();

    // M v+ - G'p = M v-, the hinge stays closed, the ball rebounds.
    MatX K = MatX::Zero(nv + rows, nv + rows);
    K.topLeftCorner(nv, nv) = mass.block(0);
    K.topRightCorner(nv, rows) = -force.transpose();
    K.bottomLeftCorner(rows, nv) = velocity;
    VecX rhs = VecX::Zero(nv + rows);
    rhs.head(nv) = mass.block(0) * x.v;
    rhs[nv + spring] = -0.5 * H.row(0).dot(x.v);
    const VecX solution = K.fullPivLu().solve(rhs);

    Impact impact;
    impact.contact = solution[nv + spring] * (n + pull * d);
    const VecX lambda = solution.segment(nv, spring);
    impact.hinge = planar ? Vec3(lambda[0], 0, lambda[1]) : Vec3(lambda.head<3>());
    const BodyState after = system.body_state(0, x.q, solution.head(nv));
    impact.after = {after.pose.position, after.velocity, after.angular_velocity};
    impact.gap = contacts.gap[0];
    Forces k;
    system.forces(0, x.q, x.v, k);
    const VecX total = k.potential + k.applied;
    impact.force = planar ? Vec3(total[0], 0, total[1]) : Vec3(total.head<3>());
    impact.power = total.dot(x.v);
    impact.spring_rate = J.row(spring).dot(x.v);
    impact.bias = contacts.bias[0];
    impact.energies = system.energies(0, x.q, x.v);
    return impact;
}

TEST(Bodies, APendulumThatStrikesIsTheSameInThePlaneAndInSpace) {
    Random random(5);
    for (int trial = 0; trial < 200; ++trial) {
        // away from where the rod points down: there the gap hardly moves, and with friction the ball may wedge
        const double angle = random.uniform(-0.8, 0.8), omega = random.uniform(-5, 5);
        const double ground = -std::sin(angle) - 0.1 + random.uniform(-1e-3, 1e-3);
        const Impact plane = strike(true, angle, omega, ground), space = strike(false, angle, omega, ground);
        // relative to the largest impulse the motion can give
        const double impulse = 1e-12 * (1 + std::abs(omega)) * 10;
        EXPECT_LT((plane.contact - space.contact).norm(), impulse) << trial;
        EXPECT_LT((plane.hinge - space.hinge).norm(), impulse) << trial;
        EXPECT_LT((plane.after.linear - space.after.linear).norm(), impulse);
        EXPECT_LT((plane.after.angular - space.after.angular).norm(), impulse);
        EXPECT_NEAR(plane.gap, space.gap, 1e-14);
        EXPECT_LT((plane.force - space.force).norm(), 1e-12 * space.force.norm());
        EXPECT_NEAR(plane.power, space.power, 1e-12 * (10 + std::abs(space.power)));
        EXPECT_NEAR(plane.spring_rate, space.spring_rate, 1e-13 * (1 + std::abs(omega)));
        EXPECT_NEAR(plane.bias, space.bias, 1e-12 * (1 + omega * omega));
        EXPECT_NEAR(plane.energies.kinetic, space.energies.kinetic, 1e-13 * (1 + omega * omega));
        EXPECT_NEAR(plane.energies.potential, space.energies.potential, 1e-12);
        EXPECT_NEAR(plane.energies.elastic, space.energies.elastic, 1e-12);
    }
}

}  // namespace
}  // namespace stickslip
