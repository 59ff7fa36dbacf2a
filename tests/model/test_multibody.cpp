// Joints, springs and contacts of rigid bodies against finite differences of their own values, at random poses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

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
    std::vector<std::pair<std::uint32_t, int>> coordinates;  // joints and their coordinates that gears may couple
    for (const JointKind& entry : joint_table()) {
        if (planar && entry.rows_in_plane == 0) continue;
        for (const auto& [a, b] : {std::pair{0, 1}, std::pair{-1, 0}, std::pair{1, 2}, std::pair{1, -1}}) {
            Joint joint;
            joint.kind = &entry;
            joint.id = static_cast<std::uint32_t>(model.joints.size());
            if (entry.is_gear()) {
                for (int k = 0; k < 2; ++k)
                    std::tie(joint.of[k], joint.of_coordinate[k]) =
                        coordinates[random.below(static_cast<int>(coordinates.size()))];
                joint.ratio = random.normal();
                model.joints.push_back(joint);
                continue;
            }
            if (entry.tie == JointKind::Tie::own_slide_to_angle) {
                joint.of = {joint.id, joint.id};
                joint.of_coordinate = {1, 0};
                joint.ratio = random.normal();
            }
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
                       (entry.axes == JointKind::Axes::slide ? slide : m);
            };
            joint.axes_a = axes();
            joint.axes_b = axes();
            joint.length = random.uniform(0.2, 2);
            if (entry.is_curve()) {
                // a curve that passes near the point of b, where its foot is unique
                const auto pose_of = [&](int body) { return body < 0 ? Pose{} : model.bodies[body].pose; };
                const Pose at_a = pose_of(a);
                const Vec3 p = at_a.attitude.conjugate() * (pose_of(b) * joint.point_b - at_a.position);
                const Vec3 along = flat(random_vector(random, 1)).normalized();
                std::vector<Vec3> points;
                for (int k = -3; k <= 3; ++k)
                    points.push_back(p + 0.7 * (k + 0.5) * along + flat(random_vector(random, 0.05)));
                joint.curve = std::make_shared<const Curve>(points, false, planar ? normal : Vec3(Vec3::Zero()));
                joint.offset[0] = joint.curve->nearest(p);
            }
            for (int c = 0; c < static_cast<int>(entry.coordinates.size()); ++c) {
                coordinates.emplace_back(joint.id, c);
                joint.offset[c] = random.uniform(-9, 9);
                Drive drive;
                drive.coordinate = c;
                drive.lower = -1;
                drive.upper = 2;
                drive.motor = Motor{true, TimeFunction::constant(0.3), 0.1, 5};
                drive.friction = TimeFunction::constant(2);
                drive.stiffness = 3;
                joint.drives.push_back(drive);
            }
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
        Bushing bushing;
        bushing.id = static_cast<std::uint32_t>(1 + model.springs.size());
        bushing.a = a;
        bushing.b = b;
        bushing.point_a = flat(random_vector(random, 0.5));
        bushing.point_b = flat(random_vector(random, 0.5));
        if (!planar) bushing.axes_a = random_rotation(random);
        if (!planar) bushing.axes_b = random_rotation(random);
        bushing.stiffness.fill(5);
        model.bushings.push_back(bushing);
    }
    model.drags.push_back({"drag", 0, random.uniform(0, 1), random.uniform(0, 1), random.uniform(0, 1)});
    model.collision.colliders = {{0, -1, {HalfSpace{Vec3::UnitZ(), -1.2}, {}}},
                                 {1, 0, {Box{Vec3(0.3, 0.4, 0.5)}, {}}},
                                 {2, 1, {Sphere{0.6}, {Vec3(planar ? 0 : 0.1, 0, 0.05), Quat::Identity()}}}};
    model.material = {0, 0, 0};
    model.materials = 1;
    model.surface = {{0.4, 0.2}};
    return model;
}

class RandomBodies : public ::testing::TestWithParam<bool> {};

