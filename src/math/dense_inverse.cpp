#include "math/dense_inverse.hpp"

#include <cmath>

namespace stickslip {

namespace {

constexpr Eigen::Index panel = 32;  // columns eliminated one by one before the rest follows as a product

template <class C, class A, class B>
void subtract_tiles(const A& a, const B& b, C&& c) {
    product_in_tiles(a, b, [&](Eigen::Index i, Eigen::Index j, Eigen::Index ni, Eigen::Index nj, const auto& ab) {
        c.block(i, j, ni, nj).noalias() -= ab;
    });
}

}  // namespace

bool DenseInverse::factor() {
    const Eigen::Index n = a_.rows();
    swaps_.resize(static_cast<std::size_t>(n));
    for (Eigen::Index start = 0; start < n; start += panel) {
        const Eigen::Index width = std::min(panel, n - start), end = start + width, rest = n - end;
        for (Eigen::Index k = start; k < end; ++k) {
            Eigen::Index best = k;
            for (Eigen::Index i = k + 1; i < n; ++i)
                if (std::abs(a_(i, k)) > std::abs(a_(best, k))) best = i;
            swaps_[k] = static_cast<int>(best);
            const double pivot = a_(best, k);
            if (!(std::abs(pivot) > 0) || !std::isfinite(pivot)) return false;
            if (best != k)
                for (Eigen::Index j = 0; j < n; ++j) std::swap(a_(k, j), a_(best, j));
            auto below = a_.col(k).tail(n - k - 1);
            below *= 1 / pivot;
            for (Eigen::Index j = k + 1; j < end; ++j) a_.col(j).tail(n - k - 1) -= a_(k, j) * below;
        }
        if (rest == 0) break;
        for (Eigen::Index j = end; j < n; ++j)
            for (Eigen::Index k = start; k < end - 1; ++k)
                a_.col(j).segment(k + 1, end - k - 1) -= a_(k, j) * a_.col(k).segment(k + 1, end - k - 1);
        subtract_tiles(a_.block(end, start, rest, width), a_.block(start, end, width, rest),
                       a_.bottomRightCorner(rest, rest));
    }
    return true;
}

void DenseInverse::solve(double* to) const {
    const Eigen::Index n = a_.rows();
    Eigen::Map<VecX> x(to, n);
    for (Eigen::Index k = 0; k < n; ++k) std::swap(x[k], x[swaps_[k]]);
    for (Eigen::Index k = 0; k < n; ++k) x.tail(n - k - 1) -= x[k] * a_.col(k).tail(n - k - 1);
    for (Eigen::Index k = n; k-- > 0;) {
        x[k] /= a_(k, k);
        x.head(k) -= x[k] * a_.col(k).head(k);
    }
}

void DenseInverse::invert(WorkMat& to) const {
    const Eigen::Index n = a_.rows();
    auto x = to.topLeftCorner(n, n);
    x.setIdentity();
    for (Eigen::Index k = 0; k < n; ++k) {
        const Eigen::Index other = swaps_[k];
        if (other != k) x.row(k).swap(x.row(other));
    }
    for (Eigen::Index start = 0; start < n; start += panel) {  // L
        const Eigen::Index width = std::min(panel, n - start), end = start + width;
        for (Eigen::Index j = 0; j < n; ++j)
            for (Eigen::Index k = start; k < end - 1; ++k)
                if (x(k, j) != 0)
                    x.col(j).segment(k + 1, end - k - 1) -= x(k, j) * a_.col(k).segment(k + 1, end - k - 1);
        if (end < n)
            subtract_tiles(a_.block(end, start, n - end, width), x.middleRows(start, width), x.bottomRows(n - end));
    }
    for (Eigen::Index end = n; end > 0;) {  // U
        const Eigen::Index width = (end - 1) % panel + 1, start = end - width;
        for (Eigen::Index j = 0; j < n; ++j)
            for (Eigen::Index k = end; k-- > start;) {
                x(k, j) /= a_(k, k);
                x.col(j).segment(start, k - start) -= x(k, j) * a_.col(k).segment(start, k - start);
            }
        if (start > 0) subtract_tiles(a_.block(0, start, start, width), x.middleRows(start, width), x.topRows(start));
        end = start;
    }
}

}  // namespace stickslip
