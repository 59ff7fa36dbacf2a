#include "solvers/accelerated_gradient.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/normal_pieces.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

constexpr double most_momentum = 0.95;  // if larger, single contacts swing; with 0.8 it takes a third longer
constexpr int slow_start = 3;           // iterations after which half of it is reached
constexpr double longest_step = 1.2;    // over 1/L; 1.5 diverges
constexpr int power_iterations = 30;
constexpr double many_contacts = 6;     // L above which bodies touch at too many points
constexpr int look_every = 50;          // iterations
constexpr double iteration_work = 140;  // per contact

}  // namespace

template <int Dof, int Dim>
bool AcceleratedGradient::pack(const StepProblem& problem) {
    const Nodes& nodes = problem.nodes();
    const BlockRows& H = problem.contacts.jacobian;
    for (int n = 0; n < nodes.size(); ++n)
        if (nodes.dof(n) != Dof) return false;
    for (int i = 0; i < H.groups(); ++i)
        if (H.dim(i) != Dim || H.blocks_of(i).size() > 2) return false;
    dim_ = Dim;
    bodies_.assign(static_cast<std::size_t>(H.groups()), {nodes.nv(), nodes.nv()});
    packed_.resize(static_cast<std::size_t>(2 * Dof * Dim * H.groups()));
    std::fill(packed_.begin(), packed_.end(), 0.0);
    for (int i = 0; i < H.groups(); ++i) {
        int place = 0;
        for (const BlockRows::Block& b : H.blocks_of(i)) {
            (place == 0 ? bodies_[i].first : bodies_[i].second) = nodes.start[b.node];
            for (int k = 0; k < Dim; ++k)
                std::copy_n(H.values.data() + b.offset + k * Dof, Dof, packed_.data() + 2 * Dof * (Dim * i + k) + Dof * place);
            ++place;
        }
    }
    load_.setZero(nodes.nv() + Dof);
    v_.setZero(nodes.nv() + Dof);
    return true;
}

namespace {

template <int Dof, int Dim>
using PackedRows = Eigen::Map<const Eigen::Matrix<double, 2 * Dof, Dim>>;

// y += H_i' p of the two bodies.
template <int Dof, int Dim>
[[gnu::always_inline]] inline void add_impulse(const double* packed, int first, int second, const double* p, double* y) {
    const PackedRows<Dof, Dim> rows(packed);
    const Eigen::Map<const Eigen::Matrix<double, Dim, 1>> impulse(p);
    Eigen::Map<Eigen::Matrix<double, Dof, 1>>(y + first) += rows.template topRows<Dof>().lazyProduct(impulse);
    Eigen::Map<Eigen::Matrix<double, Dof, 1>>(y + second) += rows.template bottomRows<Dof>().lazyProduct(impulse);
}

template <int Dof, int Dim>
[[gnu::always_inline]] inline Eigen::Matrix<double, Dim, 1> speed(const double* packed, int first, int second, const double* v) {
    const PackedRows<Dof, Dim> rows(packed);
    const Eigen::Map<const Eigen::Matrix<double, Dof, 1>> a(v + first), b(v + second);
    Eigen::Matrix<double, Dim, 1> u;
    for (int k = 0; k < Dim; ++k) u[k] = rows.col(k).template head<Dof>().dot(a) + rows.col(k).template tail<Dof>().dot(b);
    return u;
}

}  // namespace

// Of D^-1/2 W D^-1/2 with the weights D, by the power method from numbers of no pattern.
template <int Dof, int Dim>
double AcceleratedGradient::largest_eigenvalue(const StepProblem& problem) {
    const int contacts = problem.contacts.size(), nv = problem.nodes().nv();
    for (int k = 0; k < q_.size(); ++k) q_[k] = std::sin(12.9898 * k);
    double eigenvalue = 0;
    for (int round = 0; round < power_iterations; ++round) {
        const double size = q_.norm();
        if (!(size > 0)) return eigenvalue;
        load_.setZero();
        for (int k = 0; k < q_.size(); ++k) {
            q_[k] /= size;
            p_[k] = q_[k] / std::sqrt(weight_[k]);
        }
        for (int i = 0; i < contacts; ++i)
            add_impulse<Dof, Dim>(packed_.data() + 2 * Dof * Dim * i, bodies_[i].first, bodies_[i].second, p_.data() + Dim * i, load_.data());
        inverse_.nodes().apply(load_.head(nv), v_.head(nv));
        eigenvalue = 0;
        for (int i = 0; i < contacts; ++i) {
            const auto u = speed<Dof, Dim>(packed_.data() + 2 * Dof * Dim * i, bodies_[i].first, bodies_[i].second, v_.data());
            for (int r = 0, k = Dim * i; r < Dim; ++r, ++k) {
                u_[k] = (u[r] + problem.S[k] * p_[k]) / std::sqrt(weight_[k]);
                eigenvalue += u_[k] * q_[k];
            }
        }
        q_ = u_;
    }
    return eigenvalue;
}

