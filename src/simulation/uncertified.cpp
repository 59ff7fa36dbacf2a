#include "simulation/uncertified.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/residual.hpp"
#include "simulation/policy.hpp"

namespace stickslip {

namespace {

constexpr std::size_t max_named = 4;  // contacts; more fill the screen and tell nothing new

// Contacts of the last problem that miss the tolerance, the worst few first.
std::vector<int> bad_contacts(const Step& step, double tol) {
    std::vector<int> bad;
    const StepProblem& problem = step.problem;
    const StepSolution& solution = step.solution;
    if (problem.contacts.size() == 0) return bad;
    if (solution.v.size() != problem.nodes().nv() || solution.lambda.size() != problem.joints.jacobian.rows() ||
        solution.p.size() != problem.contacts.jacobian.rows() || problem.r.size() != solution.v.size())
        return bad;
    ResidualWork work;
    static_cast<void>(residual(problem, solution, work));
    for (int i = 0; i < problem.contacts.size(); ++i)
        if (!(work.contact[i] <= tol)) bad.push_back(i);
    const auto error = [&](int i) { return std::isnan(work.contact[i]) ? infinity : work.contact[i]; };
    const auto worse = [&](int i, int j) { return error(i) != error(j) ? error(i) > error(j) : i < j; };
    const auto named = static_cast<std::ptrdiff_t>(std::min(bad.size(), max_named));
    std::partial_sort(bad.begin(), bad.begin() + named, bad.end(), worse);
    return bad;
}

}  // namespace

UncertifiedStep uncertified_step(const System& system, const Step& step, const StepReport& report, double tol) {
    UncertifiedStep told;
    told.t = report.t;
    told.step = report.number;
    told.residual = report.solve.residual.max();
    told.tol = judged_by(report.solve, tol);
    told.substeps = report.parts;
    told.compliance = report.solve.compliance;
    told.solver = report.solve.solver;
    const std::vector<int> bad = bad_contacts(step, told.tol);
    told.contacts = std::max(report.solve.uncertified_contacts, static_cast<int>(bad.size()));
    for (std::size_t k = 0; k < std::min(bad.size(), max_named); ++k) {
        told.worst.push_back(step.problem.contacts.id[bad[k]]);
        told.who.push_back(system.contact_name(told.worst.back()));
    }
    return told;
}

std::string UncertifiedStep::action() const {
    const std::string taken =
        compliance > 0 ? fmt::format("compliance {:.3g} m/s per N s", compliance) : std::string("best point");
    return substeps > 1 ? fmt::format("one of {} sub-steps, {}", substeps, taken) : taken;
}

}  // namespace stickslip
