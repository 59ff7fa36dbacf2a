// Block-sparse storage over NODES: a spatial body is a node of 6 velocities, a planar body one of 3, a
// Lagrangian system one of nv. Flat arrays, no pointers per block; clearing keeps the capacity.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "stickslip/types.hpp"

namespace stickslip {

// Storage on the boundary that Eigen's own has. Where vector instructions start decides the order of sums, and with it
// the last bits: memory that malloc places at will would make two runs differ.
using AlignedDoubles = std::vector<double, Eigen::aligned_allocator<double>>;

// A vector whose length follows the number of rows from step to step. Unlike VecX it keeps its memory when it
// shrinks, so that contacts may come and go without a single allocation. It owns the memory and lends it to Eigen as vec();
// entries, segments, sums and assignments can be had without writing that out.
class RowVec {
public:
    using View = Eigen::Map<VecX>;
    using ConstView = Eigen::Map<const VecX>;

    RowVec() = default;
    RowVec(const RowVec&) = default;
    RowVec(RowVec&& x) noexcept : storage_(std::move(x.storage_)), size_(std::exchange(x.size_, 0)) {}
    RowVec& operator=(RowVec&& x) noexcept {
        storage_.swap(x.storage_);
        std::swap(size_, x.size_);
        return *this;
    }
    RowVec& operator=(const RowVec& x) {
        resize(x.size_);
        std::copy_n(x.data(), x.size_, data());
        return *this;
    }
    template <class Expression>
    RowVec(const Eigen::MatrixBase<Expression>& x) {
        *this = x;
    }
    template <class Expression>
    RowVec& operator=(const Eigen::MatrixBase<Expression>& x) {  // x must not refer to *this with another length
        resize(x.size());
        vec() = x;
        return *this;
    }

    View vec() { return {storage_.data(), size()}; }
    ConstView vec() const { return {storage_.data(), size()}; }
    operator Eigen::Ref<VecX>() { return vec(); }
    operator ConstRef() const { return ConstRef(vec()); }

    Eigen::Index size() const { return size_; }
    double* data() { return storage_.data(); }
    const double* data() const { return storage_.data(); }
    double& operator[](Eigen::Index i) { return storage_[i]; }
    const double& operator[](Eigen::Index i) const { return storage_[i]; }

    // Entries are not kept, and new ones are not set.
    void resize(Eigen::Index n) {
        if (n > static_cast<Eigen::Index>(storage_.size())) storage_.resize(static_cast<std::size_t>(n));
        size_ = n;
    }
    void setConstant(Eigen::Index n, double x) {
        resize(n);
        std::fill_n(data(), n, x);
    }
    void setZero(Eigen::Index n) { setConstant(n, 0.0); }
    void setConstant(double x) { vec().setConstant(x); }
    void setZero() { vec().setZero(); }

    auto head(Eigen::Index n) { return vec().head(n); }
    auto head(Eigen::Index n) const { return vec().head(n); }
    auto segment(Eigen::Index from, Eigen::Index n) { return vec().segment(from, n); }
    auto segment(Eigen::Index from, Eigen::Index n) const { return vec().segment(from, n); }
    auto tail(Eigen::Index n) { return vec().tail(n); }
    auto tail(Eigen::Index n) const { return vec().tail(n); }
    auto array() { return vec().array(); }
    auto array() const { return vec().array(); }
    auto cwiseAbs() const { return vec().cwiseAbs(); }
    double minCoeff() const { return vec().minCoeff(); }
    double norm() const { return vec().norm(); }
    double sum() const { return vec().sum(); }
    bool allFinite() const { return vec().allFinite(); }

    RowVec& operator*=(double s) { return vec() *= s, *this; }
    RowVec& operator/=(double s) { return vec() /= s, *this; }
    RowVec& operator+=(const RowVec& x) { return vec() += x.vec(), *this; }
    RowVec& operator-=(const RowVec& x) { return vec() -= x.vec(), *this; }
    template <class Expression>
    RowVec& operator+=(const Eigen::MatrixBase<Expression>& x) {
        return vec() += x, *this;
    }
    template <class Expression>
    RowVec& operator-=(const Eigen::MatrixBase<Expression>& x) {
        return vec() -= x, *this;
    }
    friend bool operator==(const RowVec& x, const RowVec& y) {
        return std::equal(x.data(), x.data() + x.size_, y.data(), y.data() + y.size_);
    }
    friend auto operator-(const RowVec& x) { return -x.vec(); }
    friend auto operator+(const RowVec& x, const RowVec& y) { return x.vec() + y.vec(); }
    friend auto operator-(const RowVec& x, const RowVec& y) { return x.vec() - y.vec(); }
    friend auto operator*(double s, const RowVec& x) { return s * x.vec(); }

private:
    AlignedDoubles storage_;  // never shrinks
    Eigen::Index size_ = 0;   // entries in use
};

// The split of the velocity vector into nodes.
struct Nodes {
    std::vector<int> start{0};  // node n owns v[start[n]] .. v[start[n + 1] - 1]

