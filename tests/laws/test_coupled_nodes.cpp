// Nodes are a matter of storage: a system of several coupled nodes moves as the same system of one dense node does, under every
// scheme, whatever is coupled: mass, stiffness, damping, joints, contacts.
#include <gtest/gtest.h>

#include "stickslip/load.hpp"
#include "stickslip/mechanism.hpp"
#include "support/families.hpp"
#include "support/models.hpp"
#include "support/split_system.hpp"

namespace stickslip {
namespace {

using testing::set;

// Four masses on a line. Each kind of coupling has a pattern of its own.
struct Couplings {
    bool mass = false, stiffness = false, damping = false, joint = false, contact = false;
    double factor = 1;  // of stiffness and damping
};

LagrangianModel masses(const Couplings& with) {
    LagrangianModel m;
    m.name = "masses";
    m.coordinates = {"x0", "x1", "x2", "x3"};
    m.nv = 4;
    m.constant_mass = MatX::Zero(4, 4);
    m.constant_mass.diagonal() << 2, 3, 1, 2;
    if (with.mass) {
        m.constant_mass(0, 1) = m.constant_mass(1, 0) = 0.5;
        m.constant_mass(1, 3) = m.constant_mass(3, 1) = -0.4;
    }
    MatX K = MatX::Zero(4, 4), C = MatX::Zero(4, 4);
    K.diagonal() << 100, 50, 80, 40;
    C.diagonal() << 0.1, 0.2, 0.1, 0.3;
    const auto tie = [](MatX& A, int i, int j, double k) {
        A(i, i) += k;
        A(j, j) += k;
        A(i, j) -= k;
        A(j, i) -= k;
    };
    if (with.stiffness) {
        tie(K, 0, 2, 300);
        tie(K, 1, 2, 200);
    }
    if (with.damping) {
        tie(C, 0, 3, 2);
        tie(C, 1, 2, 1);
        C(0, 1) += 0.5;  // need not be symmetric
    }
    K *= with.factor;
    C *= with.factor;
    m.potential = [K](const VecX& q) { return 0.5 * q.dot(K * q); };
    m.potential_force = [K](const VecX& q, VecX& k) { k = -K * q; };
    m.applied = [C](double, const VecX&, const VecX& v, VecX& k) { k = -C * v; };
    m.slopes = [K, C](double, const VecX&, const VecX&, MatX& dq, MatX& dv) {
        dq = K;
        dv = C;
    };
    if (with.joint) {  // x0 = 2 x3, across nodes
        m.joints = 1;
        m.joint_value = [](double, const VecX& q, VecX& g) { g[0] = q[0] - 2 * q[3]; };
        m.joint_jacobian = [](double, const VecX&, MatX& G) {
            G.setZero();
            G(0, 0) = 1;
            G(0, 3) = -2;
        };
        m.joint_bias = [](double, const VecX&, const VecX&, VecX& d) { d.setZero(); };
        m.joint_names = {"tie"};
    }
    if (with.contact) {  // x1 and x2 strike each other and rub on x3
        LagrangianModel::Contact contact;
        contact.name = "stop";
        contact.tangents = 1;
        contact.friction = 0.3;
        contact.restitution = 0.5;
        contact.gap = [](const VecX& q) { return q[2] - q[1] + 0.05; };
        contact.jacobian = [](const VecX&, MatX& H) {
            H.setZero();
            H(0, 1) = -1;
            H(0, 2) = 1;
            H(1, 3) = 1;
        };
        contact.bias = [](const VecX&, const VecX&, VecX& d) { d.setZero(); };
        m.contacts.push_back(contact);
    }
    return m;
}

Model model_of(const Couplings& with, const std::vector<int>& sizes, const std::string& scheme) {
    Model model;
    model.name = "masses";
    // Explicit Euler does not stand stiff springs: longer steps are refused, since they make energy.
    model.run.scheme = {scheme, {set("step", with.factor > 1 ? "1e-5" : "1e-3")}, {}};
    model.run.end = with.factor > 1 ? 0.004 : 0.12;
    model.system = make_lagrangian_system(masses(with));
    if (sizes.size() > 1) model.system = std::make_unique<testing::SplitSystem>(std::move(model.system), sizes);
    model.state.q = Eigen::Vector4d(0.1, 0.12, 0.08, 0.05);
    model.state.v = Eigen::Vector4d(0.2, 0.5, -0.5, 0.1);
    return model;
}

class CoupledNodes : public ::testing::TestWithParam<testing::SchemeFamily> {
protected:
    // States of a run at the ends of its steps.
    static std::vector<State> walk(Model model) {
        Simulation simulation(std::move(model));
        std::vector<State> states;
        while (simulation.advance()) states.push_back(simulation.state());
        const RunSummary summary = simulation.run();
        EXPECT_EQ(summary.end, RunEnd::finished) << summary.reason;
        EXPECT_LE(std::abs(summary.imbalance), 1e-12 * summary.energy_scale);
        return states;
    }
    static void expect_equal(const std::vector<State>& one, const std::vector<State>& many) {
        ASSERT_EQ(one.size(), many.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
            ASSERT_NEAR(one[i].t, many[i].t, 1e-10) << "step " << i + 1;
            ASSERT_LT((one[i].q - many[i].q).norm(), 1e-10) << "step " << i + 1;
            ASSERT_LT((one[i].v - many[i].v).norm(), 1e-10 * (1 + one[i].v.norm())) << "step " << i + 1;
        }
    }
};

TEST_P(CoupledNodes, MoveAsOneDenseNode) {
    const std::vector<std::pair<std::string, Couplings>> kinds{
        {"nothing", {}},
        {"mass", {.mass = true}},
        {"stiffness", {.stiffness = true}},
        {"stiff springs", {.stiffness = true, .factor = 1e3}},
        {"damping", {.damping = true}},
        {"joint", {.joint = true}},
        {"contact", {.contact = true}},
        {"mass, stiffness, damping", {.mass = true, .stiffness = true, .damping = true}},
        {"all", {.mass = true, .stiffness = true, .damping = true, .joint = true, .contact = true}}};
    for (const std::string& scheme : GetParam().schemes) {
        for (const auto& [name, with] : kinds) {
            Couplings couplings = with;
            const std::vector<State> one = walk(model_of(couplings, {4}, scheme));
            for (const std::vector<int>& sizes : {std::vector<int>{1, 1, 1, 1}, {2, 2}, {1, 2, 1}}) {
                SCOPED_TRACE(scheme + ", coupled by " + name + ", " + std::to_string(sizes.size()) + " nodes");
                expect_equal(one, walk(model_of(couplings, sizes, scheme)));
                if (HasFatalFailure()) return;
            }
        }
    }
}

// Mechanisms in angles, whose full mass moves with q: every velocity a node of its own.
TEST_P(CoupledNodes, MechanismsInAnglesMoveAsOneDenseNode) {
    for (const std::string& scheme : GetParam().schemes) {
        for (const auto& [name, end] :
             {std::pair("four-bar", 0.1), {"slider-crank-clearance", 0.004}, {"two-carts", 0.25}}) {
            SCOPED_TRACE(scheme + " on " + name);
            const auto model = [&, name = name, end = end](bool split) {
                Model whole = load_model(std::string("mechanism:") + name, {set("run.scheme", scheme)});
                whole.run.end = end;
                const std::vector<int> ones(static_cast<std::size_t>(whole.system->nv()), 1);
                if (split) whole.system = std::make_unique<testing::SplitSystem>(std::move(whole.system), ones);
                return whole;
            };
            expect_equal(walk(model(false)), walk(model(true)));
            if (HasFatalFailure()) return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Laws, CoupledNodes, ::testing::ValuesIn(testing::scheme_families()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stickslip
