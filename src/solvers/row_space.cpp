#include "solvers/row_space.hpp"

#include <algorithm>
#include <cmath>

#include "math/dense_lu.hpp"

namespace stickslip {

namespace {

// [velocity / impulse] Stands for an infinite T in rows that are left out.
constexpr double left_out = 1e30;

}  // namespace

void RowSpace::solve(const RowShift& shift, const RowVec& b, RowVec& x) {
    x.resize(rows());
    solve_once(shift, b, x);
    // b - (W + T) x on the rows that take part
    image(x, residual_);
    for (int j = 0; j < joints; ++j)
        residual_[j] = shift.joint[j] < infinity ? b[j] - residual_[j] - shift.joint[j] * x[j] : 0.0;
    for (int i = 0; i < contacts(); ++i) {
        const int first = row[i], n = shift.active[i];
        const double* T = shift.contact.data() + StepSystem::block * i;
        for (int r = 0; r < row[i + 1] - first; ++r) {
            double sum = r < n ? b[first + r] - residual_[first + r] : 0.0;
            for (int s = 0; r < n && s < n; ++s) sum -= T[r + s * n] * x[first + s];
            residual_[first + r] = sum;
        }
    }
    correction_.resize(rows());
    solve_once(shift, residual_, correction_);
    x += correction_;
}

bool StepRows::prepare(const StepProblem& problem) {
    problem_ = &problem;
    if (!inverse_.factor(problem.A)) return false;
    system_.analyse(problem);
    joints = problem.joints.size();
    row.assign(problem.contacts.jacobian.row.begin(), problem.contacts.jacobian.row.end());
    for (int& r : row) r += joints;
    lambda_.resize(joints);
    w_.resize(joints);
    p_.resize(rows() - joints);
    u_.resize(rows() - joints);
    force_.resize(problem.nodes().nv());
    velocity_.resize(problem.nodes().nv());
    diagonal.assign(system_.joint_scale().begin(), system_.joint_scale().end());
    diagonal.insert(diagonal.end(), system_.contact_scale().begin(), system_.contact_scale().end());
    inverse_.apply(problem.r, velocity_);
    problem.joints.jacobian.product(problem.nodes(), velocity_, w_);
    problem.contacts.jacobian.product(problem.nodes(), velocity_, u_);
    q.resize(rows());
    for (int j = 0; j < joints; ++j) q[j] = w_[j] - problem.b[j];
    for (int k = 0; k < u_.size(); ++k) q[joints + k] = u_[k] + problem.c[k];
    return true;
}

void StepRows::split(const RowVec& x) {
    for (int j = 0; j < joints; ++j) lambda_[j] = x[j];
    for (int k = 0; k < p_.size(); ++k) p_[k] = x[joints + k];
}

void StepRows::velocities(const RowVec& x, StepSolution& solution) {
    split(x);
    solution.lambda = lambda_;
    solution.p = p_;
    force_ = problem_->r;
    problem_->joints.jacobian.add_transpose_product(problem_->nodes(), lambda_, force_);
    problem_->contacts.jacobian.add_transpose_product(problem_->nodes(), p_, force_);
    inverse_.apply(force_, solution.v);
}

void StepRows::image(const RowVec& x, RowVec& y) {
    const Nodes& nodes = problem_->nodes();
    split(x);
    force_.setZero();
    problem_->joints.jacobian.add_transpose_product(nodes, lambda_, force_);
    problem_->contacts.jacobian.add_transpose_product(nodes, p_, force_);
    inverse_.apply(force_, velocity_);
    problem_->joints.jacobian.product(nodes, velocity_, w_);
    problem_->contacts.jacobian.product(nodes, velocity_, u_);
    y.resize(rows());
    for (int j = 0; j < joints; ++j) y[j] = w_[j] + problem_->T[j] * x[j];
    for (int k = 0; k < u_.size(); ++k) y[joints + k] = u_[k] + problem_->S[k] * x[joints + k];
}

bool StepRows::factor(const RowShift& shift) {
    joint_B_.resize(static_cast<std::size_t>(joints));
    for (int j = 0; j < joints; ++j) joint_B_[j] = 1 / (shift.joint[j] + problem_->T[j]);
    contact_B_.assign(static_cast<std::size_t>(contacts() * StepSystem::block), 0.0);
    for (int i = 0; i < contacts(); ++i) {
        const int dim = row[i + 1] - row[i], n = shift.active[i];
        const double* S = problem_->S.data() + row[i] - joints;
        const double* from = shift.inverse.data() + StepSystem::block * i;
        double* B = contact_B_.data() + StepSystem::block * i;
        bool rigid = true;
        for (int k = 0; k < n; ++k) rigid = rigid && S[k] == 0;
        if (rigid) {
            for (int r = 0; r < n; ++r)
                for (int s = 0; s < n; ++s) B[r + s * dim] = from[r + s * n];
            continue;
        }
        // By LU: T spans many powers of ten, and of its cofactors no digit would be left.
        double T[9], x[3];
        int pivot[3];
        for (int s = 0; s < n; ++s)
            for (int r = 0; r < n; ++r)
                T[r + s * n] = shift.contact[StepSystem::block * i + r + s * n] + (r == s ? S[r] : 0.0);
        if (!factor_dense(T, pivot, n)) return false;
        for (int s = 0; s < n; ++s) {
            for (int r = 0; r < n; ++r) x[r] = r == s;
            solve_dense(T, pivot, x, n);
            for (int r = 0; r < n; ++r) B[r + s * dim] = x[r];
        }
    }
    return system_.factor(*problem_, joint_B_, contact_B_);
}

void StepRows::apply_inverse(RowVec& x) {
    for (int j = 0; j < joints; ++j) x[j] *= joint_B_[j];
    for (int i = 0; i < contacts(); ++i) {
        const int first = row[i], dim = row[i + 1] - first;
        const double* B = contact_B_.data() + StepSystem::block * i;
        double y[3] = {0, 0, 0};
        for (int r = 0; r < dim; ++r)
            for (int s = 0; s < dim; ++s) y[r] += B[r + s * dim] * x[first + s];
        for (int r = 0; r < dim; ++r) x[first + r] = y[r];
    }
}

// K dv = J' B b,  x = B (b - J dv)
void StepRows::solve_once(const RowShift&, const RowVec& b, RowVec& x) {
    const Nodes& nodes = problem_->nodes();
    x = b;
    apply_inverse(x);
    split(x);
    force_.setZero();
    problem_->joints.jacobian.add_transpose_product(nodes, lambda_, force_);
    problem_->contacts.jacobian.add_transpose_product(nodes, p_, force_);
    system_.solve(force_);
    problem_->joints.jacobian.product(nodes, force_, w_);
    problem_->contacts.jacobian.product(nodes, force_, u_);
    for (int j = 0; j < joints; ++j) x[j] = b[j] - w_[j];
    for (int k = 0; k < u_.size(); ++k) x[joints + k] = b[joints + k] - u_[k];
    apply_inverse(x);
}

void DelassusSpace::prepare(const DelassusProblem& problem, bool compressed) {
    problem_ = &problem;
    joints = 0;
    row.assign(problem.W.nodes.start.begin(), problem.W.nodes.start.end());
    q = problem.q;
    diagonal.resize(static_cast<std::size_t>(contacts()));
    for (int i = 0; i < contacts(); ++i) {
        const double mean = problem.W.block(i).trace() / problem.W.nodes.dof(i);
        diagonal[i] = mean > 0 ? mean : 1;
    }
    merge();
    gather(compressed);
    lu_.analyse(small_, edges_);
}

void DelassusSpace::merge() {
    constexpr int max_rows = 60;  // of a node: more contacts between two bodies are split
    const BlockMatrix& W = problem_->W;
    const int n = contacts();
    start_.assign(static_cast<std::size_t>(n) + 1, 0);
    for (const BlockMatrix::Coupling& c : W.couplings)
        if (c.row_node != c.column_node) ++start_[c.row_node + 1], ++start_[c.column_node + 1];
    for (int i = 0; i < n; ++i) start_[i + 1] += start_[i] + 1;  // and itself
    neighbour_.resize(static_cast<std::size_t>(start_[n]));
    std::vector<int>& next = place_;
    next.assign(start_.begin(), start_.end() - 1);
    for (int i = 0; i < n; ++i) neighbour_[next[i]++] = i;
    for (const BlockMatrix::Coupling& c : W.couplings) {
        if (c.row_node == c.column_node) continue;
        neighbour_[next[c.row_node]++] = c.column_node;
        neighbour_[next[c.column_node]++] = c.row_node;
    }
    const auto around = [&](int i) { return std::pair(neighbour_.begin() + start_[i], neighbour_.begin() + next[i]); };
    for (int i = 0; i < n; ++i) {
        const auto begin = neighbour_.begin() + start_[i];
        std::sort(begin, neighbour_.begin() + next[i]);
        next[i] = static_cast<int>(std::unique(begin, neighbour_.begin() + next[i]) - neighbour_.begin());
    }
    node_.assign(static_cast<std::size_t>(n), -1);
    full_.start.assign(1, 0);
    first_member_.assign(1, 0);
    members_.clear();
    for (int i = 0; i < n; ++i) {
        if (node_[i] >= 0) continue;
        node_[i] = full_.size();
        members_.push_back(i);
        int rows_of = W.nodes.dof(i);
        const auto [begin, end] = around(i);
        for (auto j = begin; j != end; ++j) {
            if (*j <= i || node_[*j] >= 0 || rows_of + W.nodes.dof(*j) > max_rows) continue;
            const auto [other, other_end] = around(*j);
            if (!std::equal(begin, end, other, other_end)) continue;
            node_[*j] = node_[i];
            members_.push_back(*j);
            rows_of += W.nodes.dof(*j);
        }
        full_.add(rows_of);
        first_member_.push_back(static_cast<int>(members_.size()));
    }
    for (int a = 0; a < full_.size(); ++a) {
        int at = 0;
        for (int m = first_member_[a]; m < first_member_[a + 1]; ++m) {
            place_[members_[m]] = at;
            at += W.nodes.dof(members_[m]);
        }
    }
}

// The pairs of nodes of the factor that W couples.
void DelassusSpace::find_edges() {
    edges_.clear();
    for (const BlockMatrix::Coupling& c : problem_->W.couplings) {
        const int a = node_[c.row_node], b = node_[c.column_node];
        if (a != b) edges_.push_back({std::min(a, b), std::max(a, b)});
    }
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
}

// Where the blocks of a matrix over these nodes start: diagonal ones, then a pair of blocks per edge. Returns its size.
int DelassusSpace::place_blocks(const Nodes& nodes, std::vector<int>& of_node, std::vector<int>& of_edge) const {
    of_node.clear();
    of_edge.clear();
    int size = 0;
    for (int a = 0; a < nodes.size(); ++a) {
        of_node.push_back(size);
        size += nodes.dof(a) * nodes.dof(a);
    }
    for (const BlockLu::Edge& e : edges_) {
        of_edge.push_back(size);
        size += 2 * nodes.dof(e.a) * nodes.dof(e.b);
    }
    return size;
}

// W over the nodes of the factor.
void DelassusSpace::gather_nodes() {
    const BlockMatrix& W = problem_->W;
    const auto edge_of = [&](int a, int b) {
        const BlockLu::Edge wanted{std::min(a, b), std::max(a, b)};
        return std::lower_bound(edges_.begin(), edges_.end(), wanted) - edges_.begin();
    };
    whole_.assign(static_cast<std::size_t>(place_blocks(full_, whole_diagonal_, whole_edge_)), 0.0);
    const auto add = [&](int i, int j, const double* block) {
        const int a = node_[i], b = node_[j], di = W.nodes.dof(i), dj = W.nodes.dof(j), height = full_.dof(a);
        int at = a == b ? whole_diagonal_[a] : whole_edge_[edge_of(a, b)];
        if (a > b) at += height * full_.dof(b);
        double* to = whole_.data() + at + place_[i] + place_[j] * height;
        for (int s = 0; s < dj; ++s)
            for (int r = 0; r < di; ++r) to[r + s * height] += block[r + s * di];
    };
    for (int i = 0; i < contacts(); ++i) add(i, i, W.values.data() + W.diagonal[i]);
    for (const BlockMatrix::Coupling& c : W.couplings) add(c.row_node, c.column_node, W.values.data() + c.offset);
}

// An orthonormal basis of the columns of `block`, in the first columns of R; returns their number. R comes in as the identity
// and stays it where a basis would gain nothing.
int DelassusSpace::find_basis(const Eigen::Map<MatX>& block, Eigen::Map<MatX>& R) {
    // Of the largest column: smaller ones are rounding. What is left out must be small against T too, which shrinks
    // to 1e-14 of W: with 1e-10 the method ends at 1e-5.
    constexpr double rank_share = 1e-13;
    const int n = static_cast<int>(R.rows());
    int rank = 0;
    MatX columns = block;
    double largest = 0;
    for (; rank < n; ++rank) {
        Eigen::Index best = 0;
        const double length = std::sqrt(columns.colwise().squaredNorm().maxCoeff(&best));
        largest = std::max(largest, length);
        if (!(length > rank_share * largest)) break;
        VecX direction = columns.col(best) / length;
        // twice is enough
        direction -= R.leftCols(rank) * (R.leftCols(rank).transpose() * direction);
        direction.normalize();
        columns -= direction * (direction.transpose() * columns);
        R.col(rank) = direction;
    }
    if (2 * rank > n) {  // nothing gained: the rows as they are
        rank = n;
        R.setIdentity();
    }
    return std::max(rank, 1);
}

// R of every node by Gram-Schmidt on the columns of its block of W, the largest first; then V = R' W R.
void DelassusSpace::gather(bool compressed) {
    using Mat = Eigen::Map<MatX>;
    find_edges();
    gather_nodes();
    small_.start.assign(1, 0);
    basis_first_.clear();
    basis_.clear();
    for (int a = 0; a < full_.size(); ++a) {
        const int n = full_.dof(a);
        basis_first_.push_back(static_cast<int>(basis_.size()));
        basis_.resize(basis_.size() + static_cast<std::size_t>(n * n), 0.0);
        Mat R(basis_.data() + basis_first_.back(), n, n);
        R.setIdentity();
        const bool shared = first_member_[a + 1] - first_member_[a] > 1;
        const int rank = compressed && shared ? find_basis(Mat(whole_.data() + whole_diagonal_[a], n, n), R) : n;
        basis_.resize(static_cast<std::size_t>(basis_first_.back() + n * rank));
        small_.add(rank);
    }
    const auto basis = [&](int a) { return Mat(basis_.data() + basis_first_[a], full_.dof(a), small_.dof(a)); };
    const int size = place_blocks(small_, V_diagonal_, V_edge_);
    V_.resize(static_cast<std::size_t>(size));
    const auto put = [&](int a, int b, const double* from, double* to) {
        Mat(to, small_.dof(a), small_.dof(b)) =
            basis(a).transpose() * Eigen::Map<const MatX>(from, full_.dof(a), full_.dof(b)) * basis(b);
    };
    for (int a = 0; a < small_.size(); ++a) put(a, a, whole_.data() + whole_diagonal_[a], V_.data() + V_diagonal_[a]);
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const int a = edges_[e].a, b = edges_[e].b;
        put(a, b, whole_.data() + whole_edge_[e], V_.data() + V_edge_[e]);
        put(b, a, whole_.data() + whole_edge_[e] + full_.dof(a) * full_.dof(b),
            V_.data() + V_edge_[e] + small_.dof(a) * small_.dof(b));
    }
    N_.resize(static_cast<std::size_t>(V_diagonal_.empty() ? 0 : size));
    z_.resize(small_.nv());
    y_.resize(small_.nv());
    full_b_.resize(full_.nv());
}

