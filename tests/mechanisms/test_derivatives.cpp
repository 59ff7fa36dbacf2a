// Every mechanism of the library: all derivatives it gives, against finite differences, at random points.
#include <gtest/gtest.h>

#include <cmath>

#include "collision/finder.hpp"
#include "stickslip/mechanism.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

class EveryMechanism : public ::testing::TestWithParam<MechanismEntry> {};

TEST_P(EveryMechanism, DerivativesAreThoseOfItsFunctions) {
    testing::Random random(5);
    const Mechanism mechanism = GetParam().make({});
    const LagrangianModel& model = mechanism.model;
    const auto system = make_lagrangian_system(model);
    const double s = 1e-6;
    const auto moved = [&](const VecX& q, const VecX& d) {
        VecX x = q;
        system->advance(x, d);
        return x;
    };
    for (int trial = 0; trial < 100; ++trial) {
        const VecX q = moved(mechanism.state.q, VecX(0.3 * random.vector(model.nv)));
        const VecX v = random.vector(model.nv);
        const double t = random.uniform(0, 5);
        const VecX ahead = moved(q, VecX(s * v)), back = moved(q, VecX(-s * v));

        if (model.potential) {
            VecX k = VecX::Zero(model.nv);
            model.potential_force(q, k);
            const double rate = (model.potential(ahead) - model.potential(back)) / (2 * s);
            EXPECT_NEAR(rate, -k.dot(v), 1e-6 * (1 + std::abs(rate)));
        }
        if (model.mass) {
            MatX M = MatX::Zero(model.nv, model.nv);
            model.mass(q, M);
            EXPECT_LT((M - M.transpose()).cwiseAbs().maxCoeff(), 1e-12);
            EXPECT_GT(v.dot(M * v), 0);
            ASSERT_TRUE(model.coriolis) << "M(q) needs its Coriolis forces";
            // c = -dM/dt v + d(v'Mv/2)/dq
            MatX M1 = MatX::Zero(model.nv, model.nv), M0 = M1;
            model.mass(ahead, M1);
            model.mass(back, M0);
            VecX expected = -(M1 - M0) * v / (2 * s), coriolis = VecX::Zero(model.nv);
            for (int j = 0; j < model.nv; ++j) {
                const VecX d = s * VecX::Unit(model.nv, j);
                M1.setZero();
                M0.setZero();
                model.mass(moved(q, d), M1);
                model.mass(moved(q, VecX(-d)), M0);
                expected[j] += v.dot((M1 - M0) * v) / (4 * s);
            }
            model.coriolis(q, v, coriolis);
            EXPECT_LT((coriolis - expected).norm(), 1e-7 * (1 + expected.norm()));
        }
        if (model.joints > 0) {
            VecX g1 = VecX::Zero(model.joints), g0 = g1, bias = g1;
            MatX G = MatX::Zero(model.joints, model.nv), G1 = G, G0 = G;
            model.joint_value(t, ahead, g1);
            model.joint_value(t, back, g0);
            model.joint_jacobian(t, q, G);
            model.joint_jacobian(t, ahead, G1);
            model.joint_jacobian(t, back, G0);
            model.joint_bias(t, q, v, bias);
            EXPECT_LT((G * v - (g1 - g0) / (2 * s)).norm(), 1e-7 * (1 + (G * v).norm()));
            EXPECT_LT((bias - (G1 - G0) * v / (2 * s)).norm(), 1e-6 * (1 + bias.norm()));
        }
        if (model.velocity_rows > 0) {
            MatX G1 = MatX::Zero(model.velocity_rows, model.nv), G0 = G1;
            VecX bias = VecX::Zero(model.velocity_rows);
            model.velocity_jacobian(t, ahead, G1);
            model.velocity_jacobian(t, back, G0);
            model.velocity_bias(t, q, v, bias);
            EXPECT_LT((bias - (G1 - G0) * v / (2 * s)).norm(), 1e-6 * (1 + bias.norm()));
        }
        for (const LagrangianModel::Spring& spring : model.springs) {
            VecX G = VecX::Zero(model.nv), G1 = G, G0 = G;
            spring.gradient(q, G);
            spring.gradient(ahead, G1);
            spring.gradient(back, G0);
            const double rate = (spring.value(ahead) - spring.value(back)) / (2 * s);
            EXPECT_NEAR(rate, G.dot(v), 1e-7 * (1 + std::abs(rate)));
            const double turning = (G1 - G0).dot(v) / (2 * s);
            EXPECT_NEAR(turning, spring.bias ? spring.bias(q, v) : 0.0, 1e-6 * (1 + std::abs(turning)));
        }
        for (const LagrangianModel::DryFriction& pad : model.friction) {
            VecX G1 = VecX::Zero(model.nv), G0 = G1;
            pad.row(ahead, G1);
            pad.row(back, G0);
            const double turning = (G1 - G0).dot(v) / (2 * s);
            EXPECT_NEAR(turning, pad.bias ? pad.bias(q, v) : 0.0, 1e-6 * (1 + std::abs(turning)));
        }
        for (const LagrangianModel::Contact& contact : model.contacts) {
            const int dim = 1 + contact.tangents;
            MatX H = MatX::Zero(dim, model.nv), H1 = H, H0 = H;
            VecX bias = VecX::Zero(dim);
            contact.jacobian(q, H);
            contact.jacobian(ahead, H1);
            contact.jacobian(back, H0);
            contact.bias(q, v, bias);
            EXPECT_NEAR(H.row(0).dot(v), (contact.gap(ahead) - contact.gap(back)) / (2 * s),
                        1e-7 * (1 + std::abs(H.row(0).dot(v))));
            EXPECT_LT((bias - (H1 - H0) * v / (2 * s)).norm(), 1e-6 * (1 + bias.norm()));
        }
    }
}

