#include "diagnose/painleve.hpp"

#include <algorithm>
#include <cmath>

#include "math/dense_lu.hpp"

namespace stickslip {

namespace {

// Stiffness of a held row in units of its own inertia. Each pass reduces what the row still gives way by it, times
// the largest ratio of masses along a chain. With a larger stiffness rounding in the sum M + G' D G would hide M.
constexpr double relative_stiffness = 1e7;
constexpr int max_passes = 4;  // with fewer, loads of 1e6 behind a light link count for less than they weigh
// Share of the multipliers that the last pass may still change. With a larger one `value` loses digits.
constexpr double good_share = 1e-5;

// A contact whose normal gives way by less than this share of what it would without joints is held by them: value 0.
// With a smaller share rounding would decide about a paradox where nothing can move.
constexpr double held_share = 1e-7;

bool rigid(const BilateralRows& joints, int row) {
    const bool held = joints.kind[row] == RowKind::holonomic || joints.kind[row] == RowKind::velocity;
    return held && joints.force_lower[row] == -infinity && joints.force_upper[row] == infinity;
}

bool any_rigid(const BilateralRows& joints, int group) {
    for (int row = joints.jacobian.row[group]; row < joints.jacobian.row[group + 1]; ++row)
        if (rigid(joints, row)) return true;
    return false;
}

}  // namespace

void PainleveCheck::begin(const BlockMatrix& mass, const BilateralRows& joints) {
    const Nodes& nodes = mass.nodes;
    const auto count = static_cast<std::size_t>(nodes.size());
    sliding_.clear();
    left_out_ = 0;
    whole_ready_ = false;
    factors_.resize(mass.values.size());
    pivots_.resize(static_cast<std::size_t>(nodes.nv()));
    int largest = 1;
    for (int n = 0; n < nodes.size(); ++n) largest = std::max(largest, nodes.dof(n));
    work_.resize(static_cast<std::size_t>(largest));
    factored_.assign(count, 0);
    held_.assign(count, 0);
    for (const BlockMatrix::Coupling& c : mass.couplings) held_[c.row_node] = held_[c.column_node] = 1;
    for (int g = 0; g < joints.jacobian.groups(); ++g) {
        if (!any_rigid(joints, g)) continue;
        for (const BlockRows::Block& block : joints.jacobian.blocks_of(g)) held_[block.node] = 1;
    }
}

bool PainleveCheck::jointed(const ContactRows& contacts, int i) const {
    const auto blocks = contacts.jacobian.blocks_of(i);
    return std::any_of(blocks.begin(), blocks.end(), [&](const BlockRows::Block& b) { return held_[b.node] != 0; });
}

void PainleveCheck::solve_node(const BlockMatrix& mass, int n, double* x) {
    const int dof = mass.nodes.dof(n);
    double* factors = factors_.data() + mass.diagonal[n];
    int* pivots = pivots_.data() + mass.nodes.start[n];
    if (!factored_[n]) {
        const double* block = mass.values.data() + mass.diagonal[n];
        std::copy(block, block + dof * dof, factors);
        factored_[n] = 1;
        if (!factor_dense(factors, pivots, dof)) factors[0] = std::nan("");  // a singular block judges nothing
    }
    solve_dense(factors, pivots, x, dof);
}

void PainleveCheck::factor_jointed(const BlockMatrix& mass, const BilateralRows& joints) {
    const Nodes& nodes = mass.nodes;
    const BlockRows& G = joints.jacobian;
    whole_ready_ = true;
    edges_.clear();
    for (const BlockMatrix::Coupling& c : mass.couplings)
        if (c.row_node < c.column_node) edges_.push_back({c.row_node, c.column_node});
    for (int g = 0; g < G.groups(); ++g) {
        if (!any_rigid(joints, g)) continue;
        for (const BlockRows::Block& a : G.blocks_of(g))
            for (const BlockRows::Block& b : G.blocks_of(g))
                if (a.node < b.node) edges_.push_back({a.node, b.node});
    }
    whole_.analyse(nodes, edges_);

    // M with its couplings.
    for (int n = 0; n < nodes.size(); ++n) {
        const double* block = mass.values.data() + mass.diagonal[n];
        std::copy(block, block + nodes.dof(n) * nodes.dof(n), whole_.diagonal(n));
    }
    const auto place = [&](int a, int b) {
        if (a == b) return whole_.diagonal(a);
        return a < b ? whole_.pair(a, b).ab : whole_.pair(b, a).ba;
    };
    for (const BlockMatrix::Coupling& c : mass.couplings) {
        const double* block = mass.values.data() + c.offset;
        double* into = place(c.row_node, c.column_node);
        for (int k = 0; k < nodes.dof(c.row_node) * nodes.dof(c.column_node); ++k) into[k] += block[k];
    }

    // G' D G of the rigid rows.
    stiffness_.setZero(joints.size());
    for (int g = 0; g < G.groups(); ++g) {
        for (int k = 0; k < G.dim(g); ++k) {
            const int row = G.row[g] + k;
            if (!rigid(joints, row)) continue;
            double inertia = 0;  // G M^-1 G'
            for (const BlockRows::Block& a : G.blocks_of(g)) {
                const int dof = nodes.dof(a.node);
                const double* values = G.values.data() + a.offset + k * dof;
                std::copy(values, values + dof, work_.begin());
                solve_node(mass, a.node, work_.data());
                for (int i = 0; i < dof; ++i) inertia += values[i] * work_[i];
            }
            if (!(inertia > 0)) continue;  // a row without entries holds nothing
            stiffness_[row] = relative_stiffness / inertia;
            for (const BlockRows::Block& a : G.blocks_of(g)) {
                const int rows = nodes.dof(a.node);
                const double* left = G.values.data() + a.offset + k * rows;
                for (const BlockRows::Block& b : G.blocks_of(g)) {
                    const int columns = nodes.dof(b.node);
                    const double* right = G.values.data() + b.offset + k * columns;
                    double* into = place(a.node, b.node);
                    for (int j = 0; j < columns; ++j)
                        for (int i = 0; i < rows; ++i) into[i + j * rows] += stiffness_[row] * left[i] * right[j];
                }
            }
        }
    }
    if (!whole_.factor()) stiffness_.setConstant(joints.size(), std::nan(""));  // judges nothing
}

void PainleveCheck::solve_jointed(const Nodes& nodes, const BilateralRows& joints, VecX& x) {
    right_ = x;
    multiplier_.setZero(joints.size());
    speed_.resize(joints.size());
    whole_.solve(x.data());
    for (int pass = 1; pass < max_passes; ++pass) {
        joints.jacobian.product(nodes, x, speed_);
        double change = 0, largest = 0;
        for (int i = 0; i < joints.size(); ++i) {
            const double step = stiffness_[i] * speed_[i];
            multiplier_[i] -= step;
            change = std::max(change, std::abs(step));
            largest = std::max(largest, std::abs(multiplier_[i]));
        }
        // What is left falls by the same share again: the last solve was good to its square.
        if (pass > 1 && change <= good_share * largest) break;
        x = right_;
        joints.jacobian.add_transpose_product(nodes, multiplier_, x);
        whole_.solve(x.data());
    }
}

const std::vector<SlidingContact>& PainleveCheck::check(const BlockMatrix& mass, const BilateralRows& joints,
                                                        const ContactRows& contacts, const VecX& v) {
    const Nodes& nodes = mass.nodes;
    const BlockRows& H = contacts.jacobian;
    begin(mass, joints);
    u_.resize(H.rows());
    H.product(nodes, v, u_);
    int judged = 0;
    for (int i = 0; i < contacts.size(); ++i) {
        const int row = H.row[i], tangents = H.dim(i) - 1;
        const double mu = contacts.friction[i];
        if (tangents == 0 || mu == 0 || u_[row] > slip_speed) continue;
        const double slip = tangents == 1 ? std::abs(u_[row + 1]) : std::hypot(u_[row + 1], u_[row + 2]);
        if (!(slip > slip_speed)) continue;
        const bool whole = jointed(contacts, i);
        if (whole && judged == max_jointed) {
            ++left_out_;
            continue;
        }
        if (whole) {
            if (!whole_ready_) factor_jointed(mass, joints);
            ++judged;
            gained_.setZero(nodes.nv());
            for (const BlockRows::Block& block : H.blocks_of(i)) {
                const double* values = H.values.data() + block.offset;
                std::copy(values, values + nodes.dof(block.node), gained_.data() + nodes.start[block.node]);
            }
            solve_jointed(nodes, joints, gained_);
        }
        double normal = 0, along = 0;  // N B N', s.D B N'
        double alone = 0;              // N B N' without joints
        for (const BlockRows::Block& block : H.blocks_of(i)) {
            const int dof = nodes.dof(block.node);
            const double* values = H.values.data() + block.offset;
            std::copy(values, values + dof, work_.begin());
            solve_node(mass, block.node, work_.data());
            const double* x = whole ? gained_.data() + nodes.start[block.node] : work_.data();
            for (int k = 0; k < dof; ++k) {
                alone += values[k] * work_[k];
                normal += values[k] * x[k];
                for (int t = 1; t <= tangents; ++t) along += values[t * dof + k] * u_[row + t] / slip * x[k];
            }
        }
        if (normal <= held_share * alone) normal = along = 0;
        sliding_.push_back({i, slip, normal - mu * along, along > 0 ? normal / along : infinity});
    }
    return sliding_;
}

}  // namespace stickslip