void DelassusSpace::image(const RowVec& x, RowVec& y) {
    y.resize(rows());
    y.setZero();
    problem_->W.add_product(1, x, y);
}

void DelassusSpace::apply_inverse(const RowShift& shift, const double* x, double* y) const {
    for (int i = 0; i < contacts(); ++i) {
        const int n = shift.active[i];
        const double* B = shift.inverse.data() + StepSystem::block * i;
        for (int r = 0; r < row[i + 1] - row[i]; ++r) {
            double sum = 0;
            for (int s = 0; r < n && s < n; ++s) sum += B[r + s * n] * x[row[i] + s];
            y[row[i] + r] = sum;
        }
    }
}

bool DelassusSpace::factor(const RowShift& shift) {
    lu_.analyse(small_, edges_);
    // N = R' T^-1 R of the nodes with a basis, T itself of the others.
    for (int a = 0; a < small_.size(); ++a) {
        const int n = full_.dof(a), k = small_.dof(a);
        double* N = N_.data() + V_diagonal_[a];
        std::fill_n(N, k * k, 0.0);
        if (!plain(a)) {
            work_.assign(static_cast<std::size_t>(n * k), 0.0);  // T^-1 R
            const double* R = basis_.data() + basis_first_[a];
            for (int m = first_member_[a]; m < first_member_[a + 1]; ++m) {
                const int i = members_[m], active = shift.active[i];
                const double* B = shift.inverse.data() + StepSystem::block * i;
                for (int s = 0; s < k; ++s)
                    for (int r = 0; r < active; ++r)
                        for (int t = 0; t < active; ++t)
                            work_[place_[i] + r + s * n] += B[r + t * active] * R[place_[i] + t + s * n];
            }
            for (int s = 0; s < k; ++s)
                for (int r = 0; r < k; ++r)
                    for (int t = 0; t < n; ++t) N[r + s * k] += R[t + r * n] * work_[t + s * n];
            continue;
        }
        for (int m = first_member_[a]; m < first_member_[a + 1]; ++m) {
            const int i = members_[m], active = shift.active[i], at = place_[i];
            for (int r = active; r < row[i + 1] - row[i]; ++r) N[(at + r) * (k + 1)] = left_out;
            for (int s = 0; s < active; ++s)
                for (int r = 0; r < active; ++r)
                    N[at + r + (at + s) * k] = shift.contact[StepSystem::block * i + r + s * active];
        }
    }
    const auto put = [&](int a, int b, const double* V, double* to) {
        const int m = small_.dof(a), n = small_.dof(b);
        if (plain(a))
            std::copy_n(V, m * n, to);
        else
            Eigen::Map<MatX>(to, m, n).noalias() =
                Eigen::Map<const MatX>(N_.data() + V_diagonal_[a], m, m).lazyProduct(Eigen::Map<const MatX>(V, m, n));
    };
    for (int a = 0; a < small_.size(); ++a) {
        double* to = lu_.diagonal(a);
        put(a, a, V_.data() + V_diagonal_[a], to);
        const int k = small_.dof(a);
        for (int r = 0; r < k; ++r) {
            if (!plain(a))
                to[r * (k + 1)] += 1;
            else
                for (int s = 0; s < k; ++s) to[r + s * k] += N_[V_diagonal_[a] + r + s * k];
        }
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const int a = edges_[e].a, b = edges_[e].b, size = small_.dof(a) * small_.dof(b);
        const BlockLu::Pair pair = lu_.pair(a, b);
        put(a, b, V_.data() + V_edge_[e], pair.ab);
        put(b, a, V_.data() + V_edge_[e] + size, pair.ba);
    }
    return lu_.factor();
}

