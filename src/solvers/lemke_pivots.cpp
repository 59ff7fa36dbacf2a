#include "solvers/lemke_pivots.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stickslip {

namespace {

// Entries of M and q are of order one (the caller scales).

// A variable that moves slower than this beside the fastest one does not block. Entries that are zero in exact
// arithmetic come out at 1e-16 times the condition of the kernel (1e6 for heavy on light). With a smaller tolerance such
// a zero is taken as a pivot and the kernel is singular; with a larger one real pivots are passed by, at the price of an
// impulse negative by about this much.
constexpr double pivot_tolerance = 1e-9;
// Two variables that reach zero within this of each other (relative to the largest violation of q) are a tie.
// With a smaller number rounding decides among contacts that share a load, and the pivots cycle; a larger one shows in the
// residual.
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
constexpr double clean = 1e-10, clean_beside_largest = 1e-12, max_excused = 1e-6;
// Pivots between two computations of all values from the data. Larger saves little, smaller doubles the products.
constexpr int refresh_every = 10;
// An inverse that misses its own kernel by this much is not corrected but made anew.
constexpr double worn = 1e-7;
// A variable of the crash basis whose Schur complement is smaller than this (M is of order one) depends on the others.
constexpr double independent = 1e-7;

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

void LemkePivots::add_column(int column, double s, double* y) const {
    if (column < n_) {
        M_->add_column(column, s, y);
    } else {
        for (int i = 0; i < n_; ++i) y[i] += s * d_[i];
    }
}

void LemkePivots::apply_inverse(const RowVec& x, RowVec& y) const {
    y.setZero(k_);
    for (int i = 0; i < k_; ++i)
        if (x[i] != 0) y += x[i] * inverse_.col(i).head(k_);
}

void LemkePivots::row_entries(int row) {
    b_.setZero(k_);
    const SparseSquare::Line line = M_->row(row);
    for (int e = 0; e < line.count; ++e) {
        const int place = column_place_[line.index[e]];
        if (place >= 0) b_[place] = line.value[e];
    }
    const int z0 = column_place_[n_];
    if (z0 >= 0) b_[z0] = d_[row];
}

// An empty kernel, then the variables of the guess as far as they are independent: each one is a pivot on the diagonal.
void LemkePivots::start(const std::vector<int>& crash) {
    k_ = 0;
    rows_.clear();
    columns_.clear();
    row_place_.assign(static_cast<std::size_t>(n_), -1);
    column_place_.assign(static_cast<std::size_t>(n_) + 1, -1);
    for (RowVec* v : {&x_, &y_, &t_}) v->setZero(n_ + 1);
    f_.resize(n_);
    reserve(static_cast<int>(crash.size()) + 1);
    for (const int variable : crash) {
        f_.setZero();
        M_->add_column(variable, 1, f_.data());
        rhs_.resize(k_);
        for (int i = 0; i < k_; ++i) rhs_[i] = f_[rows_[i]];
        apply_inverse(rhs_, step_);
        row_entries(variable);
        const double schur = f_[variable] - b_.vec().dot(step_.vec());
        if (!(std::abs(schur) > independent)) continue;
        t_.head(k_) = -step_;
        f_[variable] = schur;  // all that exchange() reads of it
        exchange(variable, n_ + 1 + variable);
    }
    crash_size_ = k_;
}

// d and r such that the basic variables rise with z0 at speed one (or unevenly), and with eps at generic speeds.
void LemkePivots::cover(int attempt) {
    // Cover evenly and let r alone choose another path among the ties; an uneven d takes several times the pivots and
    // is the last resort.
    const auto seed = [&](int i) {
        return static_cast<std::uint64_t>(i) + 1000003ull * static_cast<std::uint64_t>(attempt);
    };
    const auto rise = [&](int i) { return attempt < 3 ? 1.0 : generic(2 * seed(i)); };
    for (int i = 0; i < n_; ++i) {
        const bool basic = row_place_[i] < 0;
        d_[i] = basic ? rise(i) : 0.0;
        r_[i] = basic ? generic(2 * seed(i) + 1) : 0.0;
    }
    f_ = d_;
    wy_ = r_;
    for (int j = 0; j < k_; ++j) {
        const int column = columns_[j];
        t_[j] = rise(column);
        y_[j] = generic(2 * seed(column) + 1);
        M_->add_column(column, -t_[j], d_.data());
        M_->add_column(column, -y_[j], r_.data());
    }
}

// z0 enters so far that nothing is negative any more: the variable that needs most of it leaves.
int LemkePivots::first_leaving() const {
    const double enough = k_ > 0 ? tie_tolerance * size_ + rounding * magnitude() : 0.0;
    int best = -1;
    double most = 0, max_y = 0;
    const auto consider = [&](int variable, double x, double y, double speed) {
        if (x >= -enough) return;
        const double need = -x / speed, need_y = -y / speed;
        if (best < 0 || need > most || (need == most && need_y > max_y)) {
            best = variable;
            most = need;
            max_y = need_y;
        }
    };
    for (int j = 0; j < k_; ++j) consider(columns_[j], x_[j], y_[j], t_[j]);
    for (int i = 0; i < n_; ++i)
        if (row_place_[i] < 0) consider(n_ + 1 + i, w_[i], wy_[i], f_[i]);
    return best;
}

bool LemkePivots::refactor() {
    WorkMat& kernel = dense_.matrix();
    kernel.setZero(k_, k_);
    for (int j = 0; j < k_; ++j) {
        const int column = columns_[j];
        if (column == n_) {
            for (int i = 0; i < k_; ++i) kernel(i, j) = d_[rows_[i]];
            continue;
        }
        const SparseSquare::Line line = M_->column(column);
        for (int e = 0; e < line.count; ++e) {
            const int place = row_place_[line.index[e]];
            if (place >= 0) kernel(place, j) = line.value[e];
        }
    }
    ++refactors_;
    if (!dense_.factor()) return false;
    dense_.invert(inverse_);
    return inverse_.topLeftCorner(k_, k_).allFinite();
}

// The direction of the basic variables for a unit step of the entering one; on the rows R the w must vanish.
bool LemkePivots::compute(int entering) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (correct_direction(entering)) return true;
        if (attempt == 1 || !refactor() || !refresh(2)) return false;
    }
    return false;
}

