// Islands: the parts of a problem know nothing of each other, and together they are the problem.
#include <gtest/gtest.h>

#include "problems/islands.hpp"
#include "problems/speed_scale.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;

// Several problems side by side as one, their nodes dealt out in turn; `free` bodies that nothing touches among them.
StepProblem side_by_side(const std::vector<StepProblem>& parts, int free) {
    StepProblem all;
    std::vector<std::vector<int>> place(parts.size());
    Nodes layout;
    std::size_t left = 1;
    for (int turn = 0; left > 0; ++turn) {
        left = 0;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            if (turn >= parts[k].nodes().size()) continue;
            place[k].push_back(layout.size());
            layout.add(parts[k].nodes().dof(turn));
            ++left;
        }
        if (turn < free) layout.add(6);
    }
    all.A.shape_diagonal(layout);
    for (int n = 0; n < layout.size(); ++n) all.A.block(n).setIdentity();
    for (std::size_t k = 0; k < parts.size(); ++k)
        for (int n = 0; n < parts[k].nodes().size(); ++n) all.A.block(place[k][n]) = parts[k].A.block(n);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        for (const BlockMatrix::Coupling& c : parts[k].A.couplings) {
            const auto& to = all.A.add_coupling(place[k][c.row_node], place[k][c.column_node]);
            all.A.block(to) = parts[k].A.block(c);
        }
        const auto copy = [&](const BlockRows& from, int g, BlockRows& to) {
            for (const BlockRows::Block& b : from.blocks_of(g))
                to.add_block(place[k][b.node], parts[k].nodes().dof(b.node)) = from.values_of(g, b, parts[k].nodes());
        };
        const StepProblem& part = parts[k];
        for (int g = 0; g < part.joints.jacobian.groups(); ++g) {
            all.joints.begin_group(part.joints.id[g], part.joints.jacobian.dim(g), RowKind::holonomic);
            copy(part.joints.jacobian, g, all.joints.jacobian);
        }
        for (int i = 0; i < part.contacts.size(); ++i) {
            all.contacts.begin_contact(part.contacts.id[i], part.contacts.jacobian.dim(i), 0, part.contacts.friction[i], 0,
                                       part.contacts.facets[i]);
            copy(part.contacts.jacobian, i, all.contacts.jacobian);
        }
    }
    all.size_to_rows();
    for (int n = 0; n < layout.size(); ++n) all.r.segment(layout.start[n], layout.dof(n)).setConstant(0.5);
    int row = 0, contact_row = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const StepProblem& part = parts[k];
        for (int n = 0; n < part.nodes().size(); ++n)
            all.r.segment(layout.start[place[k][n]], part.nodes().dof(n)) =
                part.r.segment(part.nodes().start[n], part.nodes().dof(n));
        for (int j = 0; j < part.joints.size(); ++j, ++row) {
            all.T[row] = part.T[j];
            all.b[row] = part.b[j];
            all.lower[row] = part.lower[j];
            all.upper[row] = part.upper[j];
        }
        for (int i = 0; i < part.c.size(); ++i, ++contact_row) {
            all.S[contact_row] = part.S[i];
            all.c[contact_row] = part.c[i];
        }
    }
    return all;
}

StepProblem stack(int boxes, double push) {
    BoxStack stack;
    stack.boxes = boxes;
    stack.masses.assign(static_cast<std::size_t>(boxes), 1.0);
    stack.push = Vec3(push, 0, 0);
    return stack.problem();
}

TEST(Islands, StacksSideBySideAreFoundWithTheirOwnRows) {
    const std::vector<StepProblem> parts{stack(3, 0), stack(1, 2), stack(5, 1)};
    const StepProblem all = side_by_side(parts, 2);
    Islands islands;
    islands.split(all);
    ASSERT_EQ(islands.size(), 4);  // and the free bodies
    EXPECT_TRUE(islands.free(3));
    EXPECT_EQ(islands.nodes(3).size(), 2u);
    StepProblem part;
    for (int k = 0; k < 3; ++k) {
        islands.extract(all, k, part);
        EXPECT_EQ(part.A.dense(), parts[k].A.dense());
        EXPECT_EQ(part.r, parts[k].r);
        EXPECT_EQ(part.contacts.jacobian.dense(part.nodes()), parts[k].contacts.jacobian.dense(parts[k].nodes()));
        EXPECT_EQ(part.contacts.friction, parts[k].contacts.friction);
        EXPECT_EQ(part.contacts.id, parts[k].contacts.id);
        EXPECT_EQ(part.c, parts[k].c);
        EXPECT_EQ(part.S, parts[k].S);
    }
}

