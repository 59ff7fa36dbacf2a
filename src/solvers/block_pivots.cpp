#include "solvers/block_pivots.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"

namespace stickslip {

namespace {

// Added to the diagonal of impulses (M is of order one) and taken out again by refinement: redundant contacts stay
// solvable. Larger needs more refinements, smaller amplifies rounding along what is redundant.
constexpr double relative_eps = 1e-9;
constexpr int refinements = 3;

// Signs within this part of the largest value are rounding.
constexpr double sign_slack = 1e-11;

int next_corner(const LcpBlock& block, int j) { return (j + 1) % block.directions; }
int last_corner(const LcpBlock& block, int j) { return (j + block.directions - 1) % block.directions; }

}  // namespace

BlockPivots::State BlockPivots::read(const LcpBlock& block, const char* in) const {
    State state;
    if (block.variables == 0) return state;
    if (!in[0]) {
        for (int j = block.directions; j-- > 0;)
            if (in[1 + j]) state.face = j;
        return state;
    }
    state.kind = Kind::stick;
    const int last = block.variables - 1;
    if (block.directions == 0) {
        if (block.variables == 2 && in[1]) state.kind = Kind::far;
        return state;
    }
    int count = 0, found = 0;
    for (int j = 0; j < block.directions; ++j)
        if (in[1 + j] && count++ == 0) found = j;
    // the facet between the last and the first corner starts at the last
    state.face = count > 1 && found == 0 && in[block.directions] && block.directions > 2 ? block.directions - 1 : found;
    if (in[last]) state.kind = count > 1 && block.directions > 2 ? Kind::edge : Kind::corner;
    return state;
}

void BlockPivots::mark(const LcpBlock& block, const State& state, char* in) const {
    std::fill(in, in + block.variables, char(0));
    if (block.variables == 0) return;
    if (state.kind == Kind::open) {
        if (block.directions > 0) in[1 + state.face] = in[block.variables - 1] = 1;
        return;
    }
    in[0] = 1;
    if (state.kind == Kind::far) in[1] = 1;
    if (block.directions == 0) return;
    in[1 + state.face] = 1;
    if (state.kind != Kind::corner && block.directions > 2) in[1 + next_corner(block, state.face)] = 1;
    if (state.kind != Kind::stick) in[block.variables - 1] = 1;
}

// The state that the signs of z and w ask for.
BlockPivots::State BlockPivots::next(const LcpBlock& block, const State& state) const {
    const double* z = z_.data() + block.first;
    const double* w = w_.data() + block.first;
    const int last = block.variables - 1, m = block.directions;
    if (state.kind == Kind::open) {
        State wanted = state;
        for (int j = 0; j < m; ++j)  // friction points, or would point, against the sliding
            if (w[1 + j] < w[1 + wanted.face] - noise_w_) wanted.face = j;
        if (w[0] < -noise_w_) wanted.kind = Kind::stick;
        return wanted;
    }
    if (m == 0) {
        if (state.kind == Kind::far) return z[1] < -noise_w_ ? State{Kind::stick, 0} : state;
        if (z[0] < -noise_z_) return {};
        if (block.variables == 2 && w[1] < -noise_z_) return {Kind::far, 0};
        return state;
    }
    if (z[0] < -noise_z_) return {Kind::open, state.face};
    const int a = state.face, b = next_corner(block, a);
    if (m == 2) {  // one tangent: a sign and whether it slips
        if (state.kind == Kind::stick) {
            if (z[1 + a] < -noise_z_) return {Kind::stick, b};
            return w[last] < -noise_z_ ? State{Kind::corner, a} : state;
        }
        return z[last] < -noise_w_ ? State{Kind::stick, a} : state;
    }
    if (state.kind == Kind::stick) {
        if (w[last] < -noise_z_ && z[1 + a] >= 0 && z[1 + b] >= 0) return {Kind::edge, a};
        if (z[1 + a] >= -noise_z_ && z[1 + b] >= -noise_z_) return w[last] < -noise_z_ ? State{Kind::edge, a} : state;
        const Polygon& section = polygon(block.facets);
        const auto corner = [&](int j) { return section.corner[j]; };
        const Vec2 p_T = z[1 + a] * corner(a) + z[1 + b] * corner(b);
        int facet = 0;
        for (int j = 1; j < m; ++j)
            if (section.outward[j].dot(p_T) > section.outward[facet].dot(p_T)) facet = j;
        const double reach = block.mu * std::max(z[0], 0.0) * section.apothem;
        const bool slips = section.outward[facet].dot(p_T) > reach + noise_z_;
        return {slips ? Kind::edge : Kind::stick, facet};
    }
    if (z[last] < -noise_w_) return {Kind::stick, a};
    if (state.kind == Kind::edge) {
        if (z[1 + a] < -noise_z_ && z[1 + a] <= z[1 + b]) return {Kind::corner, b};
        if (z[1 + b] < -noise_z_) return {Kind::corner, a};
    }
    int lowest = 0;
    for (int j = 1; j < m; ++j)
        if (w[1 + j] < w[1 + lowest]) lowest = j;
    if (!(w[1 + lowest] < -noise_w_)) return state;
    if (state.kind == Kind::corner && lowest == b) return {Kind::edge, a};
    if (state.kind == Kind::corner && lowest == last_corner(block, a)) return {Kind::edge, lowest};
    return {Kind::corner, lowest};
}

bool BlockPivots::solve(const SparseSquare& M, const ConstRef& q, const std::vector<LcpBlock>& blocks) {
    const int n = M.size();
    active_.assign(static_cast<std::size_t>(n), 0);
    for (std::size_t i = 0; i < blocks.size(); ++i) mark(blocks[i], states_[i], active_.data() + blocks[i].first);
    rows_.clear();
    place_.assign(static_cast<std::size_t>(n), -1);
    for (int i = 0; i < n; ++i) {
        if (!active_[i]) continue;
        place_[i] = static_cast<int>(rows_.size());
        rows_.push_back(i);
    }
    const int k = static_cast<int>(rows_.size());
    WorkMat& K = kernel_.matrix();
    K.setZero(k, k);
    for (int j = 0; j < k; ++j) {
        const SparseSquare::Line line = M.column(rows_[j]);
        for (int e = 0; e < line.count; ++e) {
            const int place = place_[line.index[e]];
            if (place >= 0) K(place, j) = line.value[e];
        }
        K(j, j) += relative_eps;
    }
    if (!kernel_.factor()) return false;
    ++rounds_;
    z_.setZero(n);
    miss_.resize(k);
    for (int round = 0; round <= refinements; ++round) {
        w_ = q;
        for (const int i : rows_) M.add_column(i, z_[i], w_.data());
        if (round == refinements) break;
        for (int i = 0; i < k; ++i) miss_[i] = w_[rows_[i]];
        kernel_.solve(miss_.data());
        for (int i = 0; i < k; ++i) z_[rows_[i]] -= miss_[i];
    }
    const double size = std::max(1e-300, -q.minCoeff());
    noise_z_ = sign_slack * std::max(size, z_.vec().lpNorm<Eigen::Infinity>());
    noise_w_ = noise_z_;
    return z_.allFinite() && w_.allFinite();
}

bool BlockPivots::run(const SparseSquare& M, const ConstRef& q, const std::vector<LcpBlock>& blocks,
                      std::vector<char>& in) {
    rounds_ = 0;
    states_.clear();
    for (const LcpBlock& block : blocks) states_.push_back(read(block, in.data() + block.first));
    best_.assign(states_.begin(), states_.end());
    int fewest = M.size() + 1, left = patience;
    bool solved = false;
    while (rounds_ < max_rounds && solve(M, q, blocks)) {
        wanted_.clear();
        int wrong = 0, first = -1;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            wanted_.push_back(blocks[i].variables > 0 ? next(blocks[i], states_[i]) : states_[i]);
            if (wanted_[i] == states_[i]) continue;
            if (wrong++ == 0) first = static_cast<int>(i);
        }
        if (wrong < fewest) {
            fewest = wrong;
            left = patience;
            best_.assign(states_.begin(), states_.end());
        } else {
            left = std::max(left - 1, 0);
        }
        solved = wrong == 0;
        if (solved) break;
        if (left > 0)
            states_.swap(wanted_);
        else
            states_[first] = wanted_[first];
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) mark(blocks[i], best_[i], in.data() + blocks[i].first);
    return solved;
}

}  // namespace stickslip