// d/ds of x(q (+) s v) by central differences of fourth order: the angle of an axis near the pointer bends sharply.
template <class F>
VecX along(const System& system, const VecX& q, const VecX& v, F&& value) {
    const double s = 5e-5;
    const auto at = [&](double way) {
        VecX moved = q;
        system.advance(moved, VecX(way * v));
        return VecX(value(moved));
    };
    return (8 * (at(s) - at(-s)) - (at(2 * s) - at(-2 * s))) / (12 * s);
}

TEST_P(RandomBodies, JointRowsAreGradientsAndCurvatureTheirRate) {
    Random random(GetParam() ? 7 : 3);
    for (int trial = 0; trial < 1000; ++trial) {
        const MultibodySystem system(random_model(random, GetParam()));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        const VecX v = random.vector(system.nv());
        ContactFinder finder;
        BilateralRows joints;
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
        const VecX rate_fd = along(system, x.q, v, value), bias_fd = along(system, x.q, v, rate);
        const VecX exact = rate(x.q);
        system.bias(0, x.q, v, finder, joints, contacts);
        for (int i = 0; i < joints.size(); ++i) {
            EXPECT_NEAR(exact[i], rate_fd[i], 1e-7 * (1 + std::abs(exact[i]))) << "row " << i;
            EXPECT_NEAR(joints.bias[i], bias_fd[i], 1e-6 * (1 + std::abs(joints.bias[i]))) << "row " << i;
        }
    }
}

// Who asks for normals alone gets the first line of each contact, and all else as it was.
TEST_P(RandomBodies, NormalRowsAreTheFirstRowsOfContacts) {
    Random random(GetParam() ? 11 : 5);
    for (int trial = 0, seen = 0; trial < 50 || seen <= 50; ++trial) {
        ASSERT_LT(trial, 500);
        const MultibodySystem system(random_model(random, GetParam()));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        ContactFinder finder;
        finder.margin = 1;
        BilateralRows joints, same_joints;
        ContactRows all, normals;
        system.rows(0, x.q, finder, joints, all);
        system.normal_rows_on({}, 0, x.q, finder, same_joints, normals);
        ASSERT_EQ(normals.id, all.id);
        EXPECT_EQ(normals.gap, all.gap);
        EXPECT_EQ(same_joints.value, joints.value);
        for (int i = 0; i < all.size(); ++i, ++seen) {
            const auto blocks = all.jacobian.blocks_of(i), own = normals.jacobian.blocks_of(i);
            ASSERT_EQ(normals.jacobian.dim(i), 1);
            ASSERT_EQ(own.size(), blocks.size());
            for (std::size_t b = 0; b < blocks.size(); ++b) {
                EXPECT_EQ(own[b].node, blocks[b].node);
                for (int k = 0; k < system.nodes().dof(blocks[b].node); ++k)
                    EXPECT_EQ(normals.jacobian.values[own[b].offset + k], all.jacobian.values[blocks[b].offset + k]);
            }
        }
    }
}

// Spatial bodies whose velocities are both in body axes: their centres accelerate by w x v while the velocities stay.
class BodiesInTheirOwnAxes final : public Bodies {
public:
    explicit BodiesInTheirOwnAxes(const RigidBodies& data) : world_(make_rigid_bodies(data)) {
        freedom_ = world_->freedom();
        nodes_ = world_->nodes();
        nq_ = world_->nq();
        for (int b = 0; b < world_->size(); ++b) node_.push_back(world_->node(b));
    }
    // The same motion in the coordinates of spatial bodies.
    VecX in_world(const VecX& q, const VecX& v) const {
        VecX u = v;
        for (int b = 0; b < size(); ++b)
            if (node(b) >= 0) u.segment<3>(6 * node(b)) = pose(b, q).attitude * Vec3(v.segment<3>(6 * node(b)));
        return u;
    }

