// State, step memory and ledger as bytes. Numbers are copied bit by bit; the format is of this build only.
#pragma once

#include <cstdint>
#include <vector>

#include "stickslip/scheme.hpp"

namespace stickslip {

std::vector<std::uint8_t> write_snapshot(const State& state, const Step& step, long steps);
// Throws Error when the bytes are not a snapshot of a system with these sizes.
void read_snapshot(const std::vector<std::uint8_t>& bytes, const System& system, State& state, Step& step, long& steps);

}  // namespace stickslip
