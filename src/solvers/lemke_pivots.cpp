#include "solvers/lemke_pivots.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "math/dense_lu.hpp"

namespace stickslip {

namespace {

// Entries of M and q are of order one (the caller scales).

// A variable that moves slower than this beside the fastest one does not block. Entries that are zero in exact
// arithmetic come out at 1e-16 times the condition of the kernel (1e6 for heavy on light): smaller and such a
// zero is taken as a pivot and the kernel is singular; larger and real ones are passed by, at the price of an
// impulse negative by about this much.
constexpr double pivot_tolerance = 1e-9;
// Two variables that reach zero within this of each other (relative to the largest violation of q) are a tie.
// Smaller and rounding decides among contacts that share a load, which cycles; larger shows in the residual.
constexpr double tie_tolerance = 1e-11;
// Error of K K^-1 x = x that is tolerated before K is factored anew.
constexpr double drift_tolerance = 1e-11;
// Rounding of M z + q beside the largest entry of z: the matrix itself carries 1e-16 per entry from the elimination.
constexpr double rounding = 3e-14;
// A ray on which z0 is below this part of its start, or within the error that drift_tolerance leaves in the impulses,
// is no contradiction but rounding of redundant rows. finish() then judges the basis by its own data.
constexpr double z0_tolerance = 1e-11;
// Negative entries of the final basis up to this part of the largest violation, or this part of the largest impulse,
// are rounding and need no second path.
constexpr double clean = 1e-10, clean_beside_largest = 1e-12, most_excused = 1e-6;
constexpr int refactor_every = 200;

// Fixed numbers in [1/2, 3/2) without structure, so that no two of them tie.
double generic(std::uint64_t i) {
    std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    return 0.5 + static_cast<double>(x >> 11) / 9007199254740992.0;
}

}  // namespace

void LemkePivots::reserve(int k) {
    if (inverse_.rows() >= k) return;
    const int capacity = std::max(32, 2 * k);
    grown_.resize(capacity, capacity);
    if (k_ > 0) grown_.topLeftCorner(k_, k_) = inverse_.topLeftCorner(k_, k_);
    inverse_.resize(capacity, capacity);
    if (k_ > 0) inverse_.topLeftCorner(k_, k_) = grown_.topLeftCorner(k_, k_);
}

void LemkePivots::start(int attempt) {
    // Cover evenly and let r alone choose another path among the ties; an uneven d takes several times the pivots and
    // is the last resort.
    for (int i = 0; i < n_; ++i) {
        const auto seed = static_cast<std::uint64_t>(i) + 1000003ull * static_cast<std::uint64_t>(attempt);
        d_[i] = attempt < 3 ? 1.0 : generic(2 * seed);
        r_[i] = generic(2 * seed + 1);
    }
    int l = 0;
    for (int i = 1; i < n_; ++i) {
        const double a = q_[i] / d_[i], b = q_[l] / d_[l];
        if (a < b || (a == b && r_[i] / d_[i] < r_[l] / d_[l])) l = i;
    }
    k_ = 0;
    reserve(1);
    rows_.assign(1, l);
    columns_.assign(1, n_);
    row_place_.assign(static_cast<std::size_t>(n_), -1);
    column_place_.assign(static_cast<std::size_t>(n_) + 1, -1);
    row_place_[static_cast<std::size_t>(l)] = 0;
    column_place_[static_cast<std::size_t>(n_)] = 0;
    k_ = 1;
    inverse_(0, 0) = 1 / d_[l];
    since_refactor_ = 0;
}

bool LemkePivots::refactor() {
    kernel_.resize(k_, k_);
    for (int j = 0; j < k_; ++j)
        for (int i = 0; i < k_; ++i)
            kernel_(i, j) = entry(rows_[static_cast<std::size_t>(i)], columns_[static_cast<std::size_t>(j)]);
    swaps_.resize(static_cast<std::size_t>(k_));
    if (!factor_dense(kernel_.data(), swaps_.data(), k_)) return false;
    auto inverse = inverse_.topLeftCorner(k_, k_);
    inverse.setIdentity();
    for (int j = 0; j < k_; ++j) solve_dense(kernel_.data(), swaps_.data(), inverse.col(j).data(), k_);
    since_refactor_ = 0;
    return inverse.allFinite();
}

// Basic z: X = [x, y, direction]; every w: F likewise. On the rows R the F must vanish (but for an entering w).
bool LemkePivots::compute(int entering) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        X_.resize(k_, 3);
        F_.resize(n_, 3);
        F_.col(0) = q_;
        F_.col(1) = r_;
        if (entering < n_) {
            std::copy_n(column_of(entering), n_, F_.col(2).data());
        } else {
            F_.col(2).setZero();
            F_(row_of(entering), 2) = -1;  // M z + d z0 - w = -q
        }
        X_.setZero();
        // solve, then correct with what the exact rows still miss
        bool good = false;
        for (int round = 0; round < 3 && !good; ++round) {
            rhs_.resize(k_, 3);
            for (int i = 0; i < k_; ++i) rhs_.row(i) = F_.row(rows_[static_cast<std::size_t>(i)]);
            double limit[3];
            for (int c = 0; c < 3; ++c)
                limit[c] = drift_tolerance * std::max(c == 0 ? size_ : 1.0, X_.col(c).lpNorm<Eigen::Infinity>());
            if (round > 0) {
                good = true;
                for (int c = 0; c < 3; ++c) good = good && rhs_.col(c).lpNorm<Eigen::Infinity>() <= limit[c];
                if (good) break;
            }
            dX_.resize(k_, 3);
            for (int c = 0; c < 3; ++c) dX_.col(c).noalias() = inverse_.topLeftCorner(k_, k_) * rhs_.col(c);
            X_ -= dX_;
            for (int j = 0; j < k_; ++j) {
                const int column = columns_[static_cast<std::size_t>(j)];
                const double* m = column_of(column);
                const double x = dX_(j, 0), y = dX_(j, 1), t = dX_(j, 2);
                double *fx = F_.col(0).data(), *fy = F_.col(1).data(), *ft = F_.col(2).data();
                for (int i = 0; i < n_; ++i) {
                    fx[i] -= x * m[i];
                    fy[i] -= y * m[i];
                    ft[i] -= t * m[i];
                }
            }
        }
        if (good) {
            // after drift of K^-1 is repaired by the correction, a slow loss still calls for a fresh factor
            if (since_refactor_ >= refactor_every && !refactor()) return false;
            return true;
        }
        if (attempt == 1 || !refactor()) return false;
    }
    return false;
}

