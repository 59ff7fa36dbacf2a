#include "solvers/accelerated_gradient.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/normal_pieces.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

constexpr double most_momentum = 0.95;  // if larger, single contacts swing; with 0.8 it takes a third longer
constexpr int slow_start = 3;           // iterations after which half of it is reached
constexpr double longest_step = 1.1;    // over 1/L; 1.25 went well too, 1.5 diverges
constexpr int power_iterations = 30;
constexpr double many_contacts = 6;     // L above which bodies touch at too many points
constexpr int look_every = 50;          // iterations
constexpr double iteration_work = 200;  // per contact

}  // namespace

void AcceleratedGradient::velocities(const StepProblem& problem, const RowVec& impulses, const VecX& momentum, RowVec& u) {
    load_ = momentum;
    problem.contacts.jacobian.add_transpose_product(problem.nodes(), impulses, load_);
    inverse_.apply(load_, v_);
    problem.contacts.jacobian.product(problem.nodes(), v_, u);
}

// Of D^-1/2 W D^-1/2 with the weights D, by the power method from numbers of no pattern.
double AcceleratedGradient::largest_eigenvalue(const StepProblem& problem) {
    const int rows = problem.contacts.jacobian.rows();
    for (int k = 0; k < rows; ++k) q_[k] = std::sin(12.9898 * k);
    double eigenvalue = 0;
    for (int round = 0; round < power_iterations; ++round) {
        const double size = q_.norm();
        if (!(size > 0)) return eigenvalue;
        for (int k = 0; k < rows; ++k) {
            q_[k] /= size;
            p_[k] = q_[k] / std::sqrt(weight_[k]);
        }
        velocities(problem, p_, nothing_, u_);
        eigenvalue = 0;
        for (int k = 0; k < rows; ++k) {
            u_[k] = (u_[k] + problem.S[k] * p_[k]) / std::sqrt(weight_[k]);
            eigenvalue += u_[k] * q_[k];
        }
        q_ = u_;
    }
    return eigenvalue;
}

bool AcceleratedGradient::suits(const StepProblem& problem) {
    if (problem.joints.size() > 0 || !inverse_.factor(problem.A)) return false;
    const BlockRows& H = problem.contacts.jacobian;
    rows_.prepare(H, problem.S, problem.nodes(), inverse_);
    weight_.resize(static_cast<std::size_t>(H.rows()));
    for (int i = 0; i < H.groups(); ++i) {
        const int dim = H.dim(i);
        const double normal = rows_.W(i)[0], tangential = dim > 1 ? (rows_.trace(i, dim) - normal) / (dim - 1) : normal;
        for (int k = 0; k < dim; ++k) {
            const double w = k == 0 ? normal : tangential;
            weight_[H.row[i] + k] = w > 0 ? w : 1;
        }
    }
    for (RowVec* rows : {&p_, &before_, &q_, &u_}) rows->resize(H.rows());
    v_.resize(problem.nodes().nv());
    nothing_.setZero(problem.nodes().nv());
    steepest_ = largest_eigenvalue(problem);
    return steepest_ > 0 && steepest_ <= many_contacts;
}

void AcceleratedGradient::iterate(const StepProblem& problem) {
    const BlockRows& H = problem.contacts.jacobian;
    velocities(problem, q_, problem.r, u_);
    before_ = p_;
    const double step = longest_step / steepest_;
    for (int i = 0; i < H.groups(); ++i) {
        const int first = H.row[i], dim = H.dim(i);
        double state[3];
        for (int k = 0; k < dim; ++k)
            state[k] = q_[first + k] - step / weight_[first + k] * (u_[first + k] + problem.S[first + k] * q_[first + k] + problem.c[first + k]);
        x_.modes[i] = project_state({dim, problem.contacts.friction[i], problem.contacts.facets[i]}, state, p_.data() + first);
        double back = 0;
        for (int k = first; k < first + dim; ++k) back += weight_[k] * (q_[k] - p_[k]) * (p_[k] - before_[k]);
        age_[i] = back > 0 ? 0 : age_[i] + 1;
        const double momentum = std::min(most_momentum, static_cast<double>(age_[i]) / (age_[i] + slow_start));
        for (int k = first; k < first + dim; ++k) q_[k] = p_[k] + momentum * (p_[k] - before_[k]);
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
    double lowest = report.residual.max();
    int idle = 0;
    for (int block = 0; block < options.max_blocks && idle < options.max_idle; ++block) {
        for (int k = 1; k <= options.block; ++k) {
            if (meter.used_up()) return report.residual.max() <= tol;
            iterate(problem);
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
