// A run's summary as JSON (the contract of `--json`) and as text.
#pragma once

#include <string>

#include "stickslip/simulation.hpp"

namespace stickslip::cli {

std::string summary_json(const Simulation& simulation, const RunSummary& summary);
std::string summary_text(const Simulation& simulation, const RunSummary& summary);
std::string profile_text(const RunSummary& summary);

}  // namespace stickslip::cli
