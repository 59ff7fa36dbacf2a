#include "diagnose/redundancy.hpp"
#include "math/node_groups.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stickslip {

namespace {

// Independent part of a unit row, at the start. Poses written with six digits leave joints open by 1e-6: with a smaller number
// such scenes lock, with a larger one poses near a dead point lose a row.
constexpr double dependent_at_start = 3e-5;
// Later, of the rows that were redundant at the start: more than drift ever makes, less than leaving a singular pose.
constexpr double dependent_later = 1e-2;
// Below this a row is not known to rounding.
constexpr double nothing = 1e-9;
// A row counts as a good choice when its independent part is at least this share of the best one's. With a larger share the choice
// flickers from step to step; with a smaller one it becomes ill-conditioned.
constexpr double good_choice = 0.3;
// Independent part on one body that lets it be peeled off.
constexpr double peel = 1e-2;
// Entries of N that count. With a larger number weak self-stress would be called unique.
constexpr double takes_part = 1e-6;
// Rows of an island up to which choosing in every stage costs less than about a millisecond.
constexpr int max_chosen_anew = 120;

bool rigid_row(const BilateralRows& joints, int i) {
    return joints.kind[i] == RowKind::holonomic && joints.force_lower[i] == -infinity &&
           joints.force_upper[i] == infinity;
}

double weight(const BlockMatrix& A, int node, int k) {
    const double a = A.values[A.diagonal[node] + k * (A.nodes.dof(node) + 1)];
    return a > 0 ? 1 / a : 0.0;
}

}  // namespace

const double* Redundancy::row_values(const BlockRows& G, const Nodes& nodes, int row,
                                     const BlockRows::Block& block) const {
    const auto r = static_cast<std::size_t>(row);
    return G.values.data() + block.offset + (row - first_[group_[r]]) * nodes.dof(block.node);
}

void Redundancy::note_rows(const BilateralRows& joints) {
    const BlockRows& G = joints.jacobian;
    id_ = joints.id;
    first_.assign(G.row.begin(), G.row.end());
    group_.resize(static_cast<std::size_t>(G.rows()));
    for (int g = 0; g < G.groups(); ++g) std::fill(group_.begin() + G.row[g], group_.begin() + G.row[g + 1], g);
    shared_.assign(static_cast<std::size_t>(G.rows()), 0);
    redundant_.clear();
    islands_.clear();
    left_out_ = 0;
}

// The rows that may depend on others, found by peeling off bodies. A body all of whose rows are independent on its own velocities
// has no self-stress: G_n' lambda = 0 gives lambda = 0. Its rows go, and with them maybe the next body's reason to stay.
class Redundancy::Peeling {
public:
    Peeling(const Redundancy& plan, const BlockMatrix& A, const BilateralRows& joints);
    void run();
    std::vector<std::vector<int>> islands() const;  // the rows left, by bodies that share a group

private:
    bool independent_alone(int n);
    bool stays(int g) const;  // a row of the group is left

    const Redundancy& plan_;
    const BlockMatrix& A_;
    const BlockRows& G_;
    const Nodes& nodes_;
    std::vector<char> active_;                  // per row: not peeled off yet
    std::vector<double> length_;                // per row: its square in the metric of 1/A_kk
    std::vector<std::vector<int>> of_node_;     // groups
    std::vector<std::vector<double>> on_node_;  // independent rows of one body so far, orthonormal
};

Redundancy::Peeling::Peeling(const Redundancy& plan, const BlockMatrix& A, const BilateralRows& joints)
    : plan_(plan),
      A_(A),
      G_(joints.jacobian),
      nodes_(A.nodes),
      active_(static_cast<std::size_t>(G_.rows()), 0),
      length_(static_cast<std::size_t>(G_.rows()), 0.0),
      of_node_(static_cast<std::size_t>(nodes_.size())) {
    for (int g = 0; g < G_.groups(); ++g) {
        for (const BlockRows::Block& block : G_.blocks_of(g)) {
            of_node_[block.node].push_back(g);
            for (int i = G_.row[g]; i < G_.row[g + 1]; ++i) {
                const double* x = plan_.row_values(G_, nodes_, i, block);
                for (int k = 0; k < nodes_.dof(block.node); ++k) length_[i] += x[k] * x[k] * weight(A, block.node, k);
            }
        }
        for (int i = G_.row[g]; i < G_.row[g + 1]; ++i) active_[i] = rigid_row(joints, i);
    }
}

