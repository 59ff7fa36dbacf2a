// Gauss-Seidel sweeps over a stored Delassus problem: contact i sees q_i + sum_j W_ij p_j and is solved exactly with the
// others frozen. W is copied once into rows of padded blocks, so that a sweep reads memory in order.
#pragma once

#include <vector>

#include "solvers/sweep_order.hpp"
#include "stickslip/blocks.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

class DelassusSweeps {
public:
    void prepare(const DelassusProblem& problem, int seed);
    // One sweep; returns how many contacts changed their mode. Changes of velocity below `still` count as none, and
    // contacts without any are left out unless `all`.
    int sweep(const DelassusProblem& problem, double relaxation, double still, bool all, DelassusSolution& x);
    // Work of one sweep, in multiplications: what other ways are weighed against.
    double work() const { return static_cast<double>(12 * column_.size() + 60 * first_.size()); }

private:
    static constexpr int column_size = 4;  // a column of a block, padded
    static constexpr int block_size = 3 * column_size;
    std::vector<int> first_, column_;  // row i: blocks first_[i] .. first_[i + 1] - 1, without the diagonal
    AlignedDoubles values_;
    std::vector<int> next_;
    SweepOrder order_;
};

}  // namespace stickslip
