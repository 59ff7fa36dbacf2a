#include "math/min_norm.hpp"

#include <Eigen/Householder>
#include <cmath>
#include <numeric>
#include <utility>

namespace stickslip {

void MinNorm::factor(const WorkMat& K, double tolerance) {
    const Eigen::Index n = K.rows();
    factors_ = K;
    q_tau_.setZero(n);
    z_tau_.setZero(n);
    work_.resize(n);
    order_.resize(static_cast<std::size_t>(n));
    std::iota(order_.begin(), order_.end(), 0);
    double largest = 0;
    Eigen::Index rank = 0;
    for (; rank < n; ++rank) {
        const Eigen::Index k = rank, left = n - k;
        Eigen::Index best = k;
        double norm = -1;
        for (Eigen::Index j = k; j < n; ++j) {  // computed anew: downdated norms lose what rank decisions need
            const double candidate = factors_.col(j).tail(left).norm();
            if (candidate > norm) {
                norm = candidate;
                best = j;
            }
        }
        largest = std::max(largest, norm);
        if (!(norm > tolerance * largest)) break;
        if (best != k) {
            factors_.col(k).swap(factors_.col(best));
            std::swap(order_[k], order_[best]);
        }
        double beta = 0;
        factors_.col(k).tail(left).makeHouseholderInPlace(q_tau_[k], beta);
        factors_(k, k) = beta;
        factors_.bottomRightCorner(left, left - 1)
            .applyHouseholderOnTheLeft(factors_.col(k).tail(left - 1), q_tau_[k], work_.data());
    }
    rank_ = static_cast<int>(rank);
    // R = [R11 R12]: reflections from the right, bottom row first, take R12 to zero
    const Eigen::Index rest = n - rank;
    if (rest == 0) return;
    for (Eigen::Index k = rank - 1; k >= 0; --k) {
        auto row = factors_.row(k).tail(rest);
        const double alpha = factors_(k, k), length = row.norm();
        if (length == 0) continue;
        const double beta = alpha >= 0 ? -std::hypot(alpha, length) : std::hypot(alpha, length);
        const double tau = (beta - alpha) / beta;
        row /= alpha - beta;  // the reflection is I - tau (1, row)'(1, row)
        factors_(k, k) = beta;
        z_tau_[k] = tau;
        for (Eigen::Index i = 0; i < k; ++i) {
            const double s = tau * (factors_(i, k) + factors_.row(i).tail(rest).dot(row));
            factors_(i, k) -= s;
            factors_.row(i).tail(rest) -= s * row;
        }
    }
}

void MinNorm::solve(double* b) const {
    const Eigen::Index n = factors_.rows(), rank = rank_, rest = n - rank;
    if (n == 0) return;
    Eigen::Map<VecX> x(b, n);
    for (Eigen::Index k = 0; k < rank; ++k) {
        const auto essential = factors_.col(k).tail(n - k - 1);
        const double s = q_tau_[k] * (x[k] + essential.dot(x.tail(n - k - 1)));
        x[k] -= s;
        x.tail(n - k - 1) -= s * essential;
    }
    for (Eigen::Index k = rank - 1; k >= 0; --k) {
        x[k] /= factors_(k, k);
        x.head(k) -= x[k] * factors_.col(k).head(k);
    }
    x.tail(rest).setZero();
    for (Eigen::Index k = 0; k < rank && rest > 0; ++k) {
        const auto row = factors_.row(k).tail(rest);
        const double s = z_tau_[k] * (x[k] + row.dot(x.tail(rest).transpose()));
        x[k] -= s;
        x.tail(rest) -= s * row.transpose();
    }
    for (Eigen::Index k = 0; k < n; ++k) work_[order_[k]] = x[k];
    x = work_.vec();
}

}  // namespace stickslip
