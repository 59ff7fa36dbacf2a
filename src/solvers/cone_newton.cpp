#include "solvers/cone_newton.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

// The shift is taken in full at first; where that cycles, smaller and smaller shares of its change converge.
constexpr int damp_after = 12;

constexpr double exact_share = 1e-3;  // of the tolerance: what counts as exact
constexpr int extra_rounds = 4;

constexpr int max_newton = 40;  // per round; a round that needs more is cut short and the next one goes on

// Projection of y onto the cone and its derivative B (column-major dim x dim).
ContactMode project_with_slope(int dim, double mu, int facets, double* y, double* B) {
    for (int k = 0; k < dim * dim; ++k) B[k] = 0;
    const bool flat = dim == 3 && facets == 2;
    if (dim == 1 || mu <= 0) {
        const bool closed = y[0] > 0;
        if (closed)
            B[0] = 1;
        else
            y[0] = 0;
        for (int k = 1; k < dim; ++k) y[k] = 0;
        return closed ? (dim == 1 ? ContactMode::stick : ContactMode::slip) : ContactMode::open;
    }
    if (flat) y[2] = 0;
    const int tangents = dim == 3 && !flat ? 2 : 1;
    if (tangents == 1 || is_disc(facets)) {
        const double size = tangents == 1 ? std::abs(y[1]) : std::hypot(y[1], y[2]);
        if (size <= mu * y[0]) {
            for (int k = 0; k <= tangents; ++k) B[k * (dim + 1)] = 1;
            return ContactMode::stick;
        }
        if (mu * size <= -y[0]) {
            for (int k = 0; k < dim; ++k) y[k] = 0;
            return ContactMode::open;
        }
        const double share = 1 / (1 + mu * mu), normal = share * (y[0] + mu * size);
        const double d[2] = {y[1] / size, tangents == 2 ? y[2] / size : 0.0};
        B[0] = share;
        for (int k = 0; k < tangents; ++k) {
            B[1 + k] = B[(1 + k) * dim] = share * mu * d[k];
            for (int l = 0; l < tangents; ++l) {
                const double across = tangents == 2 ? (k == l) - d[k] * d[l] : 0.0;
                B[1 + k + (1 + l) * dim] = share * mu * mu * d[k] * d[l] + mu * normal / size * across;
            }
            y[1 + k] = mu * normal * d[k];
        }
        y[0] = normal;
        return ContactMode::slip;
    }
    // Polygon: the derivative is the projection onto the face that holds the nearest point.
    const double before[3] = {y[0], y[1], y[2]};
    project_cone(3, mu, facets, y);
    if (y[0] <= 0) return ContactMode::open;
    const Polygon& section = polygon(facets);
    const double slack = 1e-12 * mu * y[0];
    Vec3 face_normal[2];
    int touched = 0;
    for (int j = 0; j < section.facets && touched < 2; ++j) {
        const Vec2& o = section.outward[j];
        if (o[0] * y[1] + o[1] * y[2] >= mu * section.apothem * y[0] - slack)
            face_normal[touched++] = Vec3(-mu * section.apothem, o[0], o[1]).normalized();
    }
    const double moved = std::abs(before[0] - y[0]) + std::abs(before[1] - y[1]) + std::abs(before[2] - y[2]);
    Mat3 slope = Mat3::Identity();
    if (moved > 0 && touched == 1) slope -= face_normal[0] * face_normal[0].transpose();
    if (moved > 0 && touched == 2) {
        const Vec3 ray = face_normal[0].cross(face_normal[1]).normalized();
        slope = ray * ray.transpose();
    }
    for (int k = 0; k < 9; ++k) B[k] = slope.data()[k];
    return moved > 0 && touched > 0 ? ContactMode::slip : ContactMode::stick;
}

}  // namespace

ConeNewtonSolver::ConeNewtonSolver(ConeNewtonOptions options_) : options(options_) {
    if (!(options.tol > 0)) throw Error("tol of cone-newton must be positive");
    if (!(options.first_eps > 0 && options.last_eps > 0))
        throw Error("first_eps and last_eps of cone-newton must be positive");
}

