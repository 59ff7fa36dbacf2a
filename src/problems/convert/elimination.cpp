#include "problems/convert/elimination.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// Singular values of the scaled Schur complement below this fraction of the largest one count as redundancy.
// Rounding of redundant joints leaves about 1e-15 times the number of rows; a long chain of real joints has its
// smallest one near 1e-8. With a larger fraction stiff chains
// would lose joints; with a smaller one copies of a joint would carry huge impulses.
constexpr double rank_tolerance = 1e-12;

// Rounding of a row's velocity J v, in units of |J| |v|: a few dozen additions.
constexpr double rounding_level = 3e-15;

bool is_free(double lower, double upper, double far) { return lower <= -far && upper >= far; }

}  // namespace

void SegmentRows::clear() {
    first_.clear();
    segments_.clear();
    values_.clear();
}

double* SegmentRows::add(int start, int size) {
    const int offset = static_cast<int>(values_.size());
    segments_.push_back({start, size, offset});
    values_.resize(values_.size() + static_cast<std::size_t>(size), 0.0);
    return values_.data() + offset;
}

double SegmentRows::dot(int row, const double* v) const {
    double sum = 0;
    for (int s = segments_begin(row); s < segments_end(row); ++s) {
        const double* a = values(segment(s));
        const double* x = v + segment(s).start;
        for (int k = 0; k < segment(s).size; ++k) sum += a[k] * x[k];
    }
    return sum;
}

double SegmentRows::dot_magnitude(int row, const double* v) const {
    double sum = 0;
    for (int s = segments_begin(row); s < segments_end(row); ++s)
        for (int k = 0; k < segment(s).size; ++k) sum += std::abs(values(segment(s))[k]) * v[segment(s).start + k];
    return sum;
}

void SegmentRows::add_to(int row, double factor, double* v) const {
    for (int s = segments_begin(row); s < segments_end(row); ++s) {
        const double* a = values(segment(s));
        double* x = v + segment(s).start;
        for (int k = 0; k < segment(s).size; ++k) x[k] += factor * a[k];
    }
}

void Elimination::factor(const BlockMatrix& A) {
    coupled_ = !A.couplings.empty();
    if (!coupled_) {
        inverse_.factor(A);
        return;
    }
    lu_.factor(A);  // a singular A gives numbers that are not finite, and the residual says so
}

void Elimination::solve(Eigen::Ref<VecX> x) {
    if (coupled_) {
        lu_.solve(x.data());
        return;
    }
    full_.resize(x.size());
    inverse_.apply(x, full_);
    x = full_;
}

void Elimination::solve_free(double* x) const {
    Eigen::Map<VecX> lambda(x, schur_scale_.size());
    lambda.array() *= schur_scale_.array();
    schur_.solve(x);
    lambda.array() *= schur_scale_.array();
}

// The velocities of nodes that rows touch, in the order of the nodes; with couplings all of them.
void Elimination::take_part(const StepProblem& problem) {
    const Nodes& nodes = problem.nodes();
    place_.assign(static_cast<std::size_t>(nodes.size()), coupled_ ? 0 : -1);
    for (const BlockRows* rows : {&problem.joints.jacobian, &problem.contacts.jacobian})
        for (const BlockRows::Block& b : rows->blocks) place_[b.node] = 0;
    node_at_.clear();
    for (int n = 0; n < nodes.size(); ++n) {
        if (place_[n] < 0) continue;
        place_[n] = static_cast<int>(node_at_.size());
        node_at_.insert(node_at_.end(), static_cast<std::size_t>(nodes.dof(n)), n);
    }
    taking_part_ = static_cast<int>(node_at_.size());
}

void Elimination::compact(const Nodes& nodes, const ConstRef& v, RowVec& part) const {
    part.resize(taking_part_);
    for (int n = 0; n < nodes.size(); ++n) {
        const int place = place_[n];
        if (place >= 0) part.segment(place, nodes.dof(n)) = v.segment(nodes.start[n], nodes.dof(n));
    }
}

void Elimination::gather_rows(const StepProblem& problem) {
    const Nodes& nodes = problem.nodes();
    const BlockRows& G = problem.joints.jacobian;
    const BlockRows& H = problem.contacts.jacobian;
    const auto take = [&](const BlockRows& rows, int group, int row, SegmentRows& to) {
        to.begin();
        for (const BlockRows::Block& b : rows.blocks_of(group)) {
            const int d = nodes.dof(b.node);
            const double* values = rows.values.data() + b.offset + (row - rows.row[group]) * d;
            std::copy_n(values, d, to.add(place_[b.node], d));
        }
    };
    const auto take_all = [&](const std::vector<int>& chosen, SegmentRows& to) {
        to.clear();
        int group = 0;
        for (const int row : chosen) {
            while (G.row[group + 1] <= row) ++group;
            take(G, group, row, to);
        }
    };
    take_all(free_, G_);
    take_all(boxed_, J_);
    for (int i = 0; i < H.groups(); ++i)
        for (int row = H.row[i]; row < H.row[i + 1]; ++row) take(H, i, row, J_);
}

