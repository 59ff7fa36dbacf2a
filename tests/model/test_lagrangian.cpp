// A Lagrangian system with a unit-quaternion block must be the rigid body that the multibody system is.
#include <gtest/gtest.h>

#include "collision/finder.hpp"
#include "math/so3.hpp"
#include "model/multibody.hpp"

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

}  // namespace
}  // namespace stickslip
