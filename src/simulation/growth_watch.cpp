#include "simulation/growth_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace stickslip {

namespace {

// Steps in a row in which the scheme has made more than all that is at hand. If fewer, loads that change faster than the step, and
// velocities that swing about the right ones, stop runs that are only inaccurate; if more, bodies fly about before anybody is told.
constexpr long grown_steps = 5;
// Times the energy at hand: so much in two steps is no inaccuracy. One step alone may be the first, in which weight gives speed and nothing has
// fallen yet.
constexpr double explosion = 100;
constexpr long exploded_steps = 2;
// Times the energy that was at hand and that loads and motors have driven through: so much in the account of the scheme, which something
// else took again, is no motion either. If smaller, coarse steps are stopped; if larger, a damper hides what a step makes.
constexpr double absurd = 10;
// Of the energy of a typical body: less is no motion. If zero, rounding of things at rest would stop runs.
constexpr double no_motion = 1e-3;
// h times the rate of a force from which on the step is not short for it; methods of order three to five are stable up to 2.5 to 3.5.
constexpr double resolved_turn = 2;

double total(const Energies& e) { return e.kinetic + e.potential + e.elastic; }

}  // namespace

bool GrowthWatch::unstable(const EnergyLedger& ledger, double typical) {
    const EnergyFlows& now = ledger.flows();
    const EnergyFlows& old = memory.flows;
    const Energies &start = ledger.start(), &end = ledger.now();
    const double edits = now.edits - old.edits;
    const double work = (now.applied_work - old.applied_work) + (now.motor_work - old.motor_work) -
                        (now.friction_loss - old.friction_loss) - (now.impact_loss - old.impact_loss) -
                        (now.regularisation_loss - old.regularisation_loss);
    const double gain = total(end) - total(memory.last) - edits;
    memory.work += std::max(0.0, std::min(work, gain)) + std::max(0.0, edits);
    memory.driven += std::max(0.0, now.applied_work - old.applied_work + now.motor_work - old.motor_work);
    memory.flows = now;
    memory.last = end;
    memory.fall = std::max(memory.fall, start.potential - end.potential);
    at_hand_ = start.kinetic + start.elastic + memory.work + memory.fall;
    made_ = total(end) - total(start) - memory.work;
    memory.grown = made_ > at_hand_ + no_motion * typical ? memory.grown + 1 : 0;
    if (memory.grown >= grown_steps) return true;
    if (memory.grown >= exploded_steps && made_ > explosion * at_hand_ + typical) return true;
    memory.most_lost = std::max(memory.most_lost, now.scheme_loss);
    const double booked = memory.most_lost - now.scheme_loss;
    const double spent = at_hand_ + memory.driven;
    if (!(spent > no_motion * typical) || !(booked > absurd * spent + typical)) return false;
    made_ = booked;
    return true;
}

bool implicit_in_springs(std::string_view scheme) {
    constexpr std::string_view explicit_ones[] = {"hem5",  "hem4", "hem3",   "phem56", "dopri5",
                                                  "rkf45", "rk4",  "hybrid", "rattle"};
    return std::find(std::begin(explicit_ones), std::end(explicit_ones), scheme) == std::end(explicit_ones);
}

std::string stiffness_advice(const System& system, const State& x, const std::string& scheme, double h) {
    const StiffForce stiff = stiffest_force(system, x);
    if (!(stiff.rate * h > resolved_turn)) return {};
    const std::string cause = fmt::format("{} acts within {:.2g} s, and the step is {:.3g} s", stiff.who, 1 / stiff.rate, h);
    if (implicit_in_springs(scheme))
        return fmt::format("{}: take a smaller step, or {}", cause,
                           scheme == "trapezoidal" ? "linear-implicit-euler, which damps" : "trapezoidal");
    return fmt::format(
        "{}, too long for an explicit method: take steps below {:.1g} s, step control (--tol), or an implicit scheme "
        "(trapezoidal, generalized-alpha)",
        cause, resolved_turn / stiff.rate);
}

}  // namespace stickslip