bool AcceleratedGradient::suits(const StepProblem& problem) {
    if (problem.joints.size() > 0 || !inverse_.factor(problem.A) || inverse_.coupled()) return false;
    if (!pack<6, 3>(problem) && !pack<3, 2>(problem)) return false;
    const BlockRows& H = problem.contacts.jacobian;
    rows_.prepare(H, problem.S, problem.nodes(), inverse_);
    weight_.resize(static_cast<std::size_t>(H.rows()));
    for (int i = 0; i < H.groups(); ++i) {
        const double normal = rows_.W(i)[0], tangential = (rows_.trace(i, dim_) - normal) / (dim_ - 1);
        for (int k = 0; k < dim_; ++k) {
            const double w = k == 0 ? normal : tangential;
            weight_[H.row[i] + k] = w > 0 ? w : 1;
        }
    }
    for (RowVec* rows : {&p_, &q_, &u_}) rows->resize(H.rows());
    const double steepest = dim_ == 3 ? largest_eigenvalue<6, 3>(problem) : largest_eigenvalue<3, 2>(problem);
    if (!(steepest > 0 && steepest <= many_contacts)) return false;
    step_.resize(weight_.size());
    for (std::size_t k = 0; k < weight_.size(); ++k) step_[k] = longest_step / (steepest * weight_[k]);
    return true;
}

template <int Dof, int Dim>
void AcceleratedGradient::start(const StepProblem& problem) {
    load_.head(problem.nodes().nv()) = problem.r;
    for (int i = 0; i < problem.contacts.size(); ++i)
        add_impulse<Dof, Dim>(packed_.data() + 2 * Dof * Dim * i, bodies_[i].first, bodies_[i].second, q_.data() + Dim * i, load_.data());
}

template <int Dof, int Dim>
void AcceleratedGradient::iterate(const StepProblem& problem) {
    const int nv = problem.nodes().nv();
    inverse_.nodes().apply(load_.head(nv), v_.head(nv));
    load_.head(nv) = problem.r;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const double* const packed = packed_.data() + 2 * Dof * Dim * i;
        const double *const w = weight_.data() + Dim * i, *const step = step_.data() + Dim * i, *const S = problem.S.data() + Dim * i, *const c = problem.c.data() + Dim * i;
        double *const p = p_.data() + Dim * i, *const q = q_.data() + Dim * i;
        const auto u = speed<Dof, Dim>(packed, bodies_[i].first, bodies_[i].second, v_.data());
        double state[3], before[3], back = 0;
        for (int k = 0; k < Dim; ++k) {
            before[k] = p[k];
            state[k] = q[k] - step[k] * (u[k] + S[k] * q[k] + c[k]);
        }
        x_.modes[i] = project_state({Dim, problem.contacts.friction[i], problem.contacts.facets[i]}, state, p);
        for (int k = 0; k < Dim; ++k) back += w[k] * (q[k] - p[k]) * (p[k] - before[k]);
        age_[i] = back > 0 ? 0 : age_[i] + 1;
        const double momentum = std::min(most_momentum, static_cast<double>(age_[i]) / (age_[i] + slow_start));
        for (int k = 0; k < Dim; ++k) q[k] = p[k] + momentum * (p[k] - before[k]);
        add_impulse<Dof, Dim>(packed, bodies_[i].first, bodies_[i].second, q, load_.data());
    }
}

double AcceleratedGradient::look(const StepProblem& problem, RowWeights& weights) {
    x_.p = p_;
    weights.velocity(problem, x_.lambda, x_.p, x_.v);
    residual_ = residual(problem, x_, residual_work_);
    return residual_.max();
}

bool AcceleratedGradient::improve(const StepProblem& problem, RowWeights& weights, const AcceleratedGradientOptions& options, double tol,
                                  WorkMeter& meter, StepSolution& solution, SolveReport& report) {
    copy_solution(solution, x_);
    p_ = solution.p;
    q_ = solution.p;
    age_.assign(static_cast<std::size_t>(problem.contacts.size()), 0);
    dim_ == 3 ? start<6, 3>(problem) : start<3, 2>(problem);
    double lowest = report.residual.max();
    int idle = 0;
    for (int block = 0; block < options.max_blocks && idle < options.max_idle; ++block) {
        for (int k = 1; k <= options.block; ++k) {
            if (meter.used_up()) return report.residual.max() <= tol;
            dim_ == 3 ? iterate<6, 3>(problem) : iterate<3, 2>(problem);
            meter.add_work(iteration_work * problem.contacts.size());
            ++report.iterations;
            if (k % look_every != 0) continue;
            const double now = look(problem, weights);
            if (std::isnan(now)) return report.residual.max() <= tol;
            if (!(now < report.residual.max())) continue;
            report.residual = residual_;
            copy_solution(x_, solution);
            if (now <= tol) return true;
        }
        idle = report.residual.max() < options.least_fall * lowest ? 0 : idle + 1;
        if (idle == 0) lowest = report.residual.max();
    }
    return report.residual.max() <= tol;
}

}  // namespace stickslip