TEST(Islands, WhatIsTakenApartAndPutTogetherIsTheSame) {
    Random random(5);
    RandomProblem maker;
    maker.joints = 3;
    maker.contacts = 8;
    maker.nodes = 5;
    const StepProblem all = side_by_side({maker.problem(1), stack(4, 1), maker.problem(2)}, 1);
    StepSolution x, y, part;
    x.size_to(all);
    x.v = random.vector(all.nodes().nv());
    x.lambda = random.vector(all.joints.size());
    x.p = random.vector(all.contacts.jacobian.rows());
    for (std::size_t i = 0; i < x.modes.size(); ++i) x.modes[i] = static_cast<ContactMode>(random.below(3));
    Islands islands;
    islands.split(all);
    y.size_to(all);
    int nodes = 0, contacts = 0;
    for (int k = 0; k < islands.size(); ++k) {
        nodes += static_cast<int>(islands.nodes(k).size());
        contacts += static_cast<int>(islands.contacts(k).size());
        islands.extract(all, x, k, part);
        islands.merge(all, k, part, y);
    }
    EXPECT_EQ(nodes, all.nodes().size());
    EXPECT_EQ(contacts, all.contacts.size());
    EXPECT_EQ(x.v, y.v);
    EXPECT_EQ(x.lambda, y.lambda);
    EXPECT_EQ(x.p, y.p);
    EXPECT_EQ(x.modes, y.modes);
    // The residual of the whole is the largest of the parts: nothing is lost between them.
    double worst = 0;
    StepProblem problem;
    for (int k = 0; k < islands.size(); ++k) {
        islands.extract(all, k, problem);
        islands.extract(all, x, k, part);
        worst = std::max(worst, residual(problem, part).max());
    }
    EXPECT_NEAR(worst, residual(all, x).max(), 1e-12 * worst);
}

TEST(SpeedScale, IsWhatAStackAtRestWouldFallInAStep) {
    VecX velocity;
    RowVec speed;
    const StepProblem problem = stack(6, 0);
    // All boxes fall alike, so only the lowest four contacts see g h; the rest closes at nothing.
    const double gh = 9.81e-3;
    EXPECT_NEAR(speed_scale(problem, velocity, speed), gh * std::sqrt(4.0 / problem.contacts.size()), 1e-12);
}

TEST(SpeedScale, LoadIsWhatImpulsesChangeAtTheirContacts) {
    const StepProblem problem = stack(6, 0);
    const MatX H = problem.contacts.jacobian.dense(problem.nodes());
    const VecX w = (H * problem.A.dense().inverse() * H.transpose()).diagonal();
    RowVec p;
    p.resize(H.rows());
    for (int k = 0; k < H.rows(); ++k) p[k] = std::sin(1.0 + k);
    const double expected = w.cwiseProduct(p.vec()).norm() / std::sqrt(static_cast<double>(problem.contacts.size()));
    EXPECT_NEAR(load_speed(problem, p), expected, 1e-12 * expected);
}

TEST(SpeedScale, LoadsOfTheLastStepCountUpToTenTimesTheSpeeds) {
    const StepProblem problem = stack(6, 0);
    StepSolution guess;
    guess.size_to(problem);
    guess.p.setConstant(1.0);
    guess.warm = true;
    const double load = load_speed(problem, guess.p);
    EXPECT_EQ(judged_speed(problem, guess, 2 * load), 2 * load);
    EXPECT_EQ(judged_speed(problem, guess, load / 5), load);
    EXPECT_EQ(judged_speed(problem, guess, load / 1000), load / 100);  // impulses that have run off
    guess.warm = false;
    EXPECT_EQ(judged_speed(problem, guess, load / 5), load / 5);
    guess.warm = true;
    guess.p[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(judged_speed(problem, guess, load / 5), load / 5);
}

}  // namespace
}  // namespace stickslip
