#include "problems/convert/to_lcp.hpp"

#include <cmath>

#include "problems/cones.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// The tangential direction of beta_j; `d` has dim - 1 entries.
void direction(const LcpBlock& block, int j, double* d) {
    if (block.dim == 2) {
        d[0] = j == 0 ? 1.0 : -1.0;
    } else {
        const Vec2& corner = polygon(block.facets).corner[j];
        d[0] = corner.x();
        d[1] = corner.y();
    }
}

// Column `variable` of the map x = anchor + X z of one block: entries on its kept rows. Zero for sigma and y.
void column(const LcpBlock& block, int variable, double* x) {
    for (int k = 0; k < block.dim; ++k) x[k] = 0;
    if (variable == 0) {
        x[0] = block.sign * block.scale;
    } else if (variable <= block.directions) {
        direction(block, variable - 1, x + 1);
        for (int k = 1; k < block.dim; ++k) x[k] *= block.scale;
    }
}

// w = X' y of one block; zero for sigma and y.
void apply_block_transpose(const LcpBlock& block, const double* y, double* w) {
    if (block.variables == 0) return;
    w[0] = block.sign * block.scale * y[0];
    if (block.dim == 3 && block.directions > 0) {
        const std::vector<Vec2>& corner = polygon(block.facets).corner;
        const double y1 = block.scale * y[1], y2 = block.scale * y[2];
        for (int j = 0; j < block.directions; ++j) w[j + 1] = corner[j].x() * y1 + corner[j].y() * y2;
    } else if (block.directions > 0) {
        w[1] = block.scale * y[1];
        w[2] = -w[1];
    }
    if (block.variables > 1) w[block.variables - 1] = 0;
}

void apply_transpose(const std::vector<LcpBlock>& blocks, const double* y, double* w) {
    for (const LcpBlock& block : blocks) apply_block_transpose(block, y + block.row, w + block.first);
}

// w += X_row' W X_column e_variable, the part of one column of M in one block.
void add_block(const WorkMat& W, const LcpBlock& row, const LcpBlock& block, int variable, double* w) {
    double x[3], y[3] = {0, 0, 0};
    column(block, variable, x);
    for (int k = 0; k < block.dim; ++k)
        if (x[k] != 0)
            for (int l = 0; l < row.dim; ++l) y[l] += x[k] * W(row.row + l, block.row + k);
    apply_block_transpose(row, y, w);
}

// The entries of M beside W: beta and sigma, z and y of a box.
void add_coupling(const LcpBlock& block, int variable, double* w) {
    const int last = block.variables - 1;
    if (block.directions > 0) {
        if (variable == 0) w[last] += block.mu;
        if (variable > 0 && variable < last) w[last] -= 1;
        if (variable == last)
            for (int j = 1; j <= block.directions; ++j) w[j] += 1;
    } else if (block.variables == 2) {
        w[1 - variable] += variable == 0 ? -1 : 1;
    }
}

// Mean diagonal of W_ii. Below this fraction of what it was before the joints took part it is rounding: the joints
// hold the contact, and scaling to one would make matrices of noise.
constexpr double held = 1e-10;
double mean_diagonal(const Elimination& elimination, int row, int dim) {
    const double now = elimination.W().diagonal().segment(row, dim).sum() / dim;
    const double before = elimination.diagonal().segment(row, dim).sum() / dim;
    return now > held * before ? now : before;
}

void make_blocks(const StepProblem& problem, const Elimination& elimination, std::vector<LcpBlock>& blocks) {
    blocks.clear();
    int row = 0, first = 0;
    const auto finish = [&](LcpBlock& block) {
        const double w = mean_diagonal(elimination, row, block.dim);
        block.scale = w > 0 ? 1 / std::sqrt(w) : 1.0;
        block.row = row;
        block.first = first;
        row += block.dim;
        first += block.variables;
        blocks.push_back(block);
    };
    for (const int j : elimination.boxed()) {
        LcpBlock block;
        const double lower = problem.lower[j], upper = problem.upper[j];
        const bool from_below = std::abs(lower) <= std::abs(upper);
        block.anchor = from_below ? lower : upper;
        block.sign = from_below ? 1.0 : -1.0;
        block.width = upper - lower;
        block.variables = block.width <= 0 ? 0 : block.width < infinity ? 2 : 1;
        finish(block);
    }
    for (int i = 0; i < problem.contacts.size(); ++i) {
        LcpBlock block;
        block.dim = problem.contacts.jacobian.dim(i);
        block.mu = problem.contacts.friction[i];
        block.facets = problem.contacts.facets[i];
        if (needs_disc(problem.contacts, i))
            throw Error("an LCP needs polygon cones; contact " + std::to_string(i) + " has a disc");
        block.directions = block.dim == 1 || block.mu == 0 ? 0 : block.dim == 2 ? 2 : block.facets;
        block.variables = block.directions == 0 ? 1 : block.directions + 2;
        finish(block);
    }
}

}  // namespace