bool Redundancy::Peeling::independent_alone(int n) {
    on_node_.clear();
    const int dof = nodes_.dof(n);
    for (const int g : of_node_[n]) {
        for (const BlockRows::Block& block : G_.blocks_of(g)) {
            if (block.node != n) continue;
            for (int i = G_.row[g]; i < G_.row[g + 1]; ++i) {
                if (!active_[i]) continue;
                if (static_cast<int>(on_node_.size()) == dof || !(length_[i] > 0)) return false;
                std::vector<double> x(static_cast<std::size_t>(dof));
                const double* values = plan_.row_values(G_, nodes_, i, block);
                for (int k = 0; k < dof; ++k) x[k] = values[k] * std::sqrt(weight(A_, n, k) / length_[i]);
                for (const std::vector<double>& q : on_node_) {
                    const double s = std::inner_product(q.begin(), q.end(), x.begin(), 0.0);
                    for (int k = 0; k < dof; ++k) x[k] -= s * q[k];
                }
                const double norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
                if (!(norm > peel)) return false;
                for (double& value : x) value /= norm;
                on_node_.push_back(x);
            }
        }
    }
    return true;
}

void Redundancy::Peeling::run() {
    std::vector<int> waiting(static_cast<std::size_t>(nodes_.size()));
    std::iota(waiting.rbegin(), waiting.rend(), 0);
    while (!waiting.empty()) {
        const int n = waiting.back();
        waiting.pop_back();
        if (!independent_alone(n)) continue;
        for (const int g : of_node_[n]) {
            bool gone = false;
            for (int i = G_.row[g]; i < G_.row[g + 1]; ++i) {
                gone = gone || active_[i];
                active_[i] = 0;
            }
            if (!gone) continue;
            for (const BlockRows::Block& block : G_.blocks_of(g))
                if (block.node != n) waiting.push_back(block.node);
        }
    }
}

bool Redundancy::Peeling::stays(int g) const {
    for (int i = G_.row[g]; i < G_.row[g + 1]; ++i)
        if (active_[i]) return !G_.blocks_of(g).empty();
    return false;
}

std::vector<std::vector<int>> Redundancy::Peeling::islands() const {
    NodeGroups groups;
    groups.reset(nodes_.size());
    for (int g = 0; g < G_.groups(); ++g)
        if (stays(g)) groups.join(G_, g);
    std::vector<std::vector<int>> found;
    std::vector<int> place(static_cast<std::size_t>(nodes_.size()), -1);
    for (int g = 0; g < G_.groups(); ++g) {
        if (!stays(g)) continue;
        int& at = place[groups.root_of(G_.blocks_of(g).front().node)];
        if (at < 0) {
            at = static_cast<int>(found.size());
            found.emplace_back();
        }
        for (int i = G_.row[g]; i < G_.row[g + 1]; ++i)
            if (active_[i]) found[at].push_back(i);
    }
    return found;
}

void Redundancy::plan(const BlockMatrix& A, const BilateralRows& joints) {
    note_rows(joints);
    const BlockRows& G = joints.jacobian;
    Peeling peeling(*this, A, joints);
    peeling.run();
    for (std::vector<int>& rows : peeling.islands()) {
        const int m = static_cast<int>(rows.size());
        if (m > max_rows) {
            left_out_ += m;
            continue;
        }
        Island island;
        island.rows = std::move(rows);
        for (const int i : island.rows)
            for (const BlockRows::Block& block : G.blocks_of(group_[i])) island.nodes.push_back(block.node);
        std::sort(island.nodes.begin(), island.nodes.end());
        island.nodes.erase(std::unique(island.nodes.begin(), island.nodes.end()), island.nodes.end());
        load(A, G, island);
        const int rank = choose(island, 0, dependent_at_start);
        island.redundant = m - rank;
        if (island.redundant == 0) continue;
        fill_null(island, rank);
        for (int i = 0; i < m; ++i)
            if (island.null.row(i).cwiseAbs().maxCoeff() > takes_part) shared_[island.rows[i]] = 1;

        std::vector<int> kept, gone;
        for (int i = 0; i < m; ++i) (i < rank ? kept : gone).push_back(island.rows[order_[i]]);
        std::sort(kept.begin(), kept.end());
        std::sort(gone.begin(), gone.end());
        redundant_.insert(redundant_.end(), gone.begin(), gone.end());
        island.rows = std::move(kept);
        island.rows.insert(island.rows.end(), gone.begin(), gone.end());
        island.every_step = m <= max_chosen_anew;
        islands_.push_back(std::move(island));
    }
    std::sort(redundant_.begin(), redundant_.end());
}

