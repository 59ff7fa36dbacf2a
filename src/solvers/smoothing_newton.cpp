#include "solvers/smoothing_newton.hpp"

#include <algorithm>
#include <cmath>

#include "math/dense_lu.hpp"
#include "solvers/normal_map.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

constexpr int max_trials = 8;
constexpr double shorter = 0.6;        // next trial of the line search
constexpr double enough = 0.1;         // share of the promised fall
constexpr double raise_eps = 10, lower_eps = 0.3, largest_eps = 1;
constexpr int failures_before_wider = 4;  // in a row: the path was left, delta is widened
constexpr double wider = 3;
constexpr int patience = 20;  // factorisations in which delta must have shrunk
constexpr double joint_eps = 1e-8;     // of w_j

}  // namespace

void SmoothingNewton::begin(const StepProblem& problem, const RowWeights& weights, const StepSolution& start) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    weight_ = weights.contact();
    joint_weight_ = weights.joint();
    const auto nine = static_cast<std::size_t>(StepSystem::block * H.groups());
    contact_B_.assign(nine, 0.0);
    D_.assign(nine, 0.0);
    M_.assign(nine, 0.0);
    joint_B_.assign(joint_weight_.size(), 0.0);
    dv_.resize(problem.nodes().nv());
    for (RowVec* rows : {&xi_, &z_, &phi_, &Hv_, &dxi_}) rows->resize(H.rows());
    for (RowVec* rows : {&w_, &clamped_, &Gv_, &dlambda_}) rows->resize(G.rows());
    copy_solution(start, point_);
    lambda_ = start.lambda;
    H.product(problem.nodes(), start.v, Hv_);
    for (int i = 0; i < H.groups(); ++i)
        for (int k = H.row[i]; k < H.row[i + 1]; ++k)
            xi_[k] = start.p[k] - (Hv_[k] + problem.S[k] * start.p[k] + problem.c[k]) / weight_[i];
}

// Evaluates z, D, Phi, v at (xi, lambda).
double SmoothingNewton::merit(const StepProblem& problem, RowWeights& weights, const RowVec& xi, const RowVec& lambda,
                              double delta) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    for (int i = 0; i < H.groups(); ++i)
        point_.modes[i] = normal_map(H.dim(i), problem.contacts.friction[i], delta / weight_[i], tangential_width_,
                                     xi.data() + H.row[i], z_.data() + H.row[i], D_.data() + StepSystem::block * i);
    for (int j = 0; j < G.rows(); ++j) clamped_[j] = std::clamp(lambda[j], problem.lower[j], problem.upper[j]);
    weights.velocity(problem, clamped_, z_, v_);
    H.product(problem.nodes(), v_, phi_);
    double sum = 0;
    for (int i = 0; i < H.groups(); ++i) {
        for (int k = H.row[i]; k < H.row[i + 1]; ++k) {
            phi_[k] += problem.S[k] * z_[k] + problem.c[k] + weight_[i] * (xi[k] - z_[k]);
            sum += phi_[k] * phi_[k] / weight_[i];
        }
    }
    G.product(problem.nodes(), v_, w_);
    for (int j = 0; j < G.rows(); ++j) {
        w_[j] += problem.T[j] * clamped_[j] - problem.b[j] + joint_weight_[j] * (lambda[j] - clamped_[j]);
        sum += w_[j] * w_[j] / joint_weight_[j];
    }
    return std::sqrt(sum);
}