bool needs_disc(const ContactRows& contacts, int i) {
    return contacts.jacobian.dim(i) == 3 && is_disc(contacts.facets[i]) && contacts.friction[i] > 0;
}

bool needs_any_disc(const StepProblem& problem) {
    for (int i = 0; i < problem.contacts.size(); ++i)
        if (needs_disc(problem.contacts, i)) return true;
    return false;
}

bool to_lcp(const StepProblem& problem, const Elimination& elimination, Lcp& lcp, double max_entries) {
    make_blocks(problem, elimination, lcp.blocks);
    const WorkMat& W = elimination.W();
    const auto meet = [&](const LcpBlock& a, const LcpBlock& b) {
        return !W.block(a.row, b.row, a.dim, b.dim).isZero(0);
    };
    double count = 0;
    for (const LcpBlock& a : lcp.blocks)
        for (const LcpBlock& b : lcp.blocks)
            if (meet(a, b)) count += a.variables * b.variables;
    if (count > max_entries) return false;
    RowVec& q = lcp.kept_q;
    q = elimination.q();
    int n = 0;
    for (const LcpBlock& block : lcp.blocks) {
        n += block.variables;
        if (block.anchor != 0) q += block.anchor * W.col(block.row);
    }

    // M = X' W X in the blocks where W is not zero, and the couplings with sigma and y
    lcp.q.resize(n);
    lcp.M.begin(n);
    for (const LcpBlock& block : lcp.blocks) {
        if (block.variables == 0) continue;
        lcp.touched.clear();
        for (std::size_t i = 0; i < lcp.blocks.size(); ++i) {
            const LcpBlock& other = lcp.blocks[i];
            const bool any = &other == &block || meet(other, block);
            if (any && other.variables > 0) lcp.touched.push_back(static_cast<int>(i));
        }
        for (int variable = 0; variable < block.variables; ++variable) {
            lcp.M.next_column();
            for (const int i : lcp.touched) {
                const LcpBlock& other = lcp.blocks[i];
                lcp.entries.setZero(other.variables);
                add_block(W, other, block, variable, lcp.entries.data());
                if (&other == &block) add_coupling(block, variable, lcp.entries.data());
                for (int k = 0; k < other.variables; ++k) lcp.M.add(other.first + k, lcp.entries[k]);
            }
        }
    }
    lcp.M.finish();
    apply_transpose(lcp.blocks, q.data(), lcp.q.data());
    for (const LcpBlock& block : lcp.blocks)
        if (block.directions == 0 && block.variables == 2) lcp.q[block.first + 1] += block.width / block.scale;
    return true;
}

void Lcp::impulses(const ConstRef& z, RowVec& x) const {
    const int rows = blocks.empty() ? 0 : blocks.back().row + blocks.back().dim;
    x.setZero(rows);
    double part[3];
    for (const LcpBlock& block : blocks) {
        x[block.row] += block.anchor;
        for (int variable = 0; variable < block.variables; ++variable) {
            column(block, variable, part);
            for (int k = 0; k < block.dim; ++k) x[block.row + k] += part[k] * z[block.first + variable];
        }
    }
}

void Lcp::slacks(const ConstRef& z, const ConstRef& y, RowVec& w) const {
    w.resize(size());
    apply_transpose(blocks, y.data(), w.data());
    for (const LcpBlock& block : blocks) {
        const int last = block.first + block.variables - 1;
        if (block.directions > 0) {
            w[last] += block.mu * z[block.first];
            for (int j = 1; j <= block.directions; ++j) {
                w[block.first + j] += z[last];
                w[last] -= z[block.first + j];
            }
        } else if (block.variables == 2) {
            w[block.first] += z[last];
            w[last] += block.width / block.scale - z[block.first];
        }
    }
}

}  // namespace stickslip