// The rows of the island as columns of B_, of unit length.
void Redundancy::load(const BlockMatrix& A, const BlockRows& G, Island& island) {
    const Nodes& nodes = A.nodes;
    column_of_node_.resize(static_cast<std::size_t>(nodes.size()));
    int n = 0;
    for (const int node : island.nodes) {
        column_of_node_[node] = n;
        n += nodes.dof(node);
    }
    const auto m = static_cast<Eigen::Index>(island.rows.size());
    B_.setZero(n, m);
    island.scale.resize(m);
    for (Eigen::Index j = 0; j < m; ++j) {
        const int row = island.rows[j];
        for (const BlockRows::Block& block : G.blocks_of(group_[row])) {
            const double* x = row_values(G, nodes, row, block);
            double* to = &B_(column_of_node_[block.node], j);
            for (int k = 0; k < nodes.dof(block.node); ++k) to[k] += x[k] * std::sqrt(weight(A, block.node, k));
        }
        const double length = B_.col(j).norm();
        island.scale[j] = length > 0 ? 1 / length : 1.0;
        B_.col(j) *= island.scale[j];
    }
}

// Gram-Schmidt that takes the first good row in the order given. Stops when the best independent part left is not above
// `nothing`, or, from `least_rank` rows on, not above `kept`. Leaves the chosen rows in front of order_, their
// coefficients in R_, and returns their number.
int Redundancy::choose(const Island& island, int least_rank, double kept) {
    const auto m = static_cast<int>(island.rows.size());
    order_.resize(static_cast<std::size_t>(m));
    std::iota(order_.begin(), order_.end(), 0);
    R_.setZero(m, m);
    // Squares of the independent parts: kept up by subtraction, computed anew when that has cost two digits.
    RowVec &square = column_scale_, &exact = left_;
    square.resize(m);
    for (int j = 0; j < m; ++j) square[j] = B_.col(j).squaredNorm();
    exact = square;
    for (int rank = 0; rank < m; ++rank) {
        double best = 0;
        for (int p = rank; p < m; ++p) best = std::max(best, square[order_[p]]);
        const double enough = rank >= least_rank ? kept : nothing;
        if (!(best > enough * enough)) return rank;
        int p = rank;
        while (!(square[order_[p]] >= good_choice * good_choice * best)) ++p;
        std::rotate(order_.begin() + rank, order_.begin() + p, order_.begin() + p + 1);
        const int chosen = order_[rank];
        R_(rank, chosen) = B_.col(chosen).norm();
        B_.col(chosen) /= R_(rank, chosen);
        for (int later = rank + 1; later < m; ++later) {
            const int j = order_[later];
            const double along = B_.col(chosen).dot(B_.col(j));
            if (along == 0) continue;
            R_(rank, j) = along;
            B_.col(j) -= along * B_.col(chosen);
            square[j] -= along * along;
            if (square[j] < 1e-2 * exact[j]) square[j] = exact[j] = B_.col(j).squaredNorm();
        }
    }
    return m;
}

// N: a dependent row is the sum of chosen ones with the coefficients R_I^-1 R_D; then orthonormal.
void Redundancy::fill_null(Island& island, int rank) {
    const auto m = static_cast<int>(island.rows.size());
    WorkMat& N = island.null;
    N.setZero(m, m - rank);
    for (int c = 0; c < m - rank; ++c) {
        const int dependent = order_[rank + c];
        auto x = N.col(c);
        x[dependent] = 1;
        for (int r = rank - 1; r >= 0; --r) {
            double sum = R_(r, dependent);
            for (int t = r + 1; t < rank; ++t) {
                const int j = order_[t];
                sum += R_(r, j) * x[j];
            }
            const int j = order_[r];
            x[j] = -sum / R_(r, j);
        }
        x.array() *= island.scale.array();
        for (int round = 0; round < 2; ++round) {  // twice is enough
            for (int b = 0; b < c; ++b) x -= N.col(b).dot(x) * N.col(b);
            x.normalize();
        }
    }
}

void Redundancy::switch_off(StepProblem& problem) {
    if (problem.joints.id != id_ || problem.joints.jacobian.row != first_) plan(problem.A, problem.joints);
    for (Island& island : islands_) {
        island.rigid = std::all_of(island.rows.begin(), island.rows.end(), [&](int i) {
            return problem.T[i] == 0 && problem.lower[i] == -infinity && problem.upper[i] == infinity;
        });
        if (!island.rigid) continue;
        const int m = static_cast<int>(island.rows.size());
        int rank = m - island.redundant;
        if (island.every_step) {
            load(problem.A, problem.joints.jacobian, island);
            rank = choose(island, rank, dependent_later);
            fill_null(island, rank);
        }
        for (int p = rank; p < m; ++p) {
            const int j = island.every_step ? order_[p] : p;
            const int row = island.rows[j];
            problem.lower[row] = problem.upper[row] = 0;
        }
    }
}

