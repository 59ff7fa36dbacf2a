#include "solvers/direct_iterative.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"
#include "solvers/local/contact_solve.hpp"
#include "solvers/local/seen_velocity.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

// Proximal compliance relative to the row's own Delassus diagonal. With a larger one the rows need more
// corrections until they hold; with a smaller one redundant rows amplify rounding.
constexpr double proximal = 1e-8;

// Signs within this relative distance of zero are rounding.
constexpr double sign_slack = 1e-12;

constexpr int max_corrections = 10;   // of one linear solve; two suffice unless A is clearly unsymmetric
constexpr int patience = 4;           // block pivots that may fail to lower the number of wrong rows
constexpr double exact_share = 1e-3;  // of the tolerance: what counts as exact
constexpr int extra_rounds = 3;       // below the tolerance, to let the mode solve make stiction exact

}  // namespace

DirectIterativeSolver::DirectIterativeSolver(DirectIterativeOptions options_) : options(options_) {
    if (!(options.tol > 0)) throw Error("tol of direct-iterative must be positive");
    if (options.max_rounds < 1 || options.sweeps < 1 || options.max_pivots < 1)
        throw Error("max_rounds, sweeps and max_pivots of direct-iterative must be positive");
}

void DirectIterativeSolver::build_rows(const StepProblem& problem) {
    const BlockRows &G = problem.joints.jacobian, &H = problem.contacts.jacobian;
    const Nodes& nodes = problem.nodes();
    const int m = G.rows(), nc = problem.contacts.size();
    rows_.clear();
    group_of_.clear();
    for (int g = 0; g < G.groups(); ++g) {
        rows_.begin_group(G.dim(g));
        group_of_.insert(group_of_.end(), static_cast<std::size_t>(G.dim(g)), g);
        for (const BlockRows::Block& b : G.blocks_of(g))
            std::copy_n(G.values.data() + b.offset, G.dim(g) * nodes.dof(b.node),
                        rows_.add_block(b.node, nodes.dof(b.node)).data());
    }
    for (int i = 0; i < nc; ++i) {
        group_of_.push_back(rows_.groups());
        rows_.begin_group(1);
        for (const BlockRows::Block& b : H.blocks_of(i))  // the normal is the first row of the block
            std::copy_n(H.values.data() + b.offset, nodes.dof(b.node),
                        rows_.add_block(b.node, nodes.dof(b.node)).data());
    }
    for (RowVec* row : {&T_, &factor_T_, &b_, &lower_, &upper_, &lambda_, &w_}) row->resize(m + nc);
    for (int j = 0; j < m; ++j) {
        T_[j] = problem.T[j];
        b_[j] = problem.b[j];
        lower_[j] = problem.lower[j];
        upper_[j] = problem.upper[j];
    }
    for (int i = 0; i < nc; ++i) {
        T_[m + i] = problem.S[H.row[i]];
        b_[m + i] = -problem.c[H.row[i]];
        lower_[m + i] = 0;
        upper_[m + i] = infinity;
    }
    scale_.assign(static_cast<std::size_t>(m + nc), 0.0);
    for (int g = 0; g < rows_.groups(); ++g) {
        for (int i = rows_.row[g]; i < rows_.row[g + 1]; ++i) {
            for (const BlockRows::Block& b : rows_.blocks_of(g)) {
                const int d = nodes.dof(b.node);
                const double* J = rows_.values.data() + b.offset + (i - rows_.row[g]) * d;
                const double* a = problem.A.values.data() + problem.A.diagonal[b.node];
                for (int k = 0; k < d; ++k) scale_[i] += J[k] * J[k] / a[k * (d + 1)];
            }
            scale_[i] += T_[i];
            if (!(scale_[i] > 0)) scale_[i] = 1;
            factor_T_[i] = T_[i] + proximal * scale_[i];
        }
    }
    speed_ = 0;
    for (int n = 0; n < nodes.size(); ++n) {
        const int d = nodes.dof(n);
        const double* a = problem.A.values.data() + problem.A.diagonal[n];
        for (int k = 0; k < d; ++k) speed_ = std::max(speed_, std::abs(problem.r[nodes.start[n] + k] / a[k * (d + 1)]));
    }
    for (int i = 0; i < b_.size(); ++i) speed_ = std::max(speed_, std::abs(b_[i]));
    kkt_.analyse(problem.A, rows_);
    factored_ = false;
}

