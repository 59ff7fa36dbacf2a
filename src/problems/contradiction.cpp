// Least squares of what the rows lack, min f(v) = 1/2 sum (lack_i)^2 / W_i, lack = what R v + c is short of zero; convex and piecewise
// quadratic. Newton's method on the rows that lack something, by dense least squares or, in large problems, by conjugate gradients
// preconditioned by A. Where the minimum is not zero its residuals y_i = lack_i / W_i are the impulses of the proof: stationarity says R' y = 0.
#include "stickslip/contradiction.hpp"

#include <Eigen/QR>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "math/node_inverse.hpp"

namespace stickslip {

namespace {

constexpr int max_dense = 400;  // rows or velocities: more are left to conjugate gradients
constexpr int max_newton = 60, max_gradients = 400, max_halvings = 30;
constexpr double stationary = 1e-13;     // of the gradient, relative to the lack: smaller is rounding
constexpr double enough_speed = 1e4;     // velocities beyond so many times those at hand do not count as a way out
constexpr double enough_descent = 0.25;  // of what the slope promises: a step of Newton has half; less jumps to and fro
constexpr double real_demand = 1e-13;    // of the terms of the demanded work: less may be rounding
constexpr double smallest_weight = 1e-3;  // parts that carry less are not named

// Rows R v + c >= 0, or = 0, in the metric of a block-diagonal matrix.
struct Rows {
    Eigen::SparseMatrix<double, Eigen::RowMajor> R;
    VecX c, weight;  // W_i: diagonal of R A^-1 R'
    std::vector<char> equality;
    std::vector<Contradiction::Part> part;
    NodeInverse inverse;       // of the diagonal blocks of A
    double speed_at_hand = 0;  // in the norm of A
};

class Search {
public:
    explicit Search(const Rows& rows) : rows_(rows), v_(VecX::Zero(rows.R.cols())) {}