// The largest impulse or slip speed at hand: what rounding is relative to. In a stack it is far above size_.
double LemkePivots::magnitude() const { return k_ > 0 ? X_.col(0).lpNorm<Eigen::Infinity>() : 0.0; }

int LemkePivots::leaving() const {
    double fastest = 1.0;  // the entering variable itself
    for (int j = 0; j < k_; ++j) fastest = std::max(fastest, std::abs(X_(j, 2)));
    for (int i = 0; i < n_; ++i)
        if (row_place_[static_cast<std::size_t>(i)] < 0) fastest = std::max(fastest, std::abs(F_(i, 2)));
    const double slow = pivot_tolerance * fastest, slack = tie_tolerance * size_ + rounding * magnitude();

    // first pass: how far one may go when every bound is relaxed a little
    double reach = infinity;
    const auto relax = [&](double x, double speed) {
        if (speed < -slow) reach = std::min(reach, (std::max(x, 0.0) + slack) / -speed);
    };
    for (int j = 0; j < k_; ++j) relax(X_(j, 0), X_(j, 2));
    for (int i = 0; i < n_; ++i)
        if (row_place_[static_cast<std::size_t>(i)] < 0) relax(F_(i, 0), F_(i, 2));
    if (reach == infinity) return -1;

    // z0 leaves as soon as it may
    const int z0 = column_place_[static_cast<std::size_t>(n_)];
    if (X_(z0, 2) < -slow && X_(z0, 0) <= reach * -X_(z0, 2)) return n_;

    // second pass: of those that block within reach, the lexicographically first
    int best = -1;
    double best_ratio = infinity;
    const auto consider = [&](int variable, double x, double y, double speed) {
        if (!(speed < -slow) || x > reach * -speed) return;
        const double ratio = y / -speed;
        if (ratio < best_ratio) {
            best_ratio = ratio;
            best = variable;
        }
    };
    for (int j = 0; j < k_; ++j) consider(columns_[static_cast<std::size_t>(j)], X_(j, 0), X_(j, 1), X_(j, 2));
    for (int i = 0; i < n_; ++i)
        if (row_place_[static_cast<std::size_t>(i)] < 0) consider(n_ + 1 + i, F_(i, 0), F_(i, 1), F_(i, 2));
    return best;
}