int DirectIterativeSolver::flip(bool one) {
    int wrong = 0;
    double impulse = 0;
    for (int i = 0; i < lambda_.size(); ++i) impulse = std::max(impulse, std::abs(lambda_[i]));
    for (int i = static_cast<int>(lambda_.size()) - 1; i >= 0; --i) {
        if (lower_[i] == -infinity && upper_[i] == infinity) continue;
        const double slack = sign_slack * (impulse + speed_ / scale_[i]), w_slack = sign_slack * speed_;
        Side side = side_[i];
        if (lower_[i] == upper_[i])
            side = Side::lower;
        else if (side == Side::active && lambda_[i] < lower_[i] - slack)
            side = Side::lower;
        else if (side == Side::active && lambda_[i] > upper_[i] + slack)
            side = Side::upper;
        else if ((side == Side::lower && w_[i] < -w_slack) || (side == Side::upper && w_[i] > w_slack))
            side = Side::active;
        if (side == side_[i]) continue;
        if (++wrong > 1 && one) continue;
        side_[i] = side;
        active_[i] = side == Side::active;
        changed_.push_back(group_of_[i]);
    }
    return wrong;
}

bool DirectIterativeSolver::direct(const StepProblem& problem, SolveReport& report) {
    const BlockRows& H = problem.contacts.jacobian;
    const int m = problem.joints.size(), nc = problem.contacts.size();
    // r + D' p_T, and the impulses of the rows
    impulse_ = problem.r;
    w_.setZero(H.rows());
    for (int i = 0; i < nc; ++i)
        for (int k = H.row[i] + 1; k < H.row[i + 1]; ++k) w_[k] = x_.p[k];
    H.add_transpose_product(problem.nodes(), w_, impulse_);
    w_.resize(m + nc);
    for (int j = 0; j < m; ++j) lambda_[j] = x_.lambda[j];
    for (int i = 0; i < nc; ++i) lambda_[m + i] = x_.p[H.row[i]];

    int fewest = m + nc + 1, left = patience;
    bool one = false;
    for (int pivot = 0; pivot < options.max_pivots; ++pivot) {
        for (int i = 0; i < m + nc; ++i)
            if (side_[i] != Side::active) lambda_[i] = side_[i] == Side::lower ? lower_[i] : upper_[i];
        if (!factored_ || !changed_.empty()) {
            const KktSystem::Status status = factored_ ? kkt_.refactor(problem.A, rows_, factor_T_, active_, changed_)
                                                       : kkt_.factor(problem.A, rows_, factor_T_, active_);
            if (!status.ok) return false;
            factored_ = true;
            changed_.clear();
        }
        double before = infinity;
        for (int k = 0; k < max_corrections; ++k) {
            const double change = kkt_.solve(problem.A, rows_, T_, impulse_, b_, x_.v, lambda_);
            if (!std::isfinite(change)) return false;
            if (change <= 1e-15 * speed_ || change > 0.5 * before) break;
            before = change;
        }
        ++report.iterations;
        rows_.product(problem.nodes(), x_.v, w_);
        for (int i = 0; i < m + nc; ++i) w_[i] += T_[i] * lambda_[i] - b_[i];
        const int wrong = flip(one);
        if (wrong == 0) break;
        if (wrong < fewest) {
            fewest = wrong;
            left = patience;
            one = false;
        } else if (--left <= 0) {
            one = true;
        }
    }
    for (int j = 0; j < m; ++j) x_.lambda[j] = std::clamp(lambda_[j], lower_[j], upper_[j]);
    for (int i = 0; i < nc; ++i) {
        const double p_N = std::max(lambda_[m + i], 0.0);
        x_.p[H.row[i]] = p_N;
        if (p_N == 0)
            x_.modes[i] = ContactMode::open;
        else if (x_.modes[i] == ContactMode::open)
            x_.modes[i] = ContactMode::stick;
    }
    return true;
}

