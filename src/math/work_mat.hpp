// A matrix for work that differs in size from step to step. Unlike MatX it keeps its memory when it shrinks (RowVec of
// blocks.hpp is the same for vectors), so that solvers allocate nothing once they have met their largest problem.
#pragma once

#include <algorithm>
#include <new>

#include "stickslip/blocks.hpp"

namespace stickslip {

class WorkMat : public Eigen::Map<MatX> {
public:
    WorkMat() : Eigen::Map<MatX>(nullptr, 0, 0) {}
    WorkMat(const WorkMat& other) : WorkMat() { *this = other; }
    WorkMat& operator=(const WorkMat& other) {
        resize(other.rows(), other.cols());
        std::copy_n(other.data(), other.size(), data());
        return *this;
    }
    template <class Expression>
    WorkMat& operator=(const Eigen::MatrixBase<Expression>& x) {  // no products: they need a temporary; use add_product
        resize(x.rows(), x.cols());
        Eigen::Map<MatX>::operator=(x);
        return *this;
    }
    void resize(Eigen::Index rows, Eigen::Index cols) {  // entries are lost
        if (storage_.size() < static_cast<std::size_t>(rows * cols))
            storage_.resize(std::max(static_cast<std::size_t>(rows * cols), 2 * storage_.size()));
        new (static_cast<Eigen::Map<MatX>*>(this)) Eigen::Map<MatX>(storage_.data(), rows, cols);
    }
    using Eigen::Map<MatX>::setZero;
    void setZero(Eigen::Index rows, Eigen::Index cols) {
        resize(rows, cols);
        setZero();
    }

private:
    AlignedDoubles storage_;
};

// C += A B and C -= A B in tiles that keep Eigen's packing buffers on the stack: whole products put them on the heap
// above 128 kB.
template <class A, class B, class Use>
void product_in_tiles(const A& a, const B& b, Use&& use) {
    constexpr Eigen::Index tile = 48, depth = 192;
    for (Eigen::Index k = 0; k < a.cols(); k += depth) {
        const Eigen::Index nk = std::min(depth, a.cols() - k);
        for (Eigen::Index j = 0; j < b.cols(); j += tile) {
            const Eigen::Index nj = std::min(tile, b.cols() - j);
            for (Eigen::Index i = 0; i < a.rows(); i += tile) {
                const Eigen::Index ni = std::min(tile, a.rows() - i);
                use(i, j, ni, nj, a.block(i, k, ni, nk) * b.block(k, j, nk, nj));
            }
        }
    }
}

template <class A, class B>
void add_product(const A& a, const B& b, WorkMat& c) {
    product_in_tiles(a, b, [&](Eigen::Index i, Eigen::Index j, Eigen::Index ni, Eigen::Index nj, const auto& ab) {
        c.block(i, j, ni, nj).noalias() += ab;
    });
}

template <class A, class B>
void subtract_product(const A& a, const B& b, WorkMat& c) {
    product_in_tiles(a, b, [&](Eigen::Index i, Eigen::Index j, Eigen::Index ni, Eigen::Index nj, const auto& ab) {
        c.block(i, j, ni, nj).noalias() -= ab;
    });
}

}  // namespace stickslip
