#include "solvers/lemke.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"

namespace stickslip {

namespace {

// [m/s] Above this the mode solver is asked to polish: rounding of a well-scaled problem stays far below.
constexpr double polish_above = 1e-12;
// A basic variable more negative than this, relative to the largest violation at the start, is no rounding.
constexpr double negative_tolerance = 1e-7;
// Friction this near to a corner of its polygon slips there; it only chooses where pivots start.
constexpr double corner_share = 1e-6;

// The parts of one island. (Eigen's indexed views copy the list of indices to the heap.)
void gather(const RowVec& all, const std::vector<int>& chosen, RowVec& part) {
    part.resize(static_cast<Eigen::Index>(chosen.size()));
    for (std::size_t i = 0; i < chosen.size(); ++i) part[static_cast<Eigen::Index>(i)] = all[chosen[i]];
}

void scatter(const RowVec& part, const std::vector<int>& chosen, RowVec& all) {
    for (std::size_t i = 0; i < chosen.size(); ++i) all[chosen[i]] = part[static_cast<Eigen::Index>(i)];
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
    groups_.reset(problem.nodes().size());
    groups_.join(problem.joints.jacobian);
    groups_.join(problem.contacts.jacobian);
    for (const BlockMatrix::Coupling& c : problem.A.couplings) groups_.join(c.row_node, c.column_node);

    number_.assign(static_cast<std::size_t>(groups_.size()), -1);
    island_count_ = 0;
    const auto open_island = [&] {
        if (islands_.size() == island_count_) islands_.emplace_back();
        islands_[island_count_].variables.clear();
        islands_[island_count_].blocks.clear();
        return static_cast<int>(island_count_++);
    };
    const auto add = [&](const BlockRows& rows, int group, const LcpBlock& block) {
        if (block.variables == 0) return;
        const auto blocks = rows.blocks_of(group);
        int slot = -1;
        if (!blocks.empty()) {
            int& known = number_[groups_.root_of(blocks.front().node)];
            if (known < 0) known = open_island();
            slot = known;
        } else {
            slot = open_island();  // a row that moves nothing
        }
        std::vector<int>& variables = islands_[slot].variables;
        islands_[slot].blocks.push_back(block);
        islands_[slot].blocks.back().first = static_cast<int>(variables.size());
        for (int k = 0; k < block.variables; ++k) variables.push_back(block.first + k);
    };
    const BlockRows& G = problem.joints.jacobian;
    const std::vector<int>& boxed = elimination_.boxed();
    int group = 0;
    for (std::size_t i = 0; i < boxed.size(); ++i) {
        while (G.row[group + 1] <= boxed[i]) ++group;
        add(G, group, lcp_.blocks[i]);
    }
    for (int i = 0; i < problem.contacts.size(); ++i)
        add(problem.contacts.jacobian, i, lcp_.blocks[boxed.size() + static_cast<std::size_t>(i)]);
}

// Open without impulse, slip while sigma (the slip speed in the cone's gauge) is positive, stick otherwise.
void LemkeSolver::read_modes(const StepProblem& problem, StepSolution& solution) const {
    const std::size_t boxed = elimination_.boxed().size();
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const LcpBlock& block = lcp_.blocks[boxed + static_cast<std::size_t>(i)];
        ContactMode& mode = solution.modes[i];
        const double sigma = block.directions > 0 ? z_[block.first + block.variables - 1] : 0.0;
        if (!(z_[block.first] > 0))
            mode = ContactMode::open;
        else if (block.dim > 1 && block.directions == 0)
            mode = ContactMode::slip;
        else
            mode = sigma > 0 ? ContactMode::slip : ContactMode::stick;
    }
}

// The variables that are positive when contacts and boxes keep the modes of `solution`; none when it is no guess.
void LemkeSolver::guess_basis(const StepProblem& problem, const StepSolution& solution) {
    guessed_.assign(static_cast<std::size_t>(lcp_.size()), 0);
    if (!solution.warm) return;
    z_.setZero(lcp_.size());
    elimination_.velocities(problem, solution, y_);
    lcp_.slacks(z_, y_, w_);
    const std::size_t boxed = elimination_.boxed().size();
    for (std::size_t i = 0; i < boxed; ++i) {
        const LcpBlock& block = lcp_.blocks[i];
        const double z = block.sign * (solution.lambda[elimination_.boxed()[i]] - block.anchor);
        if (block.variables > 0 && z > 0) guessed_[block.first] = 1;
        if (block.variables == 2 && z >= block.width) guessed_[block.first + 1] = 1;
    }
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const LcpBlock& block = lcp_.blocks[boxed + static_cast<std::size_t>(i)];
        const ContactMode mode = solution.modes[i];
        char* in = guessed_.data() + block.first;
        if (mode == ContactMode::open) {
            // sigma is the speed of sliding all the same, at the corner of most dissipation (whose beta is zero)
            if (block.directions == 0) continue;
            const double* w = w_.data() + block.first + 1;
            const auto corner = std::min_element(w, w + block.directions) - w;
            in[1 + corner] = in[block.variables - 1] = 1;
            continue;
        }
        in[0] = 1;
        if (block.directions == 0) continue;
        const double* p = solution.p.data() + problem.contacts.jacobian.row[i];
        if (mode == ContactMode::slip) in[block.variables - 1] = 1;
        if (block.dim == 2) {
            in[p[1] < 0 ? 2 : 1] = 1;
            continue;
        }
        // The facet that friction points to: both of its corners, or when it slips at a corner, that one.
        const Polygon& section = polygon(block.facets);
        const Vec2 p_T(p[1], p[2]);
        int facet = 0;
        for (int j = 1; j < section.facets; ++j)
            if (section.outward[j].dot(p_T) > section.outward[facet].dot(p_T)) facet = j;
        const Vec2 o = section.outward[facet];
        const double along = o[0] * p_T[1] - o[1] * p_T[0];
        const bool at_corner =
            mode == ContactMode::slip && std::abs(along) >= (1 - corner_share) * block.mu * p[0] * section.half_edge;
        const int next = (facet + 1) % section.facets;
        if (!at_corner || along < 0) in[1 + facet] = 1;
        if ((!at_corner || along >= 0) && section.facets > 2) in[1 + next] = 1;
    }
}

