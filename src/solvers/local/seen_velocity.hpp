// What one contact sees in a sweep: q = c + H v - (W - S) p, its velocity without its own impulse.
#pragma once

#include "stickslip/problem.hpp"

namespace stickslip {

// W is the contact's own Delassus block, column-major; v has the impulses of all contacts in it, p are this one's. q has
// three entries, those beyond its rows stay as they are.
namespace local {

// q += J v of one block with N columns, entry by entry as the plain loop does.
template <int N>
inline void add_block_velocity(const double* j, const double* v, int dim, double* q) {
    for (int r = 0; r < dim; ++r, j += N) {
        double sum = q[r];
#pragma GCC unroll 6
        for (int k = 0; k < N; ++k) sum += j[k] * v[k];
        q[r] = sum;
    }
}

}  // namespace local

inline void seen_velocity(const StepProblem& problem, int i, const double* W, const double* v, const double* p,
                          double* q) {
    const BlockRows& H = problem.contacts.jacobian;
    const Nodes& nodes = problem.nodes();
    const int first = H.row[i], dim = H.dim(i);
    for (int r = 0; r < dim; ++r) {
        q[r] = problem.c[first + r] + problem.S[first + r] * p[r];
        for (int s = 0; s < dim; ++s) q[r] -= W[r + s * dim] * p[s];
    }
    for (const BlockRows::Block& b : H.blocks_of(i)) {
        const int d = nodes.dof(b.node);
        const double* j = H.values.data() + b.offset;
        const double* at = v + nodes.start[b.node];
        if (d == 6) {
            local::add_block_velocity<6>(j, at, dim, q);
        } else if (d == 3) {
            local::add_block_velocity<3>(j, at, dim, q);
        } else {
            for (int r = 0; r < dim; ++r, j += d)
                for (int k = 0; k < d; ++k) q[r] += j[k] * at[k];
        }
    }
}

}  // namespace stickslip