void DelassusSpace::solve_once(const RowShift& shift, const RowVec& b, RowVec& x) {
    const auto basis = [&](int a) {
        return Eigen::Map<const MatX>(basis_.data() + basis_first_[a], full_.dof(a), small_.dof(a));
    };
    const auto at = [&](int i) { return full_.start[node_[i]] + place_[i]; };
    apply_inverse(shift, b.data(), x.data());
    for (int i = 0; i < contacts(); ++i) {
        const bool direct = plain(node_[i]);
        for (int r = 0; r < row[i + 1] - row[i]; ++r)
            full_b_[at(i) + r] = !direct ? x[row[i] + r] : r < shift.active[i] ? b[row[i] + r] : 0.0;
    }
    for (int a = 0; a < small_.size(); ++a) {
        auto z = z_.segment(small_.start[a], small_.dof(a));
        const auto full = full_b_.segment(full_.start[a], full_.dof(a));
        if (plain(a))
            z = full;
        else
            z.noalias() = basis(a).transpose().lazyProduct(full);
    }
    lu_.solve(z_.data());
    // y = V z, wanted where there is a basis
    for (int a = 0; a < small_.size(); ++a) {
        const int n = small_.dof(a);
        y_.segment(small_.start[a], n).noalias() =
            Eigen::Map<const MatX>(V_.data() + V_diagonal_[a], n, n).lazyProduct(z_.segment(small_.start[a], n));
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const int a = edges_[e].a, c = edges_[e].b, na = small_.dof(a), nc = small_.dof(c);
        const double* ac = V_.data() + V_edge_[e];
        if (!plain(a))
            y_.segment(small_.start[a], na).noalias() +=
                Eigen::Map<const MatX>(ac, na, nc).lazyProduct(z_.segment(small_.start[c], nc));
        if (!plain(c))
            y_.segment(small_.start[c], nc).noalias() +=
                Eigen::Map<const MatX>(ac + na * nc, nc, na).lazyProduct(z_.segment(small_.start[a], na));
    }
    for (int a = 0; a < small_.size(); ++a) {
        auto full = full_b_.segment(full_.start[a], full_.dof(a));
        if (plain(a))
            full = z_.segment(small_.start[a], small_.dof(a));
        else
            full.noalias() = basis(a).lazyProduct(y_.segment(small_.start[a], small_.dof(a)));
    }
    for (int i = 0; i < contacts(); ++i) {
        const int active = shift.active[i];
        const double* B = shift.inverse.data() + StepSystem::block * i;
        double left[3];
        for (int r = 0; r < active; ++r) left[r] = b[row[i] + r] - full_b_[at(i) + r];
        for (int r = 0; r < row[i + 1] - row[i]; ++r) {
            double sum = 0;
            if (plain(node_[i]))
                sum = r < active ? full_b_[at(i) + r] : 0.0;
            else
                for (int s = 0; r < active && s < active; ++s) sum += B[r + s * active] * left[s];
            x[row[i] + r] = sum;
        }
    }
}

}  // namespace stickslip