void Elimination::columns_of(const SegmentRows& rows, SegmentRows& columns) {
    columns.clear();
    for (int i = 0; i < rows.size(); ++i) {
        columns.begin();
        if (coupled_) {
            load_.setZero(taking_part_);
            rows.add_to(i, 1, load_.data());
            lu_.solve(load_.data());
            std::copy_n(load_.data(), taking_part_, columns.add(0, taking_part_));
            continue;
        }
        for (int s = rows.segments_begin(i); s < rows.segments_end(i); ++s) {
            const SegmentRows::Segment& segment = rows.segment(s);
            const Eigen::Map<const MatX> inverse = inverse_.block(node_at_[segment.start]);
            const double* a = rows.values(segment);
            double* y = columns.add(segment.start, segment.size);
            for (int k = 0; k < segment.size; ++k)
                for (int l = 0; l < segment.size; ++l) y[l] += inverse(l, k) * a[k];
        }
    }
}

// W = J Z. Without free rows Z = Y, and only rows that share a node meet.
void Elimination::fill_W() {
    const int nk = J_.size();
    W_.setZero(nk, nk);
    if (!free_.empty() || coupled_) {
        for (int k = 0; k < nk; ++k) {
            const double* z = nullptr;
            if (free_.empty()) {
                dv_.setZero(taking_part_);
                Y_.add_to(k, 1, dv_.data());
                z = dv_.data();
            } else {
                z = Z_.col(k).data();
            }
            for (int i = 0; i < nk; ++i) W_(i, k) = J_.dot(i, z);
        }
        return;
    }
    // the segments of J that start at a velocity, by counting
    at_first_.assign(static_cast<std::size_t>(taking_part_) + 2, 0);
    for (int i = 0; i < nk; ++i)
        for (int s = J_.segments_begin(i); s < J_.segments_end(i); ++s) ++at_first_[J_.segment(s).start + 2];
    for (std::size_t k = 2; k < at_first_.size(); ++k) at_first_[k] += at_first_[k - 1];
    at_segment_.resize(static_cast<std::size_t>(at_first_.back()));
    row_of_segment_.resize(at_segment_.size());
    for (int i = 0; i < nk; ++i)
        for (int s = J_.segments_begin(i); s < J_.segments_end(i); ++s) {
            const int slot = at_first_[J_.segment(s).start + 1]++;
            at_segment_[slot] = s;
            row_of_segment_[slot] = i;
        }
    for (int k = 0; k < nk; ++k)
        for (int s = Y_.segments_begin(k); s < Y_.segments_end(k); ++s) {
            const SegmentRows::Segment& here = Y_.segment(s);
            const double* y = Y_.values(here);
            const auto start = static_cast<std::size_t>(here.start);
            for (int slot = at_first_[start]; slot < at_first_[start + 1]; ++slot) {
                const double* a = J_.values(J_.segment(at_segment_[slot]));
                double sum = 0;
                for (int l = 0; l < here.size; ++l) sum += a[l] * y[l];
                W_(row_of_segment_[slot], k) += sum;
            }
        }
}

// G Z + T L = 0 and G v + T l = b, by corrections of Z and v_free with the multipliers of the free rows.
void Elimination::hold_free_rows(const StepProblem& problem) {
    const int nf = G_.size(), nk = J_.size();
    b_.resize(nf);
    T_.resize(nf);
    for (int i = 0; i < nf; ++i) {
        T_[i] = problem.T[free_[i]];
        b_[i] = problem.b[free_[i]];
    }
    scaled_.resize(nf, nf);
    for (int j = 0; j < nf; ++j) {
        dv_.setZero(taking_part_);
        X_.add_to(j, 1, dv_.data());
        for (int i = 0; i < nf; ++i) scaled_(i, j) = G_.dot(i, dv_.data());
    }
    scaled_.diagonal() += T_.vec();
    schur_scale_.resize(nf);
    for (int i = 0; i < nf; ++i) schur_scale_[i] = scaled_(i, i) > 0 ? 1 / std::sqrt(scaled_(i, i)) : 0.0;
    for (int j = 0; j < nf; ++j) scaled_.col(j).array() *= schur_scale_[j] * schur_scale_.array();
    schur_.factor(scaled_, rank_tolerance);
    redundant_ = nf - schur_.rank();

    // The later rounds are a refinement: they remove from Z what the joints hold but rounding left, so that a contact
    // on a locked body has W = 0 and not 1e-16.
    const auto hold = [&](double sign, double* l, double* z) {
        for (int i = 0; i < nf; ++i) miss_[i] = (sign > 0 ? b_[i] : 0.0) - T_[i] * l[i] - G_.dot(i, z);
        solve_free(miss_.data());
        for (int i = 0; i < nf; ++i) {
            if (miss_[i] == 0) continue;
            l[i] += miss_[i];
            X_.add_to(i, miss_[i], z);
        }
    };
    Z_.setZero(taking_part_, nk);
    L_.setZero(nf, nk);
    l_.setZero(nf);
    miss_.resize(nf);
    for (int k = 0; k < nk; ++k) {
        Y_.add_to(k, 1, Z_.col(k).data());
        for (int round = 0; round < 3; ++round) hold(0, L_.col(k).data(), Z_.col(k).data());
    }
    for (int round = 0; round < 3; ++round) hold(1, l_.data(), v_free_.data());
}

