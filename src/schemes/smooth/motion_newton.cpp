#include "schemes/smooth/motion_newton.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

// The source that row i belongs to, and its place in it.
std::pair<const Motion::Source*, int> source_of(const Motion& motion, int row) {
    for (const Motion::Source& source : motion.sources()) {
        if (row < source.dim) return {&source, row};
        row -= source.dim;
    }
    return {nullptr, 0};
}

void copy_group(const BlockRows& from, int g, const Nodes& nodes, BlockRows& to) {
    to.begin_group(from.dim(g));
    for (const BlockRows::Block& block : from.blocks_of(g))
        to.add_block(block.node, nodes.dof(block.node)) = from.values_of(g, block, nodes);
}

}  // namespace

double MotionResidual::relative(const Motion& motion, const VecX& q, const VecX& v) const {
    if (!std::isfinite(forces + positions + velocities)) return std::nan("");
    const Scales& scales = motion.tolerances().scales;
    return std::max({forces, positions / std::max(scales.extent, motion.position_size(q)),
                     velocities / std::max(scales.speed, motion.speed_size(v))});
}

void MotionNewton::set_levels(const Motion& motion, const MotionPoint& found, bool positions) {
    at_position_.clear();
    for (const Motion::Source& source : motion.sources()) {
        bool holonomic = positions;
        if (source.contact < 0)
            holonomic = holonomic && found.joints.kind[found.joints.jacobian.row[source.joint_group] + source.first] ==
                                         RowKind::holonomic;
        for (int k = 0; k < source.dim; ++k) at_position_.push_back(holonomic && k == 0);
    }
}

bool MotionNewton::any_at_velocity() const {
    return std::any_of(at_position_.begin(), at_position_.end(), [](char position) { return position == 0; });
}

double MotionNewton::value(const Motion& motion, const MotionPoint& p, int row) {
    const Motion::Source& source = *source_of(motion, row).first;
    if (source.contact >= 0) return p.contacts.gap[p.place[source.contact]];
    return p.joints.value[p.joints.jacobian.row[source.joint_group] + source.first];
}

void MotionNewton::take_rows(const Motion& motion, const MotionPoint& p, double B, double D) {
    take_rows(motion, p, p, p.v, B, D);
}

void MotionNewton::take_rows(const Motion& motion, const MotionPoint& position, const MotionPoint& velocity,
                             const VecX& v, double B, double D) {
    const Nodes& nodes = motion.system().nodes();
    J_.clear();
    rows_.resize(motion.rows());
    velocity.rows.product(nodes, v, rows_);
    rows_ -= velocity.target;
    row_position_ = row_velocity_ = 0;
    int row = 0;
    for (int g = 0; g < velocity.rows.groups(); ++g) {
        copy_group(velocity.rows, g, nodes, J_);
        for (int k = 0; k < J_.dim(g); ++k, ++row) {
            if (!at_position_[row]) {
                row_velocity_ = std::max(row_velocity_, std::abs(rows_[row]));
                rows_[row] /= D;
                continue;
            }
            const double gap = value(motion, position, row);
            row_position_ = std::max(row_position_, std::abs(gap));
            rows_[row] = gap / B;
            if (&position == &velocity) continue;
            for (const BlockRows::Block& from : position.rows.blocks_of(g))
                for (const BlockRows::Block& to : J_.blocks_of(g))
                    if (to.node == from.node)
                        J_.values_of(g, to, nodes).row(k) = position.rows.values_of(g, from, nodes).row(k);
        }
    }
}

MotionResidual MotionNewton::residual(const Motion& motion, const MotionPoint& p, const VecX& x, const RowVec& y) {
    forces_.setZero(x.size());
    p.mass.add_product(1, x, forces_);
    scale_ = std::max({motion.tolerances().scales.force(), motion.force_size(forces_), motion.force_size(p.force)});
    forces_ -= p.force;
    if (motion.rows() > 0) {
        z_.setZero(x.size());
        p.push.add_transpose_product(motion.system().nodes(), y, z_);
        scale_ = std::max(scale_, motion.force_size(z_));
        forces_ -= z_;
    }
    // Sums, since a maximum forgets NaN.
    const double total = forces_.sum() + (rows_.size() > 0 ? rows_.sum() : 0.0);
    return {std::isfinite(total) ? motion.force_size(forces_) / scale_ : std::nan(""), row_position_, row_velocity_};
}

