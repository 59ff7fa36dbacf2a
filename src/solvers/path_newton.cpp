#include "solvers/path_newton.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

constexpr double joint_eps = 1e-8;              // of w_j, rows without bounds
constexpr double raise = 4, lower = 0.7;        // of eps: where the path turns back, and after each step
constexpr double largest_eps = 30;
constexpr double faster = 0.3;                  // of the least eps, after a full step that paid
constexpr double pays = 0.5;                    // of the merit at the last full step
constexpr double largest_turn = 0.5;            // tangent of the angle by which a direction of sliding may turn in one step
// What the factored system may differ by in dz/dxi of a contact; directions of sliding turn in every step.
constexpr double lagging = 0.2;
constexpr double least_share = 0.2;             // of the eps it was factored with
constexpr double least_changed_eps = 1e-6;      // below, changing it costs too many digits
constexpr int look_every = 20;                  // crossings
constexpr double three_columns = 2.3;           // back substitutions at once, over one
constexpr double full_step_eps = 1e-2;          // of full steps. If smaller, they circle; if larger, they creep
constexpr int idle_full_steps = 30;             // without a residual that is lower by a tenth
constexpr double exact_share = 1e-6;            // of the tolerance

bool bounded(const StepProblem& problem, int j) {
    return problem.lower[j] > -infinity || problem.upper[j] < infinity;
}

}  // namespace

ContactCone PathNewton::cone(const StepProblem& problem, int i) const {
    return {problem.contacts.jacobian.dim(i), problem.contacts.friction[i], problem.contacts.facets[i]};
}

void PathNewton::start(const StepProblem& problem, const RowWeights& weights, const StepSolution& x) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    system_.analyse(problem);
    weight_ = weights.contact();
    joint_weight_ = weights.joint();
    const auto nine = static_cast<std::size_t>(StepSystem::block * H.groups());
    for (std::vector<double>* list : {&contact_B_, &D_, &M_}) list->assign(nine, 0.0);
    joint_B_.assign(joint_weight_.size(), 0.0);
    dv_.resize(problem.nodes().nv());
    for (RowVec* rows : {&xi_, &z_, &phi_, &Hv_, &dxi_}) rows->resize(H.rows());
    for (RowVec* rows : {&eta_, &deta_, &lambda_, &w_, &Gv_}) rows->resize(G.rows());
    copy_solution(x, point_);
    border_ = {};
    used_eps_ = 0;
    looked_ = false;

    H.product(problem.nodes(), x.v, Hv_);
    piece_.resize(weight_.size());
    for (int i = 0; i < H.groups(); ++i) {
        for (int k = H.row[i]; k < H.row[i + 1]; ++k)
            xi_[k] = x.p[k] - (Hv_[k] + problem.S[k] * x.p[k] + problem.c[k]) / weight_[i];
    }
    G.product(problem.nodes(), x.v, Gv_);
    bound_.resize(joint_weight_.size());
    for (int j = 0; j < G.rows(); ++j) {
        eta_[j] = x.lambda[j];
        if (bounded(problem, j)) eta_[j] -= (Gv_[j] + problem.T[j] * x.lambda[j] - problem.b[j]) / joint_weight_[j];
    }
    find_pieces(problem);
}

void PathNewton::find_pieces(const StepProblem& problem) {
    for (int i = 0; i < problem.contacts.size(); ++i)
        piece_[i] = piece_at(cone(problem, i), xi_.data() + problem.contacts.jacobian.row[i]);
    for (int j = 0; j < problem.joints.size(); ++j) {
        bound_[j] = eta_[j] < problem.lower[j]   ? Bound::lower
                    : eta_[j] > problem.upper[j] ? Bound::upper
                                                 : Bound::free;
        if (problem.lower[j] == problem.upper[j]) bound_[j] = Bound::lower;  // switched off
    }
}

