// What the steps of a run showed that its verdict needs (verdict.hpp), gathered while they pass. Costs a few comparisons per step
// while nothing is wrong.
#pragma once

#include <string>
#include <vector>

#include "diagnose/painleve.hpp"
#include "simulation/load_watch.hpp"
#include "simulation/momentum_watch.hpp"
#include "simulation/policy.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

// The worst drift of its kind, measured by what the bodies concerned allow.
struct WorstDrift {
    double badness = 0;  // error / limit; above 1 the run is doubtful
    double error = 0;    // [m, rad]
    double limit = 0;    // [m, rad]
    double t = 0;        // [s]
    std::string who;
};

// Energy made and taken by one account. `rise` is the largest that it made between any two times of the run: what was made does not
// become good by being taken later, while an error that swings, as that of symplectic schemes, counts once and not per period.
class EnergyRise {
public:
    void see(double made) {
        if (made < lowest_) lowest_ = made;
        if (made - lowest_ > rise_) rise_ = made - lowest_;
    }
    double rise() const { return rise_; }  // [J]

private:
    double lowest_ = infinity, rise_ = 0;
};

class Evidence {
public:
    void begin(const Step& step);
    void see(const System& system, const Step& step, bool averages_loads = true);
    // Rows of the final configuration, which no step has seen.
    void see_drift(const System& system, double t, const BilateralRows& joints, const ContactRows& contacts,
                   const Tolerances& tolerances);

    const WorstDrift& overlap() const { return overlap_; }
    const WorstDrift& opening() const { return opening_; }
    // Of speeds of joints that disagree: what they open one by in a step. Nobody is named.
    const WorstDrift& parting() const { return parting_; }
    double scheme_rise() const { return scheme_.rise(); }                // [J]
    double stabilisation_rise() const { return stabilisation_.rise(); }  // [J]
    double made_together() const { return together_.rise(); }            // [J] scheme and stabilisation
    const MomentumWatch& momentum() const { return momentum_; }
    const LoadWatch& loads() const { return loads_; }
    const std::vector<Paradox>& paradoxes() const { return paradoxes_; }
    long paradox_steps() const { return paradox_steps_; }
    long ambiguous_impacts() const { return ambiguous_impacts_; }  // steps with impacts on which laws disagree

private:
    void note_paradoxes(const System& system, const Step& step);
    void note_impacts(const Step& step);
    void note_overlap(const System& system, double overlap, const ContactId& id, double t,
                      const Tolerances& tolerances);

    WorstDrift overlap_, opening_, parting_;
    EnergyRise scheme_, stabilisation_, together_;
    MomentumWatch momentum_;
    LoadWatch loads_;
    PainleveCheck painleve_;
    BlockMatrix mass_;
    std::vector<Paradox> paradoxes_;
    long paradox_steps_ = 0;
    long ambiguous_impacts_ = 0;
};

}  // namespace stickslip
