#include "problems/least_in_cones.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"

namespace stickslip {

namespace {

// Added to the diagonal of J, whose entries are at most about 1. If smaller, rounding makes J indefinite where B has no rank; if
// larger, weak directions need many steps.
constexpr double nothing_there = 1e-12;
// Square of the independent part of a unit row, above which it counts.
constexpr double independent = 1e-9;
// Share of the terms of B x up to which two images are the same.
constexpr double same_image = 1e-13, nearly_same = 1e-11;
constexpr int max_steps = 25, max_shorter_steps = 12;
constexpr double share_of_descent = 1e-4;

}  // namespace

void LeastInCones::scale_rows() {
    for (Eigen::Index i = 0; i < B.rows(); ++i) {
        const double length = B.row(i).norm();
        if (length > 0) B.row(i) /= length;
    }
}

// The derivative of the projection at B' y. Polygons are piecewise flat and discs smooth, so that differences do.
void LeastInCones::slope(const Part& part, double D[3][3]) const {
    const double* at = before_.data() + part.first;
    const double* image = trial_.data() + part.first;
    double size = 0, moved = 0;
    for (int k = 0; k < part.size; ++k) {
        size = std::max(size, std::abs(at[k]));
        moved = std::max(moved, std::abs(at[k] - image[k]));
    }
    const double h = 1e-7 * size;
    for (int j = 0; j < part.size; ++j) {
        double near[3] = {at[0], part.size > 1 ? at[1] : 0, part.size > 2 ? at[2] : 0};
        near[j] += h;
        if (moved > 0) project_cone(part.size, part.mu, part.facets, near);
        for (int k = 0; k < part.size; ++k) D[k][j] = moved > 0 ? (near[k] - image[k]) / h : (k == j ? 1.0 : 0.0);
    }
    for (int j = 0; j < part.size; ++j)
        for (int k = 0; k < j; ++k) D[k][j] = D[j][k] = 0.5 * (D[k][j] + D[j][k]);
}

// J := B D B' + eps, its lower half.
void LeastInCones::weigh(bool inside) {
    const Eigen::Index n = B.rows();
    const WorkMat* right = &B;
    if (!inside) {
        weighted_.resize(n, B.cols());
        for (const Part& part : parts) {
            double D[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
            if (part.cone == Part::Cone::ray) D[0][0] = before_[part.first] > 0 ? 1 : 0;
            if (part.cone == Part::Cone::friction) slope(part, D);
            for (int j = 0; j < part.size; ++j) {
                auto column = weighted_.col(part.first + j);
                column = D[0][j] * B.col(part.first);
                for (int k = 1; k < part.size; ++k) column += D[k][j] * B.col(part.first + k);
            }
        }
        right = &weighted_;
    }
    J_.setZero(n, n);
    for (Eigen::Index c = 0; c < B.cols(); ++c)
        for (Eigen::Index j = 0; j < n; ++j) {
            const double b = (*right)(j, c);
            if (b != 0) J_.col(j).tail(n - j) += b * B.col(c).tail(n - j);
        }
    J_.diagonal().array() += nothing_there;
}

// Cholesky in place. The pivots are squares of the independent parts of the rows.
bool LeastInCones::factor() {
    const Eigen::Index n = J_.rows();
    rank_ = 0;
    for (Eigen::Index k = 0; k < n; ++k) {
        const double pivot = J_(k, k);
        if (!(pivot > 0.1 * nothing_there)) return false;
        rank_ += pivot > independent;
        const double root = std::sqrt(pivot);
        J_.col(k).tail(n - k) /= root;
        for (Eigen::Index j = k + 1; j < n; ++j)
            if (const double l = J_(j, k); l != 0) J_.col(j).tail(n - j) -= l * J_.col(k).tail(n - j);
    }
    return true;
}

void LeastInCones::back_substitute(RowVec& y) const {
    const Eigen::Index n = J_.rows();
    for (Eigen::Index k = 0; k < n; ++k) {
        y[k] /= J_(k, k);
        y.tail(n - k - 1) -= y[k] * J_.col(k).tail(n - k - 1);
    }
    for (Eigen::Index k = n - 1; k >= 0; --k)
        y[k] = (y[k] - J_.col(k).tail(n - k - 1).dot(y.tail(n - k - 1))) / J_(k, k);
}

double LeastInCones::project() {
    before_.vec().noalias() = B.transpose().lazyProduct(y_try_.vec());
    trial_ = before_;
    for (const Part& part : parts) {
        if (part.cone == Part::Cone::ray) trial_[part.first] = std::max(0.0, trial_[part.first]);
        if (part.cone == Part::Cone::friction)
            project_cone(part.size, part.mu, part.facets, trial_.data() + part.first);
    }
    return 0.5 * trial_.vec().squaredNorm() - f_.vec().dot(y_try_.vec());
}

bool LeastInCones::solve() {
    const Eigen::Index n = B.rows(), m = B.cols();
    scale_rows();
    for (RowVec* of_rows : {&f_, &y_, &y_try_, &left_, &step_}) of_rows->setZero(n);
    for (RowVec* of_columns : {&before_, &trial_}) of_columns->resize(m);
    f_.vec().noalias() = B.lazyProduct(x.vec());
    size_ = 0;
    for (Eigen::Index i = 0; i < n; ++i) size_ = std::max(size_, B.row(i).cwiseAbs().dot(x.vec().cwiseAbs()));
    weigh(true);
    if (!factor()) return false;
    if (freedom() == 0) return true;  // there is no other
    const int rank = rank_;
    bool whole = true;  // J has the identity for D
    double value = 0, error = infinity, last = infinity;
    left_ = f_.vec();
    for (int round = 0; round < max_steps && error > same_image * size_; ++round) {
        const bool inside = round == 0 || before_.vec() == trial_.vec();
        if (!inside || !whole) {
            weigh(inside);
            if (!factor()) break;
            whole = inside;
        }
        step_ = left_.vec();
        back_substitute(step_);
        const double descent = left_.vec().dot(step_.vec());
        double share = 1, now = infinity;
        for (int half = 0; half < max_shorter_steps; ++half, share *= 0.5) {
            y_try_ = y_.vec() + share * step_.vec();
            now = project();
            if (now <= value - share_of_descent * share * descent + 1e-15 * std::abs(value)) break;
        }
        y_ = y_try_.vec();
        value = now;
        left_ = f_.vec() - B.lazyProduct(trial_.vec());
        last = error;
        error = left_.vec().cwiseAbs().maxCoeff();
        if (error <= nearly_same * size_ && !(error < 0.5 * last)) break;  // rounding is all that is left
    }
    rank_ = rank;
    if (!(error <= nearly_same * size_)) return false;
    x = trial_.vec();
    return true;
}

}  // namespace stickslip