double PathNewton::evaluate(const StepProblem& problem, RowWeights& weights) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    for (int i = 0; i < H.groups(); ++i)
        map_piece(cone(problem, i), piece_[i], xi_.data() + H.row[i], z_.data() + H.row[i], D_.data() + StepSystem::block * i);
    for (int j = 0; j < G.rows(); ++j)
        lambda_[j] = bound_[j] == Bound::lower ? problem.lower[j] : bound_[j] == Bound::upper ? problem.upper[j] : eta_[j];
    weights.velocity(problem, lambda_, z_, v_);
    H.product(problem.nodes(), v_, phi_);
    double merit = 0;
    for (int i = 0; i < H.groups(); ++i) {
        for (int k = H.row[i]; k < H.row[i + 1]; ++k) {
            phi_[k] += problem.S[k] * z_[k] + problem.c[k] + weight_[i] * (xi_[k] - z_[k]);
            merit += phi_[k] * phi_[k] / weight_[i];
        }
    }
    G.product(problem.nodes(), v_, w_);
    for (int j = 0; j < G.rows(); ++j) {
        w_[j] += problem.T[j] * lambda_[j] - problem.b[j] + joint_weight_[j] * (eta_[j] - lambda_[j]);
        merit += w_[j] * w_[j] / joint_weight_[j];
    }
    return std::sqrt(merit);
}

// M^-1 and B of contact i, column-major dim x dim.
void PathNewton::linearise(const StepProblem& problem, int i, double* M, double* B) const {
    const BlockRows& H = problem.contacts.jacobian;
    const int dim = H.dim(i);
    const Eigen::Map<const Mat3> D(D_.data() + StepSystem::block * i);
    Mat3 full = weight_[i] * (Mat3::Identity() - D);
    for (int r = 0; r < dim; ++r) full.row(r) += (problem.S[H.row[i] + r] + used_eps_ * weight_[i]) * D.row(r);
    const Mat3 inverse = full.inverse(), product = D * inverse;  // rows beyond dim are those of w I
    for (int s = 0; s < dim; ++s) {
        for (int r = 0; r < dim; ++r) {
            M[r + s * dim] = inverse(r, s);
            B[r + s * dim] = product(r, s);
        }
    }
}

// Brings the factored system up to date; false where factoring again is better.
bool PathNewton::change(const StepProblem& problem, WorkMeter& meter) {
    lagging_.clear();
    int room = system_.room();
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const double *D = D_.data() + StepSystem::block * i, *used = used_D_.data() + StepSystem::block * i;
        double difference = 0;
        for (int k = 0; k < StepSystem::block; ++k) difference = std::max(difference, std::abs(D[k] - used[k]));
        if (difference <= lagging) continue;
        if (!system_.changed(i) && --room < 0) return false;
        lagging_.push_back(i);
    }
    for (const int i : lagging_) {
        linearise(problem, i, M_.data() + StepSystem::block * i, contact_B_.data() + StepSystem::block * i);
        if (!system_.change(problem, i, contact_B_.data() + StepSystem::block * i)) return false;
        std::copy_n(D_.data() + StepSystem::block * i, StepSystem::block, used_D_.data() + StepSystem::block * i);
        meter.add_work(three_columns * system_.solve_work());
    }
    meter.add_work(system_.solve_work());
    return system_.finish();
}

bool PathNewton::prepare(const StepProblem& problem, double eps, WorkMeter& meter) {
    meter.add_work(contact_work * problem.contacts.size());  // of what follows: pieces, products, borders
    const bool near = eps <= used_eps_ && eps >= least_share * used_eps_ && used_eps_ > least_changed_eps;
    if (near && system_.worth_changing() && used_bound_ == bound_ && change(problem, meter)) return true;
    used_eps_ = eps;
    used_D_ = D_;
    used_bound_ = bound_;
    for (int i = 0; i < problem.contacts.size(); ++i)
        linearise(problem, i, M_.data() + StepSystem::block * i, contact_B_.data() + StepSystem::block * i);
    for (int j = 0; j < problem.joints.size(); ++j)
        joint_B_[j] = bound_[j] == Bound::free
                          ? 1 / (problem.T[j] + (bounded(problem, j) ? eps : joint_eps) * joint_weight_[j])
                          : 0.0;
    meter.add(1);
    return system_.factor(problem, joint_B_, contact_B_);
}

