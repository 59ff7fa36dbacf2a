#include "solvers/row_space.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

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
        Mat3 T = Mat3::Identity();
        for (int r = 0; r < n; ++r)
            for (int s = 0; s < n; ++s)
                T(r, s) = shift.contact[StepSystem::block * i + r + s * n] + (r == s ? S[r] : 0.0);
        const Mat3 inverse = T.inverse();
        for (int r = 0; r < n; ++r)
            for (int s = 0; s < n; ++s) B[r + s * dim] = inverse(r, s);
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

void DelassusSpace::prepare(const DelassusProblem& problem) {
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
}

void DelassusSpace::merge() {
    constexpr int largest = 36;  // rows of a merged node: beyond, the kernels gain nothing
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
    merged_ = {};
    std::vector<int> place(static_cast<std::size_t>(n), 0);
    for (int i = 0; i < n; ++i) {
        if (node_[i] >= 0) continue;
        node_[i] = merged_.size();
        int rows_of = W.nodes.dof(i);
        const auto [begin, end] = around(i);
        for (auto j = begin; j != end; ++j) {
            if (*j <= i || node_[*j] >= 0 || rows_of + W.nodes.dof(*j) > largest) continue;
            const auto [other, other_end] = around(*j);
            if (!std::equal(begin, end, other, other_end)) continue;
            node_[*j] = node_[i];
            place[*j] = rows_of;
            rows_of += W.nodes.dof(*j);
        }
        merged_.add(rows_of);
    }
    place_.swap(place);
    edges_.clear();
    for (const BlockMatrix::Coupling& c : W.couplings) {
        const int a = node_[c.row_node], b = node_[c.column_node];
        if (a != b) edges_.push_back({std::min(a, b), std::max(a, b)});
    }
    x_.resize(merged_.nv());
}

void DelassusSpace::image(const RowVec& x, RowVec& y) {
    y.resize(rows());
    y.setZero();
    problem_->W.add_product(1, x, y);
}

bool DelassusSpace::factor(const RowShift& shift) {
    const BlockMatrix& W = problem_->W;
    lu_.analyse(merged_, edges_);
    const auto add = [&](int i, int j, const double* block) {
        const int a = node_[i], b = node_[j], di = W.nodes.dof(i), height = merged_.dof(a);
        double* to = (a == b ? lu_.diagonal(a) : lu_.pair(a, b).ab) + place_[i] + place_[j] * height;
        for (int s = 0; s < shift.active[j]; ++s)
            for (int r = 0; r < shift.active[i]; ++r) to[r + s * height] += block[r + s * di];
    };
    for (int i = 0; i < contacts(); ++i) {
        add(i, i, W.values.data() + W.diagonal[i]);
        const int n = shift.active[i], height = merged_.dof(node_[i]);
        double* to = lu_.diagonal(node_[i]) + place_[i] * (1 + height);
        const double* T = shift.contact.data() + StepSystem::block * i;
        for (int s = 0; s < n; ++s)
            for (int r = 0; r < n; ++r) to[r + s * height] += T[r + s * n];
        for (int r = n; r < W.nodes.dof(i); ++r) to[r * (1 + height)] = 1;
    }
    for (const BlockMatrix::Coupling& c : W.couplings) add(c.row_node, c.column_node, W.values.data() + c.offset);
    return lu_.factor();
}

void DelassusSpace::solve_once(const RowShift& shift, const RowVec& b, RowVec& x) {
    const auto at = [&](int i) { return merged_.start[node_[i]] + place_[i]; };
    for (int i = 0; i < contacts(); ++i)
        for (int r = 0; r < row[i + 1] - row[i]; ++r) x_[at(i) + r] = r < shift.active[i] ? b[row[i] + r] : 0.0;
    lu_.solve(x_.data());
    for (int i = 0; i < contacts(); ++i)
        for (int r = 0; r < row[i + 1] - row[i]; ++r) x[row[i] + r] = x_[at(i) + r];
}

}  // namespace stickslip
