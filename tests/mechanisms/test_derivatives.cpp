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
        }
        if (model.joints > 0) {
            VecX g1 = VecX::Zero(model.joints), g0 = g1, curvature = g1;
            MatX G = MatX::Zero(model.joints, model.nv), G1 = G, G0 = G;
            model.joint_value(t, ahead, g1);
            model.joint_value(t, back, g0);
            model.joint_jacobian(t, q, G);
            model.joint_jacobian(t, ahead, G1);
            model.joint_jacobian(t, back, G0);
            model.joint_curvature(t, q, v, curvature);
            EXPECT_LT((G * v - (g1 - g0) / (2 * s)).norm(), 1e-7 * (1 + (G * v).norm()));
            EXPECT_LT((curvature - (G1 - G0) * v / (2 * s)).norm(), 1e-6 * (1 + curvature.norm()));
        }
        for (const LagrangianModel::Contact& contact : model.contacts) {
            const int dim = 1 + contact.tangents;
            MatX H = MatX::Zero(dim, model.nv), H1 = H, H0 = H;
            VecX curvature = VecX::Zero(dim);
            contact.jacobian(q, H);
            contact.jacobian(ahead, H1);
            contact.jacobian(back, H0);
            contact.curvature(q, v, curvature);
            EXPECT_NEAR(H.row(0).dot(v), (contact.gap(ahead) - contact.gap(back)) / (2 * s),
                        1e-7 * (1 + std::abs(H.row(0).dot(v))));
            EXPECT_LT((curvature - (H1 - H0) * v / (2 * s)).norm(), 1e-6 * (1 + curvature.norm()));
        }
        if (model.slopes) {
            MatX K = MatX::Zero(model.nv, model.nv), C = K;
            model.slopes(t, q, v, K, C);
            Forces k1, k0;
            system->forces(t, ahead, v, k1);
            system->forces(t, back, v, k0);
            const VecX rate = (k1.potential + k1.applied - k0.potential - k0.applied) / (2 * s);
            EXPECT_LT((rate + K * v).norm(), 1e-5 * (1 + rate.norm()));
        }
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
    for (const LagrangianModel::Contact& contact : model.contacts) EXPECT_GE(contact.gap(mechanism.state.q), 0);
}

TEST_P(EveryMechanism, RefusesParametersItDoesNotHave) {
    EXPECT_THROW(GetParam().make({{"nonsense", "1", {}}}), Error);
    EXPECT_THROW(GetParam().make({{"g", "abc", {}}}), Error);
}

INSTANTIATE_TEST_SUITE_P(Library, EveryMechanism, ::testing::ValuesIn(mechanisms()), [](const auto& test) {
    std::string name = test.param.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace stickslip
