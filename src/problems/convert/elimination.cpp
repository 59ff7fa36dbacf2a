#include "problems/convert/elimination.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// Singular values of the scaled Schur complement below this fraction of the largest one count as redundancy.
// Rounding of redundant joints leaves about 1e-15 times the number of rows; a long chain of real joints has its
// smallest one near 1e-8. Larger and stiff chains lose joints; smaller and copies of a joint carry huge impulses.
constexpr double rank_tolerance = 1e-12;

// Rounding of a row's velocity J v, in units of |J| |v|: a few dozen additions.
constexpr double rounding_level = 3e-15;

bool is_free(double lower, double upper, double far) { return lower <= -far && upper >= far; }

}  // namespace

struct Elimination::MinimumNorm {
    Eigen::CompleteOrthogonalDecomposition<MatX> decomposition;
};

Elimination::Elimination() : schur_(std::make_unique<MinimumNorm>()) {}
Elimination::~Elimination() = default;

void Elimination::factor(const BlockMatrix& A) {
    coupled_ = !A.couplings.empty();
    if (!coupled_) {
        inverse_.factor(A);
        return;
    }
    std::vector<BlockLu::Edge> edges;
    for (const BlockMatrix::Coupling& c : A.couplings)
        edges.push_back({std::min(c.row_node, c.column_node), std::max(c.row_node, c.column_node)});
    lu_.analyse(A.nodes, edges);
    for (int n = 0; n < A.nodes.size(); ++n) {
        const auto block = A.block(n);
        for (Eigen::Index i = 0; i < block.size(); ++i) lu_.diagonal(n)[i] += block.data()[i];
    }
    for (const BlockMatrix::Coupling& c : A.couplings) {
        const bool forward = c.row_node < c.column_node;
        const BlockLu::Pair pair = lu_.pair(std::min(c.row_node, c.column_node), std::max(c.row_node, c.column_node));
        const auto block = A.block(c);
        for (Eigen::Index i = 0; i < block.size(); ++i) (forward ? pair.ab : pair.ba)[i] += block.data()[i];
    }
    lu_.factor();  // a singular A gives numbers that are not finite, and the residual says so
}

void Elimination::solve_columns(Eigen::Ref<MatX> X) const {
    if (coupled_) {
        for (Eigen::Index j = 0; j < X.cols(); ++j) lu_.solve(X.col(j).data());
        return;
    }
    const Nodes& nodes = inverse_.nodes();
    MatX part;
    for (int n = 0; n < nodes.size(); ++n) {
        auto rows = X.middleRows(nodes.start[static_cast<std::size_t>(n)], nodes.dof(n));
        part.noalias() = inverse_.block(n) * rows;
        rows = part;
    }
}

VecX Elimination::solve_free(const VecX& rhs) const {
    return schur_scale_.cwiseProduct(schur_->decomposition.solve(schur_scale_.cwiseProduct(rhs)));
}

