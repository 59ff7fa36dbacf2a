#include "stickslip/blocks.hpp"

#include "math/row_kernels.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

void BlockMatrix::shape_diagonal(const Nodes& layout) {
    nodes.start.assign(layout.start.begin(), layout.start.end());
    diagonal.clear();
    couplings.clear();
    int offset = 0;
    for (int n = 0; n < nodes.size(); ++n) {
        diagonal.push_back(offset);
        offset += nodes.dof(n) * nodes.dof(n);
    }
    values.assign(static_cast<std::size_t>(offset), 0.0);
}

const BlockMatrix::Coupling& BlockMatrix::add_coupling(int row_node, int column_node) {
    const int offset = static_cast<int>(values.size());
    values.resize(values.size() + static_cast<std::size_t>(nodes.dof(row_node) * nodes.dof(column_node)), 0.0);
    couplings.push_back({row_node, column_node, offset});
    return couplings.back();
}

bool BlockMatrix::same_pattern(const BlockMatrix& other) const {
    return couplings == other.couplings && diagonal == other.diagonal && nodes == other.nodes;
}

void BlockMatrix::add(double s, const BlockMatrix& B) {
    if (same_pattern(B)) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += s * B.values[i];
        return;
    }
    SS_ASSERT(nodes == B.nodes, "sum of matrices over different nodes");
    for (int n = 0; n < nodes.size(); ++n) block(n) += s * B.block(n);
    std::size_t at = 0;  // patterns mostly come in the same order: the search goes on where it ended
    for (const Coupling& c : B.couplings) {
        const auto fits = [&](const Coupling& own) {
            return own.row_node == c.row_node && own.column_node == c.column_node;
        };
        std::size_t looked_at = 0;
        for (; looked_at < couplings.size(); ++looked_at, ++at) {
            if (at >= couplings.size()) at = 0;
            if (fits(couplings[at])) break;
        }
        if (looked_at == couplings.size()) {
            at = couplings.size();
            add_coupling(c.row_node, c.column_node);
        }
        block(couplings[at]) += s * B.block(c);
    }
}

void BlockMatrix::add(double s, const BlockMatrix& B, double t, const BlockMatrix& C) {
    if (same_pattern(B) && same_pattern(C)) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += s * (B.values[i] + t * C.values[i]);
        return;
    }
    add(s, B);
    add(s * t, C);
}

void BlockMatrix::add_product(double s, const ConstRef& x, Eigen::Ref<VecX> y) const {
    for (int n = 0; n < nodes.size(); ++n) {
        const int i = nodes.start[n], d = nodes.dof(n);
        y.segment(i, d).noalias() += s * block(n).lazyProduct(x.segment(i, d));
    }
    for (const Coupling& c : couplings) {
        y.segment(nodes.start[c.row_node], nodes.dof(c.row_node)).noalias() +=
            s * block(c).lazyProduct(x.segment(nodes.start[c.column_node], nodes.dof(c.column_node)));
    }
}

double BlockMatrix::quadratic(const ConstRef& x) const {
    double sum = 0;
    for (int n = 0; n < nodes.size(); ++n) {
        const auto x_n = x.segment(nodes.start[n], nodes.dof(n));
        sum += x_n.dot(block(n).lazyProduct(x_n));
    }
    for (const Coupling& c : couplings) {
        sum += x.segment(nodes.start[c.row_node], nodes.dof(c.row_node))
                   .dot(block(c).lazyProduct(x.segment(nodes.start[c.column_node], nodes.dof(c.column_node))));
    }
    return sum;
}

MatX BlockMatrix::dense() const {
    MatX full = MatX::Zero(nodes.nv(), nodes.nv());
    for (int n = 0; n < nodes.size(); ++n)
        full.block(nodes.start[n], nodes.start[n], nodes.dof(n), nodes.dof(n)) = block(n);
    for (const Coupling& c : couplings) {
        full.block(nodes.start[c.row_node], nodes.start[c.column_node], nodes.dof(c.row_node),
                   nodes.dof(c.column_node)) += block(c);
    }
    return full;
}

void BlockRows::clear() {
    row.resize(1);
    first.resize(1);
    blocks.clear();
    values.clear();
}

void BlockRows::begin_group(int dim) {
    row.push_back(row.back() + dim);
    first.push_back(first.back());
}

Eigen::Map<BlockRows::RowMajor> BlockRows::add_block(int node, int dof) {
    const int dim = row[row.size() - 1] - row[row.size() - 2];
    const int offset = static_cast<int>(values.size());
    blocks.push_back({node, offset});
    first.back() += 1;
    values.resize(values.size() + static_cast<std::size_t>(dim * dof));  // zeros; naming them takes twice as long
    return {values.data() + offset, dim, dof};
}

