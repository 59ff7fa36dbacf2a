// Joints, springs and contacts of rigid bodies against finite differences of their own values, at random poses.
#include <gtest/gtest.h>

#include <cmath>

#include "math/so3.hpp"
#include "model/multibody.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Random;

Vec3 random_vector(Random& random, double size) {
    return size * Vec3(random.normal(), random.normal(), random.normal());
}

Mat3 random_rotation(Random& random) { return rotation_by(random_vector(random, 2)).toRotationMatrix(); }

// Three bodies (one of them fixed), every joint kind between moving ones and to the ground, springs, boxes and balls.
MultibodyModel random_model(Random& random, bool planar) {
    MultibodyModel model;
    model.gravity = Vec3(0.3, -0.2, -9.81);
    if (planar) model.plane = {0, 2};
    const Vec3 normal = Vec3::UnitY();
    for (int b = 0; b < 3; ++b) {
        RigidBody body;
        body.name = "body" + std::to_string(b);
        body.fixed = b == 2;
        body.mass = random.uniform(0.5, 3);
        const MatX root = random.matrix(3, 3);
        body.inertia = root * root.transpose() + Mat3::Identity();
        const Vec3 angle = planar ? Vec3(normal * random.normal()) : random_vector(random, 1);
        Vec3 at = random_vector(random, 1);
        if (planar) at -= normal * normal.dot(at);
        body.pose = {at, rotation_by(angle)};
        body.radius = 1;
        model.bodies.push_back(body);
    }
    const auto flat = [&](Vec3 x) { return planar ? Vec3(x - normal * normal.dot(x)) : x; };
    for (const JointEntry& entry : joint_table()) {
        for (const auto& [a, b] : {std::pair{0, 1}, std::pair{-1, 0}, std::pair{1, 2}, std::pair{1, -1}}) {
            Joint joint;
            joint.kind = entry.kind;
            joint.a = a;
            joint.b = b;
            joint.point_a = flat(random_vector(random, 0.5));
            joint.point_b = flat(random_vector(random, 0.5));
            // In a plane: z is the normal, except that y is for sliding joints (joints/pieces.hpp).
            const auto axes = [&]() -> Mat3 {
                if (!planar) return random_rotation(random);
                Mat3 m;
                m << 1, 0, 0, 0, 0, 1, 0, -1, 0;  // columns x, -z... turned about the normal below
                Mat3 slide = Mat3::Identity();
                return rotation_by(normal * random.normal()).toRotationMatrix() *
                       (entry.kind == JointKind::prismatic ? slide : m);
            };
            joint.axes_a = axes();
            joint.axes_b = axes();
            joint.length = random.uniform(0.2, 2);
            model.joints.push_back(joint);
        }
    }
    for (const auto& [a, b] : {std::pair{0, 1}, std::pair{-1, 1}}) {
        Spring spring;
        spring.a = a;
        spring.b = b;
        spring.point_a = flat(random_vector(random, 0.5));
        spring.point_b = flat(random_vector(random, 0.5));
        spring.stiffness = random.uniform(10, 100);
        spring.length = random.uniform(0, 1);
        model.springs.push_back(spring);
    }
    model.collision.colliders = {{0, -1, {HalfSpace{Vec3::UnitZ(), -1.2}, {}}},
                                 {1, 0, {Box{Vec3(0.3, 0.4, 0.5)}, {}}},
                                 {2, 1, {Sphere{0.6}, {Vec3(planar ? 0 : 0.1, 0, 0.05), Quat::Identity()}}}};
    model.material = {0, 0, 0};
    model.materials = 1;
    model.surface = {{0.4, 0.2}};
    return model;
}

class RandomBodies : public ::testing::TestWithParam<bool> {};

// d/ds of x(q (+) s v) by central differences.
template <class F>
VecX along(const System& system, const VecX& q, const VecX& v, F&& value) {
    const double s = 1e-5;
    VecX forward = q, backward = q;
    system.advance(forward, VecX(s * v));
    system.advance(backward, VecX(-s * v));
    return (value(forward) - value(backward)) / (2 * s);
}

TEST_P(RandomBodies, JointRowsAreGradientsAndCurvatureTheirRate) {
    Random random(GetParam() ? 7 : 3);
    for (int trial = 0; trial < 200; ++trial) {
        const MultibodySystem system(random_model(random, GetParam()));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        const VecX v = random.vector(system.nv());
        ContactFinder finder;
        JointRows joints;
        ContactRows contacts;
        const auto rows_at = [&](const VecX& q) { system.rows(0, q, finder, joints, contacts); };
        const auto value = [&](const VecX& q) {
            rows_at(q);
            return VecX(Eigen::Map<VecX>(joints.value.data(), joints.size()));
        };
        const auto rate = [&](const VecX& q) {
            rows_at(q);
            VecX u(joints.size());
            joints.jacobian.product(system.nodes(), v, u);
            return u;
        };
        const VecX rate_fd = along(system, x.q, v, value), curvature_fd = along(system, x.q, v, rate);
        const VecX exact = rate(x.q);
        system.curvature(0, x.q, v, finder, joints, contacts);
        for (int i = 0; i < joints.size(); ++i) {
            EXPECT_NEAR(exact[i], rate_fd[i], 1e-7 * (1 + std::abs(exact[i]))) << "row " << i;
            EXPECT_NEAR(joints.curvature[i], curvature_fd[i], 1e-6 * (1 + std::abs(joints.curvature[i])))
                << "row " << i;
        }
    }
}

