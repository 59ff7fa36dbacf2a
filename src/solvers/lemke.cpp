#include "solvers/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stickslip {

namespace {

// [m/s] Above this the mode solver is asked to polish: rounding of a well-scaled problem stays far below.
constexpr double polish_above = 1e-12;
// A basic variable more negative than this, relative to the largest violation at the start, is no rounding.
constexpr double negative_tolerance = 1e-7;

int find_root(std::vector<int>& parent, int i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
        int& p = parent[static_cast<std::size_t>(i)];
        p = parent[static_cast<std::size_t>(p)];
        i = p;
    }
    return i;
}

void join(std::vector<int>& parent, int a, int b) {
    a = find_root(parent, a);
    b = find_root(parent, b);
    parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
}

void join_groups(std::vector<int>& parent, const BlockRows& rows) {
    for (int g = 0; g < rows.groups(); ++g) {
        const auto blocks = rows.blocks_of(g);
        for (const BlockRows::Block& b : blocks) join(parent, blocks.front().node, b.node);
    }
}

// Bounds beyond any impulse this problem can call for count as absent: anchoring an unknown at 1e9 would cost
// nine digits. The momentum that could be stopped, times a thousand, is such a bound.
double far_impulse(const StepProblem& problem) {
    double largest = 0;
    for (Eigen::Index i = 0; i < problem.r.size(); ++i) largest = std::max(largest, std::abs(problem.r[i]));
    return largest > 0 ? 1e3 * largest : infinity;
}

}  // namespace

// Rows that share a node, directly or through joints and couplings, are one island; numbered by their lowest node.
void LemkeSolver::find_islands(const StepProblem& problem) {
    std::vector<int> parent(static_cast<std::size_t>(problem.nodes().size()));
    std::iota(parent.begin(), parent.end(), 0);
    join_groups(parent, problem.joints.jacobian);
    join_groups(parent, problem.contacts.jacobian);
    for (const BlockMatrix::Coupling& c : problem.A.couplings) join(parent, c.row_node, c.column_node);

    std::vector<int> number(parent.size(), -1);
    for (std::vector<int>& island : islands_) island.clear();
    std::size_t count = 0;
    const auto add = [&](const BlockRows& rows, int group, const LcpBlock& block) {
        if (block.variables == 0) return;
        const auto blocks = rows.blocks_of(group);
        int slot = -1;
        if (!blocks.empty()) {
            int& known = number[static_cast<std::size_t>(find_root(parent, blocks.front().node))];
            if (known < 0) known = static_cast<int>(count++);
            slot = known;
        } else {
            slot = static_cast<int>(count++);  // a row that moves nothing
        }
        if (islands_.size() < count) islands_.resize(count);
        for (int k = 0; k < block.variables; ++k) islands_[static_cast<std::size_t>(slot)].push_back(block.first + k);
    };
    const BlockRows& G = problem.joints.jacobian;
    const std::vector<int>& boxed = elimination_.boxed();
    int group = 0;
    for (std::size_t i = 0; i < boxed.size(); ++i) {
        while (G.row[static_cast<std::size_t>(group) + 1] <= boxed[i]) ++group;
        add(G, group, lcp_.blocks[i]);
    }
    for (int i = 0; i < problem.contacts.size(); ++i)
        add(problem.contacts.jacobian, i, lcp_.blocks[boxed.size() + static_cast<std::size_t>(i)]);
    islands_.resize(count);
}

// Open without impulse, slip while sigma (the slip speed in the cone's gauge) is positive, stick otherwise.
void LemkeSolver::read_modes(const StepProblem& problem, StepSolution& solution) const {
    const std::size_t boxed = elimination_.boxed().size();
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const LcpBlock& block = lcp_.blocks[boxed + static_cast<std::size_t>(i)];
        ContactMode& mode = solution.modes[static_cast<std::size_t>(i)];
        const double sigma = block.directions > 0 ? z_[block.first + block.variables - 1] : 0.0;
        if (!(z_[block.first] > 0))
            mode = ContactMode::open;
        else if (block.dim > 1 && block.directions == 0)
            mode = ContactMode::slip;
        else
            mode = sigma > 0 ? ContactMode::slip : ContactMode::stick;
    }
}