// What a scheme gets, whether the mechanism gives slopes or not: the derivatives of the forces, and so do finite differences
// alone. No slopes are given only where the forces are constant.
TEST_P(EveryMechanism, SlopesAreTheDerivativesOfItsForces) {
    testing::Random random(8);
    const Mechanism mechanism = GetParam().make({});
    const auto system = make_lagrangian_system(mechanism.model);
    LagrangianModel bare = mechanism.model;
    bare.slopes = nullptr;
    const auto differenced = make_lagrangian_system(bare);
    const int nv = system->nv();
    const double s = 1e-6;
    for (int trial = 0; trial < 100; ++trial) {
        VecX q = mechanism.state.q;
        system->advance(q, VecX(random.vector(nv)));
        const VecX v = 5 * random.vector(nv), d = random.vector(nv);
        const double t = random.uniform(0, 5);
        VecX ahead = q, back = q;
        system->advance(ahead, VecX(s * d));
        system->advance(back, VecX(-s * d));
        Forces k1, k0;
        // Stiff potentials must not round the others away.
        const auto rate = [&] { return VecX(((k1.potential - k0.potential) + (k1.applied - k0.applied)) / (2 * s)); };
        system->forces(t, ahead, v, k1);
        system->forces(t, back, v, k0);
        const VecX by_position = rate();
        system->forces(t, q, v + s * d, k1);
        system->forces(t, q, v - s * d, k0);
        const VecX by_velocity = rate();
        BlockMatrix K, C, K_differenced, C_differenced;
        const bool any = system->slopes(t, q, v, K, C);
        ASSERT_EQ(any, differenced->slopes(t, q, v, K_differenced, C_differenced));
        if (!any) {
            EXPECT_EQ(by_position.norm() + by_velocity.norm(), 0);
            continue;
        }
        EXPECT_LT((by_position + K.dense() * d).norm(), 1e-7 * (1 + K.dense().norm()));
        EXPECT_LT((by_velocity + C.dense() * d).norm(), 1e-7 * (1 + C.dense().norm()));
        EXPECT_LT((K.dense() - K_differenced.dense()).norm(), 1e-8 * (1 + K.dense().norm()));
        EXPECT_LT((C.dense() - C_differenced.dense()).norm(), 1e-8 * (1 + C.dense().norm()));
    }
}

TEST_P(EveryMechanism, StartsOnItsConstraints) {
    const Mechanism mechanism = GetParam().make({});
    const LagrangianModel& model = mechanism.model;
    if (model.joints > 0) {
        VecX g = VecX::Zero(model.joints);
        model.joint_value(0, mechanism.state.q, g);
        EXPECT_LT(g.cwiseAbs().maxCoeff(), 1e-14);
    }
    if (model.velocity_rows > 0) {
        MatX G = MatX::Zero(model.velocity_rows, model.nv);
        VecX target = VecX::Zero(model.velocity_rows);
        model.velocity_jacobian(0, mechanism.state.q, G);
        if (model.velocity_target) model.velocity_target(0, target);
        EXPECT_LT((G * mechanism.state.v - target).norm(), 1e-14);
    }
    for (const LagrangianModel::Contact& contact : model.contacts) EXPECT_GE(contact.gap(mechanism.state.q), 0);
}