bool LemkePivots::correct_direction(int entering) {
    f_.setZero();
    if (entering <= n_)
        add_column(entering, 1, f_.data());
    else
        f_[row_of(entering)] = -1;  // M z + d z0 - w = -q
    t_.head(k_).setZero();
    rhs_.resize(k_);
    for (int round = 0; round < 4; ++round) {
        double miss = 0;
        for (int i = 0; i < k_; ++i) {
            rhs_[i] = f_[rows_[i]];
            miss = std::max(miss, std::abs(rhs_[i]));
        }
        const double size = std::max(1.0, k_ > 0 ? t_.head(k_).lpNorm<Eigen::Infinity>() : 0.0);
        if (!std::isfinite(miss) || !std::isfinite(size)) return false;
        if (round > 0) {
            if (miss <= drift_tolerance * size) return true;
            if (miss > worn * size) return false;
        }
        apply_inverse(rhs_, step_);
        t_.head(k_) -= step_.vec();
        for (int j = 0; j < k_; ++j)
            if (step_[j] != 0) add_column(columns_[j], -step_[j], f_.data());
    }
    return false;
}

// w = q + [M d] x and the same for the perturbation; what R misses is corrected `rounds` times at least once it matters.
bool LemkePivots::refresh(int rounds) {
    rhs_.resize(k_);
    const auto compute_w = [&](const RowVec& given, RowVec& x, RowVec& w, double scale) {
        for (int round = 0;; ++round) {
            w = given;
            for (int j = 0; j < k_; ++j)
                if (x[j] != 0) add_column(columns_[j], x[j], w.data());
            double miss = 0;
            for (int i = 0; i < k_; ++i) {
                rhs_[i] = w[rows_[i]];
                miss = std::max(miss, std::abs(rhs_[i]));
            }
            const double size = std::max(scale, k_ > 0 ? x.head(k_).lpNorm<Eigen::Infinity>() : 0.0);
            if (!std::isfinite(miss) || !std::isfinite(size)) return false;
            if (round >= rounds && miss <= drift_tolerance * size) return true;
            if (round >= rounds + 3) return false;
            apply_inverse(rhs_, step_);
            x.head(k_) -= step_.vec();
        }
    };
    since_refresh_ = 0;
    return compute_w(q_, x_, w_, size_) && compute_w(r_, y_, wy_, 1.0);
}

// The largest impulse or slip speed at hand: what rounding is relative to. In a stack it is far above size_.
double LemkePivots::magnitude() const { return k_ > 0 ? x_.head(k_).lpNorm<Eigen::Infinity>() : 0.0; }

