// Energy that grows without a reason: the sign of a step that is too long for the scheme. What the run has had at hand is
//
//   T + E at the start + sum over the steps of max(0, work of loads, motors, impacts, stabilisation and edits) + the deepest fall of U
//
// and the energy T + U + E may exceed its start by that work and no more. Of the work of a step counts what has arrived in the energy: the
// power of a stiff damper, summed with the weights of a method, some of which are negative, may be anything. Errors of a good run are a few
// percent of what is at hand (verdict.hpp doubts it from one percent on). A run in which the scheme has made as much again as there ever was,
// for several steps, or a hundred times as much in one, or ten times as much that dampers took again, is unstable and ends.
#pragma once

#include <string>
#include <string_view>

#include "diagnose/stiffness.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

class GrowthWatch {
public:
    // Of the steps so far; in snapshots.
    struct Memory {
        EnergyFlows flows;
        double work = 0;  // [J] put in
        double fall = 0;  // [J] of the potential energy below its start
        Energies last;    // after the last step seen
        double driven = 0;     // [J] work of loads and motors in the steps in which it was positive
        double most_lost = 0;  // [J] highest account of the scheme
        double imposed = 0;    // [J] largest imposed_energy() seen where there was reason to ask
        long grown = 0;   // steps in a row with more energy than there can be
    };
    Memory memory;

    void begin(const EnergyLedger& ledger) { memory.last = ledger.start(); }
    // Whether the step just taken shows that the run is unstable. To be called once per step; `typical` [J] is the energy of a typical
    // body.
    bool unstable(const EnergyLedger& ledger, double typical);
    double made() const { return made_; }        // [J] what it has left in the bodies beyond what there was; negative: nothing
    double at_hand() const { return at_hand_; }  // [J] what there was

private:
    double made_ = 0, at_hand_ = 0;
};

// Whether springs and dampers are implicit in the scheme, so that no step is too long for its stability.
bool implicit_in_springs(std::string_view scheme);
// What a step of length h of this scheme cannot follow, and what would: ends of sentences, and empty where nothing is stiff for it.
std::string stiffness_advice(const System& system, const State& x, const std::string& scheme, double h);

}  // namespace stickslip