SolveReport LemkeSolver::pivot(const StepProblem& problem, double far, StepSolution& solution) {
    SolveReport report;
    report.solver = "lemke";
    elimination_.compute(problem, far);
    if (!to_lcp(problem, elimination_, lcp_, options_.max_entries)) {
        report.status = Status::not_converged;
        report.residual = residual(problem, solution, residual_work_);
        report.reason = "too many contacts share a body for a dense matrix; raise max_entries or use auto";
        return report;
    }
    find_islands(problem);
    guess_basis(problem, solution);
    z_.setZero(lcp_.size());

    const auto blame = [&](Status status, const char* reason) {
        if (report.status != Status::ok) return;
        report.status = status;
        report.reason = reason;
    };
    for (std::size_t s = 0; s < island_count_; ++s) {
        Island& island = islands_[s];
        const bool whole = island_count_ == 1;
        if (!whole) {
            place_.assign(static_cast<std::size_t>(lcp_.size()), -1);
            for (std::size_t i = 0; i < island.variables.size(); ++i) place_[island.variables[i]] = static_cast<int>(i);
            island.M.gather(lcp_.M, island.variables, place_);
            gather(lcp_.q, island.variables, island.q);
        }
        const SparseSquare& M = whole ? lcp_.M : island.M;
        const RowVec& q = whole ? lcp_.q : island.q;
        basis_.clear();
        for (const int variable : island.variables) basis_.push_back(guessed_[variable]);
        if (q.minCoeff() < 0) improve_basis(M, q, island.blocks, basis_);
        crash_.clear();
        for (std::size_t i = 0; i < basis_.size(); ++i)
            if (basis_[i]) crash_.push_back(static_cast<int>(i));
        const LemkePivots::Outcome outcome = island.pivots.solve(M, q, options_.max_pivots, z_island_, crash_);
        report.iterations += island.pivots.pivots();
        work_.crash += island.pivots.crash_size();
        scatter(z_island_, island.variables, z_);
        if (outcome == LemkePivots::Outcome::ray)
            blame(Status::infeasible,
                  "contacts, joints or limits contradict each other: Lemke's method ended on a ray");
        if (outcome == LemkePivots::Outcome::pivot_limit)
            blame(Status::not_converged, "pivot limit reached; raise max_pivots or use nsgs");
        if (outcome == LemkePivots::Outcome::lost)
            blame(Status::not_converged,
                  "rounding spoiled the basis; use nsgs, or add compliance to redundant contacts");
        if (island.pivots.negative() > negative_tolerance)
            blame(Status::not_converged, "the final basis has negative impulses or gaps beyond rounding");
    }

    // Recover v and lambda; then correct z with the slacks of the problem's own data, and keep the better one.
    Residual best;
    best.contacts = infinity;
    for (int round = 0; round < 3; ++round) {
        inside_ = z_.vec().cwiseMax(0.0);
        lcp_.impulses(inside_, x_);
        trial_.size_to(problem);
        elimination_.recover(problem, x_, trial_);
        const Residual now = residual(problem, trial_, residual_work_);
        if (round > 0 && !(now.max() < best.max())) break;
        best = now;
        best_z_ = inside_;
        solution.v = trial_.v;
        solution.lambda = trial_.lambda;
        solution.p = trial_.p;
        if (report.status != Status::ok) break;
        elimination_.velocities(problem, trial_, y_);
        lcp_.slacks(inside_, y_, w_);
        z_ = inside_;
        for (std::size_t s = 0; s < island_count_; ++s) {
            Island& island = islands_[s];
            gather(z_, island.variables, z_island_);
            gather(w_, island.variables, w_island_);
            island.pivots.refine(w_island_, z_island_);
            scatter(z_island_, island.variables, z_);
        }
    }
    z_ = best_z_;
    work_.pivots += report.iterations;
    read_modes(problem, solution);
    report.residual = best;
    return report;
}

// A warm step without pivots: from the modes of the last step, and where these are not exact (a basis with idle corners
// is ill conditioned) from all contacts that close; the better of the two.
bool LemkeSolver::from_modes(const StepProblem& problem, StepSolution& solution, SolveReport& report) {
    mode_solver_.improve(problem, solution, options_.tol, report.residual);
    report.iterations = mode_solver_.iterations();
    work_.factorisations += mode_solver_.factorisations();
    if (report.residual.max() <= polish_above) return true;
    trial_.size_to(problem);
    mode_solver_.guess(problem, trial_);
    Residual again;
    mode_solver_.improve(problem, trial_, options_.tol, again);
    report.iterations += mode_solver_.iterations();
    work_.factorisations += mode_solver_.factorisations();
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
    work_ = {};
    solution.size_to(problem);
    if (needs_any_disc(problem)) {
        report.status = Status::infeasible;
        report.reason = "lemke needs polygon cones; set contacts.cone: {polygon: 8} or use nsgs";
        report.residual = residual(problem, solution, residual_work_);
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
        work_.factorisations += mode_solver_.factorisations();
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