TEST_P(RandomBodies, ContactNormalRowsAreGradientsAndCurvatureTheirRate) {
    Random random(GetParam() ? 17 : 13);
    int seen = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const MultibodySystem system(random_model(random, GetParam()));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        const VecX v = random.vector(system.nv());
        ContactFinder finder;
        finder.margin = 10;
        JointRows joints;
        ContactRows contacts, displaced;
        system.rows(0, x.q, finder, joints, contacts);
        finder.commit_frames();  // frames are transported from here, as between two steps
        VecX u(contacts.jacobian.rows());
        contacts.jacobian.product(system.nodes(), v, u);
        system.rows(0, x.q, finder, joints, contacts);
        system.curvature(0, x.q, v, finder, joints, contacts);
        const double s = 1e-5;
        std::array<std::vector<double>, 2> gap, speed;
        bool same = true;
        for (int side = 0; side < 2; ++side) {
            VecX q = x.q;
            system.advance(q, VecX((side ? s : -s) * v));
            JointRows unused;
            system.rows(0, q, finder, unused, displaced);
            same = same && displaced.id == contacts.id;  // features that appear or vanish have no derivative here
            gap[side] = displaced.gap;
            VecX w(displaced.jacobian.rows());
            displaced.jacobian.product(system.nodes(), v, w);
            speed[side].assign(w.data(), w.data() + w.size());
        }
        if (!same) continue;
        for (int i = 0; i < contacts.size(); ++i) {
            ++seen;
            const int row = contacts.jacobian.row[i];
            EXPECT_NEAR(u[row], (gap[1][i] - gap[0][i]) / (2 * s), 1e-7 * (1 + std::abs(u[row])));
            for (int k = row; k < contacts.jacobian.row[i + 1]; ++k)
                EXPECT_NEAR(contacts.curvature[k], (speed[1][k] - speed[0][k]) / (2 * s),
                            2e-6 * (1 + std::abs(contacts.curvature[k])))
                    << "component " << k - row;
        }
    }
    EXPECT_GT(seen, 500);
}

TEST_P(RandomBodies, PotentialForceIsMinusTheGradientOfThePotential) {
    Random random(23);
    for (int trial = 0; trial < 50; ++trial) {
        const MultibodySystem system(random_model(random, GetParam()));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        const VecX v = random.vector(system.nv());
        Forces k;
        system.forces(0, x.q, v, k);
        const VecX rate =
            along(system, x.q, v, [&](const VecX& q) { return VecX::Constant(1, system.energies(0, q, v).potential); });
        EXPECT_NEAR(rate[0], -k.potential.dot(v), 1e-6 * (1 + std::abs(rate[0])));
    }
}

TEST_P(RandomBodies, GyroscopicMatrixIsAntisymmetricAndGivesEulersEquations) {
    Random random(29);
    const MultibodySystem system(random_model(random, GetParam()));
    const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
    const VecX v = random.vector(system.nv());
    BlockMatrix F;
    F.shape_diagonal(system.nodes());
    system.add_gyroscopic(1, v, F);
    EXPECT_EQ((F.dense() + F.dense().transpose()).cwiseAbs().maxCoeff(), 0);
    if (GetParam()) return;
    const Vec3 omega = v.segment<3>(3);
    const Mat3 J = system.model().bodies[0].inertia;
    const VecX force = F.dense() * v;
    EXPECT_LT((force.segment<3>(3) + omega.cross(J * omega)).norm(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(InSpaceAndPlane, RandomBodies, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Plane" : "Space"; });

TEST(Multibody, TurningByManySmallAnglesKeepsTheQuaternionUnit) {
    Random random(31);
    const MultibodySystem system(random_model(random, false));
    State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
    for (int i = 0; i < 10000; ++i) system.advance(x.q, VecX(0.01 * random.vector(system.nv())));
    EXPECT_NEAR(x.q.segment<4>(3).norm(), 1, 1e-15);
}

TEST(TimeFunction, TablesHoldTheirEndsAndTellTheirCorners) {
    const auto steps = TimeFunction::table({{0, 1}, {1, 5}, {2, -1}}, true);
    EXPECT_EQ(steps(-1), 1);
    EXPECT_EQ(steps(0.99), 1);
    EXPECT_EQ(steps(1), 5);
    EXPECT_EQ(steps(7), -1);
    const auto lines = TimeFunction::table({{0, 1}, {1, 5}, {2, -1}}, false);
    EXPECT_DOUBLE_EQ(lines(0.5), 3);
    EXPECT_DOUBLE_EQ(lines(1.5), 2);
    EXPECT_EQ(lines.next_discontinuity(0), 1);
    EXPECT_EQ(lines.next_discontinuity(2), infinity);
}

}  // namespace
}  // namespace stickslip