// At v + t dv, with H v, G v and their changes at hand.
void ConeNewtonSolver::impulses(const StepProblem& problem, double t, bool derivatives) {
    for (int j = 0; j < x_.lambda.size(); ++j) {
        const double eps = eps_ * system_.joint_scale()[j], inverse = 1 / (problem.T[j] + eps);
        const double free = inverse * (eps * lambda_k_[j] - (Gv_[j] + t * G_dv_[j] - problem.b[j]));
        x_.lambda[j] = std::clamp(free, problem.lower[j], problem.upper[j]);
        if (derivatives) joint_B_[j] = x_.lambda[j] == free ? inverse : 0.0;
    }
    const BlockRows& H = problem.contacts.jacobian;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const int first = H.row[i], dim = H.dim(i);
        const double eps = eps_ * system_.contact_scale()[i];
        // With R = S + eps the cone in p' = sqrt(R) p is one of friction mu sqrt(R_T / R_N).
        const double root_N = std::sqrt(problem.S[first] + eps);
        const double root_T = dim > 1 ? std::sqrt(problem.S[first + 1] + eps) : root_N;
        const double mu = problem.contacts.friction[i] * (root_T / root_N);
        double y[3] = {0, 0, 0}, B[9];
        for (int k = 0; k < dim; ++k) {
            y[k] = eps * p_k_[first + k] - (Hv_[first + k] + t * H_dv_[first + k] + problem.c[first + k]);
            if (k == 0) y[0] -= s_[i];
            y[k] /= k == 0 ? root_N : root_T;
        }
        mode_[i] = project_with_slope(dim, mu, problem.contacts.facets[i], y, B);
        for (int k = 0; k < dim; ++k) x_.p[first + k] = y[k] / (k == 0 ? root_N : root_T);
        if (!derivatives) continue;
        double* to = contact_B_.data() + StepSystem::block * i;
        for (int k = 0; k < dim; ++k)
            for (int l = 0; l < dim; ++l)
                to[k + l * dim] = B[k + l * dim] / ((k == 0 ? root_N : root_T) * (l == 0 ? root_N : root_T));
    }
}

// Root of F(v + t dv).dv in t; `first` is its value at 0, negative.
double ConeNewtonSolver::line_search(const StepProblem& problem, double first) {
    const double dv_r = dv_.dot(problem.r), dv_Av = dv_.dot(Av_), dv_A_dv = problem.A.quadratic(dv_);
    const auto slope = [&](double t) {
        impulses(problem, t, false);
        double f = dv_Av + t * dv_A_dv - dv_r;
        for (int j = 0; j < G_dv_.size(); ++j) f -= G_dv_[j] * x_.lambda[j];
        for (int i = 0; i < H_dv_.size(); ++i) f -= H_dv_[i] * x_.p[i];
        return f;
    };
    // Full steps are taken unless they overshoot clearly; then regula falsi (Illinois).
    double high = 1, f_high = slope(1);
    if (f_high <= 0.5 * std::abs(first)) return 1;
    double low = 0, f_low = first, t = 1;
    for (int k = 0; k < 30; ++k) {
        t = std::clamp(low - f_low * (high - low) / (f_high - f_low), low + 0.05 * (high - low),
                       high - 0.05 * (high - low));
        const double f = slope(t);
        if (std::abs(f) <= 0.1 * std::abs(first)) break;
        if (f < 0) {
            low = t;
            f_low = f;
            f_high *= 0.5;
        } else {
            high = t;
            f_high = f;
            f_low *= 0.5;
        }
    }
    return t;
}

double ConeNewtonSolver::newton(const StepProblem& problem, double goal, SolveReport& report) {
    const Nodes& nodes = problem.nodes();
    double change = infinity;
    for (int k = 0; k < max_newton; ++k) {
        problem.contacts.jacobian.product(nodes, x_.v, Hv_);
        problem.joints.jacobian.product(nodes, x_.v, Gv_);
        H_dv_.setZero();
        G_dv_.setZero();
        impulses(problem, 0, true);
        Av_.setZero();
        problem.A.add_product(1, x_.v, Av_);
        dv_ = problem.r - Av_;
        problem.joints.jacobian.add_transpose_product(nodes, x_.lambda, dv_);
        problem.contacts.jacobian.add_transpose_product(nodes, x_.p, dv_);
        if (!system_.factor(problem, joint_B_, contact_B_)) return infinity;
        force_ = dv_;  // -F, needed once more
        system_.solve(dv_);
        ++report.iterations;
        ++report.factorisations;
        if (meter) meter->add(1);
        const double first = -force_.dot(dv_);
        problem.contacts.jacobian.product(nodes, dv_, H_dv_);
        problem.joints.jacobian.product(nodes, dv_, G_dv_);
        const double t = line_search(problem, first);
        change = 0;
        for (int i = 0; i < dv_.size(); ++i) {
            x_.v[i] += t * dv_[i];
            change = std::max(change, std::abs(dv_[i]));
        }
        if (!std::isfinite(change)) return infinity;
        if (change <= goal) break;
    }
    problem.contacts.jacobian.product(nodes, x_.v, Hv_);
    problem.joints.jacobian.product(nodes, x_.v, Gv_);
    H_dv_.setZero();
    G_dv_.setZero();
    impulses(problem, 0, false);
    return change;
}