// A += D Cf (velocity) before, B Kf (position) after the tangent. F(v) v turns with v in both places; F is linear in v.
void MotionNewton::add_slopes(const System& system, const MotionPoint& p, double B, double D, bool moves) {
    const Nodes& nodes = system.nodes();
    const bool sloped = system.slopes(p.t, p.q, p.v, K_, C_);
    int widest = 0;
    for (int n = 0; n < nodes.size(); ++n) widest = std::max(widest, nodes.dof(n));
    tangent_.shape_diagonal(nodes);
    turns_ = false;
    gyroscopic_.shape_diagonal(nodes);
    system.add_gyroscopic(1, p.v, gyroscopic_);
    A_.add(-D, gyroscopic_);
    for (int j = 0; j < widest; ++j) {  // column j of all nodes at once
        unit_.setZero(nodes.nv());
        for (int n = 0; n < nodes.size(); ++n)
            if (j < nodes.dof(n)) unit_[nodes.start[n] + j] = 1;
        system.chart_rate(u_, unit_, column_);
        turns_ = turns_ || column_ != unit_;
        gyroscopic_.shape_diagonal(nodes);
        system.add_gyroscopic(1, unit_, gyroscopic_);
        work_.setZero(nodes.nv());
        gyroscopic_.add_product(1, p.v, work_);
        for (int n = 0; n < nodes.size(); ++n) {
            if (j >= nodes.dof(n)) continue;
            tangent_.block(n).col(j) = column_.segment(nodes.start[n], nodes.dof(n));
            A_.block(n).col(j) -= D * work_.segment(nodes.start[n], nodes.dof(n));
        }
    }
    if (sloped) A_.add(D, C_);
    if (turns_) multiply_tangent(tangent_, A_);
    if (sloped && moves) A_.add(B, K_);
}

void MotionNewton::multiply_tangent(const BlockMatrix& T, BlockMatrix& A) {
    product_ = A;
    for (int n = 0; n < A.nodes.size(); ++n) product_.block(n).noalias() = A.block(n).lazyProduct(T.block(n));
    for (const BlockMatrix::Coupling& c : A.couplings)
        product_.block(c).noalias() = A.block(c).lazyProduct(T.block(c.column_node));
    std::copy(product_.values.begin(), product_.values.end(), A.values.begin());
}

// left_, push_ and compliance_: the rows imposed, then springs and dampers.
void MotionNewton::add_rows(const Nodes& nodes, const MotionPoint& p, double B, double D) {
    left_.clear();
    push_.clear();
    compliance_.assign(static_cast<std::size_t>(rows_.size()), 0.0);
    // Row k of `to`: a its own plus b times itself in the chart.
    const auto turn = [&](auto&& to, int k, int node, double a, double b) {
        small_.assign(static_cast<std::size_t>(nodes.dof(node)), 0.0);
        const auto T = tangent_.block(node);
        for (int j = 0; j < T.cols(); ++j)
            for (int i = 0; i < T.rows(); ++i) small_[j] += to(k, i) * T(i, j);
        for (int j = 0; j < T.cols(); ++j) to(k, j) = a * to(k, j) + b * small_[j];
    };
    for (int g = 0; g < J_.groups(); ++g) {
        copy_group(J_, g, nodes, left_);
        copy_group(p.push, g, nodes, push_);
        if (!turns_) continue;
        for (const BlockRows::Block& block : left_.blocks_of(g))
            for (int k = 0; k < left_.dim(g); ++k)
                if (!at_position_[J_.row[g] + k]) turn(left_.values_of(g, block, nodes), k, block.node, 0, 1);
    }
    const BlockRows& G = p.joints.jacobian;
    for (int g = 0; g < G.groups(); ++g) {
        for (int k = 0; k < G.dim(g); ++k) {
            const auto i = static_cast<std::size_t>(G.row[g] + k);
            if (p.joints.kind[i] != RowKind::compliant) continue;
            const double spring = B * p.joints.stiffness[i], damper = D * p.joints.damping[i], c = spring + damper;
            if (!(c > 0)) continue;
            left_.begin_group(1);
            push_.begin_group(1);
            for (const BlockRows::Block& block : G.blocks_of(g)) {
                const auto from = G.values_of(g, block, nodes).row(k);
                auto to = left_.add_block(block.node, nodes.dof(block.node));
                to = from;
                if (turns_) turn(to, 0, block.node, spring / c, damper / c);
                push_.add_block(block.node, nodes.dof(block.node)) = from;
            }
            compliance_.push_back(1 / c);
        }
    }
}

bool MotionNewton::factor(const Motion& motion, const MotionPoint& p, const VecX& u, double B, double D, bool moves) {
    const System& system = motion.system();
    const Nodes& nodes = system.nodes();
    u_ = u;
    A_ = p.mass;
    add_slopes(system, p, B, D, moves);
    add_rows(nodes, p, moves ? B : 0.0, D);
    return factors_.factor(A_) && schur_.factor(factors_, left_, push_, nodes, compliance_.data());
}

double MotionNewton::correct(const Motion& motion, VecX& x, RowVec& y) {
    const System& system = motion.system();
    const Nodes& nodes = system.nodes();
    z_ = -forces_;
    factors_.solve(z_.data());
    const int m = left_.rows();
    if (m > 0) {
        rhs_.resize(m);
        left_.product(nodes, z_, rhs_);
        rhs_ *= -1;
        rhs_.head(rows_.size()) -= rows_.vec();
        schur_.solve(rhs_.data());
        work_.setZero(nodes.nv());
        push_.add_transpose_product(nodes, rhs_, work_);
        factors_.solve(work_.data());
        z_ += work_;
        y += rhs_.head(rows_.size());
    }
    if (turns_) {
        system.chart_rate(u_, z_, column_);
        x += column_;
    } else {
        x += z_;
    }
    return motion.speed_size(z_);
}

}  // namespace stickslip