void LemkePivots::row_entries(int row) {
    b_.resize(k_);
    for (int j = 0; j < k_; ++j) b_[j] = entry(row, columns_[static_cast<std::size_t>(j)]);
}

// The four ways in which the kernel changes: a column or a row is replaced, it grows or shrinks by one.
void LemkePivots::exchange(int entering, int leaving_variable) {
    const auto last = static_cast<std::size_t>(k_) - 1;
    if (!is_w(entering) && !is_w(leaving_variable)) {
        const int c = column_place_[static_cast<std::size_t>(leaving_variable)];
        f_ = -X_.col(2);  // K^-1 times the new column
        auto inverse = inverse_.topLeftCorner(k_, k_);
        g_ = inverse.row(c).transpose() / f_[c];
        f_[c] -= 1;
        inverse.noalias() -= f_ * g_.transpose();
        columns_[static_cast<std::size_t>(c)] = entering;
        column_place_[static_cast<std::size_t>(entering)] = c;
        column_place_[static_cast<std::size_t>(leaving_variable)] = -1;
    } else if (is_w(entering) && is_w(leaving_variable)) {
        const int r = row_place_[static_cast<std::size_t>(row_of(entering))], row = row_of(leaving_variable);
        row_entries(row);
        auto inverse = inverse_.topLeftCorner(k_, k_);
        g_.resize(k_);
        g_.noalias() = inverse.transpose() * b_;  // new row times K^-1
        f_ = inverse.col(r) / g_[r];
        g_[r] -= 1;
        inverse.noalias() -= f_ * g_.transpose();
        rows_[static_cast<std::size_t>(r)] = row;
        row_place_[static_cast<std::size_t>(row)] = r;
        row_place_[static_cast<std::size_t>(row_of(entering))] = -1;
    } else if (!is_w(entering)) {
        const int row = row_of(leaving_variable);
        row_entries(row);
        f_ = -X_.col(2);
        reserve(k_ + 1);
        auto inverse = inverse_.topLeftCorner(k_, k_);
        g_.resize(k_);
        g_.noalias() = inverse.transpose() * b_;
        const double s = F_(row, 2);  // Schur complement of the border
        f_ /= s;
        inverse.noalias() += f_ * g_.transpose();
        inverse_.col(k_).head(k_) = -f_;
        inverse_.row(k_).head(k_) = -g_.transpose() / s;
        inverse_(k_, k_) = 1 / s;
        rows_.push_back(row);
        columns_.push_back(entering);
        row_place_[static_cast<std::size_t>(row)] = k_;
        column_place_[static_cast<std::size_t>(entering)] = k_;
        ++k_;
    } else {
        const int r = row_place_[static_cast<std::size_t>(row_of(entering))];
        const int c = column_place_[static_cast<std::size_t>(leaving_variable)];
        auto inverse = inverse_.topLeftCorner(k_, k_);
        f_ = inverse.col(r) / inverse(c, r);
        g_ = inverse.row(c).transpose();
        inverse.noalias() -= f_ * g_.transpose();
        inverse.row(c).swap(inverse.row(k_ - 1));
        inverse.col(r).swap(inverse.col(k_ - 1));
        std::swap(columns_[static_cast<std::size_t>(c)], columns_[last]);
        std::swap(rows_[static_cast<std::size_t>(r)], rows_[last]);
        column_place_[static_cast<std::size_t>(columns_[static_cast<std::size_t>(c)])] = c;
        row_place_[static_cast<std::size_t>(rows_[static_cast<std::size_t>(r)])] = r;
        column_place_[static_cast<std::size_t>(leaving_variable)] = -1;
        row_place_[static_cast<std::size_t>(row_of(entering))] = -1;
        columns_.pop_back();
        rows_.pop_back();
        --k_;
    }
    ++since_refactor_;
}

