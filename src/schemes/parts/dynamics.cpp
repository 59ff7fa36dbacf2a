// A and r of the linearly implicit theta rule with weights a of v+ in the forces and g in the positions,
//
//   A = M - a h (F(v*) + k_v) - a g h^2 k_q
//   r = A v + h ((1 - a) k(t, q, v) + a k(t + h, q, v)) + h F(v*) v + a h^2 k_q v
//
// [Potra et al. (67), corrected; Gavrea et al. (4.4)-(4.5), corrected]. F(v) u = (J v) x u is antisymmetric, so F(v*) does no
// work on the mean velocity, and the extrapolated v* = v + a h dv/dt of the last step makes it second order; with
// F(v), as printed, spinning bodies are first order. After a step that was cut short it is extrapolated by twice that step at most: if there
// was an impact in it, dv/dt is large. `exact` takes the slope F(v) - S(v) J of the gyroscopic force at v.
//
// A must be positive definite for the contact problem to have a solution. With forces that drive things apart (a body pushed at its top) it
// is so only for short steps; `switched` then takes the part of -k_v and -k_q that is, for which A is positive definite with any h, and the
// exact ones as soon as h is so short that they take no more than half of M away, which keeps order two [Potra et al., (16) and section 11].
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// A += s dF(u)v/du: column j of every node's block is F(e_j) v; F is block diagonal, so one call serves all nodes.
void add_gyroscopic_slope(const System& system, double s, const VecX& v, Step& step, BlockMatrix& A) {
    const Nodes& nodes = system.nodes();
    int most = 0;
    for (int n = 0; n < nodes.size(); ++n) most = std::max(most, nodes.dof(n));
    VecX &unit = step.terms.unit, &column = step.terms.column;
    for (int j = 0; j < most; ++j) {
        unit.setZero(v.size());
        for (int n = 0; n < nodes.size(); ++n)
            if (j < nodes.dof(n)) unit[nodes.start[n] + j] = 1;
        step.terms.damping.shape_diagonal(nodes);
        system.add_gyroscopic(1, unit, step.terms.damping);
        column.setZero(v.size());
        step.terms.damping.add_product(s, v, column);
        for (int n = 0; n < nodes.size(); ++n)
            if (j < nodes.dof(n)) A.block(n).col(j) += column.segment(nodes.start[n], nodes.dof(n));
    }
}

// Of M, at least, in A with exact slopes: where next to nothing is left of it, a step goes anywhere.
constexpr double kept_mass = 0.5;

// Whether the symmetric part of A is.
bool positive_definite(const BlockMatrix& A) {
    const auto holds = [](const MatX& B) { return Eigen::LLT<MatX>(0.5 * (B + B.transpose())).info() == Eigen::Success; };
    if (!A.couplings.empty()) return holds(A.dense());
    for (int n = 0; n < A.nodes.size(); ++n)
        if (!holds(A.block(n))) return false;
    return true;
}

bool keeps_mass(BlockMatrix A, const BlockMatrix& mass) {
    A.add(-kept_mass, mass);
    return positive_definite(A);
}

// The positive part of each node's symmetric one; what couples nodes is left out.
void take_positive_part(BlockMatrix& K) {
    for (int n = 0; n < K.nodes.size(); ++n) {
        const MatX B = K.block(n);
        const Eigen::SelfAdjointEigenSolver<MatX> found(0.5 * (B + B.transpose()));
        const MatX& Q = found.eigenvectors();
        K.block(n) = Q * found.eigenvalues().cwiseMax(0.0).asDiagonal() * Q.transpose();
    }
    for (const BlockMatrix::Coupling& coupling : K.couplings) K.block(coupling).setZero();
}

}  // namespace

void extrapolate_velocity(const VecX& v, double h, double a, Step& s) {
    s.terms.v_star = v + a * std::min(h, 2 * s.memory.h) * s.memory.v_rate;
}

bool fill_dynamics(const System& system, const State& x, double h, const DynamicsWeights& weights, Step& s) {
    const double a = weights.alpha, g = weights.gamma;
    StepProblem& problem = s.problem;
    problem.A = s.terms.mass;
    problem.r.setZero(system.nv());
    fill_impulses(system, x, h, a, s);
    if (weights.exact_gyroscopic)
        s.terms.v_star = x.v;
    else
        extrapolate_velocity(x.v, h, a, s);
    // With A_g = M - a h F, h F v is (M v - A_g v)/a.
    system.add_gyroscopic(-a * h, s.terms.v_star, problem.A);
    problem.A.add_product(-1, x.v, problem.r);
    s.terms.mass.add_product(1, x.v, problem.r);
    problem.r /= a;
    if (weights.exact_gyroscopic) add_gyroscopic_slope(system, -a * h, x.v, s, problem.A);
    const bool sloped = weights.slopes && system.slopes(x.t, x.q, x.v, s.terms.stiffness, s.terms.damping);
    if (sloped) {
        problem.A.add(a * h, s.terms.damping, g * h, s.terms.stiffness);
        if (weights.switched && !keeps_mass(problem.A, s.terms.mass)) {
            problem.A.add(-a * h, s.terms.damping, g * h, s.terms.stiffness);
            take_positive_part(s.terms.damping);
            take_positive_part(s.terms.stiffness);
            problem.A.add(a * h, s.terms.damping, g * h, s.terms.stiffness);
        }
        s.terms.stiffness.add_product(-a * h * h, x.v, problem.r);
    }
    problem.A.add_product(1, x.v, problem.r);
    problem.r += s.terms.impulses.potential + s.terms.impulses.applied;
    return sloped;
}

}  // namespace stickslip
