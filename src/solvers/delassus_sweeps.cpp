#include "solvers/delassus_sweeps.hpp"

#include <cmath>

#include "problems/cones.hpp"
#include "solvers/local/contact_solve.hpp"

namespace stickslip {

void DelassusSweeps::prepare(const DelassusProblem& problem, int seed) {
    const BlockMatrix& W = problem.W;
    const int n = problem.contacts();
    first_.assign(static_cast<std::size_t>(n) + 1, 0);
    for (const BlockMatrix::Coupling& c : W.couplings) ++first_[c.row_node + 1];
    for (int i = 0; i < n; ++i) first_[i + 1] += first_[i];
    next_.assign(first_.begin(), first_.end() - 1);
    column_.resize(W.couplings.size());
    values_.assign(W.couplings.size() * block_size, 0.0);
    for (const BlockMatrix::Coupling& c : W.couplings) {
        const int at = next_[c.row_node]++, height = W.nodes.dof(c.row_node), width = W.nodes.dof(c.column_node);
        column_[at] = c.column_node;
        const double* from = W.values.data() + c.offset;
        double* to = values_.data() + static_cast<std::size_t>(at) * block_size;
        for (int s = 0; s < width; ++s)
            for (int r = 0; r < height; ++r) to[r + s * column_size] = from[r + s * height];
    }
    order_.start(n, seed);
}

int DelassusSweeps::sweep(const DelassusProblem& problem, double relaxation, double still, bool all,
                          DelassusSolution& x) {
    using Vec4 = Eigen::Matrix<double, 4, 1>;
    const Nodes& rows = problem.W.nodes;
    int changed = 0;
    order_.sweep(all, [&](int i) {
        const int start = rows.start[i], dim = rows.dof(i);
        Vec4 q = Vec4::Zero();
        for (int e = first_[i]; e < first_[i + 1]; ++e) {
            const double* block = values_.data() + static_cast<std::size_t>(e) * block_size;
            const int from = rows.start[column_[e]], width = rows.dof(column_[e]);
            for (int s = 0; s < width; ++s)
                q += x.p[from + s] * Eigen::Map<const Vec4, Eigen::Aligned32>(block + s * column_size);
        }
        double* p = x.p.data() + start;
        double seen[3] = {0, 0, 0}, next[3] = {0, 0, 0};
        for (int r = 0; r < dim; ++r) {
            seen[r] = q[r] + problem.q[start + r];
            next[r] = p[r];
        }
        const double mu = problem.friction[i];
        const int facets = problem.facets[i];
        const double* W = problem.W.values.data() + problem.W.diagonal[i];
        const ContactMode mode = solve_contact(dim, mu, facets, W, seen, next);
        if (relaxation != 1) {
            for (int r = 0; r < dim; ++r) next[r] = p[r] + relaxation * (next[r] - p[r]);
            project_cone(dim, mu, facets, next);
        }
        double moved = 0;
        for (int r = 0; r < dim; ++r) {
            moved = std::max(moved, std::abs(next[r] - p[r]) * W[r * (dim + 1)]);
            p[r] = next[r];
        }
        changed += mode != x.modes[i];
        x.modes[i] = mode;
        return moved > still;
    });
    return changed;
}

}  // namespace stickslip