    bool present(int body) const override { return world_->present(body); }
    Pose pose(int body, const VecX& q) const override { return world_->pose(body, q); }
    Twist twist(int body, const VecX& q, const VecX& v) const override {
        return world_->twist(body, q, in_world(q, v));
    }
    bool has_bias() const override { return true; }
    Acceleration bias(int body, const VecX& q, const VecX& v) const override {
        const Twist motion = twist(body, q, v);
        return {motion.angular.cross(motion.linear), Vec3::Zero()};
    }
    double greatest_speed(int body, const VecX& v, double radius) const override {
        return world_->greatest_speed(body, v, radius);
    }
    void add_rows(int body, const VecX& q, std::span<const Wrench> wrench, BlockRows& rows) const override {
        if (node(body) < 0) return;
        auto block = rows.add_block(node(body), 6);
        const Mat3 R = pose(body, q).attitude.toRotationMatrix();
        for (int i = 0; i < std::ssize(wrench); ++i)
            block.row(i) << (R.transpose() * wrench[i].f).transpose(), (R.transpose() * wrench[i].tau).transpose();
    }
    // Nothing below is asked for by connections.
    void add_wrench(int, const VecX&, const Wrench&, VecX&) const override {}
    void add_wrench_slope(int, const VecX&, const Vec3&, const Wrench&, BlockMatrix&) const override {}
    void add_resistance(int, const Resistance&, const VecX&, VecX&) const override {}
    void add_resistance_slope(int, const Resistance&, const VecX&, BlockMatrix&) const override {}
    void mass(BlockMatrix& M) const override { world_->mass(M); }
    void add_gyroscopic(double, const VecX&, BlockMatrix&) const override {}
    void set_weight(const Vec3&, VecX&) const override {}
    double kinetic_energy(const VecX& v) const override { return world_->kinetic_energy(v); }
    double potential_energy(const Vec3&, const VecX&) const override { return 0; }
    void advance(VecX&, const VecX&) const override {}
    void chart_rate(const VecX&, const VecX&, VecX&) const override {}
    void add_names(std::vector<std::string>& names) const override { world_->add_names(names); }
    void place(int, const Pose&, const Vec3&, const Vec3&, State&) const override {}

private:
    std::unique_ptr<Bodies> world_;
};

TEST_P(RandomBodies, RowsTurnedToAnotherPlaceAreThoseFoundThere) {
    Random random(GetParam() ? 31 : 29);
    for (int trial = 0; trial < 100; ++trial) {
        const MultibodySystem system(random_model(random, GetParam()));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        const VecX v = random.vector(system.nv());
        VecX q = x.q;
        system.advance(q, 0.1 * v);
        BilateralRows here, there, turned, scratch;
        system.joint_rows(0.3, x.q, v, here);
        system.joint_rows(0.4, q, v, there);
        turned = here;
        system.turn_joint_rows(0.4, q, 0 * v, turned, scratch);
        EXPECT_EQ(turned.jacobian.values, there.jacobian.values);
        EXPECT_EQ(turned.jacobian.row, there.jacobian.row);
        EXPECT_EQ(turned.jacobian.first, there.jacobian.first);
        EXPECT_EQ(turned.bias, here.bias);
        EXPECT_EQ(turned.value, here.value);
        EXPECT_EQ(turned.target, here.target);
        double error = 0;  // angles count as they are
        for (int i = 0; i < there.size(); ++i)
            if (there.kind[i] == RowKind::holonomic) error = std::max(error, std::abs(there.value[i]));
        EXPECT_NEAR(system.joint_error(0.4, q, v, 1, scratch), error, 1e-14);  // gears are summed in another order
    }
}

