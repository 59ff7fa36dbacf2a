#include "solvers/island_solver.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

namespace stickslip {

namespace {

// Contacts of a batch. If smaller, starting a batch costs more than solving it; if larger, threads wait for each other.
constexpr int large = 16;
// Contacts of the problem below which it is solved as a whole: copying islands and starting threads costs more than they save, and
// islands that come and go would allocate.
constexpr int least_split = 100;

// How far an island is from its tolerance; above 1 it is not certified. NaN counts as the worst.
double distance(const SolveReport& report) {
    const double bound = report.residual.max() + report.rounding;
    if (std::isnan(bound)) return infinity;
    return bound > 0 ? bound / report.tol : 0.0;
}

// An island counts under the rung that gave its answer.
void count(SolveReport& report) { report.answered[static_cast<std::size_t>(rung_named(report.solver))] = 1; }

bool worse(const SolveReport& a, const SolveReport& b) {
    const bool a_failed = a.status != Status::ok, b_failed = b.status != Status::ok;
    return a_failed != b_failed ? a_failed : distance(a) > distance(b);
}

}  // namespace

IslandSolver::Place& IslandSolver::at(std::size_t batch) {
    while (places_.size() <= batch) {
        places_.push_back(std::make_unique<Place>());
        places_.back()->solver = make_();
        places_.back()->solver->set_budget(budget_);
    }
    return *places_[batch];
}

void IslandSolver::set_budget(const Budget& budget) {
    budget_ = budget;
    for (const auto& place : places_) place->solver->set_budget(budget);
}

bool IslandSolver::keep_history(std::vector<SweepRecord>* history) {
    whole_ = history != nullptr;
    return at(0).solver->keep_history(history);
}

void IslandSolver::make_batches() {
    batch_first_.clear();
    int contacts = 0;
    for (int k = 0; k < islands_.size(); ++k) {
        const int own = static_cast<int>(islands_.contacts(k).size());
        if (k == 0 || contacts + own > large) {
            batch_first_.push_back(k);
            contacts = 0;
        }
        contacts += own;
    }
    batch_first_.push_back(islands_.size());
}

// The one with more contacts than these, or -1.
int IslandSolver::largest_batch(int contacts) const {
    for (int batch = 0; batch + 1 < static_cast<int>(batch_first_.size()); ++batch)
        if (static_cast<int>(islands_.contacts(batch_first_[batch]).size()) > contacts) return batch;
    return -1;
}

void IslandSolver::solve_batch(int batch, const StepProblem& problem, StepSolution& solution) {
    Place& place = *places_[static_cast<std::size_t>(batch)];
    for (int k = batch_first_[batch]; k < batch_first_[batch + 1]; ++k) {
        islands_.extract(problem, k, place.problem);
        islands_.extract(problem, solution, k, place.solution);
        reports_[k] = place.solver->solve(place.problem, place.solution);
        count(reports_[k]);
        if (reports_[k].status != Status::ok) reports_[k].uncertified_contacts = static_cast<int>(islands_.contacts(k).size());
        islands_.merge(problem, k, place.solution, solution);
    }
}

SolveReport IslandSolver::merged() const {
    const SolveReport *worst = &reports_.front(), *longest = worst;
    for (const SolveReport& report : reports_) {
        if (worse(report, *worst)) worst = &report;
        if (report.factorisations > longest->factorisations) longest = &report;
    }
    SolveReport sum = *worst;
    if (sum.status == Status::ok) sum.solver = longest->solver;  // who had most to do
    sum.iterations = sum.factorisations = sum.uncertified_contacts = 0;
    sum.compliance = 0;
    sum.answered = {};
    for (const SolveReport& report : reports_) {
        sum.iterations += report.iterations;
        sum.factorisations += report.factorisations;
        sum.uncertified_contacts += report.uncertified_contacts;
        sum.compliance = std::max(sum.compliance, report.compliance);
        for (std::size_t i = 0; i < rung_count; ++i) sum.answered[i] += report.answered[i];
    }
    return sum;
}

SolveReport IslandSolver::solve(const StepProblem& problem, StepSolution& solution) {
    solution.size_to(problem);
    const bool whole = whole_ || problem.contacts.size() < least_split;
    if (!whole) islands_.split(problem);
    if (whole || islands_.size() <= 1) {
        SolveReport report = at(0).solver->solve(problem, solution);
        count(report);
        if (report.status != Status::ok) report.uncertified_contacts = problem.contacts.size();
        return report;
    }
    make_batches();
    const int batches = static_cast<int>(batch_first_.size()) - 1;
    at(static_cast<std::size_t>(batches) - 1);
    reports_.assign(static_cast<std::size_t>(islands_.size()), {});
    // An island that is most of the problem comes first, by itself: its factorisations are shared out among all threads.
    const int largest = largest_batch(problem.contacts.size() / 2);
    if (largest >= 0) solve_batch(largest, problem, solution);
    in_parallel(batches, [&](int batch) {
        if (batch != largest) solve_batch(batch, problem, solution);
    });
    solution.warm = true;
    return merged();
}

}  // namespace stickslip