    Contradiction run() {
        double f = evaluate(v_, lack_);
        for (int k = 0; k < max_newton; ++k) {
            gradient();
            if (!(f > 0) || !(size_ > stationary * std::sqrt(2 * f))) break;
            const VecX step = newton_step();
            const double slope = g_.dot(step);
            double t = 1, next = infinity;
            VecX trial, lack;
            for (int i = 0; i < max_halvings; ++i, t /= 2) {
                trial = v_ + t * step;
                next = evaluate(trial, lack);
                if (next <= f - enough_descent * t * slope) break;
            }
            if (!(next < f)) break;
            const bool done = next > f * (1 - 1e-12);
            v_ = trial;
            lack_ = lack;
            f = next;
            if (done) break;
        }
        gradient();
        purify();
        return proof();
    }

private:
    // f at v, and what each row lacks there.
    double evaluate(const VecX& v, VecX& lack) const {
        lack = -(rows_.R * v + rows_.c);
        for (Eigen::Index i = 0; i < lack.size(); ++i)
            if (!rows_.equality[i]) lack[i] = std::max(lack[i], 0.0);
        return 0.5 * (lack.array().square() / rows_.weight.array()).sum();
    }
    VecX precondition(const VecX& g) const {
        VecX x(g.size());
        rows_.inverse.apply(g, x);
        return x;
    }
    // y, g = R' y and its size in the metric of A^-1.
    void gradient() {
        y_ = lack_.cwiseQuotient(rows_.weight);
        g_ = rows_.R.transpose() * y_;
        size_ = std::sqrt(std::max(0.0, g_.dot(precondition(g_))));
    }
    bool is_small() const { return std::max(rows_.R.rows(), rows_.R.cols()) <= max_dense; }
    VecX newton_step() const { return is_small() ? direct_step() : gradient_step(); }
    // The rows that lack something, each divided by the root of its weight, and columns scaled to a length of one, so that velocities
    // and turns, heavy and light bodies count alike.
    struct Dense {
        std::vector<int> active;
        MatX R;
        VecX root, scale;  // per active row and per column
    };
    Dense dense() const {
        Dense d;
        for (Eigen::Index i = 0; i < lack_.size(); ++i)
            if (rows_.equality[i] || lack_[i] > 0) d.active.push_back(static_cast<int>(i));
        const auto n = static_cast<Eigen::Index>(d.active.size());
        d.R.resize(n, v_.size());
        d.root.resize(n);
        for (Eigen::Index k = 0; k < n; ++k) {
            d.root[k] = std::sqrt(rows_.weight[d.active[k]]);
            d.R.row(k) = rows_.R.row(d.active[k]) / d.root[k];
        }
        d.scale.resize(v_.size());
        for (Eigen::Index j = 0; j < d.scale.size(); ++j) {
            const double size = d.R.col(j).norm();
            d.scale[j] = size > 0 ? 1 / size : 1;
            d.R.col(j) *= d.scale[j];
        }
        return d;
    }
    // The step that does the most for these rows.
    VecX direct_step() const {
        const Dense d = dense();
        VecX lack(d.root.size());
        for (Eigen::Index k = 0; k < lack.size(); ++k) lack[k] = lack_[d.active[k]] / d.root[k];
        return d.scale.cwiseProduct(d.R.completeOrthogonalDecomposition().solve(lack));
    }
    // Takes from y what rounding of v left of R' y: a lack that is small beside the velocities is known to few digits only.
    void purify() {
        if (!is_small() || lack_.size() == 0) return;
        const Dense d = dense();
        if (d.root.size() == 0) return;
        const Eigen::CompleteOrthogonalDecomposition<MatX> factors(d.R);
        VecX y(d.root.size());
        for (Eigen::Index k = 0; k < y.size(); ++k) y[k] = y_[d.active[k]] * d.root[k];
        for (int round = 0; round < 3; ++round) y -= d.R * factors.solve(y);
        for (Eigen::Index k = 0; k < y.size(); ++k) {
            const bool pulls = !rows_.equality[d.active[k]] && y[k] < 0;
            y_[d.active[k]] = pulls ? 0.0 : y[k] / d.root[k];
        }
        g_ = rows_.R.transpose() * y_;
        size_ = std::sqrt(std::max(0.0, g_.dot(precondition(g_))));
    }
    // Conjugate gradients on R_a' W^-1 R_a s = g over the rows that lack something.
    VecX gradient_step() const {
        VecX active(lack_.size());
        for (Eigen::Index i = 0; i < active.size(); ++i)
            active[i] = rows_.equality[i] || lack_[i] > 0 ? 1 / rows_.weight[i] : 0.0;
        VecX s = VecX::Zero(v_.size()), r = g_, z = precondition(r), d = z;
        double rz = r.dot(z);
        const double enough = 1e-28 * rz;
        for (int k = 0; k < max_gradients && rz > enough; ++k) {
            const VecX Rd = rows_.R * d;
            const VecX Hd = rows_.R.transpose() * active.cwiseProduct(Rd);
            const double curvature = d.dot(Hd);
            if (!(curvature > 0)) break;
            const double t = rz / curvature;
            s += t * d;
            r -= t * Hd;
            z = precondition(r);
            const double next = r.dot(z);
            d = z + (next / rz) * d;
            rz = next;
        }
        return s;
    }
    // Checks the impulses y: what they demand against what a velocity could give them.
    Contradiction proof() const {
        Contradiction found;
        const double demand = -rows_.c.dot(y_), terms = rows_.c.cwiseAbs().dot(y_.cwiseAbs());
        if (!(demand > real_demand * terms) || !(demand > 0) || !std::isfinite(demand)) return found;
        const double largest = std::max(rows_.c.cwiseAbs().maxCoeff(), (rows_.R.cwiseAbs() * v_.cwiseAbs()).maxCoeff());
        if (!(lack_.cwiseAbs().maxCoeff() > real_demand * largest)) return found;  // satisfied, but for rounding
        const VecX rounding = 2.3e-16 * (rows_.R.cwiseAbs().transpose() * y_.cwiseAbs());
        const double hidden = std::sqrt(std::max(0.0, rounding.dot(precondition(rounding))));
        const double needed = demand / (size_ + hidden);  // speed, in the norm of A, that would satisfy the rows
        if (!(needed > enough_speed * rows_.speed_at_hand) && size_ + hidden > 0) return found;
        double heaviest = 0;
        const VecX pull = lack_.cwiseAbs().cwiseQuotient(rows_.weight.cwiseSqrt());
        heaviest = pull.maxCoeff();
        for (Eigen::Index i = 0; i < pull.size(); ++i) {
            if (!(pull[i] > smallest_weight * heaviest)) continue;
            found.parts.push_back(rows_.part[i]);
            found.parts.back().weight = pull[i] / heaviest;
            found.speed = std::max(found.speed, std::abs(lack_[i]));
        }
        std::stable_sort(found.parts.begin(), found.parts.end(),
                         [](const auto& a, const auto& b) { return a.weight > b.weight; });
        return found;
    }