void PathNewton::direction(const StepProblem& problem) {
    const BlockRows &H = problem.contacts.jacobian, &G = problem.joints.jacobian;
    const auto times = [&](const std::vector<double>& blocks, int i, int r, auto&& entry) {
        double sum = 0;
        for (int s = 0, dim = H.dim(i); s < dim; ++s) sum += blocks[StepSystem::block * i + r + s * dim] * entry(H.row[i] + s);
        return sum;
    };
    for (int i = 0; i < H.groups(); ++i)
        for (int r = 0; r < H.dim(i); ++r)
            dxi_[H.row[i] + r] = -times(contact_B_, i, r, [&](int k) { return phi_[k]; });
    for (int j = 0; j < G.rows(); ++j) deta_[j] = -joint_B_[j] * w_[j];
    dv_.setZero();
    H.add_transpose_product(problem.nodes(), dxi_, dv_);
    G.add_transpose_product(problem.nodes(), deta_, dv_);
    system_.solve(problem, dv_);
    H.product(problem.nodes(), dv_, Hv_);
    G.product(problem.nodes(), dv_, Gv_);
    for (int i = 0; i < H.groups(); ++i)
        for (int r = 0; r < H.dim(i); ++r)
            dxi_[H.row[i] + r] = -times(M_, i, r, [&](int k) { return phi_[k] + Hv_[k]; });
    for (int j = 0; j < G.rows(); ++j)
        deta_[j] = -(joint_B_[j] > 0 ? joint_B_[j] : 1 / joint_weight_[j]) * (w_[j] + Gv_[j]);
}

bool PathNewton::leads_on(const StepProblem& problem) const {
    if (border_.joint >= 0) return border_.outward[0] * deta_[border_.joint] >= 0;
    const BlockRows& H = problem.contacts.jacobian;
    double outward = 0;
    for (int r = 0; r < H.dim(border_.contact); ++r) outward += border_.outward[r] * dxi_[H.row[border_.contact] + r];
    return outward >= 0;
}

// The share of the direction up to the first border, at most 1; `border` says which.
double PathNewton::step_to_border(const StepProblem& problem, Border& border, NormalPiece& contact_to, Bound& joint_to) const {
    const BlockRows& H = problem.contacts.jacobian;
    double step = 1;
    border = {};
    for (int i = 0; i < H.groups(); ++i) {
        const double *xi = xi_.data() + H.row[i], *dxi = dxi_.data() + H.row[i];
        const PieceCrossing crossing = first_crossing(cone(problem, i), piece_[i], xi, dxi);
        const bool just_crossed = i == border_.contact && crossing.at == 0;
        if (crossing.at < step && !just_crossed) {
            step = crossing.at;
            border = {i, -1, crossing.outward};
            contact_to = crossing.to;
        }
        if (piece_[i].kind != NormalPiece::Kind::slip) continue;
        const double square = xi[1] * xi[1] + xi[2] * xi[2], turn = std::abs(xi[1] * dxi[2] - xi[2] * dxi[1]);
        if (turn * step > largest_turn * square) {
            step = largest_turn * square / turn;
            border = {};
        }
    }
    for (int j = 0; j < eta_.size(); ++j) {
        if (problem.lower[j] == problem.upper[j] || j == border_.joint || deta_[j] == 0) continue;
        const double up = deta_[j] > 0 ? 1 : -1;
        const Bound to = bound_[j] == Bound::free ? (up > 0 ? Bound::upper : Bound::lower) : Bound::free;
        if (bound_[j] == (up > 0 ? Bound::upper : Bound::lower)) continue;  // away from the border
        const bool at_upper = bound_[j] == Bound::upper || to == Bound::upper;
        const double at = std::max(0.0, ((at_upper ? problem.upper[j] : problem.lower[j]) - eta_[j]) / deta_[j]);
        if (!(at < step)) continue;
        step = at;
        border = {-1, j, up * Vec3::UnitX()};
        joint_to = to;
    }
    return step;
}

void PathNewton::move(double step) {
    xi_ = xi_.vec() + step * dxi_.vec();
    eta_ = eta_.vec() + step * deta_.vec();
}

