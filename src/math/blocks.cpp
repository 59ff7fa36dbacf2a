#include "stickslip/blocks.hpp"

#include "base/parallel.hpp"
#include "math/group_products.hpp"
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

namespace {

constexpr int nodes_of_part = 500;  // some microseconds

// y += s A x of one block of N x N.
template <int N>
void add_square_product(double s, const double* a, const double* x, double* y) {
    double sum[N] = {};
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < N; ++i) sum[i] += a[i + N * j] * x[j];
    for (int i = 0; i < N; ++i) y[i] += s * sum[i];
}

}  // namespace

void BlockMatrix::add_product(double s, const ConstRef& x, Eigen::Ref<VecX> y) const {
    each_in_parallel(nodes.size(), nodes_of_part, [&](int n) {
        const int i = nodes.start[n], d = nodes.dof(n);
        if (d == 6)
            add_square_product<6>(s, values.data() + diagonal[n], x.data() + i, y.data() + i);
        else if (d == 3)
            add_square_product<3>(s, values.data() + diagonal[n], x.data() + i, y.data() + i);
        else
            y.segment(i, d).noalias() += s * block(n).lazyProduct(x.segment(i, d));
    });
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

constexpr int groups_of_part = 250;  // some microseconds, as long as threads take to meet

}  // namespace

void BlockRows::product(const Nodes& nodes, const ConstRef& v, Eigen::Ref<VecX> u) const {
    const double* const from = v.data();
    double* const out = u.data();
    each_in_parallel(groups(), groups_of_part, [&](int g) { group_product(*this, nodes, g, from, out); });
}

void BlockRows::add_transpose_product(const Nodes& nodes, const ConstRef& p, Eigen::Ref<VecX> y) const {
    for (int g = 0; g < groups(); ++g)
        for (const Block& b : blocks_of(g))
            add_block_transpose(values.data() + b.offset, nodes.dof(b.node), p.data() + row[g], dim(g), y.data() + nodes.start[b.node]);
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