    const Rows& rows_;
    VecX v_, lack_, y_, g_;
    double size_ = 0;
};

using Triplets = std::vector<Eigen::Triplet<double>>;

void add_row(const BlockRows& J, int g, int row, const Nodes& nodes, double sign, int at, Triplets& list) {
    for (const BlockRows::Block& b : J.blocks_of(g)) {
        const int d = nodes.dof(b.node);
        const double* entry = J.values.data() + b.offset + (row - J.row[g]) * d;
        for (int k = 0; k < d; ++k)
            if (entry[k] != 0) list.emplace_back(at, nodes.start[b.node] + k, sign * entry[k]);
    }
}

// Weights of the rows, and the speed at hand.
void finish(Rows& rows, const Triplets& list, const std::vector<double>& c, const VecX& load) {
    const auto m = static_cast<Eigen::Index>(c.size());
    rows.R.resize(m, load.size());
    rows.R.setFromTriplets(list.begin(), list.end());
    rows.c = Eigen::Map<const VecX>(c.data(), m);
    rows.weight.resize(m);
    VecX row(load.size()), image(load.size());
    for (Eigen::Index i = 0; i < m; ++i) {
        row.setZero();
        for (decltype(rows.R)::InnerIterator it(rows.R, i); it; ++it) row[it.col()] = it.value();
        rows.inverse.apply(row, image);
        const double weight = row.dot(image);
        rows.weight[i] = weight > 0 ? weight : 1;  // nothing moves this row: it is satisfied or not
    }
    rows.inverse.apply(load, image);
    rows.speed_at_hand =
        std::sqrt(std::max(0.0, load.dot(image))) + std::sqrt((rows.c.array().square() / rows.weight.array()).sum());
}

Contradiction search(const Rows& rows) {
    if (rows.c.size() == 0 || !rows.c.allFinite() || !rows.weight.allFinite() || !std::isfinite(rows.speed_at_hand))
        return {};
    return Search(rows).run();
}

}  // namespace

Contradiction find_contradiction(const StepProblem& problem) {
    const Nodes& nodes = problem.nodes();
    const BlockRows &G = problem.joints.jacobian, &H = problem.contacts.jacobian;
    Rows rows;
    BlockMatrix metric;  // the symmetric part of A, node by node
    metric.shape_diagonal(nodes);
    for (int n = 0; n < nodes.size(); ++n)
        metric.block(n) = 0.5 * (problem.A.block(n) + problem.A.block(n).transpose());
    rows.inverse.factor(metric);
    Triplets list;
    std::vector<double> c;
    const auto add = [&](const BlockRows& J, int g, int row, double sign, double constant, bool equality, int index) {
        add_row(J, g, row, nodes, sign, static_cast<int>(c.size()), list);
        c.push_back(sign * constant);
        rows.equality.push_back(equality);
        rows.part.push_back({&J == &G, index, 0});
    };
    for (int g = 0; g < G.groups(); ++g) {
        for (int j = G.row[g]; j < G.row[g + 1]; ++j) {
            const bool pushes = problem.upper[j] == infinity, pulls = problem.lower[j] == -infinity;
            if (problem.T[j] > 0 || !(pushes || pulls)) continue;
            add(G, g, j, pushes ? 1 : -1, -problem.b[j], pushes && pulls, j);
        }
    }
    for (int i = 0; i < problem.contacts.size(); ++i)
        if (!(problem.S[H.row[i]] > 0)) add(H, i, H.row[i], 1, problem.c[H.row[i]], false, i);
    finish(rows, list, c, problem.r);
    return search(rows);
}

Contradiction find_contradiction(const DelassusProblem& problem) {
    const Nodes& nodes = problem.W.nodes;
    Rows rows;
    BlockMatrix metric;
    metric.shape_diagonal(nodes);
    for (int n = 0; n < nodes.size(); ++n) {
        const double trace = problem.W.block(n).trace() / nodes.dof(n);
        metric.block(n).diagonal().setConstant(trace > 0 ? trace : 1);
    }
    rows.inverse.factor(metric);
    Triplets list;
    std::vector<double> c;
    const auto add = [&](int row_node, int column_node, const auto& block) {
        for (int k = 0; k < block.cols(); ++k)
            if (block(0, k) != 0) list.emplace_back(row_node, nodes.start[column_node] + k, block(0, k));
    };
    for (int n = 0; n < nodes.size(); ++n) {
        add(n, n, problem.W.block(n));
        c.push_back(problem.q[nodes.start[n]]);
        rows.equality.push_back(false);
        rows.part.push_back({false, n, 0});
    }
    for (const BlockMatrix::Coupling& coupling : problem.W.couplings)
        add(coupling.row_node, coupling.column_node, problem.W.block(coupling));
    finish(rows, list, c, VecX::Zero(nodes.nv()));
    return search(rows);
}

}  // namespace stickslip
