// One run of a study: the states at the times of comparison, and what it cost.
#pragma once

#include <string>
#include <vector>

#include "stickslip/load.hpp"
#include "stickslip/study.hpp"

namespace stickslip::study {

struct StateAt {
    State state;
    double t_weighted = 0;  // [s]
    VecX v_weighted;
};

struct Run {
    bool finished = false;
    std::string reason;                     // when refused
    std::vector<StateAt> at;                // for each time reached
    std::vector<VecX> weighted;             // v_weighted at the wanted times, linear between steps
    std::vector<double> joints;             // [m, rad] holonomic rows at the last time reached
    std::vector<double> drift_g, drift_dg;  // per holonomic row, the largest |g| and |G v| over the ends of the steps
    double speed_max = 0;                   // largest |v|, 2-norm, over the start and the ends of the steps
    double gap_min = infinity;              // [m] smallest gap of a contact found there; infinity: none was
    double length = 0;                      // [s] of all steps together
    long impacts = 0, events = 0, steps = 0, rejected = 0, solves = 0;
    double wall_s = 0;
    std::vector<std::string> warnings;
};

// The overrides with one more.
OptionValues with(OptionValues overrides, const std::string& key, const std::string& text);
std::string exact_text(double value);  // reads back to the same number

// A step ends at each of `times`. `weighted_times` are ascending.
Run run(const Study& study, double value, const std::vector<double>& times,
        const std::vector<double>& weighted_times = {});

// Names of the holonomic rows, "rod" or "hinge row 2".
std::vector<std::string> holonomic_names(const Model& model);

}  // namespace stickslip::study
