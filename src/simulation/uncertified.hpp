// What is told of a step that was taken without a certificate.
#pragma once

#include "stickslip/simulation.hpp"

namespace stickslip {

// `step` holds its last problem; where another one was the worst, as in steps with impacts, no contacts are named. `tol` is
// for reports that do not say what they were judged by. Allocates.
UncertifiedStep uncertified_step(const System& system, const Step& step, const StepReport& report, double tol);

}  // namespace stickslip
