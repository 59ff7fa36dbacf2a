// Products of one group of rows, for loops over groups or bodies that threads share. Each number is summed in the order of the plain loop.
#pragma once

#include "math/row_kernels.hpp"
#include "stickslip/blocks.hpp"

namespace stickslip {

// out += J x of one block with N columns, row by row.
template <int N>
inline void add_rows(const double* j, const double* x, int rows, double* out) {
    for (int i = 0; i < rows; ++i, j += N) {
        double sum = 0;
#pragma GCC unroll 6
        for (int k = 0; k < N; ++k) sum += j[k] * x[k];
        out[i] += sum;
    }
}

// out += J' p of one block with N columns: the sums stay in registers over the rows.
template <int N>
inline void add_transpose(const double* j, const double* p, int rows, double* out) {
    double sum[N];
    for (int k = 0; k < N; ++k) sum[k] = out[k];
    for (int i = 0; i < rows; ++i, j += N)
        for (int k = 0; k < N; ++k) sum[k] += j[k] * p[i];
    for (int k = 0; k < N; ++k) out[k] = sum[k];
}

// Of six velocities, and nothing else.
inline bool touches_bodies(const BlockRows& J, int g, const int* start) {
    for (int b = J.first[g]; b < J.first[g + 1]; ++b)
        if (start[J.blocks[b].node + 1] - start[J.blocks[b].node] != 6) return false;
    return true;
}

// u = J v in the rows of group g; v and u whole.
inline void group_product(const BlockRows& J, const Nodes& nodes, int g, const double* v, double* u) {
    const int first = J.row[g], rows = J.row[g + 1] - first;
    const int* const start = nodes.start.data();
    double* const out = u + first;
    if (rows == 3 && touches_bodies(J, g, start)) {
        kernels::ThreeRows contact;
        for (int b = J.first[g]; b < J.first[g + 1]; ++b)
            contact.add(J.values.data() + J.blocks[b].offset, v + start[J.blocks[b].node]);
        return contact.sums(out);
    }
    for (int i = 0; i < rows; ++i) out[i] = 0;
    for (int b = J.first[g]; b < J.first[g + 1]; ++b) {
        const int node = J.blocks[b].node, d = start[node + 1] - start[node];
        const double* j = J.values.data() + J.blocks[b].offset;
        const double* x = v + start[node];
        if (d == 6) {
            add_rows<6>(j, x, rows, out);
        } else if (d == 3) {
            add_rows<3>(j, x, rows, out);
        } else if (d == 2) {
            add_rows<2>(j, x, rows, out);
        } else {
            for (int i = 0; i < rows; ++i, j += d) {
                double sum = 0;
                for (int k = 0; k < d; ++k) sum += j[k] * x[k];
                out[i] += sum;
            }
        }
    }
}

// y += J' p of one block of d columns; y of its node, p of its group.
inline void add_block_transpose(const double* j, int d, const double* p, int rows, double* y) {
    if (d == 6 && rows == 3) return kernels::add_transpose_36(j, p, y);
    if (d == 6) return add_transpose<6>(j, p, rows, y);
    if (d == 3) return add_transpose<3>(j, p, rows, y);
    for (int i = 0; i < rows; ++i, j += d)
        for (int k = 0; k < d; ++k) y[k] += j[k] * p[i];
}

// The blocks of rows body by body, in the order of the rows: so J' p has the bits of BlockRows::add_transpose_product, but bodies can be
// shared out among threads.
class BlockColumns {
public:
    void list(const BlockRows& J, int nodes) {
        first_.assign(static_cast<std::size_t>(nodes) + 1, 0);
        for (int b = 0; b < J.first.back(); ++b) ++first_[J.blocks[b].node + 1];
        for (int n = 0; n < nodes; ++n) first_[n + 1] += first_[n];
        group_.resize(static_cast<std::size_t>(first_.back()));
        offset_.resize(group_.size());
        for (int g = 0; g < J.groups(); ++g) {
            for (const BlockRows::Block& b : J.blocks_of(g)) {
                group_[first_[b.node]] = g;
                offset_[first_[b.node]++] = b.offset;
            }
        }
        for (int n = nodes; n > 0; --n) first_[n] = first_[n - 1];
        first_[0] = 0;
    }
    // y += J' p in the entries of node n; p and y whole. J is the one that was listed, or has the same blocks.
    void add_transpose_product(const BlockRows& J, const Nodes& nodes, int n, const double* p, double* y) const {
        for (int k = first_[n]; k < first_[n + 1]; ++k)
            add_block_transpose(J.values.data() + offset_[k], nodes.dof(n), p + J.row[group_[k]], J.dim(group_[k]),
                                y + nodes.start[n]);
    }

private:
    std::vector<int> first_{0}, group_, offset_;
};

}  // namespace stickslip
