#include "simulation/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fields.hpp"
#include "problems/residual.hpp"
#include "stickslip/contradiction.hpp"

namespace stickslip {

namespace {

class CertifyingSolver final : public Solver {
public:
    CertifyingSolver(std::unique_ptr<Solver> first, std::unique_ptr<Solver> stronger)
        : first_(std::move(first)), stronger_(std::move(stronger)) {}

    SolveReport solve(const StepProblem& problem, StepSolution& solution) override {
        guess_.v = solution.v;
        guess_.lambda = solution.lambda;
        guess_.p = solution.p;
        guess_.modes = solution.modes;
        guess_.warm = solution.warm;
        const SolveReport report = first_->solve(problem, solution);
        if (report.status == Status::ok) return report;
        // The guess may have misled the first solver, its result may be garbage: the second starts from the better.
        if (!(report.residual.max() <= residual(problem, guess_, residual_work_).max())) solution = guess_;
        SolveReport retry = stronger_->solve(problem, solution);
        retry.iterations += report.iterations;
        return retry;
    }
    void set_budget(const Budget& budget) override {
        first_->set_budget(budget);
        stronger_->set_budget(budget);
    }

private:
    std::unique_ptr<Solver> first_, stronger_;
    StepSolution guess_;
    ResidualWork residual_work_;
};

}  // namespace

Policy policy_of(const RunSettings& settings) {
    if (!settings.certify) return settings.policy;
    return *settings.certify ? Policy::certify : Policy::budget;
}

double run_tolerance(const RunSettings& settings) {
    for (const OptionValue& option : settings.solver.options)
        if (option.key == "tol") return parse_number(option.text, option.place);
    return default_tolerance;
}

Tolerances run_tolerances(const Model& model) {
    const OptionValues& given = model.run.tolerances;
    const auto check = [&](const char* name, double& member, const char* unit, const char*) {
        require(member > 0 && member < infinity, fmt::format("{} must be positive and finite [{}]", name, unit).c_str(),
                given, name);
    };
    Scales scales = model.system->scales(model.state);
    OptionValues sizes, others;
    for (const OptionValue& value : given) {
        bool size = false;
        scales.fields([&](const char* name, double&, const char*, const char*) { size = size || value.key == name; });
        (size ? sizes : others).push_back(value);
    }
    assign_fields(scales, sizes, "run.tolerances");
    scales.fields(check);
    Tolerances tolerances = derived_tolerances(scales);
    assign_fields(tolerances, others, "run.tolerances");
    tolerances.fields(check);
    return tolerances;
}

bool judged_in_proportion(const RunSettings& settings) {
    const auto& options = settings.solver.options;
    if (std::any_of(options.begin(), options.end(), [](const OptionValue& option) { return option.key == "tol"; }))
        return false;
    // Their impulses are those of whole steps. Schemes that locate events ask for accelerations, in velocities over short times, and
    // decide by their signs: speeds are no scale for these.
    const std::string& scheme = settings.scheme.name;
    return scheme == "moreau-jean" || scheme == "stewart-trinkle";
}

std::unique_ptr<Solver> make_run_solver(const RunSettings& settings) {
    OptionValues tol;
    for (const OptionValue& option : settings.solver.options)
        if (option.key == "tol") tol.push_back(option);
    OptionValues options = settings.solver.options;
    if (tol.empty() && !judged_in_proportion(settings)) {
        tol.push_back({"tol", fmt::format("{}", default_tolerance), {}});
        options.push_back(tol.back());
    }
    auto solver = make_solver(settings.solver.name, options, settings.solver.place);
    if (settings.policy == Policy::budget || settings.solver.name == "auto") return solver;
    return std::make_unique<CertifyingSolver>(std::move(solver), make_solver("auto", tol));
}

namespace {

// Empty unless rows of the problem exclude each other: who they are, and by how much.
std::string contradicting(const System& system, const StepProblem& problem) {
    const Contradiction found = find_contradiction(problem);
    if (!found) return {};
    const auto name = [&](const Contradiction::Part& part) {
        if (!part.joint) return system.contact_name(problem.contacts.id[part.index]);
        int group = 0;
        while (problem.joints.jacobian.row[group + 1] <= part.index) ++group;
        return fmt::format("joint '{}'", system.joint_name(problem.joints.id[group]));
    };
    return fmt::format(
        "{}; the best velocities still miss one of them by {:.3g} m/s. Mend the poses, take a smaller step or less "
        "stabilisation, or give a contact a compliance",
        contradiction_text(found, name), found.speed);
}

}  // namespace

std::string wrong_motion(const System& system, const StepReport& report, const State& x, const Step& record, long step,
                         double inexact) {
    const EnergyLedger& ledger = record.ledger;
    for (Eigen::Index i = 0; i < x.q.size(); ++i)
        if (!std::isfinite(x.q[i]))
            return fmt::format("step {} at t = {:.9g} s: coordinate '{}' is not finite; try a smaller step", step,
                               report.t, system.coordinate_names()[i]);
    for (Eigen::Index i = 0; i < x.v.size(); ++i)
        if (!std::isfinite(x.v[i]))
            return fmt::format("step {} at t = {:.9g} s: velocity {} is not finite; try a smaller step", step, report.t,
                               i);
    if (!std::isfinite(ledger.imbalance()))
        return fmt::format(
            "step {} at t = {:.9g} s: the energy is not finite; masses, speeds or forces are out of range", step,
            report.t);
    if (std::abs(ledger.imbalance()) > ledger_tolerance * ledger.scale() + record.tolerances.thermal_energy + inexact)
        return fmt::format(
            "step {} at t = {:.9g} s: {:.3g} J of {:.3g} J cannot be accounted for; sizes differ too much for the "
            "arithmetic",
            step, report.t, ledger.imbalance(), ledger.scale());
    if (const std::string no = tunnelling(system, record.violation.gap, record.violation.deepest, report.t);
        !no.empty())
        return fmt::format("step {}: {}", step, no);
    if (const std::string no = torn_joint(system, record.problem.joints, report.t); !no.empty())
        return fmt::format("step {}: {}", step, no);
    return {};
}

std::string objection(const StepRules& rules, const System& system, const StepReport& report, const State& start,
                      const State& x, const Step& record, long step, double inexact) {
    if (const std::string no = wrong_motion(system, report, x, record, step, inexact); !no.empty()) return no;
    if (report.status == Status::ok) return {};
    if (rules.search || report.status == Status::infeasible)
        if (const std::string no = contradicting(system, record.problem); !no.empty())
            return fmt::format("step {} at t = {:.9g} s has no solution: {}", step, report.t, no);
    const double worst = report.solve.residual.max(), tol = judged_by(report.solve, rules.tol);
    // A scheme that fails between its solves has not moved: there is no step to take.
    const bool not_taken = report.solve.status == Status::ok && x.t == start.t;
    if (*report.reason && (not_taken || (rules.policy == Policy::certify && worst <= tol)))
        return fmt::format("step {} at t = {:.9g} s could not be taken: {}", step, report.t, report.reason);
    if (rules.policy != Policy::certify) return {};
    return fmt::format(
        "step {} at t = {:.9g} s could not be certified: {} left a residual of {:.3g} m/s, tolerance {:.3g} ({}{}{}). "
        "Try another solver, a larger solver.tol, a smaller step, or policy degrade, which takes such steps and lists "
        "them",
        step, report.t, report.solve.solver, worst, tol, to_string(report.status), *report.reason ? ": " : "",
        report.reason);
}

std::string tunnelling(const System& system, double overlap, const ContactId& contact, double t) {
    if (!(overlap > 0)) return {};
    const double limit = system.overlap_limit(contact);
    if (!(overlap > limit)) return {};
    return fmt::format(
        "{} overlap by {:.3g} m at t = {:.9g} s, more than half the thickness of a body ({:.3g} m): they start or have "
        "passed through each other; mend the poses or take a smaller step",
        system.contact_name(contact), overlap, t, limit);
}

std::string torn_joint(const System& system, const BilateralRows& joints, double t) {
    for (int g = 0; g < joints.jacobian.groups(); ++g) {
        const int first = joints.jacobian.row[g];
        for (int i = 0; i < joints.jacobian.dim(g); ++i) {
            const double open = std::abs(joints.value[first + i]);
            if (joints.kind[first + i] != RowKind::holonomic || open == 0) continue;
            const double limit = system.opening_limit(joints.id[g], i);
            if (!(open > limit)) continue;
            return fmt::format(
                "joint '{}' is open by {:.3g} (m or rad) at t = {:.9g} s, more than the {:.3g} its bodies allow: "
                "it starts or has come apart; mend the poses, take a smaller step, or set scheme.projection=both",
                system.joint_name(joints.id[g]), open, t, limit);
        }
    }
    return {};
}

std::string paradox_warning(const System& system, const Paradox& paradox, long steps) {
    const char* did = "let it go";
    if (paradox.after == ContactMode::stick) did = "stopped the slip by an impact without collision";
    if (paradox.after == ContactMode::slip) did = "let it slide on";
    return fmt::format(
        "Painleve's paradox at {} from t = {:.6g} s ({} steps in all): friction {:.4g} is above {:.4g}, where pressing "
        "the "
        "sliding contact together presses it apart, so rigid bodies have no contact force or several; the step {}",
        system.contact_name(paradox.contact), paradox.t, steps, paradox.friction, paradox.critical_friction, did);
}

std::vector<std::string> warnings(const RunSummary& summary, const Tolerances& tolerances) {
    std::vector<std::string> list;
    const auto told = [&](const char* kind) {
        const auto& grounds = summary.verdict.grounds;
        return std::any_of(grounds.begin(), grounds.end(), [&](const auto& ground) { return ground.kind == kind; });
    };
    // Below nobody would see the drift; above, the step is too long for the motion or wants stabilisation.
    if (summary.gap_violation_max > tolerances.visible_error && !told("overlap"))
        list.push_back(fmt::format("bodies overlap by up to {:.2g} m: take a smaller step", summary.gap_violation_max));
    if (summary.joint_violation.position_max > tolerances.visible_error && !told("joint"))
        list.push_back(
            fmt::format("joints drift apart by up to {:.2g} m: take a smaller step, or set scheme.stabilisation=1 "
                        "(best with theta=1)",
                        summary.joint_violation.position_max));
    if (summary.impact_gains.count > 0 && !told("impact-energy"))
        list.push_back(
            fmt::format("impacts made {:.3g} J in {} steps: Poisson's and Newton's law with friction may; "
                        "poisson-simple, or one restitution on normals and tangents, never does",
                        summary.impact_gains.energy, summary.impact_gains.count));
    std::string accumulations;
    long more = 0;
    for (const Event& event : summary.events) {
        if (event.kind != EventKind::accumulation) continue;
        if (++more <= 3) accumulations += fmt::format("{}{:.6g} s", more > 1 ? ", " : "", event.t);
    }
    if (more > 0)
        list.push_back(
            fmt::format("impacts accumulated (Zeno) and were ended at rest; they would have ended at t = {}{}",
                        accumulations, more > 3 ? fmt::format(" and {} more times", more - 3) : ""));
    return list;
}

}  // namespace stickslip
