#include "solvers/corrected_system.hpp"

#include <algorithm>

#include "math/dense_lu.hpp"
#include "math/solve_kernels.hpp"

namespace stickslip {

bool CorrectedSystem::factor(const StepProblem& problem, const std::vector<double>& joint_B,
                             const std::vector<double>& contact_B) {
    factored_B_ = contact_B;
    changes_.clear();
    rows_ = 0;
    finished_ = true;
    place_.assign(static_cast<std::size_t>(problem.contacts.size()), -1);
    return system_.factor(problem, joint_B, contact_B);
}

// y = U x of one change.
void CorrectedSystem::rows_times(const StepProblem& problem, const Change& change, const double* x, double* y) const {
    const BlockRows& H = problem.contacts.jacobian;
    std::fill_n(y, change.dim, 0.0);
    for (const BlockRows::Block& b : H.blocks_of(change.contact)) {
        const int d = problem.nodes().dof(b.node);
        const double* v = x + problem.nodes().start[b.node];
        for (int r = 0; r < change.dim; ++r)
            for (int c = 0; c < d; ++c) y[r] += H.values[b.offset + r * d + c] * v[c];
    }
}

bool CorrectedSystem::add(const StepProblem& problem, int i) {
    if (static_cast<int>(changes_.size()) == most) return false;
    const BlockRows& H = problem.contacts.jacobian;
    const Nodes& nodes = problem.nodes();
    constexpr int stride = 3 * most;
    const auto nv = static_cast<std::size_t>(nodes.nv());
    Y_.resize(std::max(Y_.size(), stride * nv));
    for (std::vector<double>* list : {&UY_, &lu_}) list->resize(stride * stride);
    changed_B_.resize(static_cast<std::size_t>(StepSystem::block * most));
    pivot_.resize(stride);
    small_.resize(stride);
    const Change added{i, rows_, H.dim(i)};
    place_[i] = static_cast<int>(changes_.size());
    changes_.push_back(added);
    rows_ += added.dim;
    double* const columns = Y_.data() + static_cast<std::size_t>(added.first) * nv;
    std::fill_n(columns, static_cast<std::size_t>(added.dim) * nv, 0.0);
    for (int k = 0; k < added.dim; ++k)
        for (const BlockRows::Block& b : H.blocks_of(i))
            for (int c = 0; c < nodes.dof(b.node); ++c)
                columns[static_cast<std::size_t>(k) * nv + nodes.start[b.node] + c] += H.values[b.offset + k * nodes.dof(b.node) + c];
    system_.solve(columns, added.dim);
    for (const Change& other : changes_) {
        for (int k = 0; k < added.dim; ++k)
            rows_times(problem, other, Y_.data() + static_cast<std::size_t>(added.first + k) * nv,
                       UY_.data() + other.first + stride * (added.first + k));
        for (int k = 0; k < other.dim; ++k)
            rows_times(problem, added, Y_.data() + static_cast<std::size_t>(other.first + k) * nv,
                       UY_.data() + added.first + stride * (other.first + k));
    }
    return true;
}

bool CorrectedSystem::change(const StepProblem& problem, int i, const double* B) {
    if (place_[i] < 0 && !add(problem, i)) return false;
    const int dim = changes_[static_cast<std::size_t>(place_[i])].dim;
    std::copy_n(B, dim * dim, changed_B_.data() + StepSystem::block * place_[i]);
    finished_ = false;
    return true;
}

bool CorrectedSystem::finish() {
    if (finished_) return true;
    finished_ = true;
    constexpr int stride = 3 * most;
    for (int column = 0; column < rows_; ++column) {  // I + dB U Y, columns packed for the factorisation
        double* const to = lu_.data() + rows_ * column;
        for (const Change& c : changes_) {
            const double* B = changed_B_.data() + StepSystem::block * place_[c.contact];
            const double* B0 = factored_B_.data() + StepSystem::block * c.contact;
            const double* uy = UY_.data() + c.first + stride * column;
            for (int r = 0; r < c.dim; ++r) {
                double sum = c.first + r == column ? 1.0 : 0.0;
                for (int s = 0; s < c.dim; ++s) sum += (B[r + s * c.dim] - B0[r + s * c.dim]) * uy[s];
                to[c.first + r] = sum;
            }
        }
    }
    return factor_dense(lu_.data(), pivot_.data(), rows_);
}

void CorrectedSystem::solve(const StepProblem& problem, VecX& x) {
    system_.solve(x);
    if (rows_ == 0) return;
    for (const Change& c : changes_) {
        const double* B = changed_B_.data() + StepSystem::block * place_[c.contact];
        const double* B0 = factored_B_.data() + StepSystem::block * c.contact;
        double u[3];
        rows_times(problem, c, x.data(), u);
        for (int r = 0; r < c.dim; ++r) {
            double sum = 0;
            for (int s = 0; s < c.dim; ++s) sum += (B[r + s * c.dim] - B0[r + s * c.dim]) * u[s];
            small_[c.first + r] = sum;
        }
    }
    solve_dense(lu_.data(), pivot_.data(), small_.data(), rows_);
    const auto nv = static_cast<std::size_t>(x.size());
    int k = 0;
    for (; k + 4 <= rows_; k += 4)
        kernels::subtract_dense_4(Y_.data() + static_cast<std::size_t>(k) * nv, static_cast<std::ptrdiff_t>(nv), small_.data() + k, x.data(),
                                  static_cast<int>(nv));
    for (; k < rows_; ++k) {
        const double* y = Y_.data() + static_cast<std::size_t>(k) * nv;
        for (std::size_t i = 0; i < nv; ++i) x[static_cast<Eigen::Index>(i)] -= small_[k] * y[i];
    }
}

}  // namespace stickslip
