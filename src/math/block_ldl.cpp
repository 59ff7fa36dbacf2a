// The numbers: columns, factor, solve. The pattern is in block_ldl_pattern.cpp.
#include "math/block_ldl.hpp"

#include <algorithm>
#include <cmath>

#include "math/block_kernels.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

void BlockLdl::set_zero() { std::fill(matrix_.begin(), matrix_.end(), 0.0); }

// Column j of L and the pivots of its node, from the matrix and the earlier columns.
bool BlockLdl::column(int j, Status& status) {
    using namespace kernels;
    double* const values = values_.data();
    const int d = dim_[j], begin = column_[j], end = column_[j + 1];
    double* const C = values + start_[j];

    const int given = original_start_[j + 1] - original_start_[j];
    if (given < 1 + end - begin) std::fill(C, values + start_[j + 1], 0.0);  // else every block is overwritten
    for (int o = original_start_[j]; o < original_start_[j + 1]; ++o) {
        const Original& block = original_[o];
        const double* from = matrix_.data() + block.from;
        double* to = values + block.to;
        if (!block.transposed) {
            std::copy_n(from, block.rows * block.columns, to);
        } else {
            for (int c = 0; c < block.columns; ++c)
                for (int r = 0; r < block.rows; ++r) to[r + c * block.rows] = from[c + r * block.columns];
        }
    }
    for (int e = begin; e < end; ++e) target_[row_[e]] = offset_[e];
    double* const size = size_.data();  // of the terms that each pivot sums up
    for (int i = 0; i < d; ++i) size[i] = std::abs(C[i * (d + 1)]);

    // C -= L_ik D_k L_jk' for every earlier k in row j
    double* const Y = scaled_.data();
    for (int t = row_start_[j]; t < row_start_[j + 1];) {
        const int run = run_[t], k = row_column_[t], e = row_entry_[t], q = dim_[k];
        for (int i = 0; i < d; ++i) size[d + i] = C[i * (d + 1)];
        if (run > 0) {
            const double* L[longest_run];
            for (int s = 0; s < run; ++s) {
                L[s] = values + offset_[row_entry_[t + s]];
                scale(L[s], pivot_.data() + pivot_start_[row_column_[t + s]], Y + 36 * s, 6, 6);
            }
            update_66_run(L, 0, Y, C, run);
            for (int f = e + 1, last = column_[k + 1]; f < last; ++f)
                update_66_run(L, 36 * (f - e), Y, values + target_[row_[f]], run);
        } else {
            scale(values + offset_[e], pivot_.data() + pivot_start_[k], Y, d, q);
            update_any(values + offset_[e], Y, C, d, d, q);
            for (int f = e + 1, last = column_[k + 1]; f < last; ++f) {
                const int i = row_[f];
                update_any(values + offset_[f], Y, values + target_[i], dim_[i], d, q);
            }
        }
        for (int i = 0; i < d; ++i) size[i] += std::abs(C[i * (d + 1)] - size[d + i]);
        t += std::max(run, 1);
    }

    const int node = elimination_[j];
    double* const inverse = inverse_.data() + pivot_start_[j];
    double* const pivot = pivot_.data() + pivot_start_[j];
    for (int i = 0; i < d; ++i) size[i] *= pivot_tolerance;
    const int good = factor_any(C, inverse, size, signs_[node], d);
    if (good < d) {
        status = {false, node, good, C[good * (d + 1)]};
        return false;
    }
    for (int i = 0; i < d; ++i) pivot[i] = C[i * (d + 1)];
    for (int e = begin; e < end; ++e) right_any(C, inverse, values + offset_[e], dim_[row_[e]], d);
    return true;
}

BlockLdl::Status BlockLdl::factor() {
    std::fill(dirty_.begin(), dirty_.end(), 1);
    factored_ = true;
    return refactor();
}

BlockLdl::Status BlockLdl::refactor() {
    SS_ASSERT(analysed_, "factor without a pattern");
    if (!factored_) std::fill(dirty_.begin(), dirty_.end(), 1);
    Status status;
    factored_ = false;
    refactored_ = 0;
    for (int k = 0, n = nodes_.size(); k < n; ++k) {
        if (!dirty_[k]) continue;
        ++refactored_;
        if (!column(k, status)) return status;
        dirty_[k] = 0;
        if (parent_[k] >= 0) dirty_[parent_[k]] = 1;
    }
    factored_ = true;
    return status;
}

void BlockLdl::solve(double* x) const {
    using namespace kernels;
    const int n = nodes_.size();
    const double* const values = values_.data();
    for (int k = 0; k < n; ++k) {
        double* const xk = x + nodes_.start[elimination_[k]];
        unit_lower(values + start_[k], xk, dim_[k]);
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            const int i = row_[e];
            forward_any(values + offset_[e], xk, x + nodes_.start[elimination_[i]], dim_[i], dim_[k]);
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        double* const xk = x + nodes_.start[elimination_[k]];
        const double* const pivot = pivot_.data() + pivot_start_[k];
        for (int i = 0; i < dim_[k]; ++i) xk[i] /= pivot[i];
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            const int i = row_[e];
            backward_any(values + offset_[e], x + nodes_.start[elimination_[i]], xk, dim_[i], dim_[k]);
        }
        unit_upper(values + start_[k], xk, dim_[k]);
    }
}

}  // namespace stickslip