int LemkePivots::leaving() const {
    double fastest = 1.0;  // the entering variable itself
    for (int j = 0; j < k_; ++j) fastest = std::max(fastest, std::abs(t_[j]));
    for (int i = 0; i < n_; ++i)
        if (row_place_[i] < 0) fastest = std::max(fastest, std::abs(f_[i]));
    const double slow = pivot_tolerance * fastest, slack = tie_tolerance * size_ + rounding * magnitude();

    // first pass: how far one may go when every bound is relaxed a little
    double reach = infinity;
    const auto relax = [&](double x, double speed) {
        if (speed < -slow) reach = std::min(reach, (std::max(x, 0.0) + slack) / -speed);
    };
    for (int j = 0; j < k_; ++j) relax(x_[j], t_[j]);
    for (int i = 0; i < n_; ++i)
        if (row_place_[i] < 0) relax(w_[i], f_[i]);
    if (reach == infinity) return -1;

    // z0 leaves as soon as it may
    const int z0 = column_place_[n_];
    if (t_[z0] < -slow && x_[z0] <= reach * -t_[z0]) return n_;

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
    for (int j = 0; j < k_; ++j) consider(columns_[j], x_[j], y_[j], t_[j]);
    for (int i = 0; i < n_; ++i)
        if (row_place_[i] < 0) consider(n_ + 1 + i, w_[i], wy_[i], f_[i]);
    return best;
}

// Values move until the leaving variable is zero, then the basis changes.
void LemkePivots::step(int entering, int out) {
    const bool w_leaves = is_w(out);
    const int place = w_leaves ? row_of(out) : column_place_[out];
    const double speed = w_leaves ? f_[place] : t_[place];
    const double theta = -(w_leaves ? w_[place] : x_[place]) / speed;
    const double theta_y = -(w_leaves ? wy_[place] : y_[place]) / speed;
    x_.head(k_) += theta * t_.head(k_);
    y_.head(k_) += theta_y * t_.head(k_);
    w_ += theta * f_;
    wy_ += theta_y * f_;
    exchange(entering, out);
    if (w_leaves) {
        w_[row_of(out)] = 0;
        wy_[row_of(out)] = 0;
    }
    if (is_w(entering)) {
        w_[row_of(entering)] = theta;
        wy_[row_of(entering)] = theta_y;
    } else {
        x_[column_place_[entering]] = theta;
        y_[column_place_[entering]] = theta_y;
    }
    ++since_refresh_;
}

// The four ways in which the kernel changes: a column or a row is replaced, it grows or shrinks by one.
void LemkePivots::exchange(int entering, int leaving_variable) {
    const auto last = static_cast<std::size_t>(k_) - 1;
    const auto row_times_inverse = [&](int row) {  // g = [M d](row, C) K^-1, over the nonzeros of the row
        row_entries(row);
        nonzero_.clear();
        for (int j = 0; j < k_; ++j)
            if (b_[j] != 0) nonzero_.push_back(j);
        g_.resize(k_);
        for (int i = 0; i < k_; ++i) {
            const double* column = inverse_.col(i).data();
            double sum = 0;
            for (const int j : nonzero_) sum += b_[j] * column[j];
            g_[i] = sum;
        }
    };
    // K^-1 -= h g', column by column: where g is zero nothing is touched
    const auto update = [&](double sign) {
        for (int i = 0; i < k_; ++i)
            if (g_[i] != 0) inverse_.col(i).head(k_) += (sign * g_[i]) * h_.head(k_);
    };
    if (!is_w(entering) && !is_w(leaving_variable)) {
        const int c = column_place_[leaving_variable];
        h_ = -t_.head(k_);  // K^-1 times the new column
        g_ = inverse_.row(c).head(k_).transpose() / h_[c];
        h_[c] -= 1;
        update(-1);
        columns_[c] = entering;
        column_place_[entering] = c;
        column_place_[leaving_variable] = -1;
    } else if (is_w(entering) && is_w(leaving_variable)) {
        const int r = row_place_[row_of(entering)], row = row_of(leaving_variable);
        row_times_inverse(row);
        h_ = inverse_.col(r).head(k_) / g_[r];
        g_[r] -= 1;
        update(-1);
        rows_[r] = row;
        row_place_[row] = r;
        row_place_[row_of(entering)] = -1;
    } else if (!is_w(entering)) {
        const int row = row_of(leaving_variable);
        reserve(k_ + 1);
        row_times_inverse(row);
        const double s = f_[row];  // Schur complement of the border
        h_ = t_.head(k_) / -s;
        update(1);
        inverse_.col(k_).head(k_) = -h_;
        inverse_.row(k_).head(k_) = -g_.vec().transpose() / s;
        inverse_(k_, k_) = 1 / s;
        rows_.push_back(row);
        columns_.push_back(entering);
        row_place_[row] = k_;
        column_place_[entering] = k_;
        ++k_;
    } else {
        const int r = row_place_[row_of(entering)];
        const int c = column_place_[leaving_variable];
        h_ = inverse_.col(r).head(k_) / inverse_(c, r);
        g_ = inverse_.row(c).head(k_).transpose();
        update(-1);
        inverse_.row(c).head(k_).swap(inverse_.row(k_ - 1).head(k_));
        inverse_.col(r).head(k_).swap(inverse_.col(k_ - 1).head(k_));
        x_[c] = x_[k_ - 1];
        y_[c] = y_[k_ - 1];
        std::swap(columns_[c], columns_[last]);
        std::swap(rows_[r], rows_[last]);
        column_place_[columns_[c]] = c;
        row_place_[rows_[r]] = r;
        column_place_[leaving_variable] = -1;
        row_place_[row_of(entering)] = -1;
        columns_.pop_back();
        rows_.pop_back();
        --k_;
    }
}