// With u = T(q) v the velocities in W, the rows are J T and their bias is that in W plus J dT/dt v.
TEST(Connections, DoNotKnowTheCoordinatesOfTheirBodies) {
    Random random(23);
    for (int trial = 0; trial < 100; ++trial) {
        const MultibodySystem system(random_model(random, false));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        MultibodyModel model = system.model();
        const BodiesInTheirOwnAxes bodies(model);
        const Connections connections(model, bodies);
        const VecX v = random.vector(system.nv()), u = bodies.in_world(x.q, v);
        VecX u_rate = VecX::Zero(system.nv());
        for (int b = 0; b < bodies.size(); ++b)
            if (bodies.node(b) >= 0) u_rate.segment<3>(6 * bodies.node(b)) = bodies.bias(b, x.q, v).linear;

        ContactFinder finder;
        BilateralRows in_world, own;
        ContactRows contacts, limits;
        system.rows(0, x.q, finder, in_world, contacts);
        system.bias(0, x.q, u, finder, in_world, contacts);
        connections.rows(0, x.q, own);
        connections.bias(x.q, v, own);
        connections.limit_rows(x.q, limits);
        ASSERT_EQ(own.size(), in_world.size());
        VecX speed_world(own.size()), speed_own(own.size()), rate(own.size());
        in_world.jacobian.product(system.nodes(), u, speed_world);
        own.jacobian.product(system.nodes(), v, speed_own);
        in_world.jacobian.product(system.nodes(), u_rate, rate);
        for (int i = 0; i < own.size(); ++i) {
            EXPECT_EQ(own.value[i], in_world.value[i]);
            EXPECT_NEAR(speed_own[i], speed_world[i], 1e-12 * (1 + std::abs(speed_world[i]))) << i;
            EXPECT_NEAR(own.bias[i], in_world.bias[i] + rate[i],
                        1e-11 * (1 + std::abs(rate[i]) + std::abs(in_world.bias[i])))
                << i;
        }
        for (int i = 0; i < limits.size(); ++i) {
            const auto place = std::lower_bound(contacts.id.begin(), contacts.id.end(), limits.id[i]);
            ASSERT_TRUE(place != contacts.id.end() && *place == limits.id[i]);
            EXPECT_EQ(limits.gap[i], contacts.gap[place - contacts.id.begin()]);
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
        BilateralRows joints;
        ContactRows contacts, displaced;
        system.rows(0, x.q, finder, joints, contacts);
        finder.commit_frames();  // frames are transported from here, as between two steps
        VecX u(contacts.jacobian.rows());
        contacts.jacobian.product(system.nodes(), v, u);
        system.rows(0, x.q, finder, joints, contacts);
        system.bias(0, x.q, v, finder, joints, contacts);
        const double s = 2e-5;
        std::array<std::vector<double>, 4> gap, speed;
        bool same = true;
        for (int side = 0; side < 4; ++side) {
            VecX q = x.q;
            system.advance(q, VecX(std::array{-2 * s, -s, s, 2 * s}[side] * v));
            BilateralRows unused;
            system.rows(0, q, finder, unused, displaced);
            same = same && displaced.id == contacts.id;  // features that appear or vanish have no derivative here
            gap[side] = displaced.gap;
            VecX w(displaced.jacobian.rows());
            displaced.jacobian.product(system.nodes(), v, w);
            speed[side].assign(w.data(), w.data() + w.size());
        }
        for (int i = 0; i < contacts.size(); ++i)
            EXPECT_EQ(system.gap(contacts.id[i], x.q, finder), contacts.gap[i]) << "one gap alone";
        if (!same) continue;
        const auto slope = [&](const std::array<std::vector<double>, 4>& y, int i) {
            return (8 * (y[2][i] - y[1][i]) - (y[3][i] - y[0][i])) / (12 * s);
        };
        for (int i = 0; i < contacts.size(); ++i) {
            ++seen;
            const int row = contacts.jacobian.row[i];
            EXPECT_NEAR(u[row], slope(gap, i), 1e-7 * (1 + std::abs(u[row])));
            for (int k = row; k < contacts.jacobian.row[i + 1]; ++k)
                EXPECT_NEAR(contacts.bias[k], slope(speed, k), 2e-6 * (1 + std::abs(contacts.bias[k])))
                    << "component " << k - row;
        }
    }
    EXPECT_GT(seen, 500);
}

TEST_P(RandomBodies, DragSlopesAreItsDerivative) {
    Random random(41);
    for (int trial = 0; trial < 50; ++trial) {
        const MultibodySystem system(random_model(random, GetParam()));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        const VecX v = random.vector(system.nv()), dv = random.vector(system.nv());
        BlockMatrix K, C;
        ASSERT_TRUE(system.slopes(0, x.q, v, K, C));
        Forces forward, backward;
        system.forces(0, x.q, VecX(v + 1e-6 * dv), forward);
        system.forces(0, x.q, VecX(v - 1e-6 * dv), backward);
        const VecX fd = (forward.applied - backward.applied) / 2e-6;
        EXPECT_LT((fd + C.dense() * dv).norm(), 1e-8 * (1 + fd.norm()));
        EXPECT_LE(forward.applied.dot(v + 1e-6 * dv), 0);  // drag takes energy
    }
}

// Drag slopes are velocity's, loads turn with the body they act on; both at any state, with loads that are over and bodies that
// are fixed beside them.
TEST_P(RandomBodies, ForceSlopesAreDerivatives) {
    Random random(47);
    for (int trial = 0; trial < 50; ++trial) {
        MultibodyModel model = random_model(random, GetParam());
        model.drags.resize(static_cast<std::size_t>(trial % 2) * model.drags.size());
        for (const int body : {0, 1, 1, 2}) {
            Load load;
            load.body = body;
            load.point = random_vector(random, trial % 3 == 0 ? 0 : 1);
            for (int i = 0; i < 3; ++i) {
                const double size = random.normal();
                load.force[i] = TimeFunction::of([size](double t) { return size * std::cos(t); });
                load.torque[i] = TimeFunction::constant(random.normal());
            }
            load.from = 0.5;
            load.until = 1.5;
            model.loads.push_back(load);
        }
        const MultibodySystem system(model);
        State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        system.advance(x.q, VecX(random.vector(system.nv())));
        const VecX v = random.vector(system.nv()), d = random.vector(system.nv());
        const double s = 1e-6;
        for (const double t : {0.2, 0.7, 1.5}) {
            VecX ahead = x.q, back = x.q;
            system.advance(ahead, VecX(s * d));
            system.advance(back, VecX(-s * d));
            Forces k1, k0;
            const auto rate = [&] { return VecX((k1.potential + k1.applied - k0.potential - k0.applied) / (2 * s)); };
            system.forces(t, ahead, v, k1);
            system.forces(t, back, v, k0);
            const VecX by_position = rate();
            system.forces(t, x.q, VecX(v + s * d), k1);
            system.forces(t, x.q, VecX(v - s * d), k0);
            const VecX by_velocity = rate();
            BlockMatrix K, C;
            if (!system.slopes(t, x.q, v, K, C)) {
                EXPECT_LT(by_position.norm() + by_velocity.norm(), 1e-8);
                continue;
            }
            EXPECT_LT((by_position + K.dense() * d).norm(), 1e-7 * (1 + by_position.norm()));
            EXPECT_LT((by_velocity + C.dense() * d).norm(), 1e-7 * (1 + by_velocity.norm()));
        }
    }
}

// Springs, bushings and torsion springs: -dU/dq along v is the sum of their forces -k value G v.
TEST_P(RandomBodies, ElasticEnergyFallsByTheWorkOfTheSprings) {
    Random random(43);
    for (int trial = 0; trial < 50; ++trial) {
        const MultibodySystem system(random_model(random, GetParam()));
        const State x = system.initial_state(std::vector<Vec3>(3, Vec3::Zero()), std::vector<Vec3>(3, Vec3::Zero()));
        const VecX v = random.vector(system.nv());
        ContactFinder finder;
        BilateralRows joints;
        ContactRows contacts;
        system.rows(0, x.q, finder, joints, contacts);
        VecX u(joints.size());
        joints.jacobian.product(system.nodes(), v, u);
        double power = 0;
        for (int i = 0; i < joints.size(); ++i)
            if (joints.kind[i] == RowKind::compliant) power += joints.stiffness[i] * joints.value[i] * u[i];
        const VecX rate =
            along(system, x.q, v, [&](const VecX& q) { return VecX::Constant(1, system.energies(0, q, v).elastic); });
        EXPECT_NEAR(rate[0], power, 1e-6 * (1 + std::abs(power)));
    }
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

// A hinge turned round and round: the angle in q goes on counting, whatever the attitude says.
TEST(Multibody, JointAnglesCountTurns) {
    MultibodyModel model;
    RigidBody body;
    body.mass = 1;
    body.inertia = Mat3::Identity();
    model.bodies.push_back(body);
    Joint hinge;
    hinge.kind = &joint_kind("revolute");
    hinge.b = 0;
    hinge.offset[0] = 0.5;
    Drive drive;
    drive.lower = -100;
    hinge.drives.push_back(drive);
    model.joints.push_back(hinge);
    const MultibodySystem system(model);
    State x = system.initial_state({Vec3::Zero()}, {Vec3::Zero()});
    ASSERT_EQ(system.nq(), 8);
    VecX turn = VecX::Zero(6);
    turn[5] = 0.3;
    for (int i = 0; i < 100; ++i) system.advance(x.q, turn);
    EXPECT_NEAR(x.q[7], 30.5, 1e-12);
    EXPECT_NEAR(system.coordinate(0, 0, x.q), 30.5, 1e-12);
    turn[5] = -0.7;
    for (int i = 0; i < 100; ++i) system.advance(x.q, turn);
    EXPECT_NEAR(x.q[7], -39.5, 1e-12);
}

// Rows of points may open by half of what the smaller body reaches, rows of axes by 0.5 rad; both keep their meaning when
// everything is made larger.
TEST(Multibody, JointsMayOpenByHalfTheReachOfTheSmallerBody) {
    for (const double scale : {1.0, 1e-3, 40.0}) {
        MultibodyModel model;
        RigidBody arm;
        arm.mass = 3;
        arm.inertia = 3 * 0.04 * scale * scale * Mat3::Identity();  // radius of gyration 0.2
        model.bodies = {arm, arm};
        model.bodies[1].radius = 0.7 * scale;
        const auto add = [&](const char* kind, int a, int b, double arm_a, double arm_b) -> Joint& {
            Joint joint;
            joint.kind = &joint_kind(kind);
            joint.id = static_cast<std::uint32_t>(model.joints.size());
            joint.a = a;
            joint.b = b;
            joint.point_a = Vec3(arm_a * scale, 0, 0);
            joint.point_b = Vec3(0, arm_b * scale, 0);
            return model.joints.emplace_back(joint);
        };
        add("revolute", -1, 0, 9,
            0.1);  // the ground has no size, and an arm below the radius of gyration no say
        add("ball", 0, 1, 0.1, 0.5);
        const MultibodySystem system(model);
        const State x = system.initial_state(std::vector<Vec3>(2, Vec3::Zero()), std::vector<Vec3>(2, Vec3::Zero()));
        ContactFinder finder;
        BilateralRows joints;
        ContactRows contacts;
        system.rows(0, x.q, finder, joints, contacts);
        ASSERT_EQ(joints.id.size(), 2u);
        int points = 0, axes = 0;
        for (int i = 0; i < 5; ++i) {
            const double limit = system.opening_limit(joints.id[0], i);
            points += std::abs(limit - 0.1 * scale) < 1e-15 * scale ? 1 : 0;
            axes += limit == 0.5 ? 1 : 0;
        }
        EXPECT_EQ(points, 3);
        EXPECT_EQ(axes, 2);
        EXPECT_NEAR(system.opening_limit(joints.id[1], 2), 0.1 * scale, 1e-15 * scale);

        // A weight on a long rod may come away by more than its own size.
        add("distance", 1, 0, 0, 0).length = 6 * scale;
        const MultibodySystem on_rod(model);
        EXPECT_NEAR(on_rod.opening_limit(2, 0), 3 * scale, 1e-15 * scale);
    }
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