void Elimination::compute(const StepProblem& problem, double far) {
    const Nodes& nodes = problem.nodes();
    const BlockRows& H = problem.contacts.jacobian;
    factor(problem.A);
    boxed_.clear();
    free_.clear();
    for (int j = 0; j < problem.joints.size(); ++j)
        (is_free(problem.lower[j], problem.upper[j], far) ? free_ : boxed_).push_back(j);
    const int nb = static_cast<int>(boxed_.size()), nk = nb + H.rows();
    take_part(problem);
    gather_rows(problem);
    columns_of(J_, Y_);
    columns_of(G_, X_);

    load_ = problem.r;
    solve(load_);
    compact(nodes, load_, v_free_);
    diagonal_.resize(nk);
    for (int k = 0; k < nk; ++k) {
        double sum = 0;
        if (coupled_) {
            sum = J_.dot(k, Y_.values(Y_.segment(Y_.segments_begin(k))));
        } else {
            for (int s = J_.segments_begin(k); s < J_.segments_end(k); ++s)
                for (int l = 0; l < J_.segment(s).size; ++l)
                    sum += J_.values(J_.segment(s))[l] * Y_.values(Y_.segment(s))[l];
        }
        diagonal_[k] = sum;
    }
    noise_ = v_free_.cwiseAbs();
    redundant_ = 0;
    if (!free_.empty()) hold_free_rows(problem);
    noise_ += v_free_.cwiseAbs();

    fill_W();
    q_.resize(nk);
    // velocities that cannot be told from zero are zero: a locked contact must not seem to close
    for (int k = 0; k < nk; ++k) {
        q_[k] = J_.dot(k, v_free_.data());
        if (std::abs(q_[k]) <= rounding_level * J_.dot_magnitude(k, noise_.data())) q_[k] = 0;
    }
    for (int i = 0; i < nb; ++i) {
        const int j = boxed_[i];
        W_(i, i) += problem.T[j];
        diagonal_[i] += problem.T[j];
        q_[i] -= problem.b[j];
    }
    W_.diagonal().tail(H.rows()) += problem.S.vec();
    diagonal_.tail(H.rows()) += problem.S.vec();
    q_.tail(H.rows()) += problem.c.vec();
}

void Elimination::velocity(const StepProblem& problem, StepSolution& solution) {
    load_ = problem.r;
    problem.joints.jacobian.add_transpose_product(problem.nodes(), solution.lambda, load_);
    problem.contacts.jacobian.add_transpose_product(problem.nodes(), solution.p, load_);
    solution.v = load_.vec();
    solve(solution.v);
    problem.A.add_product(-1.0, solution.v, load_);
    solve(load_);
    solution.v += load_.vec();
}

void Elimination::recover(const StepProblem& problem, const ConstRef& x, StepSolution& solution) {
    const int nf = static_cast<int>(free_.size()), nb = static_cast<int>(boxed_.size());
    SS_ASSERT(x.size() == kept(), "impulses of other rows");
    for (const int j : free_) solution.lambda[j] = 0;
    for (int i = 0; i < nb; ++i) solution.lambda[boxed_[i]] = x[i];
    solution.p = x.tail(x.size() - nb);
    velocity(problem, solution);
    // twice: the second round is the refinement
    miss_.resize(nf);
    w_.resize(problem.joints.size());
    for (int round = 0; round < 2 && nf > 0; ++round) {
        problem.joints.jacobian.product(problem.nodes(), solution.v, w_);
        for (int i = 0; i < nf; ++i) {
            const int j = free_[i];
            miss_[i] = problem.b[j] - problem.T[j] * solution.lambda[j] - w_[j];
        }
        solve_free(miss_.data());
        for (int i = 0; i < nf; ++i) solution.lambda[free_[i]] += miss_[i];
        velocity(problem, solution);
    }
}

void Elimination::velocities(const StepProblem& problem, const StepSolution& solution, RowVec& y) const {
    const int nb = static_cast<int>(boxed_.size());
    y.resize(kept());
    w_.resize(problem.joints.size());
    problem.joints.jacobian.product(problem.nodes(), solution.v, w_);
    for (int i = 0; i < nb; ++i) {
        const int j = boxed_[i];
        y[i] = w_[j] + problem.T[j] * solution.lambda[j] - problem.b[j];
    }
    w_.resize(solution.p.size());
    problem.contacts.jacobian.product(problem.nodes(), solution.v, w_);
    y.tail(solution.p.size()) = w_.vec() + problem.S.vec().cwiseProduct(solution.p.vec()) + problem.c.vec();
}

}  // namespace stickslip