void BlockRows::keep(const std::vector<char>& wanted) {
    int kept = 0, kept_blocks = 0;
    int row_before = 0, first_before = 0;
    for (int g = 0, n = groups(); g < n; ++g) {
        const int dim = row[g + 1] - row_before;
        const int count = first[g + 1] - first_before;
        row_before = row[g + 1];
        const int from = first_before;
        first_before = first[g + 1];
        if (!wanted[g]) continue;
        for (int i = 0; i < count; ++i) blocks[kept_blocks + i] = blocks[from + i];  // values stay where they are
        kept_blocks += count;
        row[kept + 1] = row[kept] + dim;
        first[kept + 1] = kept_blocks;
        ++kept;
    }
    row.resize(static_cast<std::size_t>(kept) + 1);
    first.resize(static_cast<std::size_t>(kept) + 1);
    blocks.resize(static_cast<std::size_t>(kept_blocks));
}

namespace {

// out += J x of one block with N columns, each row summed in the order of the plain loop.
template <int N>
void add_rows(const double* j, const double* x, int rows, double* out) {
    for (int i = 0; i < rows; ++i, j += N) {
        double sum = 0;
#pragma GCC unroll 6
        for (int k = 0; k < N; ++k) sum += j[k] * x[k];
        out[i] += sum;
    }
}

}  // namespace

void BlockRows::product(const Nodes& nodes, const ConstRef& v, Eigen::Ref<VecX> u) const {
    const auto touches_bodies = [this](int g, const int* from) {  // of six velocities, and nothing else
        for (int b = first[g]; b < first[g + 1]; ++b)
            if (from[blocks[b].node + 1] - from[blocks[b].node] != 6) return false;
        return true;
    };
    const int *start = nodes.start.data(), *rows_of = row.data(), *blocks_from = first.data();
    const double *all = values.data(), *from = v.data();
    double* out = u.data();
    for (int g = 0, n = groups(); g < n; ++g) {
        const int i0 = rows_of[g], i1 = rows_of[g + 1];
        if (i1 - i0 == 3 && touches_bodies(g, start)) {
            kernels::ThreeRows contact;
            for (int b = blocks_from[g]; b < blocks_from[g + 1]; ++b) contact.add(all + blocks[b].offset, from + start[blocks[b].node]);
            contact.sums(out + i0);
            continue;
        }
        for (int i = i0; i < i1; ++i) out[i] = 0;
        for (int b = blocks_from[g]; b < blocks_from[g + 1]; ++b) {
            const int node = blocks[b].node, d = start[node + 1] - start[node];
            const double* j = all + blocks[b].offset;
            const double* x = from + start[node];
            if (d == 6) {
                add_rows<6>(j, x, i1 - i0, out + i0);
            } else if (d == 3) {
                add_rows<3>(j, x, i1 - i0, out + i0);
            } else if (d == 2) {
                add_rows<2>(j, x, i1 - i0, out + i0);
            } else {
                for (int i = i0; i < i1; ++i, j += d) {
                    double sum = 0;
                    for (int k = 0; k < d; ++k) sum += j[k] * x[k];
                    out[i] += sum;
                }
            }
        }
    }
}

namespace {

// out += J' p of one block with N columns: the sums stay in registers over the rows, in the order of the plain loop.
template <int N>
void add_transpose(const double* j, const double* p, int rows, double* out) {
    double sum[N];
    for (int k = 0; k < N; ++k) sum[k] = out[k];
    for (int i = 0; i < rows; ++i, j += N)
        for (int k = 0; k < N; ++k) sum[k] += j[k] * p[i];
    for (int k = 0; k < N; ++k) out[k] = sum[k];
}

}  // namespace

void BlockRows::add_transpose_product(const Nodes& nodes, const ConstRef& p, Eigen::Ref<VecX> y) const {
    const double* const from = p.data();
    for (int g = 0; g < groups(); ++g) {
        const int rows_of_group = dim(g);
        for (const Block& b : blocks_of(g)) {
            const int d = nodes.dof(b.node);
            const double* j = values.data() + b.offset;
            double* out = y.data() + nodes.start[b.node];
            if (d == 6 && rows_of_group == 3) {
                kernels::add_transpose_36(j, from + row[g], out);
            } else if (d == 6) {
                add_transpose<6>(j, from + row[g], rows_of_group, out);
            } else if (d == 3) {
                add_transpose<3>(j, from + row[g], rows_of_group, out);
            } else {
                for (int i = row[g]; i < row[g + 1]; ++i, j += d)
                    for (int k = 0; k < d; ++k) out[k] += j[k] * from[i];
            }
        }
    }
}

void BlockRows::add_dense(const Nodes& nodes, Eigen::Ref<MatX> full) const {
    for (int g = 0; g < groups(); ++g)
        for (const Block& b : blocks_of(g))
            full.block(row[g], nodes.start[b.node], dim(g), nodes.dof(b.node)) += values_of(g, b, nodes);
}

MatX BlockRows::dense(const Nodes& nodes) const {
    MatX full = MatX::Zero(rows(), nodes.nv());
    add_dense(nodes, full);
    return full;
}

}  // namespace stickslip
