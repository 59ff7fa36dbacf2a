#include "problems/convert/elimination.hpp"

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

void Elimination::factor(const BlockMatrix& A) {
    coupled_ = !A.couplings.empty();
    if (!coupled_) {
        inverse_.factor(A);
        return;
    }
    edges_.clear();
    for (const BlockMatrix::Coupling& c : A.couplings)
        edges_.push_back({std::min(c.row_node, c.column_node), std::max(c.row_node, c.column_node)});
    lu_.analyse(A.nodes, edges_);
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

void Elimination::solve_columns(Eigen::Ref<MatX> X) {
    if (coupled_) {
        for (Eigen::Index j = 0; j < X.cols(); ++j) lu_.solve(X.col(j).data());
        return;
    }
    const Nodes& nodes = inverse_.nodes();
    for (int n = 0; n < nodes.size(); ++n) {
        auto rows = X.middleRows(nodes.start[static_cast<std::size_t>(n)], nodes.dof(n));
        part_.setZero(rows.rows(), rows.cols());
        add_product(inverse_.block(n), rows, part_);
        rows = part_;
    }
}

void Elimination::solve_free(double* x) const {
    Eigen::Map<VecX> lambda(x, schur_scale_.size());
    lambda.array() *= schur_scale_.array();
    schur_.solve(x);
    lambda.array() *= schur_scale_.array();
}

// G Z + T L = 0 and G v + T l = b, by corrections of Z and v_free with the multipliers of the free rows.
void Elimination::hold_free_rows(const StepProblem& problem) {
    const int nf = static_cast<int>(free_.size());
    X_ = G_.transpose();
    solve_columns(X_);
    b_.resize(nf);
    T_.resize(nf);
    for (int i = 0; i < nf; ++i) {
        T_[i] = problem.T[free_[static_cast<std::size_t>(i)]];
        b_[i] = problem.b[free_[static_cast<std::size_t>(i)]];
    }
    scaled_.setZero(nf, nf);
    add_product(G_, X_, scaled_);
    scaled_.diagonal() += T_;
    schur_scale_.resize(nf);
    for (int i = 0; i < nf; ++i) schur_scale_[i] = scaled_(i, i) > 0 ? 1 / std::sqrt(scaled_(i, i)) : 0.0;
    for (int j = 0; j < nf; ++j) scaled_.col(j).array() *= schur_scale_[j] * schur_scale_.array();
    schur_.factor(scaled_, rank_tolerance);
    redundant_ = nf - schur_.rank();

    // The later rounds are a refinement: they remove from Z what the joints hold but rounding left, so that a contact
    // on a locked body has W = 0 and not 1e-16.
    const Eigen::Index nk = Z_.cols();
    L_.setZero(nf, nk);
    step_.resize(nf, nk);
    l_.setZero(nf);
    for (int round = 0; round < 3; ++round) {
        for (Eigen::Index j = 0; j < nk; ++j) step_.col(j).array() = -T_.array() * L_.col(j).array();
        subtract_product(G_, Z_, step_);
        for (Eigen::Index j = 0; j < nk; ++j) solve_free(step_.col(j).data());
        L_ += step_;
        add_product(X_, step_, Z_);
        miss_.resize(nf);
        miss_.array() = b_.array() - T_.array() * l_.array();
        miss_.noalias() -= G_ * v_free_;
        solve_free(miss_.data());
        l_ += miss_;
        v_free_.noalias() += X_ * miss_;
    }
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

    joints_.setZero(problem.joints.size(), nodes.nv());
    problem.joints.jacobian.add_dense(nodes, joints_);
    G_.resize(nf, nodes.nv());
    for (int i = 0; i < nf; ++i) G_.row(i) = joints_.row(free_[static_cast<std::size_t>(i)]);
    J_.setZero(nk, nodes.nv());
    for (int i = 0; i < nb; ++i) J_.row(i) = joints_.row(boxed_[static_cast<std::size_t>(i)]);
    H.add_dense(nodes, J_.bottomRows(H.rows()));

    Z_ = J_.transpose();
    solve_columns(Z_);
    v_free_ = problem.r;
    solve_columns(v_free_);
    diagonal_.resize(nk);
    for (int k = 0; k < nk; ++k) diagonal_[k] = J_.row(k).dot(Z_.col(k));
    noise_ = v_free_.cwiseAbs();
    redundant_ = 0;
    if (nf > 0) hold_free_rows(problem);
    noise_ += v_free_.cwiseAbs();

    W_.setZero(nk, nk);
    add_product(J_, Z_, W_);
    q_.resize(nk);
    q_.noalias() = J_ * v_free_;
    // velocities that cannot be told from zero are zero: a locked contact must not seem to close
    for (int k = 0; k < nk; ++k)
        if (std::abs(q_[k]) <= rounding_level * J_.row(k).cwiseAbs().dot(noise_)) q_[k] = 0;
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

void Elimination::velocity(const StepProblem& problem, Eigen::Ref<VecX> v) {
    load_ = given_;
    load_.noalias() += G_.transpose() * lambda_;
    v = load_;
    solve_columns(v);
    problem.A.add_product(-1.0, v, load_);
    solve_columns(load_);
    v += load_;
}

void Elimination::recover(const StepProblem& problem, const ConstRef& x, StepSolution& solution) {
    const int nf = static_cast<int>(free_.size()), nb = static_cast<int>(boxed_.size());
    SS_ASSERT(x.size() == kept(), "impulses of other rows");
    for (int i = 0; i < nb; ++i) solution.lambda[boxed_[static_cast<std::size_t>(i)]] = x[i];
    solution.p = x.tail(x.size() - nb);

    given_ = problem.r;
    given_.noalias() += J_.transpose() * x;
    lambda_.setZero(nf);
    solution.v.resize(problem.nodes().nv());
    velocity(problem, solution.v);
    // twice: the second round is the refinement
    miss_.resize(nf);
    for (int round = 0; round < 2 && nf > 0; ++round) {
        miss_.setZero();
        miss_.noalias() -= G_ * solution.v;
        for (int i = 0; i < nf; ++i) {
            const int j = free_[static_cast<std::size_t>(i)];
            miss_[i] += problem.b[j] - problem.T[j] * lambda_[i];
        }
        solve_free(miss_.data());
        lambda_ += miss_;
        velocity(problem, solution.v);
    }
    for (int i = 0; i < nf; ++i) solution.lambda[free_[static_cast<std::size_t>(i)]] = lambda_[i];
}

void Elimination::velocities(const StepProblem& problem, const StepSolution& solution, RowVec& y) const {
    const int nb = static_cast<int>(boxed_.size());
    y.resize(kept());
    y.noalias() = J_ * solution.v;
    for (int i = 0; i < nb; ++i) {
        const int j = boxed_[static_cast<std::size_t>(i)];
        y[i] += problem.T[j] * solution.lambda[j] - problem.b[j];
    }
    y.tail(solution.p.size()) += problem.S.cwiseProduct(solution.p) + problem.c;
}

}  // namespace stickslip