// The rows that a scheme sees are the model's own, in their order and with their names; springs are booked as elastic.
TEST_P(EveryMechanism, RowsAreThoseOfItsFunctions) {
    testing::Random random(6);
    const Mechanism mechanism = GetParam().make({});
    const LagrangianModel& model = mechanism.model;
    const auto system = make_lagrangian_system(model);
    VecX q = mechanism.state.q;
    system->advance(q, VecX(0.2 * random.vector(model.nv)));
    const VecX v = random.vector(model.nv);
    ContactFinder finder;
    BilateralRows joints;
    ContactRows contacts;
    system->rows(0.7, q, finder, joints, contacts);
    system->bias(0.7, q, v, finder, joints, contacts);
    const int others = model.joints + model.velocity_rows;
    const int springs = static_cast<int>(model.springs.size()), pads = static_cast<int>(model.friction.size());
    ASSERT_EQ(joints.size(), others + springs + pads);
    // Of contacts that meet at an edge, the one on this side.
    std::vector<std::string> expected, present;
    for (const LagrangianModel::Contact& contact : model.contacts) {
        const bool here = contact.edge < 0 || (system->edge_value(contact.edge, q) < 0 ? -1 : 1) == contact.side;
        if (here) expected.push_back(contact.name);
    }
    for (int i = 0; i < contacts.size(); ++i) present.push_back(system->contact_name(contacts.id[i]));
    ASSERT_EQ(present, expected);
    const MatX G = joints.jacobian.dense(system->nodes());
    if (model.velocity_rows > 0) {
        MatX rows = MatX::Zero(model.velocity_rows, model.nv);
        VecX bias = VecX::Zero(model.velocity_rows);
        model.velocity_jacobian(0.7, q, rows);
        model.velocity_bias(0.7, q, v, bias);
        EXPECT_EQ(G.middleRows(model.joints, model.velocity_rows), rows);
        for (int i = 0; i < model.velocity_rows; ++i) {
            EXPECT_EQ(joints.kind[model.joints + i], RowKind::velocity);
            EXPECT_EQ(joints.bias[model.joints + i], bias[i]);
        }
    }
    double elastic = 0;
    for (int i = 0; i < springs + pads; ++i) {
        const auto row = static_cast<std::size_t>(others + i);
        VecX gradient = VecX::Zero(model.nv);
        if (i < springs) {
            const LagrangianModel::Spring& spring = model.springs[i];
            spring.gradient(q, gradient);
            EXPECT_EQ(joints.kind[row], RowKind::compliant);
            EXPECT_EQ(joints.value[row], spring.value(q));
            EXPECT_EQ(joints.stiffness[row], spring.stiffness);
            EXPECT_EQ(joints.damping[row], spring.damping);
            elastic += spring.stiffness * spring.value(q) * spring.value(q) / 2;
            EXPECT_EQ(system->joint_name(joints.id[row]), spring.name);
        } else {
            const LagrangianModel::DryFriction& pad = model.friction[i - springs];
            pad.row(q, gradient);
            EXPECT_EQ(joints.kind[row], RowKind::friction);
            EXPECT_EQ(joints.force_upper[row], pad.force);
            EXPECT_EQ(joints.force_lower[row], -pad.force);
            EXPECT_EQ(system->joint_name(joints.id[row]), pad.name);
        }
        EXPECT_EQ(VecX(G.row(others + i)), gradient);
    }
    EXPECT_EQ(system->energies(0.7, q, v).elastic, elastic);
}

// Bodies to show move as the coordinates say: their velocity is the rate of their pose.
TEST_P(EveryMechanism, BodiesMoveWithTheCoordinates) {
    testing::Random random(7);
    const Mechanism mechanism = GetParam().make({});
    const auto system = make_lagrangian_system(mechanism.model);
    const double s = 1e-6;
    for (int b = 0; b < static_cast<int>(system->body_names().size()); ++b) {
        VecX q = mechanism.state.q;
        system->advance(q, VecX(0.2 * random.vector(system->nv())));
        const VecX v = random.vector(system->nv());
        VecX ahead = q, back = q;
        system->advance(ahead, VecX(s * v));
        system->advance(back, VecX(-s * v));
        const BodyState now = system->body_state(b, q, v), next = system->body_state(b, ahead, v),
                        before = system->body_state(b, back, v);
        EXPECT_LT((now.velocity - (next.pose.position - before.pose.position) / (2 * s)).norm(), 1e-7);
        const Eigen::AngleAxisd turn(next.pose.attitude * before.pose.attitude.conjugate());
        EXPECT_LT((now.angular_velocity - turn.angle() * turn.axis() / (2 * s)).norm(), 1e-7);
    }
}

TEST_P(EveryMechanism, RefusesParametersItDoesNotHave) {
    EXPECT_THROW(GetParam().make({{"nonsense", "1", {}}}), Error);
    EXPECT_THROW(GetParam().make({{"g", "abc", {}}}), Error);
    for (const FieldInfo& field : GetParam().parameters()) {
        if (field.type != "number") continue;
        EXPECT_THROW(GetParam().make({{field.name, "inf", {}}}), Error) << field.name;
        if (field.unit == "kg" || field.unit == "kg m^2") {
            for (const char* value : {"0", "-1"}) {
                EXPECT_THROW(GetParam().make({{field.name, value, {}}}), Error) << field.name << " " << value;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Library, EveryMechanism, ::testing::ValuesIn(mechanisms()), [](const auto& test) {
    std::string name = test.param.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace stickslip