// dxi and dlambda at the point that merit() has evaluated last.
bool SmoothingNewton::direction(const StepProblem& problem, double eps) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    for (int i = 0; i < H.groups(); ++i) {
        const int dim = H.dim(i);
        const double* D = D_.data() + StepSystem::block * i;
        double* M = M_.data() + StepSystem::block * i;  // column-major dim x dim, becomes M^-1
        double* B = contact_B_.data() + StepSystem::block * i;
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3, 3> m(dim, dim), d(dim, dim);
        for (int r = 0; r < dim; ++r) {
            for (int s = 0; s < dim; ++s) {
                d(r, s) = D[r + 3 * s];
                m(r, s) = (problem.S[H.row[i] + r] + eps * weight_[i]) * d(r, s) + weight_[i] * ((r == s ? 1.0 : 0.0) - d(r, s));
            }
        }
        Eigen::Map<MatX> inverse(M, dim, dim), b(B, dim, dim);
        if (dim == 3)
            inverse = Mat3(m).inverse();
        else if (dim == 2)
            inverse = Eigen::Matrix2d(m).inverse();
        else
            inverse(0, 0) = 1 / m(0, 0);
        b.noalias() = d.lazyProduct(inverse);
    }
    for (int j = 0; j < G.rows(); ++j) {
        const bool inside = lambda_[j] == clamped_[j] && problem.lower[j] < problem.upper[j];
        joint_B_[j] = inside ? 1 / (problem.T[j] + joint_eps * joint_weight_[j]) : 0.0;
    }
    if (!system_.factor(problem, joint_B_, contact_B_)) return false;

    for (int i = 0; i < H.groups(); ++i) {
        const int first = H.row[i], dim = H.dim(i);
        const double* B = contact_B_.data() + StepSystem::block * i;
        for (int r = 0; r < dim; ++r) {
            dxi_[first + r] = 0;
            for (int s = 0; s < dim; ++s) dxi_[first + r] -= B[r + s * dim] * phi_[first + s];
        }
    }
    for (int j = 0; j < G.rows(); ++j) dlambda_[j] = -joint_B_[j] * w_[j];
    dv_.setZero();
    H.add_transpose_product(problem.nodes(), dxi_, dv_);
    G.add_transpose_product(problem.nodes(), dlambda_, dv_);
    system_.solve(dv_);
    H.product(problem.nodes(), dv_, Hv_);
    G.product(problem.nodes(), dv_, Gv_);
    for (int i = 0; i < H.groups(); ++i) {
        const int first = H.row[i], dim = H.dim(i);
        const double* inverse = M_.data() + StepSystem::block * i;
        for (int r = 0; r < dim; ++r) {
            dxi_[first + r] = 0;
            for (int s = 0; s < dim; ++s) dxi_[first + r] -= inverse[r + s * dim] * (phi_[first + s] + Hv_[first + s]);
        }
    }
    for (int j = 0; j < G.rows(); ++j)
        dlambda_[j] = -(joint_B_[j] > 0 ? joint_B_[j] : 1 / joint_weight_[j]) * (w_[j] + Gv_[j]);
    return true;
}

// The point of xi_ without smoothing, if it is the best so far.
void SmoothingNewton::offer(const StepProblem& problem, RowWeights& weights, StepSolution& x, SolveReport& report) {
    merit(problem, weights, xi_, lambda_, 0);
    point_.p = z_;
    point_.lambda = clamped_;
    point_.v = v_;
    const Residual res = residual(problem, point_, residual_work_);
    if (!(res.max() < report.residual.max()) && !std::isnan(report.residual.max())) return;
    report.residual = res;
    copy_solution(point_, x);
}

void SmoothingNewton::run(const StepProblem& problem, RowWeights& weights, const SmoothingNewtonOptions& options, double tol,
                          WorkMeter& meter, const StepSolution& start, StepSolution& x, SolveReport& report) {
    begin(problem, weights, start);
    system_.analyse(problem);
    tangential_width_ = options.tangential_width;
    const double unit = weights.speed() > 0 ? weights.speed() : 1;
    double weight_sum = 0;  // merit of Phi = 1 m/s everywhere, per row
    for (const double w : weight_) weight_sum += 1 / w;
    const double one = std::sqrt(std::max(weight_sum, 1e-300));
    double delta = options.first_delta * unit, eps = options.least_eps;
    int failures = 0, idle = 0;
    double now = merit(problem, weights, xi_, lambda_, delta);
    for (int k = 0; k < options.max_factorisations; ++k) {
        if (meter.used_up() || !std::isfinite(now) || ++idle > patience) return;
        if (!direction(problem, eps)) return;
        meter.add(1);
        ++report.factorisations;
        ++report.iterations;
        double a = 1, best = infinity, best_a = 1, next = infinity;
        bool fell = false;
        for (int trial = 0; trial < max_trials; ++trial, a *= shorter) {
            trial_xi_ = xi_.vec() + a * dxi_.vec();
            trial_lambda_ = lambda_.vec() + a * dlambda_.vec();
            next = merit(problem, weights, trial_xi_, trial_lambda_, delta);
            if (next < best) {
                best = next;
                best_a = a;
            }
            if (next < (1 - enough * a) * now) {
                fell = true;
                break;
            }
        }
        if (!fell) {
            if (options.monotone && !(best < now)) return;
            a = best_a;
            trial_xi_ = xi_.vec() + a * dxi_.vec();
            trial_lambda_ = lambda_.vec() + a * dlambda_.vec();
        }
        xi_ = trial_xi_;
        lambda_ = trial_lambda_;
        offer(problem, weights, x, report);
        if (report.residual.max() <= 1e-3 * tol) return;
        if (!fell) {
            eps = std::min(largest_eps, raise_eps * eps);
            if (++failures >= failures_before_wider) {
                delta = std::min(options.first_delta * unit, wider * delta);
                failures = 0;
            }
        } else {
            eps = std::max(options.least_eps, lower_eps * eps);
            failures = 0;
            if (std::min(best, next) < options.path * delta * one) {
                if (delta <= options.last_delta * unit) return;
                idle = 0;
                delta = std::max(options.last_delta * unit, delta * (a >= 0.9 ? 0.3 : a >= 0.5 ? 0.5 : 0.8));
            }
        }
        now = merit(problem, weights, xi_, lambda_, delta);
    }
}

}  // namespace stickslip