// v = A^-1 (r + G' lambda + H' p), then the contacts one after the other in their cones.
void DirectIterativeSolver::sweep(const StepProblem& problem) {
    const BlockRows& H = problem.contacts.jacobian;
    const Nodes& nodes = problem.nodes();
    impulse_ = problem.r;
    problem.joints.jacobian.add_transpose_product(nodes, x_.lambda, impulse_);
    H.add_transpose_product(nodes, x_.p, impulse_);
    inverse_.apply(impulse_, x_.v);
    for (int sweep = 0; sweep < options.sweeps; ++sweep) {
        bool moved = false;
        for (int i = 0; i < problem.contacts.size(); ++i) {
            const int first = H.row[i], dim = H.dim(i);
            const double* W = contact_rows_.W(i);
            double* p = x_.p.data() + first;
            double q[3] = {0, 0, 0}, next[3] = {0, 0, 0}, change[3] = {0, 0, 0};
            seen_velocity(problem, i, W, x_.v.data(), p, q);
            std::copy_n(p, dim, next);
            x_.modes[i] = solve_contact(dim, problem.contacts.friction[i], problem.contacts.facets[i], W, q, next);
            bool here = false;
            for (int r = 0; r < dim; ++r) {
                change[r] = next[r] - p[r];
                here = here || change[r] != 0;
                p[r] = next[r];
            }
            if (here) contact_rows_.push(i, change, x_.v.data());
            moved = moved || here;
        }
        if (!moved) break;
    }
}

void DirectIterativeSolver::keep_better(const StepProblem& problem, const StepSolution& x, StepSolution& solution,
                                        SolveReport& report) {
    const Residual now = residual(problem, x, residual_work_);
    if (!(now.max() < report.residual.max()) && !std::isnan(report.residual.max())) return;
    report.residual = now;
    copy_solution(x, solution);
}

SolveReport DirectIterativeSolver::solve(const StepProblem& problem, StepSolution& solution) {
    solution.size_to(problem);
    if (!solution.warm) reset_solution(solution);
    SolveReport report;
    report.solver = "direct-iterative";
    if (options.polish && (solution.warm || problem.contacts.size() == 0)) {
        if (modes_.improve(problem, solution, options.tol, report.residual)) {
            solution.warm = true;
            return report;
        }
    }
    report.residual = residual(problem, solution, residual_work_);
    if (!inverse_.factor(problem.A)) {
        report.status = Status::diverged;
        report.reason = "the matrix A is singular";
        return report;
    }
    const int m = problem.joints.size(), nc = problem.contacts.size();
    const BlockRows& H = problem.contacts.jacobian;
    contact_rows_.prepare(H, problem.S, problem.nodes(), inverse_);
    build_rows(problem);
    copy_solution(solution, x_);
    if (!x_.v.allFinite() || !x_.lambda.allFinite() || !x_.p.allFinite()) reset_solution(x_);

    // Sides: boxed rows where the guess has them, contacts closed unless a guess says open.
    side_.assign(static_cast<std::size_t>(m + nc), Side::active);
    for (int j = 0; j < m; ++j) {
        if (x_.lambda[j] <= problem.lower[j] || problem.lower[j] == problem.upper[j])
            side_[j] = Side::lower;
        else if (x_.lambda[j] >= problem.upper[j])
            side_[j] = Side::upper;
    }
    for (int i = 0; i < nc; ++i)
        if (solution.warm && x_.modes[i] == ContactMode::open) side_[m + i] = Side::lower;
    active_.assign(static_cast<std::size_t>(m + nc), 0);
    for (int i = 0; i < m + nc; ++i) active_[i] = side_[i] == Side::active;
    changed_.clear();
    last_modes_.clear();

    int next_polish = 0, extra = 0;
    bool broken = false;
    for (int round = 0; round < options.max_rounds; ++round) {
        if (!direct(problem, report)) {
            broken = true;
            break;
        }
        keep_better(problem, x_, solution, report);
        const bool repeated = x_.modes == last_modes_;
        last_modes_.assign(x_.modes.begin(), x_.modes.end());
        // The first direct solve guesses that all that is closed sticks: at rest that is the answer.
        if (options.polish &&
            (report.residual.max() <= options.tol || ((round == 0 || repeated) && round >= next_polish))) {
            copy_solution(x_, trial_);
            Residual polished;
            modes_.improve(problem, trial_, options.tol, polished);
            if (polished.max() < report.residual.max() || std::isnan(report.residual.max())) {
                report.residual = polished;
                copy_solution(trial_, solution);
            }
            next_polish = round + 1 + round / 4;
        }
        if (report.residual.max() <= exact_share * options.tol ||
            (report.residual.max() <= options.tol && (!options.polish || ++extra > extra_rounds)))
            break;
        sweep(problem);
        report.iterations += options.sweeps;
    }
    solution.warm = true;
    report.status = report.residual.max() <= options.tol ? Status::ok
                    : broken                             ? Status::diverged
                                                         : Status::not_converged;
    report.reason = report.status == Status::ok ? ""
                    : broken                    ? "the factor of joints and normals broke down; is A positive definite?"
                                                : "turns of direct solve and sweeps used up; try solver auto";
    return report;
}

}  // namespace stickslip
