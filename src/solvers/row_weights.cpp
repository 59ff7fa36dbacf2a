#include "solvers/row_weights.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

// Compliance of joint rows relative to w_j. If smaller, redundant rows drown the mass matrix; if larger, joints give way.
constexpr double joint_compliance = 1e-6;

bool unbounded(const StepProblem& problem, int j) {
    return problem.lower[j] == -infinity && problem.upper[j] == infinity;
}

}  // namespace

bool RowWeights::prepare(const StepProblem& problem) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    factorisations_ = 0;
    if (!inverse_.factor(problem.A)) return false;
    contact_rows_.prepare(H, problem.S, problem.nodes(), inverse_);
    joint_rows_.prepare(G, problem.T, problem.nodes(), inverse_);
    joint_.resize(static_cast<std::size_t>(G.rows()));
    for (int g = 0; g < G.groups(); ++g) {
        for (int k = 0; k < G.dim(g); ++k) {
            const double w = joint_rows_.W(g)[k * (G.dim(g) + 1)];
            joint_[G.row[g] + k] = w > 0 ? w : 1;
        }
    }
    contact_.resize(static_cast<std::size_t>(H.groups()));
    for (int i = 0; i < H.groups(); ++i) {
        const double w = contact_rows_.trace(i, H.dim(i)) / H.dim(i);
        contact_[i] = w > 0 ? w : 1;
    }
    if (G.rows() > 0 && H.groups() > 0) look_through_joints(problem);

    free_.resize(problem.nodes().nv());
    inverse_.apply(problem.r, free_);
    free_speed_.resize(H.rows());
    H.product(problem.nodes(), free_, free_speed_);
    free_speed_ += problem.c;
    speed_ = H.groups() > 0 ? free_speed_.norm() / std::sqrt(static_cast<double>(H.groups())) : 0.0;
    return true;
}

void RowWeights::look_through_joints(const StepProblem& problem) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    const Nodes& nodes = problem.nodes();
    jointed_.assign(static_cast<std::size_t>(nodes.size()), 0);
    for (const BlockRows::Block& b : G.blocks) jointed_[b.node] = 1;
    joint_B_.resize(joint_.size());
    for (int j = 0; j < G.rows(); ++j)
        joint_B_[j] = unbounded(problem, j) ? 1 / (problem.T[j] + joint_compliance * joint_[j]) : 0.0;
    contact_B_.assign(static_cast<std::size_t>(StepSystem::block * H.groups()), 0.0);
    system_.analyse(problem);
    ++factorisations_;
    if (!system_.factor(problem, joint_B_, contact_B_)) return;
    for (int i = 0; i < H.groups(); ++i) {
        const auto blocks = H.blocks_of(i);
        if (std::none_of(blocks.begin(), blocks.end(), [&](const auto& b) { return jointed_[b.node]; })) continue;
        double trace = 0;
        for (int k = 0; k < H.dim(i); ++k) {
            column_.setZero(nodes.nv());
            for (const BlockRows::Block& b : blocks)
                for (int c = 0; c < nodes.dof(b.node); ++c)
                    column_[nodes.start[b.node] + c] += H.values[b.offset + k * nodes.dof(b.node) + c];
            load_ = column_;
            system_.solve(column_);
            trace += load_.dot(column_) + problem.S[H.row[i] + k];
        }
        contact_[i] = std::max(trace / H.dim(i), joint_compliance * contact_[i]);
    }
}

void RowWeights::velocity(const StepProblem& problem, const RowVec& lambda, const RowVec& p, VecX& v) {
    load_ = problem.r;
    problem.joints.jacobian.add_transpose_product(problem.nodes(), lambda, load_);
    problem.contacts.jacobian.add_transpose_product(problem.nodes(), p, load_);
    v.resize(load_.size());
    inverse_.apply(load_, v);
}

}  // namespace stickslip
