#include "diagnose/friction_bound.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "diagnose/contact_islands.hpp"

namespace stickslip {

namespace {

// Share of the largest singular value below which a smaller one, or all of W_NT, is rounding.
constexpr double no_coupling = 1e-10;

// The velocities of an island as one dense block.
class DenseIsland {
public:
    DenseIsland(const BlockMatrix& M, const BilateralRows& joints, const ContactIsland& island)
        : nodes_(M.nodes), start_(static_cast<std::size_t>(M.nodes.size()), -1) {
        for (const int node : island.nodes) {
            start_[node] = n_;
            n_ += nodes_.dof(node);
        }
        MatX mass = MatX::Zero(n_, n_);
        for (const int node : island.nodes)
            mass.block(start_[node], start_[node], nodes_.dof(node), nodes_.dof(node)) = M.block(node);
        for (const BlockMatrix::Coupling& c : M.couplings)
            if (start_[c.row_node] >= 0 && start_[c.column_node] >= 0)
                mass.block(start_[c.row_node], start_[c.column_node], nodes_.dof(c.row_node),
                           nodes_.dof(c.column_node)) = M.block(c);
        root_.compute(mass);
        const BlockRows& G = joints.jacobian;
        MatX columns(n_, static_cast<Eigen::Index>(island.joint_rows.size()));
        for (std::size_t k = 0; k < island.joint_rows.size(); ++k) {
            const auto after = std::upper_bound(G.row.begin(), G.row.end(), island.joint_rows[k]);
            columns.col(static_cast<Eigen::Index>(k)) =
                column(G, static_cast<int>(after - G.row.begin()) - 1, island.joint_rows[k]);
        }
        if (columns.cols() == 0) return;
        const Eigen::ColPivHouseholderQR<MatX> qr(columns);
        held_ = MatX(qr.householderQ()).leftCols(qr.rank());
    }

    // L^-1 of one row, M = L L', less what joints carry: products of such columns are entries of H B H'.
    VecX free_column(const BlockRows& rows, int group, int row) const {
        VecX x = column(rows, group, row);
        if (held_.cols() > 0)
            for (int round = 0; round < 2; ++round) x -= held_ * (held_.transpose() * x);
        return x;
    }
    int size() const { return n_; }

private:
    VecX column(const BlockRows& rows, int group, int row) const {
        VecX x = VecX::Zero(n_);
        for (const BlockRows::Block& block : rows.blocks_of(group))
            x.segment(start_[block.node], nodes_.dof(block.node)) +=
                rows.values_of(group, block, nodes_).row(row - rows.row[group]).transpose();
        root_.matrixL().solveInPlace(x);
        return x;
    }

    const Nodes& nodes_;
    std::vector<int> start_;  // per node: its first velocity in the island
    int n_ = 0;
    Eigen::LLT<MatX> root_;
    MatX held_;  // orthonormal, of the joint rows
};

IslandFriction bound_of(const BlockMatrix& M, const BilateralRows& joints, const ContactRows& contacts,
                        const ContactIsland& island) {
    IslandFriction result;
    result.contacts = island.contacts;
    const DenseIsland dense(M, joints, island);
    const BlockRows& H = contacts.jacobian;
    const auto count = static_cast<Eigen::Index>(island.contacts.size());
    Eigen::Index tangents = 0;
    for (const int i : island.contacts) tangents += H.dim(i) - 1;
    MatX N(dense.size(), count), D(dense.size(), tangents);
    Eigen::Index n = 0, d = 0;
    for (const int i : island.contacts) {
        result.friction = std::max(result.friction, contacts.friction[i]);
        N.col(n++) = dense.free_column(H, i, H.row[i]);
        for (int k = H.row[i] + 1; k < H.row[i + 1]; ++k) D.col(d++) = dense.free_column(H, i, k);
    }
    const MatX normal = N.transpose() * N, cross = N.transpose() * D;
    const VecX own = Eigen::SelfAdjointEigenSolver<MatX>(normal, Eigen::EigenvaluesOnly).eigenvalues();
    const MatX squared = cross * cross.transpose();
    const VecX across = Eigen::SelfAdjointEigenSolver<MatX>(squared, Eigen::EigenvaluesOnly).eigenvalues();
    const double most = own[own.size() - 1];
    result.normal_least = own[0] > no_coupling * most ? own[0] : 0;
    result.cross_most = std::sqrt(std::max(0.0, across[across.size() - 1]));
    if (!(result.cross_most > no_coupling * most)) result.cross_most = 0;
    if (result.normal_least > 0)
        result.bound = result.cross_most > 0 ? result.normal_least / result.cross_most : infinity;
    return result;
}

}  // namespace

FrictionBounds friction_bounds(const BlockMatrix& M, const BilateralRows& joints, const ContactRows& contacts,
                               double touching) {
    FrictionBounds bounds;
    for (const ContactIsland& island : contact_islands(M.nodes, joints, contacts, touching)) {
        const bool rough = std::any_of(island.contacts.begin(), island.contacts.end(),
                                       [&](int i) { return contacts.friction[i] > 0 && contacts.jacobian.dim(i) > 1; });
        if (!rough) continue;
        int velocities = 0;
        for (const int node : island.nodes) velocities += M.nodes.dof(node);
        if (velocities > max_bound_velocities || static_cast<int>(island.contacts.size()) > max_bound_contacts)
            bounds.left_out += static_cast<int>(island.contacts.size());
        else
            bounds.islands.push_back(bound_of(M, joints, contacts, island));
    }
    return bounds;
}

}  // namespace stickslip