LemkePivots::Outcome LemkePivots::run(int attempt, int max_pivots) {
    start(attempt);
    int entering = rows_[0];  // z of the row that z0 pushed to zero
    for (int pivot = 0; pivot < max_pivots; ++pivot) {
        if (!compute(entering)) return Outcome::lost;
        const int out = leaving();
        if (out < 0) {
            // with z0 at rounding level the point solves the problem already, entering pair and all
            const double z0 = X_(column_place_[static_cast<std::size_t>(n_)], 0);
            return z0 <= z0_tolerance * size_ + 10 * drift_tolerance * magnitude() ? Outcome::solved : Outcome::ray;
        }
        exchange(entering, out);
        ++pivots_;
        if (out == n_) return Outcome::solved;
        entering = is_w(out) ? row_of(out) : out + n_ + 1;
    }
    return Outcome::pivot_limit;
}

LemkePivots::Outcome LemkePivots::solve(const Eigen::Ref<const MatX>& M, const ConstRef& q, int max_pivots, RowVec& z) {
    M_ = M.data();
    stride_ = M.outerStride();
    n_ = static_cast<int>(q.size());
    q_ = q;
    d_.resize(n_);
    r_.resize(n_);
    pivots_ = 0;
    negative_ = 0;
    k_ = 0;
    rows_.clear();
    columns_.clear();
    z.setZero(n_);
    if (!(n_ > 0) || q.minCoeff() >= 0) return Outcome::solved;
    size_ = -q.minCoeff();

    // Rounding may spoil one path through a degenerate problem; another perturbation takes another path.
    // Every path is judged by the negative entries of its final basis, and the best one is kept.
    constexpr int attempts = 4;
    Outcome outcome = Outcome::lost;
    best_.negative = infinity;
    for (int attempt = 0; attempt < attempts && pivots_ < max_pivots; ++attempt) {
        // a path needs a few pivots per variable; one that needs twenty is cycling
        const Outcome end = run(attempt, std::min(max_pivots - pivots_, 200 + 20 * n_));
        if (end != Outcome::solved || !finish(z)) {
            if (best_.negative == infinity) outcome = end == Outcome::solved ? Outcome::lost : end;
            continue;
        }
        outcome = Outcome::solved;
        if (negative_ <= clean) return outcome;
        if (negative_ < best_.negative) keep_best(z);
    }
    if (best_.negative < infinity) {
        negative_ = best_.negative;
        rows_ = best_.rows;
        columns_ = best_.columns;
        k_ = static_cast<int>(rows_.size());
        inverse_.topLeftCorner(k_, k_) = best_.inverse;
        z = best_.z;
    }
    return outcome;
}

void LemkePivots::keep_best(const RowVec& z) {
    best_.negative = negative_;
    best_.rows = rows_;
    best_.columns = columns_;
    best_.inverse = inverse_.topLeftCorner(k_, k_);
    best_.z = z;
}

// The solution of the final basis from the data themselves, refined, so that no error of the pivots stays in it.
bool LemkePivots::finish(RowVec& z) {
    if (k_ > 0 && !refactor()) return false;
    RowVec& w = w_;
    w = q_;
    z.setZero(n_);
    for (int round = 0; round < 3; ++round) {
        refine(w, z);
        w = q_;
        for (int j = 0; j < k_; ++j) {
            const int column = columns_[static_cast<std::size_t>(j)];
            if (column < n_) w += z[column] * Eigen::Map<const VecX>(column_of(column), n_);
        }
    }
    negative_ = 0;
    for (int j = 0; j < n_; ++j) {
        negative_ = std::max(negative_, -z[j]);
        if (row_place_[static_cast<std::size_t>(j)] < 0) negative_ = std::max(negative_, -w[j]);
    }
    // a basis with absurd impulses must not excuse itself by their size
    const double excuse = std::min(clean_beside_largest * z.lpNorm<Eigen::Infinity>(), most_excused * size_);
    negative_ = std::max(0.0, negative_ - excuse) / size_;
    return z.allFinite();
}

void LemkePivots::refine(const ConstRef& w, RowVec& z) {
    if (k_ == 0) return;
    miss_.resize(k_);
    step_.resize(k_);
    for (int i = 0; i < k_; ++i) miss_[i] = w[rows_[static_cast<std::size_t>(i)]];
    step_.noalias() = inverse_.topLeftCorner(k_, k_) * miss_;
    for (int j = 0; j < k_; ++j) {
        const int column = columns_[static_cast<std::size_t>(j)];
        if (column < n_) z[column] -= step_[j];  // z0 stays zero
    }
}

}  // namespace stickslip
