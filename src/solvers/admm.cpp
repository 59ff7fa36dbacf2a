#include "solvers/admm.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "solvers/normal_pieces.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

constexpr double joint_rho = 1e-6;  // of w_j, rows without bounds. If smaller, redundant rows drown the mass matrix
constexpr int look_every = 20;      // iterations
constexpr int contacts_of_part = 250, bodies_of_part = 100;  // some tens of microseconds

bool bounded(const StepProblem& problem, int j) {
    return problem.lower[j] > -infinity || problem.upper[j] < infinity;
}

}  // namespace

void Admm::start(const StepProblem& problem, const RowWeights& weights, const AdmmOptions& options, const StepSolution& x) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    rho_.resize(weights.contact().size());
    for (std::size_t i = 0; i < rho_.size(); ++i) rho_[i] = options.rho * weights.contact()[i];
    contact_B_.assign(static_cast<std::size_t>(StepSystem::block * H.groups()), 0.0);
    for (int i = 0; i < H.groups(); ++i)
        for (int k = 0; k < H.dim(i); ++k)
            contact_B_[StepSystem::block * i + k * (H.dim(i) + 1)] = 1 / (problem.S[H.row[i] + k] + rho_[i]);
    joint_rho_.resize(weights.joint().size());
    joint_B_.resize(weights.joint().size());
    for (int j = 0; j < G.rows(); ++j) {
        joint_rho_[j] = (bounded(problem, j) ? options.rho : joint_rho) * weights.joint()[j];
        joint_B_[j] = 1 / (problem.T[j] + joint_rho_[j]);
    }
    v_.resize(problem.nodes().nv());
    for (RowVec* rows : {&xi_, &z_, &y_, &t_, &Hv_}) rows->resize(H.rows());
    for (RowVec* rows : {&clamped_, &joint_t_, &Gv_}) rows->resize(G.rows());

    columns_.list(H, problem.nodes().size());
    copy_solution(x, x_);
    looked_ = false;
    lambda_ = x.lambda;
    H.product(problem.nodes(), x.v, Hv_);
    for (int i = 0; i < H.groups(); ++i)
        for (int k = H.row[i]; k < H.row[i + 1]; ++k)
            xi_[k] = x.p[k] - (Hv_[k] + problem.S[k] * x.p[k] + problem.c[k]) / rho_[i];
}

void Admm::split_contact(const StepProblem& problem, int i) {
    const BlockRows& H = problem.contacts.jacobian;
    const int first = H.row[i], dim = H.dim(i);
    const ContactCone cone{dim, problem.contacts.friction[i], problem.contacts.facets[i]};
    x_.modes[i] = project_state(cone, xi_.data() + first, z_.data() + first);
    for (int k = first; k < first + dim; ++k) y_[k] = rho_[i] * (xi_[k] - z_[k]);
}

void Admm::split(const StepProblem& problem) {
    each_in_parallel(problem.contacts.size(), contacts_of_part, [&](int i) { split_contact(problem, i); });
    for (int j = 0; j < clamped_.size(); ++j) clamped_[j] = std::clamp(lambda_[j], problem.lower[j], problem.upper[j]);
}

// Contacts and bodies are shared out among threads, all that one needs at once: they meet as seldom as can be.
void Admm::iterate(const StepProblem& problem, double relaxation) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    const Nodes& nodes = problem.nodes();
    each_in_parallel(H.groups(), contacts_of_part, [&](int i) {
        split_contact(problem, i);
        for (int k = H.row[i]; k < H.row[i + 1]; ++k)
            t_[k] = (rho_[i] * z_[k] - y_[k] - problem.c[k]) / (problem.S[k] + rho_[i]);
    });
    for (int j = 0; j < G.rows(); ++j) {
        clamped_[j] = std::clamp(lambda_[j], problem.lower[j], problem.upper[j]);
        joint_t_[j] = joint_B_[j] * (joint_rho_[j] * (2 * clamped_[j] - lambda_[j]) + problem.b[j]);
    }
    each_in_parallel(nodes.size(), bodies_of_part, [&](int n) {
        std::copy_n(problem.r.data() + nodes.start[n], nodes.dof(n), v_.data() + nodes.start[n]);
        columns_.add_transpose_product(H, nodes, n, t_.data(), v_.data());
    });
    G.add_transpose_product(nodes, joint_t_, v_);
    system_.solve(v_);
    G.product(nodes, v_, Gv_);
    for (int j = 0; j < G.rows(); ++j) {
        const double change = joint_t_[j] - joint_B_[j] * Gv_[j] - clamped_[j];
        lambda_[j] += (bounded(problem, j) ? relaxation : 1.0) * change;
    }
    each_in_parallel(H.groups(), contacts_of_part, [&](int i) {
        group_product(H, nodes, i, v_.data(), Hv_.data());
        for (int k = H.row[i]; k < H.row[i + 1]; ++k)
            xi_[k] += relaxation * (t_[k] - Hv_[k] / (problem.S[k] + rho_[i]) - z_[k]);
    });
}

double Admm::look(const StepProblem& problem, RowWeights& weights) {
    split(problem);
    x_.p = z_;
    x_.lambda = clamped_;
    weights.velocity(problem, x_.lambda, x_.p, x_.v);
    residual_ = looked_ ? residual_again(problem, x_, residual_work_) : residual(problem, x_, residual_work_);
    looked_ = true;
    return residual_.max();
}

bool Admm::improve(const StepProblem& problem, RowWeights& weights, const AdmmOptions& options, double tol, WorkMeter& meter,
                   ModeTries& tries, StepSolution& solution, SolveReport& report) {
    start(problem, weights, options, solution);
    system_.analyse(problem);
    if (meter.used_up(system_.cost()) || !system_.factor(problem, joint_B_, contact_B_)) return false;
    meter.add(1);
    ++report.factorisations;
    const auto offer = [&](const StepSolution& x, const Residual& res) {
        if (!(res.max() < report.residual.max()) && !std::isnan(report.residual.max())) return false;
        report.residual = res;
        copy_solution(x, solution);
        return res.max() <= tol;
    };
    double before = infinity;
    int idle = 0;
    for (int block = 0; block < options.max_blocks; ++block) {
        double best = infinity;
        for (int k = 1; k <= options.block; ++k) {
            if (meter.used_up()) return report.residual.max() <= tol;
            iterate(problem, options.relaxation);
            meter.add_work(system_.solve_work() + contact_work * problem.contacts.size());
            ++report.iterations;
            if (k % look_every != 0) continue;
            const double now = look(problem, weights);
            if (std::isnan(now)) return report.residual.max() <= tol;
            best = std::min(best, now);
            if (offer(x_, residual_)) return true;
        }
        if (report.residual.max() <= tol) return true;
        if (options.polish_far && tries.found(problem, tol, solution, report)) return true;
        // Blocks may rise now and then; without a new best in several there is no more to be had.
        idle = best < options.least_fall * before ? 0 : idle + 1;
        if (idle > options.max_idle) break;
        before = std::min(before, best);
    }
    return report.residual.max() <= tol;
}

}  // namespace stickslip