void Elimination::compute(const StepProblem& problem, double far) {
    const Nodes& nodes = problem.nodes();
    const BlockRows& H = problem.contacts.jacobian;
    factor(problem.A);
    boxed_.clear();
    free_.clear();
    for (int j = 0; j < problem.joints.size(); ++j)
        (is_free(problem.lower[j], problem.upper[j], far) ? free_ : boxed_).push_back(j);
    const int nf = static_cast<int>(free_.size()), nb = static_cast<int>(boxed_.size()), nk = nb + H.rows();

    const MatX G = problem.joints.jacobian.dense(nodes);
    G_ = G(free_, Eigen::all);
    J_.resize(nk, nodes.nv());
    J_.topRows(nb) = G(boxed_, Eigen::all);
    J_.bottomRows(H.rows()) = H.dense(nodes);

    MatX Z = J_.transpose();
    solve_columns(Z);
    VecX v_free = problem.r;
    solve_columns(v_free);
    diagonal_ = (J_.array() * Z.transpose().array()).rowwise().sum();
    noise_ = v_free.cwiseAbs();

    redundant_ = 0;
    if (nf > 0) {
        MatX X = G_.transpose();
        solve_columns(X);
        MatX schur = G_ * X;
        VecX rhs(nf), T(nf);
        for (int i = 0; i < nf; ++i) {
            T[i] = problem.T[free_[static_cast<std::size_t>(i)]];
            rhs[i] = problem.b[free_[static_cast<std::size_t>(i)]];
            schur(i, i) += T[i];
        }
        schur_scale_.resize(nf);
        for (int i = 0; i < nf; ++i) schur_scale_[i] = schur(i, i) > 0 ? 1 / std::sqrt(schur(i, i)) : 0.0;
        schur = schur_scale_.asDiagonal() * schur * schur_scale_.asDiagonal();
        schur_->decomposition.setThreshold(rank_tolerance);
        schur_->decomposition.compute(schur);
        redundant_ = nf - static_cast<int>(schur_->decomposition.rank());

        // G Z + T L = 0 and G v + T l = b. The second round is a refinement: it removes from Z what the joints
        // hold but rounding left, so that a contact on a locked body has W = 0 and not 1e-16.
        MatX L = MatX::Zero(nf, nk), step;
        VecX l = VecX::Zero(nf), miss;
        for (int round = 0; round < 3; ++round) {
            step = -(schur_scale_.asDiagonal() * (G_ * Z + T.asDiagonal() * L));
            step = schur_scale_.asDiagonal() * schur_->decomposition.solve(step).eval();
            L += step;
            Z += X * step;
            miss = rhs - G_ * v_free - T.cwiseProduct(l);
            miss = solve_free(miss);
            l += miss;
            v_free += X * miss;
        }
    }
    noise_ += v_free.cwiseAbs();

    W_.noalias() = J_ * Z;
    q_.noalias() = J_ * v_free;
    // velocities that cannot be told from zero are zero: a locked contact must not seem to close
    const VecX rounding = rounding_level * (J_.cwiseAbs() * noise_);
    for (int k = 0; k < nk; ++k)
        if (std::abs(q_[k]) <= rounding[k]) q_[k] = 0;
    for (int i = 0; i < nb; ++i) {
        const int j = boxed_[static_cast<std::size_t>(i)];
        W_(i, i) += problem.T[j];
        diagonal_[i] += problem.T[j];
        q_[i] -= problem.b[j];
    }
    W_.diagonal().tail(H.rows()) += problem.S;
    diagonal_.tail(H.rows()) += problem.S;
    q_.tail(H.rows()) += problem.c;
}

void Elimination::recover(const StepProblem& problem, const VecX& x, StepSolution& solution) {
    const int nf = static_cast<int>(free_.size()), nb = static_cast<int>(boxed_.size());
    SS_ASSERT(x.size() == kept(), "impulses of other rows");
    for (int i = 0; i < nb; ++i) solution.lambda[boxed_[static_cast<std::size_t>(i)]] = x[i];
    solution.p = x.tail(x.size() - nb);

    const VecX given = problem.r + J_.transpose() * x;
    VecX lambda = VecX::Zero(nf), load, miss(nf);
    const auto velocity = [&] {  // v = A^-1 load, refined once
        load = given;
        if (nf > 0) load += G_.transpose() * lambda;
        VecX step = load;
        solve_columns(step);
        solution.v = step;
        step = load;
        problem.A.add_product(-1.0, solution.v, step);
        solve_columns(step);
        solution.v += step;
    };
    velocity();
    // twice: the second round is the refinement
    for (int round = 0; round < 2 && nf > 0; ++round) {
        miss = -(G_ * solution.v);
        for (int i = 0; i < nf; ++i) {
            const int j = free_[static_cast<std::size_t>(i)];
            miss[i] += problem.b[j] - problem.T[j] * lambda[i];
        }
        lambda += solve_free(miss);
        velocity();
    }
    for (int i = 0; i < nf; ++i) solution.lambda[free_[static_cast<std::size_t>(i)]] = lambda[i];
}

void Elimination::velocities(const StepProblem& problem, const StepSolution& solution, VecX& y) const {
    const int nb = static_cast<int>(boxed_.size());
    y.noalias() = J_ * solution.v;
    for (int i = 0; i < nb; ++i) {
        const int j = boxed_[static_cast<std::size_t>(i)];
        y[i] += problem.T[j] * solution.lambda[j] - problem.b[j];
    }
    y.tail(solution.p.size()) += problem.S.cwiseProduct(solution.p) + problem.c;
}

}  // namespace stickslip