void Redundancy::smallest(const StepProblem& problem, RowVec& lambda) {
    for (const Island& island : islands_) {
        if (!island.rigid) continue;
        if (!island.every_step) {
            smallest_of_large(problem, island, lambda);
            continue;
        }
        const WorkMat& N = island.null;
        for (int c = 0; c < N.cols(); ++c) {
            double sum = 0;
            for (std::size_t i = 0; i < island.rows.size(); ++i)
                sum += N(static_cast<Eigen::Index>(i), c) * lambda[island.rows[i]];
            for (std::size_t i = 0; i < island.rows.size(); ++i)
                lambda[island.rows[i]] -= sum * N(static_cast<Eigen::Index>(i), c);
        }
    }
}

// The projection on the range of G, sparse: y += G D (D G' G D + eps)^-1 D G' (lambda - y) with columns scaled by D to unit
// length. Singular values s gain a share s^2/(s^2 + eps) per round: rows count as independent above s = 0.02, as dependent
// below 1e-4.
void Redundancy::smallest_of_large(const StepProblem& problem, const Island& island, RowVec& lambda) {
    constexpr double eps = 1e-5;
    constexpr int rounds = 8;
    const Nodes& nodes = problem.nodes();
    const BlockRows& G = problem.joints.jacobian;
    // s: the scale of the columns, then the values x of all rows of the island, one body pair at a time
    const auto each = [&](auto&& use) {
        for (const int row : island.rows)
            for (const BlockRows::Block& block : G.blocks_of(group_[row]))
                use(row, block, row_values(G, nodes, row, block));
    };
    column_scale_.setZero(nodes.nv());
    edges_.clear();
    each([&](int row, const BlockRows::Block& block, const double* x) {
        for (int k = 0; k < nodes.dof(block.node); ++k) column_scale_[nodes.start[block.node] + k] += x[k] * x[k];
        for (const BlockRows::Block& other : G.blocks_of(group_[row]))
            if (other.node > block.node) edges_.push_back({block.node, other.node});
    });
    for (int k = 0; k < nodes.nv(); ++k) column_scale_[k] = column_scale_[k] > 0 ? 1 / std::sqrt(column_scale_[k]) : 0;
    lu_.analyse(nodes, edges_);
    for (int n = 0; n < nodes.size(); ++n)
        for (int k = 0; k < nodes.dof(n); ++k)
            lu_.diagonal(n)[k * (nodes.dof(n) + 1)] += column_scale_[nodes.start[n] + k] > 0 ? eps : 1.0;
    each([&](int row, const BlockRows::Block& a, const double* x) {
        for (const BlockRows::Block& b : G.blocks_of(group_[row])) {
            const double* y = row_values(G, nodes, row, b);
            const int na = nodes.dof(a.node), nb = nodes.dof(b.node);
            double* to = a.node == b.node ? lu_.diagonal(a.node) : lu_.pair(a.node, b.node).ab;
            for (int j = 0; j < nb; ++j)
                for (int i = 0; i < na; ++i)
                    to[i + j * na] +=
                        column_scale_[nodes.start[a.node] + i] * x[i] * column_scale_[nodes.start[b.node] + j] * y[j];
        }
    });
    if (!lu_.factor()) return;
    left_.resize(lambda.size());
    left_ = lambda;
    given_.resize(nodes.nv());
    for (int round = 0; round < rounds; ++round) {
        given_.setZero();
        each([&](int row, const BlockRows::Block& block, const double* x) {
            for (int k = 0; k < nodes.dof(block.node); ++k) given_[nodes.start[block.node] + k] += x[k] * left_[row];
        });
        given_.array() *= column_scale_.array();
        lu_.solve(given_.data());
        given_.array() *= column_scale_.array();
        each([&](int row, const BlockRows::Block& block, const double* x) {
            for (int k = 0; k < nodes.dof(block.node); ++k) left_[row] -= x[k] * given_[nodes.start[block.node] + k];
        });
    }
    for (const int row : island.rows) lambda[row] -= left_[row];
}

std::string Redundancy::row_name(const System& system, int row) const {
    const auto g = static_cast<std::size_t>(group_[row]);
    const std::string joint = system.joint_name(id_[g]);
    if (first_[g + 1] - first_[g] == 1) return joint;
    return joint + " row " + std::to_string(row - first_[g] + 1);
}

std::vector<std::string> Redundancy::redundant_names(const System& system) const {
    std::vector<std::string> names;
    for (const int row : redundant_) names.push_back(row_name(system, row));
    return names;
}

std::vector<std::string> Redundancy::shared_joints(const System& system) const {
    std::vector<std::string> names;
    int last = -1;
    for (int row = 0; row < rows(); ++row) {
        const int g = group_[row];
        if (unique(row) || g == last) continue;
        last = g;
        names.push_back(system.joint_name(id_[g]));
    }
    return names;
}

}  // namespace stickslip
