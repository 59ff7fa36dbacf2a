// A Lagrangian system with a unit-quaternion block must be the rigid body that the multibody system is.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "collision/finder.hpp"
#include "math/so3.hpp"
#include "model/multibody.hpp"
#include "support/allocations.hpp"

namespace stickslip {
namespace {

const Vec3 inertia(0.4, 0.9, 1.1);  // [kg m^2]

// Coordinates (height, quaternion, slider): a block between plain coordinates, so that places in q and v differ.
LagrangianModel body_with_slider() {
    LagrangianModel model;
    model.name = "body with slider";
    model.coordinates = {"z", "qw", "qx", "qy", "qz", "s"};
    model.nv = 5;
    model.quaternion_blocks = {1};
    model.constant_mass = (VecX(5) << 2, inertia, 3).finished().asDiagonal();
    model.gyroscopic = [](const VecX& v, MatX& F) {
        F.block<3, 3>(1, 1) = hat(inertia.cwiseProduct(Vec3(v.segment<3>(1))));
    };
    return model;
}

TEST(LagrangianSystem, QuaternionBlockTurnsAsARigidBodyDoes) {
    const auto system = make_lagrangian_system(body_with_slider());
    MultibodyModel bodies;
    RigidBody body;
    body.mass = 2;
    body.inertia = inertia.asDiagonal();
    bodies.bodies.push_back(body);
    const MultibodySystem rigid(bodies);

    VecX q = (VecX(6) << 1, 1, 0, 0, 0, -2).finished();
    State x = rigid.initial_state({Vec3::Zero()}, {Vec3::Zero()});
    for (int k = 0; k < 1000; ++k) {
        const Vec3 turn(0.1 * std::sin(k), 0.07, -0.05 * std::cos(2 * k));
        system->advance(q, (VecX(5) << 0.5, turn, 0.25).finished());
        rigid.advance(x.q, (VecX(6) << Vec3::Zero(), turn).finished());
    }
    EXPECT_EQ(q[0], 501);
    EXPECT_EQ(q[5], 248);
    EXPECT_EQ((q.segment<4>(1) - x.q.segment<4>(3)).norm(), 0);
    EXPECT_NEAR(q.segment<4>(1).norm(), 1, 1e-15);
}

TEST(LagrangianSystem, RowsTurnedToAnotherPlaceAreThoseFoundThere) {
    for (const bool rolls : {false, true}) {
        LagrangianModel model;
        model.name = "point on a growing circle";
        model.coordinates = {"x", "y"};
        model.nv = 2;
        model.constant_mass = MatX::Identity(2, 2);
        model.joints = 1;
        model.joint_value = [](double t, const VecX& q, VecX& g) { g[0] = q.squaredNorm() - 1 - t; };
        model.joint_jacobian = [](double, const VecX& q, MatX& G) { G.row(0) = 2 * q.transpose(); };
        model.joint_bias = [](double, const VecX&, const VecX& v, VecX& d) { d[0] = 2 * v.squaredNorm(); };
        model.velocity_rows = rolls ? 1 : 0;
        model.velocity_jacobian = [](double t, const VecX& q, MatX& G) { G.row(0) << 1, t * q[0]; };
        model.velocity_bias = [](double t, const VecX&, const VecX& v, VecX& d) { d[0] = t * v[0] * v[1]; };
        const auto system = make_lagrangian_system(model);
        const VecX q0 = (VecX(2) << 0.6, 0.7).finished(), q1 = (VecX(2) << 0.2, -0.9).finished(),
                   v = (VecX(2) << 3, -2).finished();
        BilateralRows here, there, scratch;
        system->joint_rows(0.5, q0, v, here);
        system->joint_rows(0.7, q1, v, there);
        const std::vector<double> value = here.value;
        system->turn_joint_rows(0.7, q1, v, here, scratch);
        EXPECT_EQ(here.jacobian.values, there.jacobian.values);
        EXPECT_EQ(here.value, value);
        EXPECT_EQ(system->joint_error(0.7, q1, v, 1, scratch), std::abs(there.value[0]));
    }
}

TEST(LagrangianSystem, QuaternionBlockHasEulersEquations) {
    const auto system = make_lagrangian_system(body_with_slider());
    const VecX v = (VecX(5) << 0.3, 1.2, -0.7, 2.1, 0.4).finished();
    BlockMatrix F;
    F.shape_diagonal(system->nodes());
    system->add_gyroscopic(1, v, F);
    const Vec3 omega = v.segment<3>(1);
    const VecX force = F.dense() * v;
    EXPECT_LT((force.segment<3>(1) + omega.cross(Vec3(inertia.cwiseProduct(omega)))).norm(), 1e-14);
    EXPECT_EQ(force[0], 0);
    EXPECT_EQ(force[4], 0);
    const VecX q = (VecX(6) << 0, 1, 0, 0, 0, 0).finished();
    EXPECT_DOUBLE_EQ(system->energies(0, q, v).kinetic,
                     0.5 * (2 * 0.09 + omega.dot(Vec3(inertia.cwiseProduct(omega))) + 3 * 0.16));
}

// Rows on a model whose places in q and v differ: a driven velocity row, a spring that feels attitude and slider, a brake.
TEST(LagrangianSystem, VelocityRowsSpringsAndFrictionFollowTheJoints) {
    LagrangianModel model = body_with_slider();
    model.joints = 1;
    model.joint_names = {"rail"};
    model.joint_value = [](double, const VecX& q, VecX& g) { g[0] = q[0]; };
    model.joint_jacobian = [](double, const VecX&, MatX& G) { G(0, 0) = 1; };
    model.joint_bias = [](double, const VecX&, const VecX&, VecX&) {};
    model.velocity_rows = 1;
    model.velocity_names = {"drive"};
    model.velocity_jacobian = [](double, const VecX& q, MatX& G) {
        G(0, 1) = 1;
        G(0, 4) = q[5];
    };
    model.velocity_target = [](double t, VecX& w) { w[0] = std::sin(t); };
    model.velocity_bias = [](double, const VecX&, const VecX& v, VecX& c) { c[0] = v[4] * v[4]; };
    LagrangianModel::Spring spring;  // phi = s (R e_x)_z
    spring.name = "tie";
    spring.stiffness = 30;
    spring.damping = 4;
    const auto height = [](const VecX& q) { return 2 * (q[2] * q[4] - q[1] * q[3]); };
    spring.value = [=](const VecX& q) { return q[5] * height(q); };
    spring.gradient = [=](const VecX& q, VecX& G) {
        const Vec3 up = read_quaternion(q.data() + 1).conjugate() * Vec3::UnitZ();
        G.segment<3>(1) = q[5] * Vec3::UnitX().cross(up);
        G[4] = height(q);
    };
    model.springs.push_back(spring);
    model.friction.push_back({"brake", 7, [](const VecX&, VecX& G) { G[4] = 1; }, {}});
    const auto system = make_lagrangian_system(model);

    VecX q = (VecX(6) << 0.3, 1, 0, 0, 0, -2).finished();
    system->advance(q, (VecX(5) << 0, 0.4, 0.9, -0.2, 0).finished());
    const VecX v = (VecX(5) << 0.3, 1.2, -0.7, 2.1, 0.4).finished();
    ContactFinder finder;
    BilateralRows rows;
    ContactRows contacts;
    system->rows(0.5, q, finder, rows, contacts);
    system->bias(0.5, q, v, finder, rows, contacts);
    ASSERT_EQ(rows.size(), 4);
    EXPECT_EQ(rows.kind, (std::vector{RowKind::holonomic, RowKind::velocity, RowKind::compliant, RowKind::friction}));
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(system->joint_name(rows.id[i]), (std::array{"rail", "drive", "tie", "brake"}[i]));
    EXPECT_EQ(rows.target[1], std::sin(0.5));
    EXPECT_EQ(rows.bias[1], 0.4 * 0.4);
    EXPECT_EQ(rows.stiffness[2], 30);
    EXPECT_EQ(rows.damping[2], 4);
    EXPECT_EQ(rows.force_lower[3], -7);
    EXPECT_EQ(rows.force_upper[3], 7);
    EXPECT_EQ(rows.force_upper[1], infinity);
    const double phi = rows.value[2];
    EXPECT_DOUBLE_EQ(system->energies(0, q, v).elastic, 15 * phi * phi);
    const double s = 1e-6;
    VecX ahead = q, back = q;
    system->advance(ahead, s * v);
    system->advance(back, -s * v);
    const MatX G = rows.jacobian.dense(system->nodes());
    EXPECT_NEAR((G * v)[2], (spring.value(ahead) - spring.value(back)) / (2 * s), 1e-8);
}

// Slopes of a model that gives none, in a block between plain coordinates: gravity on an arm of the body, a slider whose spring
// grows with the cube, drag along z that grows with the speed and with the height, at places and speeds far from 1.
TEST(LagrangianSystem, SlopesNotGivenAreDifferencesOfTheForces) {
    LagrangianModel model = body_with_slider();
    const Vec3 arm(0.2, -0.1, 0.3);
    const auto down = [](const VecX& q) { return Vec3(read_quaternion(q.data() + 1).conjugate() * Vec3(0, 0, -9.81)); };
    model.potential_force = [=](const VecX& q, VecX& k) {
        k.segment<3>(1) = arm.cross(down(q));
        k[4] = -q[5] * q[5] * q[5];
    };
    model.applied = [](double t, const VecX& q, const VecX& v, VecX& k) {
        k[0] = -0.3 * (1 + q[0] * q[0]) * v[0] * std::abs(v[0]) + t;
        k[2] = -0.7 * v[1];
    };
    const auto system = make_lagrangian_system(model);
    for (const double far : {0.5, 40.0}) {
        VecX q = (VecX(6) << far, 1, 0, 0, 0, -2 * far).finished();
        system->advance(q, (VecX(5) << 0, 0.4, 0.9, -0.2, 0).finished());
        const VecX v = far * (VecX(5) << -0.3, 1.2, -0.7, 2.1, 0.4).finished();
        MatX K = MatX::Zero(5, 5), C = K;
        K.block<3, 3>(1, 1) = -hat(arm) * hat(down(q));
        K(4, 4) = 3 * q[5] * q[5];
        K(0, 0) = 0.6 * q[0] * v[0] * std::abs(v[0]);
        C(0, 0) = 0.6 * (1 + q[0] * q[0]) * std::abs(v[0]);
        C(2, 1) = 0.7;
        BlockMatrix stiffness, damping;
        ASSERT_TRUE(system->slopes(0.5, q, v, stiffness, damping));
        EXPECT_LT((stiffness.dense() - K).cwiseAbs().maxCoeff(), 1e-9 * K.norm());
        EXPECT_LT((damping.dense() - C).cwiseAbs().maxCoeff(), 1e-9 * C.norm());
        const VecX before = q;
        const long allocated = testing::allocations;
        system->slopes(0.5, q, v, stiffness, damping);
        EXPECT_EQ(testing::allocations, allocated);
        EXPECT_EQ(q, before);
    }
}

// Forces that do not depend on the state have no slopes, exactly: rounding must not make any.
TEST(LagrangianSystem, ConstantForcesHaveNoSlopes) {
    LagrangianModel model = body_with_slider();
    model.potential_force = [](const VecX&, VecX& k) { k[0] = -9.81 / 3; };
    model.applied = [](double t, const VecX&, const VecX&, VecX& k) { k[4] = 1e6 * std::sin(t); };
    const auto system = make_lagrangian_system(model);
    BlockMatrix K, C;
    EXPECT_FALSE(system->slopes(0.3, (VecX(6) << 7, 1, 0, 0, 0, -2).finished(), VecX::Ones(5), K, C));
    EXPECT_FALSE(make_lagrangian_system(body_with_slider())->slopes(0, VecX::Ones(6), VecX::Ones(5), K, C));
}

}  // namespace
}  // namespace stickslip