// The point of xi_, if it is the best so far.
bool PathNewton::offer(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    const BlockRows& H = problem.contacts.jacobian;
    point_.p = z_;
    for (int i = 0; i < H.groups(); ++i) {
        project_cone(H.dim(i), problem.contacts.friction[i], problem.contacts.facets[i], point_.p.data() + H.row[i]);
        point_.modes[i] = mode_of(cone(problem, i), piece_[i]);
    }
    for (int j = 0; j < lambda_.size(); ++j) point_.lambda[j] = std::clamp(lambda_[j], problem.lower[j], problem.upper[j]);
    point_.v = v_;
    const Residual res = looked_ ? residual_again(problem, point_, residual_work_) : residual(problem, point_, residual_work_);
    looked_ = true;
    if (!(res.max() < report.residual.max()) && !std::isnan(report.residual.max())) return false;
    report.residual = res;
    copy_solution(point_, solution);
    return true;
}

bool PathNewton::take_full_steps(const StepProblem& problem, RowWeights& weights, int most, double tol, WorkMeter& meter,
                                 ModeTries& tries, StepSolution& solution, SolveReport& report) {
    best_xi_ = xi_;
    best_eta_ = eta_;
    double lowest = report.residual.max();
    for (int k = 0, last = 0; k < most && k - last <= idle_full_steps && !meter.used_up(system_.cost()); ++k) {
        ++report.factorisations;
        if (!prepare(problem, full_step_eps, meter)) break;
        direction(problem);
        if (!std::isfinite(dv_.sum())) break;
        move(1);
        find_pieces(problem);
        evaluate(problem, weights);
        ++report.iterations;
        if (!offer(problem, solution, report)) continue;
        best_xi_ = xi_;
        best_eta_ = eta_;
        if (report.residual.max() <= tol || tries.found(problem, tol, solution, report)) return true;
        if (report.residual.max() < 0.9 * lowest) {
            lowest = report.residual.max();
            last = k;
        }
    }
    xi_ = best_xi_;
    eta_ = best_eta_;
    find_pieces(problem);
    return false;
}

bool PathNewton::improve(const StepProblem& problem, RowWeights& weights, const PathNewtonOptions& options, double tol,
                         WorkMeter& meter, ModeTries& tries, StepSolution& solution, SolveReport& report) {
    start(problem, weights, solution);
    if (options.full_steps > 0) {
        evaluate(problem, weights);
        if (take_full_steps(problem, weights, options.full_steps, tol, meter, tries, solution, report)) return true;
    }
    double merit = evaluate(problem, weights), landed = merit;
    double least = options.first_eps, eps = least;
    int factorisations = 0, crossings = 0, last_best = 0, extra = 0;
    const auto aim = [&] {
        ++factorisations;
        ++report.factorisations;
        if (!prepare(problem, eps, meter)) return false;
        direction(problem);
        return true;
    };
    while (factorisations < options.max_factorisations && crossings - last_best <= options.max_idle && !meter.used_up(system_.cost())) {
        if (!aim()) break;
        while (!border_.none() && !leads_on(problem) && eps < largest_eps) {
            eps *= raise;
            if (meter.used_up(system_.cost()) || !aim()) return report.residual.max() <= tol;
        }
        Border border;
        NormalPiece contact_to;
        Bound joint_to = Bound::free;
        const double step = step_to_border(problem, border, contact_to, joint_to);
        if (!std::isfinite(dv_.sum())) break;
        eps = std::max(least, lower * eps);
        move(step);
        if (border.contact >= 0) piece_[border.contact] = contact_to;
        if (border.joint >= 0) bound_[border.joint] = joint_to;
        border_ = border;
        merit = evaluate(problem, weights);
        ++crossings;
        ++report.iterations;
        if (step == 1) {
            if (merit < pays * landed) least = std::max(options.least_eps, faster * least);
            landed = merit;
        }
        if (step == 1 || crossings % look_every == 0) {
            if (offer(problem, solution, report)) {
                last_best = crossings;
                if (tries.found(problem, tol, solution, report)) return true;
            }
            if (report.residual.max() <= (extra < options.extra_looks ? exact_share * tol : tol)) return true;
            extra += report.residual.max() <= tol;
        }
    }
    return report.residual.max() <= tol;
}

}  // namespace stickslip