    int size() const { return static_cast<int>(start.size()) - 1; }
    int dof(int n) const { return start[n + 1] - start[n]; }
    int nv() const { return start.back(); }
    void add(int dof) { start.push_back(start.back() + dof); }
    friend bool operator==(const Nodes&, const Nodes&) = default;
};

// A square matrix over nodes: a dense diagonal block per node and, where nodes are coupled (geometric
// stiffness, exact force Jacobians), off-diagonal blocks. Blocks are column-major. Need not be symmetric.
struct BlockMatrix {
    struct Coupling {
        int row_node, column_node;  // both triangles are stored: (i, j) and (j, i) are two couplings
        int offset;                 // into values
        friend bool operator==(const Coupling&, const Coupling&) = default;
    };
    Nodes nodes;
    std::vector<int> diagonal;  // offset of node n's block in values
    std::vector<Coupling> couplings;
    AlignedDoubles values;

    void shape_diagonal(const Nodes& layout);                     // all diagonal blocks, set to zero, no couplings
    const Coupling& add_coupling(int row_node, int column_node);  // zero; valid until the next one
    bool same_pattern(const BlockMatrix& other) const;            // blocks of the same nodes in the same places
    Eigen::Map<MatX> block(int n) { return {values.data() + diagonal[n], nodes.dof(n), nodes.dof(n)}; }
    Eigen::Map<const MatX> block(int n) const { return {values.data() + diagonal[n], nodes.dof(n), nodes.dof(n)}; }
    Eigen::Map<MatX> block(const Coupling& c) {
        return {values.data() + c.offset, nodes.dof(c.row_node), nodes.dof(c.column_node)};
    }
    Eigen::Map<const MatX> block(const Coupling& c) const {
        return {values.data() + c.offset, nodes.dof(c.row_node), nodes.dof(c.column_node)};
    }
    // A += s B. Couplings that B has and A has not are added to A. Memory grows only with the pattern.
    void add(double s, const BlockMatrix& B);
    void add(double s, const BlockMatrix& B, double t, const BlockMatrix& C);  // A += s (B + t C)
    void add_product(double s, const ConstRef& x, Eigen::Ref<VecX> y) const;   // y += s A x
    double quadratic(const ConstRef& x) const;                                 // x' A x
    MatX dense() const;
};

// Jacobian rows in groups (the rows of one joint, the 1 to 3 components of one contact). A group has one
// dim x dof(node) block per node it touches, row-major so that one row is contiguous.
struct BlockRows {
    struct Block {
        int node;
        int offset;  // into values
    };
    std::vector<int> row{0};    // group g owns rows row[g] .. row[g + 1] - 1
    std::vector<int> first{0};  // and blocks[first[g]] .. blocks[first[g + 1] - 1]
    std::vector<Block> blocks;
    AlignedDoubles values;

    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

    int groups() const { return static_cast<int>(row.size()) - 1; }
    int rows() const { return row.back(); }
    int dim(int g) const { return row[g + 1] - row[g]; }
    std::span<const Block> blocks_of(int g) const {
        return {blocks.data() + first[g], static_cast<std::size_t>(first[g + 1] - first[g])};
    }
    Eigen::Map<RowMajor> values_of(int g, const Block& b, const Nodes& nodes) {
        return {values.data() + b.offset, dim(g), nodes.dof(b.node)};
    }
    Eigen::Map<const RowMajor> values_of(int g, const Block& b, const Nodes& nodes) const {
        return {values.data() + b.offset, dim(g), nodes.dof(b.node)};
    }

    void clear();
    void begin_group(int dim);                          // then add_block for each node it touches
    Eigen::Map<RowMajor> add_block(int node, int dof);  // zero; valid until the next add_block
    void keep(const std::vector<char>& wanted);         // drops the groups g with wanted[g] == 0

    void product(const Nodes& nodes, const ConstRef& v, Eigen::Ref<VecX> u) const;                // u = J v
    void add_transpose_product(const Nodes& nodes, const ConstRef& p, Eigen::Ref<VecX> y) const;  // y += J' p
    void add_dense(const Nodes& nodes, Eigen::Ref<MatX> full) const;  // full += J, rows() x nv
    MatX dense(const Nodes& nodes) const;
};

}  // namespace stickslip
