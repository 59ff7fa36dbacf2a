#include "solvers/accelerated_gradient.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
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
// Of a part of a phase, some microseconds. If fewer, taking a part costs more than it has to do; if more, threads wait for each other.
constexpr int contacts_of_part = 160, bodies_of_part = 160;

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
    loads_.resize(static_cast<std::size_t>(2 * Dof * H.groups()));
    v_.setZero(nodes.nv() + Dof);
    list_loads(problem);
    return true;
}

void AcceleratedGradient::list_loads(const StepProblem& problem) {
    const BlockRows& H = problem.contacts.jacobian;
    const int nodes = problem.nodes().size(), dof = dim_ == 3 ? 6 : 3;
    first_load_.assign(static_cast<std::size_t>(nodes) + 1, 0);
    for (const BlockRows::Block& b : H.blocks) ++first_load_[b.node + 1];
    for (int n = 0; n < nodes; ++n) first_load_[n + 1] += first_load_[n];
    load_.resize(H.blocks.size());
    for (int i = 0; i < H.groups(); ++i) {
        int at = 2 * dof * i;
        for (const BlockRows::Block& b : H.blocks_of(i)) {
            load_[first_load_[b.node]++] = at;
            at += dof;
        }
    }
    for (int n = nodes; n > 0; --n) first_load_[n] = first_load_[n - 1];
    first_load_[0] = 0;
}

namespace {

template <int Dof, int Dim>
using PackedRows = Eigen::Map<const Eigen::Matrix<double, 2 * Dof, Dim>>;

template <int Dof, int Dim>
[[gnu::always_inline]] inline Eigen::Matrix<double, Dim, 1> speed(const double* packed, int first, int second, const double* v) {
    const PackedRows<Dof, Dim> rows(packed);
    const Eigen::Map<const Eigen::Matrix<double, Dof, 1>> a(v + first), b(v + second);
    Eigen::Matrix<double, Dim, 1> u;
    for (int k = 0; k < Dim; ++k) u[k] = rows.col(k).template head<Dof>().dot(a) + rows.col(k).template tail<Dof>().dot(b);
    return u;
}

}  // namespace

template <int Dof, int Dim>
void AcceleratedGradient::load_bodies(int i, const double* p) {
    const PackedRows<Dof, Dim> rows(packed_.data() + 2 * Dof * Dim * i);
    Eigen::Map<Eigen::Matrix<double, 2 * Dof, 1>>(loads_.data() + 2 * Dof * i) = rows.lazyProduct(Eigen::Map<const Eigen::Matrix<double, Dim, 1>>(p));
}

template <int Dof>
void AcceleratedGradient::move_bodies(const double* r) {
    using Load = Eigen::Matrix<double, Dof, 1>;
    each_in_parallel(static_cast<int>(first_load_.size()) - 1, bodies_of_part, [&](int n) {
        Load load = r == nullptr ? Load::Zero().eval() : Load(Eigen::Map<const Load>(r + Dof * n));
        for (int k = first_load_[n]; k < first_load_[n + 1]; ++k) load += Eigen::Map<const Load>(loads_.data() + load_[k]);
        inverse_.nodes().apply(n, load.data(), v_.data() + Dof * n);
    });
}

// Of D^-1/2 W D^-1/2 with the weights D, by the power method from numbers of no pattern.
template <int Dof, int Dim>
double AcceleratedGradient::largest_eigenvalue(const StepProblem& problem) {
    const int contacts = problem.contacts.size();
    for (int k = 0; k < q_.size(); ++k) q_[k] = std::sin(12.9898 * k);
    double eigenvalue = 0;
    for (int round = 0; round < power_iterations; ++round) {
        const double size = q_.norm();
        if (!(size > 0)) return eigenvalue;
        each_in_parallel(contacts, contacts_of_part, [&](int i) {
            for (int k = Dim * i; k < Dim * (i + 1); ++k) {
                q_[k] /= size;
                p_[k] = q_[k] / std::sqrt(weight_[k]);
            }
            load_bodies<Dof, Dim>(i, p_.data() + Dim * i);
        });
        move_bodies<Dof>(nullptr);
        each_in_parallel(contacts, contacts_of_part, [&](int i) {
            const auto u = speed<Dof, Dim>(packed_.data() + 2 * Dof * Dim * i, bodies_[i].first, bodies_[i].second, v_.data());
            for (int r = 0, k = Dim * i; r < Dim; ++r, ++k) u_[k] = (u[r] + problem.S[k] * p_[k]) / std::sqrt(weight_[k]);
        });
        eigenvalue = 0;
        for (int k = 0; k < q_.size(); ++k) eigenvalue += u_[k] * q_[k];
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
    for (int i = 0; i < problem.contacts.size(); ++i) load_bodies<Dof, Dim>(i, q_.data() + Dim * i);
}

template <int Dof, int Dim>
void AcceleratedGradient::iterate(const StepProblem& problem) {
    move_bodies<Dof>(problem.r.data());
    each_in_parallel(problem.contacts.size(), contacts_of_part, [&](int i) { move_contact<Dof, Dim>(problem, i); });
}

template <int Dof, int Dim>
[[gnu::always_inline]] inline void AcceleratedGradient::move_contact(const StepProblem& problem, int i) {
    const double *const w = weight_.data() + Dim * i, *const step = step_.data() + Dim * i, *const S = problem.S.data() + Dim * i, *const c = problem.c.data() + Dim * i;
    double *const p = p_.data() + Dim * i, *const q = q_.data() + Dim * i;
    const auto u = speed<Dof, Dim>(packed_.data() + 2 * Dof * Dim * i, bodies_[i].first, bodies_[i].second, v_.data());
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
    load_bodies<Dof, Dim>(i, q);
}

double AcceleratedGradient::look(const StepProblem& problem, RowWeights& weights) {
    x_.p = p_;
    weights.velocity(problem, x_.lambda, x_.p, x_.v);
    residual_ = looked_ ? residual_again(problem, x_, residual_work_) : residual(problem, x_, residual_work_);
    looked_ = true;
    return residual_.max();
}

bool AcceleratedGradient::improve(const StepProblem& problem, RowWeights& weights, const AcceleratedGradientOptions& options, double tol,
                                  WorkMeter& meter, StepSolution& solution, SolveReport& report) {
    copy_solution(solution, x_);
    looked_ = false;
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
