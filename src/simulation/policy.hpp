// Who judges a step. `certify` retries a step above the tolerance with stronger solvers and refuses it if none
// succeeds; `budget` takes what the solver gave and states the residual.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stickslip/simulation.hpp"

namespace stickslip {

// The solver of a run: the one asked for and, under `certify`, `auto` behind it.
std::unique_ptr<Solver> make_run_solver(const RunSettings& settings);

// [m/s] The tolerance in force: the option `tol` of the solver, else the default. Reads text: ask once per run.
double run_tolerance(const RunSettings& settings);

// What a step is judged by.
struct StepRules {
    bool certify = true;
    double tol = default_tolerance;  // [m/s] of its residual
};

// Empty if the step may be taken, else the sentence that refuses it.
std::string objection(const StepRules& rules, const System& system, const StepReport& report, const State& x,
                      const Step& record, long step);

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