void ConeNewtonSolver::update_shift(const StepProblem& problem, double fraction) {
    const BlockRows& H = problem.contacts.jacobian;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        double u[3] = {0, 0, 0};
        for (int k = 0; k < H.dim(i); ++k)
            u[k] = Hv_[H.row[i] + k] + problem.S[H.row[i] + k] * x_.p[H.row[i] + k] + problem.c[H.row[i] + k];
        const double now = problem.contacts.friction[i] * section_support(H.dim(i), problem.contacts.facets[i], u);
        s_[i] += fraction * (now - s_[i]);
    }
}

bool ConeNewtonSolver::read_modes() {
    x_.modes.assign(mode_.begin(), mode_.end());
    const bool same = mode_ == last_modes_;
    last_modes_.assign(mode_.begin(), mode_.end());
    return same;
}

void ConeNewtonSolver::rounds(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    const Nodes& nodes = problem.nodes();
    const int nc = problem.contacts.size(), m = problem.joints.size(), rows = problem.contacts.jacobian.rows();
    system_.analyse(problem);
    copy_solution(solution, x_);
    if (!x_.v.allFinite() || !x_.p.allFinite() || !x_.lambda.allFinite()) {
        x_.v.setZero();
        x_.p.setZero();
        x_.lambda.setZero();
    }
    for (RowVec* row : {&Hv_, &H_dv_}) row->setZero(rows);
    for (RowVec* row : {&Gv_, &G_dv_}) row->setZero(m);
    dv_.resize(nodes.nv());
    Av_.resize(nodes.nv());
    force_.resize(nodes.nv());
    joint_B_.assign(static_cast<std::size_t>(m), 0.0);
    contact_B_.assign(static_cast<std::size_t>(nc * StepSystem::block), 0.0);
    s_.assign(static_cast<std::size_t>(nc), 0.0);
    mode_.assign(static_cast<std::size_t>(nc), ContactMode::open);
    last_modes_.clear();
    scale_ = std::max(system_.free_speed(), x_.v.size() > 0 ? x_.v.cwiseAbs().maxCoeff() : 0.0);
    problem.contacts.jacobian.product(nodes, x_.v, Hv_);
    if (solution.warm) update_shift(problem, 1);

    report.residual = residual(problem, solution, residual_work_);
    report.solver = "cone-newton";
    double best = report.residual.max();
    if (std::isnan(best)) best = infinity;
    int next_polish = 0, extra = 0;
    for (int round = 0; round < options.max_rounds; ++round) {
        // Below the tolerance a few more rounds may still let the mode solve make stiction exact.
        if (best <= exact_share * options.tol || (best <= options.tol && ++extra > extra_rounds)) break;
        if (meter && meter->used_up()) break;
        eps_ = std::max(options.last_eps, options.first_eps * std::pow(0.1, round));
        p_k_ = x_.p;
        lambda_k_ = x_.lambda;
        const double change = newton(problem, std::max(1e-13, 1e-6 * std::pow(0.1, round)) * scale_, report);
        if (change == infinity) break;
        update_shift(problem, round < damp_after ? 1 : round < 2 * damp_after ? 0.5 : 0.2);
        const bool repeated = read_modes();
        const Residual now = residual(problem, x_, residual_work_);
        if (now.max() < best) {
            best = now.max();
            report.residual = now;
            copy_solution(x_, solution);
        }
        if (best > options.tol && !(repeated && round >= next_polish)) continue;
        copy_solution(x_, trial_);
        Residual polished;
        modes_.improve(problem, trial_, options.tol, polished);
        if (polished.max() < best) {
            best = polished.max();
            report.residual = polished;
            copy_solution(trial_, solution);
        }
        next_polish = round + 2 + round / 4;
    }
    solution.warm = true;
    report.status = best <= options.tol ? Status::ok : Status::not_converged;
    report.reason =
        report.status == Status::ok ? "" : "rounds used up; friction may wedge here, try lemke with a polygon cone";
}

SolveReport ConeNewtonSolver::solve(const StepProblem& problem, StepSolution& solution) {
    solution.size_to(problem);
    if (!solution.warm) reset_solution(solution);
    SolveReport report;
    report.solver = "cone-newton";
    if (solution.warm || problem.contacts.size() == 0) {
        if (modes_.improve(problem, solution, options.tol, report.residual)) {
            solution.warm = true;
            return report;
        }
    }
    rounds(problem, solution, report);
    return report;
}

}  // namespace stickslip