LemkePivots::Outcome LemkePivots::run(int attempt, int max_pivots) {
    cover(attempt);
    if (!refresh(1)) return Outcome::lost;
    int out = first_leaving();
    if (out < 0) return Outcome::solved;
    step(n_, out);
    for (int pivot = 0; pivot < max_pivots; ++pivot) {
        const int entering = is_w(out) ? row_of(out) : out + n_ + 1;
        if (since_refresh_ >= refresh_every && !refresh(0) && !(refactor() && refresh(2))) return Outcome::lost;
        if (!compute(entering)) return Outcome::lost;
        out = leaving();
        if (out < 0) {
            // with z0 at rounding level the point solves the problem already, entering pair and all
            if (!refresh(1)) return Outcome::lost;
            const double z0 = x_[column_place_[n_]];
            return z0 <= z0_tolerance * size_ + 10 * drift_tolerance * magnitude() ? Outcome::solved : Outcome::ray;
        }
        step(entering, out);
        ++pivots_;
        if (out == n_) return Outcome::solved;
        // Redundant contacts leave z0 hanging at rounding level, where ties are noise and paths circle.
        if (x_[column_place_[n_]] <= 0.5 * clean * size_ && refresh(1) && x_[column_place_[n_]] <= 0.5 * clean * size_)
            return Outcome::solved;
    }
    return Outcome::pivot_limit;
}

LemkePivots::Outcome LemkePivots::solve(const Eigen::Ref<const MatX>& M, const ConstRef& q, int max_pivots, RowVec& z) {
    own_.assign(M);
    return solve(own_, q, max_pivots, z);
}

LemkePivots::Outcome LemkePivots::solve(const SparseSquare& M, const ConstRef& q, int max_pivots, RowVec& z,
                                        const std::vector<int>& crash) {
    M_ = &M;
    n_ = static_cast<int>(q.size());
    q_ = q;
    d_.resize(n_);
    r_.resize(n_);
    pivots_ = crash_size_ = refactors_ = 0;
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
    for (int attempt = crash.empty() ? 0 : -1; attempt < attempts && pivots_ < max_pivots; ++attempt) {
        start(attempt < 0 ? crash : none_);
        // a path needs a few pivots per variable; one that needs twenty is cycling, and one from a good guess needs few
        const int limit = attempt < 0 ? 100 + 2 * n_ : 200 + 20 * n_;
        const Outcome end = run(std::max(attempt, 0), std::min(max_pivots - pivots_, limit));
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
    x_.head(k_).setZero();
    if (!refresh(3) && !(refactor() && refresh(3))) return false;
    z.setZero(n_);
    negative_ = 0;
    const double traceless = 1e-20 * magnitude();  // zero but for the history of the inverse
    for (int j = 0; j < k_; ++j) {
        const int column = columns_[j];
        if (column == n_ || std::abs(x_[j]) <= traceless) continue;
        z[column] = x_[j];
        negative_ = std::max(negative_, -x_[j]);
    }
    const int z0 = column_place_[n_];
    if (z0 >= 0) w_ -= x_[z0] * d_;  // what is judged is the point without it
    for (int i = 0; i < n_; ++i)
        if (row_place_[i] < 0) negative_ = std::max(negative_, -w_[i]);
    // a basis with absurd impulses must not excuse itself by their size
    const double excuse = std::min(clean_beside_largest * z.vec().lpNorm<Eigen::Infinity>(), max_excused * size_);
    negative_ = std::max(0.0, negative_ - excuse) / size_;
    return z.allFinite();
}

void LemkePivots::refine(const ConstRef& w, RowVec& z) {
    if (k_ == 0) return;
    miss_.resize(k_);
    step_.resize(k_);
    for (int i = 0; i < k_; ++i) miss_[i] = w[rows_[i]];
    apply_inverse(miss_, step_);
    for (int j = 0; j < k_; ++j) {
        const int column = columns_[j];
        if (column < n_) z[column] -= step_[j];  // z0 stays zero
    }
}

}  // namespace stickslip
