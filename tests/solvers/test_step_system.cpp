// The matrix of the step system against K = A + G' B_j G + H' B H put together densely: manifolds of several contacts on the same
// bodies, contacts with the ground, contacts that are switched off, bodies of other sizes.
#include <gtest/gtest.h>

#include "solvers/corrected_system.hpp"
#include "solvers/step_system.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using testing::Random;

struct Laws {
    std::vector<double> joint, contact;  // B, as StepSystem takes it
    MatX dense;                          // K
};

// `dofs` per body; every contact has a random Jacobian, and up to six in a row have the same bodies.
StepProblem any_problem(Random& random, const std::vector<int>& dofs) {
    StepProblem problem;
    Nodes nodes;
    for (const int d : dofs) nodes.add(d);
    problem.A.shape_diagonal(nodes);
    for (int n = 0; n < nodes.size(); ++n) {
        const MatX skew = random.matrix(nodes.dof(n), nodes.dof(n));
        problem.A.block(n) = 2 * MatX::Identity(nodes.dof(n), nodes.dof(n)) + skew - skew.transpose();
    }
    problem.joints.begin_group(0, 2, RowKind::holonomic);
    for (const int n : {0, 1}) problem.joints.jacobian.add_block(n, nodes.dof(n)) = random.matrix(2, nodes.dof(n));
    std::uint32_t id = 0;
    for (int manifold = 0; manifold < 12; ++manifold) {
        const int a = random.below(nodes.size()), b = random.below(nodes.size() + 1) - 1;  // -1: the ground
        const int contacts = 1 + random.below(6), dim = random.below(4) == 0 ? 1 + random.below(2) : 3;
        for (int i = 0; i < contacts; ++i) {
            ContactId contact;
            contact.a = id++;
            problem.contacts.begin_contact(contact, dim, 0, 0.5, 0, 0);
            for (const int n : {a, b})
                if (n >= 0 && (n == a || b != a))
                    problem.contacts.jacobian.add_block(n, nodes.dof(n)) = random.matrix(dim, nodes.dof(n));
        }
    }
    problem.size_to_rows();
    return problem;
}

Laws any_laws(Random& random, const StepProblem& problem) {
    Laws laws;
    const BlockRows &G = problem.joints.jacobian, &H = problem.contacts.jacobian;
    laws.contact.assign(static_cast<std::size_t>(problem.contacts.size() * StepSystem::block), 0.0);
    MatX B_joint = MatX::Zero(G.rows(), G.rows()), B = MatX::Zero(H.rows(), H.rows());
    for (int i = 0; i < G.rows(); ++i) laws.joint.push_back(B_joint(i, i) = random.uniform(0, 10));
    for (int g = 0; g < problem.contacts.size(); ++g) {
        if (random.below(4) == 0) continue;  // open
        const int dim = H.dim(g);
        MatX law = random.matrix(dim, dim);
        law = law * law.transpose() + MatX::Identity(dim, dim);
        if (dim == 3) law(1, 0) += 0.1;  // sliding: not symmetric
        B.block(H.row[g], H.row[g], dim, dim) = law;
        Eigen::Map<MatX>(laws.contact.data() + StepSystem::block * g, dim, dim) = law;
    }
    const MatX g = G.dense(problem.nodes()), h = H.dense(problem.nodes());
    laws.dense = problem.A.dense() + g.transpose() * B_joint * g + h.transpose() * B * h;
    return laws;
}

TEST(StepSystem, ManifoldsGroundAndOpenContactsAddUpToTheDenseMatrix) {
    Random random(5);
    StepSystem system;
    for (int trial = 0; trial < 40; ++trial) {
        std::vector<int> dofs;
        for (int i = 0; i < 8; ++i) dofs.push_back(trial % 3 == 0 ? 6 : trial % 3 == 1 ? 3 : 1 + random.below(7));
        const StepProblem problem = any_problem(random, dofs);
        system.analyse(problem);
        const Laws laws = any_laws(random, problem);
        ASSERT_TRUE(system.factor(problem, laws.joint, laws.contact));
        const VecX x = random.vector(problem.nodes().nv());
        VecX y = laws.dense * x;
        const double scale = y.norm();
        system.solve(y);
        EXPECT_LT((laws.dense * (y - x)).norm(), 1e-12 * scale) << trial;
    }
}

// Contacts changed one after the other, some of them twice, against the matrix that has the last of their blocks.
TEST(CorrectedSystem, ChangedContactsAreThoseOfTheDenseMatrix) {
    Random random(6);
    CorrectedSystem system;
    for (int trial = 0; trial < 40; ++trial) {
        const StepProblem problem = any_problem(random, std::vector<int>(8, trial % 2 == 0 ? 6 : 3));
        system.analyse(problem);
        Laws laws = any_laws(random, problem);
        ASSERT_TRUE(system.factor(problem, laws.joint, laws.contact));
        const Laws others = any_laws(random, problem);
        const BlockRows& H = problem.contacts.jacobian;
        const MatX h = H.dense(problem.nodes());
        for (int change = 0; change < 10; ++change) {
            const int g = random.below(std::min(12, problem.contacts.size())), dim = H.dim(g);
            double* const B = laws.contact.data() + StepSystem::block * g;
            const double* const to = others.contact.data() + StepSystem::block * random.below(problem.contacts.size());
            MatX law = Eigen::Map<const Mat3>(to).topLeftCorner(dim, dim);
            const MatX rows = h.middleRows(H.row[g], dim);
            laws.dense += rows.transpose() * (law - Eigen::Map<MatX>(B, dim, dim)) * rows;
            Eigen::Map<MatX>(B, dim, dim) = law;
            ASSERT_TRUE(system.change(problem, g, B));
        }
        ASSERT_TRUE(system.finish());
        const VecX x = random.vector(problem.nodes().nv());
        VecX y = laws.dense * x;
        const double scale = y.norm();
        system.solve(problem, y);
        EXPECT_LT((laws.dense * (y - x)).norm(), 1e-9 * scale) << trial;
    }
}

}  // namespace
}  // namespace stickslip