SolveReport LemkeSolver::pivot(const StepProblem& problem, double far, StepSolution& solution) {
    SolveReport report;
    report.solver = "lemke";
    elimination_.compute(problem, far);
    to_lcp(problem, elimination_, lcp_);
    find_islands(problem);
    z_.setZero(lcp_.size());
    M_.resize(islands_.size());
    q_.resize(islands_.size());
    pivots_.resize(islands_.size());

    const auto blame = [&](Status status, const char* reason) {
        if (report.status != Status::ok) return;
        report.status = status;
        report.reason = reason;
    };
    VecX z;
    for (std::size_t s = 0; s < islands_.size(); ++s) {
        const std::vector<int>& island = islands_[s];
        const bool whole = islands_.size() == 1;
        if (!whole) {
            M_[s] = lcp_.M(island, island);
            q_[s] = lcp_.q(island);
        }
        const LemkePivots::Outcome outcome =
            pivots_[s].solve(whole ? lcp_.M : M_[s], whole ? lcp_.q : q_[s], options_.max_pivots, z);
        report.iterations += pivots_[s].pivots();
        z_(island) = z;
        if (outcome == LemkePivots::Outcome::ray)
            blame(Status::infeasible,
                  "contacts, joints or limits contradict each other: Lemke's method ended on a ray");
        if (outcome == LemkePivots::Outcome::pivot_limit)
            blame(Status::not_converged, "pivot limit reached; raise max_pivots or use nsgs");
        if (outcome == LemkePivots::Outcome::lost)
            blame(Status::not_converged,
                  "rounding spoiled the basis; use nsgs, or add compliance to redundant contacts");
        if (pivots_[s].negative() > negative_tolerance)
            blame(Status::not_converged, "the final basis has negative impulses or gaps beyond rounding");
    }

    // Recover v and lambda; then correct z with the slacks of the problem's own data, and keep the better one.
    VecX x, y, w, best_z;
    Residual best;
    best.contacts = infinity;
    for (int round = 0; round < 3; ++round) {
        const VecX inside = z_.cwiseMax(0.0);
        lcp_.impulses(inside, x);
        trial_.size_to(problem);
        elimination_.recover(problem, x, trial_);
        const Residual now = residual(problem, trial_);
        if (round > 0 && !(now.max() < best.max())) break;
        best = now;
        best_z = inside;
        solution.v = trial_.v;
        solution.lambda = trial_.lambda;
        solution.p = trial_.p;
        if (report.status != Status::ok) break;
        elimination_.velocities(problem, trial_, y);
        lcp_.slacks(inside, y, w);
        z_ = inside;
        for (std::size_t s = 0; s < islands_.size(); ++s) {
            z = z_(islands_[s]);
            const VecX w_s = w(islands_[s]);
            pivots_[s].refine(w_s, z);
            z_(islands_[s]) = z;
        }
    }
    z_ = best_z;
    read_modes(problem, solution);
    report.residual = best;
    return report;
}

// A warm step without pivots: from the modes of the last step, and where these are not exact (a basis with idle corners
// is ill conditioned) from all contacts that close; the better of the two.
bool LemkeSolver::from_modes(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    mode_solver_.improve(problem, solution, options_.tol, report.residual);
    report.iterations = mode_solver_.iterations();
    if (report.residual.max() <= polish_above) return true;
    trial_.size_to(problem);
    mode_solver_.guess(problem, trial_);
    Residual again;
    mode_solver_.improve(problem, trial_, options_.tol, again);
    report.iterations += mode_solver_.iterations();
    if (again.max() < report.residual.max()) {
        report.residual = again;
        solution.v = trial_.v;
        solution.lambda = trial_.lambda;
        solution.p = trial_.p;
        solution.modes.assign(trial_.modes.begin(), trial_.modes.end());
    }
    return report.residual.max() <= options_.tol;
}

SolveReport LemkeSolver::solve(const StepProblem& problem, StepSolution& solution) {
    SolveReport report;
    report.solver = "lemke";
    solution.size_to(problem);
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (!needs_disc(problem.contacts, i)) continue;
        report.status = Status::infeasible;
        report.reason = "lemke needs polygon cones; set contacts.cone: {polygon: 8} or use nsgs";
        report.residual = residual(problem, solution);
        return report;
    }
    if (solution.warm && from_modes(problem, solution, report)) return report;

    const double far = far_impulse(problem);
    report = pivot(problem, far, solution);
    // An impulse beyond a bound that was thought out of reach shows in the residual.
    bool any_far = false;
    for (int j = 0; j < problem.joints.size(); ++j) {
        const bool finite = problem.lower[j] > -infinity || problem.upper[j] < infinity;
        any_far = any_far || (finite && problem.lower[j] <= -far && problem.upper[j] >= far);
    }
    if (any_far && (report.status != Status::ok || !(report.residual.max() <= options_.tol)))
        report = pivot(problem, infinity, solution);

    // polish what rounding left; when the pivots failed this is the last try
    if (!(report.residual.max() <= polish_above)) {
        Residual polished;
        mode_solver_.improve(problem, solution, polish_above, polished);
        report.residual = polished;
    }
    if (report.residual.max() <= options_.tol) {
        report.status = Status::ok;
        report.reason = "";
    } else if (report.status == Status::ok) {
        report.status = Status::not_converged;
        report.reason = "rounding keeps the residual above the tolerance; raise solver.tol or use nsgs";
    }
    solution.warm = true;
    return report;
}

}  // namespace stickslip
