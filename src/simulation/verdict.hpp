// The verdict on a run (struct Verdict): what its steps showed, compared with limits that say when a user should doubt the result.
// Every ground is a number above its limit. Things that are no errors, such as forces that are not unique, are remarks.
#pragma once

#include "simulation/evidence.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

// What is known only when the run has ended.
struct RunFacts {
    double tol = default_tolerance;              // [m/s] of a refused step's residual
    double energy_at_hand = 0;                   // [J] EnergyLedger::at_hand
    int order = 1;                               // of the scheme in smooth motion
    std::vector<std::string> shared_contacts{};  // whose forces are not unique at the end,
    bool smallest_given = true;                  // and whether all of them are the smallest
    Tolerances tolerances{};
};

Verdict judge_run(const System& system, const RunSummary& summary, const Evidence& evidence, const RunFacts& facts);

// The impact law by the name of the scheme's option, or what schemes without a choice have.
std::string impact_law(const Selection& scheme);

// The order of a scheme in smooth motion, as its table says.
int scheme_order(const std::string& scheme);

}  // namespace stickslip
