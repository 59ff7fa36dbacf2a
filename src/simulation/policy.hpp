// Who judges a step. A step that the chosen solver cannot certify is tried again with stronger ones, except under `budget`. What
// none certifies is refused under `certify` and taken under `degrade` (after sub-steps, substeps.hpp) and `budget`. Steps that
// are no mechanics are refused under all of them: numbers that are not finite, energy that cannot be accounted for, bodies that passed
// through each other, joints that came apart, rows that contradict each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stickslip/simulation.hpp"

namespace stickslip {

// Share of the energy scale. Rounding stays below 1e-12 of it in every scene; what is above is no longer mechanics.
inline constexpr double ledger_tolerance = 1e-8;

// The policy of a run, whichever way it was given.
Policy policy_of(const RunSettings& settings);

// The solver of a run: the one asked for and, unless on a budget, `auto` behind it.
std::unique_ptr<Solver> make_run_solver(const RunSettings& settings);

// Whether steps are judged by a share of the speeds of each island: where no tolerance is given, and the scheme takes whole steps.
bool judged_in_proportion(const RunSettings& settings);

// [m/s] The tolerance in force: the option `tol` of the solver, else the default. Reads text: ask once per run.
double run_tolerance(const RunSettings& settings);

// [m/s] What a solve was judged by; `otherwise` if its report does not say.
inline double judged_by(const SolveReport& report, double otherwise) { return report.tol > 0 ? report.tol : otherwise; }

// What a step is judged by.
struct StepRules {
    Policy policy = Policy::degrade;
    double tol = default_tolerance;  // [m/s] of its residual, where the report does not say
    bool search = true;  // look for contradictions in every step that was not solved; else where the solver claims one
};

// Empty unless the step is no mechanics, whatever its residual: the sentence that refuses it under every policy. `inexact` is the
// energy [J] that residuals of the run explain (inexact_energy.hpp).
std::string wrong_motion(const System& system, const StepReport& report, const State& x, const Step& record, long step,
                         double inexact = 0);

// Empty if the step from `start` to `x` may be taken, else the sentence that refuses it.
std::string objection(const StepRules& rules, const System& system, const StepReport& report, const State& start,
                      const State& x, const Step& record, long step, double inexact = 0);

// Empty unless an overlap is so deep that bodies have passed through each other.
std::string tunnelling(const System& system, double overlap, const ContactId& contact, double t);

// Empty unless a joint is so far open that it no longer joins.
std::string torn_joint(const System& system, const BilateralRows& joints, double t);

// A sliding contact whose friction is above the critical one: Painleve's paradox.
struct Paradox {
    ContactId contact;
    double t = 0;  // [s] first seen
    double friction = 0, critical_friction = 0;
    ContactMode after = ContactMode::open;  // what the step made of it
};
std::string paradox_warning(const System& system, const Paradox& paradox, long steps);

// What a user should know besides the verdict: drift and gains that are visible and yet no reason to doubt the run, and bounces that
// were ended.
std::vector<std::string> warnings(const RunSummary& summary, const Tolerances& tolerances = {});

}  // namespace stickslip
